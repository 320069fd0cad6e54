"""How far Spark is, by its own status: the tasks that have ended, of those that there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from deciban import progress
from deciban.progress import REFRESH_SECONDS, Progress
from deciban.sources.spark import is_connect

__all__ = ["shown_tasks"]


@contextmanager
def shown_tasks(session: Any) -> Iterator[None]:
    """Show the tasks of the block in the bar that is shown now, if there is one."""
    bar = progress.current
    if bar is None:
        yield
    elif is_connect(session):
        with _told(session, bar):
            yield
    else:
        with _asked(session.sparkContext.statusTracker(), bar):
            yield


@contextmanager
def _told(session: Any, bar: Progress) -> Iterator[None]:
    """Spark Connect says how far it is."""

    def show(stages: Iterable[Any], **_: Any) -> None:
        some = list(stages or ())
        bar.reach(sum(s.num_completed_tasks for s in some), sum(s.num_tasks for s in some))

    session.registerProgressHandler(show)
    try:
        yield
    finally:
        session.removeProgressHandler(show)


@contextmanager
def _asked(tracker: Any, bar: Progress) -> Iterator[None]:
    """Classic Spark is asked now and then."""
    ended = Event()

    def ask() -> None:
        while not ended.wait(REFRESH_SECONDS):
            bar.reach(*count_tasks(tracker))

    thread = Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def count_tasks(tracker: Any) -> tuple[int, int]:
    """How many tasks of the stages that run have ended, and how many there are."""
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    known = [stage for stage in stages if stage is not None]
    return sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)
