"""Groups and times of the drop-ins and of LogisticRegression, whose rows are those of matrices."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import deciban
from deciban import LogisticRegression
from deciban.errors import DataWarning, InputError, MissingValueError, ParameterError, ShapeError
from deciban.logistic import held_out, penalty
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from deciban.naive_bayes.dropins.left_out import leave_units_out, score_units
from deciban.sources.kept_rows import MAX_KEPT_ROWS
from deciban.sources.matrix_units import places, rows_by_place, units_of
from deciban.sources.unit_sample import TrainingUnits
from deciban.sources.units import unit_source

DROPINS = [
    GaussianNB(),
    GaussianNB(shared_variance=True),
    MultinomialNB(),
    MultinomialNB(alpha=0.0),
    MultinomialNB(fit_prior=False),
    ComplementNB(),
    ComplementNB(alpha=0.0),
    ComplementNB(norm=True),
    BernoulliNB(),
    BernoulliNB(alpha=0.0),
    CategoricalNB(min_categories=20),  # the values that a column can take stay
    CategoricalNB(alpha=0.0, min_categories=20),
]
EVERY = [*DROPINS[2::8], *DROPINS[:1], *DROPINS[5:6], *DROPINS[8:9], LogisticRegression()]
WEIGHTS = ["once", "whole", "fractional"]


def counts(seed=0, n=70):
    """Amounts in groups that are alike, every class in many of them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 14, n)
    y = np.where(rng.random(n) < 0.6, group % 3, rng.integers(0, 3, n))
    rate = 0.4 + y[:, None] * np.array([0.0, 0.5, 1.0, 0.2]) + rng.random((14, 4))[group]
    X = rng.poisson(rate).astype(float)
    X[:, 0] += X.sum(axis=1) == 0
    return X, np.array(["a", "b", "c"])[y], group


def weights(how, n):
    rng = np.random.default_rng(5)
    of = {"once": None, "whole": rng.integers(0, 4, n) * 1.0, "fractional": rng.random(n) + 0.05}
    return of[how]


def patients(n=60, visits=8, seed=0):
    """Visits that are alike within a patient, and labels that have little to do with them."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), visits)
    ill = rng.integers(0, 2, n)
    level = rng.normal(0.3 * ill[:, None], 1.0, (n, 3))
    return (level[who] + rng.normal(0, 0.1, (len(who), 3))).round(1), ill[who], who


@pytest.mark.parametrize("kind", DROPINS, ids=repr)
@pytest.mark.parametrize("how", ["groups", "time"])
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_row_is_judged_as_by_a_model_that_never_saw_its_unit(kind, how, weight, sparse):
    X, y, unit = counts()
    X, w = csr_array(X) if sparse else X, weights(weight, len(y))
    if weight == "fractional" and kind.get_params().get("alpha") == 0:
        w = np.ceil(8 * w) / 8  # sums that do not round: nothing at all is left of some
    model = clone(kind).fit(X, y, w, **{how: unit})
    codes = np.searchsorted(model.classes_, y)
    units = units_of(unit_source(**{how: unit}), X)
    part = rows_by_place(units, codes, model.classes_, w)
    judged, at = leave_units_out(model.model_, X, part).log_posterior, places(part)
    n_judged = 0
    for u in np.unique(unit[at]):
        rest = at[unit[at] != u] if how == "groups" else at[unit[at] < u]
        if len(np.unique(codes[rest])) < 3:
            continue  # a refit would not know all classes
        less = clone(kind).fit(X[rest], y[rest], None if w is None else w[rest])
        if isinstance(kind, GaussianNB):  # what was chosen stays: here, the floor of variances
            less.var_smoothing *= model.epsilon_ / less.epsilon_
            less._adopt(less.counts_)
        mine = np.flatnonzero(unit[at] == u)
        expected = less.predict_log_proba(X[at[mine]])
        np.testing.assert_allclose(judged[mine], expected, rtol=1e-7, atol=1e-9)
        n_judged += len(mine)
    assert n_judged > len(y) / 2


@pytest.mark.parametrize("kind", DROPINS, ids=repr)
def test_groups_of_one_row_are_leave_one_out(kind):
    X, y, _ = counts()
    alone = clone(kind).fit(X, y)
    together = clone(kind).fit(X, y, groups=np.arange(len(y)))
    for a, b in zip(_sorted_scores(alone), _sorted_scores(together), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(alone.predict_proba(X), together.predict_proba(X))


def _sorted_scores(model):
    """The scores of rows in rising order, each row's: rounding may tell equal ones apart."""
    left_out = model.model_.left_out
    ranked = [*left_out.conformity.by_class, left_out.typicality.ranked]
    return [np.repeat(each.score, each.weight.astype(int)) for each in ranked]


