"""``predict --keep``: columns of the input are written as they stand there."""

import csv
import io
import json

import duckdb
import pytest

from commands import done, run

CSV = (
    'id,when,count,amount,"last, first",ripe,label\n'
    '10000000000000001,2024-01-05,33,1.50,"a, ""b""",TRUE,x\n'
    '10000000000000002,2024-02-05,NA,1e5,"",False,y\n'
    '10000000000000003,2024-03-05,34,-0.0,"two\nlines",true,x\n'
    "10000000000000004,,35,+2,, ,y\n"
)
LINES = (
    '{"id": 10000000000000001, "x": 1.50, "s": "a\\u00e9\\"q", "b": true, "m": 1, "e": 1e5, '
    '"long": 123456789012345678901234567890, "a/b~c": "p", "label": "x"}\n'
    '{"id": 2, "x": 33, "s": null, "b": false, "m": "1", "e": 1E-3, "z": "", "label": "y"}\n'
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trained(path, content=None):
    if content is not None:
        path.write_bytes(content.encode())
    done("train", path, "-t", "label", "-o", "m.deciban", "-q")
    return path


def cut(text, n_columns):
    """The first columns of a table in CSV, written anew; nothing is lost where none is quoted."""
    return [row[:n_columns] for row in csv.reader(io.StringIO(text))]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_fields_keep_their_text(folder, ending):
    source = CSV
    if ending == "tsv":
        rows = csv.reader(io.StringIO(CSV))
        out = io.StringIO()
        csv.writer(out, delimiter="\t", lineterminator="\n").writerows(rows)
        source = out.getvalue().replace("1e5\t\t", '1e5\t""\t')
    path = trained(folder / f"data.{ending}", source)
    kept = done("predict", "m.deciban", path, "--keep")
    head, *lines = kept.split("\n")
    assert head == 'id,when,count,amount,"last, first",ripe,label,prediction,p_x,p_y'
    assert cut(kept, 7) == list(csv.reader(io.StringIO(CSV)))
    assert lines[1].startswith('10000000000000002,2024-02-05,NA,1e5,"",False,y,')
    assert lines[4].startswith("10000000000000004,,35,+2,, ,y,")


def test_what_is_kept_can_be_predicted_again(folder):
    path = trained(folder / "data.csv", CSV)
    once = done("predict", "m.deciban", path, "--keep")
    again = folder / "again.csv"
    again.write_text(once.replace("prediction,p_x,p_y", "a,b,c", 1))
    twice = done("predict", "m.deciban", again)
    assert twice == done("predict", "m.deciban", path)


def test_some_columns_in_the_order_that_is_asked_for(folder):
    path = trained(folder / "data.csv", CSV)
    for option in (["--keep", 'count,"last, first"'], ['--keep=count,"last, first"']):
        kept = done("predict", "m.deciban", path, *option)
        assert kept.startswith('count,"last, first",prediction,')
        assert cut(kept, 1) == [["count"], ["33"], ["NA"], ["34"], ["35"]]


def test_keep_may_stand_before_data(folder):
    path = trained(folder / "data.csv", CSV)
    whole = done("predict", "m.deciban", path, "--keep")
    assert done("predict", "m.deciban", "--keep", "data.csv") == whole
    assert done("predict", "--keep", "m.deciban", "d*.csv") == whole
    assert done("predict", "m.deciban", path, "--keep", "*") == whole
    assert done("predict", "m.deciban", "--keep", "--", "data.csv") == whole
    assert done("predict", "m.deciban", "--keep", "-", stdin=CSV.encode()) == whole
    assert done("predict", "m.deciban", "--keep", "id", "data.csv").startswith("id,prediction,")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--keep", "idd"], "there is no column 'idd'. Hint: perhaps 'id' was meant."),
        (["--keep="], "--keep: ''"),
        (["--keep", "id,,count"], "--keep: 'id,,count'"),
        (["--keep", 'id,"'], "--keep: 'id,\"'"),
    ],
)
def test_what_cannot_be_kept(folder, option, message):
    path = trained(folder / "data.csv", CSV)
    ended = run("predict", "m.deciban", path, *option)
    assert ended.code != 0
    assert message in ended.err


def test_csv_to_json_lines_keeps_digits(folder):
    path = trained(folder / "data.csv", CSV)
    first, second, _, last = done(
        "predict", "m.deciban", path, "--keep", "--format", "jsonl"
    ).splitlines()
    assert first.startswith(
        '{"id": 10000000000000001, "when": "2024-01-05", "count": 33, "amount": 1.50, '
        '"last, first": "a, \\"b\\"", "ripe": true, "label": "x", '
    )
    assert '"count": null, "amount": 1e5, "last, first": "", "ripe": false' in second
    assert '"when": null, "count": 35, "amount": "+2", "last, first": null, "ripe": null' in last


