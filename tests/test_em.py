"""Missing labels: EM by hand, its laws, and every way in which a label can be missing."""

import math
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import mixed
from deciban import AODE, NaiveBayes
from deciban.errors import MissingValueError, NegativeCountError, ParameterError

WORDS = ["good", "bad", "fine", "film", "plot", "end"]


def test_two_coins_by_hand():
    # One labelled row a class, smoothing 1, unlabelled "H": P(H | a) = 2/3, P(H | b) = 1/3,
    # so that it is a's with 2/3: one round gives a 1 + 2/3 rows, all of them H.
    model = NaiveBayes(smoothing=1, calibrate=False, max_rounds=1, kinds={"x": "categorical"})
    with pytest.warns(ConvergenceWarning, match="1 rounds"):
        model.fit({"x": ["H", "T", "H"]}, ["a", "b", None])
    a = (1 + 2 / 3 + 1) / (3 + 2)  # the prior of a after counting 2/3 of the row
    p = (1 + 2 / 3 + 1) / (1 + 2 / 3 + 2)
    q = (1 / 3 + 1) / (1 + 1 / 3 + 2)
    likelihood = math.log(a * p + (1 - a) * q)
    likelihood += 2 * math.log(a) + 2 * math.log(1 - a)  # one labelled row each, and the prior
    likelihood += 2 * math.log(p) + math.log(1 - p) + 2 * math.log(1 - q) + math.log(q)
    assert model.likelihood_.tolist() == pytest.approx([likelihood], abs=1e-12)
    share = a * p / (a * p + (1 - a) * q)
    assert model.counts_.weight == pytest.approx([1 + share, 2 - share])
    count = model.counts_.tables["categories"].sums["count"].values
    assert count[0] == pytest.approx([1 + share, 0])


def test_it_finds_the_maximum():
    # The observed likelihood of a and b with n rows known and m not is the likelihood
    # of the marginal: nothing but x says who is who, so labels decide and x follows.
    y = ["a"] * 8 + ["b"] * 8 + [None] * 40
    x = ["H"] * 6 + ["T"] * 2 + ["H"] * 2 + ["T"] * 6 + ["H"] * 30 + ["T"] * 10
    model = NaiveBayes(smoothing=0, method="ml", calibrate=False, tol=0, max_rounds=3000)
    model.fit({"x": x}, y)

    def observed(a, p, q):
        known = 8 * math.log(a) + 8 * math.log(1 - a)
        known += 6 * math.log(p) + 2 * math.log(1 - p) + 2 * math.log(q) + 6 * math.log(1 - q)
        heads = a * p + (1 - a) * q
        return known + 30 * math.log(heads) + 10 * math.log(1 - heads)

    from scipy.optimize import minimize

    best = minimize(lambda t: -observed(*(1 / (1 + np.exp(-t)))), np.zeros(3), tol=1e-12)
    assert model.likelihood_[-1] == pytest.approx(-best.fun, abs=1e-6)


rows = st.integers(0, 2**32 - 1)


def hidden(y, rng, share=0.6):
    """Some labels hidden, but one of every class."""
    out = [None if rng.random() < share else label for label in y]
    for label in set(y):
        out[y.index(label)] = label
    return out


def rises(values):
    return np.all(np.diff(values) >= 0)


@given(
    rows,
    st.sampled_from(["auto", "gaussian", "histogram", "mdl"]),
    st.sampled_from(["auto", 0, 0.5, 2]),
    st.sampled_from(["bayes", "map", "ml"]),
    st.sampled_from(["auto", "value"]),
    st.sampled_from([1.0, 0.25, 3]),
)
@settings(max_examples=6, deadline=None)
def test_the_likelihood_never_falls_on_mixed_tables(seed, numeric, smoothing, method, missing, u):
    rng = np.random.default_rng(seed)
    X, y = mixed.table(50, seed=seed % 1000, n_classes=int(rng.integers(2, 4)))
    how = {"numeric": numeric, "smoothing": smoothing, "method": method, "missing": missing}
    model = NaiveBayes(**how, unlabelled=u, tol=0, max_rounds=25)
    weight = rng.integers(0, 4, 50) if seed % 2 else None
    seen = hidden(y, rng)
    if weight is not None:
        weight[[seen.index(label) for label in set(y)]] = 1
    with _quiet():
        model.fit(X, seen, sample_weight=weight)
    assert rises(model.likelihood_)
    assert np.isfinite(model.likelihood_).all()
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


