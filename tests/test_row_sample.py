"""The rows of least key: of a table, whatever the order, the batches and who reads it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import AODE, BayesClassifier, NaiveBayes, sources
from deciban.kernels import keys as kernel
from deciban.sources.batch import LabelledBatch
from deciban.sources.labelled import labelled_scan
from deciban.sources.row_keys import content_keys, label_keys, mix, row_keys, seed_of
from deciban.sources.row_sample import RowSample

VALUES = st.one_of(st.none(), st.sampled_from(["a", "b", "é", "\U0001f600", ""]))
NUMBERS = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, 1e308, 5e-324, 3.0]))
ROWS = st.lists(st.tuples(VALUES, NUMBERS, st.sampled_from("xy")), min_size=1, max_size=60)
KINDS = {"s": "categorical", "n": "numeric"}


def labelled(rows, weight=None, n_batch=7):
    names = ("s", "n", "label")
    columns = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    schema = {"s": pl.String, "n": pl.Float64, "label": pl.String}
    table = sources.scan(pl.DataFrame(columns, schema=schema), rows=n_batch)
    weight = None if weight is None else np.array(weight, dtype=float)
    return labelled_scan(table, target="label", weight=weight, kinds=KINDS)


def sampled(rows, k, **how):
    kept = RowSample(k)
    for batch in labelled(rows, **how).labelled_batches():
        kept.add(batch)
    return kept


def contents(kept):
    parts = [
        (*row.values(), str(label), weight)
        for batch in kept.batches
        for row, label, weight in zip(
            batch.batch.tolist(), batch.classes[batch.codes], batch.weights, strict=True
        )
    ]
    return parts, kept.rows_seen, kept.weight_seen, kept.stands_for


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 70), st.integers(1, 9), st.randoms(use_true_random=False))
def test_neither_order_nor_batches_matter(rows, k, n_batch, random):
    wanted = contents(sampled(rows, k))
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert contents(sampled(shuffled, k, n_batch=n_batch)) == wanted


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 70), st.data())
def test_parts_add_up(rows, k, data):
    cut = data.draw(st.integers(1, len(rows)))
    parts = [sampled(some, k) for some in (rows[:cut], rows[cut:]) if some]
    whole = sum(parts[1:], parts[0])
    assert contents(whole) == contents(sampled(rows, k))
    assert contents(parts[-1] + parts[0]) == contents(sampled(rows, k)) or len(parts) == 1


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(1, 70), st.data())
def test_a_weight_is_worth_copies(rows, k, data):
    times = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    copies = [row for row, n in zip(rows, times, strict=True) for _ in range(n)]
    one, other = contents(sampled(rows, k, weight=times)), contents(sampled(copies, k))
    assert (one[0], one[2:]) == (other[0], other[2:])


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 70))
def test_the_least_keys_are_kept(rows, k):
    """Against all keys at once, sorted; every row's weight is the number of its copies."""
    whole = LabelledBatch.concatenate(list(labelled(rows).labelled_batches()))
    keys, counts = np.unique(content_keys(whole), return_counts=True)
    kept = sampled(rows, k)
    found = [batch.weights for batch in kept.batches]
    np.testing.assert_array_equal(np.concatenate(found), counts[:k])
    np.testing.assert_array_equal(content_keys(kept.batches[0]), keys[:k])
    assert kept.n_rows == min(k, len(keys))
    assert kept.stands_for == (1.0 if len(keys) <= k else len(rows) / counts[:k].sum())


def test_fewer_rows_are_those_of_a_smaller_sample():
    rows = [(None, float(i), "xy"[i % 2]) for i in range(1000)]
    whole, small = sampled(rows, 1000), sampled(rows, 100)
    part = whole.part(10)
    assert part.rows.batch.tolist() == small.batches[0].batch.tolist()
    assert part.stands_for == small.stands_for == 10.0
    assert whole.n_rows == 1000
    whole.thin(100)
    assert contents(whole) == contents(small)
    chunks = [chunk.n_rows for chunk in whole.chunks(30)]
    assert chunks == [30, 30, 30, 10]


def test_a_sample_is_even():
    """Of 20,000 rows about every tenth value is in a tenth of the rows: within five deviations."""
    rows = [(None, float(i), "x") for i in range(20_000)]
    kept = sampled(rows, 2_000, n_batch=3_000).batches[0].batch.columns["n"].values
    counts = np.histogram(kept, 10, (0, 20_000))[0]
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200 * 0.9)


# ---------------------------------------------------------------------- keys


def batch_of(table):
    return next(iter(sources.scan(table)))


def test_a_whole_number_has_the_key_of_the_float():
    ints = batch_of(pl.DataFrame({"x": [3, None, -7, 0]}))
    floats = batch_of(pl.DataFrame({"x": [3.0, None, -7.0, -0.0]}))
    np.testing.assert_array_equal(row_keys(ints), row_keys(floats))
    np.testing.assert_array_equal(label_keys(np.array([1, 0])), label_keys(np.array([1.0, 0.0])))


def test_large_whole_numbers_are_told_apart():
    keys = row_keys(batch_of(pl.DataFrame({"x": [2**60, 2**60 + 1, -(2**60)]})))
    assert len(set(keys.tolist())) == 3


