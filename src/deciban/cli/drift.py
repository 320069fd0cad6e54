"""drift: whether new rows are still like those that a model learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deciban.cli import options as o
from deciban.cli.exits import DRIFTED
from deciban.cli.reading_options import How, reads_files

if TYPE_CHECKING:
    from deciban.cli.reading import Input
    from deciban.plain import PlainDict
    from deciban.report.drift import Drift
    from deciban.report.novelty import NewRows

#: So many columns that have not moved are listed.
MAX_LISTED = 20


@dataclass(frozen=True)
class DriftFacts:
    """How far each column has moved, the answers among them, and how many rows are new."""

    model: str
    rows: int
    seconds: float
    columns: list[Drift]
    answers: Drift
    new: NewRows | None
    max_index: float

    @property
    def moved(self) -> list[Drift]:
        """What has moved further than may be."""
        every = [self.answers, *self.columns]
        return [d for d in every if d.index > max(d.by_chance, self.max_index)]

    @property
    def drifted(self) -> bool:
        """Whether there is reason to worry."""
        return bool(self.moved) or (self.new is not None and self.new.moved)

    def to_dict(self) -> PlainDict:
        """For machines."""
        return {
            "model": self.model,
            "rows": self.rows,
            "seconds": self.seconds,
            "drifted": self.drifted,
            "moved": [d.column for d in self.moved],
            "answers": vars(self.answers),
            "columns": [vars(d) for d in self.columns],
            "new": None if self.new is None else vars(self.new),
        }

    def __str__(self) -> str:
        from deciban.evaluation.text import align

        moved = self.moved
        head = ("column", "index", "by chance", "", "most of it", "in training", "now")
        every = [self.answers, *self.columns[:MAX_LISTED]]
        table = [head, *(_line(d, d in moved) for d in every)]
        rate = self.rows / self.seconds
        lines = [f"{self.rows:,} rows in {self.seconds:.2f} s ({rate:,.0f} rows/s)", ""]
        lines += align(table, right={1, 2, 5, 6})
        if len(self.columns) > MAX_LISTED:
            lines.append(f"and {len(self.columns) - MAX_LISTED} more")
        if self.new is not None:
            lines += ["", f"{self.new.new:,} rows are new; by chance, up to {self.new.by_chance:,}"]
        names = ", ".join(d.column for d in moved) or "rows that are new"
        lines += ["", f"moved: {names}" if self.drifted else "nothing has moved"]
        return "\n".join(lines)


def _line(d: Drift, moved: bool) -> tuple[str, ...]:
    shares = f"{100 * d.before:.1f} %", f"{100 * d.now:.1f} %"
    verdict = "moved" if moved else ""
    return (d.column, f"{d.index:.3f}", f"{d.by_chance:.3f}", verdict, d.cell, *shares)


@reads_files
def drift(
    how: How,
    model: o.ModelFile,
    data: o.Data,
    index: Annotated[
        float,
        typer.Option(
            min=0,
            callback=o.not_nan,
            metavar="NUMBER",
            help="The population stability index above which a column has moved.",
        ),
    ] = 0.1,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Say whether new rows are still like those of training; exit code 4 if they are not."""
    from deciban.cli import rendering
    from deciban.cli.reading import Input

    facts = measure(model, Input(tuple(data), how), index, quiet=quiet)
    rendering.show(facts, json=json, quiet=quiet)
    if facts.drifted:
        raise typer.Exit(DRIFTED)


def measure(path: str, data: Input, max_index: float, *, quiet: bool) -> DriftFacts:
    """How far the rows of a table are from those that the model in a file learned."""
    from deciban.cli import models
    from deciban.cli.progress import Progress
    from deciban.cli.reading import watch
    from deciban.errors import ParameterError
    from deciban.report.distributions import column_distributions, counts_of
    from deciban.report.drift import drifts
    from deciban.report.novelty import count_new_rows
    from deciban.report.rows import read_rows
    from deciban.sources.scan import hold

    with Progress("reading", quiet=quiet) as progress:
        classifier = models.load_classifier(path)
        if counts_of(classifier) is None:
            raise ParameterError(
                f"{path} holds a {classifier.model_.kind}, which keeps no counts of its rows.",
                hint="models of deciban train keep them",
            )
        source = data.scan(classifier.model_.caster.field_types())
        progress.expect(source, data)
        table = hold(watch(source, [lambda batch: progress.add(batch.n_rows)]))
        rows = read_rows(classifier, table, [None] * (table.n_rows or 0))
        columns = drifts(column_distributions(classifier, rows))
        new = count_new_rows(classifier, rows)
        n_rows = rows.batch.n_rows
        answers = _answers(classifier, rows.X)
        return DriftFacts(path, n_rows, progress.seconds, columns, answers, new, max_index)


def _answers(classifier: Any, X: Any) -> Drift:
    """How far the shares of the classes have moved, as the model sees them in the rows."""
    from deciban.report.distributions import ColumnDistribution, counts_of
    from deciban.report.drift import drifts

    name = f"(answers: {classifier.target_ or 'class'})"
    counts, classes = counts_of(classifier), tuple(map(str, classifier.classes_.tolist()))
    before = classifier.classes_ == 0 if counts is None else counts.weight
    now = classifier.predict_proba(X).sum(axis=0)
    return drifts([ColumnDistribution(name, classes, before, now)])[0]
