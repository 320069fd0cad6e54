"""A bar on the standard error with rows, their rate, and how long it will take."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from deciban import progress
from deciban.cli import clock

if TYPE_CHECKING:
    from rich.progress import Task

    from deciban.cli.reading import Input
    from deciban.sources import Scan

#: Of text files, lines are counted in so many bytes at the beginning.
COUNTED_BYTES = 1 << 20
#: What the names of files end in that have a row a line.
LINES = {".csv", ".txt", ".dat", ".data", ".tsv", ".tab", ".jsonl", ".ndjson"}


class Progress(progress.Progress):
    """Counts rows; shows them after a second, if the standard error is a terminal.

    >>> with Progress("reading", quiet=True) as progress:
    ...     progress.add(3)
    >>> progress.rows
    3
    """

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        super().__init__(what, shown=not quiet and sys.stderr.isatty())

    @property
    def rows(self) -> int:
        """How many rows are done."""
        return self.done

    @property
    def seconds(self) -> float:
        """Since the command began."""
        return clock.seconds()

    def expect(self, table: Scan, data: Input) -> None:
        """So many rows are to come, as far as that can be known without reading them."""
        if self._shown:
            self._total = expected_rows(table, data.paths)

    def start(self, what: str, total: int | None = None) -> None:
        """Another reading of the rows begins, or other work."""
        self._what, self.done, self._total = what, 0, total
        if isinstance(self._bar, progress.TerminalBar):
            self._bar.bar.reset(self._bar.task, description=what, total=total)

    def _new_bar(self) -> progress.Bar:
        return _bar()


def expected_rows(table: Scan, paths: tuple[str, ...]) -> int | None:
    """The rows of a table: known, counted by DuckDB, or by the lines at the beginning of files."""
    from deciban.sources.databases import is_url
    from deciban.sources.duckdb import DuckDBScan
    from deciban.sources.files import matching

    if table.n_rows is not None:
        return table.n_rows
    if isinstance(table, DuckDBScan):
        (batch,) = table.ask(f"SELECT count(*) AS n FROM {table.sql}", 1)
        return int(batch.columns["n"].tolist()[0] or 0)
    if "-" in paths or table.place in ("database", "spark") or any(map(is_url, paths)):
        return None
    rows = [_lines(file) for path in paths for file in matching(path)]
    return None if None in rows else sum(n or 0 for n in rows)


def _lines(file: Path) -> int | None:
    """About how many lines a text file has; None where its bytes do not say."""
    if file.suffix.lower() not in LINES:
        return None
    with file.open("rb") as opened:
        start = opened.read(COUNTED_BYTES)
    return round(file.stat().st_size * start.count(b"\n") / max(len(start), 1))


def _bar() -> progress.TerminalBar:
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rows so far, rows per second, and where their number is known, percent and time left."""

        def render(self, task: Task) -> Text:
            rate = task.completed / task.elapsed if task.elapsed else 0.0
            return Text(describe(task.completed, rate, task.total))

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), Rate())
    return progress.TerminalBar(*columns)


def describe(done: float, rate: float, total: float | None) -> str:
    """How far it is.

    >>> describe(2000, 1000.0, 8000)
    '25 %, 2,000 rows, 1,000 rows/s, 0:06 left'
    >>> describe(0, 0.0, None)
    ''
    """
    if not done:
        return ""
    so_far = f"{done:,.0f} rows, {rate:,.0f} rows/s"
    if not total or not rate:
        return so_far
    left = round(max(total - done, 0) / rate)
    minutes, seconds = divmod(left, 60)
    return f"{min(99, 100 * done // total):.0f} %, {so_far}, {minutes}:{seconds:02} left"
