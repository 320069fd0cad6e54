"""The reader of Arrow streams: every layout, no leak, nothing read out of bounds."""

import ctypes
import datetime as dt
import gc
import weakref
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import sources
from deciban.errors import InputError
from deciban.kernels.arrow import ArrowError, Stream, take

DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12, 0, 0, 250_000)
LONG = "longer than twelve bytes, so it lies in a buffer of its own"


def column(array, rows=65_536):
    table = pa.table({"c": array})
    parts = [batch.columns["c"] for batch in sources.batches(table, rows=rows)]
    return type(parts[0]).__name__, [value for part in parts for value in part.tolist()]


LAYOUTS = [
    *(
        (pa.array([1, None, 3], t), "Integers", [1, None, 3])
        for t in (
            pa.int8(),
            pa.uint8(),
            pa.int16(),
            pa.uint16(),
            pa.int32(),
            pa.uint32(),
            pa.int64(),
            pa.uint64(),
        )
    ),
    *(
        (pa.array([0.5, None, float("nan")], t), "Numbers", [0.5, None, None])
        for t in (pa.float16(), pa.float32(), pa.float64())
    ),
    *(
        (pa.array(["a", None, "", LONG, "é"], t), "Strings", ["a", None, "", LONG, "é"])
        for t in (
            pa.string(),
            pa.large_string(),
            pa.string_view(),
            pa.binary(),
            pa.large_binary(),
            pa.binary_view(),
        )
    ),
    (pa.array([b"ab", None, b"cd"], pa.binary(2)), "Strings", ["ab", None, "cd"]),
    (pa.array([True, None, False] * 5), "Booleans", [True, None, False] * 5),
    (pa.nulls(3), "Numbers", [None] * 3),
    *(
        (pa.array([DAY, None], t), "Times", ["2024-02-29", None])
        for t in (pa.date32(), pa.date64())
    ),
    *(
        (
            pa.array([NOON, None], pa.timestamp(unit, zone)),
            "Times",
            ["2024-02-29 12:00:00.250000", None],
        )
        for unit in ("ms", "us", "ns")
        for zone in (None, "Europe/Rome")
    ),
    (pa.array([1, None], pa.timestamp("s")), "Times", ["1970-01-01 00:00:01", None]),
    (pa.array([-1, None], pa.timestamp("ns")), "Times", ["1969-12-31 23:59:59.999999", None]),
    *(
        (pa.array([1, None], pa.time32(u)), "Times", [out, None])
        for u, out in (("s", "00:00:01"), ("ms", "00:00:00.001000"))
    ),
    *(
        (pa.array([1000, None], pa.time64(u)), "Times", [out, None])
        for u, out in (("us", "00:00:00.001000"), ("ns", "00:00:00.000001"))
    ),
    *(
        (pa.array([1500, None], pa.duration(u)), "Numbers", [1500 / per, None])
        for u, per in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9))
    ),
    *(
        (pa.array([Decimal("-1.25"), None, Decimal("0.10")], t), "Numbers", [-1.25, None, 0.1])
        for t in (
            pa.decimal32(5, 2),
            pa.decimal64(9, 2),
            pa.decimal128(12, 2),
            pa.decimal256(50, 2),
        )
    ),
    (
        pa.array([Decimal(10**30), Decimal(-(10**30)), Decimal(2**53 + 1)], pa.decimal128(38, 0)),
        "Numbers",
        [1e30, -1e30, float(2**53 + 1)],
    ),
    (pa.array([Decimal("1E-30")], pa.decimal128(38, 30)), "Numbers", [1e-30]),
    (pa.array(["b", None, "a", "b"]).dictionary_encode(), "CodedTexts", ["b", None, "a", "b"]),
    (pa.array([5, None, 5]).dictionary_encode(), "Integers", [5, None, 5]),
    (pa.array([0.5, None]).dictionary_encode(), "Numbers", [0.5, None]),
    (pa.array([DAY, None]).dictionary_encode(), "Times", ["2024-02-29", None]),
    (
        pa.DictionaryArray.from_arrays(
            pa.array([None, None], pa.int8()), pa.array([], pa.string())
        ),
        "CodedTexts",
        [None, None],
    ),
    (
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.uint16()), pa.array(["a", None])),
        "CodedTexts",
        ["a", None],
    ),
    (
        pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.bool_())),
        "Booleans",
        [None],
    ),
    (
        pa.DictionaryArray.from_arrays(
            pa.array([None], pa.int8()), pa.array([], pa.decimal128(5, 2))
        ),
        "Numbers",
        [None],
    ),
    (pa.chunked_array([["a"], [], ["b", None]]), "Strings", ["a", "b", None]),
]


