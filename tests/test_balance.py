"""Imbalance: what is dropped and repeated, weights, and the prior put right."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mixed
from deciban import NaiveBayes, balance
from deciban.errors import InputError, MissingValueError, ParameterError, ShapeError

labels = st.lists(st.sampled_from("abc"), min_size=1, max_size=60)
ratios = st.floats(0.05, 1.0)


@given(labels, ratios, st.integers(0, 99))
def test_what_is_dropped_adds_up(y, ratio, seed):
    kept = balance.undersample(list(range(len(y))), y, ratio, seed)
    assert kept.X == kept.rows.tolist() == sorted(set(kept.rows.tolist()))
    assert kept.y.tolist() == [y[i] for i in kept.rows]
    assert (kept.kept + kept.dropped).tolist() == kept.count.tolist()
    assert not kept.repeated.any()
    assert kept.kept.min() == kept.count.min()
    assert kept.kept.max() <= kept.count.min() / ratio + 1e-6
    sums = [kept.weight[kept.y == c].sum() for c in kept.classes]
    assert sums == pytest.approx(kept.count.tolist())


@given(labels, ratios, st.integers(0, 99))
def test_what_is_repeated_adds_up(y, ratio, seed):
    more = balance.oversample(np.arange(len(y)), y, ratio, seed)
    assert more.rows[: len(y)].tolist() == list(range(len(y)))
    assert more.y.tolist() == [y[i] for i in more.rows]
    assert (more.count + more.repeated).tolist() == more.kept.tolist()
    assert not more.dropped.any()
    assert more.kept.min() >= ratio * more.count.max() - 1e-6
    times = np.bincount(more.rows, minlength=len(y))
    for c in more.classes:
        own = times[np.array(y) == c]
        assert own.max() - own.min() <= 1
    sums = [more.weight[more.y == c].sum() for c in more.classes]
    assert sums == pytest.approx(more.count.tolist())


@given(labels)
def test_balanced_weights_are_scikit_learns(y):
    from sklearn.utils.class_weight import compute_sample_weight

    found = balance.class_weights(y)
    assert found.weight == pytest.approx(compute_sample_weight("balanced", y))
    assert found.new == pytest.approx(1 / len(found.classes))


def frames():
    X = {"a": [1, 2, 3, 4], "b": list("wxyz")}
    number = np.arange(8.0).reshape(4, 2)
    return [
        (X, lambda t: t["b"]),
        (pd.DataFrame(X, index=[9, 9, 7, 7]), lambda t: t["b"].tolist()),
        (pl.DataFrame(X), lambda t: t["b"].to_list()),
        (pa.table(X), lambda t: t["b"].to_pylist()),
        (list("wxyz"), list),
        (tuple("wxyz"), list),
        (np.array(list("wxyz")), list),
        (pd.Series(list("wxyz")), list),
        (pl.Series(list("wxyz")), list),
        (number, lambda t: [dict(zip(number[:, 0], "wxyz", strict=True))[v] for v in t[:, 0]]),
        (sparse.csr_array(number + 1), lambda t: ["wxyz"[int(v) // 2] for v in t.todense()[:, 0]]),
        (sparse.coo_array(number + 1), lambda t: ["wxyz"[int(v) // 2] for v in t.todense()[:, 0]]),
    ]  # fmt: skip


@pytest.mark.parametrize(("X", "read"), frames(), ids=lambda v: type(v).__name__)
def test_tables_of_every_kind(X, read):
    y = ["n", "n", "n", "y"]
    kept = balance.undersample(X, y)
    assert type(kept.X) is type(X) or sparse.issparse(X)
    assert list(read(kept.X)) == ["wxyz"[i] for i in kept.rows]
    more = balance.oversample(X, y)
    assert list(read(more.X)) == list("wxyzzz")


def test_seeds():
    y = ["n"] * 50 + ["y"] * 5
    one, same, other = (balance.undersample(y, y, seed=s).rows.tolist() for s in (1, 1, 2))
    assert one == same != other


def test_reweighting_counts_is_weighting_rows():
    X, y = mixed.table(60, seed=1)
    model = NaiveBayes(smoothing=1, calibrate=False, numeric="gaussian").fit(X, y)
    share = {"ham": 0.9, "spam": 0.1}
    n = dict(zip(model.classes_.tolist(), model.counts_.weight, strict=True))
    weight = np.array([share[label] * 60 / n[label] for label in y])
    again = NaiveBayes(smoothing=1, calibrate=False, numeric="gaussian")
    again.fit(X, y, sample_weight=weight)
    found = balance.reweighted(model, share)
    assert found.counts_.weight == pytest.approx([54, 6])
    assert found.predict_proba(X) == pytest.approx(again.predict_proba(X), abs=1e-9)
    assert balance.reweighted(model.counts_, [0.9, 0.1]) == found.counts_
    assert model.counts_.weight.sum() == 60  # the model itself is as it was


@pytest.mark.parametrize("text", ["multinomial", "bernoulli", "complement"])
def test_texts_are_reweighted_too(text):
    X = {"note": ["good film", "good plot", "bad film", "good", "fine good"], "n": list("abaab")}
    y, how = ["yes", "yes", "no", "yes", "yes"], {"kinds": {"note": "text"}, "calibrate": False}
    model = NaiveBayes(text=text, smoothing=1, **how).fit(X, y)
    found = balance.reweighted(model)
    weight = [2.5 if label == "no" else 2.5 / 4 for label in y]
    again = NaiveBayes(text=text, smoothing=1, **how).fit(X, y, sample_weight=weight)
    assert found.counts_ == again.counts_
    assert found.predict_proba(X) == pytest.approx(again.predict_proba(X), abs=1e-9)
    chosen = balance.reweighted(NaiveBayes(kinds={"note": "text"}).fit(X, y))
    assert np.all(np.isfinite(chosen.predict_proba(X)))


def test_reweighting_back_is_nothing():
    X, y = mixed.table(50, seed=2)
    model = NaiveBayes().fit(X, y)
    share = (model.counts_.weight / 50).tolist()
    there = balance.reweighted(model)
    assert there.counts_.weight == pytest.approx([25, 25])
    back = balance.reweighted(there, share)
    assert back.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-9)


def test_corrected_probabilities_mean_what_they_say():
    rng = np.random.default_rng(0)
    y = (rng.random(20000) < 0.05).astype(int)
    X = {"a": rng.normal(y * 1.5, 1), "b": rng.normal(y, 1)}
    new = (rng.random(20000) < 0.05).astype(int)
    fresh = {"a": rng.normal(new * 1.5, 1), "b": rng.normal(new, 1)}
    kept = balance.undersample(X, y)
    raw = NaiveBayes().fit(kept.X, kept.y).predict_proba(fresh)
    assert raw[:, 1].mean() > 0.2
    assert kept.correct(raw)[:, 1].mean() == pytest.approx(0.05, abs=0.01)
    weighted = NaiveBayes().fit(kept.X, kept.y, sample_weight=kept.weight)
    assert weighted.predict_proba(fresh)[:, 1].mean() == pytest.approx(0.05, abs=0.01)


def test_correcting_a_fixed_prior_is_exact():
    X, y = mixed.table(60, seed=4)
    y = ["ham" if i % 5 else label for i, label in enumerate(y)]
    whole = NaiveBayes(calibrate=False, smoothing=1, prior=[0.8, 0.2]).fit(X, y)
    even = NaiveBayes(calibrate=False, smoothing=1, prior="uniform").fit(X, y)
    found = balance.class_weights(["ham"] * 4 + ["spam"])
    assert found.correct(even.predict_proba(X)) == pytest.approx(whole.predict_proba(X), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: balance.undersample([1, 2], ["a"]), ShapeError, "X has 2 rows, y has 1"),
        (lambda: balance.undersample(iter([1]), ["a"]), ShapeError, "unknown"),
        (lambda: balance.undersample([], []), ShapeError, "no labels"),
        (lambda: balance.undersample([1], [None]), MissingValueError, "missing"),
        (lambda: balance.undersample([1], ["a"], ratio=0), ParameterError, "ratio must be"),
        (lambda: balance.oversample([1], ["a"], ratio=1.5), ParameterError, "ratio must be"),
        (lambda: balance.oversample([1], ["a"], seed=-1), ParameterError, "seed must be"),
        (lambda: balance.class_weights(["a"], "even"), ParameterError, "balanced"),
        (lambda: balance.class_weights(["a"], {"b": 1}), ParameterError, "no class 'b'"),
        (lambda: balance.class_weights(["a", "b"], {"b": 1}), ParameterError, "'a' has no weight"),
        (lambda: balance.class_weights(["a"], {"a": 0}), ParameterError, "> 0"),
        (lambda: balance.reweighted("model"), InputError, "str is no fitted model"),
        (lambda: balance.reweighted(NaiveBayes()), InputError, "no fitted model"),
        (lambda: balance.reweighted(NaiveBayes().fit({"x": list("aab")}, [0, 0, 1]), [0.5, 0.6]),
         ParameterError, "sum to 1"),
        (lambda: balance.reweighted(NaiveBayes().fit({"x": list("aab")}, [0, 0, 1]), {0: 1}),
         ParameterError, "class 1 has no weight"),
    ],
)  # fmt: skip
def test_bad_input(call, error, match):
    with pytest.raises(error, match=match):
        call()
