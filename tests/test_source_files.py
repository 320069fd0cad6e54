"""Files as people have them: odd, broken, missing. Types do not depend on luck."""

import gc
import gzip
import io
import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import sources
from deciban.errors import DataWarning, DecibanError, FileError, InputError, ParameterError


def put(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def rows_in(path, **kwargs):
    return [row for batch in sources.batches(path, **kwargs) for row in batch.tolist()]


def column(path, name, **kwargs):
    """The kind of a column in every batch, and its values."""
    found = [batch.columns[name] for batch in sources.batches(path, **kwargs)]
    (kind,) = {type(part).__name__ for part in found}
    return kind, [value for part in found for value in part.tolist()]


# Dialects


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n2,y\n",
        "a,b\r\n1,x\r\n2,y\r\n",
        "a,b\r1,x\r2,y\r",
        "a;b\n1;x\n2;y",
        "a|b\n1|x\n2|y",
        "a\tb\n1\tx\n2\ty\n",
        '"a","b"\n"1","x"\n"2","y"\n',
        " a , b\n1,x\n2,y\n",
        "\ufeffa,b\n1,x\n2,y\n",
        '\ufeff"a",b\n1,x\n2,y\n',
        "a,b\n1,x\n2,y\n".encode("utf-16"),
    ],
)
def test_dialects(text, tmp_path):
    assert rows_in(put(tmp_path, text)) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_quoted_header_with_a_line_break(tmp_path):
    assert rows_in(put(tmp_path, '"a\n;;;",b\n1,"x\ny"\n')) == [{"a\n;;;": 1, "b": "x\ny"}]


def test_one_column_and_blank_lines(tmp_path):
    assert rows_in(put(tmp_path, "text\nhello world\n\nbye\n")) == [
        {"text": "hello world"}, {"text": None}, {"text": "bye"},
    ]  # fmt: skip


def test_one_name_is_one_column_whatever_its_fields_hold(tmp_path):
    path = put(tmp_path, 'text\nwell, well; "so"\n"a ""b"", c"\n')
    assert column(path, "text")[1] == ['well, well; "so"', 'a "b", c']


def test_names_that_differ_in_case_or_are_blank(tmp_path):
    path = put(tmp_path, "a,A,,select\n1,2,3,4\n")
    assert rows_in(path) == [{"a": 1, "A": 2, "column 3": 3, "select": 4}]


def test_only_a_header_gives_names_and_no_batch(tmp_path):
    scanned = sources.scan(put(tmp_path, "a,b\n"))
    assert (scanned.names, list(scanned)) == (("a", "b"), [])


def test_latin_1_when_stated(tmp_path):
    path = put(tmp_path, "a\ncafé\n".encode("latin-1"))
    assert rows_in(path, encoding="latin-1") == [{"a": "café"}]
    with pytest.raises(ParameterError, match="encoding 'klingon' is not known"):
        sources.scan(path, encoding="klingon")


# Types


@pytest.mark.parametrize(
    ("fields", "kind", "out"),
    [
        ("1 -2 0", "Integers", [1, -2, 0]),
        ("1 2.5", "Numbers", [1.0, 2.5]),
        ("1 1e3 .5 5. +7", "Numbers", [1.0, 1000.0, 0.5, 5.0, 7.0]),
        ("9223372036854775807 9223372036854775808", "Numbers", [2.0**63, 2.0**63]),
        ("inf -Infinity 1", "Numbers", [np.inf, -np.inf, 1.0]),
        ("00123 00042", "Strings", ["00123", "00042"]),
        ("1 2 00042", "Strings", ["1", "2", "00042"]),
        ("1_000 2", "Strings", ["1_000", "2"]),
        ("0x1F 2", "Strings", ["0x1F", "2"]),
        ("true FALSE True", "Booleans", [True, False, True]),
        ("true 1", "Strings", ["true", "1"]),
        ("t f", "Strings", ["t", "f"]),
        ("yes no", "Strings", ["yes", "no"]),
        ("2024-02-29 1969-12-31", "Times", ["2024-02-29", "1969-12-31"]),
        ("2024-02-29 2023-02-29", "Strings", ["2024-02-29", "2023-02-29"]),
        ("2024-2-9 2024-01-01", "Times", ["2024-02-09", "2024-01-01"]),
        ("2024-01-01 2024-01-01T10:30Z", "Times", ["2024-01-01 00:00:00", "2024-01-01 10:30:00"]),
        ("2024-01-01T10:30:00.25+02:00", "Times", ["2024-01-01 08:30:00.250000"]),
        ("10:30:00 23:59:59.5", "Times", ["10:30:00", "23:59:59.500000"]),
        ("10:30:00 2024-01-01", "Strings", ["10:30:00", "2024-01-01"]),
        ("infinity epoch", "Strings", ["infinity", "epoch"]),
        ("1 NA ? nan null N/A", "Integers", [1, None, None, None, None, None]),
        ("true NA", "Booleans", [True, None]),
        ("2024-01-01 NULL", "Times", ["2024-01-01", None]),
        ("x NA ?", "Strings", ["x", "NA", "?"]),
        ("NA ?", "Numbers", [None, None]),
    ],
)
def test_types_of_written_fields(fields, kind, out, tmp_path):
    path = put(tmp_path, "a,c\n" + "".join(f"1,{field}\n" for field in fields.split()))
    assert column(path, "c") == (kind, out)


