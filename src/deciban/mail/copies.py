"""Near copies among messages: a campaign is one thing that was seen, however often it was sent.

Texts that share most of their words are near copies. Each has a signature (*one permutation
minhash*, Li, Owen and Zhang 2012): words fall into places by a hash, and of each place the least
hash is kept. Two signatures agree in about as many places as the texts have words in common.
Texts that agree in a band of places are compared with the first of them, and linked if most
places agree.

:func:`deciban.text.near_copies.group_near_copies` does this for millions of texts; for the thousand
of a sample, importing NumPy and SciPy would take ten times as long as the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from deciban.kernels.messages import are_near, least_hashes

__all__ = ["Signature", "group", "signature"]

#: The least hash of every place, in eight bytes; -1 where no word fell.
Signature: TypeAlias = bytes

#: Places of a signature, a power of two, and places of a band.
PLACES, BAND_PLACES = 32, 2
BAND_BYTES = 8 * BAND_PLACES
_EMPTY_BAND = b"\xff" * BAND_BYTES
#: The share of places, of those that are not empty in both, in which near copies agree at least.
SIMILARITY = 0.6
#: An odd number that spreads bits: 2 ** 32 divided by the golden ratio.
MULTIPLIER = 0x9E3779B1


def signature(words: Iterable[str]) -> Signature:
    """The signature of a set of words; it does not depend on their order."""
    return least_hashes(words, MULTIPLIER, PLACES)


def group(signatures: Sequence[Signature]) -> list[int]:
    """For each text, the number of the first of its near copies, which may be its own.

    >>> texts = ["win a big prize now", "minutes of monday", "win a big prize today"]
    >>> group([signature(text.split()) for text in texts])
    [0, 1, 0]
    """
    first = list(range(len(signatures)))
    for start in range(0, 8 * PLACES, BAND_BYTES):
        owners = {_EMPTY_BAND: -1}
        for number, own in enumerate(signatures):
            owner = owners.setdefault(own[start : start + BAND_BYTES], number)
            if owner in (number, -1):
                continue
            one, other = _root(first, owner), _root(first, number)
            if one != other and are_near(signatures[owner], own, SIMILARITY):
                first[max(one, other)] = min(one, other)
    return [_root(first, number) for number in range(len(signatures))]


def _root(first: list[int], number: int) -> int:
    while first[number] != number:
        number = first[number]
    return number
