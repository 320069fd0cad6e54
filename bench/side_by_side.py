"""Measure two ways of doing the same work, in turn, and print the ratio.

Machines are noisy: each way runs several times, alternately, and its best
time counts. Beside it stands the limit of the machine: the time that reading
the same bytes once takes.
"""

from __future__ import annotations

import resource
import time
import tracemalloc
from collections.abc import Callable

import numpy as np


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor_seconds() -> float:
    """How long processors worked so far for this program, and for those it started and ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def best(
    ours: Callable[[], object], theirs: Callable[[], object], runs: int
) -> tuple[float, float]:
    """The best time of each; theirs is given fewer runs when it is slow."""
    ours()
    mine, peer = [], []
    for run in range(runs):
        if run < 2 or peer[-1] < 3.0:
            peer.append(seconds(theirs))
        mine += [seconds(ours), seconds(ours)]
    return min(mine), min(peer)


def reading(arrays: list[np.ndarray]) -> float:
    """The time to read the arrays once, in one thread."""
    views = [array.view(np.uint8).reshape(-1) for array in arrays]
    usable = [view[: len(view) // 8 * 8].view(np.int64) for view in views]
    return min(seconds(lambda: [view.max() for view in usable]) for _ in range(3))


def peak(work: Callable[[], object]) -> int:
    """The most memory that the work holds at once, in bytes."""
    tracemalloc.start()
    work()
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top
