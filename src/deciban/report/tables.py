"""The tables of a report, in words and formatted numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deciban.evaluation import Evaluation
from deciban.evaluation.result import FIGURES, MAX_LISTED_CLASSES
from deciban.evaluation.text import between, figure
from deciban.report.document import Report
from deciban.report.drift import Drift
from deciban.report.training import TrainingSummary

#: What each figure means, in a line.
FIGURE_MEANINGS = {
    "accuracy": "share of right answers",
    "coverage": "share of rows with an answer",
    "log_loss": "surprise at the truth; 0 is perfect",
    "brier": "squared error of probabilities; 0 is perfect",
    "precision": "right among what is answered, mean of classes",
    "recall": "found among what there is, mean of classes",
    "f1": "precision and recall in one",
    "roc_auc": "how often a pair is ranked right",
    "average_precision": "area under precision and recall",
    "calibration_error": "how far probabilities are off",
    "expected_cost": "cost a row, by its own probabilities",
    "realised_cost": "cost a row, as it turned out",
}
#: Figures that are written large.
KEY_FIGURES = ("accuracy", "log_loss", "roc_auc", "calibration_error")
#: Columns whose stability index is lower stand still.
MIN_SHOWN_INDEX = 0.0005


@dataclass(frozen=True)
class Table:
    """A caption, the names of the columns, the rows, and which columns are numbers."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    numeric: Collection[int] = ()


def tables(report: Report) -> dict[str, Table | None]:
    """Every table of the report by name; None where there would be too many cells."""
    e = report.evaluation
    return {
        "figures": _figures(e),
        "classes": _classes(e),
        "reliability": _reliability(e),
        "confusion": _confusion(e) if len(e.classes) <= MAX_LISTED_CLASSES else None,
        "drift": _drift(report.drifts),
        "alone": _alone(report),
        "columns": _columns(report),
        "settings": _settings(report.trained),
        "training_classes": _training_classes(report.trained),
        "shapes": _shapes(report.trained),
    }


def figure_name(name: str) -> str:
    """A figure as people call it.

    >>> figure_name("roc_auc"), figure_name("log_loss")
    ('ROC area', 'log loss')
    """
    names = {"roc_auc": "ROC area", "f1": "F1", "brier": "Brier score"}
    return names.get(name, name.replace("_", " "))


def _figures(e: Evaluation) -> Table:
    rows = []
    for name in FIGURES:
        if name == "coverage" and e.coverage == 1.0:
            continue
        base = figure(getattr(e.baseline, name)) if e.baseline else ""
        ends = between(e.intervals.get(name))
        rows.append((figure_name(name), figure(getattr(e, name)), ends, base,
                     FIGURE_MEANINGS[name]))  # fmt: skip
    how = "each row judged as if it had never been seen" if e.leave_one_out else "all rows"
    head = ("figure", "this model", f"{100 * e.confidence:g} % interval", f"always {e.guess}", "")
    return Table(f"{e.rows:,} rows, {how}", head, rows, (1, 2, 3))


def _classes(e: Evaluation) -> Table:
    totals = (e.confusion.sum(axis=1) + e.abstained).tolist()
    rows = []
    for i, label in enumerate(e.classes.tolist()[:MAX_LISTED_CLASSES]):
        cells: list[object] = [label, f"{totals[i]:,.6g}"]
        for name in ("precision", "recall", "f1"):
            cells += [figure(getattr(e, name)[label]), between(e.intervals.get((name, label)))]
        rows.append(cells)
    more = len(e.classes) - MAX_LISTED_CLASSES
    caption = "Each class" + (f", and {more} more that are not listed" if more > 0 else "")
    head = ("class", "rows", "precision", "interval", "recall", "interval", "F1", "interval")
    return Table(caption, head, rows, range(1, 8))


def _reliability(e: Evaluation) -> Table:
    rows = [
        (f"{b.low:.2f} to {b.high:.2f}", f"{b.weight:,.6g}", figure(b.stated), figure(b.observed),
         between(b.interval))
        for b in e.reliability if b.weight > 0
    ]  # fmt: skip
    head = ("probability", "rows", "stated", "came true", "interval")
    return Table("Stated probabilities and what came true", head, rows, (1, 2, 3, 4))


def _confusion(e: Evaluation) -> Table:
    names = [str(label) for label in e.classes.tolist()]
    abstains = bool(e.abstained.any())
    rows = [
        (name, *(f"{cell:,.6g}" for cell in line), *([f"{e.abstained[i]:,.6g}"] * abstains))
        for i, (name, line) in enumerate(zip(names, e.confusion.tolist(), strict=True))
    ]
    head = ("truth", *names, *(["no answer"] * abstains))
    return Table("Rows by truth and answer", head, rows, range(1, len(head)))


def _drift(drifts: Sequence[Drift]) -> Table:
    rows = [(d.column, d.verdict, f"{d.index:.3f}", *_most_moved(d)) for d in drifts]
    head = ("column", "since training", "stability index", "moved most", "then", "now")
    return Table("Shares of values in training and in these rows", head, rows, (2, 4, 5))


def _most_moved(drift: Drift) -> tuple[str, str, str]:
    """The cell that moved most, if any did, and its shares."""
    if drift.index < MIN_SHOWN_INDEX:
        return "", "", ""
    return drift.cell, f"{100 * drift.before:.1f} %", f"{100 * drift.now:.1f} %"


def _alone(report: Report) -> Table:
    rows = [
        (a.column, figure(a.roc_auc), f"{100 * a.accuracy:.1f} %", f"{100 * a.avoided:.1f} %",
         "suspect" * a.suspect)
        for a in report.alone
    ]  # fmt: skip
    head = ("column", "ROC area", "accuracy", "errors avoided", "")
    return Table("Each column alone", head, rows, (1, 2, 3))


def _columns(report: Report) -> Table:
    n = report.evaluation.rows
    rows = [
        (c.name, c.kind, f"{100 * c.missing / n:.1f} %" if c.missing else "none",
         "" if c.different is None else f"{c.different:,}", c.holds)
        for c in report.columns
    ]  # fmt: skip
    head = ("column", "kind", "missing", "different", "holds")
    return Table(f"{n:,} rows, {len(rows)} columns", head, rows, (2, 3))


def _settings(trained: TrainingSummary) -> Table:
    facts: list[tuple[str, object]] = [("model", trained.kind)]
    facts += [("predicts", trained.target)] if trained.target else []
    facts += [("rows", f"{trained.rows:,.6g}")] if trained.rows is not None else []
    if trained.temperature is not None:
        facts.append(("evidence is divided by", figure(trained.temperature)))
    facts += list(trained.settings.items())
    return Table("The model and its settings", ("what", "value"), facts)


def _training_classes(trained: TrainingSummary) -> Table:
    total = trained.rows or 1.0
    rows = [
        (label, "" if n is None else f"{n:,.6g}", "" if n is None else f"{100 * n / total:.1f} %")
        for label, n in list(trained.classes.items())[:MAX_LISTED_CLASSES]
    ]
    return Table("Classes in training", ("class", "rows", "share"), rows, (1, 2))


def _shapes(trained: TrainingSummary) -> Table:
    head = ("column", "shape")
    return Table("How each column is modelled", head, list(trained.shapes.items()))
