"""One row as the blocks of naive Bayes read it, by the shortest way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from deciban.encoding.row import EncodedRow
from deciban.naive_bayes.blocks import Block
from deciban.naive_bayes.texts import TextEncoder
from deciban.sources.columns import Strings
from deciban.stats.statistic import FloatArray, Matrix

__all__ = ["RowBlocks", "Scores"]


class Scores(Protocol):
    """What scores rows: parameters, or a likelihood that learns."""

    def add(self, X: Matrix, out: FloatArray) -> None:
        """Add the log likelihood of every row under each class to ``out``, (rows, classes)."""


class _Part(NamedTuple):
    """What a block reads of a row: ``whole`` where that is all of its input."""

    input: str
    positions: Sequence[int]
    whole: bool
    text: TextEncoder | None


class RowBlocks:
    """The blocks of a model, and what each reads of a row."""

    def __init__(self, blocks: Sequence[Block], texts: Mapping[str, TextEncoder]) -> None:
        self.parts = [
            _Part(block.input, at := block.positions.tolist(), at == list(range(len(at))),
                  texts.get(block.name))
            for block in blocks
        ]  # fmt: skip

    def matrices(self, row: EncodedRow) -> list[Matrix]:
        """The row as each block reads it, (1, columns)."""
        out: list[Matrix] = []
        for of, positions, whole, text in self.parts:
            if of == "text":
                out.append(_bags(text, row.texts[positions[0]]))
            elif of == "missing":
                out.append(_gaps(row, positions))
            else:
                values = row.numbers if of == "numbers" else row.codes
                some = values if whole and len(positions) == len(values) else [
                    values[j] for j in positions
                ]  # fmt: skip
                out.append(np.array([some], dtype=np.float64 if of == "numbers" else np.int64))
        return out

    def add(self, scores: Sequence[Scores], row: EncodedRow, out: FloatArray) -> None:
        """Add the log likelihood of the row under each class to ``out``, (1, classes)."""
        for each, X in zip(scores, self.matrices(row), strict=True):
            each.add(X, out)


def _gaps(row: EncodedRow, positions: Sequence[int]) -> Matrix:
    """Whether values are missing: numbers and then categories."""
    numbers, codes = row.numbers, row.codes
    n = len(numbers)
    gaps = [numbers[j] != numbers[j] if j < n else codes[j - n] < 0 for j in positions]
    return np.array([gaps], dtype=np.int64)


def _bags(encoder: TextEncoder | None, text: str | None) -> Matrix:
    if encoder is None:
        raise TypeError("a block of text has an encoder")
    data = b"" if text is None else text.encode()
    offsets = np.array([0, len(data)], dtype=np.int64)
    gap = np.array([text is None])
    return encoder.encode_texts(Strings(offsets, np.frombuffer(data, np.uint8), gap))
