"""Counts as bytes: what comes back is equal to the bit, and what is not whole is refused."""

import numpy as np
import pytest

from deciban import AODE, Counts, NaiveBayes
from deciban.errors import DecibanError, InputError, ModelFileError
from mixed import table

X, Y = table(60, n_classes=3)


def counts():
    notes = [f"{word} friend {i % 7}" for i, word in enumerate(["good", "bad", "odd"] * 20)]
    return NaiveBayes(kinds={"note": "text"}).fit({**X, "note": notes}, Y).counts_


def test_they_come_back_and_add_up():
    one = counts()
    data = one.to_bytes()
    again = Counts.from_bytes(data)
    assert again == one
    assert again.to_bytes() == data
    assert again + one == one * 2
    assert Counts.from_bytes(memoryview(data)) == one


def test_counts_of_pairs():
    one = AODE().fit(X, Y).counts_
    assert Counts.from_bytes(one.to_bytes()) == one


def test_a_changed_byte_is_noticed():
    """Wherever it is: refused, or of no meaning, as those of a zip's dates are."""
    one = Counts.of({"size": ["S", "M"]}, ["ham", "spam"])
    data = one.to_bytes()
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 0x15
        try:
            assert Counts.from_bytes(bytes(changed)) == one
        except DecibanError:
            continue


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_bytes_that_are_cut_off(share):
    data = counts().to_bytes()
    with pytest.raises(ModelFileError, match="these bytes"):
        Counts.from_bytes(data[: int(share * len(data))])


def test_other_things(tmp_path):
    NaiveBayes().fit(X, Y).save(tmp_path / "m.deciban")
    with pytest.raises(ModelFileError, match=r"hold a NaiveBayes, not counts.*load"):
        Counts.from_bytes((tmp_path / "m.deciban").read_bytes())
    with pytest.raises(InputError, match="from bytes, got str"):
        Counts.from_bytes("spam")
    with pytest.raises(InputError, match="from bytes, got ndarray"):
        Counts.from_bytes(np.zeros(3))
