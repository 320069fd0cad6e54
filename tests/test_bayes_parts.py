"""The parts of BayesClassifier: each against arithmetic by hand or a peer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from deciban import NaiveBayes
from deciban.bayes import evidence, folds, linear, pool
from deciban.bayes.columns import fitted as fitted_columns
from deciban.bayes.margins import all_scores, loss, losses, one_score, prior
from deciban.bayes.trees import DEPTHS, Forest
from deciban.kernels import boosting
from deciban.mixed.parts import joined
from deciban.progress import Progress, wanted


def counted(X, y):
    """The counts of a table, its rows, and their codes."""
    m = NaiveBayes(calibrate=False).fit(X, y)
    part = joined(list(m._rows(X, y).labelled()))
    return m, part, part.codes_among(m.classes_)


def test_evidence_leaves_each_row_out():
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=30), "c": rng.choice(list("ab"), 30), "k": rng.integers(0, 3, 30)}
    m, part, y = counted(X, rng.integers(0, 3, 30))
    said = evidence.left_out(m.model_, part.batch, y, np.ones(30))
    whole = m.model_.left_out(part.batch, y, np.ones(30))[1]
    np.testing.assert_allclose(
        said.sum(axis=1), whole - whole.mean(axis=1, keepdims=True), atol=1e-9
    )
    assert said.shape[1] == len(evidence.names(m.model_))


def test_weights_are_the_optimum():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 80)
    E = rng.normal(size=(80, 4, 3)) + np.eye(3)[y][:, None, :]
    w = rng.uniform(0.5, 2, 80)
    found = evidence.weigh(E, y, w)
    stiff = np.array([evidence.STIFFNESS] * 4 + [evidence.LOOSE] * 3)
    centre = np.array([evidence.CENTRE] * 4 + [0.0] * 3)

    def objective(at):
        return w @ losses(evidence.margins(at, E), y) + 0.5 * stiff @ (at - centre) ** 2

    best = minimize(objective, centre, method="BFGS")
    np.testing.assert_allclose(objective(found), best.fun, rtol=1e-6)
    np.testing.assert_allclose(found[:4], best.x[:4], atol=1e-2)


def test_the_linear_term_finds_a_plane_and_ignores_noise():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(300, 5))
    y = (Z @ [2.0, -1, 0, 0, 0] + rng.logistic(size=300) > 0).astype(np.intp)
    splits = folds.split(np.arange(300) % 5)
    start = [np.tile(prior(y, np.ones(300), 2), (300, 1))] * len(splits)
    found = linear.learn(Z, y, np.ones(300), splits, start)
    slope = found.coefficients[:-1, 1] - found.coefficients[:-1, 0]
    np.testing.assert_allclose(slope, [2.0, -1, 0, 0, 0], atol=0.5)
    noise = linear.learn(Z, rng.permutation(y), np.ones(300), splits, start)
    assert noise.penalty >= 100
    assert loss(found.judged, y, np.ones(300)) < 0.5


def test_scores_of_two_classes():
    scores = np.array([[0.3], [-2.0]])
    np.testing.assert_allclose(one_score(all_scores(scores)), scores)


def test_shares_prefer_what_is_right_and_are_equal_without_rows():
    y = np.arange(200) % 2
    right, wrong = np.eye(2)[y] * 2, -np.eye(2)[y] * 2
    share = pool.shares([right, wrong], y, np.ones(200))
    assert share[0] > 0.9
    assert share.sum() == pytest.approx(1.0)
    assert pool.shares([right, wrong], y, np.full(200, 1e-9)) == pytest.approx([0.5, 0.5], abs=1e-3)


def test_folds_deal_out_every_class():
    y = np.repeat([0, 1, 2], [50, 11, 2])
    dealt = folds.deal(np.arange(63, dtype=np.uint64), y, np.ones(63), 7)
    assert sorted(dealt.rows.tolist()) == list(range(63))
    assert sorted(np.bincount(dealt.fold[y[dealt.rows] == 1]).tolist()) == [2, 2, 2, 2, 3]
    other = folds.deal(np.arange(63, dtype=np.uint64), y, np.ones(63), 8)
    assert (dealt.fold[np.argsort(dealt.rows)] != other.fold[np.argsort(other.rows)]).any()
    assert folds.split(np.zeros(1, dtype=np.intp)) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(1, 7)), min_size=1))
def test_copies_are_dealt_out_like_weights(rows):
    key, y, times = np.array(rows).T
    dealt = folds.deal(key.astype(np.uint64), y, times.astype(float), 0)
    copies = folds.deal(
        key.repeat(times).astype(np.uint64), y.repeat(times), np.ones(sum(times)), 0
    )
    np.testing.assert_array_equal(dealt.weight, copies.weight)
    np.testing.assert_array_equal(dealt.fold, copies.fold)
    np.testing.assert_array_equal(key[dealt.rows], key.repeat(times)[copies.rows])
    assert np.ptp(np.bincount(dealt.fold, dealt.weight, 5)) <= 1
    assert dealt.weight.sum() == sum(times)


def test_no_row_is_lost_beside_one_of_great_weight():
    weight = np.array([1e17, 1, 1, 1e300])
    dealt = folds.deal(np.arange(4, dtype=np.uint64), np.array([0, 0, 1, 1]), weight, 0)
    np.testing.assert_allclose(np.bincount(dealt.rows, dealt.weight), weight)


def test_keys_tell_rows_apart_by_what_they_hold():
    X = {"a": [1.0, 1.0, None, 0.0, -0.0], "b": list("xyxxx"), "t": ["one two"] * 4 + ["two one"]}
    kinds = {"a": "numeric", "b": "categorical", "t": "text"}

    def found(order):
        rows = {name: [values[i] for i in order] for name, values in X.items()}
        m = NaiveBayes(kinds=kinds).fit(rows, [0] * len(order))
        batch = next(iter(m._rows(rows).batches()))
        values = m.counts_.tables["categories"].cells.values
        return folds.keys(*m.model_.columns(batch), values, [batch.columns["t"]])

    there, back = found(range(5)), found(range(4, -1, -1))
    np.testing.assert_array_equal(there, back[::-1])
    assert len(set(there.tolist())) == 5
    assert found([0, 0, 1])[0] == found([0, 0, 1])[1]


def test_columns_on_a_common_scale():
    rng = np.random.default_rng(3)
    X = {"x": rng.normal(5, 3, 200), "c": rng.choice(list("abb"), 200)}
    m, part, _ = counted(X, rng.integers(0, 2, 200))
    numbers, codes = m.model_.columns(part.batch)
    columns = fitted_columns(m.counts_, numbers, np.ones(200))
    Z = columns.linear(numbers, codes)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z[:, 0].std(), 1)
    cells = columns.cells(np.array([[np.nan], [-1e9], [1e9]]), np.array([[-1], [0], [9]]))
    assert cells.tolist() == [[63, 2], [0, cells[1, 1]], [62, 2]]
    beyond = columns.linear(np.array([[1e9], [numbers.max()]]), np.array([[-1], [-1]]))
    assert beyond[0].tolist() == beyond[1].tolist()


# ---------------------------------------------------------------------- trees

RULES = (DEPTHS[0], 0.1, 1.0, 3.0, 5.0, 3.0, 100, 20)


def grown(X, y, n_classes, sizes, ordered):
    """Trees learned from even rows, stopped by odd ones."""
    X, y = X.astype(np.uint8), y.astype(np.intp)
    sides = [(np.ascontiguousarray(X[s::2]), y[s::2].copy(), np.ones(len(y[s::2]))) for s in (0, 1)]
    starts = [np.zeros((len(side[1]), n_classes)) for side in sides]
    column, left, value, losses_ = boosting.boost(
        *sides[0], starts[0], *sides[1], starts[1],
        np.array(sizes, dtype=np.intp), np.array(ordered, dtype=np.uint8), *RULES,
    )  # fmt: skip
    return Forest(column, left, value), losses_, sides, starts


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ordered", [0, 1])
def test_trees_learn_what_columns_say_together(n_classes, ordered):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 6, (600, 3))
    y = ((X[:, 0] > 2).astype(int) ^ (X[:, 1] > 2)) * (n_classes - 1)
    forest, found, sides, _ = grown(X, y, n_classes, [5, 6, 6], [1, ordered, 1])
    assert found.min() < 0.1 * found[0]
    margins = np.zeros((300, n_classes))
    forest.add(sides[1][0], margins)
    assert losses(margins, sides[1][1]).sum() == pytest.approx(found.min(), rel=1e-9)
    said = np.zeros((300, 3, n_classes))
    forest.explain(sides[1][0], said)
    np.testing.assert_allclose(said.sum(axis=1) + forest.constants(n_classes), margins, atol=1e-12)
    assert np.abs(said[:, 2]).mean() < 0.2 * np.abs(said[:, 0]).mean()


def test_the_first_step_is_newtons():
    X = np.zeros((40, 1))
    X[20:] = 1
    y = np.repeat([0, 1], 20)
    forest, _, _, _ = grown(X, y, 2, [2], [1])
    # Ten rows a leaf: slopes sum to 5, curvatures to 2.5, and a tenth of the step is taken.
    np.testing.assert_allclose(sorted(forest.value[0, 1:3]), [-0.5 / 3.5, 0.5 / 3.5])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_common_cells_need_not_be_added_up(monkeypatch, n_classes):
    rng = np.random.default_rng(6)
    X = rng.integers(0, 6, (800, 4)) * (rng.random((800, 4)) < [0.1, 0.5, 0.9, 0.0])
    y = ((X[:, 0] > 2).astype(int) ^ (X[:, 1] > 2) ^ (rng.random(800) < 0.1)) * (n_classes - 1)
    found = []
    for share in (-1.0, 1.0):
        monkeypatch.setattr(boosting, "MAX_RARE_SHARE", share)
        found.append(grown(X, y, n_classes, [5, 6, 6, 2], [1, 0, 1, 0]))
    (all_, losses_, *_), (some, others, *_) = found
    np.testing.assert_allclose(others, losses_, rtol=1e-9)
    np.testing.assert_array_equal(some.column, all_.column)
    np.testing.assert_allclose(some.value, all_.value, atol=1e-9)


def test_noise_grows_no_trees():
    rng = np.random.default_rng(5)
    forest, _, _, _ = grown(
        rng.integers(0, 4, (200, 2)), rng.integers(0, 2, 200), 2, [4, 4], [1, 0]
    )
    assert len(forest.value) <= 8


# ---------------------------------------------------------------------- progress


def test_a_bar_is_shown_only_where_it_is_wanted(monkeypatch):
    assert wanted(True)
    assert not wanted(False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert wanted("auto")


def test_the_bar_counts_steps(monkeypatch, capsys):
    monkeypatch.setattr("deciban.progress.PATIENCE", 0.0)
    with Progress("learning", 2, shown=True) as progress:
        progress._timer.join()
        progress.add()
        progress.add()
    assert progress.done == 2
    assert progress._bar is not None
    assert progress._bar.finished
