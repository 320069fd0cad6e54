"""Two classes: every threshold on the probability of the second, and what it would have cost.

The second class is answered where its probability is at least the threshold. A
threshold of infinity never answers it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import decision
from deciban.errors import ParameterError
from deciban.evaluation.areas import Ranking
from deciban.evaluation.decisions import Decisions
from deciban.evaluation.metrics import share
from deciban.evaluation.rounding import ROUNDING
from deciban.evaluation.text import Plain

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


def implied_threshold(decisions: Decisions) -> float | None:
    """The threshold that the loss implies; None for more classes, or where there is none."""
    if decisions.predictions.n_known != 2:
        return None
    try:
        return decision.threshold(decisions.loss[:2, :2])
    except ParameterError:
        return None