@pytest.mark.parametrize("kind", EVERY, ids=repr)
@pytest.mark.parametrize("how", ["groups", "time"])
def test_the_model_is_that_of_all_rows(kind, how):
    X, y, unit = counts()
    alone, together = clone(kind).fit(X, y), clone(kind).fit(X, y, **{how: unit})
    np.testing.assert_array_equal(alone.predict_proba(X), together.predict_proba(X))
    assert together.units_.kind == how.rstrip("s")
    assert together.fit(X, y).units_ is None


@pytest.mark.parametrize("kind", [GaussianNB(), LogisticRegression(), LogisticRegression(C="auto")])
def test_groups_make_sets_hold_and_figures_honest(kind):
    X, y, who = patients()
    new, truth, _ = patients(n=400, seed=1)
    model, errors, coverage = clone(kind), [], []
    for groups in (None, who):
        model.fit(X, y, groups=groups)
        told = model.evaluate(bootstrap=0).log_loss
        e = model.evaluate(new, truth, coverage=0.9, bootstrap=0)
        errors.append(abs(told - e.log_loss))
        coverage.append(e.sets.coverage)
    assert coverage[0] < 0.87 < coverage[1]
    assert errors[1] < errors[0] / 2


def test_groups_choose_the_penalty():
    X, y, who = patients()
    new, truth, _ = patients(n=400, seed=1)
    alone, together = (LogisticRegression(C="auto").fit(X, y, groups=g) for g in (None, who))
    assert together.C_ < alone.C_ / 10
    losses = [m.evaluate(new, truth, bootstrap=0).log_loss for m in (alone, together)]
    assert losses[1] < losses[0] - 0.02


def test_losses_of_penalties_are_those_of_fits_without_the_fold():
    X, y, who = patients(n=20, visits=3)
    Z, w = X - X.mean(axis=0), np.linspace(0.5, 2, len(y))
    splits = [(np.flatnonzero(who % 4 != k), np.flatnonzero(who % 4 == k)) for k in range(3)]
    penalties = np.array([30.0, 1.0])
    losses = penalty.held_out_losses(Z, y, w, 2, penalties, splits)
    for lam, loss in zip(penalties, losses, strict=True):
        total = 0.0
        for inside, held in splits:
            rows, labels = np.vstack([Z[inside], np.zeros((2, 3))]), np.append(y[inside], [0, 1])
            m = LogisticRegression(lam=lam).fit(rows, labels, np.append(w[inside], [1, 1]))
            log = m.predict_log_proba(Z[held])[np.arange(len(held)), y[held]]
            total -= w[held] @ log
        held_weight = w[who % 4 != 3].sum()
        assert loss == pytest.approx(total * w.sum() / held_weight, rel=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("how", ["groups", "time"])
@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}, {"fit_intercept": False}], ids=str)
def test_a_fold_of_a_regression_is_fitted_without_what_it_holds_out(options, how, sparse):
    X, y, unit = counts(n=120)
    X = csr_array(X) if sparse else X
    codes, w = np.searchsorted(["a", "b", "c"], y), np.random.default_rng(0).random(120) + 0.1
    model = LogisticRegression(**options).fit(X, y, w, **{how: unit})
    rows = held_out.TrainingRows(X, codes, w, model.classes_)
    _, splits = held_out.split_units(rows, unit_source(**{how: unit}))
    held = np.concatenate([held for _, held in splits])
    assert len(set(held.tolist())) == len(held)
    assert len(held) == 120 if how == "groups" else 40 < len(held) < 80
    kept = model.training_scores_
    at = 0
    for inside, out in splits:
        if how == "groups":
            assert not set(unit[inside]) & set(unit[out])
        else:
            assert unit[inside].max() < unit[out].min()
        less = LogisticRegression(**options).fit(X[inside], y[inside], w[inside])
        expected = less.predict_log_proba(X[out])
        np.testing.assert_allclose(kept.log_posterior[at : at + len(out)], expected, atol=1e-5)
        np.testing.assert_array_equal(kept.codes[at : at + len(out)], codes[out])
        at += len(out)


def test_a_class_that_a_fold_lacks_is_impossible_in_it():
    X, y, who = patients(n=30, visits=4)
    y = np.where(who == 3, 2, y)
    with pytest.warns(DataWarning, match="class 2 are in one group"):
        m = LogisticRegression().fit(X, y, groups=who)
    scores = m.training_scores_
    assert np.isneginf(scores.log_posterior[scores.codes == 2, 2]).all()
    with pytest.warns(DataWarning, match="class 2 are in one group"):
        smoothed = LogisticRegression(C="auto").fit(X, y, groups=who).training_scores_
    assert np.isfinite(smoothed.log_posterior).all()


