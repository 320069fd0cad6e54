"""Evaluation: the figures of a model on some rows, as attributes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.evaluation import thresholds
from deciban.evaluation.decisions import Decisions
from deciban.evaluation.metrics import CLASS_METRICS, Key, PerClass
from deciban.evaluation.reliability import Bin, Interval
from deciban.evaluation.sets import SetEvaluation
from deciban.evaluation.text import align, between, figure, html
from deciban.evaluation.thresholds import Thresholds
from deciban.labels import Labels
from deciban.plain import PlainDict, plain

FloatArray = NDArray[np.float64]

#: The single figures, in the order in which they are shown.
FIGURES = (
    "accuracy", "coverage", "log_loss", "brier", "precision", "recall", "f1", "roc_auc",
    "average_precision", "calibration_error", "expected_cost", "realised_cost",
)  # fmt: skip
#: More classes than this are not listed one by one.
MAX_LISTED_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good a model is on some rows; every figure is an attribute, and a float.

    ``confusion`` has a row for each truth and a column for each answer, as in
    scikit-learn. ``precision``, ``recall`` and ``f1`` are means over the classes, and
    give that of a class by ``[label]`` (:class:`PerClass`). ``accuracy`` and precision
    are of the rows that got an answer, whose share is ``coverage``. Areas are those of
    the second of two classes, or the mean of each class against the rest; NaN where the
    rows have one class only. ``baseline`` has the same figures for always guessing the
    commonest class. ``interval`` gives the bootstrap interval of a figure. ``sets`` says how
    often sets of classes held the true one, and how large they were, if a coverage was asked for.

    >>> from deciban import NaiveBayes, evaluate
    >>> X, y = {"x": list("SSSLLL")}, ["a", "a", "a", "b", "b", "a"]
    >>> e = evaluate(NaiveBayes(calibrate=False).fit(X, y), X, y, bootstrap=0)
    >>> round(e.accuracy, 3), round(e.baseline.accuracy, 3), e.recall["b"]
    (0.833, 0.667, 1.0)
    >>> e.confusion.astype(int).tolist()
    [[3, 1], [0, 2]]
    """

    classes: Labels
    rows: int
    weight: float
    leave_one_out: bool
    confidence: float
    accuracy: float
    coverage: float
    log_loss: float
    brier: float
    precision: PerClass
    recall: PerClass
    f1: PerClass
    roc_auc: float
    average_precision: float
    calibration_error: float
    expected_cost: float
    realised_cost: float
    confusion: FloatArray
    abstained: FloatArray
    reliability: list[Bin]
    class_areas: FloatArray
    intervals: Mapping[Key, Any]
    guess: Hashable = None
    baseline: Evaluation | None = None
    sets: SetEvaluation | None = None
    _decisions: Decisions | None = field(default=None, repr=False)

    def interval(self, name: str, label: Hashable = None) -> Interval:
        """The bootstrap interval of a figure, or of that of one class.

        >>> from deciban import NaiveBayes, evaluate
        >>> X, y = {"x": list("SSSLLM")}, list("aaabbb")
        >>> e = evaluate(NaiveBayes().fit(X, y), X, y)
        >>> e.interval("accuracy"), e.interval("recall", "a")
        ((1.0, 1.0), (1.0, 1.0))
        """
        key: Key = name if label is None else (name, label)
        if key not in self.intervals:
            raise ParameterError(
                f"there is no interval of {key!r}.",
                hint="bootstrap=0 makes none"
                if not self.intervals
                else f"one of {', '.join(FIGURES)}",
            )
        ends: Interval = self.intervals[key]
        return ends

    def thresholds(self) -> Thresholds:
        """Two classes: every threshold for answering the second, and its cost.

        >>> from deciban import NaiveBayes, evaluate
        >>> X, y = {"x": list("SSSLLM")}, list("aaabbb")
        >>> table = evaluate(NaiveBayes().fit(X, y), X, y).thresholds()
        >>> table.tpr, table.cost.round(2)
        (array([0.        , 0.66666667, 1.        , 1.        ]), array([0.5 , 0.17, 0.  , 0.5 ]))
        """
        return thresholds.threshold_table(self.decisions)

    @property
    def implied_threshold(self) -> float | None:
        """The probability of the second class from which the loss answers it; None if none."""
        return thresholds.implied_threshold(self.decisions)

    @property
    def best_threshold(self) -> float | None:
        """The threshold that would have cost least on these rows; infinity is "never"."""
        if len(self.classes) != 2 or self.decisions.predictions.n_known != 2:
            return None
        table = self.thresholds()
        return float(table.threshold[table.best])

    @property
    def decisions(self) -> Decisions:
        """The rows, their posteriors and the answers that the figures are of."""
        if self._decisions is None:
            raise ParameterError("this evaluation keeps no rows.", hint="evaluate again")
        return self._decisions

    # ------------------------------------------------------------------ as text

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from align(self._figures(), right={1, 2, 3})
        implied = self.implied_threshold if self._decisions is not None else None
        if implied is not None and self.best_threshold is not None:
            yield ""
            yield (
                f"{self.classes[1]} is answered from a probability of {figure(implied)}; "
                f"best here would have been {_threshold(self.best_threshold)}"
            )
        for title, table in self._tables():
            yield ""
            yield title
            yield from align(table, right=range(1, len(table[0])))

    def _repr_html_(self) -> str:
        return html(("", self._figures()), *self._tables())

    def _figures(self) -> list[tuple[str, ...]]:
        how = "leave-one-out, " if self.leave_one_out else ""
        head = [f"{how}{self.rows:,} rows", "this model"]
        head += [f"{100 * self.confidence:g} % interval"] if self.intervals else []
        head += [f"always {self.guess}"] if self.baseline else []
        rows = [tuple(head)]
        for name in FIGURES:
            if name == "coverage" and self.coverage == 1.0:
                continue
            row = [name.replace("_", " "), figure(getattr(self, name))]
            row += [between(self.intervals.get(name))] if self.intervals else []
            row += [figure(getattr(self.baseline, name))] if self.baseline else []
            rows.append(tuple(row))
        return rows

    def _tables(self) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
        yield "of each class", self._classes()
        if len(self.classes) <= MAX_LISTED_CLASSES:
            yield "answers, by truth", self._confusion()
        if self.sets is not None:
            yield self.sets.title, self.sets.table(MAX_LISTED_CLASSES)
        what = str(self.classes[1]) if len(self.classes) == 2 else "the likeliest class"
        yield f"how often {what} was right, by its probability", self._reliability()

    def _classes(self) -> list[tuple[str, ...]]:
        head = ("class", "rows", *CLASS_METRICS, "roc auc", "average precision")
        rows: list[tuple[str, ...]] = [head]
        totals = (self.confusion.sum(axis=1) + self.abstained).tolist()
        for i, label in enumerate(self.classes.tolist()[:MAX_LISTED_CLASSES]):
            values = [getattr(self, name)[label] for name in CLASS_METRICS]
            values += self.class_areas[i].tolist()
            rows.append((str(label), f"{totals[i]:,.6g}", *map(figure, values)))
        if len(self.classes) > MAX_LISTED_CLASSES:
            left = len(self.classes) - MAX_LISTED_CLASSES
            rows.append((f"and {left} more", *[""] * (len(head) - 1)))
        return rows

    def _confusion(self) -> list[tuple[str, ...]]:
        abstains = bool(self.abstained.any())
        names = [str(label) for label in self.classes.tolist()]
        rows = [("truth", *names, *(["no answer"] * abstains))]
        for i, name in enumerate(names):
            cells = [*self.confusion[i].tolist(), *([self.abstained[i]] * abstains)]
            rows.append((name, *(f"{cell:,.6g}" for cell in cells)))
        return rows

    def _reliability(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("probability", "rows", "stated", "came true", "interval")]
        for b in self.reliability:
            if b.weight > 0:
                name = f"{b.low:.2f} to {b.high:.2f}"
                amount = f"{b.weight:,.6g}"
                rows.append(
                    (name, amount, figure(b.stated), figure(b.observed), between(b.interval))
                )
        return rows

    # ------------------------------------------------------------------ for machines

    def to_dict(self) -> PlainDict:
        """All of it as JSON has it; what is undefined is None.

        >>> from deciban import NaiveBayes, evaluate
        >>> X, y = {"x": list("SSSLLM")}, list("aaabbb")
        >>> e = evaluate(NaiveBayes().fit(X, y), X, y)
        >>> e.to_dict()["accuracy"]
        {'value': 1.0, 'interval': [1.0, 1.0], 'baseline': 0.5}
        """
        out: PlainDict = {
            "rows": self.rows,
            "weight": self.weight,
            "leave_one_out": self.leave_one_out,
            "confidence": self.confidence,
            "guess": self.guess,
        }
        for name in FIGURES:
            out[name] = {"value": float(getattr(self, name))} | self._beside(name)
        out["classes"] = [self._class(i) for i in range(len(self.classes))]
        out["averages"] = {
            name: {"micro": getattr(self, name).micro, "weighted": getattr(self, name).weighted}
            for name in CLASS_METRICS
        }
        out["confusion"] = self.confusion.tolist()
        out["abstained"] = self.abstained.tolist()
        out["reliability"] = [dict(vars(b)) for b in self.reliability]
        out["implied_threshold"] = self.implied_threshold
        out["best_threshold"] = self.best_threshold
        if self.sets is not None:
            out["sets"] = self.sets.to_dict()
        return {name: plain(value) for name, value in out.items()}

    def _beside(self, name: str) -> PlainDict:
        out: PlainDict = {}
        if name in self.intervals:
            out["interval"] = self.intervals[name]
        if self.baseline is not None:
            out["baseline"] = float(getattr(self.baseline, name))
        return out

    def _class(self, i: int) -> PlainDict:
        label = self.classes.tolist()[i]
        out = {"class": label, "rows": float(self.confusion[i].sum() + self.abstained[i])}
        for name in CLASS_METRICS:
            out[name] = {"value": getattr(self, name)[label]}
            if (name, label) in self.intervals:
                out[name]["interval"] = self.intervals[name, label]
        return out | dict(
            zip(("roc_auc", "average_precision"), self.class_areas[i].tolist(), strict=True)
        )


def _threshold(value: float) -> str:
    return "never to answer it" if math.isinf(value) else figure(value)
