"""Reliability: how often what is predicted with a probability comes true.

Probabilities are cut into bins of equal width. Of each bin three sums are enough: the weight
of its rows, their stated probabilities, and the weight of those whose prediction came true. The
interval of the share that came true is that of a Beta posterior with Jeffreys' prior;
resampling would be certain of a bin with one row.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban.charts import Chart
from deciban.conjugate import Beta
from deciban.errors import InputError, ParameterError, ShapeError
from deciban.evaluation.classifier import Classifier
from deciban.labels import Labels, position

FloatArray = NDArray[np.float64]
Interval = tuple[float, float]

#: The share of the posterior that an interval holds, unless stated.
LEVEL = 0.95


@dataclass(frozen=True)
class Bin:
    """Rows whose stated probability lies between two ends: what was stated, what came true."""

    low: float
    high: float
    weight: float
    stated: float
    observed: float
    interval: Interval


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of predicted probability of one class, and the share of rows that have it.

    ``low`` and ``high`` are the interval of the share; ``of`` is the class, None for
    whatever was answered. Bins without rows are left out.
    """

    of: Hashable
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    rows: NDArray[np.float64] | NDArray[np.int64]

    @classmethod
    def from_bins(cls, of: Hashable, bins: Iterable[Bin]) -> Reliability:
        """The columns of a table of bins."""
        some = [b for b in bins if b.weight > 0]
        columns = [(b.stated, b.observed, *b.interval, b.weight) for b in some]
        return cls(of, *np.array(columns).reshape(-1, 5).T)

    def chart(self) -> Chart:
        """An Altair chart: the diagonal is perfect."""
        from deciban.charts import reliability
        from deciban.charts.notebook import offline

        return offline(reliability.chart(self))

    def _repr_html_(self) -> str:
        from deciban.charts.notebook import chart_html

        head = ("stated", "came true", "rows")
        rows = [
            (f"{p:.3f}", f"{o:.3f}", f"{n:,.6g}")
            for p, o, n in zip(self.predicted, self.observed, self.rows, strict=True)
        ]
        return chart_html(self.chart, "Reliability", [head, *rows])


def bin_numbers(probability: FloatArray, n_bins: int) -> NDArray[np.intp]:
    """The bin of each probability.

    >>> bin_numbers(np.array([0.0, 0.3, 1.0]), 10)
    array([0, 3, 9])
    """
    return np.clip((probability * n_bins).astype(np.intp), 0, n_bins - 1)


def bin_sums(
    probability: FloatArray, came_true: NDArray[np.bool_], weight: FloatArray, n_bins: int
) -> FloatArray:
    """Weight, stated probability and weight of what came true, summed, (bins, 3)."""
    at = bin_numbers(probability, n_bins)
    columns = (weight, weight * probability, weight * came_true)
    return np.stack([np.bincount(at, column, n_bins) for column in columns], axis=-1)


def reliability_bins(sums: FloatArray, confidence: float) -> list[Bin]:
    """The table of all bins, from their sums, (bins, 3)."""
    n_bins, out = len(sums), []
    for b, (weight, stated, true) in enumerate(sums.tolist()):
        ends = Beta(0.5 + true, 0.5 + max(0.0, weight - true)).interval(confidence)
        mean, came = (stated / weight, true / weight) if weight > 0 else (np.nan, np.nan)
        out.append(Bin(b / n_bins, (b + 1) / n_bins, weight, mean, came, ends))
    return out


def measure_reliability(
    model: Classifier, X: object, y: object, bins: int = 10, of: Hashable = None
) -> Reliability:
    """The reliability of a model on labelled rows.

    Of two classes the second is looked at; of more, whether the answer was right. The interval
    of a bin in which nothing or everything came true reaches 0 or 1.

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(calibrate=False).fit({"x": ["S", "S", "L", "L"]}, [1, 1, 2, 2])
    >>> table = measure_reliability(m, {"x": ["S", "L"]}, [1, 2])
    >>> table.rows.tolist(), table.observed.tolist()
    ([1, 1], [0.0, 1.0])
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 2:
        raise ParameterError(f"bins must be a whole number >= 2, got {bins!r}.", hint="try 10")
    posterior, truth = model.predict_proba(X), np.asarray(y, dtype=object).ravel()
    if len(truth) != len(posterior):
        message = f"X has {len(posterior)} rows, y has {len(truth)}."
        raise ShapeError(message, hint="one label a row")
    if not len(truth):
        raise InputError("there are no rows.", hint="give rows with labels")
    label, probability, came_true = _stated(posterior, truth, model.classes_, of)
    sums = bin_sums(probability, came_true, np.ones(len(truth)), bins)
    table = Reliability.from_bins(label, reliability_bins(sums, LEVEL))
    return replace(
        table,
        low=np.where(table.observed > 0, table.low, 0.0),
        high=np.where(table.observed < 1, table.high, 1.0),
        rows=table.rows.astype(np.int64),
    )


def _stated(
    posterior: FloatArray, truth: Labels, classes: Labels, of: Hashable
) -> tuple[Hashable, FloatArray, NDArray[np.bool_]]:
    """The class that is looked at, its probability in each row, and whether it came true."""
    at = position(of, classes)
    at = 1 if at is None and len(classes) == 2 else at
    if at is not None:
        label = classes.tolist()[at]
        return label, posterior[:, at], np.asarray(truth == label, dtype=bool)
    answers = classes[posterior.argmax(axis=1)].astype(object)
    return None, posterior.max(axis=1), np.asarray(truth == answers, dtype=bool)
