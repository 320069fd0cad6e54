"""One table, every way in: the same columns come out (row M15)."""

import csv
import datetime as dt
import doctest
import gzip
import importlib
import io
import itertools
import json
import pkgutil
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import errors, sources
from deciban.errors import DecibanError, InputError, ParameterError, ShapeError
from deciban.sources.columns import CodedTexts

ROWS = [
    {"n": 1, "x": 0.5, "text": "naïve Bayes", "flag": True, "day": dt.date(2024, 2, 29)},
    {"n": None, "x": None, "text": None, "flag": None, "day": None},
    {"n": -7, "x": 1e-3, "text": "", "flag": False, "day": dt.date(1969, 12, 31)},
    {
        "n": 2**53 + 1,
        "x": 3.0,
        "text": '日本, "quoted"\nline',
        "flag": True,
        "day": dt.date(2000, 1, 1),
    },
]
WANTED = [{**row, "day": row["day"] and row["day"].isoformat()} for row in ROWS]
KINDS = {"n": "Integers", "x": "Numbers", "text": "Strings", "flag": "Booleans", "day": "Times"}
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def table():
    return pa.table(
        {
            "n": pa.array(COLUMNS["n"], pa.int64()),
            "x": COLUMNS["x"],
            "text": COLUMNS["text"],
            "flag": COLUMNS["flag"],
            "day": COLUMNS["day"],
        }
    )


def pandas_frame(**dtypes):
    frame = pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in COLUMNS.items()}
    )
    return frame.astype(dtypes)


def pandas_arrow():
    return table().to_pandas(types_mapper=pd.ArrowDtype)


def categorical():
    frame = pandas_frame(n="Int64", x="float64")
    return frame.assign(text=frame["text"].astype("category"), day=frame["day"].astype("category"))


def chunked():
    return pa.concat_tables([table().slice(0, 1), table().slice(1, 2), table().slice(3)])


def sliced():
    return pa.concat_tables([table(), table()]).combine_chunks().slice(4, 4)


def dictionary_encoded():
    encoded = table()
    for i, name in enumerate(encoded.column_names):
        encoded = encoded.set_column(i, name, encoded[name].dictionary_encode())
    return encoded


def large_layouts():
    views = table()
    views = views.set_column(2, "text", views["text"].cast(pa.large_string()))
    return views.set_column(4, "day", views["day"].cast(pa.date64()))


def string_views():
    return table().set_column(2, "text", table()["text"].cast(pa.string_view()))


def text_file(path, delimiter):
    """As DuckDB, Polars and Python's QUOTE_NOTNULL write it: the empty text is quoted."""

    def field(value):
        if value is None:
            return ""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return '"' + text.replace('"', '""') + '"' if isinstance(value, str) else text

    lines = [delimiter.join(COLUMNS)]
    lines += [delimiter.join(field(value) for value in row.values()) for row in ROWS]
    data = "\n".join(lines).encode() + b"\n"
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def json_lines(path):
    text = "".join(json.dumps(row, default=str) + "\n" for row in ROWS)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def parquet(path):
    pq.write_table(table(), path)
    return path


def relation():
    data = table()
    return duckdb.connect().from_arrow(data)


