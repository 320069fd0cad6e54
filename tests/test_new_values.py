"""A value never seen says what leave-one-out says of such values, and else nothing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import AODE, BayesClassifier, NaiveBayes, explanation
from deciban.ensemble.features import UNKNOWN_CELL
from deciban.ensemble.trees import Forest
from deciban.families.alone import categorical_losses
from deciban.families.categorical import CATEGORICAL, CategoricalSettings
from deciban.kernels.discrete import (
    estimate_log_shares,
    leave_out_unseen,
    log_shares,
    log_unseen_shares,
    seen_once,
)
from deciban.naive_bayes import CategoricalNB
from deciban.stats.categories import CATEGORIES
from deciban.stats.table import DenseSum, Table

COUNTED = {"NaiveBayes": NaiveBayes, "AODE": AODE}
#: 90 rows of one class and 10 of the other, whose two columns say something.
LABELS = ["often"] * 90 + ["seldom"] * 10
COLOUR = ["red", "blue", "red"] * 30 + ["blue"] * 10
SIZE = ["S", "M"] * 45 + ["M", "L"] * 5
#: Ten rows more, eight of which have a name that no other has, all of the rarer class.
NAMES = ["Ann", "Bob"] * 45 + ["Ann", "Bob"] + [f"name {i}" for i in range(8)]


def odds(model, **row):
    """How much the columns change the log-odds of the rarer class, in decibans."""
    evidence = model.evidence({name: [value] for name, value in row.items()})[0]
    at = model.classes_.tolist().index("seldom")
    return dict(zip(row, evidence[:, at].tolist(), strict=True))


def table(counts):
    """A table of one column, counts (classes, values)."""
    counts = np.asarray(counts, dtype=float)
    cells = CATEGORIES.encode(["x"], [np.arange(counts.shape[1])])[0]
    return Table(CATEGORIES, cells, counts.sum(axis=1), {"count": DenseSum(counts)})


@pytest.mark.parametrize("make", COUNTED.values(), ids=COUNTED)
@pytest.mark.parametrize("how", [{}, {"calibrate": False}, {"smoothing": 0.1}], ids=str)
def test_it_does_not_speak_for_the_rarer_class(make, how):
    model = make(**how).fit({"colour": COLOUR, "size": SIZE}, LABELS)
    known, new = odds(model, colour="red", size="S"), odds(model, colour="green", size="S")
    assert abs(new["colour"]) < 1e-9
    assert known["colour"] < -1
    both = {"colour": ["green"], "size": ["XXL"]}
    prior = np.exp(model.model_.log_prior)
    np.testing.assert_allclose(model.predict_proba(both)[0], prior, rtol=1e-9)


@pytest.mark.parametrize("make", COUNTED.values(), ids=COUNTED)
def test_beside_other_columns_it_changes_nothing(make):
    model = make().fit({"colour": COLOUR, "size": SIZE}, LABELS)
    alone = make(calibrate=False).fit({"size": SIZE}, LABELS)
    rest = model.predict_proba({"colour": ["green"], "size": ["M"]})
    without = model.predict_proba({"colour": [None], "size": ["M"]})
    np.testing.assert_allclose(rest, without, rtol=1e-9)
    assert odds(model, colour="green", size="M")["size"] == pytest.approx(
        odds(alone, size="M")["size"] * model.model_.discount, rel=1e-9
    )


def test_values_seen_once_say_with_which_class_new_ones_come():
    """8 of the 10 rows of the rarer class: (8 + 2) / (.8 + 2) against (0 + 2) / (7.2 + 2)."""
    model = NaiveBayes(calibrate=False).fit({"name": NAMES}, LABELS)
    want = 10 * math.log10((10 / 2.8) / (2 / 9.2))
    assert odds(model, name="Zoe")["name"] == pytest.approx(want, rel=1e-12)
    aode = AODE(calibrate=False).fit({"name": NAMES, "size": SIZE}, LABELS)
    assert odds(aode, name="Zoe", size=None)["name"] == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("make", COUNTED.values(), ids=COUNTED)
def test_names_that_all_differ_say_nothing(make):
    names = [f"name {i}" for i in range(100)]
    model = make(kinds={"name": "categorical"}, calibrate=False)
    model.fit({"name": names, "size": SIZE}, LABELS)
    assert odds(model, name="Zoe", size=None)["name"] == pytest.approx(0.0, abs=1e-9)
    size = make(calibrate=False).fit({"size": SIZE}, LABELS)
    X = {"name": names, "size": SIZE}
    left, alone = model.leave_one_out(X, LABELS), size.leave_one_out({"size": SIZE}, LABELS)
    np.testing.assert_allclose(left, alone, atol=0.01)


def test_by_hand():
    """Rows 3 and 2; one value of each class has one row; u = 3/5 1/6 + 2/5 1/5."""
    got = np.exp(log_unseen_shares(np.array([3.0, 2.0]), np.array([1.0, 1.0]), 1.0, 3.0))
    level = 3 / 5 / 6 + 2 / 5 / 5
    np.testing.assert_allclose(got, [level * 3 / 3.2, level * 3 / 2.8], rtol=1e-12)


@pytest.mark.parametrize(
    ("pseudo_count", "unseen", "shares"),
    [
        (1.0, "smooth", [3 / 5, 2 / 5, 1 / 5]),
        (0.0, "smooth", [2 / 3, 1 / 3, 1.0]),  # a new value says nothing
        (1.0, "skip", [3 / 5, 2 / 5, 1.0]),
        (-1.0, "smooth", [1.0, 0.0, 1.0]),  # the mode, with lam = 0
        (1.0, "leave_one_out", [3 / 5, 2 / 5, 1 / 5]),
    ],
)
def test_shares_by_hand(pseudo_count, unseen, shares):
    """Two rows of one value, one of another, of a column that has two."""
    count, sizes = np.array([[2.0, 1.0]]), np.array([2.0])
    log = estimate_log_shares(count, np.array([0, 2]), np.array([pseudo_count]), sizes, unseen)
    np.testing.assert_allclose(np.exp(log).ravel(), shares, rtol=1e-15)


def test_nothing_counted_is_all_alike():
    log = log_shares(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[4.0], [0.0]]), 2)
    np.testing.assert_allclose(np.exp(log), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    once = seen_once(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0]]))
    assert once.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_a_value_without_rows_is_new_where_new_values_were_left_out():
    count = np.array([[2.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    about = np.array([0, 3]), np.ones(1), np.array([3.0])
    seen, empty, _, new = estimate_log_shares(count, *about, "leave_one_out")
    assert empty.tolist() == new.tolist()
    assert seen.tolist() == estimate_log_shares(count, *about, "smooth")[0].tolist()


def test_a_row_that_counts_twice_was_no_value_seen_once():
    """Without it, class a has 3 rows and class b 2, and one value of b was seen once."""
    got = leave_out_unseen(
        np.array([5.0, 2.0]), np.array([0.0, 1.0]), np.array([0]), np.array([2.0]), 1.0, 3.0
    )
    want = log_unseen_shares(np.array([3.0, 2.0]), np.array([0.0, 1.0]), 1.0, 3.0)
    np.testing.assert_array_equal(got, [want])


def test_a_class_or_a_column_without_rows_says_nothing():
    alone = log_unseen_shares(np.array([5.0, 0.0]), np.array([5.0, 0.0]), 0.5, 5.0)
    assert alone[0] == alone[1]
    none = log_unseen_shares(np.zeros(3), np.zeros(3), 0.5, 4.0)
    np.testing.assert_allclose(np.exp(none), 1 / 4)
    assert log_unseen_shares(np.zeros(2), np.zeros(2), 1.0, 0.0).tolist() == [0.0, 0.0]


def test_where_smoothing_leaves_nothing_it_says_nothing():
    counts = table([[3, 1, 0], [1, 0, 0]])
    for unseen in ("leave_one_out", "smooth", "skip"):
        how = CategoricalSettings("ml", 1.0, unseen=unseen)
        said = CATEGORICAL.estimate(counts, how).contributions(np.array([[7]]))
        assert said.tolist() == [[[0.0, 0.0]]], unseen
    smoothed = CategoricalSettings("bayes", 1.0, unseen="smooth")
    said = CATEGORICAL.estimate(counts, smoothed).contributions(np.array([[7]]))
    np.testing.assert_allclose(np.exp(said), [[[1 / 7, 1 / 4]]])
    model = NaiveBayes(method="ml", calibrate=False).fit({"size": SIZE}, LABELS)
    joint = model.predict_joint_log_proba({"size": ["XXL"]})
    np.testing.assert_array_equal(joint, [model.model_.log_prior])


def test_a_cell_without_rows_is_a_value_never_seen():
    """Taking the last row of a value away leaves what a table without the value has."""
    less = CATEGORICAL.estimate(table([[5, 1, 0], [2, 0, 0]]), CategoricalSettings("bayes", 1.0))
    new = less.contributions(np.array([[2], [9]]))
    np.testing.assert_array_equal(new[0], new[1])


@pytest.mark.parametrize("unseen", ["leave_one_out", "smooth", "skip"])
def test_a_curve_shows_what_rows_are_told(unseen):
    """Every counted value, by its share of S values; one without rows as a value never seen."""
    counts = table([[5, 1, 0], [2, 0, 0]])
    parameters = CATEGORICAL.estimate(counts, CategoricalSettings("bayes", 1.0, unseen=unseen))
    piece = parameters.curve(0)
    assert len(piece.log_likelihood) == len(piece.values) == 3
    rows = parameters.contributions(np.arange(3)[:, None])[:, 0]
    np.testing.assert_array_equal(piece.log_likelihood, rows)
    np.testing.assert_allclose(np.exp(rows[:2]), [[6 / 9, 3 / 5], [2 / 9, 1 / 5]])
    never = parameters.contributions(np.array([[9]]))[0, 0]
    assert np.array_equal(rows[2], never) == (unseen != "skip")
    assert never.any() == (unseen != "skip")


rows_of_one_column = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz")), min_size=6, max_size=25
)


@pytest.mark.parametrize("make", COUNTED.values(), ids=COUNTED)
@settings(max_examples=40, deadline=None)
@given(rows_of_one_column, st.sampled_from([0.3, 1.0, 4.0]))
def test_a_value_of_one_row_is_judged_as_if_it_had_never_come(make, rows, lam):
    values, y = (list(side) for side in zip(*rows, strict=True))
    how = {"smoothing": lam, "calibrate": False, "kinds": {"v": "categorical"}}
    left = make(**how).fit({"v": values}, y).leave_one_out({"v": values}, y)
    for i, value in enumerate(values):
        if values.count(value) > 1 or y.count(y[i]) == 1:
            continue
        others = [j for j in range(len(y)) if j != i]
        model = make(**how).fit({"v": [values[j] for j in others]}, [y[j] for j in others])
        want = model.predict_log_proba({"v": [value]})[0]
        np.testing.assert_allclose(left[i], want, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(rows_of_one_column, st.sampled_from([0.1, 1.0, 5.0]))
def test_the_loss_of_a_column_alone_is_that_of_leave_one_out(rows, lam):
    values, y = (list(side) for side in zip(*rows, strict=True))
    how = {"smoothing": {"v": lam}, "calibrate": False, "kinds": {"v": "categorical"}}
    model = NaiveBayes(**how).fit({"v": values}, y)
    own = np.searchsorted(model.classes_, y)
    left = model.leave_one_out({"v": values}, y)[np.arange(len(y)), own]
    assert model.choices_["v"].loss == pytest.approx(-left.mean(), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from([0.05, 1.0]),
    st.permutations([0, 1, 2]),
)
def test_the_order_of_classes_and_values_does_not_show(columns, lam, order):
    counts = np.array(columns, dtype=float).T
    total, once = counts.sum(axis=1), seen_once(counts).sum(axis=1)
    said = log_unseen_shares(total, once, lam, counts.shape[1])
    np.testing.assert_allclose(
        log_unseen_shares(total[order], once[order], lam, counts.shape[1]), said[order]
    )
    backwards = counts[:, ::-1]
    np.testing.assert_array_equal(seen_once(backwards), seen_once(counts)[:, ::-1])


def test_bins_that_are_empty_are_no_new_values():
    counts = np.array([[4.0, 1.0], [6.0, 0.0]])
    weight = counts.sum(axis=1)
    column = counts, np.array([0, 2]), np.ones(1), weight
    bins, values = (categorical_losses(*column, new_values=new) for new in (False, True))
    assert bins != pytest.approx(values, rel=1e-3)
    X = {"age": [1.0, 2.0, 3.0, 4.0] * 5 + [1e6]}
    y = list("abab") * 5 + ["a"]
    model = AODE(bins={"age": [2.5, 100.0]}, calibrate=False, smoothing=1).fit(X, y)
    # The last row alone is in its bin, which another class could have had:
    # (0 + lam) / (10 + 1) for both classes, lam = 1/3.
    left = np.exp(model.leave_one_out(X, y)[-1])
    np.testing.assert_allclose(left, [0.5, 0.5], rtol=1e-9)


@pytest.mark.parametrize("make", [NaiveBayes, AODE, BayesClassifier])
def test_all_that_can_be_asked_agrees(make):
    rng = np.random.default_rng(0)
    y = np.array(["often", "seldom"])[(rng.random(120) < 0.3).astype(int)]
    colour = np.where(rng.random(120) < 0.5, "red", y)
    age = rng.normal(size=120).round(2) + (y == "seldom")
    X = {"colour": colour.tolist(), "age": age.tolist()}
    model = make().fit(X, y.tolist())
    new = {"colour": ["green"], "age": [0.5]}
    total = model.evidence(new).sum(axis=1) + model.prior_evidence()
    joint = model.predict_joint_log_proba(new)
    np.testing.assert_allclose(total, explanation.decibans(joint, None), atol=1e-9)
    terms = {t.feature: t.decibans for t in model.explain({"colour": "green", "age": 0.5}).terms}
    winner = model.classes_.tolist().index(model.predict(new)[0])
    assert terms["colour"] == pytest.approx(model.evidence(new)[0, 0, winner], abs=1e-9)
    assert model.novelty(new)[0] < model.novelty({"colour": ["red"], "age": [0.5]})[0]


def test_the_drop_in_can_do_so_too():
    X = [[colour] for colour in COLOUR]
    smooth, new = CategoricalNB().fit(X, LABELS), CategoricalNB(unseen="leave_one_out")
    new.fit(X, LABELS)
    np.testing.assert_allclose(new.predict_proba([["green"]]), [[0.9, 0.1]])
    assert smooth.predict_proba([["green"]])[0, 1] > 0.4
    np.testing.assert_array_equal(new.predict_proba(X), smooth.predict_proba(X))


def test_a_row_of_many_new_values_is_as_finite_as_others():
    rng = np.random.default_rng(1)
    X = {f"x{j}": rng.integers(0, 3, 200).astype(str).tolist() for j in range(120)}
    y = (rng.random(200) < 0.05).astype(int).tolist()
    model = AODE(smoothing=1e-6, calibrate=False).fit(X, y)
    new = {name: ["new" if j % 2 else values[0]] for j, (name, values) in enumerate(X.items())}
    assert np.isfinite(model.predict_joint_log_proba(new)).all()
    assert np.isfinite(model.evidence(new)).all()


def test_a_number_that_one_row_alone_has_says_nothing_of_others():
    nan = float("nan")
    X = {"x": [5.0, nan, nan, nan], "z": ["S", "L", "S", "L"]}
    y = ["a", "b", "b", "b"]
    model = NaiveBayes(numeric="gaussian", missing="skip").fit(X, y)
    known, none = model.predict_proba({"x": [4.0, nan], "z": ["S", "S"]})
    np.testing.assert_allclose(known, none)
    assert np.isfinite(model.leave_one_out(X, y)).all()
    by_group = model.leave_one_out(X, y, groups=[0, 1, 2, 3])
    np.testing.assert_allclose(by_group, model.leave_one_out(X, y))


@pytest.mark.parametrize("learners", ["auto", ["trees"]])
@pytest.mark.parametrize("x", ["never", None])
def test_trees_say_nothing_of_what_training_had_none_of(learners, x):
    rows = {"x": list("ab") * 40 + ["c"] * 20, "n": np.arange(100.0) % 7}
    model = BayesClassifier(learners=learners).fit(rows, list("pq") * 40 + ["q"] * 20)
    new = [{"x": x, "n": float(n)} for n in range(20)]
    assert np.abs(model.predict_proba(new)[:, 0] - 0.4).max() < 0.1
    q_of_b, q_of_a = model.predict_proba([{"x": "b", "n": 3.0}, {"x": "a", "n": 3.0}])[:, 1]
    assert q_of_b > 0.9
    assert q_of_a < 0.1


def test_trees_learn_what_holes_say_where_training_had_some():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = np.where(y & (rng.random(400) < 0.7), None, rng.choice(list("ab"), 400)).tolist()
    model = BayesClassifier(learners=["trees"]).fit({"x": x}, y)
    hole, known = model.predict_proba([{"x": None}, {"x": "a"}])[:, 1]
    assert hole > 0.9
    assert known < 0.4
    assert np.all(model.evidence([{"x": "never"}]) == 0.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_stays_where_a_tree_asks_for_what_is_unknown(n_classes):
    rng = np.random.default_rng(n_classes)
    n_trees, depth, n_columns = 4 * n_classes, 3, 3
    inner = 2**depth - 1
    column = rng.integers(-1, n_columns, (n_trees, inner)).astype(np.int32)
    for node in range(1, inner):  # what hangs on a leaf is none
        column[column[:, (node - 1) // 2] < 0, node] = -1
    left = rng.integers(0, 2**63, (n_trees, inner, 4)).astype(np.uint64)
    value = rng.normal(size=(n_trees, 2 * inner + 1))
    cells = rng.choice([0, 1, 2, 254, UNKNOWN_CELL], (50, n_columns)).astype(np.uint8)

    def node_of(t, row):
        node = 0
        while node < inner and column[t, node] >= 0 and row[column[t, node]] != UNKNOWN_CELL:
            cell = int(row[column[t, node]])
            node = 2 * node + 2 - (int(left[t, node, cell >> 6]) >> (cell & 63) & 1)
        return node

    wanted = np.zeros((50, n_classes))
    for i, row in enumerate(cells):
        for t in range(n_trees):
            wanted[i, 1 if n_classes == 2 else t % n_classes] += value[t, node_of(t, row)]
    forest, out = Forest(column, left, value), np.zeros((50, n_classes))
    forest.add(cells, out)
    np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-12)
    parts = np.zeros((50, n_columns, n_classes))
    forest.add_contributions(cells, parts)
    whole = parts.sum(axis=1) + forest.constants(n_classes)
    np.testing.assert_allclose(whole, wanted, rtol=0, atol=1e-12)
