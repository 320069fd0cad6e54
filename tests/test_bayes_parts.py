"""The parts of BayesClassifier: each against arithmetic by hand or a peer."""

from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from deciban import BayesClassifier, NaiveBayes
from deciban.ensemble import (
    base_learners,
    evidence_weights,
    features,
    linear,
    stacking,
)
from deciban.ensemble.logits import log_losses, mean_log_loss, prior_logits, to_logits, to_scores
from deciban.ensemble.training_table import TrainingTable, deal, split
from deciban.ensemble.trees import RULES_BY_MIN_ROWS, Forest
from deciban.kernels import boosting
from deciban.kernels.team import Team
from deciban.models.calibration import usual_discount
from deciban.progress import Progress, should_show
from deciban.sources.labelled import LabelledBatch
from deciban.sources.row_keys import row_keys


def counted(X, y):
    """The counts of a table, its rows, and their codes."""
    m = NaiveBayes(calibrate=False).fit(X, y)
    part = LabelledBatch.concatenate(list(m._rows(X, y).labelled_batches()))
    return m, part, part.codes_among(m.classes_)


def test_evidence_leaves_each_row_out():
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=30), "c": rng.choice(list("ab"), 30), "k": rng.integers(0, 3, 30)}
    m, part, y = counted(X, rng.integers(0, 3, 30))
    said = evidence_weights.leave_one_out(m.model_, part.batch, y, np.ones(30))
    whole = m.model_.leave_one_out(part.batch, y, np.ones(30))[1]
    np.testing.assert_allclose(
        said.sum(axis=1), whole - whole.mean(axis=1, keepdims=True), atol=1e-9
    )
    assert said.shape[1] == len(evidence_weights.evidence_columns(m.model_))


def test_evidence_of_one_column_is_at_most_fifteen_nats():
    y = np.arange(600) % 2
    X = {"x": 100.0 * y + np.arange(600) % 7}
    m = NaiveBayes(numeric="gaussian", method="ml", calibrate=False).fit(X, y)
    batch = next(iter(m._rows(X, y).labelled_batches())).batch
    assert np.abs(evidence_weights.evidence(m.model_, batch)).max() == 15.0


def test_weights_are_the_optimum():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 80)
    E = rng.normal(size=(80, 4, 3)) + np.eye(3)[y][:, None, :]
    w = rng.uniform(0.5, 2, 80)
    fitted = evidence_weights.fit(E, y, w)
    usual = usual_discount(w.sum(), 4, 3)
    assert usual < 0.5
    prior = prior_logits(y, w, 3)
    penalty = np.array([3.0 * (0.5 / usual) ** 2] * 4 + [1.0] * 3)
    centre = np.array([usual] * 4 + prior.tolist())

    def objective(at):
        logits = evidence_weights.logits(at, E)
        return w @ log_losses(logits, y) + 0.5 * penalty @ (at - centre) ** 2

    best = minimize(objective, centre, method="BFGS")
    np.testing.assert_allclose(objective(fitted), best.fun, rtol=1e-6)
    np.testing.assert_allclose(fitted[:4], best.x[:4], atol=1e-2)


def test_without_rows_to_speak_of_evidence_is_worth_what_is_usual():
    E, y = np.zeros((4, 6, 2)), np.array([0, 0, 0, 1])
    few = evidence_weights.fit(E, y, np.ones(4))
    np.testing.assert_allclose(few[:6], usual_discount(4.0, 6, 2))
    np.testing.assert_allclose(few[6:], prior_logits(y, np.ones(4), 2), atol=0.2)
    many = evidence_weights.fit(E, y, np.full(4, 1e4))
    np.testing.assert_allclose(many[:6], 0.5)


def test_the_linear_term_finds_a_plane_and_ignores_noise():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(300, 5))
    y = (Z @ [2.0, -1, 0, 0, 0] + rng.logistic(size=300) > 0).astype(np.intp)
    splits = split(np.arange(300) % 5)
    start = [np.tile(prior_logits(y, np.ones(300), 2), (300, 1))] * len(splits)
    plane = linear.fit(Z, y, np.ones(300), splits, start)
    slope = plane.coef[:-1, 1] - plane.coef[:-1, 0]
    np.testing.assert_allclose(slope, [2.0, -1, 0, 0, 0], atol=0.5)
    noise = linear.fit(Z, rng.permutation(y), np.ones(300), splits, start)
    assert noise.penalty >= 100
    assert mean_log_loss(plane.held_out, y, np.ones(300)) < 0.5


