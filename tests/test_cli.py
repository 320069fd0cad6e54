"""The commands, run inside this process: what they print, write and agree on."""

import csv
import io
import json
import math

import duckdb
import numpy as np
import pytest

from commands import FRUIT, done, run
from deciban import NaiveBayes, load

TINY = "size,label\nS,ham\nM,ham\nL,spam\nL,spam\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.deciban"
    done("train", FRUIT, "--target", "fruit", "-o", path, "--quiet")
    return path


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.csv"
    path.write_text(TINY)
    return path


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def halves(tmp_path):
    """The fruit in two files, odd and even rows."""
    head, *rows = FRUIT.read_text().splitlines()
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for i, path in enumerate(paths):
        path.write_text("\n".join([head, *rows[i::2]]) + "\n")
    return paths


# ---------------------------------------------------------------------- train


def test_training_prints_what_people_want_to_know(tiny, tmp_path):
    out = done("train", tiny, "-t", "label", "-o", tmp_path / "m.deciban", "--no-calibrate")
    amount, *rest = out.splitlines()
    assert amount.startswith("4 rows in ")
    assert rest[:-1] == [
        "",
        "label   share",
        "ham    50.0 %  ▇▇▇▇▇▇▇▇▇▇▇▇",
        "spam   50.0 %  ▇▇▇▇▇▇▇▇▇▇▇▇",
        "",
        "leave-one-out, all rows  this model  always ham",
        "accuracy                    100.0 %      50.0 %",
        "log loss                      0.554       0.916",
        "temperature  1.00",
        "",
        "feature  decibans a row",
        "size                3.8  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇",
        "",
    ]
    assert rest[-1].startswith(f"written to {tmp_path / 'm.deciban'}, ")


def test_a_column_without_any_value_is_no_obstacle(tmp_path):
    data, model = tmp_path / "data.csv", tmp_path / "m.deciban"
    data.write_text("a,b,y\nx,,0\ny,,1\nx,,0\n", encoding="utf-8")
    done("train", data, "-t", "y", "-o", model)
    inside = done("inspect", model)
    assert "no value at all: it says nothing" in inside
    assert "no values" in inside  # to measure a loss on
    assert done("predict", model, data).startswith("prediction,")


def test_training_tells_machines_the_same(tmp_path):
    path = tmp_path / "m.deciban"
    facts = json.loads(done("train", FRUIT, "-t", "fruit", "-o", path, "--json"))
    assert facts["rows"] == 200
    assert facts["quality"]["accuracy"] > 0.9 > facts["quality"]["guessing_accuracy"]
    assert facts["quality"]["log_loss"] < facts["quality"]["guessing_log_loss"]
    assert sum(facts["classes"].values()) == pytest.approx(1)
    assert next(iter(facts["importance"])) == "picked"
    assert set(facts["ignored"]) == {"id"}
    assert facts["bytes"] == path.stat().st_size


def test_quality_is_that_of_leaving_one_out(tmp_path):
    facts = json.loads(done("train", FRUIT, "-t", "fruit", "-o", tmp_path / "m.deciban", "--json"))
    direct = NaiveBayes().fit(str(FRUIT), target="fruit")
    said = direct.leave_one_out(str(FRUIT), target="fruit")
    truth = [row["fruit"] for row in rows_of(FRUIT.read_text())]
    y = np.searchsorted(direct.classes_, truth)
    assert facts["quality"]["log_loss"] == pytest.approx(-said[np.arange(len(y)), y].mean())
    assert facts["quality"]["accuracy"] == pytest.approx((said.argmax(axis=1) == y).mean())