def test_markers_that_are_stated_hold_everywhere(tmp_path):
    path = put(tmp_path, 'n,t\n1,x\n-,-\n,""\nNA,NA\n')
    assert rows_in(path, na=("-", "NA")) == [
        {"n": 1, "t": "x"}, {"n": None, "t": None}, {"n": None, "t": ""}, {"n": None, "t": None},
    ]  # fmt: skip
    assert column(path, "n")[0] == "Integers", "a dash is no value beside numbers"
    assert column(path, "t") == ("Strings", ["x", "-", "", "NA"]), "and a text beside texts"


def test_blanks_around_fields_are_left_away_unless_stated(tmp_path):
    path = put(tmp_path, 'n,t\n 1, x\n 2 ,?\n3,"a b \u00a0"\n4,  \n5,""\n')
    trimmed = ["x", "?", "a b", None, ""]
    assert rows_in(path) == [{"n": i + 1, "t": text} for i, text in enumerate(trimmed)]
    assert column(path, "t", trim=False)[1] == [" x", "?", "a b \u00a0", "  ", ""]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("where", [0, 1, 2500, 49_999])
def test_a_stray_word_anywhere_makes_the_column_text(where, ending, tmp_path):
    values = [str(i % 7) for i in range(50_000)]
    values[where] = "oops"
    if ending == "csv":
        text = "a,late\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values))
    else:
        shown = ['"oops"' if v == "oops" else v for v in values]
        text = "".join(f'{{"a": {i}, "late": {v}}}\n' for i, v in enumerate(shown))
    path = put(tmp_path, text, f"t.{ending}")
    if ending == "csv":
        with pytest.warns(DataWarning, match="'late' is nearly all numbers.* 1 of 50,000.*'oops'"):
            kind, found = column(path, "late", rows=10_000)
    else:
        kind, found = column(path, "late", rows=10_000)
    assert (kind, found) == ("Strings", values)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(allow_nan=False) | st.none(), min_size=1))
def test_numbers_survive_a_text_file(values):
    path = Path(f"/dev/shm/deciban-{os.getpid()}.csv")
    try:
        path.write_text("a,x\n" + "".join(f"1,{'' if v is None else repr(v)}\n" for v in values))
        found = column(path, "x")[1]
    finally:
        path.unlink()
    assert [None if v is None else float(v).hex() for v in found] == [
        None if v is None else v.hex() for v in values
    ]


# JSON lines


def test_json_types_and_late_keys(tmp_path):
    lines = '{"a": 1, "t": "5"}\n\n{"a": null, "t": "\\u00e9\\n", "b": true}\n'
    assert rows_in(put(tmp_path, lines, "t.jsonl")) == [
        {"a": 1, "t": "5", "b": None}, {"a": None, "t": "é\n", "b": True},
    ]  # fmt: skip
    many = '{"a": 1}\n' * 30_000 + '{"a": 2.5, "late": "x"}\n'
    path = put(tmp_path, many, "many.jsonl")
    assert sources.names(path) == ("a", "late")
    assert column(path, "late")[1][-1] == "x"
    assert column(path, "a")[0] == "Numbers"


