"""Sets of classes with a guarantee: what they cover, and what becomes of them as a model learns."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as OtherRegression

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, evaluate, load
from deciban.ensemble.refitting import RefittedRows
from deciban.ensemble.training_table import HeldOutRows, TrainingTable
from deciban.errors import InputError, ParameterError
from deciban.models.conformal import ConformityScores
from deciban.naive_bayes import GaussianNB
from deciban.sources.batch import LabelledBatch
from overlapping import ABC, held_by, table, too_far

KINDS = (NaiveBayes, AODE, BayesClassifier)

# ---------------------------------------------------------------------- coverage


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_sets_hold_the_class_as_often_as_asked(kind, coverage):
    X, y = table(900, seed=1)
    new, truth = table(3_000, seed=2)
    model = kind().fit(X, y)
    sets = model.predict_set(new, coverage)
    rows = model.model_.left_out.conformity.rows
    assert rows == 900
    assert not too_far(held_by(sets, model, truth).sum(), 3_000, rows, coverage)
    assert 1.0 < sets.sum(axis=1).mean() < 2.5


def test_few_rows_are_judged_by_models_of_the_other_folds():
    """Each fold as a new model says it, which has chosen nothing by it."""
    X, y = table(120, seed=8)
    model = BayesClassifier().fit({**X, "note": ["good film", "bad film"] * 60}, y)
    rows = model.model_.held_out.held_out
    part = LabelledBatch(rows.batch, model.classes_, rows.y, rows.weight)
    folds = TrainingTable.of(model.model_.counted, part, 0).splits
    assert len(folds) == 5
    found = model.training_scores_
    np.testing.assert_array_equal(found.codes, rows.y)
    for inside, held in folds:
        few = part.take(inside)
        other = BayesClassifier().fit(few.batch.tolist(), few.classes[few.codes])
        expected = other.predict_log_proba(part.take(held).batch.tolist())
        np.testing.assert_allclose(found.log_posterior[held], expected, rtol=1e-9, atol=1e-12)


def test_a_class_of_one_row_is_as_likely_to_the_others_as_it_is_frequent():
    X, y = table(60, seed=9)
    y = np.array(["only", *y[1:]])
    found = BayesClassifier().fit(X, y).training_scores_
    (own,) = np.flatnonzero(found.codes == 3)
    assert np.exp(found.log_posterior[own, 3]) == pytest.approx(2 / 64)  # smoothed
    np.testing.assert_allclose(np.exp(found.log_posterior).sum(axis=1), 1)


def test_more_rows_or_groups_are_judged_by_the_folds_of_base_learners(monkeypatch):
    X, y = table(80, seed=10)
    assert isinstance(BayesClassifier().fit(X, y).model_.held_out, RefittedRows)
    grouped = BayesClassifier().fit(X, y, groups=np.arange(80) // 2)
    monkeypatch.setattr("deciban.ensemble.refitting.MAX_ROWS", 79)
    for model in (grouped, BayesClassifier().fit(X, y), BayesClassifier(max_rows=50).fit(X, y)):
        assert isinstance(model.model_.held_out, HeldOutRows)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_coverage_of_each_class_holds_per_class(kind):
    X, y = table(1_500, seed=3)
    new, truth = table(6_000, seed=4)
    model = kind().fit(X, y)
    rare = truth == "c"
    all_rows = held_by(model.predict_set(new, 0.9), model, truth)
    assert all_rows[rare].mean() < 0.75
    by_class = held_by(model.predict_set(new, 0.9, per_class=True), model, truth)
    weights = model.model_.counts.weight
    for label, rows in zip(model.classes_, weights, strict=True):
        own = truth == label
        n_scored = rows / 2 if kind is AODE else rows  # of AODE, every second row
        assert not too_far(by_class[own].sum(), own.sum(), n_scored, 0.9), label


def test_leave_one_out_sets_are_those_of_full_conformal_prediction():
    """Full conformal prediction adds the row with each class to the training rows."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    X = np.array(list("uvw"))[np.where(rng.random((3, 80)) < 0.5, y, rng.integers(0, 3, (3, 80)))]
    rows = [dict(zip("abc", row, strict=True)) for row in X.T]
    model = NaiveBayes().fit(rows[:60], y[:60])
    p_values = model.model_.left_out.conformity.p_values(model.predict_log_proba(rows[60:]))
    full = np.empty_like(p_values)
    for i, row in enumerate(rows[60:]):
        for c in (0, 1):
            more, labels = [*rows[:60], row], [*y[:60], c]
            scores = NaiveBayes().fit(more, labels).leave_one_out(more, labels)
            own = scores[np.arange(61), labels]
            full[i, c] = np.mean(own <= own[-1])
    small = (p_values < 0.3) | (full < 0.3)
    assert small.sum() >= 20
    assert np.abs(p_values - full)[small].max() < 0.1
    assert np.mean((p_values > 0.1) == (full > 0.1)) >= 0.95


