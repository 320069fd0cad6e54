"""What NaiveBayes makes of columns as they come, and what it answers."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from deciban import NaiveBayes
from deciban.errors import InputError, ParameterError
from mixed import records, table

ROWS = "1S- 1M- 1M+ 1S+ 1S- 2S- 2M- 2M+ 2L+ 2L+ 3L+ 3M+ 3M+ 3L+ 3L-".split()  # noqa: SIM905
LESSON = {"x1": [int(r[0]) for r in ROWS], "x2": [r[1] for r in ROWS]}
ANSWERS = [1 if r[2] == "+" else -1 for r in ROWS]
X, Y = table(120, n_classes=3)


def kind_of(values, **how):
    values = list(values)
    other = [1.5, 2.5] * len(values)
    m = NaiveBayes(**how).fit({"x": values, "z": other[: len(values)]}, [0, 1] * (len(values) // 2))
    return m.schema_.columns[0].kind


# The lesson


def test_the_worked_example():
    m = NaiveBayes(kinds={"x1": "categorical"}, smoothing=1.0, calibrate=False).fit(LESSON, ANSWERS)
    assert m.classes_.tolist() == [-1, 1]
    joint = m.predict_joint_log_proba({"x1": [2], "x2": ["S"]})
    want = [7 / 17 * 3 / 9 * 4 / 9, 10 / 17 * 4 / 12 * 2 / 12]
    np.testing.assert_allclose(joint, [np.log(want)], rtol=1e-14)
    assert m.predict({"x1": [2], "x2": ["S"]}).tolist() == [-1]


@pytest.mark.parametrize("how", [{"smoothing": 0.0}, {"method": "ml"}])
def test_the_worked_example_by_relative_frequencies(how):
    m = NaiveBayes(kinds={"x1": "categorical"}, calibrate=False, **how).fit(LESSON, ANSWERS)
    joint = np.exp(m.predict_joint_log_proba({"x1": [2], "x2": ["S"]}))
    np.testing.assert_allclose(joint, [[1 / 15, 1 / 45]], rtol=1e-14)


def test_a_value_never_seen_has_its_share():
    m = NaiveBayes(kinds={"x1": "categorical"}, smoothing=1.0, calibrate=False).fit(LESSON, ANSWERS)
    joint = np.exp(m.predict_joint_log_proba({"x1": [9], "x2": [None]}))
    new = 6 / 15 * 1 / 9 + 9 / 15 * 1 / 12  # the share that smoothing leaves in all classes
    np.testing.assert_allclose(joint, [[7 / 17 * new, 10 / 17 * new]], rtol=1e-14)


# Kinds


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.0] * 20, "numeric"),
        (["a", "b"] * 20, "categorical"),
        ([True, False] * 20, "boolean"),
        ([f"k{i}" for i in range(40)], "identifier"),
        (range(100, 140), "identifier"),
        ([datetime.date(2024, 1, 1 + i % 20) for i in range(40)], "time"),
        ([datetime.time(i % 24, 30) for i in range(40)], "time"),
        ([str(i / 7) for i in range(40)], "numeric"),
        (["1", "2"] * 20, "categorical"),
        ([None] * 40, "numeric"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values) == kind


def test_no_column_is_left():
    with pytest.raises(InputError, match=r"there is none besides the labels"):
        NaiveBayes().fit({"y": ["a", "b"]}, target="y")
    with pytest.raises(InputError, match=r"no column is left .* 'id' is identifier .* Hint: state"):
        NaiveBayes().fit({"id": [f"k{i}" for i in range(40)]}, [0, 1] * 20)


def test_kinds_can_be_stated():
    values = [f"k{i}" for i in range(40)]
    assert kind_of(values, kinds={"x": "categorical"}) == "categorical"
    assert kind_of(["1", "2"] * 20, kinds={"x": "numeric"}) == "numeric"
    with pytest.raises(InputError, match="perhaps 'x'"):
        kind_of(values, kinds={"xx": "categorical"})
    with pytest.raises(ParameterError, match="got 'number'"):
        kind_of(values, kinds={"x": "number"})
    with pytest.raises(ParameterError, match="'x' cannot be time: it holds strings"):
        kind_of(values, kinds={"x": "time"})
    with pytest.raises(InputError, match="column 'x' is numeric and has the text 'k0'"):
        kind_of(values, kinds={"x": "numeric"})


def test_the_schema_explains():
    m = NaiveBayes().fit(X, Y)
    lines = str(m.schema_).splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["size", "categorical"],
        ["ready", "boolean"],
        ["age", "numeric"],
        ["height", "numeric"],
        ["when", "time"],
    ]


def test_numbers_written_as_text_are_the_numbers():
    values = np.round(np.random.default_rng(0).normal(size=50), 6)
    y = (values > 0).astype(int)
    texts = [str(v) for v in values]
    a, b = (NaiveBayes().fit({"x": x}, y) for x in (values, texts))
    assert a.counts_ == b.counts_
    np.testing.assert_array_equal(a.predict_proba({"x": texts}), b.predict_proba({"x": values}))


def test_times_are_a_number_an_hour_and_a_day():
    start = datetime.datetime(2024, 1, 1)
    when = [start + datetime.timedelta(hours=h) for h in range(24 * 14)]
    y = ["night" if w.hour < 6 else "day" for w in when]
    m = NaiveBayes().fit({"t": when}, y)
    assert set(m.choices_) == {"t", "t (hour)", "t (weekday)"}
    assert m.counts_.tables["categories"].cells.values[1].tolist() == list(range(7))
    assert m.predict({"t": [start.replace(hour=3), start.replace(hour=12)]}).tolist() == [
        "night",
        "day",
    ]
    assert m.evidence({"t": when[:3]}).shape == (3, 1, 2)
    assert m.predict({"t": [None]}).tolist() == ["day"]
    assert m.predict({"t": [1.5]}).tolist() == ["day"]
    assert m.unseen_["t"].reason == "not a timestamp"
    number = NaiveBayes().fit({"t": [1.5, 2.5]}, [0, 1])
    number.predict({"t": when})
    assert (number.unseen_["t"].reason, number.unseen_["t"].count) == ("not a number", len(when))


# Odd columns


@pytest.mark.parametrize("numeric", ["auto", "gaussian", "histogram", "mdl"])
@pytest.mark.parametrize("missing", ["auto", "skip", "value"])
@pytest.mark.parametrize("method", ["bayes", "map", "ml"])
def test_odd_columns_say_nothing_or_little(numeric, missing, method):
    data = {
        "nothing": [None] * 6,
        "constant": [3.0] * 6,
        "word": ["a"] * 6,
        "some": [1.0, None, None, None, None, 2.0],
        "x": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0],
    }
    m = NaiveBayes(numeric=numeric, missing=missing, method=method).fit(data, [0, 0, 0, 1, 1, 1])
    posterior = m.predict_proba(data)
    assert np.all(np.isfinite(posterior))
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    assert np.all(m.predict(data) == [0, 0, 0, 1, 1, 1])
    assert np.all(m.evidence(data)[:, :3] == pytest.approx(0))
    assert not np.isnan(m.leave_one_out(data, [0, 0, 0, 1, 1, 1])).any()


def test_one_class_is_always_the_answer():
    m = NaiveBayes().fit(X, ["only"] * 120)
    assert set(m.predict(X)) == {"only"}
    assert np.all(m.predict_proba(X) == 1)
    assert m.evidence(X).shape == (120, 5, 1)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e200, 1.7e308])
def test_numbers_of_any_size(scale):
    x = scale * np.linspace(-1, 1, 40)
    y = (x > 0).astype(int)
    m = NaiveBayes().fit({"x": x}, y)
    assert (m.predict({"x": x}) == y).mean() > 0.9
    if scale > 1e160:
        with pytest.raises(InputError, match="do not fit a float"):
            NaiveBayes(numeric="gaussian").fit({"x": x}, y)


def test_many_categories():
    rng = np.random.default_rng(0)
    n = 150_000
    names = np.char.add("item", rng.integers(0, 100_000, n).astype(str)).astype(object)
    y = rng.integers(0, 2, n)
    how = {"kinds": {"x": "categorical"}}
    m = NaiveBayes(**how).fit({"x": names}, y)
    assert m.counts_.tables["categories"].cells.size == len(set(names))
    assert m.predict_proba({"x": names[:10]}).shape == (10, 2)
    assert NaiveBayes().fit({"x": names, "z": y}, y).schema_.columns[0].kind == "identifier"


def test_missing_values_can_matter():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = np.where((y == 1) & (rng.random(400) < 0.7), np.nan, rng.normal(size=400))
    for data in ({"x": x}, {"x": [None if v != v else "ab"[v > 0] for v in x.tolist()]}):
        posterior = {
            how: NaiveBayes(missing=how, calibrate=False).fit(data, y).predict_proba({"x": [None]})
            for how in ("auto", "skip", "value")
        }
        np.testing.assert_array_equal(posterior["auto"], posterior["value"])
        assert posterior["value"][0, 1] > 0.95
        assert posterior["skip"][0, 1] == pytest.approx(y.mean(), abs=0.01)
    noise = np.where(rng.random(400) < 0.2, np.nan, rng.normal(size=400))
    assert not NaiveBayes().fit({"x": noise}, y).choices_["x"].missing


# Answers


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("numeric", ["gaussian", "histogram"])
def test_evidence_adds_up(calibrate, n_classes, numeric):
    X, y = table(80, n_classes=n_classes)
    m = NaiveBayes(calibrate=calibrate, numeric=numeric, missing="value").fit(X, y)
    total = m.evidence(X).sum(axis=1) + m.prior_evidence()
    joint = m.predict_joint_log_proba(X)
    others = (joint.sum(axis=1, keepdims=True) - joint) / (n_classes - 1)
    np.testing.assert_allclose(total, 10 / np.log(10) * (joint - others), rtol=1e-9, atol=1e-9)
    first = m.classes_[0]
    total = m.evidence(X, against=first).sum(axis=1) + m.prior_evidence(against=first)
    np.testing.assert_allclose(
        total, 10 / np.log(10) * (joint - joint[:, :1]), rtol=1e-9, atol=1e-9
    )


def test_decisions():
    m = NaiveBayes().fit(X, Y)
    assert m.decide(X).tolist() == m.predict(X).tolist()
    assert None in m.decide(X, abstain=0.3).tolist()
    loss = [[0, 0, 0], [9, 0, 9], [9, 9, 0]]
    assert set(m.decide(X, loss=loss).tolist()) == {m.classes_[0]}


def test_priors():
    even = NaiveBayes(prior="uniform").fit(X, Y)
    np.testing.assert_allclose(np.exp(even.model_.log_prior), [1 / 3] * 3)
    stated = NaiveBayes(prior=[0.5, 0.3, 0.2]).fit(X, Y)
    nothing = {name: [None] for name in X}
    how = {"missing": "skip", "prior": [0.5, 0.3, 0.2]}
    skip = NaiveBayes(**how).fit(X, Y)
    np.testing.assert_allclose(skip.predict_proba(nothing), [[0.5, 0.3, 0.2]])
    assert stated.prior_evidence().shape == (3,)


@pytest.mark.parametrize("name", ["numeric", "missing", "method"])
def test_parameters_are_checked(name):
    with pytest.raises(ParameterError, match=rf"{name} must be one of .* got 'other'.* Hint"):
        NaiveBayes(**{name: "other"}).fit(X, Y)


# scikit-learn


def test_model_selection():
    frame = pd.DataFrame(X)
    assert cross_val_score(NaiveBayes(), frame, Y, cv=3).mean() > 0.4
    assert cross_val_score(NaiveBayes(), records(X), np.array(Y), cv=3).mean() > 0.4
    search = GridSearchCV(NaiveBayes(), {"numeric": ["gaussian", "mdl"]}, cv=2)
    assert search.fit(frame, Y).best_params_["numeric"] in ("gaussian", "mdl")


def test_pipelines():
    numbers = pd.DataFrame({"a": X["age"], "b": np.arange(120.0) ** 2})
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), NaiveBayes())
    assert pipe.fit(numbers, Y).predict_proba(numbers).shape == (120, 3)
    assert list(pipe[-1].feature_names_in_) == ["a", "b"]


def test_a_clone_is_unfitted_and_alike():
    m = NaiveBayes(kinds={"age": "categorical"}, smoothing={"age": 2.0}).fit(X, Y)
    assert not hasattr(clone(m), "model_")
    np.testing.assert_array_equal(clone(m).fit(X, Y).predict_proba(X), m.predict_proba(X))


def test_an_array_is_taken_by_position():
    m = NaiveBayes(calibrate=False).fit({"a": [1.0, 2.0, 9.0], "b": [0.0, 1.0, 0.5]}, [0, 0, 1])
    with pytest.warns(UserWarning, match="feature names"):
        found = m.predict(np.array([[9.0, 0.5]]))
    assert found.tolist() == [1]