def test_words_in_json_are_what_they_say(tmp_path):
    path = put(
        tmp_path, '{"c": "NA", "n": 1}\n{"c": "null", "n": 2}\n{"c": null, "n": 3}\n', "t.jsonl"
    )
    assert column(path, "c") == ("Strings", ["NA", "null", None])


# What goes wrong


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "is empty"),
        ("t.jsonl", "", "is empty"),
        ("t.parquet", "", "is empty"),
        ("t.csv", "\n1,2\n", "no header: its first line is blank"),
        ("t.csv", "a,a\n1,2\n", "two columns have the same name 'a'"),
        ("t.csv", "a,b\n1,x\n2\n", r"another number of fields than the header \(line 3\)"),
        ("t.csv", "a,b\n1,x\n2,y,z\n", r"another number of fields than the header \(line 3\)"),
        ("t.csv", 'a,b\n1,"x\n2,y\n', r"a quote that is not closed, or mixed line ends"),
        (
            "t.csv",
            b"a,b\n" + b"1,\xc3\xa9x\n" * 99 + b"1,caf\xe9\n",
            "UTF-8 but for some bytes, as in",
        ),
        ("t.csv", b"a,b\n1,\x81\x8d\x8f\x90\n", "its encoding cannot be guessed"),
        ("t.csv", "a,b\n1," + "x" * 3_000_000 + "\n", "cannot be read|more than 2 MB"),
        ("t.doc", "a,b\n", r"an ending that is not known: '.doc'.*\.csv, .*\.xlsx"),
        ("t.csv", b"PK\x03\x04 and more", r"is no text: it begins like a \.xlsx file"),
        ("t.xlsx", b"PK\x03\x04 and more", "cannot be read as a workbook"),
        ("t.arrow", b"no arrow", "cannot be read"),
        ("t.avro", b"no avro", "cannot be read"),
        ("noending", "a,b\n", "an ending that is not known: 'none'"),
        ("t.parquet", "a,b\n1,2\n", "not a Parquet file"),
        ("t.parquet", "a,b\n1,2\n" * 99, "not a Parquet file"),
        ("t.jsonl", '{"a": 1}\nbroken\n', "a line that is not JSON"),
        ("t.jsonl", '{"a": 1}\n5\n', "a line that is no object"),
        ("t.jsonl", '{"a": 1, "A": 2}\n', "'a' and 'A', which differ only in case"),
        ("t.jsonl", '{"a": {"b": 1}}\n', "column 'a' has objects or lists"),
        ("t.jsonl", '{"a": "x"}\n{"a": [1]}\n', "column 'a' has objects or lists"),
        ("t.csv.gz", b"", None),
    ],
)
def test_broken_files(name, text, message, tmp_path):
    path = put(tmp_path, text, name)
    if message is None:
        path.write_bytes(b"not gzip at all")
        message = "not a complete gzip file"
    with pytest.raises(DecibanError, match=message) as caught:
        list(sources.batches(path))
    assert isinstance(caught.value, FileError | InputError)
    assert caught.value.__cause__ is None
    shown = str(caught.value)
    assert "\n" not in shown
    assert "Hint: " in shown or "cannot be read" in shown


def test_a_gzip_file_that_breaks_off(tmp_path):
    whole = gzip.compress(b"a,b\n" + os.urandom(100_000).hex().encode() + b",1\n" * 1000)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="not a complete gzip file"):
        list(sources.batches(path))


def test_a_file_that_does_not_exist_suggests_another(tmp_path):
    put(tmp_path, "a\n1\n", "train.csv")
    with pytest.raises(FileError, match=r"does not exist. Hint: perhaps '.*train.csv' was meant"):
        sources.scan(tmp_path / "trian.csv")
    with pytest.raises(FileError, match=r"the folder .*nowhere does not exist either"):
        sources.scan(tmp_path / "nowhere" / "train.csv")
    assert issubclass(FileError, OSError)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(FileError, match=r"is a folder, not a file. Hint: name the files, such as"):
        sources.scan(tmp_path)


