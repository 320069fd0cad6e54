"""A bar on the standard error with rows and rows per second, once a run takes long."""

from __future__ import annotations

import sys
import time
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import Task

#: Seconds after which a bar is shown.
PATIENCE = 1.0


class Progress:
    """Counts rows; shows them after a second, if the standard error is a terminal.

    >>> with Progress("reading", quiet=True) as progress:
    ...     progress.add(3)
    >>> progress.rows
    3
    """

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self.rows = 0
        self._what = what
        self._shown = not quiet and sys.stderr.isatty()
        self._bar: Bar | None = None
        self._lock = Lock()
        self._timer = Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._started = time.perf_counter()
        if self._shown:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._shown = False
            if self._bar is not None:
                self._bar.stop()

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self._started

    def add(self, rows: int) -> None:
        """Some more rows are done."""
        self.rows += rows
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.rows)

    def start(self, what: str) -> None:
        """Another reading of the rows begins."""
        self._what, self.rows = what, 0
        if self._bar is not None:
            self._bar.reset(self._bar.task_ids[0], description=what)

    def _show(self) -> None:
        with self._lock:
            if self._shown:
                self._bar = _bar()
                self._bar.add_task(self._what, total=None, completed=self.rows)
                self._bar.start()


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rows so far, and rows per second."""

        def render(self, task: Task) -> Text:
            rate = task.completed / task.elapsed if task.elapsed else 0.0
            return Text(f"{task.completed:,.0f} rows, {rate:,.0f} rows/s")

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), Rate())
    return Bar(*columns, console=Console(stderr=True), transient=True)
