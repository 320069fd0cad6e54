"""The figures of a report, by section; what cannot be drawn is left out, and it is said why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from deciban.charts import confusion as confusion_chart
from deciban.charts import reliability as reliability_chart
from deciban.charts import thresholds as threshold_charts
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.explanation import Importance
from deciban.report.curves import curves
from deciban.report.drawn import Figure
from deciban.report.observed import Observed

#: So many features and curves are drawn.
FEATURES, CURVES = 20, 6
#: A nomogram of more scales, or a matrix of more classes, cannot be read.
SCALES, CLASSES = 20, 20


@dataclass(frozen=True)
class Note:
    """Why something is not in the report."""

    section: str
    text: str


def reliability(found: Evaluation) -> Figure:
    """What was stated beside what came true."""
    some = [b for b in found.reliability if b.weight > 0]
    of = found.classes.tolist()[1] if len(found.classes) == 2 else None
    table = SimpleNamespace(
        of=of,
        predicted=np.array([b.stated for b in some]),
        observed=np.array([b.observed for b in some]),
        low=np.array([b.interval[0] for b in some]),
        high=np.array([b.interval[1] for b in some]),
        rows=np.array([b.weight for b in some]),
    )
    shows = (
        f"Stated probabilities from left to right, the share that came true upwards; on the dashed "
        f"line they are the same. They differ by {100 * found.calibration_error:.1f} % on average."
    )
    return Figure(
        "reliability", "reliability", "Reliability", shows, reliability_chart.chart(table)
    )


def thresholds(found: Evaluation, said: Any) -> Iterator[Figure]:
    """ROC, precision and recall, and for two classes the cost."""
    some = curves(said)
    if not some:
        return
    yield Figure(
        "roc", "thresholds", "ROC curve",
        f"The further to the upper left, the better; the dashed line is guessing. The area under "
        f"the curve is {found.roc_auc:.3f}.", threshold_charts.roc(some),
    )  # fmt: skip
    yield Figure(
        "precision-recall", "thresholds", "Precision and recall",
        f"The further to the upper right, the better. Average precision is "
        f"{found.average_precision:.3f}.", threshold_charts.precision_recall(some),
    )  # fmt: skip
    if len(found.classes) == 2 and said.known == 2:
        yield _cost(found)


def _cost(found: Evaluation) -> Figure:
    implied, best = found.implied_threshold, found.best_threshold
    marks = [(f"the costs imply {implied:.3f}", implied)] if implied is not None else []
    if best is not None and np.isfinite(best):
        marks.append((f"best here {best:.3f}", best))
    of = found.classes.tolist()[1]
    shows = f"What a row costs on average if {of} is answered from a probability on." + (
        f" Marked: {', '.join(name for name, _ in marks)}." if marks else ""
    )
    return Figure("cost", "thresholds", "Cost by threshold", shows,
                  threshold_charts.cost(found.thresholds(), of, marks))  # fmt: skip


def confusion(found: Evaluation) -> Figure | Note:
    """Answers by truth."""
    n = len(found.classes)
    if n > CLASSES:
        return Note("confusion", f"{n} classes are too many for a matrix that can be read.")
    shows = (
        f"Each line is a truth, each column an answer; on the diagonal the answer is right, which "
        f"it is in {100 * found.accuracy:.1f} % of the answers."
    )
    chart = confusion_chart.chart(found.confusion, found.classes.tolist())
    return Figure("confusion", "confusion", "Confusion matrix", shows, chart)


def importance(weights: Importance, observed: bool) -> Figure:
    """What each feature says."""
    how = "in these rows" if observed else "by what the model has learned"
    first = weights[0]
    shows = (
        f"How many decibans each column gives the true class, on average, {how}. "
        f"{first.feature} says most: {first.decibans:.2f} a row."
    )
    return Figure(
        "importance", "importance", "How much each column says", shows, weights.chart(FEATURES)
    )


def evidence(
    model: Any, weights: Importance, seen: Callable[[], Observed]
) -> Iterator[Figure | Note]:
    """The curves of the strongest columns."""
    names = [w.feature for w in weights if abs(w.decibans) > 1e-9]
    texts = set(_texts(model))
    own, drawn = _own_curves(model), 0
    for name in names:
        if drawn == CURVES:
            yield Note("evidence", f"Drawn are the {CURVES} strongest of {len(names)} columns.")
            return
        if name in texts:
            yield Note("evidence", f"{name} is a text: its words are shown in the rows below.")
            continue
        curve = own(name)
        drawn += 1
        yield _curve(drawn, name, seen().curve(name) if curve is None else curve, curve is None)


def _own_curves(model: Any) -> Callable[[str], Any]:
    """The curves that a model has by itself; None where what a value says depends on others."""

    def curve(name: str) -> Any:
        try:
            return model.curve(name) if hasattr(model, "curve") else None
        except InputError:
            return None

    return curve


def _curve(number: int, name: str, curve: Any, observed: bool) -> Figure:
    top = int(np.abs(np.nan_to_num(curve.decibans[:, -1])).argmax())
    shows = (
        f"What the values of {name} say, in decibans: above zero for, below zero against. "
        f"About {curve.classes[-1]}, {curve.labels[top]} says most: "
        f"{curve.decibans[top, -1]:+.1f}."
    )
    if observed:
        shows += " Averages over these rows: it depends on the other columns or is a slope."
    return Figure(f"evidence-{number}", "evidence", f"Evidence of {name}", shows, curve.chart())


def nomogram(model: Any) -> Figure | Note:
    """For people with a pencil; of two classes."""
    if len(model.classes_) != 2:
        return Note("nomogram", "A nomogram compares two classes; this model has "
                    f"{len(model.classes_)}.")  # fmt: skip
    if not hasattr(model, "nomogram"):
        return Note("nomogram", f"{type(model).__name__} has none.")
    try:
        found = model.nomogram()
    except InputError as error:
        return Note("nomogram", f"There is none: {_reason(error)}")
    if not 0 < len(found.scales) <= SCALES:
        return Note("nomogram", f"{len(found.scales)} scales are too many for one sheet.")
    shows = f"Each column's value gives points; their total gives the probability of {found.of}."
    return Figure("nomogram", "nomogram", "Nomogram", shows, found.chart())


def _reason(error: InputError) -> str:
    """What is wrong, without what a programmer might do about it."""
    return str(error).split(" Hint: ")[0]


def _texts(model: Any) -> list[str]:
    schema = getattr(model, "schema_", None)
    return [c.name for c in schema.columns if c.kind == "text"] if schema else []
