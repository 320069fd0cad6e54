"""Files, globs and the standard input as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from deciban import source
from deciban.errors import FileError
from deciban.source import ROWS, Batch, Scan, files


@dataclass(frozen=True)
class Input:
    """Where rows come from, and how they are written there."""

    paths: tuple[str, ...]
    encoding: str = "utf-8"
    na: tuple[str, ...] = ()

    def scan(self, rows: int = ROWS) -> Scan:
        """The table in all files together."""
        missing = self.na or None
        if len(self.paths) == 1:
            return source.scan(self.paths[0], rows=rows, missing=missing, encoding=self.encoding)
        if "-" in self.paths:
            raise FileError(
                "the standard input cannot be read together with files.", hint="pass '-' alone"
            )
        return files.together(self.paths, rows, missing, self.encoding)


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
