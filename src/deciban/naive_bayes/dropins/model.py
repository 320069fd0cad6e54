"""What a drop-in classifier is: a table of counts, and what a subclass says about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from deciban.families.settings import Settings
from deciban.models import params
from deciban.sources import matrix
from deciban.sources.matrix import CSRRows, FloatArray, is_sparse, numbers_per_row
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts

#: The name of the one block of columns in the counts.
BLOCK = "X"


class Model(ClassifierMixin, BaseEstimator):
    """A classifier whose state is ``counts_``; everything else is derived from it.

    A subclass names its ``_family`` and says how rows are encoded
    (``_encode``), how parameters are estimated (``_settings``,
    ``_log_prior``) and which attributes show them (``_show``).
    """

    _family: str
    #: Whether sparse rows are counted and scored as dense ones.
    _dense = False
    #: Parameters that say what is counted: models that differ in them do not add up.
    _counted_by: tuple[str, ...] = ()

    counts_: Counts
    classes_: NDArray[Any]
    n_features_in_: int
    _params: params.Params
    #: ``log P(c)``; where no class can have produced a row, that is its posterior.
    _prior: FloatArray

    def _encode(self, X: Any, cells: Cells) -> Any:
        """A chunk of rows as the family counts them into these cells, checked."""
        raise NotImplementedError

    def _scorable(self, X: Any) -> Any:
        """A chunk of rows as the family scores them, checked."""
        return self._encode(X, self.counts_.tables[BLOCK].cells)

    def _entries(self, rows: CSRRows) -> FloatArray:
        """The stored values of sparse rows as the family scores them, checked."""
        return rows.data

    def _cells(self, X: Any) -> Cells:
        """The cells that the rows fall into."""
        return Cells.of_columns(int(X.shape[1]))

    def _copies(self, X: Any) -> bool:
        """Whether encoding makes a copy of the rows."""
        plain = X.dtype == np.float64 and (is_sparse(X) or X.flags.c_contiguous)
        return not plain or (self._dense and is_sparse(X))

    def _settings(self) -> Settings:
        raise NotImplementedError

    def _log_prior(self) -> FloatArray:
        raise NotImplementedError

    def _show(self) -> None:
        """Set the fitted attributes that show the counts and parameters."""
        raise NotImplementedError

    def _width(self, X: Any) -> int:
        """How many numbers an encoded row holds."""
        return int(X.shape[1]) if self._dense else numbers_per_row(X)

    def _checked(self, X: Any, *, reset: bool = False) -> Any:
        """A matrix or CSR of the right width."""
        if not reset:
            check_is_fitted(self)
        return matrix.validate(self, X, reset=reset)


def prior_of(counts: Counts, stated: Any) -> FloatArray:
    """``log P(c)``: stated, or as counted; of no rows at all, uniform."""
    empty = stated is None and not counts.weight.any()
    return params.class_prior(counts, fixed="uniform" if empty else stated)
