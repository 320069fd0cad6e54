"""What is evaluated: a fitted classifier, as scikit-learn has it, from this package or another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.labels import Labels
from deciban.models.leave_one_out_scores import LeaveOneOutScores
from deciban.models.protocol import Model
from deciban.schema import Schema
from deciban.sources.tabular import LabelsLike, Tabular, UnitsLike, WeightsLike
from deciban.stats.counts import Counts

FloatArray = NDArray[np.float64]


@runtime_checkable
class Classifier(Protocol):
    """A fitted classifier."""

    @property
    def classes_(self) -> Labels:
        """The classes, in order."""

    def predict_proba(self, X: Tabular) -> FloatArray:
        """``P(c | x)``, (rows, classes)."""


@runtime_checkable
class LeaveOneOutClassifier(Classifier, Protocol):
    """A classifier that takes its training rows out of its counts, one by one."""

    def leave_one_out(
        self,
        X: Tabular,
        y: LabelsLike,
        *,
        sample_weight: WeightsLike = None,
        **units: UnitsLike,
    ) -> FloatArray:
        """``log P(c | x)`` of each row as if it had never been seen, (rows, classes)."""


@runtime_checkable
class HasModel(Classifier, Protocol):
    """A classifier of this package, over a fitted model."""

    @property
    def model_(self) -> Model:
        """The model."""


@runtime_checkable
class HasTarget(Protocol):
    """A classifier that may know the column of its labels."""

    @property
    def target_(self) -> str | None:
        """The name of the column."""


@runtime_checkable
class HasSchema(Protocol):
    """A classifier of tables, whose columns are found by name."""

    @property
    def schema_(self) -> Schema:
        """The columns, in order."""


@runtime_checkable
class HasFeatureNames(Protocol):
    """A classifier that was fitted on a frame."""

    @property
    def feature_names_in_(self) -> Labels:
        """The names of its columns."""


@runtime_checkable
class HasWidth(Protocol):
    """A classifier of matrices."""

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""


@runtime_checkable
class HasCounts(Protocol):
    """A classifier that keeps its table of counts."""

    @property
    def counts_(self) -> Counts:
        """The table."""


@runtime_checkable
class HasClassCount(Protocol):
    """A naive Bayes classifier as scikit-learn has it."""

    @property
    def class_count_(self) -> FloatArray:
        """The weight of the training rows of each class."""


@runtime_checkable
class HasTrainingScores(Classifier, Protocol):
    """A classifier that kept what it says of its training rows, each left out."""

    @property
    def training_scores_(self) -> LeaveOneOutScores | None:
        """The scores; None where no row was left out."""


@runtime_checkable
class HasTemperature(Protocol):
    """A classifier whose evidence is calibrated."""

    @property
    def temperature_(self) -> float:
        """What the evidence is divided by."""


class Shaped(Protocol):
    """How a column is modelled."""

    @property
    def shape(self) -> str:
        """The kind of its model."""


@runtime_checkable
class HasChoices(Protocol):
    """A classifier that chooses how each column is modelled."""

    @property
    def choices_(self) -> Mapping[str, Shaped]:
        """The choice of each counted column."""


@runtime_checkable
class HasBins(Protocol):
    """A classifier that cuts numbers into bins before it counts them."""

    @property
    def bins_(self) -> Mapping[str, Sequence[float]]:
        """The edges between the bins of each column."""


@runtime_checkable
class HasParameters(Protocol):
    """An estimator that says how it was set."""

    def get_params(self, deep: bool = True) -> Mapping[str, object]:
        """The parameters by name."""


def target_of(model: Classifier) -> str | None:
    """The column of the labels in training, if the model knows it."""
    return model.target_ if isinstance(model, HasTarget) else None


def feature_names(model: object) -> list[str]:
    """The names of a model's columns, in order; without names, x0, x1, ..."""
    if isinstance(model, HasSchema):
        return list(model.schema_.names)
    if isinstance(model, HasFeatureNames):
        return list(model.feature_names_in_)
    if isinstance(model, HasWidth):
        return [f"x{j}" for j in range(model.n_features_in_)]
    raise InputError(f"{type(model).__name__} does not say how many columns it has.")


def class_weight_of(model: Classifier) -> FloatArray | None:
    """The weight of the training rows of each class, if the model knows it."""
    if isinstance(model, HasCounts):
        weight = model.counts_.weight
    elif isinstance(model, HasClassCount):
        weight = model.class_count_
    else:
        return None
    return weight if np.shape(weight) == np.shape(model.classes_) else None


def check_model(model: object) -> None:
    """Refuse what is no fitted classifier."""
    if not isinstance(model, Classifier):
        raise InputError(
            f"a fitted classifier with predict_proba and classes_ is needed, "
            f"got {type(model).__name__}.",
            hint="fit it first",
        )