@pytest.mark.parametrize("rows", [1, 2, 65_536])
@pytest.mark.parametrize(
    ("array", "kind", "out"), LAYOUTS, ids=lambda x: str(getattr(x, "type", ""))
)
def test_layouts(array, kind, out, rows):
    assert column(array, rows) == (kind, out)


@pytest.mark.parametrize(
    ("array", "kind", "out"), LAYOUTS, ids=lambda x: str(getattr(x, "type", ""))
)
def test_slices(array, kind, out):
    padded = pa.concat_arrays([*pa.chunked_array(array).chunks] * 3) if len(out) else array
    for start in range(len(out) * 2):
        assert column(padded.slice(start, len(out)))[1] == (out * 3)[start : start + len(out)]


def test_a_table_sliced_by_its_parent():
    struct = pa.StructArray.from_arrays(
        [pa.array(range(20)), pa.array([LONG, None] * 10)], ["i", "t"]
    )
    for start in (0, 1, 7, 9):
        part = pa.RecordBatch.from_struct_array(struct.slice(start, 5))
        (batch,) = sources.batches(part)
        assert batch.columns["i"].tolist() == list(range(start, start + 5))
        assert batch.columns["t"].tolist() == ([LONG, None] * 10)[start : start + 5]


class Raw:
    """A stream of plain struct arrays, whose offset is the parent's."""

    def __init__(self, struct):
        self.chunks = pa.chunked_array([struct])

    def __arrow_c_stream__(self, requested_schema=None):
        return self.chunks.__arrow_c_stream__(requested_schema)


def test_a_struct_array_with_an_offset_of_its_own():
    struct = pa.StructArray.from_arrays(
        [pa.array(range(20)), pa.array(list("abcdefghijklmnopqrst"))], ["i", "t"]
    )
    (batch,) = sources.batches(Raw(struct.slice(3, 4)))
    assert batch.columns["i"].tolist() == [3, 4, 5, 6]
    assert batch.columns["t"].tolist() == list("defg")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (pa.list_(pa.int8()), "the type list"),
        (pa.large_list(pa.int8()), "the type list"),
        (pa.list_(pa.int8(), 2), "the type fixed-size list"),
        (pa.list_view(pa.int8()), "the type list"),
        (pa.struct({"a": pa.int8()}), "the type struct"),
        (pa.map_(pa.string(), pa.int8()), "the type map"),
        (pa.dense_union([pa.field("a", pa.int8())]), "the type union"),
        (pa.run_end_encoded(pa.int32(), pa.int8()), "the type run-end encoded"),
        (pa.month_day_nano_interval(), "the type interval"),
    ],
)
def test_types_that_are_refused(kind, message):
    schema = pa.schema([("good", pa.int8()), ("bad", kind)])
    table = pa.RecordBatchReader.from_batches(schema, [])
    with pytest.raises(InputError, match=f"column 'bad' has {message}"):
        list(sources.batches(table))


def test_unsigned_integers_that_are_too_large():
    with pytest.raises(InputError, match="column 'c' has the integer 18446744073709551615"):
        column(pa.array([2**64 - 1], pa.uint64()))


def test_times_that_do_not_fit():
    with pytest.raises(InputError, match="column 'd' has a time that does not fit"):
        list(sources.batches(duckdb.sql("SELECT 'infinity'::DATE d")))
    huge = pa.array([2**62, None], pa.timestamp("s"))
    with pytest.raises(InputError, match="does not fit into microseconds"):
        column(huge)
    masked = pa.array(np.array([2**62, 1]), pa.timestamp("s"), mask=np.array([True, False]))
    assert column(masked)[1] == [None, "1970-01-01 00:00:01"]


def test_empty_streams():
    schema = pa.schema([("a", pa.string()), ("b", pa.string_view()), ("c", pa.bool_())])
    assert list(sources.batches(schema.empty_table())) == []
    assert list(sources.batches(pa.RecordBatchReader.from_batches(schema, []))) == []
    empty = pa.RecordBatch.from_pylist([], schema=schema)
    full = pa.RecordBatch.from_pylist([{"a": "x", "b": LONG, "c": True}], schema=schema)
    reader = pa.RecordBatchReader.from_batches(schema, [empty, full, empty])
    assert [batch.tolist() for batch in sources.batches(reader)] == [
        [{"a": "x", "b": LONG, "c": True}]
    ]
    assert list(sources.batches(pl.DataFrame(schema={"a": pl.String}))) == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.none() | st.text(max_size=30), max_size=40),
    st.integers(0, 20),
    st.integers(1, 9),
    st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]),
)
def test_any_texts_in_any_layout(texts, start, rows, kind):
    array = pa.array(texts, kind).slice(start)
    parts = list(sources.batches(pa.table({"c": array}), rows=rows))
    assert [value for part in parts for value in part.columns["c"].tolist()] == texts[start:]


