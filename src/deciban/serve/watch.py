"""What the service was asked lately: the last rows, and how well taught answers were foreseen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from deciban.plain import PlainDict
from deciban.serve.bodies import Asked

__all__ = ["RecentRows", "average_losses"]

#: Rows that are kept for drift, and lessons that are looked at, by every worker.
MAX_RECENT_ROWS, MAX_JUDGED_LESSONS = 2_000, 10_000
#: The points of a curve over time.
MAX_POINTS = 60


class RecentRows:
    """The last rows that a worker was asked about.

    >>> recent = RecentRows(3)
    >>> recent.add([{"x": 1}, {"x": 2}]), recent.add([{"x": 3}, {"x": 4}])
    (None, None)
    >>> recent.rows
    [{'x': 2}, {'x': 3}, {'x': 4}]
    """

    def __init__(self, most: int = MAX_RECENT_ROWS) -> None:
        self._rows: deque[Asked] = deque(maxlen=most)

    def add(self, rows: Sequence[Asked]) -> None:
        """Keep rows, and drop older ones."""
        self._rows.extend(rows)

    @property
    def rows(self) -> list[Asked]:
        """The rows, the oldest first."""
        return list(self._rows)


def average_losses(losses: Sequence[tuple[float, float]]) -> Iterator[PlainDict]:
    """The mean log loss of lessons one after the other, with the time of the last of them.

    >>> list(average_losses([(1.0, 0.5), (2.0, 1.5)]))
    [{'time': 1.0, 'lessons': 1, 'log_loss': 0.5}, {'time': 2.0, 'lessons': 1, 'log_loss': 1.5}]
    """
    size = -(-len(losses) // MAX_POINTS) or 1
    for start in range(0, len(losses), size):
        some = losses[start : start + size]
        mean = sum(loss for _, loss in some) / len(some)
        yield {"time": some[-1][0], "lessons": len(some), "log_loss": mean}
