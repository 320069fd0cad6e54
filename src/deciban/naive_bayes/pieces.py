"""What naive Bayes adds up: a piece for every column that is counted, read off the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.explanation.measurement import as_written
from deciban.families.piece import Piece, missing_name
from deciban.schema import ColumnSchema, Schema
from deciban.stats.histogram import HISTOGRAM

if TYPE_CHECKING:
    from deciban.naive_bayes.blocks import Block
    from deciban.naive_bayes.model import NaiveBayesModel

FloatArray = NDArray[np.float64]

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def pieces(model: NaiveBayesModel) -> list[Piece]:
    """The pieces of all blocks but texts, in the order of the schema's columns."""
    made = [piece for block in model.blocks for piece in _block_pieces(model, block)]
    place = {name: j for j, name in enumerate(model.schema.names)}
    return sorted(made, key=lambda piece: place[piece.feature])


def column_homes(schema: Schema) -> dict[str, ColumnSchema]:
    """The column that each counted name belongs to."""
    return {n: c for c in schema.columns for n in (*c.numbers, *c.categories)}


def _block_pieces(model: NaiveBayesModel, block: Block) -> Iterator[Piece]:
    if block.input == "text":
        return
    homes = column_homes(model.schema)
    histogram = model.counts.tables.get(HISTOGRAM.name)
    columns = [] if histogram is None else histogram.cells.columns.tolist()
    for j, name in enumerate(block.columns):
        seen = None
        if histogram is not None and block.input == "numbers":
            seen = histogram.column(columns.index(name))
        piece = block.parameters.curve(j, seen).scale(model.discount)
        named = replace(piece, feature=homes[name].name, name=name)
        yield _in_words(named, block, homes[name])


def _in_words(piece: Piece, block: Block, home: ColumnSchema) -> Piece:
    """Values as a row would hold them, with words for weekdays, missing values and times."""
    if block.input == "missing":
        names = ("present", "missing")
        return replace(piece, name=missing_name(piece.name), names=names)
    if block.input == "numbers":
        x = np.array(piece.values)
        values = as_written(home, x)
        if home.unit and piece.edges is not None:
            ends = tuple(map(str, as_written(home, np.array(piece.edges))))
            return replace(piece, values=values, names=_between(ends))
        return replace(piece, values=values)
    if home.kind == "time" and piece.name.endswith(" (weekday)"):
        return replace(piece, names=tuple(WEEKDAYS[int(v)] for v in piece.values))
    return piece


def _between(ends: tuple[str, ...]) -> tuple[str, ...]:
    """Bins of times in words."""
    if not ends:
        return ()
    middle = [f"{low} – {high}" for low, high in pairwise(ends)]
    return (f"before {ends[0]}", *middle, f"from {ends[-1]}")
