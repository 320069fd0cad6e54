"""The page: one HTML file with a section for each question."""

from __future__ import annotations

from dataclasses import dataclass

from deciban.charts import INK, PAPER, RULE, SOFT, TOTAL
from deciban.evaluation.text import between, figure
from deciban.report.document import Report
from deciban.report.tables import KEY_FIGURES, figure_name, tables
from deciban.templates import render
from deciban.version import __version__

#: Each section has a template of its name.
SECTION_TITLES = {
    "careful": "What to be careful about",
    "good": "How good it is",
    "reliability": "Can its probabilities be trusted?",
    "thresholds": "Thresholds and costs",
    "confusion": "What is taken for what",
    "importance": "Which columns say how much",
    "evidence": "What the values say",
    "nomogram": "With a pencil",
    "surprising": "The most surprising rows",
    "drift": "Training and now",
    "data": "What the data is",
    "training": "How it was trained",
}


@dataclass(frozen=True)
class Section:
    """A heading, and the HTML that stands below it."""

    name: str
    title: str
    content: str


@dataclass(frozen=True)
class KeyFigure:
    """A figure that is written large, with its interval and that of guessing beside it."""

    name: str
    value: str
    beside: str


def page(report: Report) -> str:
    """The whole file; a section about which there is nothing to say is left out."""
    sections = [Section(n, title, section(report, n)) for n, title in SECTION_TITLES.items()]
    return render(
        "report/page.html.jinja",
        report=report,
        summary=_summary(report),
        sections=[section for section in sections if section.content],
        colours={"ink": INK, "soft": SOFT, "rule": RULE, "total": TOTAL, "paper": PAPER},
        version=__version__,
    )


def section(report: Report, name: str) -> str:
    """The HTML of one section, without its heading."""
    return render(
        f"report/{name}.html.jinja",
        report=report,
        evaluation=report.evaluation,
        tables=tables(report),
        key_figures=[_key_figure(report, name) for name in KEY_FIGURES],
        number=figure,
        percent=_percent,
    ).strip()


def _summary(report: Report) -> str:
    """The most important figure in a sentence."""
    e = report.evaluation
    beside = f", always {e.guess} {figure(e.baseline.accuracy)}" if e.baseline else ""
    ends = between(e.intervals.get("accuracy"))
    where = f" {report.source}." if report.source else ""
    return f"Accuracy {figure(e.accuracy)}" + (f" ({ends})" if ends else "") + f"{beside}.{where}"


def _key_figure(report: Report, name: str) -> KeyFigure:
    e = report.evaluation
    parts = [between(e.intervals.get(name))]
    if e.baseline:
        parts.append(f"always {e.guess}: {figure(getattr(e.baseline, name))}")
    beside = "; ".join(part for part in parts if part)
    return KeyFigure(figure_name(name), figure(getattr(e, name)), beside)


def _percent(probability: float) -> str:
    """A probability in percent; a small one with two digits.

    >>> _percent(0.25), _percent(0.00012345)
    ('25.0 %', '0.012 %')
    """
    digits = ".1f" if probability >= 0.001 else ".2g"
    return f"{100 * probability:{digits}} %"