def test_one_class_is_all_that_a_first_half_knows():
    X, y = np.arange(20.0)[:, None], np.arange(20) // 15
    scores = LogisticRegression().fit(X, y, time=np.arange(20)).training_scores_
    first = scores.log_posterior[:2]
    np.testing.assert_array_equal(first, [[0.0, -np.inf]] * 2)


@pytest.mark.parametrize("kind", EVERY, ids=repr)
@pytest.mark.parametrize("how", ["groups", "time"])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_of_a_frame_or_an_array(kind, how, library):
    X, y, unit = counts()
    frame = library(dict(zip("abcd", X.T, strict=True)))
    with_unit = library({**dict(zip("ab", X.T[:2], strict=True)), "who": unit,
                         **dict(zip("cd", X.T[2:], strict=True))})  # fmt: skip
    beside = clone(kind).fit(frame, y, **{how: unit})
    inside = clone(kind).fit(with_unit, y, **{how: "who"})
    assert inside.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert inside.units_.column == "who"
    np.testing.assert_array_equal(inside.predict_set(with_unit), beside.predict_set(frame))
    np.testing.assert_array_equal(inside.novelty(frame), beside.novelty(frame))


def test_a_column_of_a_table_of_arrow():
    X, y, unit = counts()
    table = pa.table({**dict(zip("abcd", X.T, strict=True)), "who": unit})
    frame = pd.DataFrame(dict(zip("abcd", X.T, strict=True)))
    m, beside = MultinomialNB().fit(table, y, groups="who"), MultinomialNB()
    beside.fit(frame, y, groups=unit)
    assert m.n_features_in_ == 4
    np.testing.assert_array_equal(m.predict_set(table), beside.predict_set(frame))


