"""A bar on the standard error with rows and rows per second, once a run takes long."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from deciban import progress

if TYPE_CHECKING:
    from rich.progress import Task


class Progress(progress.Progress):
    """Counts rows; shows them after a second, if the standard error is a terminal.

    >>> with Progress("reading", quiet=True) as progress:
    ...     progress.add(3)
    >>> progress.rows
    3
    """

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        super().__init__(what, shown=not quiet and sys.stderr.isatty())

    def __enter__(self) -> Self:
        self._started = time.perf_counter()
        return super().__enter__()

    @property
    def rows(self) -> int:
        """How many rows are done."""
        return self.done

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self._started

    def start(self, what: str) -> None:
        """Another reading of the rows begins."""
        self._what, self.done = what, 0
        if isinstance(self._bar, progress.TerminalBar):
            self._bar.bar.reset(self._bar.task, description=what)

    def _new_bar(self) -> progress.Bar:
        return _bar()


def _bar() -> progress.TerminalBar:
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rows so far, and rows per second."""

        def render(self, task: Task) -> Text:
            rate = task.completed / task.elapsed if task.elapsed else 0.0
            return Text(f"{task.completed:,.0f} rows, {rate:,.0f} rows/s")

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), Rate())
    return progress.TerminalBar(*columns)
