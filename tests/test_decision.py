"""Decision theory (M10): loss, risk, answers, abstention, base rates, the price of errors (M6)."""

import doctest
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deciban import decision
from deciban.decision import (
    decide,
    expected_risk,
    loss_matrix,
    overall_risk,
    rebase,
    rebase_log,
    risk,
    threshold,
)
from deciban.errors import DecibanError, MissingValueError, ParameterError, ShapeError

DEAR_MISS = [[0, 5], [1, 0]]  # answering 0 when the truth is 1 costs five times the other error
MAIL = ["ham", "spam"]


# Random posteriors, losses and rates


@st.composite
def posteriors(draw, k=None, rows=(0, 6), least=0):
    k = draw(st.integers(1, 5)) if k is None else k
    size = draw(st.integers(*rows))
    flat = draw(st.lists(st.integers(least, 50), min_size=size * k, max_size=size * k))
    counts = np.array(flat, dtype=np.float64).reshape(size, k)
    counts[counts.sum(axis=1) == 0] = 1
    return counts / counts.sum(axis=1, keepdims=True)


def losses(k):
    row = st.lists(st.integers(-20, 20), min_size=k, max_size=k)
    return st.lists(row, min_size=k, max_size=k).map(lambda m: np.array(m, dtype=np.float64))


def rates(k, least=1):
    counts = st.lists(st.integers(least, 50), min_size=k, max_size=k)
    return counts.filter(any).map(lambda c: np.array(c) / sum(c))


@st.composite
def problems(draw, **kwargs):
    p = draw(posteriors(**kwargs))
    return p, draw(losses(p.shape[1]))


def margin(risks):
    """How far the best answer is ahead of the second, in every row."""
    if risks.shape[1] == 1:
        return np.full(len(risks), np.inf)
    return np.diff(np.sort(risks, axis=1)[:, :2], axis=1).ravel()


# By hand


def test_m10_loss_by_hand():
    p = [[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]]
    np.testing.assert_allclose(risk(p, DEAR_MISS), [[0.5, 0.9], [1.0, 0.8], [2.5, 0.5]])
    assert decide(p, MAIL, DEAR_MISS).tolist() == ["ham", "spam", "spam"]
    assert decide(p, MAIL).tolist() == ["ham", "ham", "ham"]
    assert threshold(DEAR_MISS) == 1 / 6


def test_m10_abstain_by_hand():
    p = [[0.97, 0.03], [0.96, 0.04], [0.9, 0.1], [0.21, 0.79], [0.2, 0.8], [0.0, 1.0]]
    answers = decide(p, MAIL, DEAR_MISS, abstain=0.2)
    assert answers.tolist() == ["ham", "ham", None, None, "spam", "spam"]
    least = [0.15, 0.2, 0.2, 0.2, 0.2, 0.0]
    assert expected_risk(p, DEAR_MISS, abstain=0.2) == pytest.approx(np.mean(least))


def test_m10_worked_example():
    """M4's joints at x = (2, S): -1 is more probable, unless missing a 1 costs twice as much."""
    joint = np.array([7 / 17 * 3 / 9 * 4 / 9, 10 / 17 * 4 / 12 * 2 / 12])
    p = [joint / joint.sum()]
    assert decide(p, [-1, 1]).tolist() == [-1]
    assert decide(p, [-1, 1], {(-1, 1): 2}).tolist() == [1]


def test_m6_accuracy_misleads_when_errors_cost_differently():
    truth = ["ham"] * 95 + ["spam"] * 5
    lazy = ["ham"] * 100
    careful = ["ham"] * 85 + ["spam"] * 15
    assert overall_risk(lazy, truth, MAIL) == 0.05 < overall_risk(careful, truth, MAIL) == 0.10
    paid = [overall_risk(answers, truth, MAIL, DEAR_MISS) for answers in (lazy, careful)]
    assert paid == [0.25, 0.10]


def test_overall_risk_by_hand():
    answers, truth = ["ham", "ham", "spam", None], ["spam", "ham", "ham", "ham"]
    assert overall_risk(answers, truth, MAIL, DEAR_MISS, abstain=0.5) == (5 + 0 + 1 + 0.5) / 4
    weighted = overall_risk(answers, truth, MAIL, DEAR_MISS, abstain=0.5, weights=[1, 0, 2, 1])
    assert weighted == (5 + 2 + 0.5) / 4


