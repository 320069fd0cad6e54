"""Sets: how often the set of classes of a row held its class, and how large the sets were."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.conjugate import Beta
from deciban.errors import InputError
from deciban.evaluation.classifier import Classifier, HasModel
from deciban.evaluation.predictions import Predictions
from deciban.evaluation.reliability import Interval
from deciban.evaluation.text import between, figure, html
from deciban.models.conformal import ConformityScores, Sets, check_coverage, conformity_of
from deciban.plain import PlainDict

FloatArray = NDArray[np.float64]

#: The coverages of a curve.
CURVE_COVERAGES = np.linspace(0.5, 0.99, 50)


@dataclass(frozen=True)
class SetFigures:
    """The sets of some rows: of all, or of those of one class.

    ``weight`` is that of the rows, ``coverage`` the share whose set held their class, with its
    ``interval``, and ``size`` the mean number of classes in a set.
    """

    weight: float
    coverage: float
    interval: Interval
    size: float

    @classmethod
    def of(
        cls, held: Sets, sizes: NDArray[np.intp], weight: FloatArray, level: float
    ) -> SetFigures:
        """Of rows whose sets held their class or not."""
        total, true = float(weight.sum()), float(weight @ held)
        interval = Beta(0.5 + true, 0.5 + max(0.0, total - true)).interval(level)
        if total <= 0:
            return cls(0.0, np.nan, interval, np.nan)
        return cls(total, true / total, interval, float(weight @ sizes) / total)


@dataclass(frozen=True)
class SetEvaluation:
    """How good sets of a wanted coverage are.

    >>> from deciban import NaiveBayes, evaluate
    >>> X, y = {"x": list("SSSLLL") * 9}, list("aaabba") * 9
    >>> sets = evaluate(NaiveBayes().fit(X, y), X, y, coverage=0.9).sets
    >>> sets.coverage, sets.size, sets.by_class["b"].coverage
    (1.0, 1.5, 1.0)
    """

    wanted: float
    per_class: bool
    all: SetFigures
    by_class: dict[Hashable, SetFigures]

    @property
    def coverage(self) -> float:
        """The share of rows whose set held their class."""
        return self.all.coverage

    @property
    def size(self) -> float:
        """The mean number of classes in a set."""
        return self.all.size

    @property
    def title(self) -> str:
        """What the table shows."""
        what = "each class" if self.per_class else "all rows"
        return f"sets that are to hold the class in {100 * self.wanted:g} % of {what}"

    def table(self, max_classes: int) -> list[tuple[str, ...]]:
        """Lines for people."""
        rows: list[tuple[str, ...]] = [("class", "rows", "held", "interval", "mean size")]
        each = list(self.by_class.items())[:max_classes]
        for label, sets in [("all", self.all), *each]:
            held, size = figure(sets.coverage), figure(sets.size)
            rows.append((str(label), f"{sets.weight:,.6g}", held, between(sets.interval), size))
        return rows

    def _repr_html_(self) -> str:
        return html((self.title, self.table(len(self.by_class))))

    def to_dict(self) -> PlainDict:
        """All of it as JSON has it."""
        classes = [{"class": label, **vars(sets)} for label, sets in self.by_class.items()]
        about = {"wanted": self.wanted, "per_class": self.per_class}
        return {**about, **vars(self.all), "classes": classes}


@dataclass(frozen=True, eq=False)
class SetCurve:
    """The coverage and mean size that sets have, (coverages,), by the coverage that is wanted."""

    wanted: FloatArray
    coverage: FloatArray
    size: FloatArray


def scores_of(model: Classifier) -> ConformityScores:
    """What sets are made from, which the model must keep."""
    if not isinstance(model, HasModel):
        raise InputError(
            f"{type(model).__name__} keeps no scores of left-out rows, which sets are made from.",
            hint="leave coverage out; models of this package have sets",
        )
    return conformity_of(model.model_)


def evaluate_sets(
    model: Classifier, rows: Predictions, coverage: float, per_class: bool, confidence: float
) -> SetEvaluation:
    """The sets of a model for some predictions."""
    scores, wanted = scores_of(model), check_coverage(coverage)
    sets = np.zeros(rows.posterior.shape, dtype=bool)
    sets[:, : rows.n_known] = scores.sets(_log_posterior(rows), wanted, per_class)
    held, sizes = sets[np.arange(len(sets)), rows.codes], sets.sum(axis=1)
    by_class = {
        label: SetFigures.of(held[own], sizes[own], rows.weight[own], confidence)
        for i, label in enumerate(rows.classes.tolist())
        for own in [rows.codes == i]
    }
    every = SetFigures.of(held, sizes, rows.weight, confidence)
    return SetEvaluation(wanted, per_class, every, by_class)


def set_curve(model: Classifier, rows: Predictions) -> SetCurve:
    """Coverage and mean size of the sets of some predictions, for many wanted coverages."""
    scores, log = scores_of(model), _log_posterior(rows)
    figures = []
    for wanted in CURVE_COVERAGES.tolist():
        sets = np.zeros(rows.posterior.shape, dtype=bool)
        sets[:, : rows.n_known] = scores.sets(log, wanted)
        held = sets[np.arange(len(sets)), rows.codes]
        total = rows.weight.sum()
        figures.append((rows.weight @ held / total, rows.weight @ sets.sum(axis=1) / total))
    coverage, size = np.array(figures).T
    return SetCurve(CURVE_COVERAGES, coverage, size)


def _log_posterior(rows: Predictions) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(rows.posterior[:, : rows.n_known]))
