"""Counters in the text format of Prometheus, shared by all workers.

A worker has a row of numbers in a small file that all have mapped, and adds to its own row
alone. Whichever is asked adds the rows up.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from bisect import bisect_left
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Metrics"]

#: Seconds: the upper ends of the buckets of durations.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_STATUSES = ("2xx", "4xx", "5xx")
#: A path has a counter of each status, the buckets and what is above them, and the seconds.
_PATH_NUMBERS = len(_STATUSES) + len(BUCKETS) + 2


class Metrics:
    """How many requests of which path there were, how they ended, how long they took; rows.

    >>> metrics = Metrics(["/api/predict"])
    >>> metrics.count("/api/predict", 200, 0.002, rows=3)
    >>> print(metrics.text())                                    # doctest: +ELLIPSIS
    # HELP deciban_requests_total Requests that were answered.
    # TYPE deciban_requests_total counter
    deciban_requests_total{path="/api/predict",status="2xx"} 1
    ...
    deciban_rows_total 3
    <BLANKLINE>
    """

    def __init__(self, paths: list[str], workers: int = 1, file: str | None = None) -> None:
        """``file`` is shared by workers; each takes a row by its process number."""
        self._paths = {path: i for i, path in enumerate(paths)}
        width = len(paths) * _PATH_NUMBERS + 1
        rows = max(64, 8 * workers)  # workers that end are replaced by others
        self._table = _shared_table(file, rows, width)
        self._row = memoryview(self._table[os.getpid() % rows]).cast("B").cast("d")

    def count(self, path: str, status: int, seconds: float, rows: int = 0) -> None:
        """Count a request that was answered."""
        at = self._paths[path] * _PATH_NUMBERS
        row = self._row
        row[at + (0 if status < 400 else 1 if status < 500 else 2)] += 1
        row[at + len(_STATUSES) + bisect_left(BUCKETS, seconds)] += 1
        row[at + _PATH_NUMBERS - 1] += seconds
        row[-1] += rows

    def totals(self) -> dict[str, float]:
        """Requests that were answered, those that went wrong by the service, seconds, and rows."""
        total = self._table.sum(axis=0)
        per_path = total[:-1].reshape(len(self._paths), _PATH_NUMBERS)
        return {
            "requests": float(per_path[:, : len(_STATUSES)].sum()),
            "mistakes": float(per_path[:, 1].sum()),
            "failures": float(per_path[:, 2].sum()),
            "seconds": float(per_path[:, -1].sum()),
            "rows": float(total[-1]),
        }

    def text(self) -> str:
        """All counters, of all workers."""
        total = self._table.sum(axis=0)
        per_path = total[:-1].reshape(len(self._paths), _PATH_NUMBERS)
        n = len(_STATUSES)
        requests = [
            f'deciban_requests_total{{path="{path}",status="{status}"}} {per_path[i, j]:.0f}'
            for path, i in self._paths.items()
            for j, status in enumerate(_STATUSES)
        ]
        return "\n".join(
            [
                *_head("requests_total", "counter", "Requests that were answered."),
                *requests,
                *_head("request_seconds", "histogram", "How long requests took."),
                *(
                    line
                    for path, i in self._paths.items()
                    for line in _histogram(path, per_path[i, n:-1], per_path[i, -1])
                ),
                *_head("rows_total", "counter", "Rows that were classified."),
                f"deciban_rows_total {total[-1]:.0f}",
                "",
            ]
        )


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP deciban_{name} {text}", f"# TYPE deciban_{name} {kind}"


def _histogram(path: str, counts: NDArray[np.float64], seconds: float) -> list[str]:
    ends = [*map(str, BUCKETS), "+Inf"]
    sums = np.cumsum(counts).tolist()
    name = "deciban_request_seconds"
    buckets = [
        f'{name}_bucket{{path="{path}",le="{end}"}} {n:.0f}'
        for end, n in zip(ends, sums, strict=True)
    ]
    return [
        *buckets,
        f'{name}_sum{{path="{path}"}} {seconds:.6f}',
        f'{name}_count{{path="{path}"}} {sums[-1]:.0f}',
    ]


def _shared_table(file: str | None, rows: int, width: int) -> NDArray[np.float64]:
    """Numbers in a file that several processes have mapped; in memory without a file."""
    if file is None:
        return np.zeros((rows, width))
    size = 8 * rows * width
    with Path(file).open("r+b") as opened:
        if opened.seek(0, os.SEEK_END) < size:
            opened.truncate(size)
        mapped = mmap.mmap(opened.fileno(), size)
    return np.frombuffer(mapped, np.float64).reshape(rows, width)


def shared_file() -> str:
    """A new file for the counters of several workers; whoever made it deletes it."""
    handle, name = tempfile.mkstemp(prefix="deciban-metrics-")
    os.close(handle)
    return name
