"""Counting and scoring of bags in CSR form; the work follows the non-zeros."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

ctypedef fused index:
    int32_t
    int64_t


cdef Py_ssize_t[::1] by_class(const Py_ssize_t[::1] y, Py_ssize_t n_classes):
    """Rows in the order of their classes, so that one class's table stays in the cache."""
    cdef:
        Py_ssize_t n = y.shape[0], i, at
        Py_ssize_t[::1] start = np.zeros(n_classes + 1, dtype=np.intp)
        Py_ssize_t[::1] order = np.empty(n, dtype=np.intp)
    with nogil:
        for i in range(n):
            start[y[i] + 1] += 1
        for i in range(n_classes):
            start[i + 1] += start[i]
        for i in range(n):
            at = start[y[i]]
            order[at] = i
            start[y[i]] = at + 1
    return order


def count(
    const double[::1] data, const index[::1] indices, const index[::1] indptr,
    const Py_ssize_t[::1] y, const double[::1] weight, Py_ssize_t n_classes,
    Py_ssize_t n_columns,
):
    """Weighted sum of every column per class."""
    cdef:
        double[:, ::1] table = np.zeros((n_classes, n_columns))
        Py_ssize_t[::1] order = by_class(y, n_classes)
        Py_ssize_t n = y.shape[0], i, r
        index p
        double w
        double* row
    with nogil:
        for r in range(n):
            i = order[r]
            row = &table[y[i], 0]
            w = 1.0 if weight is None else weight[i]
            for p in range(indptr[i], indptr[i + 1]):
                row[indices[p]] += w * data[p]
    return np.asarray(table)


def add(
    const double[::1] data, const index[::1] indices, const index[::1] indptr,
    const double[:, ::1] table, double[:, ::1] out,
):
    """``out[i, :] += sum over the non-zeros of x_ij * table[j, :]``."""
    cdef:
        Py_ssize_t n = out.shape[0], K = out.shape[1], i, k
        index p
        double x
        const double* cell
        double* row
    with nogil:
        for i in range(n):
            row = &out[i, 0]
            for p in range(indptr[i], indptr[i + 1]):
                x = data[p]
                if x != 0.0:
                    cell = &table[indices[p], 0]
                    for k in range(K):
                        row[k] += x * cell[k]
