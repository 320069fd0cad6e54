"""Whole tables: CSV, JSON lines, Arrow, Parquet or Excel in, the same or CSV out.

They may be larger than memory: what comes is kept in a temporary file, since types are settled
before the first row is read; what goes is made a batch at a time, as fast as it is taken.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from deciban.models.protocol import Model
from deciban.prediction.scored import (
    PredictionOptions,
    ScoredBatch,
    batch_rows,
    fields,
    scored_batches,
)
from deciban.prediction.writing import writer
from deciban.serve.problems import ProblemError
from deciban.sources.files import scan_spool
from deciban.sources.options import ReadOptions
from deciban.sources.scan import Scan
from deciban.sources.spool import Spool

__all__ = ["EXCEL", "INPUTS", "OUTPUTS", "open_table", "output_type", "predict_table"]

#: The type of content of a workbook.
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
#: What the name of a file ends in, by its type of content.
INPUTS = {
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/vnd.apache.arrow.stream": ".arrow",
    "application/vnd.apache.parquet": ".parquet",
    EXCEL: ".xlsx",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
}
#: The forms in which answers are written as they are made.
OUTPUTS = {
    "text/csv": "csv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/vnd.apache.arrow.stream": "arrow",
}


def output_type(kind: str, accept: str) -> str:
    """In which type the answers to a table go out: what is asked for, or what came, or CSV.

    >>> output_type("application/x-ndjson", "*/*"), output_type("application/vnd.ms-excel", "*/*")
    ('application/x-ndjson', 'text/csv')
    >>> output_type("text/csv", "application/x-ndjson, */*;q=0.1")
    'application/x-ndjson'
    """
    stated = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    for one in stated:
        if one in OUTPUTS:
            return one
    if not {"*/*", "", f"{kind.partition('/')[0]}/*"}.intersection(stated):
        raise ProblemError(406, f"answers cannot be {accept!r}.", f"ask for {', '.join(OUTPUTS)}")
    return kind if kind in OUTPUTS else "text/csv"


class ScoredTable:
    """The answers to the rows of a table, in pieces of a file; ``n_rows`` counts them."""

    def __init__(
        self, form: str, columns: list[Any], batches: Iterator[ScoredBatch], spool: Spool
    ) -> None:
        self._form, self._columns, self._batches, self._spool = form, columns, batches, spool
        self.n_rows = 0

    def __iter__(self) -> Iterator[bytes]:
        sink = io.BytesIO()
        with writer(self._form, sink, self._columns) as write:
            for part in self._batches:
                write(part.columns())
                self.n_rows += part.batch.n_rows
                yield _take(sink)
        yield _take(sink)


def _take(sink: io.BytesIO) -> bytes:
    """What was written, which the sink then no longer has."""
    content = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return content


def open_table(spool: Spool, charset: str) -> Scan:
    """A table in a temporary file, whose rows have been looked at."""
    return scan_spool(spool, ReadOptions(encoding=charset))


def predict_table(
    model: Model, spool: Spool, form: str, options: PredictionOptions, charset: str
) -> ScoredTable:
    """The answers to a table in a temporary file; its first batch has been scored."""
    options.check(model)
    how = ReadOptions(
        rows=batch_rows(model, options),
        types=model.caster.field_types(),
        kept=options.keep,
        encoding=charset,
    )
    table = scan_spool(spool, how)
    for name in options.kept(table.names):
        table.require(name)
    batches = scored_batches(model, table, options)
    first = list(islice(batches, 1))
    sample = first[0].batch if first else None
    columns = fields(model, options, table.names, sample)
    return ScoredTable(form, columns, chain(first, batches), spool)
