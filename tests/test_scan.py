"""The contract of scans: every source obeys it; and the codes of known values."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import checks, sources
from deciban.encoding.matrices import Lookup
from deciban.errors import InputError, ParameterError
from deciban.sources import Booleans, Integers, Scan
from deciban.sources import duckdb as duckdb_source
from deciban.sources.duckdb import DuckDBScan
from deciban.sources.matrix import scan_matrix
from deciban.sources.scan import hold, peek, select
from deciban.sources.texts import scan_texts

TABLE = {"n": [1, 2, 3], "word": ["a", None, "b"]}
FRAME = pl.DataFrame(TABLE)
ROWS = FRAME.to_dicts()


def at(tmp_path, name):
    path = tmp_path / name
    {"csv": FRAME.write_csv, "parquet": FRAME.write_parquet, "jsonl": FRAME.write_ndjson}[
        path.suffix[1:]
    ](path)
    return path


SOURCES = {
    "dict": lambda _: sources.scan(TABLE, rows=2),
    "records": lambda _: sources.scan(ROWS, rows=2),
    "tuples": lambda _: sources.scan([(1, "a"), (2, None), (3, "b")]),
    "polars": lambda _: sources.scan(FRAME),
    "lazy": lambda _: sources.scan(FRAME.lazy()),
    "pandas": lambda _: sources.scan(pd.DataFrame(TABLE)),
    "reader": lambda _: sources.scan(pa.table(TABLE).to_reader()),
    "stream": lambda _: sources.scan(iter(ROWS)),
    "relation": lambda _: sources.scan(duckdb.sql("SELECT 1 AS n, 'a' AS word")),
    "csv": lambda path: sources.scan(at(path, "t.csv")),
    "json lines": lambda path: sources.scan(at(path, "t.jsonl")),
    "parquet": lambda path: sources.scan(at(path, "t.parquet")),
    "matrix": lambda _: scan_matrix([[1, 2], [3, 4]], None, False, "model"),
    "texts": lambda _: scan_texts(["a", "b"]),
    "held": lambda _: hold(sources.scan(iter(ROWS))),
    "selected": lambda _: select(sources.scan(TABLE), ["word"]),
    "peeked": lambda _: peek(sources.scan(TABLE, rows=1), 2)[1],
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_obeys_the_contract(tmp_path, name):
    scan = SOURCES[name](tmp_path)
    assert isinstance(scan, Scan)
    assert scan.place in ("memory", "file", "duckdb")
    assert (scan.place == "duckdb") == isinstance(scan, DuckDBScan)
    assert scan.require(scan.names[-1]) == scan.names[-1]
    with pytest.raises(InputError, match="there is no column 'zzz'"):
        scan.require("zzz")
    batches = list(scan)
    assert all(tuple(batch.columns) == scan.names for batch in batches)
    assert all(len(c) == batch.n_rows for batch in batches for c in batch.columns.values())
    assert scan.n_rows in (None, sum(batch.n_rows for batch in batches))
    if scan.rereadable:
        assert [batch.tolist() for batch in scan] == [batch.tolist() for batch in batches]
    else:
        with pytest.raises(InputError, match="read already"):
            list(scan)


def test_only_streams_are_read_once(tmp_path):
    once = {name for name, make in SOURCES.items() if not make(tmp_path).rereadable}
    assert once == {"reader", "stream"}


@pytest.mark.parametrize(("quote", "looks"), [("never", 0), ("always", 2)])
def test_the_types_of_a_short_file_need_one_look_and_plain_files_none(
    tmp_path, monkeypatch, quote, looks
):
    ask, asked = duckdb_source.ask, []

    def counted(*args):
        asked.append(args)
        return ask(*args)

    monkeypatch.setattr(duckdb_source, "ask", counted)
    FRAME.write_csv(tmp_path / "t.csv", quote_style=quote)
    (batch,) = sources.scan(tmp_path / "t.csv")
    assert [row["n"] for row in batch.tolist()] == TABLE["n"]
    assert len(asked) == looks


INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20)


@given(
    st.lists(INTEGERS, min_size=1, max_size=9, unique=True),
    st.lists(st.none() | INTEGERS, max_size=9),
)
def test_codes_of_integers_are_those_of_a_dictionary(known, values):
    check_codes(np.array(known, dtype=np.int64), values, Integers, np.int64)


@given(
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
    st.lists(st.none() | st.booleans(), max_size=9),
)
def test_codes_of_truth_values_are_those_of_a_dictionary(known, values):
    check_codes(np.array(known), values, Booleans, np.bool_)


def check_codes(known, values, kind, dtype):
    missing = np.array([value is None for value in values], dtype=bool)
    column = kind(np.array([value or 0 for value in values], dtype=dtype), missing)
    out = np.empty(len(values), dtype=np.int64)
    Lookup(known).fill(column, out)
    place = {value: i for i, value in enumerate(known.tolist())}
    assert out.tolist() == [-1 if v is None else place.get(v, len(known)) for v in values]


@pytest.mark.parametrize("value", [True, 0, -1, 1.0, "1", None, np.float64(2)])
def test_what_is_no_whole_number(value):
    with pytest.raises(ParameterError, match=r"n must be a whole number >= 1, got .* Hint: try 3"):
        checks.whole_number("n", value, 1, "try 3")
    assert not checks.is_whole_number(value, 1)


@pytest.mark.parametrize("value", [True, "1", None, np.nan, np.inf, -0.1])
def test_what_is_no_number(value):
    with pytest.raises(ParameterError, match=r"x must be a number >= 0, got .* Hint: try 1"):
        checks.number("x", value, "try 1")


def test_numbers():
    assert checks.whole_number("n", np.int8(3), 1, "") == 3
    assert checks.number("x", np.float32(0.5), "") == 0.5
    with pytest.raises(ParameterError, match="x must be a number > 0, got 0"):
        checks.number("x", 0, "", above=True)
    with pytest.raises(ParameterError, match=r"'a' or 'b', got 1\. Hint: 'a' is the default"):
        checks.one_of("x", 1, "a", "b")
