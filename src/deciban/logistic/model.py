"""The logistic regression model: logits that are linear in the columns of a table.

Conventions
-----------
- ``coef`` is (m, columns), ``intercept`` is (m,), and logits are ``X coef' + intercept``. Two
  classes have one logit, m = 1: the log-odds of the second against the first. K >= 3 classes
  have one each.
- Where ``bounds`` are known, X is within them: a number beyond is taken for the end of its range.
- The posterior is the softmax of the log joint, (rows, classes): (0, logit) for two classes,
  the logits themselves for more.
- One against the rest (K >= 3 alone), each class has a classifier of its own, and the log joint
  is the logarithm of its sigmoid.
- Contributions are measured from the *mean row* m of training: ``w_cj (x_j - m_j)``, and the
  offset ``log_prior`` is the log joint of that row. So a column says nothing where it is as
  usual, whatever its unit and zero. Of a model that keeps no summary of its columns (read from a
  file that has none), m = 0 and the offset is the intercept.
- One against the rest, the log joint f of a logit is not linear in it. What it changes by from
  the mean row is dealt out as the logit is: ``w_cj (x_j - m_j) (f(z) - f(z_m)) / (z - z_m)``, the
  integral of its gradient along the line from the mean row. So it adds up as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.errors import InputError, MissingValueError
from deciban.explanation.measurement import as_written
from deciban.families.piece import Piece
from deciban.formulas import Formula
from deciban.labels import Labels
from deciban.logistic import formula
from deciban.logistic.bounds import Matrix, clip
from deciban.logistic.columns import ColumnSummary
from deciban.logistic.formula import MIN_LOGIT_STEP
from deciban.logistic.typicality import ColumnLikelihoods
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.models.scores import decibans
from deciban.schema import ColumnSchema, Schema
from deciban.sources.batch import Batch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from deciban.logistic.left_out import FittedRows
    from deciban.models.leave_one_out_scores import KeptScores
    from deciban.models.novelty import RowLikelihoods
    from deciban.models.protocol import Model, WordContribution

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """Classes and coefficients; see the conventions above.

    ``feature_names`` are the names of the columns, (columns,); None is x0, x1, and so on.
    ``columns`` are what the columns were in training; None is not known. ``scores`` are those of
    rows that were left out or held out; where there are ``fitted`` rows, these are judged instead
    when somebody asks. ``bounds``, (2, columns), are the least and greatest number that a column
    may have; None is any.

    >>> from deciban.sources.columns import Numbers
    >>> model = LogisticModel(np.array(["a", "b"]), np.array([[2.0]]), np.array([-1.0]))
    >>> batch, out = Batch(1, {"x0": Numbers(np.array([3.0]))}), np.empty((1, 2))
    >>> model.log_joint(batch, out)                 # no category was never seen
    False
    >>> out
    array([[0., 5.]])
    """

    classes: Labels
    coef: FloatArray
    intercept: FloatArray
    one_vs_rest: bool = False
    feature_names: Labels | None = None
    columns: ColumnSummary | None = None
    scores: KeptScores | None = None
    fitted: FittedRows | None = None
    bounds: FloatArray | None = None

    # ------------------------------------------------------------------ what it is

    @property
    def kind(self) -> str:
        """The name of the estimator, by which files know the model."""
        return "LogisticRegression"

    @cached_property
    def schema(self) -> Schema:
        """Numeric columns, in the order of the coefficients."""
        if self.feature_names is None:
            names = [f"x{j}" for j in range(self.coef.shape[1])]
        else:
            names = [str(name) for name in self.feature_names.tolist()]
        return Schema(tuple(ColumnSchema(name, "numeric", "numbers") for name in names))

    @property
    def class_weights(self) -> FloatArray | None:
        """The weight of the training rows of each class; None where it is not known."""
        return None if self.columns is None else self.columns.weight

    @property
    def additive(self) -> bool:
        """Whether a column's contribution depends on its own value alone: not against the rest."""
        return not self.one_vs_rest

    @property
    def absent_value(self) -> float:
        """0: an amount that is not there."""
        return 0.0

    @cached_property
    def centre(self) -> FloatArray:
        """The mean row of training, (columns,), from which contributions are measured."""
        return np.zeros(self.coef.shape[1]) if self.columns is None else self.columns.centre

    @cached_property
    def log_prior(self) -> FloatArray:
        """The log joint of the mean row, (classes,)."""
        return np.asarray(self.log_joint_of_matrix(self.centre[None])[0])

    @property
    def coef_by_class(self) -> FloatArray:
        """The coefficients of every class, (classes, columns); of two classes, the first has 0."""
        return _by_class(self.coef)

    # ------------------------------------------------------------------ rows

    @cached_property
    def caster(self) -> matrices.Caster:
        """The types of the columns: numbers."""
        return matrices.Caster(self.schema)

    def unseen_rows(self, batch: Batch) -> dict[str, NDArray[np.intp]]:
        """None: no column is a category."""
        return {}

    def log_joint(self, batch: Batch, out: FloatArray) -> bool:
        """Fill ``out``, (rows, classes), with the log joint of every row and class."""
        out[:] = self.log_joint_of_matrix(self._matrix(batch))
        return False

    def contributions(self, batch: Batch) -> FloatArray:
        """Each column's part of the log joint, from the mean row on, (rows, columns, classes)."""
        return self.contributions_of_matrix(self._matrix(batch))

    def contributions_of_matrix(self, X: FloatArray) -> FloatArray:
        """Each column's part of the log joint of a dense matrix, (rows, columns, classes)."""
        parts = np.asarray((self.bound(X) - self.centre)[:, :, None] * self.coef_by_class.T)
        return parts * self.slopes(X, self.centre)[:, None] if self.one_vs_rest else parts

    def slopes(self, X: FloatArray | csr_array, origin: FloatArray) -> FloatArray:
        """By how much log joints change for a change of their logit, from one row to each of X.

        (rows, classes); 1 unless each class is against the rest.
        """
        if not self.one_vs_rest:
            return np.ones((X.shape[0], len(self.classes)))
        z, z0 = self.logits(X), self.logits(origin[None])
        step = z - z0
        near = np.abs(step) < MIN_LOGIT_STEP
        change = _log_sigmoid(z) - _log_sigmoid(z0)
        at_middle = np.exp(_log_sigmoid(-(z + z0) / 2))
        return np.where(near, at_middle, change / np.where(near, 1.0, step))

    def logits(self, X: FloatArray | csr_array) -> FloatArray:
        """The logits of a matrix of finite numbers, dense or sparse, (rows, m)."""
        return np.asarray(self.bound(X) @ self.coef.T + self.intercept)

    def bound(self, X: Matrix) -> Matrix:
        """The matrix, within the range of training where that is kept."""
        return X if self.bounds is None else clip(X, self.bounds)

    def log_joint_of_matrix(self, X: FloatArray | csr_array) -> FloatArray:
        """The log joint of a matrix of finite numbers, dense or sparse, (rows, classes)."""
        return self.joint(self.logits(X))

    def joint(self, logits: FloatArray) -> FloatArray:
        """The log joint of every class, (rows, classes), from logits, (rows, m)."""
        if logits.shape[1] == 1:
            return np.column_stack([np.zeros(len(logits)), logits])
        return _log_sigmoid(logits) if self.one_vs_rest else logits

    def _matrix(self, batch: Batch) -> FloatArray:
        """The numbers of a batch, (rows, columns); a missing one is an error."""
        X = matrices.numbers(self.schema, batch)
        missing = np.isnan(X)
        if missing.any():
            row, j = np.argwhere(missing)[0]
            raise MissingValueError(
                f"column {self.schema.names[j]!r} has no number in row {row}.",
                hint="logistic regression needs every number: fill it in, or leave the row out",
            )
        return X

    @property
    def left_out(self) -> KeptScores | None:
        """The scores of left-out rows; None where there are none."""
        return self.scores if self.fitted is None else self.fitted.scores

    def with_left_out(self, scores: KeptScores | None) -> LogisticModel:
        """The model with other scores of left-out rows."""
        return replace(self, scores=scores, fitted=None)

    def row_likelihoods(self, batch: Batch) -> RowLikelihoods:
        """``log P(x | c)`` by the summary of the columns, (rows, classes), and sizes."""
        return self.likelihoods_of_matrix(self._matrix(batch))

    def likelihoods_of_matrix(self, X: FloatArray | csr_array) -> RowLikelihoods:
        """Those of a matrix of finite numbers, dense or sparse."""
        if self.columns is None:
            raise InputError(
                "this LogisticRegression does not know what its columns were in training.",
                hint="its file is of an older version: fit it again",
            )
        return ColumnLikelihoods(self.columns).of_rows(X)

    # ------------------------------------------------------------------ reasons

    def pieces(self) -> list[Piece]:
        """What values of each column say if all others are as in the mean row; none if not known.

        The values are some of those in training, from the least to the greatest.
        """
        if self.columns is None:
            return []
        columns = zip(self.schema.names, self.columns.values.T, strict=True)
        return [self._piece(j, name, np.unique(x)) for j, (name, x) in enumerate(columns)]

    def _piece(self, j: int, name: str, x: FloatArray) -> Piece:
        logits = self.logits(self.centre[None]) + np.outer(x - self.centre[j], self.coef[:, j])
        said = self.joint(logits) - self.log_prior
        values = as_written(self.schema.columns[j], x)
        return Piece(name, name, "number", values, said, np.full_like(said, 1 / len(x)))

    def formula(self) -> Formula:
        """Log joints and contributions as trees; a row that lacks a number has none."""
        return formula.formula(self)

    @property
    def measured_evidence(self) -> MeasuredEvidence | None:
        """What the columns said in the rows that they were summarised on: slopes times means.

        None where there is no summary, and one against the rest, where slopes depend on the row.
        """
        of = self.columns
        if of is None or self.one_vs_rest:
            return None
        by_unit = decibans(self.coef_by_class.T)
        mean = by_unit * (of.mean - of.centre).T
        absolute = np.maximum(np.abs(by_unit) * of.deviation.T, np.abs(mean))
        return MeasuredEvidence(self.classes, of.weight, mean, absolute)

    def word_contributions(self, column: str, text: str) -> tuple[WordContribution, ...]:
        """None: no column is a text."""
        return ()

    def expected_word_contributions(self) -> dict[str, FloatArray]:
        """None: no column is a text."""
        return {}


def _log_sigmoid(logits: FloatArray) -> FloatArray:
    return np.asarray(-np.logaddexp(0.0, -logits))


def _by_class(logits: FloatArray) -> FloatArray:
    """A row for each class, also where two classes share one logit."""
    return np.concatenate([np.zeros_like(logits), logits]) if len(logits) == 1 else logits


if TYPE_CHECKING:  # mypy checks that the contract is kept

    def _as_model(model: LogisticModel) -> Model:
        return model