@pytest.mark.parametrize("name", ["pandas", "polars", "dict"])
def test_the_library_does_not_matter(name):
    columns = {"s": ["a", "b", None], "n": [0.5, None, 3.0], "b": [True, False, True]}
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "dict": dict}[name](columns)
    wanted = row_keys(batch_of(columns))
    np.testing.assert_array_equal(row_keys(batch_of(table)), wanted)


def test_columns_are_told_apart_by_name_not_by_place():
    one = row_keys(batch_of({"a": ["x"], "b": ["y"]}))
    assert one == row_keys(batch_of({"b": ["y"], "a": ["x"]}))
    assert one != row_keys(batch_of({"a": ["y"], "b": ["x"]}))
    assert row_keys(batch_of({"a": [""]})) != row_keys(batch_of(pl.DataFrame({"a": [None]})))


def test_the_hash_is_that_of_postgresql():
    """hashtextextended and hashfloat8extended of PostgreSQL 15."""
    texts = [b"", b"a", b"spam", b"twelve bytes", b"thirteen byte", "é\U0001f600".encode()]
    assert [kernel.hash_text(text, 42) for text in texts] == [
        6158832220375811857,
        6942402718208252407,
        10282270122219320752,
        15232331071596157945,
        10249508054428537921,
        5086456123068706974,
    ]
    out = np.zeros(4, dtype=np.uint64)
    kernel.add_numbers(np.array([0.0, 1.5, -1e308, np.nan]), 42, out)
    assert out.tolist() == [42, 12614423083427455833, 7361386302486214104, 13876398792257206220]


def lookup3(data, seed):
    """hash_bytes_extended of PostgreSQL, byte by byte."""
    mask = 0xFFFFFFFF

    def rotate(x, k):
        return (x << k | x >> (32 - k)) & mask

    def stir(a, b, c):
        for k in (4, 6, 8, 16, 19, 4):
            a, c = ((a - c) & mask) ^ rotate(c, k), (c + b) & mask
            a, b, c = b, c, a
        return a, b, c

    a = b = c = (len(data) + 0x9E3779B9 + 3923095) & mask
    if seed:
        a, b, c = stir((a + (seed >> 32)) & mask, (b + (seed & mask)) & mask, c)
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)] + [0] * 3
    for i in range(0, len(data) - 11, 12):
        a, b, c = stir(*((x + w) & mask for x, w in zip((a, b, c), words[i // 4 :], strict=False)))
    words = words[len(data) // 12 * 3 :]
    a, b, c = (a + words[0]) & mask, (b + words[1]) & mask, (c + (words[2] << 8)) & mask
    for k in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotate(b, k)) & mask
        a, b, c = b, c, a
    return a << 32 | b


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=300), st.integers(0, 2**64 - 1))
def test_texts_are_hashed_as_byte_by_byte(texts, seed):
    assert [kernel.hash_text(text, seed) for text in texts[:5]] == [
        lookup3(text, seed) for text in texts[:5]
    ]
    data = np.frombuffer(b"".join(texts), np.uint8)
    offsets = np.cumsum([0, *map(len, texts)])
    out = np.zeros(len(texts), dtype=np.uint64)
    kernel.add_texts(offsets, data, np.zeros(len(texts), np.uint8), seed, out)
    assert out.tolist() == [lookup3(text, seed) for text in texts]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(), max_size=300), st.integers(0, 2**64 - 1))
def test_numbers_are_hashed_as_byte_by_byte(values, seed):
    X = np.empty((len(values), 3))
    X[:, 1] = values
    out = np.zeros(len(values), dtype=np.uint64)
    kernel.add_numbers(X[:, 1], seed, out)
    clean = [np.nan if value != value else value for value in values]
    assert out.tolist() == [
        lookup3(np.float64(value).tobytes(), seed) if value else seed for value in clean
    ]


def test_mixed_keys_are_all_different():
    keys = np.arange(100_000, dtype=np.uint64)
    assert len(np.unique(mix(keys))) == len(keys)
    assert keys[1] == 1  # not in place
    assert seed_of("a") != seed_of("b")


# ---------------------------------------------------------------------- models


@pytest.mark.parametrize("make", [NaiveBayes, AODE, BayesClassifier])
def test_sorted_rows_make_the_same_model(make, monkeypatch):
    monkeypatch.setattr("deciban.sources.sample.SAMPLE_ROWS", 100)
    monkeypatch.setattr("deciban.aode.estimator.MAX_CALIBRATION_ROWS", 100)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    frame = pl.DataFrame({"n": rng.normal(y, 1), "s": rng.choice(list("abc"), 600), "y": y})
    how = {"max_rows": 200} if make is BayesClassifier else {}
    one, other = (make(**how).fit(f, target="y") for f in (frame, frame.sort("n")))
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))
    if make is not BayesClassifier:
        assert one.temperature_ == other.temperature_


def test_forgetting_leaves_the_calibration_in_proportion():
    """Rows leave the counts exactly; what they selected stays, for so many rows as are left."""
    X, y = {"x": list("aabbab") * 10}, [1, 1, 2, 2, 1, 2] * 10
    whole = NaiveBayes().fit(X, y)
    before = whole.model_.calibration
    whole.forget({"x": list("aabbab") * 5}, y[:30])
    assert whole.counts_ == NaiveBayes().fit({"x": list("aabbab") * 5}, y[:30]).counts_
    np.testing.assert_allclose(whole.model_.calibration.loss, before.loss / 2)
