"""What crosses the wire: the counts of a partition as a checked archive, its sample as Arrow.

A sample is in pieces, the rows of least key first: of many partitions the first piece of each has
all that is needed.

An executor that refuses its rows sends the error itself, so that the driver raises it as it would
have for rows of its own.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from deciban import errors
from deciban.errors import DecibanError, InputError
from deciban.files import archive, document, vocabulary
from deciban.labels import object_array
from deciban.plain import PlainDict
from deciban.sources import arrow
from deciban.sources.batch import Batch, LabelledBatch
from deciban.sources.columns import Booleans, Column, Integers, Numbers, Strings, Times
from deciban.sources.row_sample import KeyedRows, RowSample

__all__ = ["PART_SCHEMA", "Part", "part_of", "parts_of", "to_record_batch"]

#: The columns of what a task gives: the number of its partition, what it counted, the pieces of its
#: sample, the bytes of each of them, and of all of it when it is unpacked.
PART_SCHEMA = (
    "part long, shard long, n_rows long, counted binary, sample array<binary>, "
    "pieces array<long>, size long, error string, hint string"
)
#: The shares of the rows that a sample may have at which it is cut into pieces.
SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)

#: Where the schema of a sample says what is no column of it.
_ABOUT = b"deciban"


@dataclass(frozen=True)
class Part:
    """What was counted of some partitions, as bytes."""

    number: int
    n_rows: int = 0
    counted: bytes | None = None
    sample: tuple[bytes, ...] | None = None
    error: str | None = None
    hint: str | None = None
    shard: int = 0

    @property
    def pieces(self) -> list[int]:
        """How many bytes each piece of its sample has."""
        return list(map(len, self.sample or ()))

    @property
    def size(self) -> int:
        """How many bytes its sample has, and its counts when they are unpacked."""
        counts = archive.unpacked_size(self.counted) if self.counted else 0
        return counts + sum(self.pieces)

    def cut(self, n_pieces: int) -> Part:
        """The part with no more than so many pieces of its sample."""
        return replace(self, sample=None if self.sample is None else self.sample[:n_pieces])

    @classmethod
    def of_error(cls, number: int, error: DecibanError) -> Part:
        """A partition whose rows were refused."""
        said = f"{type(error).__name__}:{error.message}"
        return cls(number, error=said, hint=error.hint)

    def require(self) -> Part:
        """Itself, unless its rows were refused: then the error, as the executor raised it."""
        if self.error is None:
            return self
        name, _, message = self.error.partition(":")
        kind = getattr(errors, name, InputError)
        raise kind(message, hint=self.hint or "")


def to_record_batch(part: Part) -> Any:
    """A part as the rows that Spark takes."""
    import pyarrow as pa

    columns = {
        "part": (part.number, pa.int64()), "shard": (part.shard, pa.int64()),
        "n_rows": (part.n_rows, pa.int64()), "counted": (part.counted, pa.binary()),
        "sample": (part.sample, pa.list_(pa.binary())),
        "pieces": (part.pieces, pa.list_(pa.int64())), "size": (part.size, pa.int64()),
        "error": (part.error, pa.string()), "hint": (part.hint, pa.string()),
    }  # fmt: skip
    arrays = [pa.array([value], kind) for value, kind in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def parts_of(table: Any) -> Iterator[Part]:
    """The parts in rows of Arrow, one by one."""
    for number in range(table.num_rows):
        yield part_of(table.slice(number, 1).to_pylist()[0])


def part_of(row: Mapping[str, Any]) -> Part:
    """The part in a row of Spark."""
    counted = None if row["counted"] is None else bytes(row["counted"])
    kept = None if row["sample"] is None else tuple(map(bytes, row["sample"]))
    return Part(row["part"], row["n_rows"], counted, kept, row["error"], row["hint"], row["shard"])


# ---------------------------------------------------------------------- samples


def sample_to_bytes(sample: RowSample) -> tuple[bytes, ...]:
    """A sample in pieces; some of the first ones are a sample of fewer rows."""
    rows = sample.settled
    if rows is None:
        return (_to_bytes(sample, None),)
    n_rows = len(rows.keys)
    cuts = {math.ceil(share * sample.max_rows) for share in SHARES}
    stops = [*sorted(cut for cut in cuts if cut < n_rows), n_rows]
    pieces = [rows.take(np.arange(start, stop)) for start, stop in pairwise([0, *stops])]
    first = [_to_bytes(replace(sample, limit=int(p.keys[-1])), p) for p in pieces[:-1]]
    return *first, _to_bytes(sample, pieces[-1])


def sample_from_bytes(pieces: Sequence[bytes]) -> RowSample:
    """The sample that another process of this job sent, or the rows of least key of it."""
    return RowSample.of_pieces(list(map(_from_bytes, pieces)))


def _to_bytes(sample: RowSample, rows: KeyedRows | None) -> bytes:
    """Rows of a sample as Arrow, and beside them their keys, weights, classes and codes."""
    import pyarrow as pa

    about: PlainDict = {
        "max_rows": sample.max_rows,
        "rows_seen": sample.rows_seen,
        "weight_seen": sample.weight_seen,
        "limit": sample.limit,
        "units": {},
    }
    columns: PlainDict = {}
    if rows is not None:
        about["classes"] = [vocabulary.to_json(label) for label in rows.rows.classes.tolist()]
        about["weighted"] = rows.rows.weight is not None
        for name, column in rows.rows.batch.columns.items():
            columns[f"c.{name}"] = _to_arrow(column)
            if isinstance(column, Numbers):
                about["units"][name] = column.whole
        columns["keys"], columns["weight"] = pa.array(rows.keys), pa.array(rows.weight)
        columns["codes"] = pa.array(rows.rows.codes)
    table = pa.table(columns).replace_schema_metadata({_ABOUT: document.dumps(about)})
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return buffer.getvalue()


def _from_bytes(data: bytes) -> RowSample:
    """A piece, as a sample of its own."""
    import pyarrow as pa

    table = pa.ipc.open_stream(data).read_all().combine_chunks()
    about: dict[str, Any] = document.loads(table.schema.metadata[_ABOUT])
    sample = RowSample(about["max_rows"], about["rows_seen"], about["weight_seen"], about["limit"])
    if not table.num_columns or not table.num_rows:
        return sample
    values = table.select([name for name in table.column_names if name.startswith("c.")])
    batch = next(arrow.read(arrow.open_stream(values), table.num_rows))
    columns = {
        name[2:]: _restore(column, about["units"].get(name[2:]))
        for name, column in batch.columns.items()
    }
    keys = np.ascontiguousarray(table.column("keys").to_numpy())
    weight = np.array(table.column("weight").to_numpy())
    codes = table.column("codes").to_numpy().astype(np.intp)
    classes = _classes([vocabulary.from_json(label) for label in about["classes"]])
    rows = LabelledBatch(
        Batch(batch.n_rows, columns), classes, codes,
        weight if about["weighted"] else None,
    )  # fmt: skip
    sample.hold(KeyedRows(rows, keys, weight))
    return sample


def _classes(values: list[Any]) -> Any:
    kinds = {type(value) for value in values}
    return np.array(values) if len(kinds) == 1 and str not in kinds else object_array(values)


def _to_arrow(column: Column) -> Any:
    import pyarrow as pa

    if isinstance(column, Numbers):
        return pa.array(column.values)
    if isinstance(column, Strings):
        offsets = np.ascontiguousarray(column.offsets, dtype=np.int64)
        data = np.ascontiguousarray(column.data)
        valid = pa.array(~column.missing).buffers()[1]
        buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_binary(), len(column), buffers)
    kind = None
    if isinstance(column, Times):
        kind = {"date": pa.timestamp("us"), "timestamp": pa.timestamp("us")}.get(column.unit)
        if column.unit == "date":
            days = pa.array(column.values // 86_400_000_000, pa.int64(), mask=column.missing)
            return days.cast(pa.int32()).cast(pa.date32())
        if column.unit == "time":
            return pa.array(column.values, pa.time64("us"), mask=column.missing)
    return pa.array(column.values, kind, mask=column.missing)


def _restore(column: Column, whole: bool | None) -> Column:
    if isinstance(column, Numbers) and whole:
        return Numbers(column.values, whole=True)
    if isinstance(column, Strings | Integers | Booleans | Times | Numbers):
        return column
    raise TypeError(f"no column is a {type(column).__name__}")
