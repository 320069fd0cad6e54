"""Sums of dense amounts per class: the counting of bags given as a matrix."""

import numpy as np


def count(
    const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weight,
    Py_ssize_t n_classes,
):
    """Weighted sum of every column per class."""
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j
        double[:, ::1] table = np.zeros((n_classes, d))
        double w
        double* row
    with nogil:
        for i in range(n):
            row = &table[y[i], 0]
            w = 1.0 if weight is None else weight[i]
            for j in range(d):
                row[j] += w * X[i, j]
    return np.asarray(table)
