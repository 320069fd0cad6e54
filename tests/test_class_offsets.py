"""Offsets of classes: what left-out rows choose beside the discount, and all that follows."""

import duckdb
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from deciban import NaiveBayes, files, load
from deciban.errors import ModelFileError
from deciban.kernels import discounts
from deciban.models.calibration import DISCOUNT_GRID, Calibration, ScoredRows, discount_penalty
from deciban.models.class_offsets import (
    OFFSET_SD,
    OFFSET_UNIT,
    ClassOffsets,
    calibrate,
    find_offset,
)
from deciban.models.prior import base_rates

FREE = np.zeros(len(DISCOUNT_GRID))


def scored(seed, n, K, bias):
    """Rows whose classes come from the posteriors, of which the log prior then lacks a bias."""
    rng = np.random.default_rng(seed)
    prior, said = np.log(rng.dirichlet(np.full(K, 9.0), n)), rng.normal(0, 2, (n, K))
    true = np.exp(log_softmax(prior + said + bias, axis=1))
    y = (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return ScoredRows(prior, said, y, np.ones(n))


def table(seed, n=600):
    """Rows whose columns repeat each other in one class and not in the other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    one = rng.normal(0, 1, n)
    own = rng.normal(0, 1, (n, 12))
    return {f"x{j}": np.where(y == 1, 1.5 + one + 0.2 * own[:, j], own[:, j]) for j in range(12)}, y


def some(X, rows):
    return {name: column[rows] for name, column in X.items()}


@pytest.fixture(scope="module")
def fitted():
    model = NaiveBayes().fit(*table(0))
    assert abs(model.model_.class_offset).max() > 0.2
    return model


def test_expected_rows_are_sums_of_posteriors():
    rows = scored(0, 50, 4, 0.0)
    share = np.exp(log_softmax(rows.log_prior + 0.7 * rows.log_likelihood, axis=1))
    weight = np.linspace(0, 2, 50)
    expected, variance = discounts.expected_rows(*rows[:2], weight, 0.7)
    np.testing.assert_allclose(expected, weight @ share, rtol=1e-12)
    np.testing.assert_allclose(variance, weight @ (share * (1 - share)), rtol=1e-12)


def test_what_no_class_can_have_is_no_evidence():
    nothing = np.full((1, 2), -np.inf)
    expected, _ = discounts.expected_rows(np.log([[0.2, 0.8]]), nothing, np.ones(1), 0.5)
    np.testing.assert_allclose(expected, [0.2, 0.8])


@pytest.mark.parametrize("K", [2, 3, 6])
def test_the_offset_is_that_of_least_loss(K):
    rows = scored(K, 900, K, np.linspace(-1, 1, K))
    offset = find_offset([rows], rows.losses(DISCOUNT_GRID), FREE)
    assert offset is not None

    def total(offset):
        loss = rows.with_offset(offset).losses(DISCOUNT_GRID).min()
        return loss + offset @ offset / (2 * OFFSET_SD**2)

    least = total(offset)
    assert least < total(np.zeros(K)) - 1
    for k in range(K):
        for step in (-0.25, 0.25):
            assert least < total(offset + step * (np.arange(K) == k))
    assert np.array_equal(offset, OFFSET_UNIT * np.round(offset / OFFSET_UNIT))


def test_few_rows_move_an_offset_as_far_as_its_prior_lets_them():
    """Of 32 rows without evidence 30 have one class: by the rows alone, its offset is 1.35."""
    y = np.repeat([0, 1], [30, 2])
    rows = ScoredRows(np.log(np.full((32, 2), 0.5)), np.zeros((32, 2)), y, np.ones(32))
    offset = find_offset([rows], rows.losses(DISCOUNT_GRID), FREE)

    def total(one):
        return (
            30 * np.log1p(np.exp(-2 * one)) + 2 * np.log1p(np.exp(2 * one)) + (one / OFFSET_SD) ** 2
        )

    best = minimize_scalar(total, bounds=(0, 2), method="bounded").x
    np.testing.assert_allclose(offset, [best, -best], atol=0.05)


def test_nothing_to_gain_is_no_offset():
    for seed in range(5):
        rows = scored(seed, 300, 1, 0.0)
        assert find_offset([rows], rows.losses(DISCOUNT_GRID), FREE) is None
    even = ScoredRows(
        np.log(np.full((40, 2), 0.5)), np.zeros((40, 2)), np.arange(40) % 2, np.ones(40)
    )
    assert find_offset([even], even.losses(DISCOUNT_GRID), FREE) is None


def test_batches_are_one_table():
    rows, classes, sizes = scored(1, 900, 3, np.array([1.0, 0, -1])), np.arange(3), (900.0, 5, 3)
    parts = [ScoredRows(*(a[s] for a in rows)) for s in (slice(0, 400), slice(400, None))]
    one, two = (calibrate(p, classes, sizes, 2.0) for p in ([rows], parts))
    np.testing.assert_allclose(one.offset(classes), two.offset(classes), atol=OFFSET_UNIT)
    np.testing.assert_allclose(one.loss, two.loss, rtol=1e-2)
    assert one.rows == two.rows == 1800
    moved = Calibration.of(*rows.with_offset(one.offset(classes))) * 2.0
    np.testing.assert_allclose(one.loss, moved.loss)
    penalty = discount_penalty(*sizes)
    assert one.discount(penalty) == moved.discount(penalty)


def test_offsets_add_up_by_rows():
    a = Calibration(FREE, 30.0, None, ClassOffsets(np.array(["x", "y"]), np.array([30.0, -30.0])))
    b = Calibration(FREE, 10.0)
    new = Calibration(FREE, 20.0, None, ClassOffsets(np.array(["z"]), np.array([40.0])))
    classes = np.array(["z", "y", "x"])
    np.testing.assert_allclose((a + b).offset(classes), [0, -0.75, 0.75])
    np.testing.assert_allclose((b + a).offset(classes), [0, -0.75, 0.75])
    np.testing.assert_allclose((a + new + b).offset(classes), [40 / 60, -0.5, 0.5])
    np.testing.assert_allclose((a * 0.25).offset(classes), a.offset(classes))
    assert (b + b).offset(classes) is None
    assert Calibration.empty().offset(classes) is None


def test_left_out_rows_are_likelier_by_it(fitted):
    X, y = table(0)
    new, truth = table(1, 4000)
    plain = NaiveBayes().fit(X, y)
    plain.model_ = plain.model_.with_calibration(
        Calibration(fitted.model_.calibration.loss, fitted.model_.calibration.rows)
    )
    for score in (
        lambda m: -m.leave_one_out(X, y)[np.arange(len(y)), y].mean(),
        lambda m: -m.predict_log_proba(new)[np.arange(len(truth)), truth].mean(),
    ):
        assert score(fitted) < score(plain) - 0.005
    assert fitted.evaluate().log_loss == pytest.approx(
        -fitted.leave_one_out(X, y)[np.arange(len(y)), y].mean(), rel=1e-6
    )


def test_the_prior_of_an_answer_has_it_and_base_rates_do_not(fitted):
    new, _ = table(2, 20)
    shares = (fitted.counts_.weight + 1) / (fitted.counts_.weight + 1).sum()
    np.testing.assert_allclose(base_rates(fitted.model_), shares)
    offset = fitted.model_.class_offset
    moved = np.log(shares) + offset
    np.testing.assert_allclose(np.exp(fitted.model_.log_prior), np.exp(log_softmax(moved)))
    total = fitted.prior_evidence() + fitted.evidence(new).sum(axis=1)
    p = fitted.predict_proba(new)
    np.testing.assert_allclose(total[:, 1], 10 * np.log10(p[:, 1] / p[:, 0]), rtol=1e-9)
    why = fitted.explain({name: float(column[0]) for name, column in new.items()})
    assert why.prior + sum(term.decibans for term in why.terms) == pytest.approx(why.total)


def test_other_base_rates_take_the_place_of_the_shares(fitted):
    new, _ = table(3, 20)
    shares, p = base_rates(fitted.model_), fitted.predict_proba(new)
    np.testing.assert_allclose(
        fitted.predict_proba(new, priors={0: shares[0], 1: shares[1]}), p, rtol=1e-12
    )
    want = p * np.array([0.9, 0.1]) / shares
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(new, priors={0: 0.9, 1: 0.1}), want)


@pytest.mark.parametrize(
    "how", [{"prior": "uniform"}, {"class_weight": "balanced"}, {"calibrate": False}]
)
def test_a_stated_prior_stays(how):
    model = NaiveBayes(**how).fit(*table(0))
    assert model.model_.class_offset is None
    np.testing.assert_allclose(np.exp(model.model_.log_prior), base_rates(model.model_))


def test_neither_row_order_nor_threads_matter(fitted, monkeypatch):
    X, y = table(0)
    back = slice(None, None, -1)
    monkeypatch.setenv("DECIBAN_THREADS", "1")
    other = NaiveBayes().fit(some(X, back), y[back])
    np.testing.assert_array_equal(other.model_.class_offset, fitted.model_.class_offset)
    assert other.temperature_ == fitted.temperature_


def test_merging_and_forgetting(fitted):
    X, y = table(0)
    first, rest = slice(0, 300), slice(300, None)
    a, b = (NaiveBayes().fit(some(X, rows), y[rows]) for rows in (first, rest))
    of = [m.model_.calibration.offset(m.classes_) for m in (a, b)]
    mean = sum(np.zeros(2) if each is None else each for each in of) / 2
    np.testing.assert_allclose((a + b).model_.class_offset, mean)
    np.testing.assert_allclose((b + a).model_.class_offset, mean)
    offset = fitted.model_.class_offset
    np.testing.assert_allclose((fitted - a).model_.class_offset, offset)
    whole = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(whole.forget(some(X, first), y[first]).model_.class_offset, offset)
    np.testing.assert_allclose(whole.decay(0.5).model_.class_offset, offset)


def test_streams_and_recalibration(fitted):
    X, y = table(0)
    live = NaiveBayes()
    rows = [
        dict(zip(X, values, strict=True)) for values in np.column_stack(list(X.values())).tolist()
    ]
    for row, label in zip(rows, y.tolist(), strict=True):
        live.learn_one(row, label)
    assert live.predict_proba_one(rows[0])[1] > 0
    live.settle()
    np.testing.assert_array_equal(live.model_.class_offset, fitted.model_.class_offset)
    follows = live.predict_proba_one(rows[0])
    np.testing.assert_allclose(
        [follows[0], follows[1]], fitted.predict_proba([rows[0]])[0], rtol=1e-9
    )
    live.learn_one(rows[1], int(y[1]))
    one = fitted.count_rows([rows[1]], [int(y[1])])
    follows = live.predict_proba_one(rows[0])
    want = fitted.with_counted(one).predict_proba([rows[0]])[0]
    np.testing.assert_allclose([follows[0], follows[1]], want, rtol=0.1)  # chosen anew
    again = NaiveBayes().fit(X, y).recalibrate(X, y)
    np.testing.assert_array_equal(again.model_.class_offset, fitted.model_.class_offset)


def test_a_file_keeps_them(fitted, tmp_path):
    new, _ = table(4, 50)
    fitted.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.model_.class_offset, fitted.model_.class_offset)
    np.testing.assert_array_equal(again.predict_proba(new), fitted.predict_proba(new))


@pytest.mark.parametrize("bad", [np.nan, 1e6, -np.inf])
def test_a_file_with_impossible_offsets_is_refused(fitted, tmp_path, bad):
    fitted.save(tmp_path / "m.deciban")
    stored = files.read(tmp_path / "m.deciban")
    stored.arrays["class_offsets"] = np.array([0.0, bad])
    with pytest.raises(ModelFileError, match="class_offsets"):
        NaiveBayes.from_stored(stored)


def test_sql_has_them(fitted):
    new, _ = table(5, 30)
    con = duckdb.connect()
    con.execute("create table rows (" + ", ".join(f"{name} double" for name in new) + ")")
    con.executemany(
        f"insert into rows values ({', '.join('?' * len(new))})",
        np.column_stack(list(new.values())).tolist(),
    )
    of_rows = con.execute(fitted.to_sql("rows")).df()
    want = fitted.predict_proba(con.execute("select * from rows").df())
    np.testing.assert_allclose(of_rows[["p_0", "p_1"]], want, rtol=1e-9)
    rates = con.execute(fitted.to_sql("rows", priors={0: 0.9, 1: 0.1})).df()
    want = fitted.predict_proba(con.execute("select * from rows").df(), priors={0: 0.9, 1: 0.1})
    np.testing.assert_allclose(rates[["p_0", "p_1"]], want, rtol=1e-9)
