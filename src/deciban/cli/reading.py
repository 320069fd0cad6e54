"""Files, globs and the standard input as one table, with progress, and some of its rows kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from deciban.errors import MissingPackageError, ParameterError
from deciban.sources import BATCH_ROWS, Batch, BatchScan, Scan, files
from deciban.sources.databases import is_url, scan_database
from deciban.sources.databases.query import query_of
from deciban.sources.duckdb import DuckDBScan, quote
from deciban.sources.options import ReadOptions
from deciban.sources.scan import scan_batches, wrap
from deciban.sources.spaced_rows import SpacedRows
from deciban.sources.spark import SparkScan, errors_of_spark, scan_spark

if TYPE_CHECKING:
    from deciban.cli.progress import Progress


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
        query = query_of(how.pop("sql", None), how.pop("table", None))
        engine = how.pop("engine", None)
        if engine is not None or query is not None or is_url(self.paths[0]):
            table = self._scan_elsewhere(engine, query, rows)
            for name in kept or ():
                table.require(name)
            return table
        options = ReadOptions(rows=rows, types=types or {}, kept=kept, **how)
        table = files.scan(self.paths, options)
        for name in kept or ():
            table.require(name)
        return table

    def _scan_elsewhere(self, engine: str | None, query: str | None, rows: int) -> Scan:
        """The table of a database, or of Spark."""
        if len(self.paths) != 1:
            raise ParameterError(
                f"one database is read at once, got {len(self.paths)} inputs.",
                hint="join tables in the query",
            )
        (path,) = self.paths
        if engine is None:
            return scan_database(path, query, rows)
        with errors_of_spark():
            session = _spark_session()
            frame = session.table(path) if query is None else session.sql(query)
        return scan_spark(frame, rows)


def _spark_session() -> Any:
    """The session that the environment states, as spark-submit and pyspark find it."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPackageError(
            "--engine spark needs pyspark, which is not installed.", hint="pip install pyspark"
        ) from None
    return SparkSession.builder.appName("deciban").getOrCreate()


def watch(table: Scan, watchers: Sequence[Callable[[Batch], object]]) -> Scan:
    """The table, every batch of which is shown to a watcher on the way.

    The n-th reading of the table is shown to the n-th watcher, later ones to the last. A table
    that DuckDB has stays one, of which it counts what it can.
    """
    readings = iter(range(len(watchers) - 1))

    def shown(batches: Iterator[Batch]) -> Iterator[Batch]:
        show = watchers[next(readings, len(watchers) - 1)]
        for batch in batches:
            show(batch)
            yield batch

    if isinstance(table, SparkScan):  # its rows are counted where they are: nobody sees them pass
        return table
    if isinstance(table, DuckDBScan):
        return WatchedDuckDBScan(**vars(table), shown=shown)
    return wrap(table, lambda: shown(iter(table)))


@dataclass(frozen=True, eq=False)
class WatchedDuckDBScan(DuckDBScan):
    """A table that DuckDB has, whose batches are shown to somebody."""

    shown: Callable[[Iterator[Batch]], Iterator[Batch]] = iter

    def columns(
        self, names: Sequence[str], rows: int, known: Mapping[str, Sequence[str]] | None = None
    ) -> Iterator[Batch]:
        """All rows of some columns."""
        return self.shown(super().columns(names, rows, known))


class WatchedTable:
    """A table with its progress shown, of whose rows some are kept, evenly spaced."""

    def __init__(self, table: Scan, progress: Progress, max_rows: int) -> None:
        self._source, self._progress = table, progress
        self._kept = SpacedRows(max_rows)
        self.table = watch(table, [self._first, self._again])
        self.rows_read = 0

    def batches(self) -> list[Batch]:
        """The rows that were kept; of a table that DuckDB has, it is asked for them now."""
        if isinstance(self._source, SparkScan) and not self._kept.batches:
            self._kept.batches.extend(self._source.head(self._kept.max_rows))
        if isinstance(self._source, DuckDBScan) and not self._kept.batches:
            stride = -(-self.rows_read // self._kept.max_rows)
            self._kept.batches.extend(_every(self._source, max(1, stride)))
        return self._kept.batches

    def scan(self) -> BatchScan:
        """The rows that were kept, as a table."""
        rows = scan_batches(self.table.names, self.batches())
        formats = self.table.formats if isinstance(self.table, BatchScan) else dict
        return replace(rows, formats=formats)

    def _first(self, batch: Batch) -> None:
        self.rows_read += batch.n_rows
        if not isinstance(self._source, DuckDBScan):  # of which some columns alone are read
            self._kept.add(batch)
        self._progress.add(batch.n_rows)

    def _again(self, batch: Batch) -> None:
        if self._progress.rows >= self.rows_read:
            self._progress.start("calibrating", self.rows_read)
        self._progress.add(batch.n_rows)


def _every(table: DuckDBScan, stride: int) -> Iterator[Batch]:
    """Rows 0, ``stride``, 2 ``stride``, ... in the order of the files."""
    counter = "n"
    while counter in {name.lower() for name in table.types}:
        counter += "n"
    numbered = f"SELECT *, row_number() OVER () - 1 AS {counter} FROM {table.sql}"
    names = ", ".join(quote(name, '"') for name in table.names)
    sql = f"SELECT {names} FROM ({numbered}) WHERE {counter} % {stride} = 0"
    return table.ask(sql, BATCH_ROWS)
