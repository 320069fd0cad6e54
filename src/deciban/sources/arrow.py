"""Arrow streams as batches: what each format of the C data interface becomes.

| Arrow type | column |
| --- | --- |
| bool | Booleans |
| integers | Integers |
| floats, decimals | Numbers |
| null | Numbers, all missing |
| string, binary, in every layout | Strings |
| date, timestamp, time | Times |
| duration | Numbers, in seconds |
| dictionary | what its values are; texts as CodedTexts |
| lists of strings | Strings: each item is one word |

Other lists, structs, maps, unions and intervals are refused by name. A timestamp
with a zone is already an instant: the zone itself is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.kernels.arrow import Array, ArrowError, Chunk, Stream
from deciban.kernels.texts import utf8
from deciban.sources.batch import Batch
from deciban.sources.columns import (
    Booleans,
    Column,
    Integers,
    Numbers,
    Strings,
    Times,
    concatenate,
    decode_dictionary,
)
from deciban.sources.formats import BAG, CATEGORY, Format
from deciban.sources.lists import join_items
from deciban.sources.tabular import Tabular

__all__ = [
    "ArrowError",
    "formats",
    "microseconds",
    "open_stream",
    "read",
    "read_or_explain",
    "read_series",
    "refuse_huge",
]

Reader = Callable[[Array], Column]

_NESTED = {
    "+l": "list", "+L": "list", "+vl": "list", "+vL": "list", "+w": "fixed-size list",
    "+s": "struct", "+m": "map", "+ud": "union", "+us": "union", "+r": "run-end encoded",
    "ti": "interval",
}  # fmt: skip
_LISTS = {"+l": np.int32, "+L": np.int64}
_TEXTS = {"u", "U", "vu"}
_INTEGERS = {
    "c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16,
    "i": np.int32, "I": np.uint32, "l": np.int64, "L": np.uint64,
}  # fmt: skip
_FLOATS = {"e": np.float16, "f": np.float32, "g": np.float64}
#: Ticks of a unit in one microsecond (below 0: microseconds in one tick).
_TICKS = {"s": -1_000_000, "m": -1_000, "u": 1, "n": 1_000}
_DAY = 86_400_000_000


def open_stream(source: Tabular) -> Stream:
    """The Arrow stream of an object that offers one.

    A frame of Polars that has a name with NUL in it would end the process.
    """
    names = getattr(source, "columns", None)
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and "\0" in name:
            raise InputError(
                f"column {name!r} has a NUL character in its name.", hint="rename the column"
            )
    # A Series of pandas whose objects have no type in Arrow has no stream at all.
    stream = None if getattr(source, "ndim", 2) == 1 else Stream(source.__arrow_c_stream__())
    if stream is None or not stream.is_table:
        raise InputError(
            f"a table is needed, got one column: {type(source).__name__}.",
            hint="put the column into a table, or pass a dict of columns",
        )
    return stream


def read(stream: Stream, rows: int, names: Sequence[str] | None = None) -> Iterator[Batch]:
    """Batches of at most ``rows`` rows; the stream is released at the end and on errors.

    ``names`` are those of the columns, if they are not to be the stream's own.
    """
    names = names or [name for name, _, _ in stream.fields]
    readers = [reader(*field) for field in stream.fields]
    try:
        for chunk in stream:
            yield from _batches(chunk, names, readers, rows)
    finally:
        stream.close()


def read_or_explain(stream: Stream, rows: int) -> Iterator[Batch]:
    """As :func:`read`; a producer's error becomes one of ours, cut to its first line."""
    try:
        yield from read(stream, rows)
    except ArrowError as error:
        headline = str(error).partition("\n")[0].partition(". Detail:")[0].rstrip(".")
        raise InputError(
            f"the stream broke off: {headline}.", hint="look at the library that it comes from"
        ) from None


def _batches(
    chunk: Chunk, names: Sequence[str], readers: list[Reader], rows: int
) -> Iterator[Batch]:
    for start in range(0, len(chunk), rows):
        stop = min(start + rows, len(chunk))
        columns = {
            name: convert(chunk.column(i, start, stop))
            for i, (name, convert) in enumerate(zip(names, readers, strict=True))
        }
        yield Batch(stop - start, columns)


def read_series(source: Tabular, name: str) -> Column | None:
    """One column of a Series-like object, whole; None when it has no rows."""
    stream = Stream(source.__arrow_c_stream__())
    convert = reader(name, *stream.fields[0][1:])
    parts = [convert(chunk.column(0, 0, len(chunk))) for chunk in stream]
    return concatenate(parts) if parts else None