def test_quality_of_many_rows_is_measured_on_some(tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.cli.training.MAX_QUALITY_ROWS", 60)
    out = done("train", FRUIT, "-t", "fruit", "-o", tmp_path / "m.deciban", "--no-calibrate")
    assert "leave-one-out, 50 of 200 rows" in out
    monkeypatch.setattr("deciban.sources.sample.SAMPLE_ROWS", 60)
    out = done("train", FRUIT, "-t", "fruit", "-o", tmp_path / "m.deciban")
    assert "leave-one-out, 60 of 200 rows" in out


def test_options_of_training_reach_the_model(tiny, tmp_path):
    path = tmp_path / "m.deciban"
    done("train", FRUIT, "-t", "fruit", "-o", path, "-q", "--kind", "id=numeric", "--numeric",
         "gaussian", "--missing", "skip", "--smoothing", "2", "--no-calibrate")  # fmt: skip
    facts = json.loads(done("inspect", path, "--json"))
    found = {c["column"]: c for c in facts["choices"]}
    assert {c["name"]: c["kind"] for c in facts["columns"]}["id"] == "numeric"
    assert found["grams"]["shape"] == found["id"]["shape"] == "gaussian"
    assert {c["smoothing"] for c in found.values()} == {2}
    assert not any(c["missing"] for c in found.values())
    assert facts["temperature"] == 1


def test_files_globs_and_the_standard_input_are_one_table(tmp_path):
    a, b = halves(tmp_path)
    _, *rows = b.read_text().splitlines(keepends=True)
    ways = [([a, b], b""), ([tmp_path / "[ab].csv"], b""),
            (["-"], (a.read_text() + "".join(rows)).encode())]  # fmt: skip
    for i, (paths, stdin) in enumerate(ways, start=1):
        out = tmp_path / f"m{i}.deciban"
        assert done("train", *paths, "-t", "fruit", "-o", out, "-q", stdin=stdin) == ""
    told = {done("predict", tmp_path / f"m{i}.deciban", FRUIT) for i in (1, 2, 3)}
    assert len(told) == 1


def test_files_that_are_read_together_settle_types_together(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text("x,y\n1.5,a\nNA,b\n")
    out = tmp_path / "m.deciban"
    done("train", tmp_path / "a.csv", tmp_path / "b.csv", "-t", "y", "-o", out, "-q")
    assert json.loads(done("inspect", out, "--json"))["rows"] == 4


# ---------------------------------------------------------------------- update, forget, merge


def test_updating_and_merging_equal_training_on_all(tmp_path, model):
    a, b = halves(tmp_path)
    parts = [tmp_path / "a.deciban", tmp_path / "b.deciban"]
    for data, path in zip((a, b), parts, strict=True):
        done("train", data, "-t", "fruit", "-o", path, "-q", "--no-calibrate", "--kind",
             "id=identifier")  # fmt: skip
    whole = tmp_path / "whole.deciban"
    done("train", a, b, "-t", "fruit", "-o", whole, "-q", "--no-calibrate", "--kind",
         "id=identifier")  # fmt: skip
    done("merge", *parts, "-o", tmp_path / "merged.deciban", "-q")
    done("update", parts[0], b, "-o", tmp_path / "updated.deciban", "-q")
    told = [
        done("predict", tmp_path / f"{name}.deciban", FRUIT, "--digits", "17")
        for name in ("whole", "merged", "updated")
    ]
    assert told[0] == told[1] == told[2]


def test_forgetting_leaves_no_trace(tmp_path):
    a, b = halves(tmp_path)
    path, both = tmp_path / "a.deciban", tmp_path / "both.deciban"
    done("train", a, "-t", "fruit", "-o", path, "-q", "--no-calibrate")
    before = done("predict", path, FRUIT, "--digits", "17")
    out = done("update", path, b, "-o", both)
    assert "100 rows in " in out
    assert "the model now has 200 rows" in out
    assert done("predict", both, FRUIT, "--digits", "17") != before
    facts = json.loads(done("forget", both, b, "--json"))
    assert (facts["rows_read"], facts["rows"], facts["output"]) == (100, 100, str(both))
    assert done("predict", both, FRUIT, "--digits", "17") == before


# ---------------------------------------------------------------------- predict


def test_predictions_are_those_of_the_library(model):
    found = rows_of(done("predict", model, FRUIT, "--digits", "17"))
    direct = NaiveBayes().fit(str(FRUIT), target="fruit")
    p = [[float(row[f"p_{c}"]) for c in direct.classes_] for row in found]
    np.testing.assert_allclose(p, direct.predict_proba(str(FRUIT)), rtol=1e-12)
    assert [row["prediction"] for row in found] == direct.predict(str(FRUIT)).tolist()


def test_the_target_may_be_there_or_not(model, tmp_path):
    rows = [line.rpartition(",")[0] for line in FRUIT.read_text().splitlines()]
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(rows) + "\n")
    assert done("predict", model, bare) == done("predict", model, FRUIT)


def test_columns_are_found_by_name_and_others_are_left_out(model, tmp_path):
    rows = rows_of(FRUIT.read_text())
    mixed = tmp_path / "mixed.csv"
    with mixed.open("w", newline="") as file:
        names = ["extra", *reversed(rows[0])]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "extra": 1} for row in rows)
    assert done("predict", model, mixed) == done("predict", model, FRUIT)


def test_evidence_adds_up_to_the_odds(model):
    for row in rows_of(done("predict", model, FRUIT, "--evidence", "--digits", "17")):
        said = sum(float(value) for name, value in row.items() if name.startswith("db_"))
        odds = float(row[f"p_{row['prediction']}"]) / float(row[f"p_{row['runner_up']}"])
        assert said == pytest.approx(10 * math.log10(odds), abs=1e-6)
        assert "db_id" not in row


