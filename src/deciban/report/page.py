"""The page: one HTML file with a section for each question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from string import Template

from deciban.evaluation.text import between, figure
from deciban.report import sections
from deciban.report.found import Report
from deciban.report.markup import text
from deciban.report.style import CSS

#: Nothing may be loaded and nothing may run, whatever the data says.
_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>$title</title>
<style>$css</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<h1>$title</h1>
<p class="soft">$about</p>
<nav aria-label="Sections"><ul>$contents</ul></nav>
</header>
<main id="content">
$body
</main>
<footer><p>Written by deciban $version. Evidence is counted in decibans: 10 of them make the
odds ten times larger, 20 a hundred times.</p></footer>
</body>
</html>
""")


@dataclass(frozen=True)
class Section:
    """A heading, and what stands below it."""

    name: str
    title: str
    content: str


def page(found: Report) -> str:
    """The whole file."""
    made = [section for section in _sections(found) if section.content]
    return _PAGE.substitute(
        title=text(found.title),
        css=CSS,
        about=text(_about(found)),
        contents="".join(f'<li><a href="#{s.name}">{text(s.title)}</a></li>' for s in made),
        body="\n".join(_section(section) for section in made),
        version=text(metadata.version("deciban")),
    )


def _section(section: Section) -> str:
    name = section.name
    return (
        f'<section id="{name}" aria-labelledby="{name}-heading">'
        f'<h2 id="{name}-heading">{text(section.title)}</h2>{section.content}</section>'
    )


def _about(found: Report) -> str:
    """The most important figure in a sentence."""
    e = found.evaluation
    beside = f", always {e.guess} {figure(e.baseline.accuracy)}" if e.baseline else ""
    ends = between(e.intervals.get("accuracy"))
    where = f" {found.source}." if found.source else ""
    return f"Accuracy {figure(e.accuracy)}" + (f" ({ends})" if ends else "") + f"{beside}.{where}"


def _sections(found: Report) -> Iterator[Section]:
    yield Section("careful", "What to be careful about", sections.careful(found))
    yield Section("good", "How good it is", sections.good(found))
    yield Section("reliability", "Can its probabilities be trusted?", sections.reliable(found))
    yield Section("thresholds", "Thresholds and costs", sections.thresholds(found))
    yield Section("confusion", "What is taken for what", sections.confused(found))
    yield Section("importance", "Which columns say how much", sections.important(found))
    yield Section("evidence", "What the values say", sections.evidence(found))
    yield Section("nomogram", "With a pencil", sections.nomogram(found))
    yield Section("surprising", "The most surprising rows", sections.surprising(found))
    yield Section("drift", "Training and now", sections.drifted(found))
    yield Section("data", "What the data is", sections.data(found))
    yield Section("training", "How it was trained", sections.training(found))
