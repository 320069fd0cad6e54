"""Every threshold on the probability of a class against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.evaluation.areas import Sorted

FloatArray = NDArray[np.float64]

#: Curves of more classes are not drawn.
CLASSES = 8


@dataclass(frozen=True, eq=False)
class Curves:
    """One class: the shares found and falsely found, and precision, from the surest row on."""

    of: Any
    tpr: FloatArray
    fpr: FloatArray
    precision: FloatArray


def curves(said: Any) -> list[Curves]:
    """Of two classes the second; of more, those with most rows, each against the rest."""
    classes = said.classes.tolist()
    amount = np.bincount(said.codes, minlength=len(classes))
    there = [c for c in np.argsort(-amount, kind="stable").tolist()
             if 0 < amount[c] < len(said.codes)]  # fmt: skip
    some = [c for c in there if c == 1] if len(classes) == 2 else sorted(there[:CLASSES])
    return [_curve(said, c, classes[c]) for c in some]


def _curve(said: Any, c: int, label: Any) -> Curves:
    rows = Sorted.of(said.codes == c, said.posterior[:, c])
    weight = said.weight[rows.order]
    hits = np.cumsum(rows.summed(weight * rows.positive))
    alarms = np.cumsum(rows.summed(weight * ~rows.positive))
    precision = hits / (hits + alarms)
    return Curves(
        label,
        np.append(0.0, hits / hits[-1]),
        np.append(0.0, alarms / alarms[-1]),
        np.append(precision[0], precision),
    )
