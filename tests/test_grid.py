"""Grids of keys: the same for the same values, in any order and any parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.families.histogram import (
    HISTOGRAM_FAMILY,
    HistogramSettings,
    bin_codes,
    edges_of,
)
from deciban.stats.categories import count_of
from deciban.stats.cells import MAX_GRID_KEYS, Grid
from deciban.stats.counts import Counts, merge

law = settings(max_examples=60, deadline=None)
floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, 1.0 + 2**-52]),
)


def grid(values):
    return Grid.of([np.asarray(values, dtype=float)], ["x"])


def identical(a, b):
    return a.drop == b.drop and all(
        np.array_equal(x, y) for x, y in zip(a.values, b.values, strict=True)
    )


@law
@given(st.lists(floats, min_size=1, max_size=30))
def test_keys_are_the_values_in_order(values):
    found = grid(values)
    want = np.unique(np.array(values) + 0.0)
    np.testing.assert_array_equal(found.floats(0), want)
    np.testing.assert_array_equal(found.middles(0), want)
    assert found.drop == (0,)


@law
@given(st.lists(floats, max_size=20), st.lists(floats, max_size=20), st.lists(floats, max_size=20))
def test_united_in_any_order(a, b, c):
    x, y, z = grid(a), grid(b), grid(c)
    whole = grid([*a, *b, *c])
    for found in (x.union(y).union(z), z.union(x).union(y), x.union(y.union(z))):
        assert identical(found, whole)


MANY = {
    "normal": lambda rng: rng.normal(size=20_000),
    "wide": lambda rng: rng.normal(size=20_000) * 10.0 ** rng.integers(-300, 300, 20_000),
    "whole": lambda rng: rng.permutation(20_000).astype(float),
    "far away": lambda rng: 1e9 + rng.normal(size=20_000),
    "tiny": lambda rng: rng.integers(-9999, 9999, 20_000) * 5e-324,
}


@pytest.mark.parametrize("kind", MANY)
def test_many_values_in_any_parts(kind):
    rng = np.random.default_rng(0)
    x = MANY[kind](rng)
    whole = grid(x)
    assert whole.size <= MAX_GRID_KEYS
    assert whole.drop[0] > 0
    for n in (2, 7):
        parts = [grid(part) for part in np.array_split(rng.permutation(x), n)]
        found = parts[0]
        for part in parts[1:]:
            found = found.union(part)
        assert identical(found, whole)
    finer = np.unique((x + 0.0).view(np.int64) ^ ((x + 0.0).view(np.int64) >> 63 & (2**63 - 1)))
    assert len(np.unique(finer >> (whole.drop[0] - 1))) > MAX_GRID_KEYS
    middles = whole.middles(0)
    assert np.all(np.isfinite(middles))
    assert np.all(middles >= whole.floats(0))
    assert np.all(middles[:-1] < whole.floats(0)[1:])


@pytest.mark.parametrize("kind", MANY)
def test_counts_of_many_values_do_not_depend_on_the_path(kind):
    rng = np.random.default_rng(1)
    x, y, w = MANY[kind](rng), rng.integers(0, 3, 20_000), rng.integers(1, 4, 20_000)
    whole = Counts.of({"x": x}, y, family="histogram", weight=w)
    parts = [
        Counts.of({"x": x[some]}, y[some], family="histogram", weight=w[some])
        for some in np.array_split(rng.permutation(20_000), 9)
    ]
    total = merge(parts)
    assert total == whole
    assert identical(total.tables["histogram"].cells, whole.tables["histogram"].cells)
    fine = merge(parts[1:])
    assert whole - parts[0] == fine  # coarse minus fine
    assert (whole - fine) == parts[0]
    assert whole - parts[0] + parts[0] == whole


def test_edges_part_neighbours():
    pairs = [
        (1.0, np.nextafter(1.0, 2)),
        (0.0, 5e-324),
        (-5e-324, 0.0),
        (-1.7e308, 1.7e308),
        (1.6e308, 1.7e308),
        (-2.0, 4.0),
    ]
    for low, high in pairs:
        edges = edges_of(grid([low, high]), 0, np.array([1]))
        assert low < edges[0] <= high
        assert bin_codes((edges,), np.array([[low], [high]])).ravel().tolist() == [0, 1]
    assert edges_of(grid([-2.0, 4.0]), 0, np.array([1])).tolist() == [1.0]


@law
@given(st.lists(floats, min_size=2, max_size=12, unique=True))
def test_every_value_finds_its_own_bin(values):
    counts = Counts.of({"x": values}, [0] * len(values), family="histogram")
    t = counts.tables["histogram"]
    params = HISTOGRAM_FAMILY.estimate(t, HistogramSettings(bins=0))
    x = t.cells.floats(0)
    assert bin_codes(params.edges, x[:, None]).ravel().tolist() == list(range(len(x)))


@pytest.mark.parametrize("bins", [-1, 0, 3, 10])
def test_rows_fall_where_they_were_counted(bins):
    """Scoring the training rows finds in each bin as many as were counted there."""
    rng = np.random.default_rng(2)
    for make in MANY.values():
        x, y = make(rng), rng.integers(0, 2, 20_000)
        t = Counts.of({"x": x}, y, family="histogram").tables["histogram"]
        params = HISTOGRAM_FAMILY.estimate(t, HistogramSettings(bins=bins))
        codes = bin_codes(params.edges, x[:, None]).ravel()
        bins_of = params.bins.table
        found = np.stack([np.bincount(codes[y == c], minlength=bins_of.cells.size) for c in (0, 1)])
        np.testing.assert_array_equal(found, count_of(bins_of))


def test_a_grid_and_cells_do_not_mix():
    from deciban.stats.cells import Cells

    for how in (grid([1.0]).union, grid([1.0]).positions):
        with pytest.raises(TypeError, match="grid"):
            how(Cells.of_columns(1))