def test_polars_views_with_many_buffers():
    frame = pl.concat([pl.DataFrame({"t": [f"{LONG} {i}", None, "short"]}) for i in range(50)])
    for table in (frame, frame.rechunk(), frame.filter(pl.col("t").is_not_null()), frame[7:90]):
        found = [
            v for batch in sources.batches(table, rows=11) for v in batch.columns["t"].tolist()
        ]
        assert found == table["t"].to_list()


# Lifetimes


def test_views_outlive_the_stream_and_are_not_copies():
    data = np.arange(1000.0)
    table = pa.table({"x": data})
    address = table["x"].chunk(0).buffers()[1].address
    (batch,) = sources.batches(table)
    values = batch.columns["x"].values
    assert values.ctypes.data == address
    del table, batch, data
    gc.collect()
    assert values.sum() == 499_500
    assert not values.flags.writeable


def test_buffers_are_given_back():
    pool = pa.default_memory_pool()
    gc.collect()
    before = pool.bytes_allocated()
    for _ in range(20):
        reader = pa.table({"t": pa.array([LONG] * 10_000)}).to_reader(max_chunksize=1000)
        for batch in sources.batches(reader, rows=100):
            assert batch.n_rows == 100
            break
        del reader, batch
    gc.collect()
    assert pool.bytes_allocated() <= before


class Producer:
    """Counts the batches that it was asked for, and breaks in the third."""

    def __init__(self):
        self.asked = 0

    def __iter__(self):
        for _ in range(3):
            self.asked += 1
            if self.asked == 3:
                raise RuntimeError("the disk is gone")
            yield pa.RecordBatch.from_pydict({"a": [1, 2]})


def test_an_error_in_the_middle_is_told_and_releases_the_stream():
    producer = Producer()
    watch = weakref.ref(producer)
    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), iter(producer))
    batches = sources.batches(reader)
    assert next(batches).n_rows == 2
    with pytest.raises(InputError, match="the disk is gone"):
        list(batches)
    del producer, reader, batches
    gc.collect()
    assert watch() is None


def test_a_capsule_is_read_once():
    capsule = pa.table({"a": [1]}).__arrow_c_stream__()
    stream = Stream(capsule)
    assert stream.fields == [("a", "l", "")]
    with pytest.raises(ArrowError, match="read before"):
        Stream(capsule)
    assert sum(map(len, stream)) == 1
    assert list(stream) == []


def test_what_is_no_capsule():
    with pytest.raises(ArrowError, match="not an arrow_array_stream capsule"):
        Stream(object())
    with pytest.raises(TypeError):
        Stream(None)


def test_rows_outside_a_chunk_are_refused():
    chunk = next(Stream(pa.table({"a": [1, 2]}).__arrow_c_stream__()))
    for args in ((0, 0, 3), (0, -1, 1), (1, 0, 1), (-1, 0, 1), (0, 2, 1)):
        with pytest.raises(IndexError):
            chunk.column(*args)


def test_a_view_that_points_outside_is_refused():
    views = pa.array([LONG], pa.string_view())
    view = views.buffers()[1]
    ctypes.memmove(view.address + 12, (10**6).to_bytes(4, "little"), 4)
    with pytest.raises(InputError, match="points outside its buffers"):
        column(views)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("offsets", [[0, 3, 1], [-1, 0, 1], [3, 2, 3]])
def test_offsets_that_do_not_rise_are_refused(kind, offsets):
    held = np.zeros(3, np.int32 if kind == pa.string() else np.int64)
    array = pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(held), pa.py_buffer(b"abc")])
    table = pa.table({"a": array})
    held[:] = offsets  # after pyarrow has looked at them
    with pytest.raises(InputError, match="begin before the ones before them end"):
        list(sources.batches(table))


def test_take():
    offsets, data = np.array([1, 3, 3, 6]), np.frombuffer(b"_abcde_", np.uint8)
    start, out = take(offsets, data, np.array([2, -1, 0, 1, 2]))
    assert (start.tolist(), out.tobytes()) == ([0, 3, 3, 5, 5, 8], b"cdeabcde")
    start, out = take(offsets, data, np.array([], np.int64))
    assert (start.tolist(), out.tobytes()) == ([0], b"")


def test_rows_of_texts_in_strides():
    (batch,) = sources.batches(pa.table({"c": list("abcdef")}))
    texts = batch.columns["c"]
    assert texts.take(np.arange(6)[::2]).tolist() == ["a", "c", "e"]
