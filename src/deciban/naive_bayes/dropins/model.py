"""The model of a drop-in classifier: a table of counts, its family, and how rows are encoded.

It needs no scikit-learn: files hold it, and commands score batches with it. The estimator scores
matrices with the same parameters, chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding.matrices import Caster
from deciban.errors import InputError
from deciban.families.complement import COMPLEMENT
from deciban.families.multinomial import MULTINOMIAL
from deciban.families.piece import Piece
from deciban.families.protocol import Family, Parameters
from deciban.families.settings import Settings
from deciban.formulas.formula import ByClass, Formula, HasColumnFormula, additive
from deciban.formulas.nodes import Condition, Expression
from deciban.labels import Labels
from deciban.models.leave_one_out_scores import KeptScores, pool
from deciban.models.novelty import RowLikelihoods
from deciban.models.prior import class_prior
from deciban.models.protocol import WordContribution
from deciban.naive_bayes.dropins.left_out import score_left_out
from deciban.schema import ColumnSchema, Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Column, Integers, Numbers
from deciban.sources.kept_rows import NOTHING_KEPT, KeptRows
from deciban.sources.matrix import MatrixRows
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.statistic import Matrix
from deciban.stats.table import Table

FloatArray = NDArray[np.float64]
#: The name of the one block of columns in the counts.
BLOCK = "X"
#: The block of the same rows without their weights, where the family needs both.
UNWEIGHTED = "rows"


class Encoder(Protocol):
    """How the rows of a classifier become what its family counts and scores."""

    @property
    def absent_value(self) -> float | None:
        """What a column holds in a row that does not name it."""

    def encode(self, X: MatrixRows, cells: Cells) -> Matrix:
        """A chunk of rows as the family counts them into these cells, checked."""

    def input(self, name: str, cells: Cells) -> tuple[Expression, tuple[Condition, ...]]:
        """A column as its family's formula reads it, and which rows are refused."""

    def values(self, column: int, piece: Piece) -> Piece:
        """What a column's curve shows, with values as a row would hold them."""

    def size(self, rows: Matrix) -> FloatArray:
        """How many values, or how large an amount, each encoded row has."""


