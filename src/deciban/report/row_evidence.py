"""The evidence of columns in some rows: for models that have no table of it by value.

Evidence that depends on the other columns, or that is a weight times a number, has no table in
the model. But its mean can be taken: over all rows, and over those with about the same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.evaluation.classifier import Classifier
from deciban.explanation import Curve, Importance
from deciban.explanation.measurement import ValueCells, build_curve, value_cells
from deciban.labels import Labels
from deciban.models.measured_evidence import MeasuredEvidence, finite
from deciban.report.rows import LabelledRows
from deciban.sources.tabular import Tabular

FloatArray = NDArray[np.float64]

#: The evidence of more rows is not looked at.
MAX_ROWS = 20_000


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
    classes: Labels

    def importance(self) -> Importance:
        """The mean evidence of each column for the true class; other classes are not counted."""
        known = np.flatnonzero(self.codes < len(self.classes))
        evidence, y = self.evidence[known], self.codes[known]
        measured = MeasuredEvidence.of_rows(evidence, y, np.ones(len(y)), self.classes)
        return Importance.of_measured(list(self.rows.batch.columns), measured, self.classes)

    def curve(self, name: str) -> Curve | None:
        """The mean evidence of about the same values of a column; none if it has no value."""
        for j, cells in value_cells(self.rows.schema, self.rows.batch):
            if self.rows.schema.names[j] == name:
                return self._curve(j, cells)
        return None

    def _curve(self, j: int, cells: ValueCells) -> Curve:
        some = cells.at >= 0
        rows = np.bincount(cells.at[some], minlength=len(cells.values)).astype(np.float64)
        total = np.zeros((len(rows), len(self.classes)))
        np.add.at(total, cells.at[some], finite(self.evidence[some, j]))
        mean = total / np.maximum(rows, 1.0)[:, None]
        piece = build_curve(self.rows.schema.columns[j], cells.values, cells.edges, mean, rows)
        return Curve(piece.name, piece.kind, piece.values, piece.labels,
                     tuple(self.classes.tolist()), None, mean, None, None, 0.95, rows,
                     cells.edges)  # fmt: skip


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
    return RowEvidence(some, codes[at], evidence, model.classes_)