def test_rebase_by_hand():
    """A test of 99 % both ways, made on balanced data, for an illness that 1 in 1,000 has."""
    moved = rebase([[0.01, 0.99]], [0.5, 0.5], [0.999, 0.001])
    np.testing.assert_allclose(moved[0, 1], 0.99 * 0.001 / (0.99 * 0.001 + 0.01 * 0.999))


def test_mapping_names_the_exceptions_to_zero_one_loss():
    named = {("b", "a"): 3, ("a", "a"): -1}
    assert loss_matrix(named, ["a", "b", "c"]).tolist() == [[-1, 1, 1], [3, 0, 1], [1, 1, 0]]
    assert loss_matrix({}, range(2)).tolist() == [[0, 1], [1, 0]]


def test_matrices_of_any_number_type():
    for loss in ([[0, 1], [2, 0]], np.array([[0, 1], [2, 0]], np.float32)):
        assert loss_matrix(loss, MAIL).tolist() == [[0, 1], [2, 0]]
    assert loss_matrix([[0, Fraction(1, 2)], [2, 0]], MAIL)[0, 1] == 0.5
    assert loss_matrix([[False, True], [True, False]], MAIL).dtype == np.float64


def test_loss_matrix_is_a_copy_and_inputs_stay_as_they_are():
    loss, p = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.25, 0.75]])
    loss_matrix(loss, MAIL)[0, 0] = 9
    risk(p), risk(p, loss), decide(p, MAIL, loss, 0.1), rebase(p, [0.5, 0.5], [0.1, 0.9])
    assert loss.tolist() == [[0, 1], [1, 0]]
    assert p.tolist() == [[0.25, 0.75]]


# Ties, types and sizes


def test_ties_go_to_the_first_class():
    p = np.array([[3, 6, 8, 8], [4, 4, 2, 1], [3, 4, 4, 2], [7, 4, 2, 7]])
    p = p / p.sum(axis=1, keepdims=True)  # the sums of the others round differently here
    for loss in (None, 1 - np.eye(4), 1 - np.eye(4) + [1000, 0, -77, 3]):
        assert decide(p, list("abcd"), loss).tolist() == ["c", "a", "b", "a"]
    assert decide([[0.5, 0.5]], MAIL, np.zeros((2, 2))).tolist() == ["ham"]


@pytest.mark.parametrize("loss", [None, 1 - np.eye(3)])
@pytest.mark.parametrize("p", [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.7, 0.1]])
def test_a_risk_equal_to_the_cost_is_answered(p, loss):
    """0.2 + 0.1 is 0.30000000000000004, and still no reason to abstain."""
    assert decide([p], list("abc"), loss, abstain=0.3)[0] is not None
    assert decide([p], list("abc"), loss, abstain=0.2999)[0] is None


def test_small_risks_keep_their_digits():
    assert risk([[1.0, 1e-30]])[0].tolist() == [1e-30, 1.0]


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        (["ham", "spam"], np.dtype("<U4")),
        ([0, 1], np.dtype(np.int64)),
        (range(2), np.dtype(np.int64)),
        (np.array([0, 1], np.int8), np.dtype(np.int8)),
        ([False, True], np.dtype(bool)),
        (["1", 1], np.dtype(object)),
        ([("a", 1), ("b", 2)], np.dtype(object)),
    ],
)
def test_answers_have_the_type_of_the_classes(classes, dtype):
    p = [[1.0, 0.0], [0.0, 1.0]]
    answers = decide(p, classes)
    assert answers.dtype == dtype
    assert answers.tolist() == list(classes)
    assert decide(p, classes, abstain=0.5).dtype == object
    assert overall_risk(answers, list(classes), classes) == 0


def test_no_rows():
    p = np.empty((0, 3))
    assert risk(p).shape == risk(p, np.eye(3)).shape == (0, 3)
    assert decide(p, list("abc")).tolist() == decide(p, list("abc"), abstain=0).tolist() == []
    assert rebase(p, [0.5, 0.5, 0], [0, 0, 1]).shape == (0, 3)


