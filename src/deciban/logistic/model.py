"""The logistic regression model: logits that are linear in the columns of a table.

Conventions
-----------
- ``coef`` is (m, columns), ``intercept`` is (m,), and logits are ``X coef' + intercept``. Two
  classes have one logit, m = 1: the log-odds of the second against the first. K >= 3 classes
  have one each.
- The posterior is the softmax of the log joint, (rows, classes): (0, logit) for two classes,
  the logits themselves for more.
- One against the rest (K >= 3 alone), each class has a classifier of its own, and the log joint
  is the logarithm of its sigmoid. Contributions are still parts of the logit, which is then the
  log-odds of a class against all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.errors import MissingValueError
from deciban.families.piece import Piece
from deciban.labels import Labels
from deciban.schema import ColumnSchema, Schema
from deciban.sources.batch import Batch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from deciban.models.left_out import LeftOutScores
    from deciban.models.protocol import Model, WordContribution

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """Classes and coefficients; see the conventions above.

    ``feature_names`` are the names of the columns, (columns,); None is x0, x1, and so on.
    ``left_out`` are the scores of rows that it was not fitted to, if it was given any.

    >>> from deciban.sources.columns import Numbers
    >>> model = LogisticModel(np.array(["a", "b"]), np.array([[2.0]]), np.array([-1.0]))
    >>> batch, out = Batch(1, {"x0": Numbers(np.array([3.0]))}), np.empty((1, 2))
    >>> model.log_joint(batch, out)
    >>> out
    array([[0., 5.]])
    """

    classes: Labels
    coef: FloatArray
    intercept: FloatArray
    one_vs_rest: bool = False
    feature_names: Labels | None = None
    left_out: LeftOutScores | None = None

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
    def additive(self) -> bool:
        """True: a column's contribution depends on its own value alone."""
        return True

    @property
    def absent_value(self) -> float:
        """0: an amount that is not there."""
        return 0.0

    @property
    def log_prior(self) -> FloatArray:
        """The intercept of every class, (classes,)."""
        return _by_class(self.intercept)

    @property
    def coef_by_class(self) -> FloatArray:
        """The coefficients of every class, (classes, columns); of two classes, the first has 0."""
        return _by_class(self.coef)

    # ------------------------------------------------------------------ rows

    def log_joint(self, batch: Batch, out: FloatArray) -> None:
        """Fill ``out``, (rows, classes), with the log joint of every row and class."""
        out[:] = self.log_joint_of_matrix(self._matrix(batch))

    def contributions(self, batch: Batch) -> FloatArray:
        """``w_cj x_j``, each column's part of the logit of each class, (rows, columns, classes)."""
        return np.asarray(self._matrix(batch)[:, :, None] * self.coef_by_class.T)

    def logits(self, X: FloatArray | csr_array) -> FloatArray:
        """The logits of a matrix of finite numbers, dense or sparse, (rows, m)."""
        return np.asarray(X @ self.coef.T + self.intercept)

    def log_joint_of_matrix(self, X: FloatArray | csr_array) -> FloatArray:
        """The log joint of a matrix of finite numbers, dense or sparse, (rows, classes)."""
        logits = self.logits(X)
        if logits.shape[1] == 1:
            return np.column_stack([np.zeros(len(logits)), logits])
        return -np.logaddexp(0.0, -logits) if self.one_vs_rest else logits

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

    def with_left_out(self, scores: LeftOutScores | None) -> LogisticModel:
        """The model with other scores of left-out rows."""
        return replace(self, left_out=scores)

    # ------------------------------------------------------------------ reasons

    def pieces(self) -> list[Piece]:
        """A line for each column: the evidence of none of it, and of one unit.

        No moments are kept, so importance is by the unit, for columns on one scale.
        """
        amounts = np.repeat([[0.0], [1.0]], len(self.classes), axis=1)
        return [
            Piece(name, name, "amount", (0.0, 1.0), amounts * by_class, amounts)
            for name, by_class in zip(self.schema.names, self.coef_by_class.T, strict=True)
        ]

    def word_contributions(self, column: str, text: str) -> tuple[WordContribution, ...]:
        """None: no column is a text."""
        return ()

    def expected_word_contributions(self) -> dict[str, FloatArray]:
        """None: no column is a text."""
        return {}


def _by_class(logits: FloatArray) -> FloatArray:
    """A row for each class, also where two classes share one logit."""
    return np.concatenate([np.zeros_like(logits), logits]) if len(logits) == 1 else logits


if TYPE_CHECKING:  # mypy checks that the contract is kept

    def _as_model(model: LogisticModel) -> Model:
        return model
