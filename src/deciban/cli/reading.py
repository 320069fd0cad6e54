"""Files, globs and the standard input as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from deciban.sources import ROWS, Batch, Scan, files
from deciban.sources.written import How, Type


@dataclass(frozen=True)
class Input:
    """Where rows come from, and how they are written there."""

    paths: tuple[str, ...]
    encoding: str = "utf-8"
    na: tuple[str, ...] = ()

    def scan(self, types: Mapping[str, Type] | None = None, rows: int = ROWS) -> Scan:
        """The table in all files together; types of columns are inferred where not stated."""
        return files.scan(self.paths, How(rows, self.na or None, self.encoding, types or {}))


def watched(table: Scan, seen: Sequence[Callable[[Batch], object]]) -> Scan:
    """The same table; every batch is shown to somebody on the way.

    The n-th reading of the table is shown to the n-th of ``seen``, later ones to the last.
    """
    readings = iter(range(len(seen) - 1))

    def read() -> Iterator[Batch]:
        show = seen[next(readings, len(seen) - 1)]
        for batch in table:
            show(batch)
            yield batch

    return Scan(table.names, read)