def test_no_set_is_empty_and_each_has_the_answer():
    X, y = table(400, seed=6)
    model = NaiveBayes().fit(X, y)
    new, _ = table(500, seed=7)
    for per_class in (False, True):
        sets = model.predict_set(new, 0.05, per_class)
        assert np.all(sets.sum(axis=1) >= 1)
        assert np.all(held_by(sets, model, model.predict(new)))


def test_sets_grow_with_the_coverage():
    X, y = table(400, seed=6)
    model = NaiveBayes().fit(X, y)
    each = [model.predict_set(X, coverage) for coverage in (0.5, 0.8, 0.9, 0.99)]
    for smaller, larger in pairwise(each):
        assert np.all(smaller <= larger)


@pytest.mark.parametrize(("n", "excluded"), [(8, False), (9, True)])
def test_nine_rows_are_the_fewest_that_exclude_a_class_at_nine_tenths(n, excluded):
    log = np.log(np.tile([0.8, 0.2], (n, 1)))
    scores = ConformityScores.of(ABC[:2], log, np.zeros(n, dtype=np.intp), np.ones(n))
    assert scores.sets(np.log([[0.9, 0.1]]), 0.9)[0, 1] != excluded


def test_too_few_rows_exclude_nothing():
    model = NaiveBayes().fit({"x": list("SSSLLL")}, list("aaabbb"))
    assert model.predict_set({"x": ["S"]}, 0.9).all()
    wide = NaiveBayes().partial_fit({"x": list("SL") * 30}, list("ab") * 30, classes=list("abz"))
    assert wide.predict_set({"x": ["S"]}, 0.9, per_class=True)[0].tolist() == [True, False, True]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_weight_is_as_many_copies(kind):
    X, y = table(200, seed=8)
    twice = {name: np.repeat(column, 2) for name, column in X.items()}
    a = kind().fit(X, y, sample_weight=np.full(200, 2.0)).model_.left_out.conformity
    b = kind().fit(twice, np.repeat(y, 2)).model_.left_out.conformity
    log = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 50))
    np.testing.assert_allclose(a.p_values(log), b.p_values(log), atol=1e-9)
    assert a.rows == b.rows == pytest.approx(400)


def test_rows_of_a_sample_stand_for_all_rows():
    X, y = table(25_000, seed=27)
    scores = NaiveBayes().fit(X, y).model_.left_out.conformity
    assert scores.rows == 20_000
    assert sum(group.weight.sum() for group in scores.by_class) == pytest.approx(25_000)


def test_the_order_of_rows_does_not_show():
    X, y = table(500, seed=9)
    order = np.random.default_rng(0).permutation(500)
    weight = np.random.default_rng(1).random(500)
    a = NaiveBayes().fit(X, y, sample_weight=weight).model_.left_out.conformity
    mixed = {name: column[order] for name, column in X.items()}
    b = NaiveBayes().fit(mixed, y[order], sample_weight=weight[order]).model_.left_out.conformity
    for mine, theirs in zip(a.by_class, b.by_class, strict=True):
        np.testing.assert_allclose(mine.score, theirs.score, rtol=1e-9)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, "0.9", True, float("nan"), None])
def test_a_coverage_is_between_nothing_and_all(coverage):
    X, y = table(50, seed=10)
    with pytest.raises(ParameterError, match=r"coverage must be a number between 0 and 1.*Hint"):
        NaiveBayes().fit(X, y).predict_set(X, coverage)


def test_without_scores_it_is_said_what_to_do():
    X, y = table(50, seed=10)
    for model in (NaiveBayes(calibrate=False), AODE(calibrate=False, smoothing=1.0)):
        with pytest.raises(InputError, match=r"no scores of left-out rows.*calibrate_sets"):
            model.fit(X, y).predict_set(X)
    recalibrated = NaiveBayes(calibrate=False).fit(X, y).recalibrate(X, y)
    assert recalibrated.predict_set(X).shape == (50, 3)
    with pytest.raises(InputError, match=r"keeps no scores.*models of this package"):
        evaluate(OtherRegression().fit(X["x"][:, None], y), X["x"][:, None], y, coverage=0.9)
    forgetful = GaussianNB().fit(X["x"][:, None], y).forget(X["x"][:1, None], y[:1])
    with pytest.raises(InputError, match=r"this GaussianNB has no scores"):
        evaluate(forgetful, X["x"][:, None], y, coverage=0.9)


