"""Tokens and their codes: an exact table that grows, or a fixed number of buckets.

A table gives codes in the order in which tokens are first seen. Buckets need
no memory for tokens: a token's code is its hash, the same in every process,
so that what was counted in different places still adds up; different tokens
may share a bucket.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.kernels import text_order
from deciban.kernels.dictionary import Dictionary
from deciban.text.packing import pack

__all__ = ["Buckets", "Vocabulary"]


class Vocabulary:
    """Tokens and their codes 0, 1, 2, ..., in the order in which they are first seen.

    >>> known = Vocabulary(["spam", "ham"])
    >>> len(known), known.tokens(), known.codes(["ham", "eggs"]).tolist()
    (2, ['spam', 'ham'], [1, -1])
    """

    #: Not hashed.
    buckets = 0

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        self.table = Dictionary(tokens)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} tokens"

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[list[str]]]:
        return Vocabulary, (self.tokens(),)

    def tokens(self, codes: NDArray[np.intp] | None = None) -> list[str]:
        """The tokens of some codes; without any, all, in the order of their codes.

        >>> Vocabulary(["spam", "ham", "spa"]).tokens(np.array([2, 0]))
        ['spa', 'spam']
        """
        return self.table.labels(codes)

    def codes(self, tokens: Iterable[str], grow: bool = False) -> NDArray[np.int64]:
        """The code of each token, -1 where unknown; with ``grow`` none is."""
        column = pack(tokens)
        look = self.table.encode if grow else self.table.lookup
        return np.maximum(look(column.offsets, column.data, column.missing), -1)

    def order(self, codes: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Some codes, or all, in the order of their tokens' characters.

        >>> Vocabulary(["spam", "ham", "spa"]).order()
        array([1, 2, 0])
        >>> Vocabulary(["spam", "ham", "spa"]).order(np.array([0, 2]))
        array([2, 0])
        """
        offsets, data = self.table.texts()
        codes = np.arange(len(self)) if codes is None else codes
        at, tie = text_order.order(offsets[codes], offsets[codes + 1], data)
        codes = codes[at]
        for start, stop in _tied_runs(tie):  # a long prefix in common: rare
            tokens = {
                code: bytes(data[offsets[code] : offsets[code + 1]]) for code in codes[start:stop]
            }
            codes[start:stop] = sorted(tokens, key=tokens.__getitem__)
        return codes

    def add(self, other: Vocabulary) -> NDArray[np.int64]:
        """Take in all tokens of another one, in its order; their codes here.

        >>> known = Vocabulary(["a", "b"])
        >>> known.add(Vocabulary(["c", "b"])).tolist(), known.tokens()
        ([2, 1], ['a', 'b', 'c'])
        """
        offsets, data = other.table.texts()
        return self.table.encode(offsets, data, np.zeros(len(other), dtype=bool))


def _tied_runs(tie: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The runs [start, stop) of entries of which each but the first ties with the one before."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], tie, [False]]).astype(np.int8)))
    return [(int(a) - 1, int(b)) for a, b in edges.reshape(-1, 2)]


class Buckets:
    """A fixed number of codes for any number of tokens.

    >>> len(Buckets(2**20))
    1048576
    """

    table = None

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n < 2**31:
            raise ParameterError(
                f"the number of buckets must be a whole number from 1 to 2**31 - 1, got {n!r}.",
                hint="2**20 is a usual choice; collisions are rare while tokens are fewer",
            )
        self.buckets = n

    def __len__(self) -> int:
        return self.buckets

    def __repr__(self) -> str:
        return f"Buckets({self.buckets})"
