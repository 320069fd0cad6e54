"""report: everything about a model on labelled rows, as one page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deciban.cli import exits, models, trained_rows
from deciban.cli.progress import Progress
from deciban.cli.reading import Input, watch
from deciban.decision import Loss
from deciban.plain import PlainDict
from deciban.report import Report, pdf
from deciban.report import report as make
from deciban.sources.scan import hold


@dataclass(frozen=True)
class ReportOptions:
    """What is to be written, and how the model is to be judged."""

    output: str
    charts: str | None
    pdf: str | None
    overwrite: bool
    loss: Callable[[Sequence[Hashable]], Loss]
    leave_one_out: bool
    bootstrap: int
    seed: int


@dataclass(frozen=True)
class ReportFacts:
    """What was written, and what it says."""

    path: str
    bytes: int
    rows: int
    seconds: float
    written: list[str]
    report: Report

    def to_dict(self) -> PlainDict:
        """For machines."""
        return {
            "path": self.path,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "written": self.written,
            **self.report.to_dict(),
        }

    def __str__(self) -> str:
        charts = f", {len(self.report.figures)} charts"
        lines = [f"{self.path}: {self.rows:,} rows{charts}, {self.bytes:,} bytes"]
        lines += [f"{c.kind}: {c.text}" for c in self.report.cautions]
        return "\n".join(lines)


def report(
    path: str, data: Input, target: str | None, options: ReportOptions, *, quiet: bool
) -> ReportFacts:
    """Write the report of a model on the rows of a table."""
    with Progress("reading", quiet=quiet) as progress:
        model = models.load_classifier(path, leave_one_out=options.leave_one_out)
        label = models.target_column(target, model, path)
        table = data.scan(model.model_.caster.field_types(label, model.classes_))
        progress.expect(table, data)
        rows = hold(watch(table, [lambda batch: progress.add(batch.n_rows)]))
        rows.require(label)
        known = None if options.leave_one_out else trained_rows.warning(model, rows, label)
        page = make(
            model,
            rows,
            target=label,
            loss=options.loss(model.classes_.tolist()),
            leave_one_out=options.leave_one_out,
            bootstrap=options.bootstrap,
            seed=options.seed,
            title=f"{Path(path).name} on {Path(data.paths[0]).name}",
            source=f"{model.model_.kind}, {label} predicted",
        )
        written = _write(page, options)
        if known is not None:
            exits.warn(known)
        size = Path(options.output).stat().st_size
        n_rows = page.evaluation.rows
        return ReportFacts(options.output, size, n_rows, progress.seconds, written, page)


def _write(page: Report, options: ReportOptions) -> list[str]:
    """The page, and whatever else is asked for; what may fail is written first."""
    others: list[str] = []
    if options.charts is not None:
        others += map(str, page.save_charts(options.charts, overwrite=options.overwrite))
    if options.pdf is not None:
        pdf.write_pdf(page.html(), options.pdf, overwrite=options.overwrite)
        others.append(options.pdf)
    page.save(options.output, overwrite=options.overwrite)
    return [options.output, *others]
