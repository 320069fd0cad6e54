"""The figures of a report, by section; what cannot be drawn is left out, and it is said why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from deciban.charts import confusion as confusion_chart
from deciban.charts import reliability as reliability_chart
from deciban.charts import sets as sets_chart
from deciban.charts import thresholds as threshold_charts
from deciban.errors import InputError
from deciban.evaluation import Evaluation, Reliability
from deciban.evaluation.classifier import Classifier
from deciban.evaluation.sets import set_curve
from deciban.explanation import Curve, Explainable, Importance
from deciban.report.figure import Figure
from deciban.report.roc import roc_curves
from deciban.report.row_evidence import RowEvidence
from deciban.report.rows import LabelledRows

#: So many features, and curves of features, are drawn.
MAX_FEATURES, MAX_CURVES = 20, 6
#: So many words of a text are drawn, for so many classes.
MAX_WORDS, MAX_WORD_CHARTS = 20, 6
#: A nomogram of more scales, or a matrix of more classes, cannot be read.
MAX_SCALES, MAX_MATRIX_CLASSES = 20, 20


@dataclass(frozen=True)
class Note:
    """Why something is not in the report."""

    section: str
    text: str


def reliability(evaluation: Evaluation) -> Figure:
    """Stated probabilities beside the shares that came true."""
    classes = evaluation.classes.tolist()
    of = classes[1] if len(classes) == 2 else None
    error = 100 * evaluation.calibration_error
    shows = (
        f"Stated probabilities from left to right, the share that came true upwards; on the dashed "
        f"line they are the same. They differ by {error:.1f} % on average."
    )
    chart = reliability_chart.chart(Reliability.from_bins(of, evaluation.reliability))
    return Figure("reliability", "reliability", "Reliability", shows, chart)


def sets(model: Classifier, evaluation: Evaluation) -> Figure | Note:
    """How often sets of classes hold the true one, and how large they are."""
    try:
        curve = set_curve(model, evaluation.decisions.predictions)
    except InputError as error:
        return Note("reliability", f"There are no sets: {str(error).split(' Hint: ')[0]}")
    at = int(np.argmin(np.abs(curve.wanted - 0.9)))
    shows = (
        f"Sets of classes that are to hold the true one with a given probability. Asked for "
        f"{100 * curve.wanted[at]:.0f} %, they held it in {100 * curve.coverage[at]:.1f} % of the "
        f"rows, with {curve.size[at]:.2f} classes on average."
    )
    return Figure("sets", "reliability", "Sets of classes", shows, sets_chart.chart(curve))


def thresholds(evaluation: Evaluation) -> Iterator[Figure]:
    """ROC, precision and recall, and for two classes the cost."""
    rows = evaluation.decisions.predictions
    curves = roc_curves(rows)
    if not curves:
        return
    yield Figure(
        "roc", "thresholds", "ROC curve",
        f"The further to the upper left, the better; the dashed line is guessing. The area under "
        f"the curve is {evaluation.roc_auc:.3f}.", threshold_charts.roc(curves),
    )  # fmt: skip
    yield Figure(
        "precision-recall", "thresholds", "Precision and recall",
        f"The further to the upper right, the better. Average precision is "
        f"{evaluation.average_precision:.3f}.", threshold_charts.precision_recall(curves),
    )  # fmt: skip
    if len(rows.classes) == 2 and rows.n_known == 2:
        yield _cost(evaluation)


def _cost(evaluation: Evaluation) -> Figure:
    implied, best = evaluation.implied_threshold, evaluation.best_threshold
    marks = [(f"the costs imply {implied:.3f}", implied)] if implied is not None else []
    if best is not None and np.isfinite(best):
        marks.append((f"best here {best:.3f}", best))
    of = evaluation.classes.tolist()[1]
    shows = f"What a row costs on average if {of} is answered from a probability on." + (
        f" Marked: {', '.join(name for name, _ in marks)}." if marks else ""
    )
    chart = threshold_charts.cost(evaluation.thresholds(), of, marks)
    return Figure("cost", "thresholds", "Cost by threshold", shows, chart)


def confusion(evaluation: Evaluation) -> Figure | Note:
    """Answers by truth."""
    n = len(evaluation.classes)
    if n > MAX_MATRIX_CLASSES:
        return Note("confusion", f"{n} classes are too many for a matrix that can be read.")
    shows = (
        f"Each line is a truth, each column an answer; on the diagonal the answer is right, which "
        f"it is in {100 * evaluation.accuracy:.1f} % of the answers."
    )
    chart = confusion_chart.chart(evaluation.confusion, evaluation.classes.tolist())
    return Figure("confusion", "confusion", "Confusion matrix", shows, chart)


def importance(features: Importance, *, of_rows: bool) -> Figure:
    """The mean evidence of each feature, in rows of training or in those of the report."""
    how = "in these rows" if of_rows else "in the rows it was trained on"
    first = features[0]
    shows = (
        f"How many decibans each column gives the true class, on average, {how}. "
        f"{first.feature} says most: {first.decibans:.2f} a row."
    )
    chart = features.chart(MAX_FEATURES)
    return Figure("importance", "importance", "How much each column says", shows, chart)


def evidence(
    model: Classifier, rows: LabelledRows, features: Importance, sampled: Callable[[], RowEvidence]
) -> Iterator[Figure | Note]:
    """The curves of the strongest columns, by the model's tables or as means over rows."""
    names = [feature.feature for feature in features if abs(feature.decibans) > 1e-9]
    n_curves = 0
    for name in names:
        if n_curves == MAX_CURVES:
            yield Note("evidence", f"Drawn are the {MAX_CURVES} strongest of {len(names)} columns.")
            return
        if name in rows.schema.texts:
            yield from _words(model, name, rows.schema.texts.index(name) + 1)
            continue
        curve = _model_curve(model, name)
        of_rows = curve is None
        curve = sampled().curve(name) if curve is None else curve
        if curve is not None:
            n_curves += 1
            yield _curve(n_curves, curve, of_rows=of_rows)


