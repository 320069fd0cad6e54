"""Strings counted by the block: the same as by a dictionary."""

from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.kernels.frequencies import Frequencies

TEXTS = st.lists(st.text(max_size=3) | st.sampled_from(["a", "ab", "é", "我"]), max_size=200)


@given(st.lists(st.tuples(TEXTS, st.integers(0, 1 << 40)), max_size=5))
def test_numbers_are_those_of_a_dictionary(batches):
    found, expected, order = Frequencies(), Counter(), {}
    for texts, count in batches:
        found.add(texts, count)
        order |= dict.fromkeys(texts)
        for text in texts:
            expected[text] += count
    assert found.texts == list(order)
    assert list(found.counts(found.texts)) == [expected[text] for text in order]
    assert len(found) == len(order)


@given(TEXTS, TEXTS)
def test_merging_is_adding(first, second):
    parts = [Frequencies(), Frequencies()]
    both, merged = Frequencies(), Frequencies()
    for part, texts in zip(parts, (first, second), strict=True):
        part.add(texts, 1)
        both.add(texts, 1)
        merged.merge(part.texts, part.counts(part.texts))
    assert merged.texts == both.texts
    assert merged.counts(merged.texts) == both.counts(both.texts)


def test_many_strings_and_strangers():
    found = Frequencies()
    texts = [str(i) for i in range(50_000)]
    found.add(texts, 2)
    found.add(["".join(text) for text in texts], 1)  # equal, but not the same
    assert set(found.counts(texts)) == {3}
    assert list(found.counts(["never", "0"])) == [0, 3]
    with pytest.raises(TypeError):
        found.add([b"0"], 1)
    with pytest.raises(ValueError, match="one number a text is needed, got 1 for 2"):
        found.merge(["a", "b"], array("q", [1]))
