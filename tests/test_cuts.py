"""Cut points by hand, by brute force, and against Fayyad and Irani written plainly."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.kernels.categorical import sum_columns
from deciban.stats.histogram import EACH, MDL, by_description, cut_columns, cut_points

tables = st.integers(1, 3).flatmap(
    lambda K: st.integers(1, 12).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=K, max_size=K
        )
    )
)
law = settings(max_examples=150, deadline=None)


@pytest.mark.parametrize(
    ("counts", "bins", "cuts"),
    [
        ([1, 1, 1, 1], 2, [2]),
        ([1, 1, 1, 1], 4, [1, 2, 3]),
        ([1, 1, 1, 1], 9, [1, 2, 3]),
        ([9, 1, 1, 1], 2, [1]),
        ([1, 1, 1, 9], 2, []),
        ([1, 1, 9, 1], 2, [3]),
        ([5], 3, []),
        ([], 3, []),
        ([0.1] * 10, 5, [2, 4, 6, 8]),
        ([0.1] * 3, 3, [1, 2]),
    ],
)
def test_equal_frequency_by_hand(counts, bins, cuts):
    assert cut_points(np.array([counts], dtype=float), bins).tolist() == cuts


@law
@given(tables, st.integers(2, 8))
def test_equal_frequency_by_brute_force(counts, bins):
    """A bin ends with the first key at which its share of the weight is reached."""
    amounts = [sum(column) for column in zip(*counts, strict=True)]
    total, cuts = sum(amounts), set()
    for b in range(1, bins):
        below = 0
        for i, amount in enumerate(amounts):
            below += amount
            if below * bins >= total * b:
                if i + 1 < len(amounts):
                    cuts.add(i + 1)
                break
    found = cut_points(np.array(counts, dtype=float), bins)
    assert found.tolist() == sorted(cuts)


def entropy(counts):
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c)


def plainly(columns):
    """Fayyad and Irani (1993), one list of class counts a key: cuts, and how close it was."""
    whole = [sum(part) for part in zip(*columns, strict=True)]
    n, best = sum(whole), None
    for cut in range(1, len(columns)):
        left = [sum(part) for part in zip(*columns[:cut], strict=True)]
        right = [a - b for a, b in zip(whole, left, strict=True)]
        if not sum(left) or not sum(right):
            continue
        mixed = (sum(left) * entropy(left) + sum(right) * entropy(right)) / n
        if best is None or mixed < best[0] - 1e-12:
            best = mixed, cut, left, right
    if best is None or n < 2:
        return []
    mixed, cut, left, right = best
    k, k1, k2 = (sum(c > 0 for c in side) for side in (whole, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(whole) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(whole) - mixed <= (math.log2(n - 1) + delta) / n + 1e-12:
        return []
    return plainly(columns[:cut]) + [cut] + [cut + c for c in plainly(columns[cut:])]


@law
@given(tables)
def test_description_length_plainly(counts):
    columns = [c for c in zip(*counts, strict=True) if sum(c)]
    if not columns:
        return
    table = np.array(columns, dtype=float).T
    assert by_description(table).tolist() == plainly(columns)


@pytest.mark.parametrize("seed", range(5))
def test_description_length_of_much_data(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 200, 3000), rng.integers(0, 3, 3000)
    y = np.where(rng.random(3000) < 0.6, x // 50 % 3, y)
    table = np.stack([np.bincount(x[y == c], minlength=200) for c in range(3)]).astype(float)
    cuts = cut_points(table, MDL).tolist()
    assert cuts == plainly([tuple(int(v) for v in column) for column in table.T])
    assert len(cuts) >= 3


def test_every_key_by_itself():
    assert cut_points(np.ones((2, 4)), EACH).tolist() == [1, 2, 3]
    assert cut_points(np.ones((2, 1)), EACH).tolist() == []


def test_many_classes_do_not_overflow():
    counts = np.eye(1000)
    assert np.all(np.isfinite(by_description(np.repeat(counts, 3, axis=0))))


def test_columns_are_cut_by_their_own_rules():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (2, 30)).astype(float)
    counts[0, :5] = counts[1, 5:10] = 0.0  # a column that tells the classes apart
    offsets, rules = np.array([0, 10, 20, 30]), np.array([MDL, 4, 2])
    starts, ends = cut_columns(counts, offsets, rules)
    for j, rule in enumerate(rules):
        start, stop = offsets[j : j + 2]
        own = starts[ends[j] : ends[j + 1]] - start
        assert own.tolist() == [0, *cut_points(counts[:, start:stop], int(rule))]
    assert np.diff(ends).tolist() == [2, 4, 2]


@law
@given(st.lists(st.lists(st.integers(0, 99), max_size=150), min_size=1, max_size=6))
def test_the_cells_of_columns_are_summed(columns):
    """Of whole numbers exactly, however many cells a column has, and however they lie in memory."""
    count = np.array([cell for column in columns for cell in column], dtype=np.float64)[None]
    offsets = np.cumsum([0, *map(len, columns)])
    expected = [[sum(column) for column in columns]]
    assert sum_columns(count, offsets).tolist() == expected
    assert sum_columns(np.repeat(count, 3, axis=1)[:, ::3], offsets).tolist() == expected
    assert sum_columns(np.repeat(count, 2, axis=0), offsets).tolist() == expected * 2
