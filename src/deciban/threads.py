"""Work on batches of rows, spread over all cores.

``DECIBAN_THREADS`` sets how many threads are used; by default, all cores.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from threading import local
from typing import TYPE_CHECKING, TypeVar, cast

from deciban.errors import ParameterError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

P = TypeVar("P")
T = TypeVar("T")

#: A chunk to score holds about this many values: it stays in the cache.
SCORE_CHUNK_VALUES = 1 << 17
#: A chunk to count holds at least this many: starting one costs next to nothing.
COUNT_CHUNK_VALUES = 1 << 21
#: All threads together hold no more numbers than this in copies of their chunks: 16 MB.
MAX_COPIED_NUMBERS = 1 << 21
#: No chunk has more rows: the exact sums of a chunk are sure to fit.
MAX_CHUNK_ROWS = 1 << 20


def n_threads() -> int:
    """How many threads work at once.

    >>> n_threads() >= 1
    True
    """
    setting = os.environ.get("DECIBAN_THREADS", "").strip()
    if not setting:
        return n_cores()
    if not (setting.isascii() and setting.isdigit()) or int(setting) < 1:
        raise ParameterError(
            f"DECIBAN_THREADS must be a whole number >= 1, got {setting!r}.",
            hint="unset it to use all cores",
        )
    return int(setting)


def n_cores() -> int:
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


def count_chunks(n_rows: int, width: int, table_size: int, *, copied: bool) -> list[slice]:
    """Chunks that are worth a table of their own: larger than the table, but one a core.

    ``width`` numbers a row; where they are ``copied``, memory bounds the chunk as well.

    >>> len(count_chunks(1 << 20, 10, 100, copied=True)) > 4
    True
    """
    cores = n_threads()
    share = -(-n_rows // cores)
    numbers = max(COUNT_CHUNK_VALUES, 4 * table_size)
    if copied:
        numbers = min(numbers, max(MAX_COPIED_NUMBERS // cores, SCORE_CHUNK_VALUES))
    rows = numbers // max(1, width)
    if not copied:
        rows = max(rows, -(-share // 2))  # two a core: should one be busy, the other helps
    return chunks(n_rows, min(rows, max(share, 1))) or [slice(0, 0)]


def score_chunks(n_rows: int, width: int, *, gathered: bool = False) -> list[slice]:
    """Chunks that stay in the cache with their scores: ``width`` numbers a row.

    Where scores are ``gathered`` from a large table, it is the table that must
    stay in the cache: the fewer chunks the better.

    >>> score_chunks(3, 1 << 20)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    rows = SCORE_CHUNK_VALUES // max(1, width)
    if gathered:
        share = -(-n_rows // n_threads())
        rows = max(rows, min(share, SCORE_CHUNK_VALUES))
    return chunks(n_rows, rows)


@contextmanager
def serial_blas() -> Iterator[None]:
    """BLAS works in the thread that calls it: for work that is itself spread over threads.

    >>> with serial_blas():
    ...     pass
    """
    with _blas_libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas_libraries() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def run(work: Callable[[P], T], batches: Iterable[P], *, ahead: int | None = None) -> Iterator[T]:
    """The results of all batches, in order; several at a time where that pays.

    Results that wait to be taken hold memory, and so do batches that wait to be
    worked on: no more are begun than the threads can do, or than may be ``ahead`` of
    the one that is taken next.

    >>> list(run(lambda rows: rows.stop - rows.start, chunks(5, 2)))
    [2, 2, 1]
    """
    rest = iter(batches)
    threads = n_threads()
    first = list(islice(rest, 2))
    if threads <= 1 or len(first) < 2:
        return map(work, chain(first, rest))
    return _run_by_pool(work, chain(first, rest), threads, ahead or threads)


def both(first: Callable[[], P], second: Callable[[], T]) -> tuple[P, T]:
    """What two functions return, which are called at the same time.

    >>> both(lambda: 1, lambda: "two")
    (1, 'two')
    """
    works: tuple[Callable[[], P | T], ...] = (first, second)
    one, other = run(lambda work: work(), works)
    return cast("P", one), cast("T", other)


def _run_by_pool(
    work: Callable[[P], T], batches: Iterable[P], threads: int, ahead: int
) -> Iterator[T]:
    waiting: deque[tuple[P, Future[T]]] = deque()
    pool = _shared_pool(threads, os.getpid())
    try:
        for batch in batches:
            waiting.append((batch, pool.submit(work, batch)))
            if len(waiting) > ahead:
                yield _result(work, *waiting.popleft())
        while waiting:
            yield _result(work, *waiting.popleft())
    finally:
        _leave(future for _, future in waiting)


def _result(work: Callable[[P], T], batch: P, future: Future[T]) -> T:
    """What a batch gives; a thread of the pool does itself what no other has begun.

    So it never waits for work that waits for a thread.
    """
    if _thread.in_shared_pool and future.cancel():
        return work(batch)
    return future.result()


def _leave(futures: Iterable[Future[T]]) -> None:
    """Cancel what is not begun, and wait for the end of what is."""
    wait([future for future in futures if not future.cancel()])


@contextmanager
def helped(help_out: Callable[[], None], dismiss: Callable[[], None]) -> Iterator[None]:
    """Within the block, threads that have nothing else to do call ``help_out``.

    That is to return after ``dismiss``, which is called at the end of the block.
    """
    pool = _shared_pool(n_threads(), os.getpid())
    helpers = [pool.submit(help_out) for _ in range(n_threads() - 1)]
    try:
        yield
    finally:
        dismiss()
        _leave(helpers)


class _Thread(local):
    """What a thread knows about itself: whether it belongs to the shared pool."""

    in_shared_pool = False


_thread = _Thread()


@cache
def _shared_pool(threads: int, process: int) -> ThreadPoolExecutor:
    """The threads of a process; a fork of it has none of them."""
    return ThreadPoolExecutor(threads, f"deciban-{process}", _mark_thread)


def _mark_thread() -> None:
    _thread.in_shared_pool = True
