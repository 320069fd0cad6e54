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
from deciban.kernels.dictionary import Dictionary
from deciban.text.packing import packed

__all__ = ["Buckets", "Vocabulary", "united"]


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

    def tokens(self) -> list[str]:
        """All tokens, in the order of their codes."""
        return self.table.labels()

    def codes(self, tokens: Iterable[str], grow: bool = False) -> NDArray[np.int64]:
        """The code of each token, -1 where unknown; with ``grow`` none is."""
        column = packed(list(tokens))
        look = self.table.encode if grow else self.table.lookup
        return np.maximum(look(column.offsets, column.data, column.missing), -1)

    def copy(self) -> Vocabulary:
        """One that grows by itself."""
        return Vocabulary(self.tokens())


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


def united(tables: Iterable[Vocabulary]) -> tuple[Vocabulary, list[NDArray[np.int64]]]:
    """One vocabulary of several, and the place of each one's codes in it.

    Codes are those of reading the tables one after the other.

    >>> one, places = united([Vocabulary(["a", "b"]), Vocabulary(["c", "b"])])
    >>> one.tokens(), [place.tolist() for place in places]
    (['a', 'b', 'c'], [[0, 1], [2, 1]])
    """
    whole = Vocabulary()
    return whole, [whole.codes(table.tokens(), grow=True) for table in tables]
