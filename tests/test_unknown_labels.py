"""Labels that a model does not know: said loudly, with what was perhaps meant."""

import warnings

import pandas as pd
import pytest

from commands import run
from deciban import NaiveBayes, compare, evaluate
from deciban.errors import DecibanWarning, InputError, UnknownLabelWarning

X = {"x": ["S", "S", "L", "L"] * 10}
INCOME = ["<=50K", "<=50K", ">50K", ">50K"] * 10


@pytest.fixture(scope="module")
def model():
    return NaiveBayes().fit({**X, "y": INCOME}, target="y")


def test_some_unknown_labels_are_a_warning(model):
    y = [">50K." if i < 4 else label for i, label in enumerate(INCOME)]
    with pytest.warns(UnknownLabelWarning, match=r"4 of 40 rows .*'>50K\.' \(4 rows\)") as said:
        result = evaluate(model, X, y, bootstrap=0)
    assert "Hint: perhaps '>50K' was meant." in str(said[0].message)
    assert issubclass(UnknownLabelWarning, DecibanWarning)
    assert result.accuracy < 1
    with pytest.warns(UnknownLabelWarning):
        compare([model, model], X, y, bootstrap=0)


def test_no_known_label_is_an_error(model):
    y = [f"{label}." for label in INCOME]
    for call in (lambda: evaluate(model, X, y), lambda: compare([model, model], X, y)):
        with pytest.raises(InputError, match="knows none of the labels") as error:
            call()
        assert "Hint: perhaps '<=50K' and '>50K' were meant." in str(error.value)


def test_a_label_that_resembles_none(model):
    with pytest.warns(UnknownLabelWarning, match="Hint: the classes are '<=50K', '>50K'"):
        evaluate(model, X, ["xyz", *INCOME[1:]], bootstrap=0)


@pytest.mark.parametrize(
    ("classes", "y"),
    [
        ([0, 1], ["0", "1"]), (["0", "1"], [0, 1]), (["0", "1"], [0.0, 1.0]),
        ([False, True], ["false", "True"]), ([False, True], ["no", "yes"]),
        (["False", "True"], [False, True]),
    ],
)  # fmt: skip
def test_labels_are_cast_to_the_type_of_the_classes(classes, y):
    model = NaiveBayes().fit({"x": ["S", "L"] * 9}, classes * 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate(model, {"x": ["S", "L"] * 3}, y * 3, bootstrap=0)
    assert result.accuracy == 1
    assert result.classes.tolist() == classes


def test_rows_of_weight_zero_have_no_label(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(model, X, ["?", *INCOME[1:]], sample_weight=[0.0, *[1.0] * 39], bootstrap=0)


@pytest.fixture
def files(tmp_path, model):
    model.save(tmp_path / "m.deciban")
    model.save(tmp_path / "n.deciban")

    def write(y):
        pd.DataFrame({**X, "y": y}).to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "m.deciban", tmp_path / "n.deciban", tmp_path / "t.csv"

    return write


def test_the_command_warns_or_fails(files):
    model, other, rows = files([">50K." if i < 4 else label for i, label in enumerate(INCOME)])
    for words in (["evaluate", model, rows], ["compare", model, other, rows]):
        ended = run(*words, "--bootstrap", "0", "--quiet")
        assert ended.code == 0
        (line,) = set(ended.err.splitlines())
        assert line.startswith("warning: 4 of 40 rows have labels that the model does not know")
        assert line.endswith("Hint: perhaps '>50K' was meant.")
    model, other, rows = files([f"{label}." for label in INCOME])
    for words in (["evaluate", model, rows], ["compare", model, other, rows]):
        ended = run(*words, "--bootstrap", "0")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith("error: the model knows none of the labels: '<=50K.' (20 rows)")


def test_labels_of_a_file_are_read_as_the_classes_are(tmp_path):
    y = ["01", "02"] * 20
    NaiveBayes().fit({**X, "y": y}, target="y").save(tmp_path / "m.deciban")
    pd.DataFrame({**X, "y": y}).to_csv(tmp_path / "t.csv", index=False)
    ended = run("evaluate", tmp_path / "m.deciban", tmp_path / "t.csv", "--bootstrap", "0")
    assert (ended.code, ended.err) == (0, "")