def test_no_fold_begins_where_another_ended():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(90, 4))
    y = (Z[:, 0] + rng.logistic(size=90) > 0).astype(np.intp)
    splits, start = split(np.arange(90) % 3), [np.zeros((90, 2))] * 3
    first = linear.fit(Z, y, np.ones(90), splits[:1], start[:1])
    fits = [
        linear.fit(Z, y, np.ones(90), splits, start, replace(first, penalty=0.03, by_fold=(W,)))
        for W in (first.by_fold[0], np.full((5, 1), 9.0))
    ]
    for one, other in zip(fits[0].by_fold[1:], fits[1].by_fold[1:], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("rows", "columns", "fitted"),
    [(101, 2, True), (100, 2, False), (1000, 2, True), (1001, 2, False), (400, 80, False)],
)
def test_a_plain_logistic_regression_is_for_few_rows_and_fewer_coefficients(rows, columns, fitted):
    rng = np.random.default_rng(4)
    m, part, _ = counted(rng.normal(size=(rows, columns)), np.arange(rows) % 2)
    table = TrainingTable.of(m.model_, part, seed=0)
    assert ("logistic" in base_learners.usual_learners(table)) == fitted


@pytest.mark.parametrize(
    ("losses", "patience", "clear", "best", "n_fits"),
    [
        ([5, 4, 3, 2], 1, np.inf, 3, 4),
        ([5, 6, 3, 2], 1, np.inf, 0, 2),
        ([5, 6, 3, 4], 2, np.inf, 2, 4),
        ([5, 6, 3, 4], 2, 1.0, 2, 4),
        ([5, 6, 3, 4], 2, 0.9, 0, 2),
        ([5, 5, 5, 1], 2, np.inf, 0, 3),
        ([9, 8, 1, 1], 2, np.inf, None, 2),
    ],
)
def test_the_penalty_of_least_held_out_loss_is_selected(losses, patience, clear, best, n_fits):
    penalties, fits = [8.0, 4.0, 2.0, 1.0], []

    def refit(penalty, before):
        assert before == (penalties[len(fits) - 1] if fits else "zero")  # a warm start
        fits.append(penalty)
        return penalty

    def held_out_loss(fit):
        return losses[penalties.index(fit)]

    selected, fit = linear.select_penalty(
        penalties, refit, held_out_loss, "zero", 7, patience, clear_loss=clear
    )
    assert len(fits) == n_fits
    expected = (np.inf, 7) if best is None else (penalties[best], losses[best])
    assert selected == expected
    assert fit == ("zero" if best is None else penalties[best])


def test_scores_of_two_classes():
    scores = np.array([[0.3], [-2.0]])
    np.testing.assert_allclose(to_scores(to_logits(scores)), scores)


def test_shares_prefer_what_is_right_and_are_equal_without_rows():
    y = np.arange(200) % 2
    right, wrong = np.eye(2)[y] * 2, -np.eye(2)[y] * 2
    share = stacking.simplex_weights([right, wrong], y, np.ones(200))
    assert share[0] > 0.9
    assert share.sum() == pytest.approx(1.0)
    assert stacking.simplex_weights([right, wrong], y, np.full(200, 1e-9)) == pytest.approx(
        [0.5, 0.5], abs=1e-3
    )


def test_weights_begin_at_what_is_usual_for_so_many_rows():
    zero = np.zeros((8, 2))
    learners = [
        base_learners.BaseLearner(name, "", None, zero)
        for name in ("linear", "products", "trees", "pairs")
    ]
    few, many = (base_learners.usual_weights(learners, n) for n in (10.0, 1e6))
    half = np.array([10 / (10 + rows) for rows in (10.0, 100.0, 30.0, 0.0)])
    np.testing.assert_allclose(few, half / half.sum())
    np.testing.assert_allclose(many, 0.25, atol=1e-4)
    usual = np.array([0.4, 0.1, 0.2, 0.3])
    weights = stacking.simplex_weights([zero] * 4, np.arange(8) % 2, np.ones(8), usual)
    np.testing.assert_allclose(weights, usual, atol=1e-6)


