"""A kind that is stated rules: values are cast to it in training, or refused by name."""

import numpy as np
import pandas as pd
import pytest

from commands import done, run
from deciban import AODE, BayesClassifier, NaiveBayes
from deciban.errors import InputError, ParameterError

Y = ["a", "a", "b", "b"] * 6
MODELS = [NaiveBayes, AODE, BayesClassifier]


def kinds(model):
    return {column.name: column.kind for column in model.schema_.columns}


@pytest.mark.parametrize("make", [NaiveBayes, BayesClassifier])
@pytest.mark.parametrize("values", [[1, 2, 3, 4] * 6, [1.0, 2.0, 3.5, 4.0] * 6])
def test_numbers_as_text(make, values):
    model = make(kinds={"age": "text"}).fit({"age": values, "x": [1, 2, 3, 4] * 6}, Y)
    assert kinds(model)["age"] == "text"
    assert model.predict({"age": values[:4], "x": [1, 2, 3, 4]}).tolist() == Y[:4]


def test_numbers_as_text_by_the_command(tmp_path):
    data, path = tmp_path / "t.csv", tmp_path / "m.deciban"
    pd.DataFrame({"age": [31, 32, 33, 34] * 6, "y": Y}).to_csv(data, index=False)
    done("train", data, "--target", "y", "-o", path, "--kind", "age=text", "--quiet")
    lines = done("predict", path, data).splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == Y


@pytest.mark.parametrize("make", MODELS)
def test_texts_as_numbers(make):
    texts = ["1", "2.0", " 3 ", "4e0"] * 6
    one = make(kinds={"x": "numeric"}).fit({"x": texts}, Y)
    other = make(kinds={"x": "numeric"}).fit({"x": [1, 2, 3, 4] * 6}, Y)
    assert one.predict({"x": [1.5]}).tolist() == other.predict({"x": [1.5]}).tolist()
    assert kinds(one) == {"x": "numeric"}


@pytest.mark.parametrize("make", MODELS)
def test_texts_that_are_no_numbers_are_named(make):
    texts = ["1", "two", "three", "four", "five"]
    with pytest.raises(InputError, match=r"is numeric and has the text 'two', 'three', 'four', \."):
        make(kinds={"x": "numeric"}).fit({"x": texts}, list("aabbb"))


def test_the_command_names_the_texts_that_are_no_numbers(tmp_path):
    data = tmp_path / "t.csv"
    pd.DataFrame({"x": ["1", "two", "3"], "y": list("aab")}).to_csv(data, index=False)
    ended = run("train", data, "--target", "y", "-o", tmp_path / "m", "--kind", "x=numeric")
    assert ended.code == 1
    assert "column 'x' is numeric and has the text 'two'" in ended.err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("make", MODELS)
def test_numbers_as_categories(make):
    model = make(kinds={"x": "categorical"}).fit({"x": [1, 2, 3, 4] * 6}, Y)
    assert model.predict({"x": ["1", 2.0, "3.0", 4]}).tolist() == Y[:4]
    assert not model.unseen_


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("words", [("yes", "no"), (1, 0), ("T", "F"), (1.0, 0.0)])
def test_two_words_as_truth_values(make, words):
    values = [words[label == "b"] for label in Y]
    model = make(kinds={"x": "boolean"}).fit({"x": values}, Y)
    assert model.predict({"x": [True, False]}).tolist() == ["a", "b"]
    assert not model.unseen_
    with pytest.raises(InputError, match="column 'x' is boolean and has"):
        make(kinds={"x": "boolean"}).fit({"x": ["yes", "no", "perhaps", "no"] * 6}, Y)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("wrong", ["numeric", [("x", "numeric")]])
def test_kinds_that_are_no_dict(make, wrong):
    with pytest.raises(ParameterError, match="kinds must be a dict of kinds by column, got"):
        make(kinds=wrong).fit({"x": [1, 2, 3, 4] * 6}, Y)


def test_texts_as_times():
    days = [f"2024-01-{day:02}" for day in range(1, 25)]
    model = NaiveBayes(kinds={"day": "time"}).fit({"day": days}, Y)
    (column,) = model.schema_.columns
    assert (column.kind, column.unit) == ("time", "date")
    with pytest.raises(ParameterError, match="column 'day' cannot be time: it holds strings: 'no'"):
        NaiveBayes(kinds={"day": "time"}).fit({"day": ["soon", "no"] * 12}, Y)


def test_times_as_categories():
    days = list(pd.date_range("2024-01-01", periods=4)) * 6
    model = NaiveBayes(kinds={"day": "categorical"}).fit({"day": days}, Y)
    assert model.predict({"day": days[:4]}).tolist() == Y[:4]
    assert model.predict({"day": ["2024-01-01 00:00:00", "2024-01-04T00:00:00"]}).tolist()[0] == "a"


ISO = {
    "date": [f"20{20 + i // 12:02}-{1 + i % 12:02}-03" for i in range(60)],
    "timestamp": [f"2024-01-{1 + i % 28:02} {i % 24:02}:30" for i in range(60)],
    "time": [f"{i % 24:02}:{i % 60:02}:00" for i in range(60)],
}


@pytest.mark.parametrize("unit", ISO)
def test_times_written_as_texts_are_those_of_a_file(unit, tmp_path):
    texts, y = ISO[unit], ["u" if i < 30 else "v" for i in range(60)]
    lines = "\n".join(f"{text},{label}" for text, label in zip(texts, y, strict=True))
    (tmp_path / "table.csv").write_text(f"at,y\n{lines}\n", encoding="utf-8")
    in_file = NaiveBayes().fit(tmp_path / "table.csv", target="y")
    column = in_file.schema_.columns[0]
    assert (column.kind, column.unit) == ("time", unit)
    for X in ({"at": texts}, pd.DataFrame({"at": texts}), {"at": [*texts[:59], None]}):
        model = NaiveBayes().fit(X, y)
        assert (model.schema_.columns[0].kind, model.schema_.columns[0].unit) == ("time", unit)
    model = NaiveBayes().fit({"at": texts}, y)
    np.testing.assert_array_equal(
        model.predict_proba({"at": texts}), in_file.predict_proba({"at": texts})
    )
    one = model.predict_proba_one({"at": texts[40]})
    assert one["v"] == pytest.approx(in_file.predict_proba({"at": texts[40:41]})[0, 1])


@pytest.mark.parametrize(
    "texts", [[f"{i:04}" for i in range(900, 960)], ["2024-01-03"] * 59 + ["none"],
              ["2024-13-41"] * 60, ["2024-01-03"] * 19 + [None] * 41],
    ids=["codes", "a word", "no month", "too few"],
)  # fmt: skip
def test_other_texts_are_no_times(texts):
    model = NaiveBayes().fit({"at": texts, "x": list(range(0, 120, 2))}, ["u", "v"] * 30)
    assert model.schema_.columns[0].kind in ("categorical", "identifier")