@contextmanager
def _quiet():
    """Without a tolerance EM need not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@given(rows, st.sampled_from(["auto", "multinomial", "binary", "bernoulli", "complement"]),
       st.booleans())  # fmt: skip
@settings(max_examples=6, deadline=None)
def test_the_likelihood_never_falls_on_texts(seed, text, calibrate):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 30))) for _ in range(40)]
    y = [None, "a", "b"][1:] + [[None, "a", "b"][i] for i in rng.integers(0, 3, 38)]
    model = NaiveBayes(text=text, calibrate=calibrate, tol=0, max_rounds=25)
    with _quiet():
        model.fit(texts, y)
    assert rises(model.likelihood_)


def test_a_step_that_is_wrong_would_be_seen():
    """Stopping when a round gains nothing hides no fall: every value is looked at."""
    from deciban.naive_bayes import em

    X, y = mixed.table(60, seed=3)
    found = []
    original = em._expect

    def spied(problem, fitted):
        found.append(original(problem, fitted)[1])
        return original(problem, fitted)

    em._expect = spied
    try:
        with _quiet():
            NaiveBayes(tol=0, max_rounds=50).fit(X, hidden(y, np.random.default_rng(1)))
    finally:
        em._expect = original
    steps = np.diff(found)
    assert np.all(steps >= -1e-9 * abs(found[0]))


def test_weight_k_is_k_copies():
    X, y = mixed.table(40, seed=5)
    seen = hidden(y, np.random.default_rng(0))
    k = np.random.default_rng(1).integers(1, 4, 40)
    many = np.repeat(np.arange(40), k)
    copies = mixed.part(X, seen, many)
    how = {"calibrate": False, "smoothing": 1, "numeric": "gaussian"}
    one = NaiveBayes(**how).fit(X, seen, sample_weight=k)
    two = NaiveBayes(**how).fit(*copies)
    assert one.likelihood_ == pytest.approx(two.likelihood_, rel=1e-9)
    assert one.predict_proba(X) == pytest.approx(two.predict_proba(X), abs=1e-9)


def test_a_weight_of_nothing_is_labels_alone():
    X, y = mixed.table(60, seed=2)
    seen = hidden(y, np.random.default_rng(0))
    some = [i for i, label in enumerate(seen) if label is not None]
    alone = NaiveBayes().fit(*mixed.part(X, seen, some))
    model = NaiveBayes(unlabelled=0, kinds={c.name: c.kind for c in alone.schema_.columns})
    model.fit(X, seen)
    assert model.counts_ == alone.counts_
    assert model.unlabelled_ == 0
    assert model.predict_proba(X) == pytest.approx(alone.predict_proba(X))


def test_the_weight_is_chosen():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = {f"x{j}": (y + rng.normal(0, 1.0, 400)).round(2) for j in range(4)}
    seen = [int(v) if i < 20 else None for i, v in enumerate(y)]
    model = NaiveBayes(unlabelled="auto").fit(X, seen)
    assert model.unlabelled_ in (1.0, 0.3, 0.1, 0.03, 0.0)
    assert model.counts_.weight.sum() == pytest.approx(20 + 380 * model.unlabelled_)


def test_unlabelled_rows_help():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 1200)
    X = {f"x{j}": rng.normal(((y + j) % 3) * 1.2, 1).round(3) for j in range(6)}
    seen = [f"c{v}" if i < 12 else None for i, v in enumerate(y)]
    truth = np.array([f"c{v}" for v in y])
    labels = {name: values[:12] for name, values in X.items()}
    alone = np.mean(NaiveBayes(numeric="gaussian").fit(labels, seen[:12]).predict(X) == truth)
    both = np.mean(NaiveBayes(numeric="gaussian").fit(X, seen).predict(X) == truth)
    assert both > alone + 0.03


# ---------------------------------------------------------------------- no labels at all


def test_a_mixture_finds_its_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [100, 200, 300])
    X = {"x": rng.normal(6.0 * y, 1), "c": np.array(list("abc"))[(y + (rng.random(600) < 0.1)) % 3]}
    model = NaiveBayes(n_classes=3, n_starts=4).fit(X, [None] * 600)
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.sort(model.counts_.weight) == pytest.approx([100, 200, 300], abs=8)
    pairs = pd.crosstab(model.predict(X), y).to_numpy()
    assert pairs.max(axis=0).sum() > 580
    again = NaiveBayes(n_classes=3, n_starts=4).fit(X, [None] * 600)
    assert again.counts_ == model.counts_
    assert rises(model.likelihood_)


def test_more_starts_are_no_worse():
    rng = np.random.default_rng(7)
    X = {f"x{j}": rng.integers(0, 3, 80).astype(str) for j in range(5)}
    ends = [NaiveBayes(n_classes=3, n_starts=n).fit(X, [None] * 80).likelihood_[-1] for n in (1, 4)]
    assert ends[0] <= ends[1]


def test_a_mixture_of_texts_and_bins():
    texts = ["ball goal team"] * 20 + ["vote law party"] * 20
    model = NaiveBayes(n_classes=2).fit(texts, [None] * 40)
    found = model.predict(texts)
    assert len(set(found[:20])) == len(set(found[20:])) == 1
    assert found[0] != found[20]
    x = np.r_[np.linspace(0, 1, 50), np.linspace(5, 6, 50)]
    model = NaiveBayes(n_classes=2, numeric="histogram").fit({"x": x, "z": x}, np.full(100, np.nan))
    assert model.counts_.weight.sum() == pytest.approx(100)


def test_a_column_of_one_value_says_nothing():
    x = np.r_[np.zeros(20), np.full(20, 9.0)] + np.tile([0.0, 0.3], 20)
    model = NaiveBayes(n_classes=2, numeric="gaussian", kinds={"k": "numeric"})
    model.fit({"x": x, "k": np.full(40, 0.1)}, [None] * 40)
    assert np.isfinite(model.likelihood_).all()
    assert model.counts_.weight == pytest.approx([20, 20], abs=0.1)


def test_one_labelled_class():
    model = NaiveBayes().fit({"x": ["S", "L", "S"]}, ["a", None, None])
    assert model.classes_.tolist() == ["a"]
    assert model.counts_.weight.tolist() == [3.0]


# ---------------------------------------------------------------------- ways to be missing

Y = ["a", "b", "a", None, "b", None]
X = {"x": ["S", "L", "S", "S", "L", "L"], "n": [1, 9, 2, 1, 8, 9]}
NUMBERS = [0, 1, 0, None, 1, None]


@pytest.mark.parametrize(
    "y",
    [
        Y,
        [v if v else float("nan") for v in Y],
        [v if v else pd.NA for v in Y],
        np.array(Y, dtype=object),
        pd.Series(Y),
        pd.Series(Y, dtype="string"),
        pd.Series(Y, dtype="category"),
        pl.Series(Y),
    ],
    ids=["None", "NaN", "NA", "numpy", "pandas", "pandas string", "categories", "polars"],
)
def test_missing_labels_of_every_kind(y):
    wanted = NaiveBayes().fit(X, Y)
    model = NaiveBayes().fit(X, y)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.counts_ == wanted.counts_
    assert model.counts_.weight.sum() == pytest.approx(6)


@pytest.mark.parametrize(
    "y",
    [NUMBERS, np.array(NUMBERS, dtype=float), pd.Series(NUMBERS), pd.Series(NUMBERS, dtype="Int64"),
     pl.Series(NUMBERS)],
    ids=["list", "numpy", "pandas", "Int64", "polars"],
)  # fmt: skip
def test_missing_numbers(y):
    model = NaiveBayes().fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert model.counts_.weight.sum() == pytest.approx(6)


def test_missing_in_a_column(tmp_path):
    wanted = NaiveBayes().fit(X, Y).counts_
    frame = pl.DataFrame({**X, "label": Y})
    for path in (tmp_path / "t.csv", tmp_path / "t.parquet", tmp_path / "t.jsonl"):
        write = {".csv": "write_csv", ".parquet": "write_parquet", ".jsonl": "write_ndjson"}
        getattr(frame, write[path.suffix])(path)
        assert NaiveBayes().fit(str(path), target="label").counts_ == wanted
    for table in (frame, frame.to_pandas(), frame.to_arrow(), frame.to_dicts()):
        assert NaiveBayes().fit(table, target="label").counts_ == wanted
    assert NaiveBayes().fit(iter(frame.to_dicts()), target="label").counts_ == wanted


def test_a_model_of_missing_labels_is_saved(tmp_path):
    from deciban import load

    model = NaiveBayes().fit(X, Y)
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert again.predict_proba(X) == pytest.approx(model.predict_proba(X))
    assert again.get_params() == model.get_params()


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: NaiveBayes().fit(X, [None] * 6), MissingValueError, "every row.*n_classes"),
        (lambda: NaiveBayes().fit(X, np.full(6, np.nan)), MissingValueError, "every row"),
        (lambda: NaiveBayes().fit(X, np.full(6, np.inf)), MissingValueError, "infinity"),
        (lambda: NaiveBayes(n_classes=3).fit(X, Y), ParameterError, "n_classes is 3.*2 classes"),
        (lambda: NaiveBayes(n_classes=0).fit(X, Y), ParameterError, "n_classes must be"),
        (lambda: NaiveBayes(n_classes=True).fit(X, Y), ParameterError, "n_classes must be"),
        (lambda: NaiveBayes(unlabelled=-1).fit(X, Y), ParameterError, "unlabelled must be"),
        (lambda: NaiveBayes(unlabelled="all").fit(X, Y), ParameterError, "unlabelled must be"),
        (lambda: NaiveBayes(unlabelled=np.nan).fit(X, Y), ParameterError, "unlabelled must be"),
        (lambda: NaiveBayes(unlabelled="auto", calibrate=False).fit(X, Y), ParameterError, "calib"),
        (lambda: NaiveBayes(tol=-1).fit(X, Y), ParameterError, "tol must be"),
        (lambda: NaiveBayes(max_rounds=0).fit(X, Y), ParameterError, "max_rounds must be"),
        (lambda: NaiveBayes(n_starts=1.5).fit(X, Y), ParameterError, "n_starts must be"),
        (lambda: NaiveBayes(random_state=None).fit(X, Y), ParameterError, "random_state must be"),
        (lambda: NaiveBayes().partial_fit(X, Y), MissingValueError, "row 3.*unlabelled"),
        (lambda: NaiveBayes().fit(X, Y).partial_fit(X, Y), MissingValueError, "row 3"),
        (lambda: NaiveBayes().fit(X, Y).forget(X, Y), MissingValueError, "row 3"),
        (lambda: NaiveBayes().fit(X, Y).recalibrate(X, Y), MissingValueError, "row 3"),
        (lambda: AODE().fit(X, Y), MissingValueError, "row 3"),
    ],
)
def test_bad_input(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_soft_counts_are_weights_that_can_be_forgotten():
    model = NaiveBayes().fit(X, Y)
    known = [i for i, label in enumerate(Y) if label]
    model.forget(*mixed.part(X, Y, known))
    assert model.counts_.weight.sum() == pytest.approx(2)
    with pytest.raises(NegativeCountError):
        model.forget(*mixed.part(X, Y, known))