def test_folds_deal_out_every_class():
    y = np.repeat([0, 1, 2], [50, 11, 2])
    dealt = deal(np.arange(63, dtype=np.uint64), y, np.ones(63), 7)
    assert sorted(dealt.rows.tolist()) == list(range(63))
    assert sorted(np.bincount(dealt.fold[y[dealt.rows] == 1]).tolist()) == [2, 2, 2, 2, 3]
    other = deal(np.arange(63, dtype=np.uint64), y, np.ones(63), 8)
    assert (dealt.fold[np.argsort(dealt.rows)] != other.fold[np.argsort(other.rows)]).any()
    assert split(np.zeros(1, dtype=np.intp)) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(1, 7)), min_size=1))
def test_copies_are_dealt_out_like_weights(rows):
    key, y, times = np.array(rows).T
    dealt = deal(key.astype(np.uint64), y, times.astype(float), 0)
    copies = deal(key.repeat(times).astype(np.uint64), y.repeat(times), np.ones(sum(times)), 0)
    np.testing.assert_array_equal(dealt.weight, copies.weight)
    np.testing.assert_array_equal(dealt.fold, copies.fold)
    np.testing.assert_array_equal(key[dealt.rows], key.repeat(times)[copies.rows])
    assert np.ptp(np.bincount(dealt.fold, dealt.weight, 5)) <= 1
    assert dealt.weight.sum() == sum(times)


def test_no_row_is_lost_beside_one_of_great_weight():
    weight = np.array([1e17, 1, 1, 1e300])
    dealt = deal(np.arange(4, dtype=np.uint64), np.array([0, 0, 1, 1]), weight, 0)
    np.testing.assert_allclose(np.bincount(dealt.rows, dealt.weight), weight)


def test_keys_tell_rows_apart_by_what_they_hold():
    X = {"a": [1.0, 1.0, None, 0.0, -0.0], "b": list("xyxxx"), "t": ["one two"] * 4 + ["two one"]}
    kinds = {"a": "numeric", "b": "categorical", "t": "text"}

    def found(order):
        rows = {name: [values[i] for i in order] for name, values in X.items()}
        m = NaiveBayes(kinds=kinds).fit(rows, [0] * len(order))
        batch = next(iter(m._rows(rows).batches()))
        return row_keys(batch)

    there, back = found(range(5)), found(range(4, -1, -1))
    np.testing.assert_array_equal(there, back[::-1])
    assert len(set(there.tolist())) == 5
    assert found([0, 0, 1])[0] == found([0, 0, 1])[1]


def test_columns_on_a_common_scale():
    rng = np.random.default_rng(3)
    X = {"x": rng.normal(5, 3, 200), "c": rng.choice(list("abb"), 200)}
    m, part, _ = counted(X, rng.integers(0, 2, 200))
    numbers, codes = m.model_.columns(part.batch)
    columns = features.fit(m.counts_, numbers, np.ones(200))
    Z = columns.linear(numbers, codes)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z[:, 0].std(), 1)
    cells = columns.cells(np.array([[np.nan], [-1e9], [1e9]]), np.array([[-1], [0], [9]]))
    none = features.UNKNOWN_CELL
    assert cells.tolist() == [[none, none], [0, cells[1, 1]], [62, none]]
    holed = replace(columns, has_missing=np.array([True, True]))
    cells = holed.cells(np.array([[np.nan], [0.0]]), np.array([[-1], [9]]))
    assert cells.tolist() == [[63, 2], [cells[1, 0], none]]
    beyond = columns.linear(np.array([[1e9], [numbers.max()]]), np.array([[-1], [-1]]))
    assert beyond[0].tolist() == beyond[1].tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_rows", "n_parts"), [(40, 6), (6, 40)])
