"""Counts in shards, as executors of Spark merge them: whatever the order, the sum is the whole."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import AODE, NaiveBayes
from deciban.aode import spread
from deciban.engines.spark import shards
from deciban.stats.counts import Counts
from places import categories, mixed, texts

TABLES = {"mixed": mixed(120), "categories": categories(300, 900), "texts": texts(60)}


def counted(make, name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "AODE counts no text")
        return make().fit(TABLES[name], target="label")


COUNTS = {name: counted(NaiveBayes, name).counts_ for name in TABLES}
PAIRS = {name: counted(AODE, name).model_.pair_counts for name in TABLES}


@pytest.mark.parametrize("name", list(TABLES))
@settings(max_examples=20, deadline=None)
@given(n_shards=st.integers(1, 9), data=st.data())
def test_shards_are_the_whole_in_any_order(name, n_shards, data):
    counts = COUNTS[name]
    parts = shards.split(counts, n_shards)
    assert len(parts) == n_shards
    assert shards.join(data.draw(st.permutations(parts))) == counts


@pytest.mark.parametrize("name", list(TABLES))
@settings(max_examples=20, deadline=None)
@given(n_shards=st.integers(1, 9), data=st.data())
def test_shards_of_pairs_are_the_whole_in_any_order(name, n_shards, data):
    counts = PAIRS[name]
    parts = spread.split(counts, n_shards)
    assert spread.join(data.draw(st.permutations(parts))) == counts


def test_a_value_has_one_shard_whoever_counts_it():
    one = Counts.of({"city": [f"city {i}" for i in range(200)]}, [1] * 200)
    other = Counts.of({"city": [f"city {i}" for i in range(300, 100, -1)]}, [2] * 200)
    both = [a + b for a, b in zip(shards.split(one, 5), shards.split(other, 5), strict=True)]
    assert shards.join(both) == one + other
    sizes = [part.tables["categorical"].cells.size for part in both]
    assert sum(sizes) == 301
    assert max(sizes) < 120


def test_shards_cross_the_wire():
    for part in shards.split(COUNTS["mixed"], 4):
        assert Counts.from_bytes(part.to_bytes()) == part
    whole = PAIRS["mixed"]
    sizes = []
    for part in spread.split(whole, 9):
        sizes.append(part.pairs.size)
        assert spread.from_bytes(whole.cut_points, spread.to_bytes(part)) == part
    assert max(sizes) < whole.pairs.size / 2
    assert np.sum(sizes) < 3 * whole.pairs.size
