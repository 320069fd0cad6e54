"""Rows in memory, counted and scored by all cores.

``DECIBAN_THREADS`` sets how many threads are used; by default, all cores.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import chain, islice
from threading import local
from typing import Any, TypeVar

from deciban.errors import ParameterError

P = TypeVar("P")
T = TypeVar("T")

#: A chunk to score holds about this many numbers: it stays in the cache.
SCORE_CHUNK_VALUES = 1 << 17
#: A chunk to count holds at least this many: starting one costs next to nothing.
COUNT_CHUNK_VALUES = 1 << 21
#: No chunk has more rows: the exact sums of a chunk are sure to fit.
MAX_CHUNK_ROWS = 1 << 20


def n_threads() -> int:
    """How many threads work at once.

    >>> n_threads() >= 1
    True
    """
    stated = os.environ.get("DECIBAN_THREADS", "").strip()
    if not stated:
        return _n_cores()
    if not (stated.isascii() and stated.isdigit()) or int(stated) < 1:
        raise ParameterError(
            f"DECIBAN_THREADS must be a whole number >= 1, got {stated!r}.",
            hint="unset it to use all cores",
        )
    return int(stated)


def _n_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def chunks(n_rows: int, rows: int) -> list[slice]:
    """Consecutive slices of at most ``rows`` rows.

    >>> chunks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    rows = max(1, min(rows, MAX_CHUNK_ROWS))
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


@contextmanager
def serial_blas() -> Iterator[None]:
    """BLAS works in the thread that calls it: for work that is itself spread over threads.

    >>> with serial_blas():
    ...     pass
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def run(work: Callable[[P], T], parts: Iterable[P]) -> Iterator[T]:
    """The results of all parts, in order; several at a time where that pays.

    Results that wait to be taken hold memory, and so do parts that wait to be
    worked on: no more are begun than the threads can do.

    >>> list(run(lambda part: part.stop - part.start, chunks(5, 2)))
    [2, 2, 1]
    """
    coming = iter(parts)
    threads = n_threads()
    first = list(islice(coming, 2))
    if threads <= 1 or len(first) < 2:
        yield from map(work, chain(first, coming))
        return
    waiting: deque[Future[T]] = deque()
    with _pool(threads) as pool:
        try:
            for part in chain(first, coming):
                waiting.append(pool.submit(work, part))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            wait(waiting)


class _Place(local):
    """Where a thread is: among those that are kept, or outside."""

    kept = False


_place = _Place()


def _pool(threads: int) -> AbstractContextManager[ThreadPoolExecutor]:
    """Threads that are kept for the next time; within one of them others, lest it wait for itself.

    Starting threads takes longer than many a small work.
    """
    if _place.kept:
        return ThreadPoolExecutor(threads)
    return nullcontext(_kept(threads, os.getpid()))


@cache
def _kept(threads: int, process: int) -> ThreadPoolExecutor:
    """The threads of a process; a fork of it has none of them."""
    return ThreadPoolExecutor(threads, f"deciban-{process}", _settle)


def _settle() -> None:
    _place.kept = True
