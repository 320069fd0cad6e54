"""ROC and precision-recall curves of a class against the rest."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.evaluation.areas import Ranking
from deciban.evaluation.predictions import Predictions

FloatArray = NDArray[np.float64]

#: Curves of more classes are not drawn.
MAX_CURVE_CLASSES = 8


@dataclass(frozen=True, eq=False)
class RocCurve:
    """True and false positive rate and precision of one class, from the surest row on."""

    of: Hashable
    tpr: FloatArray
    fpr: FloatArray
    precision: FloatArray


def roc_curves(rows: Predictions) -> list[RocCurve]:
    """Of two classes the second; of more, those with most rows, each against the rest."""
    n_classes = len(rows.classes)
    amount = np.bincount(rows.codes, minlength=n_classes)
    there = [c for c in np.argsort(-amount, kind="stable").tolist()
             if 0 < amount[c] < len(rows.codes)]  # fmt: skip
    some = [c for c in there if c == 1] if n_classes == 2 else sorted(there[:MAX_CURVE_CLASSES])
    return [_curve(rows, c) for c in some]


def _curve(rows: Predictions, c: int) -> RocCurve:
    hits, alarms = Ranking.of(rows.codes == c, rows.posterior[:, c]).cumulative(rows.weight)
    precision = hits / (hits + alarms)
    return RocCurve(
        rows.classes.tolist()[c],
        np.append(0.0, hits / hits[-1]),
        np.append(0.0, alarms / alarms[-1]),
        np.append(precision[0], precision),
    )
