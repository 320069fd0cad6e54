"""Counting of coded columns: a code below zero is a missing value."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

ctypedef fused Code:
    uint8_t
    int32_t
    int64_t


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


def sum_columns(const double[:, :] count, const Py_ssize_t[::1] offsets):
    """The sums over the cells of each column, (classes, columns), which begin at the offsets."""
    cdef:
        Py_ssize_t K = count.shape[0], d = offsets.shape[0] - 1, step = count.strides[1], c, j
        double[:, ::1] out = np.zeros((K, d))
    with nogil:
        for c in range(K):
            for j in range(d):
                if offsets[j] < offsets[j + 1]:
                    out[c, j] = sum_cells(&count[c, offsets[j]], offsets[j + 1] - offsets[j], step)
    return np.asarray(out)


cdef double sum_cells(const double* first, Py_ssize_t n, Py_ssize_t step) noexcept nogil:
    """The sum of some numbers by halves, so that rounding grows with the logarithm of n."""
    cdef:
        Py_ssize_t half = n // 2, i
        const char* at = <const char*> first
        double total = 0.0
    if n > 64:
        return sum_cells(first, half, step) + sum_cells(<const double*> (at + half * step), n - half, step)
    for i in range(n):
        total += (<const double*> (at + i * step))[0]
    return total


def count_column(
    const Code[::1] codes, const Py_ssize_t[::1] y, const double[::1] weight,
    Py_ssize_t n_values, Py_ssize_t n_classes,
):
    """Weight of every class and value of one column, (classes, values)."""
    cdef:
        Py_ssize_t n = codes.shape[0], i
        double[:, ::1] table = np.zeros((n_classes, n_values))
        double* cells = &table[0, 0] if n_classes and n_values else NULL
        int64_t[::1] whole
        int64_t* counts
        Code code
    if y.shape[0] != n or weight is not None and weight.shape[0] != n:
        raise ValueError("a code, a class and a weight a row are needed")
    if weight is None:  # integers are added in a fraction of the time that floats take
        whole = np.zeros(n_classes * n_values + 1, dtype=np.int64)
        counts = &whole[0]
        with nogil:
            for i in range(n):
                code = codes[i]
                if code >= 0:
                    counts[y[i] * n_values + code] += 1
            for i in range(n_classes * n_values):
                cells[i] = <double>counts[i]
    else:
        with nogil:
            for i in range(n):
                code = codes[i]
                if code >= 0:
                    cells[y[i] * n_values + code] += weight[i]
    return np.asarray(table)
