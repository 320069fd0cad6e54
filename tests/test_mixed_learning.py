"""NaiveBayes learns exactly: rows are added, taken back, weighted and merged."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import NaiveBayes
from deciban.errors import DecibanError, InputError, NegativeCountError, ParameterError, ShapeError
from mixed import part, table

X, Y = table(90, n_classes=3)
HALF, REST = part(X, Y, range(40)), part(X, Y, range(40, 90))
KINDS = {"size": "categorical", "age": "numeric", "height": "numeric"}
WAYS = [
    {},
    {"numeric": "gaussian"},
    {"numeric": "histogram", "missing": "value"},
    {"numeric": "mdl", "missing": "skip"},
    {"smoothing": 0.5, "method": "map"},
    {"smoothing": {"age": 2.0, "when": 3.0}, "prior": "uniform"},
    {"method": "ml", "smoothing": 0.0},
    {"kinds": {"age": "categorical"}},
]
ways = pytest.mark.parametrize("how", WAYS, ids=str)


def model(**how):
    return NaiveBayes(**{"calibrate": False, **how})


def alike(a, b):
    assert a.counts_ == b.counts_
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(
        a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-12, atol=1e-12
    )


def state(estimator):
    return copy.deepcopy(estimator.__dict__)


def unchanged(before, estimator):
    now = estimator.__dict__
    assert set(before) == set(now)
    a, b = before.pop("model_"), now["model_"]
    assert a.counts == b.counts
    assert (a.schema, a.options) == (b.schema, b.options)
    if a.calibration is not None:
        np.testing.assert_array_equal(a.calibration.loss, b.calibration.loss)
    for name, value in before.items():
        np.testing.assert_array_equal(value, now[name])


@ways
def test_forgetting_is_never_having_seen(how):
    again = model(**how).fit(*HALF).partial_fit(*REST).forget(*HALF)
    alike(again, model(**how).fit(*REST))


@ways
def test_merging_is_fitting_on_both(how):
    a, b, both = (model(**how).fit(*data) for data in (HALF, REST, (X, Y)))
    alike(a + b, both)
    alike(b + a, both)
    alike(both - a, b)
    alike(model(**how).fit(*HALF).partial_fit(*REST), both)
    assert (a + b).n_features_in_ == 5
    assert list((a + b).feature_names_in_) == list(X)


@ways
def test_weight_k_is_k_copies(how):
    weight = [i % 3 for i in range(90)]
    copies = part(X, Y, np.repeat(np.arange(90), weight))
    weighted = NaiveBayes(**how).fit(X, Y, sample_weight=weight)
    alike(weighted, NaiveBayes(**how).fit(*copies))
    assert weighted.temperature_ == NaiveBayes(**how).fit(*copies).temperature_


@ways
def test_decay_is_a_change_of_weight(how):
    alike(
        model(**how).fit(*HALF).decay(0.25).partial_fit(*REST),
        model(**how).fit(X, Y, sample_weight=[0.25] * 40 + [1.0] * 50),
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 89), min_size=2, max_size=20, unique=True), st.data())
def test_any_rows_can_be_forgotten(rows, data):
    weight = data.draw(st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.0]), min_size=90, max_size=90))
    m = model().fit(X, Y, sample_weight=weight)
    gone = [weight[i] for i in rows]
    stay = [i for i in range(90) if i not in rows]
    left = model().fit(*part(X, Y, stay), sample_weight=[weight[i] for i in stay])
    alike(m.forget(*part(X, Y, rows), sample_weight=gone), left)


def test_a_column_stays_when_its_last_value_goes():
    data = {"a": ["u", None, None], "b": [1.0, None, None], "c": [1.0, 2.0, 3.0]}
    m = model().fit(data, [0, 0, 1]).forget(*part(data, [0, 0, 1], [0]))
    fresh = model(kinds={"a": "categorical"}).fit(*part(data, [0, 0, 1], [1, 2]))
    assert m.counts_ == fresh.counts_
    np.testing.assert_allclose(m.predict_proba(data), fresh.predict_proba(data))
    assert (
        m.partial_fit(*part(data, [0, 0, 1], [0])).counts_ == model().fit(data, [0, 0, 1]).counts_
    )


def test_a_class_that_appears_later():
    m = NaiveBayes().fit({"x": ["a", "b"]}, [1, 2]).partial_fit({"x": ["c", "c"]}, [0, 0])
    assert m.classes_.tolist() == [0, 1, 2]
    assert m.predict({"x": ["c"]}).tolist() == [0]


def test_classes_without_rows():
    m = NaiveBayes(smoothing=1.0).partial_fit({"x": ["a", "b"]}, [1, 2], classes=[1, 2, 3])
    assert m.classes_.tolist() == [1, 2, 3]
    np.testing.assert_allclose(m.predict_proba({"x": [None]}), [[0.4, 0.4, 0.2]])


def test_fitting_again_forgets_everything():
    m = NaiveBayes().fit(X, Y).fit({"z": [1.0, 2.0, 9.0]}, [1, 1, 2])
    assert m.schema_.names == ("z",)
    assert m.n_features_in_ == 1
    m.fit(np.array([[1.0], [2.0]]), [0, 1])
    assert not hasattr(m, "feature_names_in_")


FAILURES = {
    "fit: no rows": lambda m: m.fit({"x": []}, []),
    "fit: no labels": lambda m: m.fit(np.ones((4, 3)), [None] * 4),
    "fit: a bad parameter": lambda m: m.set_params(numeric="bins").fit(X, Y),
    "fit: short labels": lambda m: m.fit(np.ones((4, 3)), [1, 2]),
    "fit: infinity": lambda m: m.fit([[1.0], [np.inf]], [1, 2]),
    "fit: no column": lambda m: m.fit({"id": [f"k{i}" for i in range(50)]}, [0, 1] * 25),
    "partial_fit: infinity": lambda m: m.partial_fit({**X, "height": [np.inf] * 90}, Y),
    "partial_fit: prior": lambda m: m.set_params(prior=[0.2, 0.8]).partial_fit(X, ["new"] * 90),
    "partial_fit: text in a number": lambda m: m.partial_fit({**X, "age": ["old"] * 90}, Y),
    "partial_fit: a late failure": lambda m: m.partial_fit(late(), Y * 2),
    "forget: never added": lambda m: m.forget(*part(X, Y, [0] * 50)),
    "forget: everything": lambda m: m.forget(X, Y),
    "decay: below zero": lambda m: m.decay(-1),
    "recalibrate: unknown class": lambda m: m.recalibrate(X, ["new"] * 90),
    "subtract": lambda m: m - (m + m),
    "add other columns": lambda m: m + NaiveBayes().fit({"x": [1, 2]}, [1, 2]),
}  # fmt: skip


def late():
    yield X
    yield {**X, "height": [np.inf] * 90}


@pytest.mark.parametrize("how", FAILURES)
@pytest.mark.parametrize("calibrate", [True, False])
def test_a_failed_update_changes_nothing(how, calibrate):
    m = NaiveBayes(calibrate=calibrate).fit(X, Y)
    before, score = state(m), m.predict_proba(X)
    stated = m.get_params()
    with pytest.raises(DecibanError, match="Hint:"):
        FAILURES[how](m)
    m.set_params(**stated)
    unchanged(before, m)
    np.testing.assert_array_equal(m.predict_proba(X), score)


def test_errors_say_what_and_how():
    m = NaiveBayes().fit(X, Y)
    with pytest.raises(NegativeCountError, match="cannot be taken away"):
        m.forget(*part(X, Y, [0] * 50))
    with pytest.raises(InputError, match="nothing is left of 90 rows"):
        m.forget(X, Y)
    other = NaiveBayes(kinds={"age": "categorical"}).fit(X, Y)
    with pytest.raises(InputError, match="'age' is numeric in one model and categorical in"):
        m + other
    with pytest.raises(TypeError):
        m + 1
    with pytest.raises(TypeError):
        m - 1
    for wrong in (-1, "much", [1.0, 2.0], np.nan):
        with pytest.raises(ParameterError, match=r"smoothing must be .* got"):
            NaiveBayes(smoothing=wrong).fit(X, Y)
    with pytest.raises(InputError, match="perhaps 'age'"):
        NaiveBayes(smoothing={"agee": 1.0}).fit(X, Y)
    with pytest.raises(ShapeError, match="got 2 priors for 3 classes"):
        NaiveBayes(prior=[0.5, 0.5]).fit(X, Y)


def test_columns_of_two_parts_may_come_in_another_order():
    turned = dict(reversed(list(REST[0].items()))), REST[1]
    alike(model().fit(*HALF) + model().fit(*turned), model().fit(X, Y))


# The discount


def test_the_discount_follows_the_rows():
    a, b = (NaiveBayes().fit(*data) for data in (HALF, REST))
    both = a + b
    np.testing.assert_allclose(
        both.model_.calibration.loss, a.model_.calibration.loss + b.model_.calibration.loss
    )
    assert both.model_.calibration.rows == 90
    before = a.temperature_
    assert a.decay(0.5).temperature_ >= before  # fewer rows are trusted less
    assert a.model_.calibration.rows == 20
    a.partial_fit(*REST)
    assert a.model_.calibration.rows == 70
    assert (both - b).model_.calibration.rows == pytest.approx(40)
    assert both.forget(*HALF).model_.calibration.rows == pytest.approx(50)


def test_copies_of_a_column_are_seen_through():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 2000)
    x = np.where(rng.random(2000) < 0.8, y, 1 - y).astype(str)
    many = {f"x{j}": x for j in range(10)}
    m = NaiveBayes().fit(many, y)
    assert 8 < m.temperature_ < 12.5
    posterior = m.predict_proba(many)[np.arange(2000), y]
    assert -np.log(posterior).mean() == pytest.approx(0.5, abs=0.03)
    pure = NaiveBayes(calibrate=False).fit(many, y)
    assert pure.temperature_ == 1
    assert pure.recalibrate(many, y).temperature_ == m.temperature_
    np.testing.assert_array_equal(pure.predict_proba(many), m.predict_proba(many))


def test_merging_with_an_uncalibrated_model():
    a, b = NaiveBayes().fit(*HALF), NaiveBayes(calibrate=False).fit(*REST)
    losses = (a + b).model_.calibration.loss
    np.testing.assert_array_equal(losses, a.model_.calibration.loss)
    assert (b + a).temperature_ == 1
