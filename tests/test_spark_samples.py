"""Samples that cross the wire in pieces: the rows of least key first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.engines.spark import merging
from deciban.engines.spark.transfer import SHARES, sample_from_bytes, sample_to_bytes
from deciban.sources.labelled import labelled_scan
from deciban.sources.row_sample import RowSample
from places import categories, mixed, texts

TABLES = {"mixed": mixed(200), "categories": categories(100, 300), "texts": texts(90)}


def sampled(table, max_rows, **how):
    sample = RowSample(max_rows)
    for batch in labelled_scan(table, target="label", **how).labelled_batches():
        sample.add(batch)
    return sample


def check_same(one, other):
    assert (one.max_rows, one.n_rows, one.limit) == (other.max_rows, other.n_rows, other.limit)
    assert (one.rows_seen, one.weight_seen) == (other.rows_seen, other.weight_seen)
    assert one.stands_for == other.stands_for
    for a, b in zip(one.batches, other.batches, strict=True):
        assert repr(a.batch.tolist()) == repr(b.batch.tolist())  # NaN is as NaN
        assert a.classes[a.codes].tolist() == b.classes[b.codes].tolist()
        np.testing.assert_array_equal(a.weights, b.weights)


@pytest.mark.parametrize("name", list(TABLES))
@settings(max_examples=15, deadline=None)
@given(max_rows=st.integers(1, 350))
def test_all_pieces_are_the_sample(name, max_rows):
    how = {"weight": "weight"} if name == "categories" else {}
    sample = sampled(TABLES[name], max_rows, **how)
    pieces = sample_to_bytes(sample)
    assert 1 <= len(pieces) <= len(SHARES)
    check_same(sample_from_bytes(pieces), sample)


@settings(max_examples=25, deadline=None)
@given(max_rows=st.integers(1, 150), n_pieces=st.integers(1, 4))
def test_first_pieces_are_the_rows_of_least_key(max_rows, n_pieces):
    sample = sampled(TABLES["mixed"], max_rows)
    fewer = sample_from_bytes(sample_to_bytes(sample)[:n_pieces])
    assert fewer.n_rows >= min(sample.n_rows, max_rows * SHARES[n_pieces - 1])
    assert fewer.settled.keys.tolist() == sample.settled.keys[: fewer.n_rows].tolist()
    assert fewer.limit in (sample.limit, int(fewer.settled.keys[-1]))


@settings(max_examples=25, deadline=None)
@given(max_rows=st.integers(1, 40), n_parts=st.integers(1, 9), n_pieces=st.integers(1, 4))
def test_enough_rows_of_first_pieces_are_the_sample_of_all(max_rows, n_parts, n_pieces):
    """A merged sample that is full has the rows of least key, whatever was left behind."""
    table = TABLES["mixed"]
    whole = sampled(table, max_rows)
    parts = [
        sampled(table.take(np.arange(i, len(table), n_parts)), max_rows) for i in range(n_parts)
    ]
    merged = sample_from_bytes(sample_to_bytes(parts[0])[:n_pieces])
    for part in parts[1:]:
        merged = merged + sample_from_bytes(sample_to_bytes(part)[:n_pieces])
    if merged.n_rows >= max_rows:
        assert merged.settled.keys.tolist() == whole.settled.keys.tolist()


@pytest.mark.parametrize(("n_parts", "n_pieces"), [(1, 4), (7, 4), (8, 3), (32, 2), (128, 1)])
def test_more_parts_send_fewer_pieces(n_parts, n_pieces):
    sizes = merging._Sizes(n_parts, [7] * n_parts, [[1, 2, 3, 4]] * n_parts)
    assert sizes.n_pieces == n_pieces
    assert sizes.cut(n_pieces).parts == [7 + sum([1, 2, 3, 4][:n_pieces])] * n_parts