def test_one_class():
    assert risk([[1.0]]).tolist() == [[0.0]]
    assert decide([[1.0]], ["only"], abstain=0).tolist() == ["only"]


def test_zero_one_loss_makes_no_matrix_of_classes():
    """A million classes: a square of them would need 8 terabytes."""
    p = np.zeros((2, 1_000_000))
    p[0, 7] = p[1, 999_999] = 1
    assert decide(p, range(1_000_000), abstain=0.1).tolist() == [7, 999_999]
    assert overall_risk([7, 8], [7, 7], range(1_000_000)) == 0.5


# Laws


@given(posteriors())
def test_zero_one_loss_is_argmax(p):
    classes = np.arange(p.shape[1])
    for loss in (None, {}, 1 - np.eye(p.shape[1])):
        np.testing.assert_array_equal(decide(p, classes, loss), p.argmax(axis=1))


@given(posteriors())
def test_zero_one_risk_is_that_of_its_matrix(p):
    np.testing.assert_allclose(risk(p), risk(p, 1 - np.eye(p.shape[1])), rtol=1e-13, atol=1e-15)


@given(problems())
def test_risk_is_the_sum_of_its_definition(problem):
    p, loss = problem
    k = range(p.shape[1])
    brute = [[sum(loss[i][j] * row[j] for j in k) for i in k] for row in p]
    np.testing.assert_allclose(risk(p, loss), np.reshape(brute, p.shape), atol=1e-12)


@given(problems(), st.integers(0, 20) | st.none())
def test_decide_minimises_risk(problem, abstain):
    p, loss = problem
    for row, answer in zip(p, decide(p, range(p.shape[1]), loss, abstain), strict=True):
        risks = [sum(c * q for c, q in zip(costs, row, strict=True)) for costs in loss]
        paid = abstain if answer is None else risks[answer]
        assert paid <= min(risks if abstain is None else [*risks, abstain]) + 1e-8
        assert answer is not None or min(risks) > abstain


@given(problems(), st.data())
def test_a_constant_added_to_a_column_changes_no_answer(problem, data):
    p, loss = problem
    k = p.shape[1]
    shift = data.draw(st.lists(st.integers(-99, 99), min_size=k, max_size=k))
    np.testing.assert_array_equal(decide(p, range(k), loss), decide(p, range(k), loss + shift))


@given(problems(), st.data())
def test_permuted_classes_permute_the_answers(problem, data):
    p, loss = problem
    order = np.array(data.draw(st.permutations(range(p.shape[1]))))
    p = p[margin(risk(p, loss)) > 1e-9]
    permuted = decide(p[:, order], order, loss[np.ix_(order, order)])
    np.testing.assert_array_equal(permuted, decide(p, range(p.shape[1]), loss))


@given(problems())
def test_a_mapping_is_its_matrix(problem):
    p, loss = problem
    classes = [f"class {i}" for i in range(p.shape[1])]
    named = {(a, t): loss[i, j] for i, a in enumerate(classes) for j, t in enumerate(classes)}
    np.testing.assert_array_equal(loss_matrix(named, classes), loss)
    np.testing.assert_array_equal(decide(p, classes, named), decide(p, classes, loss))
    indexed = dict(np.ndenumerate(loss))
    np.testing.assert_array_equal(risk(p, indexed), risk(p, loss))


@given(losses(2), posteriors(k=2))
def test_threshold_is_where_decide_turns(loss, p):
    false_alarm, miss = loss[1, 0] - loss[0, 0], loss[0, 1] - loss[1, 1]
    if false_alarm > 0 and miss > 0:
        t = threshold(loss)
        p = p[np.abs(p[:, 1] - t) > 1e-9]
        assert decide(p, [0, 1], loss).tolist() == (p[:, 1] > t).astype(int).tolist()
    else:
        with pytest.raises(ParameterError, match="no threshold"):
            threshold(loss)
        low, high = decide([[0.999, 0.001], [0.001, 0.999]], [0, 1], loss)
        assert (low, high) != (0, 1)