def reader(name: str, form: str, dictionary: str) -> Reader:
    """How arrays of a format become columns; a clear error where they cannot."""
    if form in _LISTS:
        if dictionary not in _TEXTS:
            raise _unsupported(name, form)
        return _bags(_LISTS[form], reader(name, dictionary, ""))
    if dictionary:
        return _decoder(_INTEGERS[form], reader(name, dictionary, ""))
    if form in _INTEGERS:
        return _integers(name, form)
    if form in _FLOATS:
        return lambda array: _numbers(_values(array, _FLOATS[form]), array.missing())
    if form in _SIMPLE:
        return _SIMPLE[form]
    if form.startswith("t") and not form.startswith("ti"):
        return _times(name, form)
    if form.startswith(("d:", "w:")):
        return _sized_reader(form)
    raise _unsupported(name, form)


def formats(stream: Stream) -> dict[str, Format]:
    """The columns whose type says what they are: dictionaries and lists of texts."""
    return {name: BAG if form in _LISTS else CATEGORY for name, form, of in stream.fields if of}


def _bags(offset: Any, items_of: Reader) -> Reader:
    """Lists of texts: each is a text in which every item is one word."""

    def convert(array: Array) -> Strings:
        if array.length == 0:
            return Strings(np.zeros(1, np.int64), np.empty(0, np.uint8), array.missing())
        size = np.dtype(offset).itemsize
        first, stop = array.first * size, (array.first + array.length + 1) * size
        ends = array.buffer(1, first, stop).view(offset).tolist()
        items = cast("Strings", items_of(array.items(ends[0], ends[-1]))).tolist()
        bags = [join_items(items[a - ends[0] : b - ends[0]]) for a, b in pairwise(ends)]
        gaps = array.missing().tolist()
        return Strings(*utf8([None if gap else bag for bag, gap in zip(bags, gaps, strict=True)]))

    return convert


def _unsupported(name: str, form: str) -> InputError:
    kind = next((kind for start, kind in _NESTED.items() if form.startswith(start)), None)
    known = f"the type {kind}" if kind else f"the Arrow format {form!r}"
    return InputError(
        f"column {name!r} has {known}, which cannot be counted.",
        hint="leave the column out, or turn it into text, numbers or several columns",
    )


def _values(array: Array, dtype: Any) -> NDArray[Any]:
    """The fixed-width values of buffer 1."""
    size = np.dtype(dtype).itemsize
    return array.buffer(1, array.first * size, (array.first + array.length) * size).view(dtype)


def _integers(name: str, form: str) -> Callable[[Array], Integers]:
    def convert(array: Array) -> Integers:
        values, missing = _values(array, _INTEGERS[form]), array.missing()
        if form == "L":
            refuse_huge(name, values[~missing])
        return Integers(values.astype(np.int64, copy=False), missing)

    return convert


def refuse_huge(name: str, values: NDArray[np.uint64]) -> None:
    """An error where unsigned integers do not fit into signed ones."""
    largest = int(values.max(initial=0))
    if largest > np.iinfo(np.int64).max:
        raise InputError(
            f"column {name!r} has the integer {largest}, beyond 64 bits with a sign.",
            hint="cast it to floats if it is a quantity, to strings if it is a name",
        )


def _numbers(values: NDArray[Any], missing: NDArray[np.bool_], whole: bool = False) -> Numbers:
    if missing.any():
        return Numbers(np.where(missing, np.nan, values).astype(np.float64, copy=False), whole)
    return Numbers(values.astype(np.float64, copy=False), whole)


def _null(array: Array) -> Numbers:
    return Numbers(np.full(array.length, np.nan))


def _booleans(array: Array) -> Booleans:
    return Booleans(array.bits(1), array.missing())


def _strings(offset: Any) -> Callable[[Array], Strings]:
    def convert(array: Array) -> Strings:
        if array.length == 0:
            return Strings(np.zeros(1, np.int64), np.empty(0, np.uint8), array.missing())
        size = np.dtype(offset).itemsize
        first, stop = array.first * size, (array.first + array.length + 1) * size
        offsets = array.buffer(1, first, stop).view(offset).astype(np.int64, copy=False)
        if offsets[0] < 0 or np.any(offsets[1:] < offsets[:-1]):
            raise ArrowError("the texts of a column begin before the ones before them end")
        return Strings(offsets, array.buffer(2, 0, int(offsets[-1])), array.missing())

    return convert


