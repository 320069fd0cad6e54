"""evaluate: how good a model is, on rows it has not seen or on its own, left out one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.conjugate import Beta
from deciban.errors import ParameterError
from deciban.evaluation import bootstrap as resampling
from deciban.evaluation import measures
from deciban.evaluation.measures import MEASURES, PerClass, Terms
from deciban.evaluation.report import Bin, Evaluation
from deciban.evaluation.rows import Judged, check_model, guessed, judged, kept, said


def evaluate(
    model: Any,
    X: Any = None,
    y: Any = None,
    loss: Any = None,
    *,
    target: str | None = None,
    sample_weight: Any = None,
    abstain: float | None = None,
    leave_one_out: bool = False,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    bins: int = 10,
    seed: int = 0,
) -> Evaluation:
    """How good a model is, with intervals, beside always guessing the commonest class.

    Parameters
    ----------
    model
        Anything fitted with ``predict_proba`` and ``classes_``.
    X, y
        Labelled rows. Without ``X``, the exact leave-one-out of the training rows that the
        model kept while it was fitted (``NaiveBayes``, calibrated: at most 20,000, evenly
        spaced).
    target
        The column of labels, if there is no ``y``; without it, the one of training.
    loss, abstain
        What answers cost, as in :mod:`deciban.decision`; the answers are those of least
        expected cost. Without a loss, a wrong answer costs 1.
    sample_weight
        One number a row, or the name of a column.
    leave_one_out
        The rows are those the model was trained on: each is judged as if it had never
        been seen.
    bootstrap
        How many resamples the intervals rest on; 0 makes none. Areas under curves rest on
        at most 200.
    confidence
        The share of resampled figures that an interval holds.
    bins
        In how many parts probabilities are cut to see if they are right.
    seed
        Of the resamples.

    >>> from deciban import NaiveBayes
    >>> X, y = {"x": list("SSSSLLLM")}, list("aaaabbba")
    >>> e = evaluate(NaiveBayes().fit(X, y), X, y, loss={("a", "b"): 5})
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
        found = kept(model)
    else:
        found = said(
            model, X, y, target=target, sample_weight=sample_weight, leave_one_out=leave_one_out
        )
    rows = judged(found, loss, abstain)
    guess = guessed(rows)
    label = found.classes.tolist()[found.class_weight.argmax()]
    plain = _evaluation(Terms(guess, bins), guess.said.left_out, 0, confidence, seed)
    return _evaluation(
        Terms(rows, bins),
        found.left_out,
        bootstrap,
        confidence,
        seed,
        guess=label,
        baseline=plain,
    )


def _evaluation(
    terms: Terms, left_out: bool, resamples: int, confidence: float, seed: int, **more: Any
) -> Evaluation:
    rows = terms.judged
    matrix = measures.confusion(rows)
    found, per_class = _figures(terms, matrix)
    classes = rows.said.classes.tolist()
    for name, values in zip(MEASURES, per_class.tolist(), strict=True):
        micro, weighted = found.pop(f"{name}_micro"), found.pop(f"{name}_weighted")
        by_class = dict(zip(classes, values, strict=True))
        found[name] = PerClass(by_class, found[name], micro, weighted)
    areas = measures.class_areas(terms)
    some = areas[measures.scored_classes(terms)].mean(axis=0).tolist()
    found["roc_auc"], found["average_precision"] = some
    intervals = resampling.intervals(terms, found, resamples, confidence, seed)
    truth = np.bincount(rows.said.codes, rows.said.weight, len(classes))
    return Evaluation(
        classes=rows.said.classes,
        rows=len(rows.said.codes),
        weight=float(rows.said.weight.sum()),
        leave_one_out=left_out,
        confidence=confidence,
        confusion=matrix,
        abstained=_abstained(rows, truth - matrix.sum(axis=1)),
        reliability=_reliability(terms, confidence),
        class_areas=areas,
        intervals=intervals,
        _judged=rows,
        **found,
        **more,
    )


def _figures(terms: Terms, matrix: Any) -> tuple[dict[Any, Any], Any]:
    """The single figures, and those of every class."""
    rows, weight = terms.judged, terms.judged.said.weight
    truth = np.bincount(rows.said.codes, weight, terms.n_classes).astype(np.float64)
    counted, per_class = measures.from_counts(
        np.diagonal(matrix), truth, matrix.sum(axis=0), weight.sum(), terms.occurring
    )
    found: dict[Any, Any] = {name: float(value) for name, value in counted.items()}
    found["log_loss"], found["brier"] = measures.losses(rows)
    found["expected_cost"] = float(weight @ rows.expected / weight.sum())
    found["realised_cost"] = float(weight @ rows.realised / weight.sum())
    bins = measures.bin_sums(terms, weight)
    found["calibration_error"] = float(measures.calibration_error(bins))
    return found, per_class


def _abstained(rows: Judged, left: Any) -> Any:
    """The weight of rows without an answer, by truth; without abstaining, exactly none."""
    return np.zeros_like(left) if rows.abstain is None else np.maximum(left, 0.0)


def _reliability(terms: Terms, confidence: float) -> list[Bin]:
    """What was stated and what came true; the interval is that of a Beta posterior.

    Resampling would be certain of a bin with one row. The prior is Jeffreys'.
    """
    out = []
    for b, sums in enumerate(measures.bin_sums(terms, terms.judged.said.weight).tolist()):
        weight, stated, true = sums
        ends = Beta(0.5 + true, 0.5 + max(0.0, weight - true)).interval(confidence)
        mean, came = (stated / weight, true / weight) if weight > 0 else (np.nan, np.nan)
        out.append(Bin(b / terms.bins, (b + 1) / terms.bins, weight, mean, came, ends))
    return out
