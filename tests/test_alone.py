"""What is computed of a column used alone does not depend on the columns beside it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import NaiveBayes
from deciban.families import alone
from deciban.stats.histogram import EACH, MDL, cut_columns, cut_points


def tables(n_classes):
    cells = st.one_of(st.integers(0, 5), st.sampled_from([0.0, 0.5, 40.0])).map(float)
    column = st.integers(0, 6).flatmap(
        lambda size: st.lists(cells, min_size=size * n_classes, max_size=size * n_classes)
    )
    return st.lists(
        column.map(lambda flat: np.reshape(flat, (n_classes, -1))), min_size=1, max_size=6
    )


def joined(columns):
    return np.concatenate(columns, axis=1), np.cumsum([0, *(c.shape[1] for c in columns)])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3).flatmap(tables), st.sampled_from([1, 7, 1 << 17]), st.booleans())
def test_losses_and_smoothings_are_those_of_each_column(columns, size, new_values):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(alone, "MAX_BLOCK_SIZE", size)
        patched.setattr(alone.blocks, "__defaults__", (size,))
        count, offsets = joined(columns)
        weight = np.full(len(count), 300.0)
        lam = alone.empirical_smoothings(count, offsets)
        loss = alone.categorical_losses(count, offsets, lam, weight, new_values=new_values)
    for j, column in enumerate(columns):
        end = np.array([0, column.shape[1]])
        assert lam[j] == alone.empirical_smoothing(column)
        one = alone.categorical_losses(column, end, lam[j : j + 1], weight, new_values=new_values)
        assert loss[j] == pytest.approx(one[0], rel=1e-12)
        assert np.isfinite(loss[j]) == bool(column.any())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3).flatmap(tables),
    st.lists(st.sampled_from([EACH, MDL, 2, 3, 5, 20]), min_size=6, max_size=6),
)
def test_columns_are_cut_as_each_alone(columns, rules):
    count, offsets = joined(columns)
    bins = np.array(rules[: len(columns)])
    starts, ends = cut_columns(count, offsets, bins)
    for j, (a, b) in enumerate(pairwise(ends)):
        assert starts[a] == offsets[j]
        cuts = starts[a + 1 : b] - offsets[j]
        assert cuts.tolist() == cut_points(columns[j], rules[j]).tolist()


def apart(sizes, max_size=0):
    """Blocks of one column each."""
    return ((j, j + 1) for j in range(len(sizes)))


def chosen(X, y, numeric):
    """The choice of every column."""
    return NaiveBayes(numeric=numeric, calibrate=False).fit(X, y).choices_


@pytest.mark.parametrize("numeric", ["auto", "gaussian", "poisson", "histogram"])
def test_many_columns_are_chosen_as_each_by_itself(numeric, monkeypatch):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 60)
    X = {f"bell{j}": rng.normal(y * 0.3, 1e-3 ** (j % 2), 60) for j in range(4)}
    X |= {f"count{j}": rng.poisson(3 + y, 60).astype(float) for j in range(3)}
    X |= {f"value{j}": rng.integers(0, 9 + 40 * j, 60) - 4.5 for j in range(2)}
    X["bell1"][7], X["bell2"][3] = 1e9, np.nan
    together = chosen(X, y, numeric)
    monkeypatch.setattr(alone, "blocks", apart)
    in_blocks = chosen(X, y, numeric)
    if numeric == "auto":
        assert {c.shape for c in together.values()} == {"gaussian", "poisson", "histogram"}
    for name, column in X.items():
        one = chosen({name: column}, y, numeric)[name]
        for many in (together[name], in_blocks[name]):
            assert (many.family, many.candidate.bins) == (one.family, one.candidate.bins)
            assert many.smoothing == one.smoothing
            assert many.loss == pytest.approx(one.loss, rel=1e-12)


def test_few_of_many_values_are_tried_evenly():
    columns = np.array([3, 5])
    offsets = np.array([0, 10, 14])
    value = np.arange(14.0)
    values = alone.CountedValues(columns, offsets, np.zeros(14, int), value, value)
    thin = values.thin(4)
    assert thin.value.tolist() == [0, 3, 6, 9, 10, 12]
    assert thin.offsets.tolist() == [0, 4, 6]
    assert thin.column.tolist() == [3] * 4 + [5] * 2
    last = thin.select(np.array([False, True]))
    assert (last.columns.tolist(), last.offsets.tolist()) == ([5], [0, 2])
    assert last.value.tolist() == [10, 12]


def test_blocks_of_numbers_are_judged_alike_by_any_number_of_threads(monkeypatch):
    """Columns are many enough for several blocks; one is left out, since its squares do not fit."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 6000)
    X = {f"x{j}": rng.normal(y * (j % 3), 1 + j) for j in range(9)}
    X |= {"counts": rng.poisson(1 + y), "huge": rng.normal(y, 1) * 1e200}
    losses = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("DECIBAN_THREADS", threads)
        choices = NaiveBayes(calibrate=False).fit(X, y).choices_.values()
        losses.append([(one.family, one.loss) for one in choices])
    assert losses[0] == losses[1] == losses[2]
    assert {"gaussian", "poisson"} <= {family for family, _ in losses[0]}
