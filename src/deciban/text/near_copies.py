"""Near copies among texts: a campaign of mails, a quoted post, a form letter.

Two texts are near copies if they share most of their distinct tokens: their Jaccard similarity,
``|A and B| / |A or B|``, is at least :data:`SIMILARITY`. Comparing all pairs would never end, so
every text has a signature (*minhash*, Broder 1997): under each of many hash functions the
least of its tokens. Two signatures agree in a place with a probability equal to the
similarity. Texts that agree in a whole band of places meet in a bucket; those of a bucket that
agree often enough with the one of the least signature are linked, and linked texts are one group.

Tokens are given as hashes of their bytes, not as codes of a vocabulary, so that
groups depend neither on the order of texts nor on what else was read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIMILARITY", "group_near_copies", "near_copy_share"]

IntArray = NDArray[np.int64]
HashArray = NDArray[np.uint64]

#: The share of common tokens from which on texts are near copies.
SIMILARITY = 0.6
#: Bands of a signature, and places of a band: texts of similarity 0.6 share one of these
#: bands with a probability of 0.96, those of 0.3 with one of 0.18; then they are compared.
BANDS, BAND_PLACES = 24, 4
#: Bands by which many copies are noticed: those of similarity 0.9 with a probability of 0.96.
NOTICE_BANDS = 3
#: The seed of the hash functions: the groups of two runs are equal.
SEED = 20_240_229
#: An odd number that spreads bits: 2 ** 64 divided by the golden ratio.
KEY_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def group_near_copies(tokens: HashArray, starts: IntArray) -> IntArray:
    """The group of each text, numbered in the order of their first texts.

    The tokens of text ``i``, as hashes of 64 bits, are ``tokens[starts[i] : starts[i + 1]]``;
    texts without tokens are copies of each other.

    >>> texts = [[1, 2, 3, 4, 5], [8, 9], [1, 2, 3, 4, 6], [], [9, 8], []]
    >>> tokens = np.array([token for text in texts for token in text], dtype=np.uint64)
    >>> starts = np.cumsum([0, *map(len, texts)])
    >>> group_near_copies(tokens, starts)
    array([0, 1, 0, 2, 1, 2])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(starts) - 1
    signatures = _signatures(tokens, starts)
    order = np.argsort(_keys(signatures), kind="stable")
    signatures = signatures[order]
    links = [_band_links(signatures, band) for band in range(BANDS)]
    one, other = (np.concatenate(ends) for ends in zip(*links, strict=True))
    ends = order[one], order[other]
    graph = coo_array((np.ones(len(one), dtype=np.int8), ends), shape=(n, n))
    _, component = connected_components(graph, directed=False)
    _, first, group = np.unique(component, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[group])


def near_copy_share(tokens: HashArray, starts: IntArray) -> float:
    """About which share of texts has a near copy among the others, by few hash functions.

    It may be less than :func:`group_near_copies` says, since copies with many changes are missed.

    >>> tokens = np.array([1, 2, 3, 4, 8, 9, 1, 2, 3, 4], dtype=np.uint64)
    >>> round(near_copy_share(tokens, np.array([0, 4, 6, 10])), 2)
    0.67
    """
    n = len(starts) - 1
    if n < 2:
        return 0.0
    signatures = _signatures(tokens, starts, NOTICE_BANDS)
    copies = np.zeros(n, dtype=bool)
    for band in range(NOTICE_BANDS):
        for ends in _band_links(signatures, band):
            copies[ends] = True
    return float(copies.mean())


def _signatures(tokens: HashArray, starts: IntArray, bands: int = BANDS) -> HashArray:
    """The least hash of every text under every function, (texts, functions)."""
    random = np.random.default_rng(SEED)
    functions = bands * BAND_PLACES
    odd = random.integers(0, 2**63, functions, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = random.integers(0, 2**63, functions, dtype=np.uint64)
    full = np.flatnonzero(np.diff(starts) > 0)
    out = np.full((functions, len(starts) - 1), np.iinfo(np.uint64).max, dtype=np.uint64)
    for row, multiplier, mask in zip(out, odd, mixed, strict=True):
        hashes = (tokens ^ mask) * multiplier  # wraps around: that is the hash function
        hashes ^= hashes >> np.uint64(32)
        hashes *= multiplier
        if len(full):
            row[full] = np.minimum.reduceat(hashes, starts[:-1][full])
    return np.ascontiguousarray(out.T)


def _keys(places: HashArray) -> HashArray:
    """One hash of some places of every signature."""
    keys = np.zeros(len(places), dtype=np.uint64)
    for column in places.T:
        keys = (keys ^ column) * KEY_MULTIPLIER
        keys ^= keys >> np.uint64(29)
    return keys


def _band_links(signatures: HashArray, band: int) -> tuple[IntArray, IntArray]:
    """Texts that share a band with another and are near copies of it: the pairs of both."""
    keys = _keys(signatures[:, band * BAND_PLACES : (band + 1) * BAND_PLACES])
    _, first, bucket = np.unique(keys, return_index=True, return_inverse=True)
    owner = first[bucket]
    other = np.flatnonzero(owner != np.arange(len(owner)))
    agree = (signatures[other] == signatures[owner[other]]).mean(axis=1)
    near = agree >= SIMILARITY
    return owner[other[near]].astype(np.int64), other[near].astype(np.int64)
