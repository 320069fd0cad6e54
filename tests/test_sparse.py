"""Sums that are mostly zero obey the laws of the same tables in full."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deciban.families.words import WORD_FAMILY, WordSettings
from deciban.kernels import tally as kernel
from deciban.kernels.tally import Pairs
from deciban.stats import rounding
from deciban.stats.cells import Cells
from deciban.stats.sparse import SparseSum, concatenate
from deciban.stats.table import Table
from deciban.stats.words import WORDS, Bags
from deciban.text import Tally, Tokenizer, Vocabulary, pack
from deciban.text import tally as tallies

AMOUNTS = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, 255.0, 256.0, 70_000.0, 2.0**33, 0.5, 0.1])


def tables(classes: int, cells: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, (classes, cells), elements=AMOUNTS)


@st.composite
def shapes(draw):
    return draw(st.integers(1, 5)), draw(st.integers(0, 6))


@given(st.data())
def test_arithmetic_is_that_of_the_table_in_full(data):
    shape = data.draw(shapes())
    a, b = data.draw(tables(*shape)), data.draw(tables(*shape))
    left, right = SparseSum.of(a), SparseSum.of(b)
    np.testing.assert_array_equal(left.dense(), a)
    np.testing.assert_array_equal((left + right).dense(), a + b)
    np.testing.assert_array_equal((left * 0.25).dense(), a * 0.25)
    np.testing.assert_array_equal(left.subtract(right).dense(), rounding.difference(a, b))
    assert left.equals(right) == rounding.same(a, b)
    assert left.equals(SparseSum.of(a.copy()))
    np.testing.assert_array_equal(left.used(), a.any(axis=0))
    np.testing.assert_allclose(left.by_cell, a.sum(axis=0))
    np.testing.assert_allclose(left.by_class, a.sum(axis=1))
    values, times = left.distinct()
    assert times.sum() == a.size
    assert all(np.sum(a == v) == t for v, t in zip(values, times, strict=True))


@given(st.data())
def test_whole_numbers_come_back_to_the_bit(data):
    shape = data.draw(shapes())
    whole = hnp.arrays(np.float64, shape, elements=st.integers(0, 2**40).map(float))
    a, b = SparseSum.of(data.draw(whole)), SparseSum.of(data.draw(whole))
    back = (a + b).subtract(b)
    assert back.values.dtype == a.values.dtype
    np.testing.assert_array_equal(back.values, a.values)
    np.testing.assert_array_equal(back.starts, a.starts)
    np.testing.assert_array_equal(back.classes, a.classes)


@given(st.data())
def test_other_axes(data):
    shape = data.draw(shapes())
    a = data.draw(tables(*shape))
    table = SparseSum.of(a)
    classes = np.array(data.draw(st.lists(st.booleans(), min_size=shape[0], max_size=shape[0])))
    cells = data.draw(st.lists(st.booleans(), min_size=shape[1], max_size=shape[1]))
    cells = np.array(cells, dtype=bool)
    np.testing.assert_array_equal(table.select(classes, cells).dense(), a[np.ix_(classes, cells)])
    rows = np.array(data.draw(st.permutations(range(shape[0] + 2))))[: shape[0]]
    where = np.array(data.draw(st.permutations(range(shape[1] + 3))), dtype=np.intp)[: shape[1]]
    wide = np.zeros((shape[0] + 2, shape[1] + 3))
    wide[np.ix_(rows, where)] = a
    np.testing.assert_array_equal(table.place(rows, where, wide.shape).dense(), wide)
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, shape[1])] * 2)))
    np.testing.assert_array_equal(table.between(start, stop).dense(), a[:, start:stop])
    np.testing.assert_array_equal(concatenate([table, table]).dense(), np.hstack([a, a]))


def test_places_of_minus_one_are_left_out():
    table = SparseSum.of(np.array([[1.0, 2.0, 3.0]]))
    placed = table.place(np.array([0]), np.array([-1, 1, 0]), (1, 2))
    np.testing.assert_array_equal(placed.dense(), [[3.0, 2.0]])


def test_values_are_kept_in_few_bytes():
    for value, kind in ((255, "u1"), (256, "u2"), (65_536, "u4"), (2**32, "f8"), (0.5, "f8")):
        assert SparseSum.of(np.array([[float(value)]])).values.dtype == kind


# ---------------------------------------------------------------------- the sink behind it

TEXTS = st.lists(st.text("abcd ", max_size=12), min_size=1, max_size=30)


@pytest.mark.parametrize("direct", [0, 64, 1 << 19])
@given(st.data())
@settings(max_examples=20)
def test_pairs_are_those_of_a_table(direct, data):
    texts = data.draw(TEXTS)
    y = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts))))
    weight = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    )
    rule, usual = Tokenizer(one_letter=True, ngrams=(1, 2)), kernel.DIRECT
    for w in (None, weight.astype(np.float64)):
        vocabulary = rule.vocabulary()
        expected = rule.count(pack(texts), vocabulary, y, 4, w, documents=True)
        kernel.DIRECT = direct
        try:
            tally = Tally(rule)
            for row in range(len(texts)):  # rows one by one: sinks and classes grow
                some = None if w is None else w[row : row + 1]
                tally.add(pack(texts[row : row + 1]), y[row : row + 1], np.zeros(1, int), some)
            names, sums = tally.result(np.arange(4))
        finally:
            kernel.DIRECT = usual
        assert names.tolist() == sorted(vocabulary.tokens())
        at = vocabulary.codes(names.tolist())
        np.testing.assert_array_equal(sums["amount"].dense(), expected.tokens[:, at])
        np.testing.assert_array_equal(sums["documents"].dense(), expected.documents[:, at])


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_of_many_words_and_classes(weighted):
    """So many that tables grow to their largest, and words that come late share one."""
    rng = np.random.default_rng(0)
    words = rng.zipf(1.2, (4000, 60)) % 60_000
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    y, weight = rng.integers(0, 20, 4000), rng.integers(1, 4, 4000) / 2 if weighted else None
    rule, vocabulary = Tokenizer(), Vocabulary()
    expected = rule.count(pack(texts), vocabulary, y, 20, weight, documents=True)
    tally = Tally(rule)
    for rows in (slice(0, 1500), slice(1500, 4000)):
        some = None if weight is None else weight[rows]
        tally.add(pack(texts[rows]), np.arange(20), y[rows], some)
    assert len(vocabulary) * 20 * 8 > kernel.DIRECT
    names, sums = tally.result(np.arange(20))
    at = vocabulary.codes(names.tolist())
    np.testing.assert_array_equal(sums["amount"].dense(), expected.tokens[:, at])
    np.testing.assert_array_equal(sums["documents"].dense(), expected.documents[:, at])


def test_a_sink_is_followed_by_another_before_it_is_full(monkeypatch):
    monkeypatch.setattr(tallies, "MAX_SINK_TOKENS", 3)
    tally = Tally(Tokenizer())
    for _ in range(5):
        tally.add(pack(["spam spam ham"]), np.array(["bad"]), np.array([0]))
    assert len(tally.sinks) > 1
    _, sums = tally.result(np.array(["bad"]))
    np.testing.assert_array_equal(sums["amount"].dense(), [[5.0, 10.0]])
    np.testing.assert_array_equal(sums["documents"].dense(), [[5.0, 5.0]])


def test_rows_with_and_without_weights():
    tally, ham = Tally(Tokenizer()), np.array(["ham"])
    for weight in (None, np.array([0.5]), None):
        tally.add(pack(["spam spam"]), ham, np.array([0]), weight)
    _, sums = tally.result(ham)
    np.testing.assert_array_equal(sums["amount"].dense(), [[5.0]])
    np.testing.assert_array_equal(sums["documents"].dense(), [[2.5]])


def test_weights_are_not_added_to_integers():
    one, rule = np.zeros(1, dtype=np.int64), Tokenizer()
    plain, weighted = Pairs(one, 1, None), Pairs(one, 1, np.array([0.5]))
    rule.scan(pack(["spam"]), rule.vocabulary(), True, weighted)
    with pytest.raises(TypeError, match="weights cannot be added"):
        plain.absorb(weighted, np.zeros(1, np.int32), np.zeros(1, np.int32))
    with pytest.raises(TypeError, match="weights, or none"):
        weighted.aim(one, None)


# ---------------------------------------------------------------------- texts left out


@pytest.mark.parametrize("method", ["bayes", "map", "ml"])
@pytest.mark.parametrize("contrast", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("more", [{}, {"idf": 0.5, "uniformity": 0.5}], ids=["plain", "corrected"])
@given(st.data())
@settings(max_examples=20)
def test_a_text_left_out_is_a_text_never_counted(method, contrast, more, data):
    texts = data.draw(st.lists(st.text("abc ", min_size=1, max_size=8), min_size=2, max_size=6))
    n = len(texts)
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), dtype=np.intp)
    how = WordSettings(method, 1.5, contrast=contrast, **more)
    vocabulary, rule = Tokenizer().vocabulary(), Tokenizer(one_letter=True)

    def bags(some):
        pointers, codes, counts = rule.encode(pack(some), vocabulary)
        data = counts.astype(np.float64)
        return Bags(data, codes, pointers.astype(np.int32), len(vocabulary))

    def estimated(sums, y):
        cells = Cells.of_values(["text"], [np.arange(sums["amount"].shape[1])])
        table = Table(WORDS, cells, np.bincount(y, minlength=3) + 0.0, sums)
        return WORD_FAMILY.estimate(table, how)

    bags(texts)
    whole = bags(texts)
    params = estimated(WORDS.count(whole, y, 3, None, None), y)
    left = params.leave_one_out(whole, y, np.ones(n))
    for row in range(n):
        others = [i for i in range(n) if i != row]
        rest = WORDS.count(bags([texts[i] for i in others]), y[others], 3, None, None)
        known = rest["amount"].used()
        rest = {key: part.select(np.ones(3, bool), known) for key, part in rest.items()}
        less = estimated(rest, y[others])
        one = bags(texts[row : row + 1])
        keep = known[one.indices]
        at = (np.cumsum(known) - 1)[one.indices[keep]].astype(np.int32)
        bag = Bags(one.data[keep], at, np.array([0, keep.sum()], np.int32), int(known.sum()))
        expected = np.zeros((1, 3))
        less.add(bag, expected)
        np.testing.assert_allclose(left[row], expected[0], rtol=1e-9, atol=1e-9)
