"""Reliability: how often what is predicted with a probability comes true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError, ParameterError, ShapeError
from deciban.explanation import position

FloatArray = NDArray[np.float64]

#: The share of the posterior that an interval holds.
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of predicted probability of one class, and the share of rows that have it.

    ``low`` and ``high`` are Jeffreys' interval of the share; ``of`` is the
    class, None for whatever was answered.
    """

    of: Any
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    rows: NDArray[np.int64]

    def chart(self) -> Any:
        """An Altair chart: the diagonal is perfect."""
        from deciban.charts import reliability

        return reliability.chart(self)


def reliability(model: Any, X: Any, y: Any, bins: int = 10, of: Any = None) -> Reliability:
    """The table of a model on labelled rows, bins of equal width.

    Of two classes the second is looked at; of more, whether the answer was right.

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(calibrate=False).fit({"x": ["S", "S", "L", "L"]}, [1, 1, 2, 2])
    >>> found = reliability(m, {"x": ["S", "L"]}, [1, 2])
    >>> found.rows.tolist(), found.observed.tolist()
    ([1, 1], [0.0, 1.0])
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 2:
        raise ParameterError(f"bins must be a whole number >= 2, got {bins!r}.", hint="try 10")
    proba, classes = model.predict_proba(X), model.classes_
    truth = np.asarray(y, dtype=object).ravel()
    if len(truth) != len(proba):
        raise ShapeError(f"X has {len(proba)} rows, y has {len(truth)}.", hint="one label a row")
    if not len(truth):
        raise InputError("there are no rows.", hint="give rows with labels")
    at = position(of, classes)
    at = 1 if at is None and len(classes) == 2 else at
    if at is None:
        said, came = proba.max(axis=1), truth == classes[proba.argmax(axis=1)].astype(object)
    else:
        said, came = proba[:, at], truth == classes.tolist()[at]
    label = None if at is None else classes.tolist()[at]
    return _binned(label, said, np.asarray(came, dtype=bool), bins)


def _binned(label: Any, said: FloatArray, came: NDArray[np.bool_], bins: int) -> Reliability:
    from scipy.special import betaincinv

    place = np.minimum((said * bins).astype(np.intp), bins - 1)
    rows = np.bincount(place, minlength=bins)
    some = rows > 0
    hits = np.bincount(place, came, bins)[some]
    n = rows[some]
    tail = (1.0 - LEVEL) / 2.0
    low = np.where(hits > 0, betaincinv(hits + 0.5, n - hits + 0.5, tail), 0.0)
    high = np.where(hits < n, betaincinv(hits + 0.5, n - hits + 0.5, 1.0 - tail), 1.0)
    predicted = np.bincount(place, said, bins)[some] / n
    return Reliability(label, predicted, hits / n, low, high, n.astype(np.int64))
