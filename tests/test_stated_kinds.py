"""A kind that is stated rules: values are cast to it in training, or refused by name."""

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