def _views(array: Array) -> Strings:
    missing = array.missing()
    return Strings(*array.gather(missing), missing)


_SIMPLE: dict[str, Reader] = {
    "n": _null, "b": _booleans, "vu": _views, "vz": _views,
    "u": _strings(np.int32), "z": _strings(np.int32),
    "U": _strings(np.int64), "Z": _strings(np.int64),
}  # fmt: skip


def _sized_reader(form: str) -> Reader:
    """Decimals (``d:precision,scale,bits``) and bytes of a fixed width (``w:bytes``)."""
    if form.startswith("w:"):
        return lambda array: _fixed_width(array, int(form[2:]))
    _, scale, bits = (int(part) for part in [*form[2:].split(","), "128"][:3])
    return lambda array: _decimals(array, scale, bits // 8)


def _fixed_width(array: Array, width: int) -> Strings:
    data = array.buffer(1, array.first * width, (array.first + array.length) * width)
    offsets = np.arange(array.length + 1, dtype=np.int64) * width
    return Strings(offsets, data, array.missing())


def _decimals(array: Array, scale: int, width: int) -> Numbers:
    """Integers over a power of ten; those beyond 64 bits one by one, all correctly rounded."""
    missing = array.missing()
    raw = array.buffer(1, array.first * width, (array.first + array.length) * width)
    words = raw.view(np.int64 if width >= 8 else np.int32).reshape(array.length, max(width // 8, 1))
    low = words[:, 0].astype(np.int64)
    long = (words[:, 1:] != (low >> 63)[:, None]).any(axis=1) | (low > 2**53) | (low < -(2**53))
    out = low * 10.0**-scale if scale <= 0 else low / 10.0**scale
    for i in np.flatnonzero((long | (abs(scale) > 22)) & ~missing).tolist():
        whole = int.from_bytes(words[i].tobytes(), "little", signed=True)
        out[i] = whole * 10**-scale if scale <= 0 else whole / 10**scale
    return _numbers(out, missing, whole=scale <= 0)


def _times(name: str, form: str) -> Reader:
    """``tdD tdm``: dates; ``tts .. ttn``: times of a day; ``tss: .. tsn:``; ``tDs .. tDn``."""
    if form == "tdD":
        return _instants(name, np.int32, -_DAY, "date")
    if form == "tdm":
        return _instants(name, np.int64, _TICKS["m"], "date")
    kind, unit = form[1], form[2]
    if kind not in "tsD" or unit not in _TICKS:
        raise _unsupported(name, form)
    if kind == "D":
        per_second = {"s": 1.0, "m": 1e3, "u": 1e6, "n": 1e9}[unit]
        return lambda array: _numbers(_values(array, np.int64) / per_second, array.missing())
    if kind == "t":
        return _instants(name, np.int32 if unit in "sm" else np.int64, _TICKS[unit], "time")
    return _instants(name, np.int64, _TICKS[unit], "timestamp")


def _instants(
    name: str, dtype: Any, ticks: int, unit: Literal["date", "timestamp", "time"]
) -> Reader:
    def convert(array: Array) -> Times:
        missing = array.missing()
        return Times(microseconds(name, _values(array, dtype), missing, ticks), missing, unit)

    return convert


def microseconds(
    name: str, values: NDArray[Any], missing: NDArray[np.bool_], ticks: int
) -> NDArray[np.int64]:
    """Ticks as microseconds; an error where they do not fit."""
    values = np.where(missing, 0, values).astype(np.int64) if missing.any() else values
    if ticks > 0:
        return (values // ticks).astype(np.int64, copy=False) if ticks > 1 else values
    limit = np.iinfo(np.int64).max // -ticks
    if len(values) and (int(values.max()) > limit or int(values.min()) < -limit):
        raise InputError(
            f"column {name!r} has a time that does not fit into microseconds.",
            hint="infinite and very distant times must be missing or clipped",
        )
    return values.astype(np.int64, copy=False) * -ticks


def _decoder(index: Any, values: Reader) -> Reader:
    """A dictionary column, as the values that it stands for."""

    def convert(array: Array) -> Column:
        codes, missing = _values(array, index), array.missing()
        if missing.any():
            codes = np.where(missing, -1, codes.astype(np.int64))
        return decode_dictionary(values(array.dictionary()), codes)

    return convert
