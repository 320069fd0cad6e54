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

    def scan(
        self,
        types: Mapping[str, str] | None = None,
        rows: int = BATCH_ROWS,
        kept: Sequence[str] | None = (),
    ) -> Scan:
        """The table in all files together; types of columns are inferred where not stated.

        The fields of the columns in ``kept``, or of all if it is None, are given besides, as
        they stand in the files.
        """
        how = {**self.how, "na": self.how.get("na") or None}
        options = ReadOptions(rows=rows, types=types or {}, kept=kept, **how)
        table = files.scan(self.paths, options)
        for name in kept or ():
            table.require(name)
        return table


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