# ---------------------------------------------------------------------- rows held out


@pytest.mark.parametrize("kind", [*KINDS, LogisticRegression], ids=lambda kind: kind.__name__)
def test_rows_that_were_held_out_give_split_conformal_sets(kind, tmp_path):
    X, y = table(1_200, seed=11)
    numbers = np.column_stack([X["x"], X["letter"] == "a", X["letter"] == "b"]).astype(float)
    model = kind().fit(numbers[:400], y[:400])
    model.calibrate_sets(numbers[400:], y[400:])
    new, truth = table(3_000, seed=12)
    new = np.column_stack([new["x"], new["letter"] == "a", new["letter"] == "b"]).astype(float)
    sets = model.predict_set(new, 0.9)
    assert not too_far(held_by(sets, model, truth).sum(), 3_000, 800, 0.9)
    model.save(tmp_path / "m.deciban")
    assert np.array_equal(load(tmp_path / "m.deciban").predict_set(new, 0.9), sets)


def test_held_out_rows_are_checked():
    X, y = [[-1.0], [1.0]], ["a", "b"]
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError):
        model.calibrate_sets(X, ["a"])
    with pytest.raises(InputError, match="z"):
        model.calibrate_sets(X, ["a", "z"])


def test_other_coefficients_need_other_scores():
    X, y = [[-1.0], [1.0]] * 20, ["a", "b"] * 20
    model = LogisticRegression().fit(X, y).calibrate_sets(X, y)
    assert model.predict_set(X).shape == (40, 2)
    held_out = model.model_.left_out
    assert model.partial_fit(X, y).model_.left_out is not held_out


# ---------------------------------------------------------------------- learning on


@pytest.mark.parametrize("kind", [NaiveBayes, AODE], ids=lambda kind: kind.__name__)
def test_more_rows_add_their_scores_and_classes_come_in_order(kind):
    X, y = table(300, seed=13)
    some = {name: column[y != "b"] for name, column in X.items()}
    model = kind().fit(some, y[y != "b"])
    more, labels = table(300, seed=14)
    model.partial_fit(more, labels)
    scores = model.model_.left_out.conformity
    assert scores.classes.tolist() == model.classes_.tolist()
    assert scores.rows == np.sum(y != "b") + 300
    rows = dict(zip(scores.classes.tolist(), (g.rows for g in scores.by_class), strict=True))
    assert rows["b"] == np.sum(labels == "b")
    new, truth = table(3_000, seed=15)
    assert held_by(model.predict_set(new, 0.9), model, truth[:]).mean() > 0.87


@pytest.mark.parametrize("kind", [NaiveBayes, AODE], ids=lambda kind: kind.__name__)
def test_models_that_are_merged_pool_their_scores(kind):
    bins = {} if kind is NaiveBayes else {"bins": {"x": [0.0, 1.0, 2.0]}}
    (X, y), (Z, w) = table(300, seed=16), table(200, seed=17)
    a, b = kind(**bins).fit(X, y), kind(**bins).fit(Z, w)
    both = (a + b).model_.left_out.conformity
    log = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 20))
    left, right = a.model_.left_out.conformity, b.model_.left_out.conformity
    expected = (301 * left.p_values(log) + 201 * right.p_values(log) - 1) / 501
    np.testing.assert_allclose(both.p_values(log), expected)


def test_what_is_forgotten_leaves_scores_that_weigh_less():
    X, y = table(400, seed=18)
    model = NaiveBayes().fit(X, y)
    gone = {name: column[y == "c"] for name, column in X.items()}
    model.forget(gone, y[y == "c"])
    scores = model.model_.left_out.conformity
    assert model.classes_.tolist() == scores.classes.tolist() == ["a", "b"]
    assert scores.rows == pytest.approx(np.sum(y != "c") ** 2 / 400)
    assert model.predict_set(X, 0.9).shape == (400, 2)
    half = NaiveBayes().fit(X, y).decay(0.5).model_.left_out.conformity
    assert half.rows == pytest.approx(200)


def test_a_failed_update_leaves_the_scores():
    X, y = table(100, seed=19)
    model = NaiveBayes().fit(X, y)
    before = model.predict_set(X)
    with pytest.raises(InputError):
        model.partial_fit({"x": [np.inf], "letter": ["a"]}, ["a"])
    assert np.array_equal(model.predict_set(X), before)