def test_steps_of_evidence_weights_are_newtons(n_classes, n_rows, n_parts):
    rng = np.random.default_rng(8)
    E = evidence_weights._bound(rng.normal(size=(n_rows, n_parts, n_classes)))
    y, weight = np.arange(n_rows) % n_classes, rng.uniform(0.5, 2, n_rows)
    objective = evidence_weights.WeightObjective(E, y, weight)
    point = objective.at(objective.centre + rng.normal(size=n_parts + n_classes) / 5)
    eye = 1e-5 * np.eye(len(point.W))
    around = [(objective.at(point.W + e), objective.at(point.W - e)) for e in eye]
    slopes = [(a.value - b.value) / 2e-5 for a, b in around]
    hessian = np.array([(a.gradient - b.gradient) / 2e-5 for a, b in around])
    np.testing.assert_allclose(point.gradient, slopes, atol=1e-6)
    np.testing.assert_allclose(hessian @ point.direction, -point.gradient, atol=1e-6)


# ---------------------------------------------------------------------- trees

RULES = (*RULES_BY_MIN_ROWS[0][:2], 0.1, 3.0, 1.0, 3.0, 5.0, 3.0, 50.0, 2.5, 100, 20, 0.0, 0.0)


def grown(X, y, n_classes, sizes, ordered, team=None, min_gain=0.0):
    """Trees learned from even rows, stopped by odd ones."""
    X, y = X.astype(np.uint8), y.astype(np.intp)
    sides = [(np.ascontiguousarray(X[s::2]), y[s::2].copy(), np.ones(len(y[s::2]))) for s in (0, 1)]
    column, left, value, losses_ = boosting.boost(
        *sides[0], *sides[1], np.zeros(n_classes),
        np.array(sizes, dtype=np.intp), np.array(ordered, dtype=np.uint8), *RULES[:-2],
        min_gain, RULES[-1], X.shape[1], team,
    )  # fmt: skip
    return Forest(column, left, value), losses_, sides


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ordered", [0, 1])
def test_trees_learn_what_columns_say_together(n_classes, ordered):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 6, (600, 3))
    y = ((X[:, 0] > 2).astype(int) ^ (X[:, 1] > 2)) * (n_classes - 1)
    forest, found, sides = grown(X, y, n_classes, [5, 6, 6], [1, ordered, 1])
    assert found.min() < 0.1 * found[0]
    logits = np.zeros((300, n_classes))
    forest.add(sides[1][0], logits)
    assert log_losses(logits, sides[1][1]).sum() == pytest.approx(found.min(), rel=1e-9)
    said = np.zeros((300, 3, n_classes))
    forest.add_contributions(sides[1][0], said)
    np.testing.assert_allclose(said.sum(axis=1) + forest.constants(n_classes), logits, atol=1e-12)
    assert np.abs(said[:, 2]).mean() < 0.2 * np.abs(said[:, 0]).mean()


def test_rounds_of_little_gain_end_a_forest():
    y = np.repeat([0, 1], 200)
    X = y[:, None] * np.ones((1, 1))
    every, losses_, _ = grown(X, y, 2, [2], [1])
    fewer, others, _ = grown(X, y, 2, [2], [1], min_gain=1.0)
    np.testing.assert_array_equal(others, losses_[: len(others)])
    assert len(fewer) < len(every)
    assert losses_[len(fewer)] - losses_[len(others) - 1] <= 1.0


def test_the_first_step_is_newtons():
    X = np.zeros((40, 1))
    X[20:] = 1
    y = np.repeat([0, 1], 20)
    forest, _, _ = grown(X, y, 2, [2], [1])
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


def test_the_leaf_that_gains_most_is_split_next(monkeypatch):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 6, (800, 3))
    y = (X[:, 0] > 2) & ((X[:, 1] > 2) | (X[:, 2] > 4))
    whole, _, _ = grown(X, y, 2, [6] * 3, [1] * 3)
    for n_leaves in (1, 2, 3, 5):
        monkeypatch.setitem(globals(), "RULES", (RULES[0], n_leaves, *RULES[2:]))
        forest, _, _ = grown(X, y, 2, [6] * 3, [1] * 3)
        n_splits = np.sum(forest.column >= 0, axis=1)
        assert np.all(n_splits <= n_leaves - 1)
        if n_leaves > 1:
            # The first tree is a part of the whole one, and its gain as large as it can be.
            split = forest.column[0] >= 0
            np.testing.assert_array_equal(forest.column[0][split], whole.column[0][split])
        if n_leaves == 3:
            assert forest.column[0, :3].tolist() == [0, -1, 1]


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("n_helpers", [1, 3])
def test_trees_are_the_same_whoever_helps(n_classes, n_helpers):
    X, y, _ = many_classes(20_000, n_classes)
    alone, losses_, _ = grown(X, y, n_classes, [10] * 4, [1] * 4)
    team = Team(n_helpers)  # one place too few: who comes last may go
    helpers = [Thread(target=team.help) for _ in range(n_helpers)]
    for helper in helpers:
        helper.start()
    together, others, _ = grown(X, y, n_classes, [10] * 4, [1] * 4, team)
    team.dismiss()
    for helper in helpers:
        helper.join()
    team.help()  # too late: it returns at once
    np.testing.assert_array_equal(others, losses_)
    np.testing.assert_array_equal(together.column, alone.column)
    np.testing.assert_array_equal(together.value, alone.value)