@pytest.mark.parametrize("loss", [[[0, 1], [0, 0]], [[0, 0], [1, 0]], [[1, 0], [0, 1]]])
def test_no_threshold_when_being_wrong_is_free_or_gains(loss):
    with pytest.raises(ParameterError, match="no threshold"):
        threshold(loss)


@given(problems(rows=(1, 6)), st.integers(0, 20))
def test_abstaining_never_raises_the_expected_risk(problem, abstain):
    p, loss = problem
    least = expected_risk(p, loss, abstain)
    assert least <= min(expected_risk(p, loss), abstain) + 1e-12
    assert expected_risk(p, loss, abstain=1000) == expected_risk(p, loss)


@given(problems(k=3, rows=(1, 1)), st.integers(0, 20) | st.none())
def test_realised_risk_is_expected_risk_when_the_posterior_is_right(problem, abstain):
    """Every truth at its posterior weight: what is paid is what was expected."""
    p, loss = problem
    answers = np.repeat(decide(p, range(3), loss, abstain), 3)
    paid = overall_risk(answers, range(3), range(3), loss, abstain, weights=p[0])
    assert paid == pytest.approx(expected_risk(p, loss, abstain), abs=1e-7)


@given(st.data())
def test_a_weight_of_k_is_k_copies(data):
    pairs = data.draw(st.lists(st.sampled_from([(a, t) for a in (0, 1, None) for t in (0, 1)])))
    weights = [data.draw(st.integers(0, 4)) for _ in pairs]
    assume(sum(weights))
    copies = [pair for pair, k in zip(pairs, weights, strict=True) for _ in range(k)]
    weighed = overall_risk(*zip(*pairs, strict=True), [0, 1], DEAR_MISS, 2, weights)
    copied = overall_risk(*zip(*copies, strict=True), [0, 1], DEAR_MISS, 2)
    assert weighed == pytest.approx(copied)


@given(posteriors(k=3), rates(3), rates(3, least=1))
def test_rebase_there_and_back(p, old, new):
    there = rebase(p, old, new)
    np.testing.assert_allclose(there.sum(axis=1), 1)
    np.testing.assert_allclose(rebase(there, new, old), p, rtol=1e-12)


@given(posteriors(k=3), rates(3))
def test_rebase_to_the_same_rates_changes_nothing(p, old):
    np.testing.assert_allclose(rebase(p, old, old), p, rtol=1e-12)


@given(posteriors(k=3), rates(3), rates(3), rates(3))
def test_rebase_in_two_steps_is_one(p, a, b, c):
    np.testing.assert_allclose(rebase(rebase(p, a, b), b, c), rebase(p, a, c), rtol=1e-12)


@given(posteriors(k=3, least=1), rates(3), rates(3, least=0))
def test_rebase_is_its_formula_in_both_spaces(p, old, new):
    brute = p * new / old
    brute /= brute.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rebase(p, old, new), brute, rtol=1e-12)
    np.testing.assert_allclose(np.exp(rebase_log(np.log(p) - 5000, old, new)), brute, rtol=1e-11)


@given(posteriors(k=3), rates(3), rates(3))
def test_rates_by_name_are_rates_in_order(p, old, new):
    classes = ["a", "b", "c"]
    named = [dict(reversed(list(zip(classes, r.tolist(), strict=True)))) for r in (old, new)]
    np.testing.assert_array_equal(rebase(p, *named, classes=classes), rebase(p, old, new))
    indexed = dict(enumerate(new.tolist()))
    np.testing.assert_array_equal(rebase(p, old, indexed), rebase(p, old, new))


def test_rebase_with_impossible_classes():
    assert rebase([[0.5, 0.5]], [0.5, 0.5], [0, 1]).tolist() == [[0, 1]]
    assert rebase([[1.0, 0.0]], [1, 0], [0.5, 0.5]).tolist() == [[1, 0]]


# Bad input

