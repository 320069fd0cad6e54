"""Two classes: every threshold on the probability of the second, and what it would have cost.

The second class is answered where its probability is at least the threshold. A
threshold of infinity never answers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import decision
from deciban.errors import ParameterError
from deciban.evaluation.areas import Sorted
from deciban.evaluation.measures import share
from deciban.evaluation.rows import Judged

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
        """The position of the least cost."""
        return int(self.cost.argmin())

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name, as a frame takes them."""
        return {name: getattr(self, name).tolist() for name in self.__dataclass_fields__}


def table(judged: Judged) -> Thresholds:
    """Every threshold at which an answer changes, and above all."""
    said = judged.said
    if len(said.classes) != 2 or said.known != 2:
        raise ParameterError(
            f"thresholds are for two classes, there are {len(said.classes)}.",
            hint="with more, the loss alone decides",
        )
    rows = Sorted.of(said.codes == 1, said.posterior[:, 1])
    weight = said.weight[rows.order]
    hits = np.append(0.0, np.cumsum(rows.summed(weight * rows.positive)))
    alarms = np.append(0.0, np.cumsum(rows.summed(weight * ~rows.positive)))
    at = np.append(np.inf, said.posterior[rows.order[rows.starts], 1])
    tpr, fpr = share(hits, hits[-1:], np.nan), share(alarms, alarms[-1:], np.nan)
    precision = share(hits, hits + alarms, 1.0)
    told = np.stack([alarms[-1] - alarms, hits[-1] - hits, alarms, hits], axis=1)
    cost = told @ judged.loss.ravel() / weight.sum()
    return Thresholds(at, tpr, fpr, precision, tpr, cost)


def implied(judged: Judged) -> float | None:
    """The threshold that the loss implies; None for more classes, or where there is none."""
    if judged.said.known != 2:
        return None
    try:
        return decision.threshold(judged.loss[:2, :2])
    except ParameterError:
        return None