def test_json_lines_to_json_lines_keeps_digits_and_types(folder):
    path = trained(folder / "data.jsonl", LINES)
    first, second = done("predict", "m.deciban", path, "--keep", "--format", "jsonl").splitlines()
    assert first.startswith(
        '{"id": 10000000000000001, "x": 1.50, "s": "aé\\"q", "b": true, "m": 1, "e": 1e5, '
        '"long": 123456789012345678901234567890, "a/b~c": "p", "label": "x", "z": null, '
    )
    assert second.startswith(
        '{"id": 2, "x": 33, "s": null, "b": false, "m": "1", "e": 1E-3, "long": null, '
        '"a/b~c": null, "label": "y", "z": "", '
    )
    some = done("predict", "m.deciban", path, "--keep", "x", "--format", "jsonl")
    assert some.startswith('{"x": 1.50, "prediction": ')


def test_json_lines_to_csv_keeps_digits(folder):
    path = trained(folder / "data.jsonl", LINES)
    _, first, second = done("predict", "m.deciban", path, "--keep").splitlines()
    assert first.startswith(
        '10000000000000001,1.50,"aé""q",true,1,1e5,123456789012345678901234567890,p,x,,'
    )
    assert second.startswith('2,33,,false,1,1E-3,,,y,"",')


def test_answers_do_not_depend_on_what_is_kept(folder):
    path = trained(folder / "data.jsonl", LINES)
    plain = done("predict", "m.deciban", path, "--format", "jsonl")
    kept = done("predict", "m.deciban", path, "--format", "jsonl", "--keep")
    answers = [json.loads(line) for line in plain.splitlines()]
    for answer, line in zip(answers, kept.splitlines(), strict=True):
        assert answer.items() <= json.loads(line).items()


def types_of(path):
    described = duckdb.sql(f"DESCRIBE FROM '{path}'").fetchall()
    return {name: kind for name, kind, *_ in described}


TYPED = """
    SELECT 10000000000000001 + i AS id, (i * 1.10)::DECIMAL(10, 2) AS price, i::FLOAT / 3 AS share,
    make_timestamp_ns(1704067200123456789 + i) AS moment, DATE '2024-01-01' + i::INTEGER AS day,
    TIME '10:00:00' AS hour, i::UTINYINT AS small, i % 2 = 0 AS even, 'n' || i AS name,
    if(i % 2 = 0, 'x', 'y') AS label FROM range(20) AS t(i)
"""


def test_parquet_to_parquet_keeps_types(folder):
    duckdb.sql(f"COPY ({TYPED}) TO 'data.parquet' (FORMAT parquet)")
    trained(folder / "data.parquet")
    done("predict", "m.deciban", "data.parquet", "--keep", "-o", "out.parquet", "-q")
    before, after = types_of("data.parquet"), types_of("out.parquet")
    assert before.items() <= after.items()
    kept = "SELECT * EXCLUDE (prediction, p_x, p_y) FROM 'out.parquet'"
    assert duckdb.sql(kept).fetchall() == duckdb.sql("FROM 'data.parquet'").fetchall()
    text = "SELECT moment::VARCHAR FROM '{}' LIMIT 1"
    assert duckdb.sql(text.format("out.parquet")).fetchall() == [("2024-01-01 00:00:00.123456789",)]


def test_parquet_to_text_keeps_digits(folder):
    duckdb.sql(f"COPY ({TYPED}) TO 'data.parquet' (FORMAT parquet)")
    trained(folder / "data.parquet")
    line = done("predict", "m.deciban", "data.parquet", "--keep").splitlines()[2]
    assert line.startswith(
        "10000000000000002,1.10,0.33333334,2024-01-01 00:00:00.12345679,2024-01-02,10:00:00,1,"
        "false,n1,y,"
    )


def test_text_to_parquet_takes_the_narrowest_type(folder):
    path = trained(folder / "data.csv", CSV)
    done("predict", "m.deciban", path, "--keep", "-o", "out.parquet", "-q")
    assert list(types_of("out.parquet").values())[:7] == [
        "BIGINT", "DATE", "BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "VARCHAR",
    ]  # fmt: skip
    rows = duckdb.sql("SELECT id, count FROM 'out.parquet'").fetchall()
    assert rows[:2] == [(10000000000000001, 33), (10000000000000002, None)]


def test_whole_numbers_of_many_digits_are_exact_in_parquet(folder):
    trained(folder / "data.csv", CSV)
    (folder / "long.csv").write_text(CSV.replace("33", "123456789012345678901"))
    done("predict", "m.deciban", "long.csv", "--keep", "-o", "out.parquet", "-q")
    (first, *_), *_ = duckdb.sql("SELECT count FROM 'out.parquet'").fetchall()
    assert int(first) == 123456789012345678901


def test_carriage_returns_are_quoted(folder):
    source = 'id,a,label\n1,"x\ry",x\n2,"z",y\n3,"x\ry",x\n'
    path = trained(folder / "data.csv", source)
    assert '1,"x\ry",x,' in done("predict", "m.deciban", path, "--keep")
