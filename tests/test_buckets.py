"""Tokens in buckets: counts are added and taken back as those of a dictionary are."""

from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.kernels import buckets
from deciban.kernels.lexicon import Lexicon

COUNTS = st.tuples(st.integers(0, 9), st.integers(0, 9))
PAIRS = st.dictionaries(st.text(max_size=4), COUNTS, max_size=40)
SECRET = 0x123456789ABCDEF0


def lexicon_of(pairs):
    lexicon = Lexicon()
    lexicon.merge_rows([(token, *pair) for token, pair in pairs.items()])
    return lexicon


def rows_of(pairs):
    return buckets.counted(lexicon_of(pairs), SECRET)


def total(*many):
    out = {token: (0, 0) for pairs in many for token in pairs}
    for pairs in many:
        for token, (ham, spam) in pairs.items():
            out[token] = out[token][0] + ham, out[token][1] + spam
    return out


@given(PAIRS, PAIRS)
def test_adding_is_counting_together_and_subtracting_undoes_it(one, other):
    rows, more = rows_of(one), rows_of(other)
    both = buckets.add(rows, more)
    assert both == buckets.add(more, rows) == rows_of(total(one, other))
    assert buckets.subtract(both, more) == rows
    assert buckets.subtract(both, rows) == more


@given(PAIRS, st.integers(0, 12), PAIRS)
def test_what_is_in_buckets_is_found_again(pairs, bits, others):
    cut = dict(buckets.cut(rows_of(pairs), bits))
    assert b"".join(cut.values()) == rows_of(pairs)
    assert all(0 <= number < 1 << bits and rows for number, rows in cut.items())
    for number, rows in cut.items():
        buckets.check(rows, number, bits)
    lexicon = lexicon_of(dict.fromkeys({**pairs, **others}, (0, 0)))
    for first in (0, len(lexicon) // 2):
        lexicon.forget()
        keys = buckets.keys(lexicon, first, SECRET)
        numbers = buckets.numbers(keys, bits)
        assert numbers == sorted({key >> (64 - bits) for key in keys})
        own = {number: cut.get(number, b"") for number in numbers}
        buckets.merge(lexicon, first, keys, own, bits)
        expected = [pairs.get(text, (0, 0)) for text in lexicon.texts]
        counts = [ham + (spam << 32) for ham, spam in expected]
        assert list(lexicon.counts()) == [0] * first + counts[first:]


@given(st.sets(st.integers(0, 4) | st.integers(2**64 - 5, 2**64 - 1)), st.integers(0, 3))
def test_hashes_that_are_not_spread_are_found_too(kept, bits):
    asked = [0, 1, 3, 2**62, 2**64 - 3, 2**64 - 1]
    rows = array("Q", [word for key in sorted(kept) for word in (key, 1)]).tobytes()
    lexicon = lexicon_of({str(key): (0, 0) for key in asked})
    own = {**dict.fromkeys(range(1 << bits), b""), **dict(buckets.cut(rows, bits))}
    buckets.merge(lexicon, 0, array("Q", asked), own, bits)
    assert list(lexicon.counts()) == [int(key in kept) for key in asked]


def test_rows_are_in_the_order_of_their_hashes():
    pairs = {f"{'x' * (i % 5)}{i}é我"[: 3 + i % 7] + str(i): (i, 1) for i in range(5000)}
    keys = list(array("Q", rows_of(pairs))[::2])
    lexicon = lexicon_of(pairs)
    assert keys == sorted(set(buckets.keys(lexicon, 0, SECRET)))
    assert Counter(key >> 60 for key in keys).most_common(1)[0][1] < 400  # of 312 in the mean


@given(st.lists(st.text(max_size=6), unique=True), st.integers(0, 2**64 - 1))
def test_the_hash_hangs_on_characters_and_secret_alone(texts, secret):
    """Not on how wide the text is in memory that they come from."""
    wide = [(text + "\U00010000")[:-1] for text in texts]
    one, other = (
        buckets.keys(lexicon_of(dict.fromkeys(t, (0, 0))), 0, secret) for t in (texts, wide)
    )
    assert one == other
    assert len(set(one)) == len(texts)
    if texts:
        assert one != buckets.keys(lexicon_of(dict.fromkeys(texts, (0, 0))), 0, secret ^ 1)


def test_what_was_never_added_is_not_subtracted():
    rows = rows_of({"a": (1, 2), "b": (3, 0)})
    for never in ({"a": (2, 0)}, {"a": (0, 3)}, {"c": (0, 1)}, {"a": (1, 2), "c": (1, 0)}):
        assert buckets.subtract(rows, rows_of(never)) is None
    assert buckets.subtract(rows, rows_of({"a": (1, 2)})) == rows_of({"b": (3, 0)})


def test_rows_that_nobody_can_have_written():
    def rows(*values):
        return array("Q", values).tobytes()

    buckets.check(rows(1, 1, 2, 1), 0, 1)
    for wrong in (
        rows(2, 1, 1, 1),
        rows(1, 1, 1, 1),
        rows(1 << 63, 1),
        rows(1, 1 << 31),
        rows(1, 1 << 63),
        rows(1),
    ):
        with pytest.raises(ValueError, match=r"bucket|count"):
            buckets.check(wrong, 0, 1)
    with pytest.raises(ValueError, match="the count 2147483648"):
        buckets.add(rows(1, 2**31 - 1), rows(1, 1))
    for bits in (-1, 31):
        with pytest.raises(ValueError, match="bits"):
            buckets.cut(rows(1, 1), bits)
    with pytest.raises(ValueError, match="every token"):
        buckets.merge(lexicon_of({"a": (0, 0)}), 0, array("Q"), {}, 0)
    with pytest.raises(KeyError):
        buckets.merge(lexicon_of({"a": (0, 0)}), 0, array("Q", [1]), {}, 0)
