"""Labels: whatever they are made of, the dictionary is the oracle."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import AODE, BayesClassifier, NaiveBayes, labels, load
from deciban.errors import UnhashableError
from deciban.stats.cells import Cells

kinds = st.sampled_from(
    [
        st.integers(-(2**63), 2**63 - 1),
        st.integers(0, 20),
        st.integers(),
        st.text(max_size=3),
        st.sampled_from(["a", "a\0", "\0", "", "b" * 100]),
        st.floats(allow_nan=False),
        st.booleans(),
        st.one_of(st.integers(0, 3), st.text(max_size=1), st.tuples(st.integers(0, 2))),
    ]
)
two_sets = kinds.flatmap(
    lambda kind: st.tuples(st.lists(kind, unique=True), st.lists(kind, unique=True))
)


@settings(deadline=None)
@given(two_sets)
def test_lookup_and_union_are_those_of_python(sets):
    a, b = (labels.label_array(values) for values in sets)
    assert a.tolist() == sets[0]
    assert labels.positions(a, b).tolist() == [
        sets[1].index(x) if x in sets[1] else -1 for x in sets[0]
    ]
    assert labels.union(a, b).tolist() == [*sets[0], *(x for x in sets[1] if x not in sets[0])]
    assert labels.same(a, labels.label_array(list(sets[0])))


@settings(deadline=None)
@given(kinds.flatmap(lambda kind: st.lists(st.one_of(kind, st.none()), max_size=8)))
def test_codes_give_back_the_values(values):
    known, codes = labels.factorise(labels.object_array(values))
    assert len(set(known.tolist())) == len(known)
    assert [None if c < 0 else known.tolist()[c] for c in codes] == values


def test_numbers_strings_and_dates_are_factorised_like_objects():
    for values in ([3, 1, 3, 2**60], [2.5, 1.0, 2.5], ["b", "a", "b"], [True, False, True]):
        known, codes = labels.factorise(np.array(values))
        assert known.tolist() == sorted(set(values))
        assert known[codes].tolist() == values
    days = np.array(["2026-01-02", "NaT", "2026-01-01"], dtype="datetime64[D]")
    known, codes = labels.factorise(days)
    assert codes.tolist() == [1, -1, 0]
    assert labels.positions(known, known[::-1].astype("datetime64[ns]")).tolist() == [1, 0]


def test_strings_that_share_a_key_are_told_apart(monkeypatch):
    monkeypatch.setattr(labels, "_hashes", lambda values: np.zeros(len(values), dtype=np.uint64))
    a, b = np.array(["a", "b", "c"]), np.array(["c", "d", "a"])
    assert labels.positions(a, b).tolist() == [2, -1, 0]
    assert labels.positions(a, b[:1]).tolist() == [-1, -1, 0]


def test_one_long_string_does_not_widen_all():
    assert labels.label_array(["a", "b" * 10_000]).dtype == object


def test_what_cannot_be_compared_is_ordered_by_type_and_text():
    assert labels.sort(["b", 2, "a", 1]).tolist() == [1, 2, "a", "b"]


def test_a_label_must_be_hashable():
    with pytest.raises(UnhashableError, match="Hint: use strings, numbers or tuples"):
        labels.factorise(labels.object_array([[1], [2]]))


def test_cells_select_and_unite():
    a = Cells.of_values(["size", "colour"], [np.array(["S", "M"]), np.array(["red"])])
    b = Cells.of_values(["shape", "size"], [np.array(["round"]), np.array(["L", "M"])])
    both = a.union(b)
    assert both.columns.tolist() == ["size", "colour", "shape"]
    assert [v.tolist() for v in both.values] == [["S", "M", "L"], ["red"], ["round"]]
    assert a.positions(both).tolist() == [0, 1, 3]
    assert b.positions(both).tolist() == [4, 2, 1]
    assert b.positions(a).tolist() == [-1, -1, 1]
    left = both.select(np.array([False, True, True, False, True]))
    assert left.columns.tolist() == ["size", "shape"]
    assert [left.column_of(cell) for cell in range(3)] == ["size", "size", "shape"]
    assert a.union(a) is a
    assert not a.same(Cells.of_columns(2))


# ---------------------------------------------------------------------- labels of an estimator

TABLES = [NaiveBayes, AODE, BayesClassifier]
X = {"x": [1.0, 2.5, 3.0, 1.5] * 15, "z": ["u", "v", "u", "w"] * 15}


@pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", ["M8[D]", "M8[us]", "f4", "u8", "i1", "?"])
def test_classes_are_of_the_type_of_the_labels(kind, dtype, tmp_path):
    y = np.array([1, 0] * 30).astype(dtype)
    model = kind().fit(X, y)
    assert model.classes_.dtype == model.predict(X).dtype == np.dtype(dtype)
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban").classes_
    assert again.dtype == np.dtype(dtype)
    assert again.tolist() == model.classes_.tolist()
    if kind is not BayesClassifier:
        assert model.partial_fit(X, y).classes_.dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "UInt8", "int64[pyarrow]"])
def test_whole_numbers_of_nullable_types_stay_whole(dtype):
    y = pd.Series([1, 0] * 30).astype(dtype)
    for labels_given in (y, y.array):
        classes = NaiveBayes().fit(X, labels_given).classes_
        assert classes.dtype.kind == ("b" if dtype == "boolean" else "i")
    y[:20] = pd.NA
    assert NaiveBayes().fit(X, y).classes_.tolist() == [0, 1]


def test_moments_of_nanoseconds_are_moments_of_python():
    days = np.array(["2024-01-01", "2024-02-01"], dtype="M8[ns]")
    model = NaiveBayes().fit(X, days[[0, 1] * 30])
    assert list(model.predict_proba_one({"x": 1.0})) == [
        dt.datetime(2024, 1, 1),
        dt.datetime(2024, 2, 1),
    ]
    assert model.score(X, days[[0, 1] * 30]) == model.evaluate(X, days[[0, 1] * 30]).accuracy
    finer = NaiveBayes().fit(X, (days + np.timedelta64(1, "ns"))[[0, 1] * 30])
    assert (finer.classes_ == days + np.timedelta64(1, "ns")).all()


def test_whole_numbers_beyond_63_bits():
    values = np.array([2**63 + 5, 2**63 + 3, 2**63 + 5], dtype=np.uint64)
    for some in (values, values - np.uint64(4)):
        known, codes = labels.factorise(some)
        assert known.dtype == np.uint64
        assert known.tolist() == sorted(set(some.tolist()))
        assert codes.tolist() == [1, 0, 1]
    y = np.array([5, 2**63 + 5] * 30, dtype=np.uint64)
    model = AODE().fit(X, y).partial_fit(X, y)
    assert model.classes_.tolist() == [5, 2**63 + 5]