@pytest.mark.parametrize("kind", EVERY, ids=repr)
def test_order_does_not_matter(kind):
    X, y, who = counts(n=200)
    order = np.random.default_rng(1).permutation(len(y))
    a, b = clone(kind).fit(X, y, groups=who), clone(kind).fit(X[order], y[order], groups=who[order])
    for mine, theirs in zip(_sorted_scores(a), _sorted_scores(b), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", EVERY, ids=repr)
@pytest.mark.parametrize("how", ["groups", "time"])
def test_a_file_keeps_what_is_needed(kind, how, tmp_path):
    X, y, unit = counts()
    frame = pd.DataFrame({**dict(zip("abcd", X.T, strict=True)), "who": unit})
    m = clone(kind).fit(frame, y, **{how: "who"})
    m.save(tmp_path / "m.deciban")
    loaded = deciban.load(tmp_path / "m.deciban")
    assert vars(loaded.units_) | {"seen": loaded.units_.seen.tolist()} == (
        vars(m.units_) | {"seen": m.units_.seen.tolist()}
    )
    np.testing.assert_array_equal(loaded.predict_set(frame), m.predict_set(frame))
    np.testing.assert_array_equal(loaded.novelty(frame), m.novelty(frame))
    assert loaded.evaluate(bootstrap=0).log_loss == m.evaluate(bootstrap=0).log_loss


# ---------------------------------------------------------------------- learning on


def test_groups_of_an_earlier_call_are_counted_but_not_judged():
    X, y, who = counts(n=200)
    m = MultinomialNB().fit(X, y, groups=who)
    assert m.model_.left_out.conformity.rows == 200
    m.partial_fit(X[:10], y[:10], groups=who[:10])
    assert m.class_count_.sum() == 210
    assert m.model_.left_out.conformity.rows == 200
    m.partial_fit(X[:10], y[:10], groups=who[:10] + 100)
    assert m.model_.left_out.conformity.rows == 210
    assert m.forget(X[:10], y[:10]).class_count_.sum() == 210


def test_batches_in_time_are_judged_by_those_before():
    X, y, _ = counts(n=60)
    when = np.arange(60)
    whole = BernoulliNB().fit(X, y, time=when)
    parts = BernoulliNB().partial_fit(X[:40], y[:40], ["a", "b", "c"], time=when[:40])
    parts.partial_fit(X[40:], y[40:], time=when[40:])
    for a, b in zip(whole.model_.left_out.conformity.by_class,
                    parts.model_.left_out.conformity.by_class, strict=True):  # fmt: skip
        np.testing.assert_allclose(a.score, b.score, rtol=1e-9)
    with pytest.raises(InputError, match="from before rows"):
        parts.partial_fit(X, y, time=when)
    assert parts.class_count_.sum() == 60


def test_calls_have_both_or_neither():
    X, y, who = counts()
    with pytest.raises(InputError, match="fitted without groups"):
        MultinomialNB().fit(X, y).partial_fit(X, y, groups=who)
    with pytest.raises(InputError, match="fitted with groups"):
        MultinomialNB().fit(X, y, groups=who).partial_fit(X, y)
    with pytest.raises(InputError, match="rows of later calls cannot be held out"):
        LogisticRegression().fit(X, y, groups=who).partial_fit(X, y)


def test_models_of_groups_add_up():
    X, y, who = counts(n=200)
    half = who < 7
    a, b = (MultinomialNB().fit(X[some], y[some], groups=who[some]) for some in (half, ~half))
    both = a + b
    assert len(both.units_.seen) == 14
    assert both.model_.left_out.conformity.rows == 200
    assert both.with_counted(both.count_rows(X[:2], y[:2])).units_ is not None


# ---------------------------------------------------------------------- copies, samples


@pytest.mark.parametrize("kind", [MultinomialNB(), GaussianNB(), LogisticRegression()], ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_copies_are_groups(kind, sparse):
    X, y, _ = counts(n=40)
    X[:, 3] += np.arange(40)  # no two rows are alike
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    X = csr_array(X) if sparse else X
    m = clone(kind).fit(X, y, groups="auto")
    assert len(m.units_.seen) == 40
    told, alone = (each.evaluate(bootstrap=0).log_loss for each in (m, clone(kind).fit(X, y)))
    assert told > alone


def test_copies_of_names_are_groups():
    X = np.array([["S", None], ["M", "red"], ["L", "blue"], ["M", "red"]] * 5, dtype=object)
    assert len(CategoricalNB().fit(X, list("abba") * 5, groups="auto").units_.seen) == 3


def test_of_many_rows_some_are_judged():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (6000, 3)).astype(float), rng.integers(0, 2, 6000)
    grouped = MultinomialNB().fit(X, y, groups=np.arange(6000) // 4).model_.left_out
    assert 200 <= grouped.conformity.rows <= MAX_KEPT_ROWS
    timed = MultinomialNB().fit(X, y, time=rng.permutation(6000)).model_.left_out
    assert timed.conformity.rows == MAX_KEPT_ROWS


def test_times_between_judged_rows_change_nothing(monkeypatch):
    X, y, _ = counts(n=90)
    when = np.random.default_rng(3).permutation(90) // 2
    m = BernoulliNB().fit(X, y, time=when)
    codes = np.searchsorted(m.classes_, y)
    part = rows_by_place(units_of(unit_source(time=when), X), codes, m.classes_, None)
    every = leave_units_out(m.model_, X, part).log_posterior
    monkeypatch.setattr("deciban.naive_bayes.dropins.left_out.MAX_KEPT_ROWS", 20)
    sample = TrainingUnits("time").sample()
    sample.add(part)
    some = score_units(m.model_, X, sample).posteriors
    np.testing.assert_allclose(some.log_posterior, every[::5], rtol=1e-12)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("kind", EVERY, ids=repr)
@pytest.mark.parametrize(
    ("units", "error", "message"),
    [
        ({"groups": [1, 2, 3]}, ShapeError, "groups has 3"),
        ({"groups": np.arange(900)}, ShapeError, "groups has 900"),
        ({"time": [1.0]}, ShapeError, "time has 1"),
        ({"groups": [None] + [1] * 69}, MissingValueError, "groups has no value in row 0"),
        ({"groups": [np.nan] + [1.0] * 69}, MissingValueError, "groups has no value in row 0"),
        ({"time": [1.0] * 69 + [np.nan]}, MissingValueError, "time has no value in row 69"),
        ({"groups": ["all"] * 70}, InputError, "all rows have one group"),
        ({"time": [7] * 70}, InputError, "all rows have one time"),
        ({"groups": "wo"}, InputError, "no column 'wo'. Hint: perhaps 'who' was meant"),
        ({"groups": np.zeros((70, 2))}, ParameterError, "one value a row"),
        ({"groups": []}, ShapeError, "groups has no values"),
        ({"time": ["soon"] * 70}, InputError, "dates or timestamps"),
        ({"groups": np.arange(70), "time": np.arange(70)}, ParameterError, "got both"),
    ],
)
def test_what_is_refused(kind, units, error, message):
    X, y, who = counts()
    frame = pd.DataFrame({**dict(zip("abcd", X.T, strict=True)), "who": who})
    m = clone(kind)
    with pytest.raises(error, match=message):
        m.fit(frame, y, **units)
    assert not vars(m).keys() - m.get_params().keys()


@pytest.mark.parametrize("kind", EVERY, ids=repr)
def test_a_matrix_has_no_names_and_a_class_is_no_group(kind):
    X, y, _ = counts()
    with pytest.raises(InputError, match="a matrix has no column 'who'"):
        clone(kind).fit(X, y, groups="who")
    with pytest.raises(InputError, match="in one group, and so are those of every other"):
        clone(kind).fit(X, y, groups=y)


@pytest.mark.parametrize("kind", EVERY, ids=repr)
def test_they_are_keywords(kind):
    X, y, who = counts()
    with pytest.raises(TypeError):
        clone(kind).fit(X, y, None, who)
