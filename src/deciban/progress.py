"""A progress bar once something takes long: on the standard error, or in a notebook.

A notebook shows one for whatever takes longer than a second: learning, evaluating, reporting. A
terminal shows one where it is asked for.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

#: Seconds after which a bar is shown, and between two changes of one in a notebook.
DELAY_SECONDS, REFRESH_SECONDS = 1.0, 0.5

P = ParamSpec("P")
T = TypeVar("T")


class Bar(Protocol):
    """What shows progress."""

    def start(self) -> None:
        """Show it."""

    def stop(self) -> None:
        """Take it away."""

    def show(self, what: str, done: int, total: int | None) -> None:
        """Show how much is done."""


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
            self._bar.show(self._what, self.done, self._total)

    def reach(self, done: int, total: int) -> None:
        """So much is done by now, of so much that is known of."""
        self.done, self._total = done, total
        if self._bar is not None:
            self._bar.show(self._what, done, total)

    def _show(self) -> None:
        with self._lock:
            if self._shown:
                self._bar = self._new_bar()
                self._bar.start()
                self._bar.show(self._what, self.done, self._total)

    def _new_bar(self) -> Bar:
        return NotebookBar() if in_notebook() else TerminalBar()


class TerminalBar:
    """A bar of Rich's on the standard error, of these columns or the usual ones; it vanishes."""

    def __init__(self, *columns: str | ProgressColumn) -> None:
        from rich.console import Console
        from rich.progress import Progress as RichBar

        self.bar = RichBar(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("", total=None)

    def start(self) -> None:
        """Show it."""
        self.bar.start()

    def stop(self) -> None:
        """Take it away."""
        self.bar.stop()

    def show(self, what: str, done: int, total: int | None) -> None:
        """Show how much is done."""
        self.bar.update(self.task, description=what, completed=done, total=total)


class NotebookBar:
    """A bar below the cell that runs; it needs no widgets, and it vanishes."""

    def __init__(self) -> None:
        self._began = self._shown_at = time.perf_counter()
        self._handle: Any = None

    def start(self) -> None:
        """Show it."""
        from IPython.display import HTML, display

        self._handle = display(HTML(""), display_id=True)

    def stop(self) -> None:
        """Take it away."""
        self._update("")

    def show(self, what: str, done: int, total: int | None) -> None:
        """Show how much is done; not all too often."""
        now = time.perf_counter()
        if done and now - self._shown_at < REFRESH_SECONDS:
            return
        self._shown_at = now
        share = "" if total is None else f' value="{done}" max="{total}"'
        amount = f", {done:,} rows" if total is None and done else ""
        seconds = f"{DELAY_SECONDS + now - self._began:.0f} s"
        self._update(f"{what} <progress{share}></progress> {seconds}{amount}")

    def _update(self, markup: str) -> None:
        from IPython.display import HTML

        if self._handle is not None:
            self._handle.update(HTML(markup))


#: What counts rows for the call that a notebook shows now.
current: Progress | None = None


def shows_progress(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Show a bar in a notebook while a function runs, if it takes long; elsewhere, nothing.

    Calls within it are part of it.

    >>> @shows_progress("adding")
    ... def add(a, b):
    ...     return a + b
    >>> add(1, 2), add.__name__
    (3, 'add')
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def run(*arguments: P.args, **options: P.kwargs) -> T:
            global current  # noqa: PLW0603
            if current is not None or not in_notebook():
                return function(*arguments, **options)
            try:
                with Progress(what, shown=True) as current:
                    return function(*arguments, **options)
            finally:
                current = None

        return run

    return decorate


def in_notebook() -> bool:
    """Whether a kernel of Jupyter's runs this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def should_show(progress: object) -> bool:
    """Whether a bar is to be shown: ``"auto"`` is on a terminal, or in a notebook."""
    return sys.stderr.isatty() or in_notebook() if progress == "auto" else bool(progress)
