"""What stands in each section of the page, as HTML."""

from __future__ import annotations

from collections.abc import Iterable

from deciban.evaluation.report import FIGURES, LISTED
from deciban.evaluation.text import between, figure
from deciban.report import markup
from deciban.report.drift import Drift
from deciban.report.found import Report
from deciban.report.markup import details, items, paragraph, scrolled, table, text
from deciban.report.surprising import Surprise

#: What each figure means, in a line.
MEANINGS = {
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
#: Columns with a lower index stand still.
STILL = 0.0005
#: Those that are written large.
KEY = ("accuracy", "log_loss", "roc_auc", "calibration_error")


def careful(found: Report) -> str:
    """The cautions, or that there are none."""
    if not found.cautions:
        moved = " none has moved since training," if found.drifts else ""
        return paragraph(
            f"No column predicts nearly perfectly alone,{moved} and no class is too small. That is "
            "no proof that all is well."
        )
    return "".join(
        f'<div class="warning" role="note"><b>{text(c.kind.capitalize())}.</b> {text(c.text)}</div>'
        for c in found.cautions
    )


def good(found: Report) -> str:
    """The figures, with intervals, beside always guessing."""
    e = found.evaluation
    key = "".join(_key(found, name) for name in KEY)
    rows = []
    for name in FIGURES:
        if name == "coverage" and e.coverage == 1.0:
            continue
        base = figure(getattr(e.baseline, name)) if e.baseline else ""
        ends = between(e.intervals.get(name))
        rows.append((_name(name), figure(getattr(e, name)), ends, base, MEANINGS[name]))
    how = "each row judged as if it had never been seen" if e.leave_one_out else "all rows"
    head = ("figure", "this model", f"{100 * e.confidence:g} % interval", f"always {e.guess}", "")
    whole = table(f"{e.rows:,} rows, {how}", head, rows, right=(1, 2, 3))
    return f'<ul class="key">{key}</ul>{whole}{_classes(found)}'


def _key(found: Report, name: str) -> str:
    e = found.evaluation
    ends = between(e.intervals.get(name))
    base = f"; always {e.guess}: {figure(getattr(e.baseline, name))}" if e.baseline else ""
    return (
        f"<li>{text(_name(name))}<b>{figure(getattr(e, name))}</b>"
        f"<small>{text((ends + base).removeprefix('; '))}</small></li>"
    )


def _name(name: str) -> str:
    names = {"roc_auc": "ROC area", "f1": "F1", "brier": "Brier score"}
    return names.get(name, name.replace("_", " "))


def _classes(found: Report) -> str:
    e = found.evaluation
    totals = (e.confusion.sum(axis=1) + e.abstained).tolist()
    rows = []
    for i, label in enumerate(e.classes.tolist()[:LISTED]):
        cells: list[object] = [label, f"{totals[i]:,.6g}"]
        for name in ("precision", "recall", "f1"):
            cells += [figure(getattr(e, name)[label]), between(e.intervals.get((name, label)))]
        rows.append(cells)
    more = len(e.classes) - LISTED
    caption = "Each class" + (f", and {more} more that are not listed" if more > 0 else "")
    head = ("class", "rows", "precision", "interval", "recall", "interval", "F1", "interval")
    return table(caption, head, rows, right=range(1, 8))


def reliable(found: Report) -> str:
    """The reliability diagram, and its table."""
    rows = [
        (f"{b.low:.2f} to {b.high:.2f}", f"{b.weight:,.6g}", figure(b.stated), figure(b.observed),
         between(b.interval))
        for b in found.evaluation.reliability if b.weight > 0
    ]  # fmt: skip
    head = ("probability", "rows", "stated", "came true", "interval")
    numbers = table("Stated probabilities and what came true", head, rows, right=(1, 2, 3, 4))
    return _figures(found, "reliability") + details("The same as a table", numbers)


def thresholds(found: Report) -> str:
    """The curves, and what the costs imply."""
    e = found.evaluation
    drawn = f'<div class="pair">{_figures(found, "roc", "precision-recall", "cost")}</div>'
    if not _drawn(found, "roc"):
        return paragraph("These rows are all of one class: there is nothing to tell apart.")
    return drawn + (_costs(found) if len(e.classes) == 2 else "") + _notes(found, "thresholds")


def _costs(found: Report) -> str:
    e = found.evaluation
    if e.implied_threshold is None or e.best_threshold is None:
        return ""
    best = "never" if e.best_threshold > 1 else f"from {figure(e.best_threshold)} on"
    return paragraph(
        f"By its costs {e.classes[1]} is answered from a probability of "
        f"{figure(e.implied_threshold)} on; cheapest on these rows would have been {best}. A row "
        f"was expected to cost {figure(e.expected_cost)}, and cost {figure(e.realised_cost)}."
    )


def confused(found: Report) -> str:
    """The confusion matrix, as a picture and as a table."""
    e = found.evaluation
    names = [str(label) for label in e.classes.tolist()]
    if len(names) > LISTED:
        return _notes(found, "confusion")
    some = bool(e.abstained.any())
    rows = [
        (name, *(f"{cell:,.6g}" for cell in line), *([f"{e.abstained[i]:,.6g}"] * some))
        for i, (name, line) in enumerate(zip(names, e.confusion.tolist(), strict=True))
    ]
    head = ("truth", *names, *(["no answer"] * some))
    numbers = table("Rows by truth and answer", head, rows, right=range(1, len(head)))
    return _figures(found, "confusion") + details("The same as a table", numbers)


def important(found: Report) -> str:
    """How much each column says."""
    return _figures(found, "importance") + _notes(found, "importance")


def evidence(found: Report) -> str:
    """The curves of the strongest columns."""
    names = [f.name for f in found.figures if f.name.startswith("evidence-")]
    drawn = _figures(found, *names)
    return (f'<div class="pair">{drawn}</div>' if drawn else "") + _notes(found, "evidence")


def nomogram(found: Report) -> str:
    """The nomogram, or why there is none."""
    return _figures(found, "nomogram") + _notes(found, "nomogram")


def surprising(found: Report) -> str:
    """The rows that went most wrong, with their explanations."""
    if not found.surprises:
        return paragraph("No row was answered wrong.")
    first = paragraph(
        "The model was surest about these, and wrong: look here for mistakes in the labels, for "
        "values that mean something else, and for what the columns do not say."
    )
    each = (_surprise(s, shown=i == 0) for i, s in enumerate(found.surprises))
    return first + "".join(each)


def _surprise(one: Surprise, *, shown: bool) -> str:
    head = f"Row {one.row:,}: {one.truth}, which was given {_probability(one.probability)}"
    if one.why is not None:
        answer = paragraph(f"The answer was {one.why.answer}.")
        why = scrolled(one.why._repr_html_(), f"Why row {one.row} was answered like this")
        return details(head, answer + why, shown=shown)
    values = items(f"{text(name)}: {text(value)}" for name, value in one.values.items())
    return details(head, values, shown=shown)


def _probability(p: float) -> str:
    return f"{100 * p:.1f} %" if p >= 0.001 else f"{100 * p:.2g} %"


def drifted(found: Report) -> str:
    """How far each column has moved, and how far each gets alone."""
    moved = [
        (d.column, d.verdict, f"{d.index:.3f}", *_moved(d))
        for d in found.drifts
    ]  # fmt: skip
    head = ("column", "since training", "stability index", "moved most", "then", "now")
    first = (
        table("Shares of values in training and in these rows", head, moved, right=(2, 4, 5))
        if moved
        else ""
    )
    single = [
        (a.column, f"{100 * a.accuracy:.1f} %", f"{100 * a.avoided:.1f} %", "suspect" * a.suspect)
        for a in found.alone
    ]
    names = ("column", "accuracy alone", "errors avoided", "")
    second = table("Each column alone", names, single, right=(1, 2)) if single else ""
    return _notes(found, "drift") + first + second


def _moved(drift: Drift) -> tuple[str, str, str]:
    """The cell that moved most, if any did, and its shares."""
    if drift.index < STILL:
        return "", "", ""
    return drift.cell, f"{100 * drift.before:.1f} %", f"{100 * drift.now:.1f} %"


def data(found: Report) -> str:
    """The columns."""
    n = found.evaluation.rows
    rows = [
        (c.name, c.kind, f"{100 * c.missing / n:.1f} %" if c.missing else "none",
         "" if c.different is None else f"{c.different:,}", c.holds)
        for c in found.columns
    ]  # fmt: skip
    head = ("column", "kind", "missing", "different", "holds")
    unused = ", ".join(found.unused)
    rest = paragraph(f"Not looked at: {unused}.", "soft") if unused else ""
    return table(f"{n:,} rows, {len(rows)} columns", head, rows, right=(2, 3)) + rest


def training(found: Report) -> str:
    """The model, its settings, and its classes."""
    t = found.trained
    facts: list[tuple[str, object]] = [("model", t.kind)]
    facts += [("predicts", t.target)] if t.target else []
    facts += [("rows", f"{t.rows:,.6g}")] if t.rows is not None else []
    if t.temperature is not None:
        facts.append(("evidence is divided by", figure(t.temperature)))
    facts += list(t.settings.items())
    total = t.rows or 1.0
    classes = [
        (label, "" if n is None else f"{n:,.6g}", "" if n is None else f"{100 * n / total:.1f} %")
        for label, n in list(t.classes.items())[:LISTED]
    ]
    shapes = list(t.shapes.items())
    return (
        table("The model and its settings", ("what", "value"), facts)
        + table("Classes in training", ("class", "rows", "share"), classes, right=(1, 2))
        + (table("How each column is modelled", ("column", "shape"), shapes) if shapes else "")
    )


def _drawn(found: Report, *names: str) -> list[str]:
    by_name = {f.name: f for f in found.figures}
    return [markup.figure(by_name[name]) for name in names if name in by_name]


def _figures(found: Report, *names: str) -> str:
    return "".join(_drawn(found, *names))


def _notes(found: Report, section: str) -> str:
    notes: Iterable[str] = (n.text for n in found.notes if n.section == section)
    return "".join(paragraph(note, "soft") for note in notes)
