"""A progress bar on the standard error, once something takes long."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

#: Seconds after which a bar is shown.
DELAY_SECONDS = 1.0


class Progress:
    """Counts what is done; shows it after a second, if asked to.

    >>> with Progress("learning", 3, shown=False) as progress:
    ...     progress.add()
    >>> progress.done
    1
    """

    def __init__(self, what: str, total: int | None = None, *, shown: bool) -> None:
        self.done = 0
        self._what, self._total, self._shown = what, total, shown
        self._bar: Bar | None = None
        self._lock = Lock()
        self._timer = Timer(DELAY_SECONDS, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
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

    def add(self, amount: int = 1) -> None:
        """Count some more as done."""
        self.done += amount
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.done)

    def _show(self) -> None:
        with self._lock:
            if self._shown:
                self._bar = self._new_bar()
                self._bar.add_task(self._what, total=self._total, completed=self.done)
                self._bar.start()

    def _new_bar(self) -> Bar:
        return bar()


def bar(*columns: str | ProgressColumn) -> Bar:
    """A bar of these columns, or of the usual ones; it vanishes when all is done."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    return Bar(*columns, console=Console(stderr=True), transient=True)


def should_show(progress: object) -> bool:
    """Whether a bar is to be shown: ``"auto"`` is on a terminal."""
    return sys.stderr.isatty() if progress == "auto" else bool(progress)
