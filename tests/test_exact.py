"""Sums that never round: fractions are the oracle."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.errors import MissingValueError
from deciban.kernels import moments as kernel
from deciban.stats.exact import MAX_DECAYED_DIGITS, ExactSum, deviation

finite = st.floats(allow_nan=False, allow_infinity=False)
lists = st.lists(finite, min_size=1, max_size=6)
pairs = st.lists(st.tuples(finite, finite), min_size=1, max_size=5)


def fractions(numbers):
    """The numbers that an ExactSum holds, flat."""
    rows = numbers.digits.reshape(-1, numbers.digits.shape[-1]).tolist()
    return [
        sum(d * Fraction(2) ** (32 * (numbers.base + i)) for i, d in enumerate(r)) for r in rows
    ]


def within_one_ulp(got, fraction):
    """Whether a float is next to a fraction; beyond the largest float lies infinity."""
    largest = Fraction(np.finfo(np.float64).max)
    if abs(fraction) > largest or math.isinf(got):
        return abs(got) >= float(largest) and abs(fraction) >= largest * (1 - Fraction(1, 2**53))
    return abs(Fraction(got) - fraction) <= Fraction(math.ulp(float(fraction)))


@settings(deadline=None)
@given(pairs)
def test_sums_and_differences_are_those_of_fractions(values):
    a, b = (ExactSum.of(side) for side in zip(*values, strict=True))
    left, right = ([Fraction(x) for x in side] for side in zip(*values, strict=True))
    assert fractions(a) == left
    assert fractions(a + b) == [x + y for x, y in zip(left, right, strict=True)]
    assert fractions(a - b) == [x - y for x, y in zip(left, right, strict=True)]
    assert fractions((a + b) - b) == left
    assert fractions(a.total()) == [sum(left)]
    difference = [x - y for x, y in zip(left, right, strict=True)]
    assert (a - b).negative().tolist() == [x < 0 for x in difference]
    assert (a - b).nonzero().tolist() == [x != 0 for x in difference]
    assert all(map(within_one_ulp, (a - b).floats().tolist(), difference))
    assert fractions(a.zero_where(a.negative())) == [max(x, 0) for x in left]


@settings(deadline=None)
@given(lists)
def test_floats_give_back_what_they_were_made_of(values):
    assert ExactSum.of(values).floats().tolist() == values


@settings(deadline=None)
@given(lists, st.floats(-1e9, 1e9))
def test_products_are_exact_to_about_five_hundred_bits(values, factor):
    product = fractions(ExactSum.of(values) * factor)
    for got, value in zip(product, values, strict=True):
        want = Fraction(value) * Fraction(factor)
        assert abs(got - want) <= abs(want) / 2 ** (32 * (MAX_DECAYED_DIGITS - 2))


@settings(deadline=None)
@given(lists, st.integers(-600, 600))
def test_powers_of_two_scale_exactly(values, power):
    product = ExactSum.of(values) * 2.0**power
    assert fractions(product) == [Fraction(x) * Fraction(2) ** power for x in values]


def test_many_decays_do_not_make_numbers_longer():
    x = ExactSum.of([1e9, -1e-9])
    for _ in range(100):
        x = x * 0.9
    assert x.digits.shape[-1] <= MAX_DECAYED_DIGITS + 4
    np.testing.assert_allclose(x.floats(), np.array([1e9, -1e-9]) * 0.9**100, rtol=1e-13)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_only_finite_numbers_add_up(bad):
    with pytest.raises(MissingValueError, match="finite numbers, got"):
        ExactSum.of([1.0, bad])


@settings(deadline=None)
@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=8))
def test_deviation_is_rounded_once(x):
    some = [Fraction(v) for v in x]
    n, total = ExactSum.of([1.0] * len(x)).total(), ExactSum.of(x).total()
    squares = _squares(x)
    want = len(x) * sum(v * v for v in some) - sum(some) ** 2
    assert within_one_ulp(float(deviation(n, total, squares.total())), want)


def _squares(x):
    """The exact squares of floats, from the kernel."""
    columns = np.array([x])
    *_, squares, base = kernel.count(columns, np.zeros(1, dtype=np.intp), 1)
    return ExactSum(squares[0], base).carry()


tables = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        st.just(shape),
        st.lists(
            st.one_of(finite, st.just(math.nan), st.just(0.0)),
            min_size=shape[0] * shape[1],
            max_size=shape[0] * shape[1],
        ),
        st.lists(st.integers(0, shape[2] - 1), min_size=shape[0], max_size=shape[0]),
        st.lists(st.floats(0, 1e9), min_size=shape[0], max_size=shape[0]),
    )
)


def moments_by_fractions(X, y, weight, n_classes):
    """``n``, ``sum x`` and ``sum x**2`` per class and column, flat."""
    sums = [[Fraction(0)] * (n_classes * X.shape[1]) for _ in range(3)]
    for row, c, w in zip(X.tolist(), y, weight, strict=True):
        for j, x in enumerate(row):
            if not math.isnan(x):
                for power, part in enumerate(sums):
                    part[c * X.shape[1] + j] += Fraction(w) * Fraction(x) ** power
    return sums


@given(tables)
@settings(max_examples=150, deadline=None)
def test_moments_are_those_of_fractions(data):
    (n, d, K), values, labels, weight = data
    X, y = np.array(values).reshape(n, d), np.array(labels, dtype=np.intp)
    ones = [1] * n
    for found, weights in (
        (kernel.count(X, y, K), ones),
        (kernel.count_weighted(X, y, np.array(weight), K), weight),
    ):
        infinite, *parts = found
        assert infinite == -1
        sums = [ExactSum(parts[i], parts[i + 1]) for i in (0, 2, 4)]
        assert [fractions(part) for part in sums] == moments_by_fractions(X, labels, weights, K)


@pytest.mark.parametrize("weight", [None, np.ones(3)])
def test_an_infinity_is_reported(weight):
    X = np.array([[1.0, 2.0], [np.nan, -np.inf], [0.0, 1.0]])
    y = np.zeros(3, dtype=np.intp)
    found = kernel.count(X, y, 1) if weight is None else kernel.count_weighted(X, y, weight, 1)
    assert found[0] == 3


LATE = {
    "as expected": 3.0,
    "zero": 0.0,
    "missing": np.nan,
    "beyond the guess": 1e30,
    "below the guess": -1e-30,
    "largest": 1.7e308,
    "subnormal": 5e-324,
}


@pytest.mark.parametrize("late", LATE.values(), ids=LATE)
def test_many_rows_are_the_sum_of_a_few(late):
    """Of many, the first tell how large all may be; one that comes later may be otherwise."""
    X = np.random.default_rng(0).standard_normal((10_000, 2))
    X[9_000, 1] = late
    y = np.arange(10_000) % 3
    _, *parts = kernel.count(X, y, 3)
    pieces = [kernel.count(X[rows : rows + 500], y[rows : rows + 500], 3)[1:]
              for rows in range(0, 10_000, 500)]  # fmt: skip
    for i in (0, 2, 4):
        total = sum((ExactSum(p[i], p[i + 1]) for p in pieces[1:]), ExactSum(*pieces[0][i : i + 2]))
        assert fractions(ExactSum(parts[i], parts[i + 1])) == fractions(total)


#: What a few of the values are, in tables whose others are of about the same size.
ODD = {
    "none": [],
    "missing": [np.nan],
    "zero": [0.0, -0.0],
    "large": [2.0**7, -(2.0**40)],
    "next to nothing": [2.0**-33, -(2.0**-34) * (1 + 2.0**-52), 5e-324],
    "of few bits": [1.0, 2.5, -(2.0**-30)],
    "at the end": [8.0 - 2.0**-50, -8.0 + 2.0**-50, 4.0],
}


@pytest.mark.parametrize("share", [0.001, 0.2])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_sums_in_slices_are_exact(odd, share):
    """Weighted rows are added one by one: without weights, sums must be the same."""
    rng = np.random.default_rng(len(odd))
    for d, K in ((1, 1), (3, 2), (4, 5), (9, 3)):
        X = np.clip(rng.standard_normal((5_000, d)), -3.9, 3.9)
        if odd:
            X = np.where(rng.random(X.shape) < share, rng.choice(odd, X.shape), X)
        y = rng.choice(K, len(X), p=rng.dirichlet(np.ones(K)))
        many, one = kernel.count(X, y, K), kernel.count_weighted(X, y, np.ones(len(X)), K)
        for i in (1, 3, 5):
            pairs = [ExactSum(parts[i], parts[i + 1]).carry() for parts in (many, one)]
            assert not (pairs[0] - pairs[1]).nonzero().any()
            np.testing.assert_array_equal(pairs[0].digits, pairs[1].digits)


@pytest.mark.parametrize("end", [4.0 - 2.0**-51, 2.0**-31 + 2.0**-83, 2.0**-31 - 2.0**-84])
def test_sums_in_slices_are_exact_where_all_values_are_at_an_end(end):
    """Every fourth row tells how large values may be: four times as large, and 2**33 times less."""
    for sign in (np.ones(2_048), np.resize([1.0, -1.0], 2_048)):
        x = np.where(np.arange(2_048) % 4, end, 1.0 - 2.0**-53) * sign
        X, y = np.column_stack([x, x, -x, x, x]), np.zeros(2_048, dtype=np.intp)
        many, one = kernel.count(X, y, 1), kernel.count_weighted(X, y, np.ones(2_048), 1)
        for i in (1, 3, 5):
            pairs = [ExactSum(parts[i], parts[i + 1]).carry() for parts in (many, one)]
            np.testing.assert_array_equal(pairs[0].digits, pairs[1].digits)


@pytest.mark.parametrize("power", [-1070, -500, -401, -399, 449, 451, 700, 1020])
def test_sums_in_slices_end_where_squares_would(power):
    x = np.ldexp(np.random.default_rng(1).uniform(-1, 1, (2_000, 5)), power)
    y = np.arange(2_000) % 3
    many, one = kernel.count(x, y, 3), kernel.count_weighted(x, y, np.ones(2_000), 3)
    for i in (1, 3, 5):
        sums = [fractions(ExactSum(parts[i], parts[i + 1])) for parts in (many, one)]
        assert sums[0] == sums[1]


def test_many_classes_are_summed_in_slices_by_blocks_of_columns():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40_000, 130)), np.arange(40_000) % 600
    many, one = kernel.count(X, y, 600), kernel.count_weighted(X, y, np.ones(len(X)), 600)
    for i in (1, 3, 5):
        pairs = [ExactSum(parts[i], parts[i + 1]).carry() for parts in (many, one)]
        np.testing.assert_array_equal(pairs[0].digits, pairs[1].digits)


def test_a_late_infinity_is_reported():
    X = np.ones((20_000, 1))
    X[19_000] = np.inf
    assert kernel.count(X, np.zeros(20_000, dtype=np.intp), 1)[0] == 19_000


def test_many_classes_and_columns_are_counted_in_blocks():
    """600 classes and 200 exponents a column exceed the cells that are held at once."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 8)) * 2.0 ** rng.integers(-100, 100, (700, 8))
    y = rng.integers(0, 600, 700)
    _, *parts = kernel.count(X, y, 600)
    sums = [ExactSum(parts[i], parts[i + 1]) for i in (0, 2, 4)]
    by_hand = moments_by_fractions(X, y.tolist(), [1] * 700, 600)
    assert [fractions(part) for part in sums] == by_hand


def test_a_large_mean_leaves_the_variance_accurate():
    x = 1e9 + np.random.default_rng(0).standard_normal(1000)
    n, total = ExactSum.of(np.ones(1000)).total(), ExactSum.of(x).total()
    got = float(deviation(n, total, _squares(x).total())) / 1000**2
    some = [Fraction(v) for v in x.tolist()]
    mean = sum(some) / 1000
    want = float(sum((v - mean) ** 2 for v in some) / 1000)
    assert got == pytest.approx(want, rel=1e-15)
