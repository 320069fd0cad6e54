"""Counting of coded columns: a code below zero is a missing value."""

import numpy as np

from libc.stdint cimport int64_t


def largest(const int64_t[:, ::1] X):
    """The greatest code of each column; -1 where there is none."""
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j
        int64_t[::1] high = np.full(d, -1, dtype=np.int64)
        int64_t v
    with nogil:
        for i in range(n):
            for j in range(d):
                v = X[i, j]
                high[j] = v if v > high[j] else high[j]
    return np.asarray(high)


def count(
    const int64_t[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weight,
    const Py_ssize_t[::1] offsets, Py_ssize_t n_classes,
):
    """Weight of every class and cell; column j's cells start at ``offsets[j]``."""
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j, cells = offsets[d]
        double[:, ::1] table = np.zeros((n_classes, cells))
        double* row
        double w
        int64_t v
    with nogil:
        for i in range(n):
            row = &table[y[i], 0]
            w = 1.0 if weight is None else weight[i]
            for j in range(d):
                v = X[i, j]
                if v >= 0:
                    row[offsets[j] + v] += w
    return np.asarray(table)
