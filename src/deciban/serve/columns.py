"""The columns of a model as a page needs them: what each may hold, and how often it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families.piece import Piece, missing_name
from deciban.models.columns import constant_values, required_columns
from deciban.models.protocol import HasCounts, Model
from deciban.plain import PlainDict
from deciban.schema import ColumnSchema
from deciban.sources.tabular import Value
from deciban.stats.categories import count_by_column
from deciban.stats.histogram import grid_of

__all__ = ["describe_columns", "typical_row"]

FloatArray = NDArray[np.float64]

#: No more values of a category are named in the description of a model.
MAX_NAMED_VALUES = 200
#: A histogram is drawn with no more bars than this.
MAX_BARS = 40
#: ... and leaves out this share of rows at either end.
MAX_TAIL_SHARE = 0.002


def describe_columns(model: Model) -> list[PlainDict]:
    """Every column: its kind and why, the values it had in training, and how often.

    ``values`` are categories, with their ``rows``. Numbers have ``bars`` instead, ``[low, high,
    rows]`` each, in order. Neither has rows where none were counted.
    """
    pieces = {piece.name: piece for piece in model.pieces()}
    constants, required = constant_values(model), set(required_columns(model))
    counted = _counted_numbers(model)
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "unit": column.unit,
            "used": column.used,
            "required": column.name in required,
            "reason": column.reason,
            "constant": constants.get(column.name),
            **_values(column, pieces.get(column.name), counted.get(column.name)),
        }
        for column in model.schema.columns
    ]


def _values(column: ColumnSchema, piece: Piece | None, counted: _Counted | None) -> PlainDict:
    values = [] if piece is None else [_plain(value) for value in piece.values]
    rows = None if piece is None or piece.rows is None else piece.rows.sum(axis=1)
    if column.numbers:
        known = counted or _Counted.of_piece(values, rows, piece)
        drawn = None if known is None or column.unit else known
        return {
            "values": values[:MAX_NAMED_VALUES],
            "bars": [] if drawn is None else drawn.bars(),
            "whole": drawn is not None and bool((drawn.x == np.floor(drawn.x)).all()),
        }
    common = list(range(len(values)))
    if rows is not None:
        common.sort(key=lambda i: -rows[i])
    kept = sorted(common[:MAX_NAMED_VALUES])
    return {
        "values": [values[i] for i in kept],
        "rows": None if rows is None else [float(rows[i]) for i in kept],
    }


def _plain(value: Value) -> Any:
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True, eq=False)
class _Counted:
    """Numbers in order, and how many rows had each."""

    x: FloatArray
    rows: FloatArray

    @classmethod
    def of_piece(
        cls, values: list[Value], rows: FloatArray | None, piece: Piece | None
    ) -> _Counted | None:
        """The values that a piece distinguishes, if they are numbers."""
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        if piece is None or not numbers or len(numbers) < len(values):
            return None
        return cls(np.array(numbers), np.zeros(len(numbers)) if rows is None else rows)

    def bars(self) -> list[list[float]]:
        """Bars of equal width over nearly all values, and how many rows are in each.

        >>> _Counted(np.array([0.0, 1.0, 4.0]), np.array([2.0, 3.0, 1.0])).bars()[0]
        [0.0, 0.1, 2.0]
        """
        reached = np.cumsum(self.rows) / max(float(self.rows.sum()), 1.0)
        first = int(np.searchsorted(reached, MAX_TAIL_SHARE)) if self.rows.any() else 0
        last = int(np.searchsorted(reached, 1 - MAX_TAIL_SHARE)) if self.rows.any() else len(self.x)
        x = self.x[first : last + 1]
        low, high = float(x[0]), float(x[-1])
        if high <= low or not np.isfinite(high - low):
            return []
        counts, edges = np.histogram(x, MAX_BARS, (low, high), weights=self.rows[first : last + 1])
        ends = edges.tolist()
        return [[ends[i], ends[i + 1], float(n)] for i, n in enumerate(counts.tolist())]


def _counted_numbers(model: Model) -> dict[str, _Counted]:
    """The numbers that were counted exactly, by column."""
    table = model.counts.tables.get("histogram") if isinstance(model, HasCounts) else None
    if table is None:
        return {}
    grid = grid_of(table)
    return {
        str(name): _Counted(grid.middles(j), part.sum(axis=0))
        for j, (name, part) in enumerate(
            zip(table.cells.columns.tolist(), count_by_column(table), strict=True)
        )
        if part.any()
    }


def typical_row(model: Model, at: int) -> PlainDict:
    """The commonest value of each column among rows of a class."""
    names = {column.name: column for column in model.schema.columns if column.used}
    row = {}
    for piece in model.pieces():
        column = names.get(piece.name)
        if column is None or piece.name == missing_name(piece.feature) or column.kind == "text":
            continue
        share = piece.share if piece.rows is None else piece.rows
        if np.ptp(share) == 0:  # nothing is known of how often values come
            share = piece.log_likelihood
        value = piece.values[int(share[:, at].argmax())]
        row[piece.name] = value.item() if isinstance(value, np.generic) else value
    return row
