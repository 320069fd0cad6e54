"""How far to trust a model: figures with intervals, beside always guessing the same.

Read in the order of a run:

``predictions``, ``decisions``
    labelled rows with a model's posterior of each; its answers under a loss
``metrics``, ``areas``, ``reliability``
    the figures of decisions; areas under curves; whether probabilities come true
``bootstrap``
    figures of resampled rows, and the intervals they lie in
``thresholds``
    two classes: what every threshold would have cost
``sets``
    how often sets of classes held the true one, and how large they were
``result``, ``evaluator``
    :class:`Evaluation`, and :func:`evaluate`
``comparison``
    :func:`compare`: models on the same rows, row by row
``rounding``, ``text``
    what is taken for equal; tables for people
"""

from __future__ import annotations

from deciban.evaluation.comparison import Comparison, Difference, compare
from deciban.evaluation.evaluator import evaluate
from deciban.evaluation.metrics import PerClass
from deciban.evaluation.reliability import Bin, Reliability, measure_reliability
from deciban.evaluation.result import Evaluation
from deciban.evaluation.sets import SetEvaluation, SetFigures
from deciban.evaluation.thresholds import Thresholds
from deciban.models.leave_one_out_scores import LeaveOneOutScores

__all__ = [
    "Bin",
    "Comparison",
    "Difference",
    "Evaluation",
    "LeaveOneOutScores",
    "PerClass",
    "Reliability",
    "SetEvaluation",
    "SetFigures",
    "Thresholds",
    "compare",
    "evaluate",
    "measure_reliability",
]
