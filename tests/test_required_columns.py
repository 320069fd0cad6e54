"""Only the columns that a model uses must be there, in every way in."""

import json

import pandas as pd
import pytest

from commands import done, run
from deciban import AODE, BayesClassifier, NaiveBayes, evaluate
from deciban.errors import DecibanError, InputError
from deciban.report import report

TABLE = pd.DataFrame(
    {
        "id": range(60),
        "size": ["S", "S", "L", "L"] * 15,
        "shop": ["A"] * 60,
        "year": [2024] * 60,
        "empty": [None] * 60,
        "age": [1.0, 2.0, 8.0, 9.0] * 15,
    }
)
LABELS = ["a", "a", "b", "b"] * 15
USED = TABLE[["size", "age"]]
MODELS = {make.__name__: make for make in (NaiveBayes, AODE, BayesClassifier)}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]().fit(TABLE.assign(y=LABELS), target="y")


WAYS = {
    "frame": lambda rows, _: rows,
    "dicts": lambda rows, _: rows.to_dict("records"),
    "columns": lambda rows, _: rows.to_dict("list"),
    "csv": lambda rows, folder: _written(rows.to_csv, folder / "t.csv", index=False),
    "parquet": lambda rows, folder: _written(rows.to_parquet, folder / "t.parquet"),
}


def _written(write, path, **options):
    write(path, **options)
    return path


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_not_used_may_be_absent(model, way, tmp_path):
    assert {c.name: c.kind for c in model.schema_.columns}["id"] == "identifier"
    expected = model.predict_proba(TABLE)
    rows = way(USED, tmp_path)
    assert (model.predict_proba(rows) == expected).all()
    assert not model.unseen_
    assert model.evidence(rows).shape == (60, 6, 2)
    assert [why.answer for why in model.explain_rows(rows)[:4]] == ["a", "a", "b", "b"]
    assert evaluate(model, rows, LABELS, bootstrap=0).accuracy == 1


def test_what_is_used_must_be_there(model):
    for name in USED:
        with pytest.raises(InputError, match=f"there is no column '{name}'"):
            model.predict(TABLE.drop(columns=name))
    with pytest.raises(DecibanError, match="'colour' was not there in training"):
        model.predict(USED.assign(colour="red"))


def test_a_row_needs_no_identifier(model):
    row = USED.to_dict("records")[0]
    assert model.explain(row).answer == "a"
    assert model.explain(USED.head(1)).answer == "a"


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
def test_rows_without_identifiers_are_added_and_taken_back(make):
    model, rows = make().fit(TABLE, LABELS), TABLE.drop(columns="id")
    before = model.counts_
    model.partial_fit(rows, LABELS)
    assert model.counts_ == before * 2
    assert model.forget(rows, LABELS).counts_ == before


def test_the_report_needs_what_the_model_uses(model):
    page = report(model, USED.assign(y=LABELS), bootstrap=0)
    assert page.evaluation.accuracy == 1


def test_the_commands_need_what_the_model_uses(tmp_path):
    path, data, more = tmp_path / "m.deciban", tmp_path / "t.csv", tmp_path / "more.csv"
    TABLE.assign(y=LABELS).to_csv(data, index=False)
    done("train", data, "--target", "y", "-o", path, "--quiet")
    USED.assign(y=LABELS).to_csv(more, index=False)
    assert done("predict", path, more) == done("predict", path, data)
    args = (more, "--bootstrap", "0", "--json")
    assert json.loads(done("evaluate", path, *args))["accuracy"]["value"] == 1
    assert "rather than" in done("explain", path, more, "--limit", "1")
    done("report", path, more, "-o", tmp_path / "page.html", "--bootstrap", "0")
    TABLE.drop(columns="id").assign(y=LABELS).to_csv(more, index=False)
    done("update", path, more, "--quiet")
    done("forget", path, more, "--quiet")
    more.write_text("size,y\nS,a\n")
    ended = run("predict", path, more)
    assert (ended.code, ended.out) == (1, "")
    assert "there is no column 'age'" in ended.err