def test_no_step_is_larger_than_is_allowed():
    X = np.zeros((40_000, 1))
    X[:40] = 1
    y = np.repeat([1, 0], [40, 39_960])
    team, offset = None, np.array([0.0, -30.0])
    sides = [(np.ascontiguousarray(X.astype(np.uint8)), y.astype(np.intp), np.ones(len(y)))] * 2
    sizes, ordered = np.array([2], dtype=np.intp), np.ones(1, dtype=np.uint8)
    _, _, value, _ = boosting.boost(*sides[0], *sides[1], offset, sizes, ordered, *RULES, 1, team)
    # Forty rows that are surely wrong have no curvature: Newton would go forty nats at once.
    rate, max_step = RULES[2:4]
    assert np.abs(value[0]).max() == pytest.approx(rate * max_step)


def test_noise_grows_no_trees():
    rng = np.random.default_rng(5)
    forest, _, _ = grown(rng.integers(0, 4, (200, 2)), rng.integers(0, 2, 200), 2, [4, 4], [1, 0])
    assert len(forest.value) <= 8


# ---------------------------------------------------------------------- progress


def test_a_bar_is_shown_only_where_it_is_wanted(monkeypatch):
    assert should_show(True)
    assert not should_show(False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert should_show("auto")


def test_the_bar_counts_steps(monkeypatch, capsys):
    monkeypatch.setattr("deciban.progress.DELAY_SECONDS", 0.0)
    with Progress("learning", 2, shown=True) as progress:
        progress._timer.join()
        progress.add()
        progress.add()
    assert progress.done == 2
    assert progress._bar is not None
    assert progress._bar.bar.finished


def many_classes(n=6000, n_classes=5):
    """Classes that two columns decide together, but for a tenth of the rows."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 10, (n, 4))
    y = np.where(
        rng.random(n) < 0.1, rng.integers(0, n_classes, n), (X[:, 0] + X[:, 1]) % n_classes
    )
    return X, y, n_classes


def test_trees_of_sampled_rows_are_as_good_and_the_same_each_time(monkeypatch):
    X, y, n_classes = many_classes()
    sizes, ordered = [10] * 4, [0] * 4
    forest, every, _ = grown(X, y, n_classes, sizes, ordered)
    monkeypatch.setitem(globals(), "RULES", (*RULES[:-1], 0.5))
    sampled, some, _ = grown(X, y, n_classes, sizes, ordered)
    again, _, _ = grown(X, y, n_classes, sizes, ordered)
    assert some.min() < 1.05 * every.min()
    assert not np.array_equal(sampled.value[:3], forest.value[:3])
    np.testing.assert_array_equal(again.value, sampled.value)


def test_the_first_fold_is_not_fitted_twice():
    X, y, _ = many_classes()
    m, part, _ = counted({f"x{j}": X[:, j].astype(float) for j in range(4)}, y)
    table = TrainingTable.of(m.model_, part, seed=0)
    first = table.in_first_fold()
    assert len(first.splits) == 1
    steps = []
    for fit in (
        base_learners.fit_linear,
        base_learners.fit_products,
        lambda table, begun=base_learners.NOTHING_FITTED: base_learners.fit_trees(
            table, lambda: steps.append(1), begun
        ),
    ):
        begun = fit(first)
        whole = fit(table, begun.by_fold)
        _, held = table.splits[0]
        np.testing.assert_array_equal(whole.held_out[held], begun.held_out[held])
        at_once = fit(table)
        loss, other = (
            mean_log_loss(learner.held_out, table.y, table.weight) for learner in (whole, at_once)
        )
        assert loss == pytest.approx(other, rel=0.02)
    assert len(steps) == 1 + 4 + 5


@pytest.mark.parametrize("step", [1, 2, 5, 10])
def test_some_rows_of_a_table_are_in_all_of_its_folds(step):
    X, y, _ = many_classes(6_000)
    m, part, _ = counted({f"x{j}": X[:, j].astype(float) for j in range(4)}, y)
    whole = TrainingTable.of(m.model_, part, seed=0)
    table = replace(whole, splits=whole.splits[:3])
    rows = table.spaced_rows(-(-len(table.y) // step))
    sample = table.take(rows)
    np.testing.assert_array_equal(sample.y, table.y[rows])
    assert len(rows) == pytest.approx(len(table.y) / step, abs=4)
    for (inside, held), (inside_whole, held_whole) in zip(sample.splits, table.splits, strict=True):
        assert set(rows[held]) <= set(held_whole)
        assert set(rows[inside]) <= set(inside_whole)
        assert len(inside) + len(held) == len(rows)
        assert len(held) == pytest.approx(len(held_whole) / step, abs=1)


def test_many_rows_are_fitted_in_fewer_folds():
    X, y, _ = many_classes(600)
    m, part, _ = counted({"x": X[:, 0].astype(float)}, y)
    table = TrainingTable.of(m.model_, part, seed=0)
    for rows, n_folds in ((9_000, 5), (11_000, 3), (60_000, 1)):
        heavy = replace(table, weight=table.weight * (rows / table.weight.sum()))
        assert len(heavy.in_enough_folds().splits) == n_folds
    ((inside, held),) = heavy.in_enough_folds().splits
    assert np.sort(np.concatenate([inside, held])).tolist() == list(range(len(table.y)))
    assert set(held) < set(table.splits[0][1])
    assert len(held) == -(-len(table.splits[0][1]) // 2)


def test_pairs_answer_for_held_out_rows_alone():
    X, y, _ = many_classes(600)
    m, part, _ = counted({f"x{j}": X[:, j].astype(float) for j in range(4)}, y)
    table = TrainingTable.of(m.model_, part, seed=0)
    every = base_learners.fit_aode(table, part, 1 << 28)
    one = replace(table, splits=table.splits[:1])
    some = base_learners.fit_aode(one, part, 1 << 28, every.by_fold)
    held = table.splits[0][1]
    np.testing.assert_array_equal(some.held_out[held], every.held_out[held])
    assert not some.held_out[table.splits[0][0]].any()


def test_a_regression_of_some_rows_tells_where_to_begin():
    X, y, _ = many_classes(900)
    m, part, _ = counted({f"x{j}": X[:, j].astype(float) for j in range(4)}, y)
    table = TrainingTable.of(m.model_, part, seed=0)
    few = base_learners.fit_products(table.take(np.arange(0, len(table.y), 3))).by_fold
    begun = base_learners.NOTHING_FITTED._replace(nearby=few.regression)
    near, afresh = base_learners.fit_products(table, begun), base_learners.fit_products(table)
    assert near.by_fold.regression.penalty <= few.regression.penalty
    losses = [mean_log_loss(each.held_out, table.y, table.weight) for each in (near, afresh)]
    assert losses[0] < 1.01 * losses[1]


def test_few_rows_do_not_judge_in_one_fold():
    X, y, _ = many_classes(600)
    m, part, _ = counted({"x": X[:, 0].astype(float)}, y)
    table = TrainingTable.of(m.model_, part, seed=0)
    assert table.in_first_fold() is table


def test_what_the_first_fold_has_no_use_for_is_not_fitted():
    X, y, _ = many_classes()
    model = BayesClassifier(kinds={f"x{j}": "categorical" for j in range(4)})
    model.fit({f"x{j}": X[:, j] for j in range(4)}, y)
    notes = {view.name: (view.share, view.note) for view in model.model_.summary.views}
    assert notes["linear"] == (0.0, "the first fold has no use for it")
    assert notes["trees"][0] > 0.5
    assert model.score({f"x{j}": X[:, j] for j in range(4)}, y) > 0.85
