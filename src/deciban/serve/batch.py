"""Whole tables: CSV, JSON lines or an Arrow stream in, the same out, larger than memory.

What comes is kept in a temporary file, since types are settled before the first row is read;
what goes is made a batch at a time, as fast as it is taken.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from deciban.errors import DecibanError
from deciban.models.protocol import Model
from deciban.prediction.scored import (
    PredictionOptions,
    ScoredBatch,
    batch_rows,
    fields,
    scored_batches,
)
from deciban.prediction.writing import writer
from deciban.sources.files import scan_spool
from deciban.sources.options import ReadOptions
from deciban.sources.spool import Spool

__all__ = ["FORMS", "predict_table"]

#: What a type of content is written as, and the end of a file's name that says so.
FORMS = {
    "text/csv": ("csv", ".csv"),
    "application/x-ndjson": ("jsonl", ".jsonl"),
    "application/jsonl": ("jsonl", ".jsonl"),
    "application/vnd.apache.arrow.stream": ("arrow", ".arrow"),
}


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


def predict_table(
    model: Model, spool: Spool, form: str, options: PredictionOptions, charset: str
) -> ScoredTable:
    """The answers to a table in a temporary file; its first batch has been scored."""
    try:
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
    except DecibanError as error:
        error.message = error.message.replace(str(spool.path), "the table")  # nobody's business
        raise
    sample = first[0].batch if first else None
    columns = fields(model, options, table.names, sample)
    return ScoredTable(form, columns, chain(first, batches), spool)
