"""Categories as they are: names, codes, mixtures, missing values and values never seen."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from deciban.errors import InputError, UnhashableError
from deciban.naive_bayes import CategoricalNB
from models import shown

#: Two columns: sizes that are names, and codes.
X = [["S", 1], ["S", 2], ["M", 1], ["L", 2]]
Y = ["a", "a", "a", "b"]


def joints(model, rows):
    return np.exp(model.predict_joint_log_proba(rows))


def test_names_by_hand():
    model = CategoricalNB().fit(X, Y)
    assert [c.tolist() for c in model.categories_] == [["L", "M", "S"], [1, 2]]
    assert model.n_categories_.tolist() == [3, 2]
    assert model.category_count_[0].tolist() == [[0, 1, 2], [1, 0, 0]]
    # P(a) P(S|a) P(1|a) = 3/4 * 3/6 * 3/5, P(b) P(S|b) P(1|b) = 1/4 * 1/4 * 1/3
    np.testing.assert_allclose(joints(model, [["S", 1]]), [[9 / 40, 1 / 48]])


def test_a_value_never_seen_has_its_smoothed_share():
    model = CategoricalNB(unseen="smooth").fit(X, Y)
    # XL gets lam / (n + S lam): 1/6 under a, 1/4 under b
    np.testing.assert_allclose(joints(model, [["XL", 1]]), [[3 / 4 / 6 * 3 / 5, 1 / 4 / 4 / 3]])


def test_a_value_never_seen_is_skipped():
    model = CategoricalNB(unseen="skip").fit(X, Y)
    np.testing.assert_allclose(joints(model, [["XL", 1]]), [[3 / 4 * 3 / 5, 1 / 4 / 3]])
    np.testing.assert_allclose(joints(model, [["XL", 9]]), [[3 / 4, 1 / 4]])
    assert joints(model, [[None, None]]).tolist() == joints(model, [["XL", 9]]).tolist()


def test_stated_categories_have_their_share():
    model = CategoricalNB(min_categories=[5, 2]).fit(X, Y)
    np.testing.assert_allclose(joints(model, [["XL", 1]]), [[3 / 4 / 8 * 3 / 5, 1 / 4 / 6 / 3]])
    assert model.n_categories_.tolist() == [5, 2]


def test_the_default_never_crashes_on_new_values():
    model = CategoricalNB().fit(X, Y)
    for row in (["?", -5], [3.5, "x"], [("a", 1), True], [b"S", 1e300], [np.inf, 2**70]):
        assert np.isfinite(model.predict_log_proba(np.array([[*row]], dtype=object))).all()
    coded = CategoricalNB().fit([[0], [1], [3]], [0, 1, 1])
    for code in (2, 4, 2**40, 1e300, np.uint64(2**63)):
        assert np.isfinite(coded.predict_log_proba(np.array([[code]]))).all()
    assert np.isfinite(coded.predict_log_proba([["name"]])).all()


@pytest.mark.parametrize("unseen", ["smooth", "skip"])
def test_without_smoothing_new_values_say_nothing(unseen):
    model = CategoricalNB(alpha=0, unseen=unseen).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba([["XL", 7]]), [[3 / 4, 1 / 4]])


MISSING = [None, float("nan"), np.nan, pd.NA, pd.NaT]


@pytest.mark.parametrize("nothing", MISSING, ids=repr)
def test_missing_values_say_nothing(nothing):
    rows = np.array([*X, [nothing, 1], ["S", nothing]], dtype=object)
    model = CategoricalNB().fit(rows, [*Y, "b", "b"])
    assert [c.tolist() for c in model.categories_] == [["L", "M", "S"], [1, 2]]
    assert model.category_count_[0].sum() == 5
    row = np.array([[nothing, nothing]], dtype=object)
    np.testing.assert_allclose(joints(model, row), [[1 / 2, 1 / 2]])
    assert not model.evidence(row).any()


def test_missing_codes():
    model = CategoricalNB().fit([[0.0, 1], [np.nan, 0], [1, np.nan]], [0, 0, 1])
    assert model.category_count_[0].tolist() == [[1, 0], [0, 1]]
    np.testing.assert_allclose(model.predict_proba([[np.nan, np.nan]]), [[2 / 3, 1 / 3]])


NAMES = pd.DataFrame({"size": ["S", "M", None], "colour": ["red", None, "red"]})
FRAMES = {
    "str": NAMES,
    "object": NAMES.astype(object),
    "category": NAMES.astype("category"),
    "mixed": NAMES.assign(colour=NAMES["colour"].astype("category")),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_names(kind):
    frame = FRAMES[kind]
    model = CategoricalNB().fit(frame, [0, 1, 1])
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert [c.tolist() for c in model.categories_] == [["M", "S"], ["red"]]
    expected = CategoricalNB().fit(FRAMES["object"].to_numpy(), [0, 1, 1])
    np.testing.assert_array_equal(
        model.predict_proba(frame), expected.predict_proba(FRAMES["object"].to_numpy())
    )


@pytest.mark.parametrize("kind", ["int64", "Int64", "category", "float64", "object"])
def test_frames_of_codes(kind):
    frame = pd.DataFrame({"x": [0, 2, 1, 2], "z": [1, 1, 0, 0]}).astype(kind)
    model = CategoricalNB().fit(frame, [0, 0, 1, 1])
    assert [c.tolist() for c in model.categories_] == [[0, 1, 2], [0, 1]]
    if kind in ("Int64", "category", "float64"):
        frame.loc[0, "x"] = None
        model = CategoricalNB().fit(frame, [0, 0, 1, 1])
        assert model.category_count_[0].tolist() == [[0, 0, 1], [0, 1, 1]]


def test_truth_values():
    frame = pd.DataFrame({"p": [True, False, True], "q": [False, False, True]})
    coded = CategoricalNB().fit(frame, [0, 0, 1])
    assert [c.tolist() for c in coded.categories_] == [[0, 1], [0, 1]]
    named = CategoricalNB().fit(frame.assign(s=["x", "y", "z"]), [0, 0, 1])
    assert [c.tolist() for c in named.categories_][:2] == [[False, True], [False, True]]


def test_any_hashable_object_is_a_name():
    rows = np.empty((3, 1), dtype=object)
    rows[:, 0] = [("a", 1), frozenset({2}), "a"]
    assert len(CategoricalNB().fit(rows, [0, 1, 1]).categories_[0]) == 3
    rows[0, 0] = []
    with pytest.raises(UnhashableError, match=r"unhashable type: 'list'.*Hint:"):
        CategoricalNB().fit(rows, [0, 1, 1])


def test_codes_keep_their_places_and_names_do_not_need_any():
    codes = CategoricalNB().fit([[5], [2]], [0, 1])
    assert codes.category_count_[0].shape == (2, 6)
    names = CategoricalNB().fit([["5"], ["2"]], [0, 1])
    assert names.category_count_[0].shape == (2, 2)
    np.testing.assert_allclose(joints(names, [[5]]), joints(names, [["never"]]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[-1], [2]], r"Negative values.*-1\. Hint:"),
        ([[2**30], [2]], r"category 1073741824 in column 0.*Hint:.*strings"),
        ([[1e300], [2]], r"category 4611686018427387904 in column 0.*Hint:"),
        ([[np.inf], [2]], r"infinity: inf\. Hint:"),
        ([[1j], [2]], r"Complex.*Hint:"),
    ],
)
def test_numbers_that_are_no_codes(rows, message):
    with pytest.raises(InputError, match=f"(?s){message}"):
        CategoricalNB().fit(rows, [0, 1])


def test_codes_then_names():
    model = CategoricalNB().fit([[0], [2], [2]], [0, 1, 1])
    before = shown(model)
    both = model.partial_fit([["x"], [2]], [0, 1])
    assert both.categories_[0].tolist() == [0, 1, 2, "x"]
    assert both.category_count_[0].tolist() == [[1, 0, 0, 1], [0, 0, 3, 0]]
    assert both.predict([[2], ["x"], [2.0]]).tolist() == [1, 0, 1]
    assert shown(both.forget([["x"], [2]], [0, 1])) == before


def test_mixtures_forget_what_made_them_mixtures():
    plain = CategoricalNB().fit([["a", "p"], ["b", "p"]], [0, 1])
    mixed = CategoricalNB().fit([["a", "p"], ["b", "p"], [7, "q"]], [0, 1, 1])
    assert mixed.categories_[0].tolist() == [7, "a", "b"]
    assert shown(mixed.forget([[7, "q"]], [1])) == shown(plain)


def test_names_in_many_chunks(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.choice(["a", "b", "c", None, 3], (1000, 3))
    y = rng.integers(0, 2, 1000)
    whole = CategoricalNB().fit(rows, y)
    monkeypatch.setattr("deciban.threads.COUNT_CHUNK_VALUES", 64)
    monkeypatch.setattr("deciban.threads.SCORE_CHUNK_VALUES", 64)
    pieces = CategoricalNB().fit(rows, y)
    assert shown(pieces) == shown(whole)
    np.testing.assert_array_equal(pieces.predict_proba(rows), whole.predict_proba(rows))


def test_text_arrays():
    rows = np.array([["a", "p"], ["b", "q"]])
    model = CategoricalNB().fit(rows, [0, 1])
    assert model.predict(rows).tolist() == [0, 1]
    assert model.predict(rows.astype(object)).tolist() == [0, 1]


def test_sparse_codes():
    rows = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3], [1, 2, 0]])
    dense = CategoricalNB().fit(rows, [0, 0, 1, 1])
    thin = CategoricalNB().fit(sparse.csr_array(rows), [0, 0, 1, 1])
    assert shown(thin) == shown(dense)
    np.testing.assert_array_equal(
        thin.predict_proba(sparse.csc_array(rows)), dense.predict_proba(rows)
    )
    named = CategoricalNB().fit([["x", 0, 0], ["y", 2, 3]], [0, 1])
    np.testing.assert_array_equal(
        named.predict_proba(sparse.csr_array(rows)), named.predict_proba(rows)
    )


def test_bad_settings():
    for settings, message in (
        ({"unseen": "crash"}, "got 'crash'. Hint: \"skip\""),
        ({"min_categories": "many"}, "Got <U4 instead. Hint:"),
        ({"min_categories": -1}, "got -1. Hint:"),
        ({"min_categories": [2, 2, 2]}, r"Got (3,) instead. Hint:"),
        ({"alpha": -0.5}, "Got -0.5. Hint:"),
        ({"alpha": "much"}, "got 'much'. Hint:"),
    ):
        with pytest.raises(InputError) as caught:
            CategoricalNB(**settings).fit(X, Y)
        assert message in str(caught.value)