def test_evidence_adds_up_under_other_priors_too(model):
    rates = "apple=0.1,cherry=0.8,plum=0.1"
    for row in rows_of(done("predict", model, FRUIT, "--evidence", "--priors", rates)):
        said = sum(float(value) for name, value in row.items() if name.startswith("db_"))
        odds = float(row[f"p_{row['prediction']}"]) / float(row[f"p_{row['runner_up']}"])
        assert said == pytest.approx(10 * math.log10(odds), abs=1e-3)


def test_costs_move_answers_and_abstaining_leaves_some_out(model, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text(",apple,cherry,plum\napple,0,1,1\ncherry,90,0,90\nplum,1,1,0\n")
    plain = [row["prediction"] for row in rows_of(done("predict", model, FRUIT))]
    dear = [row["prediction"] for row in rows_of(done("predict", model, FRUIT, "--loss", costs))]
    assert 0 < dear.count("cherry") < plain.count("cherry")
    out = tmp_path / "out.csv"
    facts = json.loads(done("predict", model, FRUIT, "--abstain", "0.05", "-o", out, "--json"))
    silent = [row["prediction"] for row in rows_of(out.read_text())].count("")
    assert facts["abstained"] == silent > 0


def test_keeping_gives_the_input_back(model, tmp_path):
    out = tmp_path / "out.csv"
    done("predict", model, FRUIT, "--keep", "-o", out, "-q")
    before, after = rows_of(FRUIT.read_text()), rows_of(out.read_text())
    assert [list(row)[:6] for row in after] == [list(row) for row in before]
    for old, new in zip(before, after, strict=True):
        for name in old:
            assert old[name] == new[name]


def test_every_format_holds_the_same(model, tmp_path):
    tables = []
    for name in ("out.csv", "out.jsonl", "out.parquet", "out.ndjson", "out.pq"):
        out = tmp_path / name
        done("predict", model, FRUIT, "--keep", "--evidence", "-o", out, "-q")
        form = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}.get(out.suffix, "json")
        tables.append(duckdb.sql(f"FROM read_{form}('{out}')").fetchall())
    assert len(tables[0]) == 200
    assert tables[0] == tables[1] == tables[2] == tables[3] == tables[4]
    described = duckdb.sql(f"DESCRIBE FROM '{tmp_path}/out.parquet'").fetchall()
    kinds = {row[0]: row[1] for row in described}
    assert (kinds["grams"], kinds["id"], kinds["ripe"], kinds["picked"], kinds["prediction"]) == (
        "DOUBLE", "BIGINT", "BOOLEAN", "DATE", "VARCHAR",
    )  # fmt: skip


def test_the_format_can_be_stated(model):
    lines = done("predict", model, FRUIT, "--format", "jsonl").splitlines()
    assert json.loads(lines[0])["prediction"] == "cherry"


