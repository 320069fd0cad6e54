"""Columns of two values: which they are, where the rarer value stands, and products of such marks.

``x = common + gap * mark`` with marks of zero and one; rows of marks are held
like those of a sparse matrix (CSR) of which all stored values are one.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

ctypedef fused index:
    int32_t
    int64_t


def find_two_values(const double[:, ::1] X, double[:, ::1] values, Py_ssize_t[:, ::1] times):
    """The first two values of each column, and how often each occurs.

    Times sum up to less than the rows where there are more values.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], alive = 0, i, j, at
        double x
        Py_ssize_t[::1] columns = np.arange(d)
    with nogil:
        for j in range(d):
            values[j, 0] = X[0, j]
            values[j, 1] = X[0, j]
            times[j, 0] = 0
            times[j, 1] = 0
        alive = d
        for i in range(n):
            at = 0
            while at < alive:
                j = columns[at]
                x = X[i, j]
                if x == values[j, 0]:
                    times[j, 0] += 1
                elif x == values[j, 1]:
                    times[j, 1] += 1
                elif times[j, 1] == 0:
                    values[j, 1] = x
                    times[j, 1] = 1
                else:
                    alive -= 1
                    columns[at] = columns[alive]
                    continue
                at += 1


def mark_rare(
    const double[:, ::1] X, const Py_ssize_t[::1] columns, const double[::1] common,
    int32_t[::1] indices, int32_t[::1] starts,
):
    """Which of some columns differ from their common value, row by row, into ``indices``."""
    cdef:
        Py_ssize_t n = X.shape[0], s = columns.shape[0], i, j
        int32_t at = 0
    with nogil:
        starts[0] = 0
        for i in range(n):
            for j in range(s):
                if X[i, columns[j]] != common[j]:
                    indices[at] = <int32_t>j
                    at += 1
            starts[i + 1] = at


def add_cross_products(
    const index[::1] columns, const index[::1] starts, const double[:, ::1] D,
    const double[:, ::1] weights, double[:, :, ::1] mixed, double[:, :, ::1] both,
):
    """Add the products of marks with the columns of D, and with each other, for every weight.

    ``mixed`` is (columns, weights, columns of D); ``both`` (columns, columns, weights), of which
    the half above the diagonal is filled.
    """
    cdef:
        Py_ssize_t n = D.shape[0], e = D.shape[1], m = weights.shape[1], i, k, a
        index p, q
        double x
        double* to
        const double* row
        const double* w
    with nogil:
        for i in range(n):
            row = &D[i, 0]
            w = &weights[i, 0]
            for p in range(starts[i], starts[i + 1]):
                to = &mixed[columns[p], 0, 0]
                for k in range(m):
                    x = w[k]
                    for a in range(e):
                        to[a] += x * row[a]
                    to += e
                for q in range(p, starts[i + 1]):
                    to = &both[columns[p], columns[q], 0]
                    for k in range(m):
                        to[k] += w[k]
