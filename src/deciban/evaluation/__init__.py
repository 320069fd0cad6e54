"""How far to trust a model: figures with intervals, beside always guessing the same.

Read in the order of a run:

``rows``
    labelled rows, what a model says of each, and what it answers under a loss
``measures``, ``areas``
    the figures of rows; areas under curves
``bootstrap``
    the same figures of resampled rows, and the intervals they lie in
``thresholds``
    two classes: what every threshold would have cost
``report``, ``judging``
    :class:`Evaluation`, and :func:`evaluate`
``comparison``
    :func:`compare`: models on the same rows, row by row
``text``
    tables for people
"""

from __future__ import annotations

from deciban.evaluation.comparison import Comparison, Difference, compare
from deciban.evaluation.judging import evaluate
from deciban.evaluation.measures import PerClass
from deciban.evaluation.report import Bin, Evaluation
from deciban.evaluation.rows import LeftOut
from deciban.evaluation.thresholds import Thresholds

__all__ = [
    "Bin",
    "Comparison",
    "Difference",
    "Evaluation",
    "LeftOut",
    "PerClass",
    "Thresholds",
    "compare",
    "evaluate",
]
