"""report: everything about a model on labelled rows, as one page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deciban.cli import models
from deciban.cli.progress import Progress
from deciban.cli.reading import Input, watch
from deciban.decision import Loss
from deciban.evaluation.text import PlainDict
from deciban.report import Report, pdf
from deciban.report import report as make


@dataclass(frozen=True)
class Wanted:
    """What is to be written, and how the model is to be judged."""

    output: str
    charts: str | None
    pdf: str | None
    loss: Callable[[Sequence[Hashable]], Loss]
    leave_one_out: bool
    bootstrap: int
    seed: int


@dataclass(frozen=True)
class Reported:
    """What was written, and what it says."""

    path: str
    bytes: int
    rows: int
    seconds: float
    written: list[str]
    found: Report

    def to_dict(self) -> PlainDict:
        """For machines."""
        return {
            "path": self.path,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "written": self.written,
            **self.found.to_dict(),
        }

    def __str__(self) -> str:
        charts = f", {len(self.found.figures)} charts"
        lines = [f"{self.path}: {self.rows:,} rows{charts}, {self.bytes:,} bytes"]
        lines += [f"{c.kind}: {c.text}" for c in self.found.cautions]
        return "\n".join(lines)


def report(path: str, data: Input, target: str | None, wanted: Wanted, *, quiet: bool) -> Reported:
    """Write the report of a model on the rows of a table."""
    with Progress("reading", quiet=quiet) as progress:
        model = models.load_classifier(path)
        label = models.target_column(target, model.target_, path)
        table = data.scan(models.field_types(model.model_, label))
        found = make(
            model,
            watch(table, [lambda batch: progress.add(batch.n_rows)]),
            target=label,
            loss=wanted.loss(model.classes_.tolist()),
            leave_one_out=wanted.leave_one_out,
            bootstrap=wanted.bootstrap,
            seed=wanted.seed,
            title=f"{Path(path).name} on {Path(data.paths[0]).name}",
            source=f"{model.model_.kind}, {label} predicted",
        )
        written = _write(found, wanted)
        size = Path(wanted.output).stat().st_size
        rows = found.evaluation.rows
        return Reported(wanted.output, size, rows, progress.seconds, written, found)


def _write(found: Report, wanted: Wanted) -> list[str]:
    """The page, and whatever else is wanted."""
    found.save(wanted.output)
    written = [wanted.output]
    if wanted.charts is not None:
        written += map(str, found.save_charts(wanted.charts))
    if wanted.pdf is not None:
        pdf.write_pdf(found.html(), wanted.pdf)
        written.append(wanted.pdf)
    return written