@dataclass(frozen=True, eq=False)
class DropInModel:
    """A table of counts and what follows from it.

    ``feature_names`` are those of the columns, None is x0, x1, and so on. ``stated_prior`` is
    ``log P(c)``, None as counted; scores start from it where the model ``uses_prior``. ``kept``
    are rows that are judged when somebody asks, and ``scores`` those of rows that were judged
    before.
    """

    kind: str
    feature_names: Sequence[str] | None
    counts: Counts
    family: Family
    settings: Settings
    stated_prior: FloatArray | None
    encoder: Encoder
    uses_prior: bool = True
    kept: KeptRows = NOTHING_KEPT
    scores: KeptScores | None = None

    additive = True
    measured_evidence = None

    @cached_property
    def schema(self) -> Schema:
        """Columns of numbers, or of categories by name."""
        cells = self.table.cells
        named = cells.values is not None and not cells.coded
        names = self.feature_names or [f"x{j}" for j in range(len(cells.columns))]
        about = ("categorical", "names") if named else ("numeric", "numbers")
        return Schema(tuple(ColumnSchema(name, *about) for name in names))

    @property
    def table(self) -> Table:
        """The one block of columns."""
        return self.counts.tables[BLOCK]

    @property
    def classes(self) -> Labels:
        """The classes, in order."""
        return self.counts.classes

    @cached_property
    def fallback(self) -> FloatArray:
        """The posterior, as logarithms, of a row that no class can have produced: the prior."""
        if self.stated_prior is not None:
            return self.stated_prior
        weight = self.counts.weight
        return class_prior(weight, stated=None if weight.any() else "uniform")

    @cached_property
    def log_prior(self) -> FloatArray:
        """What scores start from."""
        return self.fallback if self.uses_prior else np.zeros(len(self.counts.classes))

    @property
    def prior_is_counted(self) -> bool:
        """Whether leaving a row out changes what scores start from."""
        return self.uses_prior and self.stated_prior is None and bool(self.counts.weight.any())

    @cached_property
    def parameters(self) -> Parameters:
        """The likelihood of all columns."""
        return self.family.estimate(self.table, self.settings)

    @cached_property
    def generative(self) -> Parameters:
        """The likelihood of rows at all; weights of complements are none."""
        if self.family is not COMPLEMENT:
            return self.parameters
        return MULTINOMIAL.estimate(self.table, self.settings)

    @cached_property
    def left_out(self) -> KeptScores | None:
        """The scores of counted rows, each left out; None where no rows are kept."""
        return pool(self.scores, score_left_out(self, self.kept))

    def with_left_out(self, scores: KeptScores | None) -> DropInModel:
        """The model with other scores of left-out rows."""
        return replace(self, scores=scores, kept=NOTHING_KEPT)

    def row_likelihoods(self, batch: Batch) -> RowLikelihoods:
        """``log P(x | c)``, (rows, classes), and the size of every row."""
        return self.likelihoods_of_matrix(self.matrix(batch))

    def likelihoods_of_matrix(self, X: MatrixRows) -> RowLikelihoods:
        """Those of the rows of a matrix."""
        rows = self.encode(X)
        out = np.zeros((X.shape[0], len(self.classes)))
        self.generative.add(rows, out)
        return RowLikelihoods(out, self.encoder.size(rows))

    @property
    def absent_value(self) -> float | None:
        """What a column holds in a row that does not name it."""
        return self.encoder.absent_value

    def encode(self, X: MatrixRows) -> Matrix:
        """A chunk of rows as the family scores them, checked."""
        return self.encoder.encode(X, self.table.cells)

    def score(self, X: MatrixRows, out: FloatArray) -> bool:
        """Write ``log P(c, x)`` of the rows of a matrix to ``out``, (rows, classes).

        Whether some category was never seen.
        """
        out[:] = self.log_prior
        rows = self.encode(X)
        self.parameters.add(rows, out)
        return self.n_known is not None and bool((rows >= self.n_known).any())

    @cached_property
    def n_known(self) -> NDArray[np.int64] | None:
        """From which code on a category of each column was never seen; None of other numbers."""
        values = self.table.cells.values
        return None if values is None else np.array(list(map(len, values)), dtype=np.int64)

    @cached_property
    def caster(self) -> Caster:
        """The types of the columns."""
        values = self.table.cells.values or ()
        known = {} if self.table.cells.coded else dict(zip(self.schema.names, values, strict=False))
        return Caster(self.schema, known)

    def unseen_rows(self, batch: Batch) -> dict[str, NDArray[np.intp]]:
        """The rows in which a column has a category that was never seen."""
        return self.unseen_of_matrix(self.matrix(batch))

    def unseen_of_matrix(self, X: MatrixRows) -> dict[str, NDArray[np.intp]]:
        """The rows of a matrix in which a column has a category that was never seen."""
        if self.n_known is None:
            return {}
        unseen = np.asarray(self.encode(X)) >= self.n_known
        by_name = zip(self.schema.names, unseen.T, strict=True)
        return {name: np.flatnonzero(rows) for name, rows in by_name if rows.any()}

    def log_joint(self, batch: Batch, out: FloatArray) -> bool:
        """Write ``log P(c, x)`` of the rows of a table to ``out``, (rows, classes).

        A row that no class can have produced has the fallback.
        """
        unseen = self.score(self.matrix(batch), out)
        impossible = np.all(np.isneginf(out), axis=1)
        if impossible.any():
            out[impossible] = self.fallback
        return unseen

    def contributions(self, batch: Batch) -> FloatArray:
        """The log likelihood of each column, (rows, columns, classes)."""
        return self.parameters.contributions(self.encode(self.matrix(batch)))

    def matrix(self, batch: Batch) -> NDArray[np.generic]:
        """The columns of a table as a matrix: of numbers, or of objects where some are names."""
        columns = [batch.columns[name] for name in self.schema.names]
        if all(column.kind == "numeric" for column in self.schema.columns):
            pairs = zip(self.schema.names, columns, strict=True)
            return np.column_stack([_numbers(name, column) for name, column in pairs])
        return np.column_stack([labels.object_array(column.tolist()) for column in columns])

    def pieces(self) -> Sequence[Piece]:
        """What each value of each column says."""
        return [
            replace(self.encoder.values(j, self.parameters.curve(j)), feature=name, name=name)
            for j, name in enumerate(self.schema.names)
        ]

    def formula(self) -> Formula:
        """Log joints and contributions as trees; what the encoder refuses has none."""
        parameters, columns = self.parameters, dict[str, ByClass]()
        refused: tuple[Condition, ...] = ()
        if not isinstance(parameters, HasColumnFormula):
            raise InputError(f"the family {self.family.name!r} has no formula.")
        for j, name in enumerate(self.schema.names):
            x, wrong = self.encoder.input(name, self.table.cells)
            columns[name], refused = parameters.formula(j, x), (*refused, *wrong)
        return additive(columns, self.log_prior, self.fallback, refused)

    def word_contributions(self, column: str, text: str) -> Sequence[WordContribution]:
        """None: matrices hold no texts."""
        return ()

    def expected_word_contributions(self) -> dict[str, FloatArray]:
        """None: matrices hold no texts."""
        return {}


def _numbers(name: str, column: Column) -> FloatArray:
    """A column of numbers, NaN where missing."""
    if isinstance(column, Numbers):
        return column.values
    if isinstance(column, Integers):
        return column.numbers().values
    raise InputError(
        f"column {name!r} was numeric in training and holds {type(column).__name__.lower()} now.",
        hint="cast the rows first: model.caster.cast(batch)",
    )
