"""Counting of bags in CSR form; the work follows the non-zeros."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

cdef extern from "wide.h":
    void prefetch "DECIBAN_PREFETCH"(const void* address) noexcept nogil

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
        index p, ahead
        double w
        double* row
    with nogil:
        for r in range(n):
            i = order[r]
            if r + 4 < n:
                # Rows are not visited in the order in which they lie: ask for them in time.
                ahead = indptr[order[r + 4]]
                for p in range(ahead, indptr[order[r + 4] + 1], 16):
                    prefetch(&indices[p])
                for p in range(ahead, indptr[order[r + 4] + 1], 8):
                    prefetch(&data[p])
            row = &table[y[i], 0]
            w = 1.0 if weight is None else weight[i]
            for p in range(indptr[i], indptr[i + 1]):
                row[indices[p]] += w * data[p]
    return np.asarray(table)
