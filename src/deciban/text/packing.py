"""Python's texts as a column of UTF-8."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deciban.source.columns import Strings

__all__ = ["packed"]


def packed(texts: Sequence[str | None]) -> Strings:
    """A column of texts; None is missing, lone surrogates are kept as three bytes.

    >>> packed(["a", None, "né"]).tolist()
    ['a', None, 'né']
    """
    parts = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    data = np.frombuffer(b"".join(parts), dtype=np.uint8)
    return Strings(offsets, data, np.array([text is None for text in texts], dtype=bool))
