"""Files, globs and the standard input as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deciban.sources import BATCH_ROWS, Batch, Scan, files
from deciban.sources.options import ReadOptions
from deciban.sources.scan import wrap


@dataclass(frozen=True)
class Input:
    """Where rows come from, and how they are written there: what ``ReadOptions`` takes."""

    paths: tuple[str, ...]
    how: Mapping[str, Any] = field(default_factory=dict)

    def scan(self, types: Mapping[str, str] | None = None, rows: int = BATCH_ROWS) -> Scan:
        """The table in all files together; types of columns are inferred where not stated."""
        how = {**self.how, "na": self.how.get("na") or None}
        return files.scan(self.paths, ReadOptions(rows=rows, types=types or {}, **how))


def watch(table: Scan, watchers: Sequence[Callable[[Batch], object]]) -> Scan:
    """The table, every batch of which is shown to a watcher on the way.

    The n-th reading of the table is shown to the n-th watcher, later ones to the last.
    """
    readings = iter(range(len(watchers) - 1))

    def read() -> Iterator[Batch]:
        show = watchers[next(readings, len(watchers) - 1)]
        for batch in table:
            show(batch)
            yield batch

    return wrap(table, read)
