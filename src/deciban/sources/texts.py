"""Texts alone: as a table of one column, read some at a time, and as one whole column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from deciban.errors import MissingValueError, ShapeError
from deciban.kernels.texts import are_texts, batch_end
from deciban.sources import arrow, frames, objects
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings, TextList
from deciban.sources.scan import BATCH_ROWS, BatchScan
from deciban.sources.tabular import Tabular, Value

__all__ = ["scan_texts", "text_column", "text_list"]

#: The most texts in a batch.
BATCH_TEXTS = 8192
#: About how many characters they have together: few where a vocabulary is learned, as memory
#: is short then; more where it is known already.
LEARNED_CHARACTERS, KNOWN_CHARACTERS = 1 << 19, 1 << 21


def scan_texts(X: Tabular, names: Sequence[str] | None = None) -> BatchScan:
    """A table of one column: that of training, the series' own name, or "text".

    >>> scan_texts(["good film", "bad film"]).names
    ('text',)
    """
    if names is not None and len(names) != 1:
        raise ShapeError(
            f"a list of texts is one column, and {len(names)} are needed.",
            hint=f"pass a table with the columns {', '.join(names[:5])}",
        )
    own = getattr(X, "name", None)
    name = names[0] if names else own if own and isinstance(own, str) else "text"
    if not isinstance(X, list | tuple):
        return frames.scan_dict({name: X}, BATCH_ROWS)
    return _scan_list(name, list(X) if isinstance(X, tuple) else X, known=names is not None)


def _scan_list(name: str, texts: list[Value], *, known: bool) -> BatchScan:
    """Texts some at a time: no second copy of all of them is made."""
    size = KNOWN_CHARACTERS if known else LEARNED_CHARACTERS

    def read() -> Iterator[Batch]:
        stop = 0
        while stop < len(texts):
            start, stop = stop, batch_end(texts, stop, BATCH_TEXTS, size)
            some = texts[start:stop]
            # Errors about other values than texts are those of any column.
            column = TextList(some) if are_texts(some) else objects.column(name, some)
            yield Batch(len(some), {name: column})

    return BatchScan((name,), read, n_rows=len(texts))


def text_column(texts: Any) -> Strings | None:
    """A column of Polars, Arrow or pandas as it lies in memory, without holes; None for a list.

    A Series of pandas that holds Python's texts is none: a list of them is read faster.
    """
    if not hasattr(texts, "__arrow_c_stream__"):
        return None
    if isinstance(getattr(texts, "dtype", None), np.dtype):
        return None
    column = arrow.read_series(texts, "text")
    if not isinstance(column, Strings):
        return None
    if column.missing.any():
        raise MissingValueError(
            f"document {int(column.missing.argmax())} is missing.",
            hint="leave such rows out, or fill them with an empty text",
        )
    return column


def text_list(texts: Any) -> list[Value]:
    """The values of any column or iterable of texts."""
    if hasattr(texts, "to_pylist"):
        return list(texts.to_pylist())
    return texts if isinstance(texts, list) else list(texts)
