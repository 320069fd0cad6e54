"""Columns as a caller has them, to the cells and the matrix that a family counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding.target import vector
from deciban.kernels import categorical as kernel
from deciban.labels import Array, Labels
from deciban.stats.cells import Cells, Grid

__all__ = ["block", "category_codes", "largest_codes"]


def block(family: str, names: Sequence[Any], columns: Sequence[Any]) -> tuple[Cells, Any]:
    """The cells of some columns of one family, and the matrix that is counted.

    >>> cells, codes = block("categorical", ["size"], [["S", "M", "S"]])
    >>> cells.values, codes.ravel()
    ((array(['M', 'S'], dtype='<U1'),), array([1, 0, 1]))
    """
    if family != "categorical":
        matrix = np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
        if family == "histogram":
            return Grid.of(list(matrix.T), list(names)), matrix
        return Cells(labels.label_array(list(names))), matrix
    values, codes = zip(*(labels.factorise(vector(column)) for column in columns), strict=True)
    matrix = np.column_stack([code.astype(np.int64) for code in codes])
    return Cells.of_values(names, cast("Sequence[Labels]", values)), matrix


def category_codes(X: Array, known: Sequence[Labels]) -> NDArray[np.int64]:
    """Codes of categories: -1 for a missing value, ``S_j`` for one that is not known.

    >>> X = np.array([["M"], [None], ["XL"]], dtype=object)
    >>> category_codes(X, [np.array(["M", "S"])]).ravel()
    array([ 0, -1,  2])
    """
    out = np.empty(X.shape, dtype=np.int64)
    for j, values in enumerate(known):
        distinct, codes = labels.factorise(X[:, j])
        at = labels.positions(distinct, values)
        at = np.append(np.where(at < 0, len(values), at), -1)
        out[:, j] = at[codes]
    return out


def largest_codes(X: NDArray[np.int64]) -> NDArray[np.int64]:
    """The greatest code of each column; -1 where there is none.

    >>> largest_codes(np.array([[0, 7], [2, -1]]))
    array([2, 7])
    """
    return kernel.largest(X)
