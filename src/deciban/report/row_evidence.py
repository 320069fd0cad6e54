"""The evidence of columns in some rows: for models that have no table of it by value.

Evidence that depends on the other columns, or that is a weight times a number, has no table in
the model. But its mean can be taken: over all rows, and over those with about the same value.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import factorise, numbers
from deciban.errors import InputError
from deciban.evaluation.classifier import Classifier
from deciban.explanation import Curve, Importance, Weight
from deciban.families.histogram import edges_of
from deciban.labels import label_array
from deciban.report.rows import LabelledRows
from deciban.sources.columns import Times
from deciban.sources.literals import parse_time
from deciban.sources.tabular import Tabular, Value
from deciban.stats.cuts import cut_points
from deciban.stats.histogram import tabulate

FloatArray = NDArray[np.float64]

#: The evidence of more rows is not looked at.
MAX_ROWS = 20_000
#: Numbers are cut into so many bins.
N_BINS = 16
#: Evidence beyond this many decibans is taken for this much in means.
MAX_DECIBANS = 100.0


@runtime_checkable
class HasEvidence(Classifier, Protocol):
    """A model that gives the evidence of rows, in decibans, (rows, columns, classes)."""

    def evidence(self, X: Tabular) -> Tabular:
        """Decibans of every column for every class."""


@dataclass(frozen=True, eq=False)
class RowEvidence:
    """Some rows and their evidence, (rows, columns, classes), in decibans."""

    rows: LabelledRows
    codes: NDArray[np.intp]
    evidence: FloatArray
    classes: tuple[Hashable, ...]

    def importance(self) -> Importance:
        """The mean evidence of each column for the true class."""
        known = np.flatnonzero(self.codes < len(self.classes))
        true = self.evidence[known, :, self.codes[known]]
        mean = np.nan_to_num(true, posinf=MAX_DECIBANS, neginf=-MAX_DECIBANS).mean(axis=0)
        names = self.rows.batch.columns
        return Importance.of(
            [Weight(name, float(db)) for name, db in zip(names, mean, strict=True)], self.classes
        )

    def curve(self, name: str) -> Curve:
        """The mean evidence of about the same values of a column; no band."""
        j = list(self.rows.batch.columns).index(name)
        labels, middles, at, edges = self._cells(name)
        some = at >= 0
        rows = np.bincount(at[some], minlength=len(labels)).astype(np.float64)
        finite = np.clip(self.evidence[some, j], -MAX_DECIBANS, MAX_DECIBANS)
        total = np.stack(
            [np.bincount(at[some], finite[:, c], len(labels)) for c in range(finite.shape[1])],
            axis=1,
        )
        kind: Literal["category", "number"] = "category" if edges is None else "number"
        mean = total / np.maximum(rows, 1.0)[:, None]
        return Curve(name, kind, middles, labels, self.classes, None, mean, None, None, 0.95,
                     rows, edges)  # fmt: skip

    def _cells(
        self, name: str
    ) -> tuple[tuple[str, ...], tuple[Value, ...], NDArray[np.int64], tuple[float, ...] | None]:
        """Cells in words and by their values, the cell of every row, and cut points."""
        if name not in self.rows.schema.numbers:
            values, at = factorise(self.rows.batch.columns[name])
            return tuple(map(str, values.tolist())), tuple(values.tolist()), at, None
        x = numbers(self.rows.schema, self.rows.batch)
        x = x[:, [self.rows.schema.numbers.index(name)]]
        n_classes = int(self.codes.max()) + 1
        grid, counts = tabulate(x, self.codes, n_classes, None, label_array([name]))
        edges = edges_of(grid, 0, cut_points(counts.values, N_BINS))
        at = np.where(np.isnan(x[:, 0]), -1, np.searchsorted(edges, x[:, 0], side="right"))
        middles = tuple(float(np.median(x[at == b, 0])) for b in range(len(edges) + 1))
        shown = _as_written(self.rows, name, middles)
        return tuple(map(_label, shown)), shown, at, tuple(edges.tolist())


def _as_written(rows: LabelledRows, name: str, values: tuple[float, ...]) -> tuple[Value, ...]:
    """Numbers as they are, times as times."""
    unit = next(column.unit for column in rows.schema.columns if column.name == name)
    if not unit:
        return values
    micro = np.round(np.array(values) * 1e6).astype(np.int64)
    written = Times(micro, np.zeros(len(micro), dtype=bool), unit).tolist()
    return tuple(parse_time(unit, text or "") for text in written)


def _label(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def row_evidence(model: Classifier, rows: LabelledRows, codes: NDArray[np.intp]) -> RowEvidence:
    """The evidence of at most 20,000 rows, evenly spaced."""
    if not isinstance(model, HasEvidence):
        raise InputError(f"{type(model).__name__} gives no evidence by column.")
    n = rows.batch.n_rows
    at = np.arange(0, n, max(1, -(-n // MAX_ROWS)))
    some = rows if len(at) == n else rows.select(model, at)
    evidence = model.evidence(some.X)
    if not isinstance(evidence, np.ndarray):
        raise InputError("the evidence is sparse.", hint="give a dense matrix")
    return RowEvidence(some, codes[at], evidence, tuple(model.classes_.tolist()))