P = [[0.5, 0.5]]
HALF = [0.5, 0.5]


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        ([[0, 1]], ShapeError, r"shape \(2, 2\), got \(1, 2\)"),
        ([0, 1], ShapeError, r"got \(2,\)"),
        (np.zeros((3, 3)), ShapeError, r"got \(3, 3\)"),
        (5, ShapeError, r"got \(\)"),
        ([[0, 1], [1]], ShapeError, "rows of one length"),
        ([[0, np.nan], [1, 0]], MissingValueError, r"nan at \[0, 1\]"),
        ([[0, 1], [None, 0]], MissingValueError, r"nan at \[1, 0\]"),
        ([[0, np.inf], [1, 0]], MissingValueError, "got inf"),
        ([[0, -np.inf], [1, 0]], MissingValueError, "got -inf"),
        ([[0, 1e200], [1, 0]], MissingValueError, "got 1e\\+200"),
        ([["0", "1"], ["1", "0"]], ParameterError, "must be numbers"),
        ([[0, 1j], [1, 0]], ParameterError, "must be numbers"),
        ([[0, object()], [1, 0]], ParameterError, "must be numbers"),
        ([[0, 10**400], [1, 0]], ParameterError, "must be numbers"),
        ({"ham": 1}, ParameterError, "pair .*got 'ham'"),
        ({("ham", "spam", "ham"): 1}, ParameterError, "pair"),
        ({("ham", "spa"): 1}, ParameterError, "'spa'.* nearest is 'spam'"),
        ({("xyz", "ham"): 1}, ParameterError, "'xyz'.* one is 'ham'"),
        ({("ham", None): 1}, MissingValueError, "None"),
        ({("ham", "spam"): np.nan}, MissingValueError, "got nan"),
        ({("ham", "spam"): "5"}, ParameterError, "must be numbers"),
    ],
)
def test_bad_loss(loss, error, message):
    with pytest.raises(error, match=message):
        loss_matrix(loss, MAIL)
    for call in (
        lambda: decide(P, MAIL, loss),
        lambda: overall_risk(MAIL, MAIL, MAIL, loss),
        lambda: risk(P, loss),
        lambda: expected_risk(P, loss),
        lambda: threshold(loss),
    ):
        with pytest.raises(DecibanError, match=r"Hint: .*[.]$"):
            call()


