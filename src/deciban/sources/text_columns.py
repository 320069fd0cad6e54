"""Columns of text: as bytes, as texts of Python, as codes, or beside the values that were written.

All are :class:`Strings` to whoever asks for bytes; the others write them when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import arrow, texts
from deciban.sources.tabular import Value

__all__ = ["CodedTexts", "Mask", "Mixed", "RowNumbers", "Strings", "TextCodes", "TextList", "mask"]

Mask = NDArray[np.bool_]
RowNumbers = NDArray[np.intp]
#: Codes among the texts of a dictionary; where they are bytes, no row is without a text.
TextCodes = NDArray[np.uint8] | NDArray[np.int32]


def mask(values: list[Value], missing: Mask) -> list[Value]:
    """The values, None where one is missing."""
    return [None if gap else value for value, gap in zip(values, missing.tolist(), strict=True)]


@dataclass(frozen=True, eq=False)
class Strings:
    """Text: row ``i`` is ``data[offsets[i]:offsets[i + 1]]``, in UTF-8.

    The first offset need not be 0. Bytes that are not UTF-8 are kept as they
    are; as Python text they are written with surrogate escapes, so that
    different bytes stay different.

    >>> text = np.frombuffer("spamé".encode(), np.uint8)
    >>> Strings(np.array([0, 4, 6]), text, np.array([False, False])).tolist()
    ['spam', 'é']
    """

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    missing: Mask

    def __len__(self) -> int:
        return len(self.missing)

    def slice(self, start: int, stop: int) -> Strings:
        """Rows ``start .. stop``, as a view."""
        return Strings(self.offsets[start : stop + 1], self.data, self.missing[start:stop])

    def take(self, rows: RowNumbers) -> Strings:
        """Some rows, copied."""
        some = np.ascontiguousarray(rows)  # the loop takes no strides
        return Strings(*texts.take(self.offsets, self.data, some), self.missing[rows])

    def tolist(self) -> list[str | None]:
        """Python values, None where missing."""
        start = self.offsets.tolist()
        first = start[0] if start else 0
        data = self.data[first : start[-1] if start else 0].tobytes()
        values = [
            data[a - first : b - first].decode("utf-8", "surrogateescape")
            for a, b in pairwise(start)
        ]
        return mask(values, self.missing)


@dataclass(frozen=True, eq=False)
class Mixed(Strings):
    """Texts of values of several types, and the values: what is cast is cast as what it was.

    >>> texts = Strings(*texts.utf8(["true", "1.5"]))
    >>> column = Mixed(texts.offsets, texts.data, texts.missing, [True, 1.5]).slice(1, 2)
    >>> column.tolist(), column.values
    (['1.5'], [1.5])
    """

    values: list[Value]

    def slice(self, start: int, stop: int) -> Mixed:
        """Rows ``start .. stop``, as a view."""
        return self._with(super().slice(start, stop), self.values[start:stop])

    def take(self, rows: RowNumbers) -> Mixed:
        """Some rows, copied."""
        return self._with(super().take(rows), [self.values[row] for row in rows.tolist()])

    @staticmethod
    def _with(some: Strings, values: list[Value]) -> Mixed:
        return Mixed(some.offsets, some.data, some.missing, values)


class _Unwritten(Strings):
    """Texts whose bytes are written when they are asked for."""

    @cached_property
    def _utf8(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], Mask]:
        raise NotImplementedError

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the bytes of each text start."""
        return self._utf8[0]

    @property
    def data(self) -> NDArray[np.uint8]:
        """The bytes of all texts."""
        return self._utf8[1]

    @property
    def missing(self) -> Mask:
        """True where there is no text."""
        return self._utf8[2]


class TextList(_Unwritten):
    """Texts of Python, or None. Some rows of them cost no copy.

    >>> column = TextList(["spam", None, "é"]).take(np.array([2, 1]))
    >>> column.tolist(), column.data.tolist()
    (['é', None], [195, 169])
    """

    texts: list[str | None]

    def __init__(self, texts: list[str | None]) -> None:
        object.__setattr__(self, "texts", texts)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def _utf8(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], Mask]:
        return texts.utf8(self.texts)

    def slice(self, start: int, stop: int) -> TextList:
        """Texts ``start .. stop``."""
        return TextList(self.texts[start:stop])

    def take(self, rows: RowNumbers) -> TextList:
        """Some texts."""
        return TextList([self.texts[row] for row in rows.tolist()])


class CodedTexts(_Unwritten):
    """Texts of a dictionary: the code of each row among its texts, -1 where there is none.

    Codes are counted without a look at the texts of rows. Some texts may be those of no row.

    >>> some = CodedTexts(TextList(["spam", "ham"]), np.array([1, -1, 1], np.int32))
    >>> some.tolist(), some.take(np.array([2])).data.tobytes()
    (['ham', None, 'ham'], b'ham')
    """

    dictionary: Strings
    codes: TextCodes

    def __init__(self, dictionary: Strings, codes: TextCodes) -> None:
        object.__setattr__(self, "dictionary", dictionary)
        object.__setattr__(self, "codes", codes)

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _utf8(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], Mask]:
        known, codes = self.dictionary, self.codes
        return *arrow.take(known.offsets, known.data, codes.astype(np.int64)), codes < 0

    def slice(self, start: int, stop: int) -> CodedTexts:
        """Rows ``start .. stop``, as a view."""
        return CodedTexts(self.dictionary, self.codes[start:stop])

    def take(self, rows: RowNumbers) -> CodedTexts:
        """Some rows, copied."""
        return CodedTexts(self.dictionary, self.codes[rows])
