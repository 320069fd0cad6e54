"""Small plain files are read without DuckDB, and no reader could tell."""

import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deciban import sources
from deciban.errors import DecibanError
from deciban.sources import delimited

FIELDS = st.text(st.sampled_from('ab1.,;-\t "\r\n\x1fé我\u2028'), max_size=4)
LINES = st.lists(st.lists(FIELDS, min_size=1, max_size=3).map(",".join), max_size=6)


def table(path):
    """What a file holds, or what is wrong with it."""
    try:
        return [batch.tolist() for batch in sources.scan(path)]
    except DecibanError as error:
        return str(error)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["x", "x,y"]))
def test_what_is_read_is_what_duckdb_reads(tmp_path, monkeypatch, lines, end, closed, head):
    path = tmp_path / "t.csv"
    text = end.join([head, *lines]) + (end if closed else "")
    path.write_bytes(text.encode("utf-8"))
    monkeypatch.setattr(delimited, "MAX_PLAIN_BYTES", 1 << 17)
    ours = table(path)
    monkeypatch.setattr(delimited, "MAX_PLAIN_BYTES", 0)
    assert ours == table(path)


def test_a_plain_file_is_read_here(tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    files[0].write_bytes(b"\xef\xbb\xbfx,y\r\n1,\r\n2,b\r\n")
    files[1].write_text("x,y\n3,c")
    plain = delimited.PlainText.of(delimited.read_plain(files), ("x", "y"), ",")
    assert [batch.tolist() for batch in plain.read(["y", "x"], None, 2)] == [
        [{"y": None, "x": "1"}, {"y": "b", "x": "2"}],
        [{"y": "c", "x": "3"}],
    ]
    assert [batch.n_rows for batch in plain.read(["x"], 1)] == [1]


@pytest.mark.parametrize(
    "text", [b'x\n"a"\n', b"x\na\rb\n", b"x\n\na\n", b"x\na,b\n", b"x\n\xff\n", b"x\n\0\n"]
)
def test_anything_else_is_left_to_duckdb(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    plain = delimited.read_plain([path])
    assert plain is None or delimited.PlainText.of(plain, ("x",), ",") is None


def test_duckdb_is_not_imported_for_it(tmp_path):
    import subprocess

    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    code = f"from deciban import sources; list(sources.scan({str(path)!r})); import sys; " \
           "assert 'duckdb' not in sys.modules"  # fmt: skip
    subprocess.run([sys.executable, "-c", code], check=True)