def test_no_permission(tmp_path, monkeypatch):
    path = put(tmp_path, "a\n1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    with pytest.raises(FileError, match="may not be read"):
        sources.scan(path)


# Several files


def test_globs_are_read_in_the_order_of_their_names(tmp_path):
    put(tmp_path, "a,b\n2,x\n", "2.csv")
    put(tmp_path, "a,b\n1,0.5\n", "1.csv")
    put(tmp_path, "a,b\n3,z\n", "3.csv.gz")
    assert rows_in(f"{tmp_path}/?.csv*") == [
        {"a": 1, "b": "0.5"}, {"a": 2, "b": "x"}, {"a": 3, "b": "z"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no file matches"),
        ({"1.csv": "a\n1\n", "2.csv": "b\n1\n"}, "2.csv has another header than .*1.csv"),
        (
            {"1.csv": "a\n1\n", "2.tsv": "a\n1\n"},
            r"1\.csv and .*2\.tsv are files of several kinds: csv, tsv",
        ),
        ({"1.csv": "a\n1\n", "2.csv": ""}, "2.csv is empty"),
    ],
)
def test_globs_that_do_not_fit(files, message, tmp_path):
    for name, text in files.items():
        put(tmp_path, text, name)
    with pytest.raises(FileError, match=message):
        sources.scan(f"{tmp_path}/*sv")


def test_parquet_files_with_other_columns(tmp_path):
    duckdb.sql("SELECT 1 a").write_parquet(f"{tmp_path}/1.parquet")
    duckdb.sql("SELECT 1 b").write_parquet(f"{tmp_path}/2.parquet")
    with pytest.raises(FileError, match="have different columns"):
        list(sources.batches(f"{tmp_path}/*.parquet"))


# The standard input


def piped(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))


def test_standard_input(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    duckdb.sql("SELECT 1 a, 'x' b").write_parquet(f"{tmp_path}/t.parquet")
    for data in (
        b"a,b\n1,x\n",
        b"a\tb\n1\tx\n",
        gzip.compress(b"a,b\n1,x\n"),
        b'{"a": 1, "b": "x"}\n',
        gzip.compress(b'{"a": 1, "b": "x"}\n'),
        (tmp_path / "t.parquet").read_bytes(),
    ):
        piped(monkeypatch, data)
        scanned = sources.scan("-")
        for _ in range(2):
            assert [batch.tolist() for batch in scanned] == [[{"a": 1, "b": "x"}]]
    assert len(list(tmp_path.glob("deciban-*"))) == 1
    del scanned
    gc.collect()
    assert not list(tmp_path.glob("deciban-*"))
    piped(monkeypatch, b"")
    with pytest.raises(FileError, match="standard input is empty"):
        sources.scan("-")


# Memory and cleaning up


def test_stopping_early_frees_the_file(tmp_path):
    path = put(tmp_path, "a,b\n" + "1,x\n" * 200_000)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        batches = sources.batches(path, rows=10)
        next(batches)
        del batches
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1


def test_memory_does_not_follow_the_file(tmp_path):
    code = (
        "import sys, resource, deciban.sources as s;"
        "n = sum(b.n_rows for b in s.batches(sys.argv[1]));"
        "print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for n in (1_000_000, 4_000_000):
        path = f"{tmp_path}/{n}.csv"
        duckdb.sql(
            f"SELECT range i, 'word' || range w, md5(range::VARCHAR) m FROM range({n})"
        ).write_csv(path)
        out = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
        )
        rows, peak = map(int, out.stdout.split())
        assert rows == n
        peaks.append(peak / 1024)
        size = Path(path).stat().st_size / 1e6
    assert peaks[1] < peaks[0] + 60, f"{peaks} MB for a file of {size:.0f} MB"


def test_reading_prints_nothing(tmp_path):
    """DuckDB draws a progress bar where it takes a program for a person."""
    question = "SELECT current_setting('enable_progress_bar')"
    assert sources.duckdb.connect().execute(question).fetchall() == [(False,)]
    code = f"from deciban import sources; list(sources.scan({str(tmp_path / 't.csv')!r}))"
    (tmp_path / "t.csv").write_text("a\n" + "1\n" * 1000)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == ""