class Capsule:
    """Nothing but an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema=None):
        return table().__arrow_c_stream__(requested_schema)


IN_MEMORY = {
    "rows": lambda: ROWS,
    "rows one by one": lambda: iter(ROWS),
    "columns": lambda: COLUMNS,
    "columns of arrays": lambda: {
        "n": pa.chunked_array([COLUMNS["n"]]),
        "x": np.array(COLUMNS["x"], dtype=float),
        "text": pl.Series(COLUMNS["text"]),
        "flag": pd.Series(COLUMNS["flag"], dtype="boolean"),
        "day": np.array(COLUMNS["day"], dtype="M8[D]"),
    },
    "pandas objects": pandas_frame,
    "pandas str": lambda: pandas_frame(n="Int64", x="float64", text="str", flag="boolean"),
    "pandas python str": lambda: pandas_frame(text=pd.StringDtype("python")),
    "pandas string": lambda: pandas_frame(x="Float64", text="string"),
    "pandas categories": categorical,
    "pandas arrow": pandas_arrow,
    "polars": lambda: pl.from_arrow(table()),
    "polars lazy": lambda: pl.from_arrow(table()).lazy(),
    "polars categories": lambda: pl.from_arrow(table()).with_columns(
        pl.col("text").cast(pl.Categorical)
    ),
    "pyarrow": table,
    "pyarrow chunked": chunked,
    "pyarrow sliced": sliced,
    "pyarrow dictionary": dictionary_encoded,
    "pyarrow large": large_layouts,
    "pyarrow views": string_views,
    "pyarrow batch": lambda: table().to_batches()[0],
    "pyarrow reader": lambda: table().to_reader(max_chunksize=3),
    "capsule": Capsule,
    "duckdb relation": relation,
    "frames": lambda: iter([chunked().slice(0, 1), pl.from_arrow(table()).slice(1)]),
    "list of frames": lambda: [pandas_frame(n="Int64").iloc[:1], ROWS[1:]],
    "scan": lambda: sources.scan(ROWS),
}
FILES = {
    "t.csv": lambda path: text_file(path, ","),
    "semicolons.csv": lambda path: text_file(path, ";"),
    "t.tsv": lambda path: text_file(path, "\t"),
    "t.csv.gz": lambda path: text_file(path, ","),
    "t.jsonl": json_lines,
    "t.ndjson.gz": json_lines,
    "t.parquet": parquet,
    "it's [1].csv": lambda path: text_file(path, ","),
    "it's [1].jsonl": json_lines,
    "it's [1].parquet": parquet,
}


def rows_in(batches):
    return [row for batch in batches for row in batch.tolist()]


def check(scanned):
    assert scanned.names == tuple(COLUMNS)
    batches = list(scanned)
    for batch in batches:
        kinds = {
            name: "Strings" if isinstance(column, CodedTexts) else type(column).__name__
            for name, column in batch.columns.items()
        }
        assert kinds == KINDS
        assert batch.columns["day"].unit == "date"
        assert {len(column) for column in batch.columns.values()} == {batch.n_rows}
    assert rows_in(batches) == WANTED


@pytest.mark.parametrize("rows", [1, 3, 65536])
@pytest.mark.parametrize("way", IN_MEMORY)
def test_every_table_gives_the_same_columns(way, rows):
    check(sources.scan(IN_MEMORY[way](), rows=rows))


@pytest.mark.parametrize("rows", [3, 65536])
@pytest.mark.parametrize("name", FILES)
def test_every_file_gives_the_same_columns(name, rows, tmp_path):
    check(sources.scan(FILES[name](tmp_path / name), rows=rows))


def test_a_query_gives_the_same_columns(tmp_path):
    path = parquet(tmp_path / "t.parquet")
    connection = duckdb.connect()
    check(sources.scan(connection, sql=f"SELECT * FROM '{path}'"))
    assert connection.execute("SELECT 1").fetchall() == [(1,)], "the connection is free again"


@pytest.mark.parametrize("write", ["duckdb", "polars", "pandas"])
def test_csv_of_other_writers(write, tmp_path):
    path = tmp_path / "t.csv"
    if write == "duckdb":
        relation().write_csv(str(path))
    elif write == "polars":
        pl.from_arrow(table()).write_csv(path)
    else:
        pandas_frame(n="Int64").to_csv(path, index=False)
    wanted = [dict(row) for row in WANTED]
    if write == "pandas":  # it writes the empty text as it writes a missing one
        wanted[2]["text"] = None
    assert rows_in(sources.batches(path)) == wanted


def test_tables_can_be_read_twice_and_streams_once():
    for way in ("polars", "polars lazy", "duckdb relation", "pandas objects", "rows"):
        scanned = sources.scan(IN_MEMORY[way]())
        assert rows_in(scanned) == rows_in(scanned) == WANTED
    for way in ("pyarrow reader", "frames", "rows one by one"):
        scanned = sources.scan(IN_MEMORY[way]())
        assert rows_in(scanned) == WANTED
        with pytest.raises(InputError, match="has been read already"):
            list(scanned)


def test_nothing_heavy_is_imported():
    code = (
        "import sys, deciban.sources as s; list(s.batches({'a': [1]}));"
        "heavy = {'duckdb', 'pandas', 'polars', 'pyarrow', 'sklearn', 'narwhals', 'scipy'};"
        "print(heavy & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


def test_files_are_read_without_pyarrow(tmp_path):
    text_file(tmp_path / "t.csv", ",")
    parquet(tmp_path / "t.parquet")
    json_lines(tmp_path / "t.jsonl")
    code = (
        "import sys; sys.modules['pyarrow'] = None; import deciban.sources as s;"
        f"print([sum(b.n_rows for b in s.batches({str(tmp_path)!r} + '/t.' + e)) "
        "for e in ('csv', 'parquet', 'jsonl')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[4, 4, 4]"


def test_pandas_is_read_without_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None; import pandas as pd, deciban.sources as s;"
        "f = pd.DataFrame({'t': ['a', None], 'n': pd.array([1, None], 'Int64')});"
        "print(next(s.batches(f)).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[{'t': 'a', 'n': 1}, {'t': None, 'n': None}]"


# Types


def only(values, **kwargs):
    (batch,) = sources.batches({"c": values}, **kwargs)
    return batch.columns["c"]


@pytest.mark.parametrize(
    ("values", "kind", "out"),
    [
        ([1, 2.5, None], "Numbers", [1.0, 2.5, None]),
        ([Decimal("0.1"), Fraction(1, 4)], "Numbers", [0.1, 0.25]),
        ([2**63, 1], "Numbers", [2.0**63, 1.0]),
        ([None, float("nan"), pd.NA, pd.NaT], "Numbers", [None] * 4),
        ([True, None], "Booleans", [True, None]),
        ([np.int8(3), np.bool_(True)], "Mixed", ["3", "true"]),
        (["a", 1, 2.5, True], "Mixed", ["a", "1", "2.5", "true"]),
        ([b"a", "b"], "Strings", ["a", "b"]),
        (["a\udce9"], "Strings", ["a\udce9"]),
        ([dt.timedelta(minutes=1), None], "Numbers", [60.0, None]),
        ([dt.time(10, 0, 0, 5)], "Times", ["10:00:00.000005"]),
        (
            [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5)],
            "Times",
            ["2020-01-01 00:00:00", "2020-01-01 05:00:00"],
        ),
        (
            [dt.datetime(2020, 1, 1, 5, tzinfo=dt.timezone(dt.timedelta(hours=2)))],
            "Times",
            ["2020-01-01 03:00:00"],
        ),
        (np.array(["2020-01-01", "NaT"], "M8[ns]"), "Times", ["2020-01-01 00:00:00", None]),
        (np.array(["2020-01", "NaT"], "M8[M]"), "Times", ["2020-01-01", None]),
        (np.array([90, "NaT"], "m8[s]"), "Numbers", [90.0, None]),
        (np.array([0.5, np.nan], np.float32), "Numbers", [0.5, None]),
        (np.array([3], np.uint64), "Integers", [3]),
        (np.array(["ü", ""]), "Strings", ["ü", ""]),
        (np.array(["ü"], np.dtypes.StringDType()), "Strings", ["ü"]),
        (
            pd.Series(pd.to_datetime(["2020-01-01 05:00+02:00", None])),
            "Times",
            ["2020-01-01 03:00:00", None],
        ),
        (pd.Series([1, 2], dtype="category"), "Integers", [1, 2]),
        (pd.Index(["a", "b"]), "Strings", ["a", "b"]),
        (pd.Series([3, None], dtype="UInt8"), "Integers", [3, None]),
        (pd.Series([], dtype="str"), None, None),
        (range(2), "Integers", [0, 1]),
        ((i for i in range(2)), "Integers", [0, 1]),
    ],
)
def test_values(values, kind, out):
    found = list(sources.batches({"c": values}))
    if kind is None:
        assert found == []
        return
    column = found[0].columns["c"]
    assert (type(column).__name__, column.tolist()) == (kind, out)


def test_whole_numbers_know_it():
    assert only([1, None]).numbers().whole
    assert only([2**63]).whole
    assert not only([1.0]).whole


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], [2]], "column 'c' has lists of int"),
        ([{"a": 1}], "column 'c' has a value of the type dict"),
        ([1j], "column 'c' has a value of the type complex"),
        ([dt.date(2020, 1, 1), "x"], "column 'c' mixes date and text values"),
        (["\ud800"], "column 'c' has text that is not Unicode"),
        ("abc", "column 'c' is one value of the type str"),
        ({3, 1}, "column 'c' is a set, whose values are in no order"),
        (np.zeros((2, 2)), r"column 'c' has the shape \(2, 2\)"),
        (pd.DataFrame({"a": [1, 2]}), r"column 'c' has the shape \(2, 1\)"),
        (np.array([2**63], np.uint64), "column 'c' has the integer 9223372036854775808"),
        (np.array([2**62], "M8[s]"), "does not fit into microseconds"),
    ],
)
def test_values_that_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        list(sources.batches({"c": values}))


@pytest.mark.parametrize(
    ("given", "kwargs", "kind", "message"),
    [
        (5, {}, InputError, "a table is needed, got int"),
        (b"x", {}, InputError, "a table is needed, got bytes"),
        (np.zeros(3), {}, ShapeError, r"shape \(3,\)"),
        ([], {}, InputError, "the source is empty"),
        ({}, {}, InputError, "the table has no columns"),
        ({"a": [1], "b": [1, 2]}, {}, ShapeError, "column 'a' has 1 rows, 'b' has 2"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, InputError, "same name 'a'"),
        ({"a": [1]}, {"rows": 0}, ParameterError, "rows must be"),
        ({"a": [1]}, {"rows": True}, ParameterError, "rows must be"),
        ({"a": [1]}, {"sql": "SELECT 1"}, ParameterError, "sql and table go with a database"),
        (duckdb.connect(), {}, ParameterError, "needs a query"),
        (duckdb.connect(), {"sql": "SELEC 1"}, InputError, "DuckDB refused the query"),
        (duckdb.connect(), {"sql": ""}, ParameterError, "sql must be a text"),
        (duckdb.connect(), {"sql": "SELECT 1 a, 2 a"}, InputError, "same name 'a'"),
        (duckdb.connect(), {"sql": "SELECT [1] a"}, InputError, "column 'a' has the type list"),
        (duckdb.connect(), {"sql": "SELECT error('no') a"}, InputError, "DuckDB stopped"),
        (pl.Series([1]), {}, InputError, "got one column: Series"),
        (pl.DataFrame({"s": [{"a": 1}]}), {}, InputError, "column 's' has the type struct"),
        (iter([{"a": [1]}, {"b": [1]}]), {}, InputError, "'a' is only in the first"),
        (
            iter([{"a": [1]}, {"a": ["x"]}]),
            {},
            InputError,
            "integers in the first frame and strings",
        ),
        (
            iter([{"a": [1]}, {"a": [0.5]}]),
            {},
            InputError,
            "integers in the first frame and numbers",
        ),
    ],
)
def test_sources_that_are_refused(given, kwargs, kind, message):
    with pytest.raises(kind, match=message) as caught:
        list(sources.batches(given, **kwargs))
    assert isinstance(caught.value, DecibanError)
    assert "Hint: " in str(caught.value)


@pytest.mark.parametrize("odd", [None, 5, "abc", ["1", 2], [("a", 1)]])
def test_a_row_among_dicts_that_is_none_is_named(odd):
    for rows in ([{"a": 1}, {}, odd], iter([{"a": 1}, {}, odd])):
        with pytest.raises(
            InputError, match=re.escape(f"row 2 is no dict, as others are: {odd!r}")
        ):
            list(sources.batches(rows))


def test_series_of_mixed_objects_are_no_tables():
    row = pd.DataFrame({"a": ["x"], "b": [1]}).iloc[0]
    with pytest.raises(InputError, match="a table is needed, got one column: Series"):
        sources.scan([row, row])


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(InputError, match="a table is needed, got csr_array"):
        sources.batches(sparse.csr_array((2, 2)))


def test_frames_of_a_stream_take_the_types_of_the_first():
    day = dt.date(2020, 1, 1)
    frames = [
        {"i": [1], "x": [0.5], "t": ["a"], "d": [day], "b": [True]},
        {"b": [None], "d": [None], "t": [None], "x": [2], "i": [2.0]},
        pd.DataFrame(
            {
                "i": [3.0, np.nan],
                "x": [1, 2],
                "t": ["b", None],
                "d": [day, None],
                "b": [False, True],
            }
        ),
    ]
    scanned = sources.scan(iter(frames))
    batches = list(scanned)
    assert [list(batch.columns) for batch in batches] == [["i", "x", "t", "d", "b"]] * 3
    assert {tuple(type(c).__name__ for c in b.columns.values()) for b in batches} == {
        ("Integers", "Numbers", "Strings", "Times", "Booleans")
    }
    assert [row["i"] for row in rows_in(batches)] == [1, 2, 3, None]
    assert [row["x"] for row in rows_in(batches)] == [0.5, 2, 1, 2]


def test_a_stream_of_frames_is_not_read_ahead():
    taken = []

    def frames():
        for i in itertools.count():
            taken.append(i)
            yield {"a": [i]}

    batches = sources.batches(frames())
    assert [next(batches).n_rows for _ in range(3)] == [1, 1, 1]
    assert len(taken) <= 4


def test_rows_of_the_csv_module_stay_text():
    reader = csv.DictReader(io.StringIO("a,b\n1,x\n2,y\n"))
    assert rows_in(sources.batches(reader, rows=1)) == [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]


def test_arrays_and_records():
    assert sources.names(np.zeros((2, 3))) == ("x0", "x1", "x2")
    records = np.array([(1, "a")], dtype=[("n", int), ("t", "U3")])
    assert rows_in(sources.batches(records)) == [{"n": 1, "t": "a"}]
    view = np.arange(6).reshape(2, 3).T
    assert rows_in(sources.batches(view))[1] == {"x0": 1, "x1": 4}


def test_lists_of_tuples():
    rows = [(1, "S", True), (2, None, False)]
    wanted = [{"x0": 1, "x1": "S", "x2": True}, {"x0": 2, "x1": None, "x2": False}]
    assert (
        rows_in(sources.batches(rows))
        == rows_in(sources.batches([list(r) for r in rows]))
        == wanted
    )
    with pytest.raises(ShapeError, match="row 1 has 1 values, row 0 has 2"):
        sources.scan([(1, 2), (3,)])


def test_a_relation_over_python_objects_can_be_dropped_early():
    frame = pd.DataFrame({"t": pd.Series([f"word {i}" for i in range(300_000)], dtype=object)})
    connection = duckdb.connect()
    for _ in range(3):
        batches = sources.batches(connection.from_df(frame), rows=10)
        assert next(batches).columns["t"].tolist()[0] == "word 0"
        del batches
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_numbers_of_an_array_are_views():
    X = np.arange(12, dtype=float).reshape(6, 2)
    (batch,) = sources.batches(X)
    assert np.shares_memory(batch.columns["x1"].values, X)


def test_require_suggests_the_nearest_name():
    table = sources.scan({"label": [1], "text": [2]})
    assert table.require("label") == "label"
    with pytest.raises(InputError, match=r"no column 'Lable'. Hint: perhaps 'label' was meant"):
        table.require("Lable")
    with pytest.raises(InputError, match=r"no column 'zzz'. Hint: the columns are label, text"):
        table.require("zzz")


def test_without_duckdb_the_hint_says_what_to_install(monkeypatch, tmp_path):
    path = text_file(tmp_path / "t.csv", ",")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(errors.MissingPackageError, match="pip install duckdb"):
        list(sources.batches(path))


@pytest.mark.parametrize(
    "module",
    [found.name for found in pkgutil.iter_modules(sources.__path__)],
)
def test_doctests(module):
    assert doctest.testmod(importlib.import_module(f"deciban.sources.{module}")).failed == 0
