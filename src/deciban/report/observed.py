"""What columns said in these rows: for models whose counts do not say it by themselves.

The evidence of a value that depends on the other columns, or that is a weight times
a number, has no table in the model. But it can be looked at: on average over
the rows, and over those with about the same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import factorise, numbers
from deciban.errors import InputError
from deciban.explanation import Curve, Importance, Weight
from deciban.families.histogram import edges_of
from deciban.labels import label_array
from deciban.report.rows import Rows
from deciban.sources.columns import Times
from deciban.sources.row import parse_time
from deciban.stats.cuts import cut_points
from deciban.stats.histogram import tabulate

FloatArray = NDArray[np.float64]

#: The evidence of more rows is not looked at; numbers are cut into so many bins.
ROWS, BINS = 20_000, 16


@dataclass(frozen=True, eq=False)
class Observed:
    """Some rows and their evidence, (rows, columns, classes), in decibans."""

    rows: Rows
    codes: NDArray[np.intp]
    said: FloatArray
    classes: tuple[Any, ...]

    def importance(self) -> Importance:
        """What each column said for the true class, on average."""
        known = np.flatnonzero(self.codes < len(self.classes))
        true = self.said[known, :, self.codes[known]]
        mean = np.nan_to_num(true, posinf=100.0, neginf=-100.0).mean(axis=0)
        names = self.rows.batch.columns
        return Importance.of(
            [Weight(name, float(db)) for name, db in zip(names, mean, strict=True)], self.classes
        )

    def curve(self, name: str) -> Curve:
        """What about the same values of a column said, on average; no band."""
        j = list(self.rows.batch.columns).index(name)
        labels, middles, at, edges = self._cells(name)
        some = at >= 0
        rows = np.bincount(at[some], minlength=len(labels)).astype(np.float64)
        finite = np.clip(self.said[some, j], -100.0, 100.0)
        total = np.stack(
            [np.bincount(at[some], finite[:, c], len(labels)) for c in range(finite.shape[1])],
            axis=1,
        )
        kind: Any = "category" if edges is None else "number"
        mean = total / np.maximum(rows, 1.0)[:, None]
        return Curve(name, kind, middles, labels, self.classes, None, mean, None, None, 0.95,
                     rows, edges)  # fmt: skip

    def _cells(self, name: str) -> tuple[Any, Any, NDArray[Any], tuple[float, ...] | None]:
        """Cells in words and by their values, the cell of every row, and cut points."""
        if name not in self.rows.schema.numbers:
            values, at = factorise(self.rows.batch.columns[name])
            return tuple(map(str, values.tolist())), tuple(values.tolist()), at, None
        x = numbers(self.rows.schema, self.rows.batch)
        x = x[:, [self.rows.schema.numbers.index(name)]]
        n_classes = int(self.codes.max()) + 1
        grid, counts = tabulate(x, self.codes, n_classes, None, label_array([name]))
        edges = edges_of(grid, 0, cut_points(counts.values, BINS))
        at = np.where(np.isnan(x[:, 0]), -1, np.searchsorted(edges, x[:, 0], side="right"))
        middles = tuple(float(np.median(x[at == b, 0])) for b in range(len(edges) + 1))
        shown = _shown(self.rows, name, middles)
        return tuple(map(_label, shown)), shown, at, tuple(edges.tolist())


def _shown(rows: Rows, name: str, values: tuple[float, ...]) -> tuple[Any, ...]:
    """Numbers as they are, times as times."""
    unit = next(column.unit for column in rows.schema.columns if column.name == name)
    if not unit:
        return values
    micro = np.round(np.array(values) * 1e6).astype(np.int64)
    written = Times(micro, np.zeros(len(micro), dtype=bool), unit).tolist()
    return tuple(parse_time(unit, text or "") for text in written)


def _label(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def observed(model: Any, rows: Rows, codes: NDArray[np.intp]) -> Observed:
    """The evidence of at most 20,000 rows, evenly spaced."""
    n = rows.batch.n_rows
    at = np.arange(0, n, max(1, -(-n // ROWS)))
    some = rows if len(at) == n else rows.some(model, at)
    said = model.evidence(some.X)
    if not isinstance(said, np.ndarray):
        raise InputError("the evidence is sparse.", hint="give a dense matrix")
    return Observed(some, codes[at], said, tuple(model.classes_.tolist()))
