"""AODE counts: it adds up, can be taken apart, and refuses what it cannot count."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from deciban import AODE
from deciban.aode import cut_points
from deciban.aode.calibration import STRENGTHS_IN_ROWS
from deciban.errors import InputError, NegativeCountError, ParameterError, ShapeError
from mixed import part, records, table

BINS = {"age": [2.0, 4.0, 7.0], "height": [-0.5, 0.5, 1.0], "when": [1.705e9, 1.706e9]}
HOW = {"bins": BINS, "smoothing": 1.0, "calibrate": False}


def fitted(X, y, rows=None, weight=None, **how):
    X, y = (X, y) if rows is None else part(X, y, rows)
    return AODE(**{**HOW, **how}).fit(X, y, sample_weight=weight)


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 58), st.integers(1, 3), st.integers(0, 5))
def test_parts_add_up_to_the_whole_and_come_apart_again(cut, n_classes, seed):
    X, y = table(n_classes=n_classes, seed=seed)
    a, b = fitted(X, y, range(cut)), fitted(X, y, range(cut, 60))
    whole = fitted(X, y)
    assert (a + b).model_.pair_counts == whole.model_.pair_counts
    assert (b + a).model_.pair_counts == whole.model_.pair_counts
    assert ((a + b) - b).model_.pair_counts == a.model_.pair_counts
    left = (whole - b).predict_proba(X)
    np.testing.assert_allclose(left, a.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose((a + b).predict_proba(X), whole.predict_proba(X), rtol=1e-12)


def test_more_rows_and_forgetting_are_exact():
    X, y = table(n_classes=3)
    first, rest = part(X, y, range(30)), part(X, y, range(30, 60))
    model = AODE(**HOW).partial_fit(*first)
    once = model.model_.pair_counts
    model.partial_fit(*rest)
    assert model.model_.pair_counts == fitted(X, y).model_.pair_counts
    model.forget(*rest)
    assert model.model_.pair_counts == once
    assert model.model_.pair_counts.layout == once.layout


def test_weight_k_is_k_copies_and_zero_is_no_row():
    X, y = table(n=40)
    times = [i % 4 for i in range(40)]
    repeated = part(X, y, [i for i in range(40) for _ in range(times[i])])
    for how in ({}, {"calibrate": True}, {"smoothing": "auto", "bins": 5}):
        a = AODE(**{**HOW, **how}).fit(X, y, sample_weight=times)
        b = AODE(**{**HOW, **how}).fit(*repeated)
        assert a.model_.pair_counts == b.model_.pair_counts
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-9)


def test_decay_is_a_smaller_weight():
    X, y = table()
    a = fitted(X, y).decay(0.25)
    assert a.model_.pair_counts == fitted(X, y, weight=0.25 * np.ones(60)).model_.pair_counts
    assert a.model_.pair_counts != fitted(X, y).model_.pair_counts


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_order_batches_and_threads_do_not_matter(threads, monkeypatch):
    X, y = table(n=300, n_classes=3)
    expected = AODE().fit(X, y)
    monkeypatch.setenv("DECIBAN_THREADS", threads)
    whole = AODE().fit(X, y)
    assert whole.model_.pair_counts == expected.model_.pair_counts
    np.testing.assert_array_equal(whole.predict_proba(X), expected.predict_proba(X))
    rows = records({**X, "label": y})
    batches = ({k: [r[k] for r in rows[i : i + 7]] for k in rows[0]} for i in range(0, 300, 7))
    stream = AODE().fit(batches, target="label")
    assert stream.model_.pair_counts == expected.model_.pair_counts
    np.testing.assert_allclose(stream.predict_proba(X), expected.predict_proba(X), rtol=1e-12)
    turned = AODE(calibrate=False, smoothing=1).fit(*part(X, y, range(299, -1, -1)))
    straight = AODE(calibrate=False, smoothing=1).fit(X, y)
    np.testing.assert_array_equal(turned.predict_proba(X), straight.predict_proba(X))


def test_bins_are_cut_in_the_first_rows_however_they_come(monkeypatch):
    monkeypatch.setattr(cut_points, "CUTTING_ROWS", 50)
    x = np.arange(200.0)
    y = (x > 100).astype(int).tolist()
    whole = AODE(kinds={"x": "numeric"}).fit({"x": x}, y)
    parts = ({"x": x[i : i + 7], "y": y[i : i + 7]} for i in range(0, 200, 7))
    streamed = AODE(kinds={"x": "numeric"}).fit(parts, target="y")
    assert max(whole.bins_["x"]) < 50
    np.testing.assert_array_equal(whole.bins_["x"], streamed.bins_["x"])
    assert streamed.counts_.weight.sum() == 200


def test_bins_can_be_shared():
    X, y = table()
    first = AODE().fit(X, y)
    Z, z = table(seed=3)
    with pytest.raises(InputError, match=r"different bins.*bins=first\.bins_"):
        first + AODE(bins=4).fit(Z, z)
    both = first + AODE(bins=first.bins_).fit(Z, z)
    assert both.counts_.weight.sum() == 120
    assert clone(AODE(bins=first.bins_)).get_params()["bins"] == first.bins_
    few = {"few": [1.0, 2.0, 1.0], "many": np.linspace(0, 1, 3)}
    assert len(AODE(bins=2).fit(few, [0, 1, 0]).bins_["few"]) == 1
    assert AODE(bins="mdl").fit(few, [0, 1, 0]).bins_["many"] == []


@pytest.mark.parametrize(
    ("n_rows", "n_bins"), [(4, 2), (9, 3), (64, 8), (81, 9), (100, 10), (900, 10)]
)
def test_few_rows_have_few_bins(n_rows, n_bins):
    """As many as the square root of the rows, ten at most."""
    x, y = np.random.default_rng(0).permutation(n_rows) / 7, np.arange(n_rows) % 2
    assert len(AODE().fit({"x": x}, y).bins_["x"]) == n_bins - 1
    counted = AODE().fit({"x": x}, y, sample_weight=np.full(n_rows, 4.0)).bins_["x"]
    assert len(counted) == len(AODE().fit({"x": np.tile(x, 4)}, np.tile(y, 4)).bins_["x"])


@pytest.mark.parametrize(("n_values", "n_bins"), [(6, 6), (7, 4), (16, 4)])
def test_few_values_are_not_cut(n_values, n_bins):
    """Of 16 rows, which have 4 bins, up to 1.6 times as many values are left as they are."""
    x = np.arange(16.0) % n_values
    assert len(AODE().fit({"x": x}, np.arange(16) // 8).bins_["x"]) == n_bins - 1


def test_a_class_and_a_category_may_come_later_and_go():
    model = AODE(**{**HOW, "bins": "auto"})
    model.partial_fit({"x": ["S", "L"], "z": ["a", "b"]}, [1, 2], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    model.partial_fit({"x": ["M"], "z": ["c"]}, [3])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.predict({"x": ["M"], "z": ["c"]}) == [3]
    model.forget({"x": ["M"], "z": ["c"]}, [3])
    assert 3 not in model.classes_
    assert model.model_.pair_counts.layout.sizes == (2, 2)


def test_columns_stay_when_only_holes_are_left():
    rows = {"x": ["S", None, None], "z": ["a", "b", "a"]}
    model = AODE(smoothing=1, calibrate=False).fit(rows, [1, 1, 2])
    model.forget({"x": ["S"], "z": ["a"]}, [1])
    other = AODE(smoothing=1, calibrate=False, kinds={"x": "categorical"})
    other.fit({"x": [None, None], "z": ["b", "a"]}, [1, 2])
    new = {"x": ["S", None], "z": ["b", "a"]}
    np.testing.assert_allclose(model.predict_proba(new), other.predict_proba(new), rtol=1e-12)


def test_taking_away_what_is_not_there_changes_nothing():
    model = AODE(**{**HOW, "bins": "auto"}).fit({"x": ["S", "L"], "z": ["a", "b"]}, [1, 1])
    before = model.model_
    with pytest.raises(NegativeCountError, match="pair of values"):
        model.forget({"x": ["S"], "z": ["b"]}, [1])  # both values are there, never together
    with pytest.raises(NegativeCountError):
        model.forget({"x": ["Q"], "z": ["b"]}, [1])
    with pytest.raises(InputError, match="nothing is left"):
        model.forget({"x": ["S", "L"], "z": ["a", "b"]}, [1, 1])
    assert model.model_ is before


def test_a_table_that_will_not_fit_is_refused_before_it_is_made():
    rng = np.random.default_rng(0)
    X = {f"c{j}": [f"v{v}" for v in rng.integers(0, 3000, 9000)] for j in range(30)}
    y = rng.integers(0, 5, 9000).tolist()
    with pytest.raises(
        InputError, match=r"needs \d.* GiB .* more than the limit of 1 GiB"
    ) as error:
        AODE().fit(X, y)
    assert "memory_limit=" in str(error.value)
    X, y = table()
    small = AODE(**HOW).fit(X, y)
    with pytest.raises(InputError, match=r"column size|column height|column when"):
        AODE(**HOW, memory_limit=small.memory_ - 1).fit(X, y)
    AODE(**HOW, memory_limit=small.memory_).fit(X, y)
    tight = AODE(**HOW, memory_limit=small.memory_).fit(X, y)
    before = tight.model_
    with pytest.raises(InputError, match="counting pairs needs"):
        tight.partial_fit({**part(X, y, [0])[0], "size": ["XXL"]}, ["ham"])
    assert tight.model_ is before


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"bins": 1}, "bins must be"),
        ({"bins": True}, "bins must be"),
        ({"bins": "many"}, "bins must be"),
        ({"bins": {"age": [3, 2]}}, "numbers that rise"),
        ({"bins": {"age": "x"}}, "numbers that rise"),
        ({"bins": {"agee": [3]}}, "agee"),
        ({"missing": "drop"}, "missing must be"),
        ({"smoothing": 0}, "smoothing must be"),
        ({"smoothing": float("nan")}, "smoothing must be"),
        ({"smoothing": "much"}, "smoothing must be"),
        ({"support": -1}, "support must be"),
        ({"support": "all"}, "support must be"),
        ({"memory_limit": 0}, "memory_limit must be"),
        ({"memory_limit": None}, "memory_limit must be"),
        ({"prior": [0.5, 0.6]}, "sum of the priors"),
        ({"kinds": {"size": "colour"}}, "kind of column"),
    ],
)
def test_bad_parameters_say_so_and_change_nothing(how, message):
    X, y = table()
    model = AODE(**how)
    with pytest.raises(InputError, match=re.escape(message)):
        model.fit(X, y)
    assert not hasattr(model, "model_")


def test_bad_rows_say_so():
    X, y = table()
    model = AODE().fit(X, y)
    with pytest.raises(ShapeError):
        AODE().fit(X, y[:-1])
    with pytest.raises(InputError, match="weight is zero"):
        AODE().fit(X, y, sample_weight=[0.0] * len(y))
    with pytest.raises(InputError, match="infinity"):
        AODE().fit({"x": [1.0, np.inf]}, [0, 1])
    with pytest.raises(ShapeError):
        AODE().fit({"x": []}, [])
    with pytest.raises(InputError, match="never counted"):
        model.leave_one_out(X, ["eggs"] * len(y))
    with pytest.raises(InputError, match="no column is left"):
        AODE(kinds={"x": "identifier"}).fit({"x": ["a", "b"]}, [0, 1])
    with pytest.raises(InputError, match=r"column 'age' is numeric in one model and categorical"):
        model + AODE(kinds={"age": "categorical"}).fit(X, y)
    with pytest.raises(ParameterError):
        model.decay(-1)
    with pytest.raises(TypeError):
        model + 1
    with pytest.raises(TypeError):
        model - 1


def test_text_is_named_in_a_warning():
    X = {"x": ["a", "b"] * 15, "t": [f"some words here {i}" for i in range(30)]}
    with pytest.warns(UserWarning, match="AODE counts no text, so 't'"):
        AODE().fit(X, [0, 1] * 15)


def test_it_works_in_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (120, 4)).astype(float)
    y = (X[:, 0] == X[:, 1]).astype(int)
    assert cross_val_score(AODE(), X, y).mean() > 0.9
    model = AODE().fit(X, y).recalibrate(X, y)
    assert model.strength_ in STRENGTHS_IN_ROWS
    assert model.schema_.names == ("x0", "x1", "x2", "x3")
    assert list(model.choices_) == ["x0", "x1", "x2", "x3"]