@pytest.mark.parametrize(
    ("posterior", "error", "message"),
    [
        (HALF, ShapeError, r"\(rows, classes\), got shape \(2,\)"),
        ([], ShapeError, "got shape"),
        (np.empty((2, 0)), ShapeError, "got shape"),
        ([[0.5, 0.5], [1.0]], ShapeError, "rows of one length"),
        ([[0.5, 0.4]], ParameterError, "sum to 1"),
        ([[0.5, 0.5], [1.5, -0.5]], ParameterError, "in row 1"),
        ([[-1.0, -2.0]], ParameterError, "not scores or logarithms"),
        ([[np.nan, 1.0]], MissingValueError, r"nan at \[0, 0\]"),
        ([[np.inf, -np.inf]], MissingValueError, "inf"),
        ([["a", "b"]], ParameterError, "must be numbers"),
    ],
)
def test_bad_posterior(posterior, error, message):
    for call in (
        lambda: risk(posterior),
        lambda: expected_risk(posterior),
        lambda: decide(posterior, MAIL),
        lambda: rebase(posterior, HALF, HALF),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("logs", [[0.0], [[np.nan, 0.0]], [[np.inf, 0.0]], [["a", "b"]], [[0.0]]])
def test_bad_log_posterior(logs):
    with pytest.raises(DecibanError):
        rebase_log(logs, HALF, HALF)


@pytest.mark.parametrize(
    ("classes", "error"),
    [
        (["a", "b", "c"], ShapeError),
        ("ab", ShapeError),
        ({"a", "b"}, ShapeError),
        (5, ShapeError),
        (np.array("ab"), ShapeError),
        ([["a"], ["b"]], ShapeError),
        (np.array([["a", "b"]]), ShapeError),
        ([], ParameterError),
        (["a", None], ParameterError),
        (["a", "a"], ParameterError),
    ],
)
def test_bad_classes(classes, error):
    with pytest.raises(error, match="Hint"):
        decide(P, classes)
    with pytest.raises(error, match="Hint"):
        rebase(P, HALF, HALF, classes)


@pytest.mark.parametrize("abstain", [-0.1, np.nan, np.inf, "0.1", True, [0.1]])
def test_bad_abstain(abstain):
    for call in (
        lambda: decide(P, MAIL, abstain=abstain),
        lambda: expected_risk(P, abstain=abstain),
        lambda: overall_risk(MAIL, MAIL, MAIL, abstain=abstain),
    ):
        with pytest.raises(ParameterError, match="abstain must be a number from 0"):
            call()


@pytest.mark.parametrize(
    ("answers", "truth", "weights", "error", "message"),
    [
        (["ham", None], MAIL, None, MissingValueError, "answers has None"),
        (MAIL, ["ham", None], None, MissingValueError, "truth has None"),
        (["ham", np.nan], MAIL, None, MissingValueError, "answers has nan"),
        (["hum", "ham"], MAIL, None, ParameterError, "'hum'.* nearest is 'ham'"),
        (MAIL, ["ham", "Spam"], None, ParameterError, "truth has 'Spam'.* nearest is 'spam'"),
        (MAIL, ["ham"], None, ShapeError, "2 rows, truth has 1"),
        ("ham", ["ham"], None, ShapeError, "flat list"),
        ([], [], None, ShapeError, "0 rows"),
        (MAIL, MAIL, [1], ShapeError, "weights"),
        (MAIL, MAIL, [2, -1], ParameterError, "weights must be >= 0"),
        (MAIL, MAIL, [0, 0], ParameterError, "weights must be >= 0"),
        (MAIL, MAIL, [1, np.nan], MissingValueError, "weights"),
        (MAIL, MAIL, ["1", "1"], ParameterError, "weights must be numbers"),
    ],
)
def test_bad_answers_truths_and_weights(answers, truth, weights, error, message):
    with pytest.raises(error, match=message):
        overall_risk(answers, truth, MAIL, weights=weights)


def test_unknown_answers_are_never_taken_for_abstentions():
    with pytest.raises(ParameterError, match=r"'Nome'.* one is 'ham'"):
        overall_risk(["Nome"], ["ham"], MAIL, abstain=0.1)
    with pytest.raises(MissingValueError, match="truth has None"):
        overall_risk(["ham"], [None], MAIL, abstain=0.1)


def test_the_expected_risk_of_no_rows():
    with pytest.raises(ShapeError, match="0 rows"):
        expected_risk(np.empty((0, 2)))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ([1], ShapeError, "there must be 2 (old|new) rates"),
        ([[0.5, 0.5]], ShapeError, "there must be 2 (old|new) rates"),
        ([0.5, 0.4], ParameterError, "sum to 1 within 1e-06"),
        ([1.5, -0.5], ParameterError, ">= 0"),
        ([np.nan, 1], MissingValueError, "nan"),
        (["1", "0"], ParameterError, "must be numbers"),
        ({"ham": 1}, ParameterError, "no rate for 'spam'"),
        ({"ham": 0.5, "spm": 0.5}, ParameterError, "nearest is 'spam'"),
    ],
)
def test_bad_rates(wrong, error, message):
    for old, new in ((wrong, HALF), (HALF, wrong)):
        with pytest.raises(error, match=message):
            rebase(P, old, new, MAIL)
        with pytest.raises(error, match=message):
            rebase_log(np.log(P), old, new, MAIL)


def test_more_classes_and_rates_than_columns():
    with pytest.raises(ShapeError, match="2 columns, there are 3 classes"):
        rebase(P, [0.5, 0.25, 0.25], [0.5, 0.25, 0.25], ["a", "b", "c"])


def test_rates_that_contradict_the_posterior():
    with pytest.raises(ParameterError, match="old is 0 for 'spam', its posterior in row 1 is not"):
        rebase([[1.0, 0.0], [0.5, 0.5]], [1, 0], HALF, MAIL)
    with pytest.raises(ParameterError, match="row 1 has no class left"):
        rebase([[0.5, 0.5], [1.0, 0.0]], HALF, [0, 1])


@pytest.mark.parametrize("name", decision.__all__)
def test_documented_examples_run(name):
    [example] = doctest.DocTestFinder(recurse=False).find(
        getattr(decision, name), name, globs=vars(decision).copy()
    )
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
