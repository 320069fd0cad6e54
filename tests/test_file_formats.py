"""Excel, Arrow, ORC, Avro, JSON and texts: each file gives the same table."""

import datetime as dt
import gc
import json
import sys
import tempfile

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, orc

from commands import run
from deciban import NaiveBayes, scan
from deciban.errors import FileError, InputError, MissingPackageError, ParameterError
from workbooks import write_workbook

ROWS = [
    {"n": i * 0.5 if i % 7 else None, "k": i * i, "t": "red" if i % 2 else "blue",
     "day": dt.date(2024, 1, 1 + i % 28), "ok": bool(i % 3)}
    for i in range(60)
]  # fmt: skip
TABLE = pa.Table.from_pylist(ROWS)


def rows_of(path, **options):
    return [row for batch in scan(path, **options) for row in batch.tolist()]


def plain(rows=ROWS):
    return [{**row, "day": row["day"].isoformat()} for row in rows]


def workbook(path):
    table = [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    write_workbook(path, {"Data": table, "Other": [[], ["x"], [1], [2]], "Empty": []})


def write_stream(path):
    with ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=7)


def write_lines(path):
    text = "".join(
        "\t".join("" if v is None else str(v) for v in row.values()) + "\n" for row in ROWS
    )
    path.write_text("\t".join(ROWS[0]) + "\n" + text)


WRITERS = {
    "t.feather": lambda path: feather.write_feather(TABLE, path, chunksize=9),
    "t.arrow": write_stream,
    "t.ipc": write_stream,
    "t.orc": lambda path: orc.write_table(TABLE, path),
    "t.avro": lambda path: pl.from_arrow(TABLE).write_avro(path),
    "t.json": lambda path: path.write_text(json.dumps(plain(), indent=1)),
    "lines.json": lambda path: path.write_text("\n".join(map(json.dumps, plain()))),
    "t.txt": write_lines,
    "t.dat": write_lines,
    "t.xlsx": workbook,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(name, tmp_path):
    path = tmp_path / name
    WRITERS[name](path)
    assert rows_of(path) == rows_of(path, rows=13) == plain()


@pytest.mark.parametrize("name", ["t.feather", "t.orc", "t.avro", "t.json", "t.xlsx"])
def test_the_standard_input_is_recognised(name, tmp_path, monkeypatch):
    path = tmp_path / name
    WRITERS[name](path)
    with path.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": file}))
        assert rows_of("-") == plain()


def test_a_sheet_by_name_or_number(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(path)
    assert rows_of(path, sheet="Other") == rows_of(path, sheet=2) == [{"x": 1}, {"x": 2}]
    with pytest.raises(ParameterError, match=r"no sheet 'other'\. Hint: perhaps 'Other' was meant"):
        scan(path, sheet="other")
    with pytest.raises(ParameterError, match=r"no sheet 9\. Hint: its sheets are Data, Other"):
        scan(path, sheet=9)
    with pytest.raises(FileError, match="has nothing in sheet 'Empty'"):
        scan(path, sheet="Empty")
    shown = run("inspect", path, "--sheet", "Other").out
    assert "x       numeric" in shown, "a workbook is no model, though both are zips"


def test_a_workbook_without_sheets(tmp_path):
    write_workbook(tmp_path / "t.xlsx", {})
    with pytest.raises(FileError, match=r"has no sheets\. Hint: "):
        scan(tmp_path / "t.xlsx")


def test_arrow_files_with_broken_content(tmp_path):
    texts = pa.Array.from_buffers(pa.string(), 2, [None, *map(pa.py_buffer, (OFFSETS, b"\xfaab"))])
    for name, new in (("t.arrow", ipc.new_stream), ("t.feather", ipc.new_file)):
        with new(tmp_path / name, pa.schema({"a": pa.string()})) as writer:
            writer.write_table(pa.table({"a": texts}))
        with pytest.raises(FileError, match=r"cannot be read: .*UTF8.* Hint: "):
            rows_of(tmp_path / name)


#: Where two texts of three bytes begin and end.
OFFSETS = np.array([0, 1, 3], np.int32).tobytes()


def test_cells_that_are_texts_are_read_like_those_of_a_text_file(tmp_path):
    path = tmp_path / "t.xlsx"
    rows = [["price", "code", "at", "hole"], ["1.234,5 €", "007", dt.time(14, 30), 1],
            ["7,5 €", "012", dt.time(8, 0), "#N/A"], [None, None, None, None]]  # fmt: skip
    write_workbook(path, {"s": rows})
    assert rows_of(path) == [
        {"price": 1234.5, "code": "007", "at": "14:30:00", "hole": 1},
        {"price": 7.5, "code": "012", "at": "08:00:00", "hole": None},
    ]


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    folder = tmp_path / "spools"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    workbook(tmp_path / "t.xlsx")
    table = scan(tmp_path / "t.xlsx")
    assert len(list(table)) == 1
    assert len(list(folder.iterdir())) == 1
    del table
    gc.collect()
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [("t.xlsx", "python_calamine", "python-calamine"), ("t.arrow", "pyarrow.ipc", "pyarrow"),
     ("t.orc", "pyarrow.orc", "pyarrow"), ("t.avro", "polars", "polars")],
)  # fmt: skip
def test_what_is_not_installed_is_named_with_its_command(
    name, module, package, tmp_path, monkeypatch
):
    path = tmp_path / name
    WRITERS[name](path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=f"Hint: pip install {package}, or save"):
        list(scan(path))


def test_lists_of_texts_in_json_are_bags_of_words(tmp_path):
    path = tmp_path / "t.json"
    rows = [{"tags": ["c++", "New York"] if i % 2 else ["c"], "y": "ab"[i % 2]} for i in range(40)]
    path.write_text(json.dumps(rows))
    model = NaiveBayes().fit(path, target="y")
    assert [c.kind for c in model.schema_.columns] == ["text"]
    assert model.predict([{"tags": ["New York"], "y": "?"}]).tolist() == ["b"]
    path.write_text('[{"tags": ["a"]}, {"tags": "a"}]')
    with pytest.raises(InputError, match="'tags' has objects or lists in it"):
        list(scan(path))
    path.write_text('[{"tags": [1, 2]}]')
    with pytest.raises(InputError, match="'tags' has objects or lists in it"):
        list(scan(path))


def test_files_of_other_columns_are_not_read_together(tmp_path):
    feather.write_feather(TABLE, tmp_path / "a.feather")
    feather.write_feather(TABLE.select(["n"]), tmp_path / "b.feather")
    with pytest.raises(FileError, match=r"b\.feather has other columns than .*a\.feather"):
        scan(f"{tmp_path}/*.feather")
