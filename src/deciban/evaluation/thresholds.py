"""Two classes: every threshold on the probability of the second, and what it would have cost.

The second class is answered where its probability is at least the threshold. A
threshold of infinity never answers it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import decision
from deciban.conjugate import Beta
from deciban.errors import ParameterError
from deciban.evaluation.areas import Ranking
from deciban.evaluation.decisions import Decisions
from deciban.evaluation.metrics import share
from deciban.evaluation.predictions import Predictions
from deciban.evaluation.reliability import Interval
from deciban.evaluation.rounding import ROUNDING
from deciban.evaluation.text import figure, html
from deciban.plain import Plain

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Columns of equal length, the highest threshold first."""

    threshold: FloatArray
    tpr: FloatArray
    fpr: FloatArray
    precision: FloatArray
    recall: FloatArray
    cost: FloatArray

    def __len__(self) -> int:
        return len(self.threshold)

    @property
    def best(self) -> int:
        """The position of the least cost; of costs that only rounding tells apart, the first."""
        least = self.cost.min() + ROUNDING * np.abs(self.cost).max()
        return int(np.argmax(self.cost <= least))

    def to_dict(self) -> dict[str, list[Plain]]:
        """The columns by name, as a frame takes them."""
        return {name: getattr(self, name).tolist() for name in self.__dataclass_fields__}

    def __repr__(self) -> str:
        return f"<{self._title}>"

    def _repr_html_(self) -> str:
        head = ("threshold", "precision", "recall", "false positive rate", "cost")
        columns = self.threshold, self.precision, self.recall, self.fpr, self.cost
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return html((self._title, [head, *(tuple(map(figure, row)) for row in rows)]))

    @property
    def _title(self) -> str:
        best, at = self.best, float(self.threshold[self.best])
        where = "never answering" if np.isinf(at) else f"at {figure(at)}"
        return f"{len(self):,} thresholds; least cost {figure(float(self.cost[best]))}, {where}"


def threshold_table(decisions: Decisions) -> Thresholds:
    """Every threshold at which an answer changes, and above all."""
    rows = decisions.predictions
    if len(rows.classes) != 2 or rows.n_known != 2:
        raise ParameterError(
            f"thresholds are for two classes, there are {len(rows.classes)}.",
            hint="with more, the loss alone decides",
        )
    ranking = Ranking.of(rows.codes == 1, rows.posterior[:, 1])
    hits, alarms = (np.append(0.0, sums) for sums in ranking.cumulative(rows.weight))
    at = np.append(np.inf, rows.posterior[ranking.order[ranking.starts], 1])
    tpr, fpr = share(hits, hits[-1:], np.nan), share(alarms, alarms[-1:], np.nan)
    precision = share(hits, hits + alarms, 1.0)
    cells = np.stack([alarms[-1] - alarms, hits[-1] - hits, alarms, hits], axis=1)
    cost = cells @ decisions.loss.ravel() / rows.weight.sum()
    return Thresholds(at, tpr, fpr, precision, tpr, cost)


@dataclass(frozen=True)
class FoundThreshold:
    """A threshold on the probability of a class, and what it gives on the rows it was found on.

    ``answered`` is the share of rows that get the class as their answer.
    """

    of: Hashable
    threshold: float
    precision: float
    precision_interval: Interval
    recall: float
    recall_interval: Interval
    answered: float
    rows: int


def find_threshold(
    rows: Predictions,
    label: Hashable,
    *,
    precision: float | None = None,
    recall: float | None = None,
    confidence: float = 0.95,
) -> FoundThreshold | None:
    """The threshold of a class for a precision or a recall; None where no threshold gives it.

    For a precision, the lowest one that has it: so the recall is the highest. For a recall, the
    highest one: so the precision is. It lies between two probabilities that occurred.
    """
    own = rows.classes.tolist().index(label)
    ranking = Ranking.of(rows.codes == own, rows.posterior[:, own])
    hits, alarms = ranking.cumulative(rows.weight)
    at = rows.posterior[ranking.order[ranking.starts], own]
    shares = share(hits, hits + alarms, 1.0), share(hits, hits[-1:], np.nan)
    wished = shares[0] >= precision if precision is not None else shares[1] >= (recall or 0.0)
    places = np.flatnonzero(wished & (at > 0))
    if not len(places):
        return None
    k = int(places[-1] if precision is not None else places[0])
    below = float(at[k + 1]) if k + 1 < len(at) else 0.0
    total = float(rows.weight.sum())

    def ends(n: float, of: float) -> Interval:
        return Beta(0.5 + n, 0.5 + max(0.0, of - n)).interval(confidence)

    return FoundThreshold(
        label,
        shortest_between(below, float(at[k])),
        float(shares[0][k]),
        ends(float(hits[k]), float(hits[k] + alarms[k])),
        float(shares[1][k]),
        ends(float(hits[k]), float(hits[-1])),
        float(hits[k] + alarms[k]) / total,
        len(rows.codes),
    )


def shortest_between(low: float, high: float) -> float:
    """The number of fewest digits that is above ``low`` and not above ``high``.

    >>> shortest_between(0.41, 0.58), shortest_between(0.123456, 0.123459)
    (0.5, 0.123457)
    """
    middle = (low + high) / 2
    for digits in range(1, 17):
        for value in (float(f"{middle:.{digits}g}"), float(f"{high:.{digits}g}")):
            if low < value <= high:
                return value
    return high


def implied_threshold(decisions: Decisions) -> float | None:
    """The threshold that the loss implies; None for more classes, or where there is none."""
    if decisions.predictions.n_known != 2:
        return None
    try:
        return decision.threshold(decisions.loss[:2, :2])
    except ParameterError:
        return None
