"""Estimators in files: what is written of one, and what it takes on when it is read again."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic

import numpy as np

from deciban import files
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen
from deciban.explanation.changeable import M
from deciban.files.description import ModelEntry
from deciban.files.model import (
    plain_parameters,
    trained_from,
    units_from,
    with_trained,
    with_units,
)
from deciban.labels import Labels
from deciban.plain import PlainDict
from deciban.sources.trained_rows import TrainedRows
from deciban.sources.unit_sample import TrainingUnits

__all__ = ["Saved"]


class Saved(Generic[M]):
    """An estimator over a model that can be written to a file and read from it."""

    model_: M
    target_: str | None
    #: What is known of the groups or times of the rows; None where they had none.
    units_: TrainingUnits | None = None
    #: By which rows are known again that were learned; None where nobody asked to keep any.
    trained_rows_: TrainedRows | None = None
    n_features_in_: int
    feature_names_in_: Labels
    _unseen: Unseen

    if TYPE_CHECKING:

        def _model(self) -> M:
            """The fitted model; an error if there is none yet."""

        def get_params(self) -> PlainDict:
            """The parameters of the estimator."""

    #: A model, its parameters, the column of labels, and whether columns have names.
    _to_stored: Callable[[M, PlainDict, str | None, bool], files.Stored]

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a ``.deciban`` file: whole, or not at all.

        A model file that is there is replaced; any other file only if ``overwrite`` is True.

        >>> import tempfile
        >>> from deciban import NaiveBayes, load
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     m.save(f"{folder}/m.deciban")
        ...     load(f"{folder}/m.deciban").counts_ == m.counts_
        True
        """
        files.save(path, self.to_stored(), overwrite=overwrite)

    def to_stored(self) -> files.Stored:
        """What a file of the model holds."""
        model, named = self._model(), "feature_names_in_" in self.__dict__
        parameters = plain_parameters(self.get_params())
        content = self._to_stored(model, parameters, self.target_, named)
        return with_trained(with_units(content, self.units_), self.trained_rows_)

    def _restore(self, model: M, about: ModelEntry) -> None:
        """Take on a model that was read from a file, and what the file says about it."""
        self._unseen = NOTHING_UNSEEN  # predicting must add no attribute
        self.__dict__["model_"] = model  # it has learned no lesson yet
        self.target_, self.n_features_in_ = about.target, len(model.schema.names)
        self.units_ = units_from(about.units)
        self.trained_rows_ = trained_from(about.trained)
        if about.named:
            self.feature_names_in_ = np.array(model.schema.names, dtype=object)