def test_no_rows_in_no_rows_out(model, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text(FRUIT.read_text().splitlines()[0] + "\n")
    for form in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"out.{form}"
        facts = json.loads(
            done("predict", model, empty, "--keep", "--evidence", "-o", out, "--json")
        )
        assert facts["rows"] == 0
    assert (tmp_path / "out.csv").read_text().startswith("id,grams,colour,ripe,picked,fruit,pred")
    assert (tmp_path / "out.jsonl").read_text() == ""


@pytest.mark.parametrize("labels", [("0", "1"), ("true", "false"), ("1.5e0", "x")])
def test_classes_that_are_no_texts(labels, tmp_path):
    data, path = tmp_path / "d.csv", tmp_path / "m.deciban"
    a, b = labels
    data.write_text("x,y\n" + f"S,{a}\nM,{b}\n" * 5)
    done("train", data, "-t", "y", "-o", path, "-q")
    names = next(csv.reader(io.StringIO(done("predict", path, data))))
    found = [name.removeprefix("p_") for name in names[1:]]
    rates = f"{found[0]}=0.5,{found[1]}=0.5"
    told = rows_of(done("predict", path, data, "--priors", rates, "--evidence", "--keep"))
    assert [row["prediction"] for row in told] == [row["y"] for row in told]


def test_long_files_are_written_batch_by_batch(model, tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.prediction.scored.BATCH_ROWS", 64)
    assert done("predict", model, FRUIT) == done("predict", model, FRUIT)
    monkeypatch.setattr("deciban.prediction.scored.MAX_BATCH_REASONS", 64)
    assert len(done("predict", model, FRUIT, "--evidence").splitlines()) == 201


# ---------------------------------------------------------------------- inspect, version


def test_a_data_file_is_inspected_without_training(tiny):
    assert done("inspect", tiny).splitlines() == [
        str(tiny),
        "",
        "column  kind         because",
        "size    categorical  texts: 3 different values in 4",
        "label   categorical  texts: 2 different values in 4",
    ]
    facts = json.loads(done("inspect", tiny, "--kind", "size=text", "--json"))
    assert facts["columns"][0] == {"name": "size", "kind": "text", "reason": "as stated"}


def test_a_model_file_is_inspected(model):
    lines = done("inspect", model).splitlines()
    assert "format version" in lines[0]
    assert lines[1] == "200 rows, temperature 1.00"
    facts = json.loads(done("inspect", model, "--json"))
    assert facts["target"] == "fruit"
    assert set(facts["priors"]) == {"apple", "cherry", "plum"}
    assert facts["bytes"] == model.stat().st_size


def test_importance_is_that_of_the_library(model, tmp_path):
    direct = load(model).importance()
    assert direct["id"].decibans == 0
    expected = {name: db for name, db in direct.to_dict().items() if name != "id"}
    trained = done("train", FRUIT, "-t", "fruit", "-o", tmp_path / "m.deciban")
    printed = [line for line in str(direct).splitlines() if not line.startswith("id ")]
    for text in (trained, done("inspect", model)):
        assert "\n".join(printed) in text
    facts = json.loads(done("inspect", model, "--json"))
    assert facts["importance"] == pytest.approx(expected)
    assert list(facts["importance"]) == list(expected)


def test_the_loss_alone_is_that_of_the_choice(model):
    facts = json.loads(done("inspect", model, "--json"))
    choices = load(model).model_.choices
    assert [c["column"] for c in facts["choices"]] == sorted(choices, key=lambda n: choices[n].loss)
    for choice in facts["choices"]:
        assert choice["loss_alone"] == pytest.approx(choices[choice["column"]].loss)


def test_the_version():
    assert done("version") == "0.1.0\n"
    assert json.loads(done("version", "--json")) == {"version": "0.1.0"}


def test_quiet_is_quiet_and_json_is_not(tiny, tmp_path):
    path = tmp_path / "m.deciban"
    assert done("train", tiny, "-t", "label", "-o", path, "--quiet") == ""
    assert json.loads(done("train", tiny, "-t", "label", "-o", path, "--quiet", "--json"))
    assert run("--help").code == 0


# ---------------------------------------------------------------------- types as in training


def test_categories_that_look_like_numbers_stay_what_they_were(tmp_path):
    """In a small file they all may; a model of texts must not take them for numbers."""
    data, path = tmp_path / "d.csv", tmp_path / "m.deciban"
    data.write_text("x,y\n01,a\n01,a\n1,b\n1,b\nx,b\n")
    done("train", data, "-t", "y", "-o", path, "-q")
    whole = done("predict", path, data).splitlines()
    assert whole[1] != whole[3]
    for line, answer in ((b"x\n01\n", whole[1]), (b"x\n1\n", whole[3])):
        assert done("predict", path, "-", stdin=line).splitlines()[1] == answer
    assert done("predict", path, "-", stdin=b'{"x": 1}\n').splitlines()[1] == whole[3]


def test_labels_that_look_like_numbers_stay_what_they_were(tmp_path):
    data, path = tmp_path / "d.csv", tmp_path / "m.deciban"
    data.write_text("x,y\nS,1\nM,1\nL,many\n")
    done("train", data, "-t", "y", "-o", path, "-q")
    facts = json.loads(done("update", path, "-", "--json", stdin=b"x,y\nS,1\n"))
    assert set(facts["classes"]) == {"1", "many"}
    assert facts["rows"] == 4
    facts = json.loads(done("forget", path, "-", "--json", stdin=b"x,y\nS,1\n"))
    assert facts["rows"] == 3


def test_a_text_among_numbers_is_missing_and_said_and_refused_where_rows_are_counted(
    model, tmp_path
):
    head, first, *_ = FRUIT.read_text().splitlines()
    bad = tmp_path / "bad.csv"
    bad.write_text(f"{head}\n{first}\n{first.replace(',,', ',heavy,')}\n")
    ended = run("predict", model, bad)
    assert ended.code == 0
    first_row, second_row = ended.out.splitlines()[1:]
    assert first_row == second_row
    assert ended.err == "warning: column 'grams' has 1 value not a number: 'heavy'.\n"
    before = model.read_bytes()
    ended = run("update", model, bad)
    assert ended.code == 1
    assert "column 'grams' is numeric and has the text 'heavy'" in ended.err
    assert model.read_bytes() == before
