"""evaluate: how good a model is, on rows it has not seen or on its own, left out one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.decision import Loss
from deciban.errors import ParameterError
from deciban.evaluation import bootstrap as resampling
from deciban.evaluation import metrics
from deciban.evaluation.classifier import Classifier, check_model
from deciban.evaluation.decisions import Decisions, decide, decide_commonest
from deciban.evaluation.metrics import CLASS_METRICS, PerClass, RowTerms
from deciban.evaluation.predictions import predict, training_predictions
from deciban.evaluation.reliability import reliability_bins
from deciban.evaluation.result import Evaluation
from deciban.evaluation.sets import SetEvaluation, evaluate_sets
from deciban.progress import shows_progress
from deciban.sources.tabular import UnitsLike

FloatArray = NDArray[np.float64]


@shows_progress("evaluating")
def evaluate(
    model: Classifier,
    X: object = None,
    y: object = None,
    loss: Loss = None,
    *,
    target: str | None = None,
    sample_weight: object = None,
    abstain: float | None = None,
    leave_one_out: bool = False,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    bins: int = 10,
    seed: int = 0,
    coverage: float | None = None,
    per_class: bool = False,
    groups: UnitsLike = None,
    time: UnitsLike = None,
) -> Evaluation:
    """How good a model is, with intervals, beside always guessing the commonest class.

    Parameters
    ----------
    model
        Anything fitted with ``predict_proba`` and ``classes_``.
    X, y
        Labelled rows. Without ``X``, the exact leave-one-out of the training rows that the
        model kept while it was fitted (``NaiveBayes``, calibrated: at most 20,000, chosen
        by what they hold).
    target
        The column of labels, if there is no ``y``; without it, the one of training.
    loss, abstain
        What answers cost, as in :mod:`deciban.decision`; the answers are those of least
        expected cost. Without a loss, a wrong answer costs 1.
    sample_weight
        One number a row, or the name of a column.
    leave_one_out
        The rows are those the model was trained on: each is judged as if it had never
        been seen. A model that was fitted with ``groups`` or ``time`` leaves out what
        belongs to it as well.
    groups, time
        With ``leave_one_out``, those of the rows, or the name of their column; without them,
        the column of training.
    bootstrap
        How many resamples the intervals rest on; 0 makes none. Areas under curves rest on
        at most 200.
    confidence
        The share of resampled figures that an interval holds.
    bins
        In how many parts probabilities are cut to see if they are right.
    seed
        Of the resamples.
    coverage, per_class
        Evaluate sets of classes as well, as ``predict_set`` gives them: :attr:`Evaluation.sets`.
        Of rows that the sets were made from, left out, the coverage is as wanted in any case.

    >>> from deciban import NaiveBayes
    >>> X, y = {"x": list("SSSSLLLM")}, list("aaaabbba")
    >>> model = NaiveBayes(calibrate=False).fit(X, y)
    >>> e = evaluate(model, X, y, loss={("a", "b"): 5})
    >>> e.accuracy, e.baseline.accuracy, e.realised_cost, e.baseline.realised_cost
    (1.0, 0.625, 0.0, 1.875)

    """
    check_model(model)
    resampling.check_settings(bootstrap, confidence, seed, bins)
    if X is None:
        if y is not None or target is not None or sample_weight is not None:
            raise ParameterError(
                "there are labels or weights, but no rows.", hint="pass X, or nothing at all"
            )
        rows = training_predictions(model)
    else:
        rows = predict(
            model, X, y, target=target, sample_weight=sample_weight, leave_one_out=leave_one_out,
            groups=groups, time=time,
        )  # fmt: skip
    sets = None
    if coverage is not None:
        sets = evaluate_sets(model, rows, coverage, per_class, confidence)
    decisions = decide(rows, loss, abstain)
    return evaluate_decisions(decisions, bootstrap, confidence, seed, bins=bins, sets=sets)


def evaluate_decisions(
    decisions: Decisions,
    bootstrap: int,
    confidence: float,
    seed: int,
    *,
    bins: int = 10,
    sets: SetEvaluation | None = None,
) -> Evaluation:
    """How good answers are that were given; see :func:`evaluate` for what it takes."""
    rows = decisions.predictions
    guess = rows.classes.tolist()[rows.class_weight.argmax()]
    baseline = _evaluation(RowTerms(decide_commonest(decisions), bins), 0, confidence, seed)
    terms = RowTerms(decisions, bins)
    return _evaluation(
        terms, bootstrap, confidence, seed, guess=guess, baseline=baseline, sets=sets
    )


def _evaluation(
    terms: RowTerms, resamples: int, confidence: float, seed: int, **more: Any
) -> Evaluation:
    rows = terms.decisions.predictions
    matrix = metrics.confusion(terms.decisions)
    areas = metrics.class_areas(rows)
    figures = _figures(terms, matrix)
    mean_areas = areas[metrics.scored_classes(rows)].mean(axis=0).tolist()
    figures["roc_auc"], figures["average_precision"] = mean_areas
    return Evaluation(
        classes=rows.classes,
        rows=len(rows.codes),
        weight=float(rows.weight.sum()),
        leave_one_out=rows.leave_one_out,
        confidence=confidence,
        confusion=matrix,
        abstained=_abstained(terms.decisions, matrix),
        reliability=reliability_bins(terms.bin_sums, confidence),
        class_areas=areas,
        intervals=resampling.intervals(terms, figures, resamples, confidence, seed),
        _decisions=terms.decisions,
        **figures,
        **more,
    )


def _figures(terms: RowTerms, confusion: FloatArray) -> dict[Any, Any]:
    """The figures by name, but for the areas."""
    decisions, rows = terms.decisions, terms.decisions.predictions
    truth = np.bincount(rows.codes, rows.weight, terms.n_classes).astype(np.float64)
    total = rows.weight.sum()
    averages, per_class = metrics.from_counts(
        np.diagonal(confusion), truth, confusion.sum(axis=0), total, terms.occurring
    )
    figures: dict[Any, Any] = {name: float(value) for name, value in averages.items()}
    for name, values in zip(CLASS_METRICS, per_class.tolist(), strict=True):
        micro, weighted = figures.pop(f"{name}_micro"), figures.pop(f"{name}_weighted")
        by_class = dict(zip(rows.classes.tolist(), values, strict=True))
        figures[name] = PerClass(by_class, figures[name], micro, weighted)
    figures["log_loss"], figures["brier"] = metrics.losses(rows)
    figures["expected_cost"] = float(rows.weight @ decisions.expected_cost / total)
    figures["realised_cost"] = float(rows.weight @ decisions.realised_cost / total)
    figures["calibration_error"] = float(metrics.calibration_error(terms.bin_sums))
    return figures


def _abstained(decisions: Decisions, confusion: FloatArray) -> FloatArray:
    """The weight of rows without an answer, by truth; without abstaining, exactly none."""
    rows = decisions.predictions
    truth = np.bincount(rows.codes, rows.weight, len(rows.classes))
    without = truth - confusion.sum(axis=1)
    return np.zeros_like(without) if decisions.abstain is None else np.maximum(without, 0.0)