def _words(model: Classifier, name: str, column: int) -> Iterator[Figure | Note]:
    """The strongest words of a text for each class."""
    if not isinstance(model, Explainable):
        yield Note("evidence", f"{name} is a text: its words are shown in the rows below.")
        return
    classes = model.classes_.tolist()
    for number, label in enumerate(classes[:MAX_WORD_CHARTS], 1):
        try:
            words = model.words(label, MAX_WORDS, column=name)
        except InputError as error:
            yield Note("evidence", f"{name} is a text: {str(error).split(' Hint: ')[0]}")
            return
        if len(words):
            shows = (
                f"Words of {name} that speak for {label}, in decibans, each as the only one of its "
                f"text: {words[0].value} says most. {words.n_known:,} are known."
            )
            title = f"Words for {label}"
            yield Figure(
                f"words-{column}-{number}", "evidence", title, shows, words.chart(MAX_WORDS)
            )
    if len(classes) > MAX_WORD_CHARTS:
        yield Note("evidence", f"{name}: words of {MAX_WORD_CHARTS} of {len(classes)} classes.")


def _model_curve(model: Classifier, name: str) -> Curve | None:
    """The curve of a column as the model knows it; None where it knows none."""
    try:
        return model.curve(name) if isinstance(model, Explainable) else None
    except InputError:
        return None


def _curve(number: int, curve: Curve, *, of_rows: bool = False) -> Figure:
    top = int(np.abs(np.nan_to_num(curve.decibans[:, -1])).argmax())
    shows = (
        f"What the values of {curve.column} say, in decibans: above zero for, below zero against. "
        f"About {curve.classes[-1]}, {curve.labels[top]} says most: "
        f"{curve.decibans[top, -1]:+.1f}."
    )
    if of_rows:
        shows += " Averages over these rows: what a value says depends on the other columns."
    elif curve.low is None and curve.rows is not None:
        shows += " Averages over rows of training: it depends on the other columns."
    title = f"Evidence of {curve.column}"
    return Figure(f"evidence-{number}", "evidence", title, shows, curve.chart())


def nomogram(model: Classifier) -> Figure | Note:
    """For people with a pencil; of two classes."""
    if len(model.classes_) != 2:
        return Note("nomogram", "A nomogram compares two classes; this model has "
                    f"{len(model.classes_)}.")  # fmt: skip
    if not isinstance(model, Explainable):
        return Note("nomogram", f"{type(model).__name__} has none.")
    try:
        sheet = model.nomogram()
    except InputError as error:
        # What is wrong, without what a programmer might do about it.
        return Note("nomogram", f"There is none: {str(error).split(' Hint: ')[0]}")
    if not 0 < len(sheet.scales) <= MAX_SCALES:
        return Note("nomogram", f"{len(sheet.scales)} scales are too many for one sheet.")
    shows = f"Each column's value gives points; their total gives the probability of {sheet.of}."
    return Figure("nomogram", "nomogram", "Nomogram", shows, sheet.chart())
