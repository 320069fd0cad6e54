"""Logistic regression: probabilities and residuals of scores, and products with sparse matrices.

Scores are ``(rows, m)``: one column for two classes (the second against the
first), else one a class. Sparse matrices of which all stored values are one
come without ``data``.
"""

import numpy as np

from libc.math cimport exp, log, log1p
from libc.stdint cimport int32_t, int64_t

cdef double FAINT = 1e-6    # 1 + x has lost digits of less
cdef double FULL = 1e280    # a product of factors up to 2 that may still grow

ctypedef fused index:
    int32_t
    int64_t


def residuals(
    double[:, ::1] scores, const Py_ssize_t[::1] y, const double[::1] weight, double[:, ::1] out
):
    """The summed loss; scores become probabilities, ``out`` what they exceed the truth by."""
    cdef:
        Py_ssize_t n = scores.shape[0], m = scores.shape[1], i, k
        double total = 0.0, product = 1.0, w, most, mass, small
        double* row
    with nogil:
        for i in range(n):
            w = 1.0 if weight is None else weight[i]
            row = &scores[i, 0]
            if m == 1:
                small = exp(-row[0] if row[0] > 0 else row[0])
                # The score speaks against the truth, or for it.
                if (row[0] > 0) != (y[i] == 1):
                    total += w * (row[0] if row[0] > 0 else -row[0])
                if weight is None and small > FAINT:
                    # One logarithm for many factors, each from 1 to 2.
                    product *= 1.0 + small
                    if product > FULL:
                        total += log(product)
                        product = 1.0
                else:
                    total += w * log1p(small)
                row[0] = 1.0 / (1.0 + small) if row[0] > 0 else small / (1.0 + small)
                out[i, 0] = w * (row[0] - y[i])
                continue
            most = row[0]
            for k in range(1, m):
                most = row[k] if row[k] > most else most
            small = row[y[i]] - most
            mass = 0.0
            for k in range(m):
                row[k] = exp(row[k] - most)
                mass += row[k]
            total += w * (log(mass) - small)
            for k in range(m):
                row[k] /= mass
                out[i, k] = w * row[k]
            out[i, y[i]] -= w
    return total + log(product)


def curve(const double[:, ::1] proba, const double[::1] weight, double[:, ::1] change):
    """How the residuals follow a small change of the scores, in place."""
    cdef:
        Py_ssize_t n = proba.shape[0], m = proba.shape[1], i, k
        double w, mean
    with nogil:
        for i in range(n):
            w = 1.0 if weight is None else weight[i]
            if m == 1:
                change[i, 0] *= w * proba[i, 0] * (1.0 - proba[i, 0])
                continue
            mean = 0.0
            for k in range(m):
                mean += proba[i, k] * change[i, k]
            for k in range(m):
                change[i, k] = w * proba[i, k] * (change[i, k] - mean)


def scatter(
    const double[::1] data, const index[::1] rows, const index[::1] starts,
    const double[:, ::1] W, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out,
):
    """Add columns ``first .. last`` of a matrix, held by columns, times W."""
    cdef:
        Py_ssize_t m = W.shape[1], j, k
        index p
        double x
    with nogil:
        for j in range(first, last):
            if m == 1 and data is None:
                x = W[j, 0]
                for p in range(starts[j], starts[j + 1]):
                    out[rows[p], 0] += x
                continue
            for p in range(starts[j], starts[j + 1]):
                x = 1.0 if data is None else data[p]
                for k in range(m):
                    out[rows[p], k] += x * W[j, k]


def gather(
    const double[::1] data, const index[::1] rows, const index[::1] starts,
    const double[:, ::1] R, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out, bint squares,
):
    """Columns ``first .. last`` of a matrix (or of its squares) times R."""
    cdef:
        Py_ssize_t m = R.shape[1], j, k
        index p
        double x, total
    with nogil:
        for j in range(first, last):
            if m == 1 and data is None:
                total = 0.0
                for p in range(starts[j], starts[j + 1]):
                    total += R[rows[p], 0]
                out[j, 0] = total
                continue
            for k in range(m):
                out[j, k] = 0.0
            for p in range(starts[j], starts[j + 1]):
                x = 1.0 if data is None else data[p]
                x = x * x if squares else x
                for k in range(m):
                    out[j, k] += x * R[rows[p], k]


def likeness(
    const double[::1] data, const index[::1] rows, const index[::1] starts,
    const double[:, ::1] unit, const double[:, ::1] R, Py_ssize_t first, Py_ssize_t last,
    double[:, ::1] out,
):
    """Add ``X diag(unit) X' R`` of columns ``first .. last``: down each column and up again.

    A column is read once from memory, since it is still in the cache on its way up.
    """
    cdef:
        Py_ssize_t m = R.shape[1], j, k
        index p
        double total
    with nogil:
        for j in range(first, last):
            if m == 1 and data is None:
                total = 0.0
                for p in range(starts[j], starts[j + 1]):
                    total += R[rows[p], 0]
                total *= unit[j, 0]
                for p in range(starts[j], starts[j + 1]):
                    out[rows[p], 0] += total
                continue
            for k in range(m):
                total = 0.0
                for p in range(starts[j], starts[j + 1]):
                    total += R[rows[p], k] * (1.0 if data is None else data[p])
                total *= unit[j, k]
                for p in range(starts[j], starts[j + 1]):
                    out[rows[p], k] += total * (1.0 if data is None else data[p])


def gram(
    const double[::1] data, const index[::1] columns, const index[::1] starts,
    const double[::1] weight, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out,
):
    """Add the upper half of ``weight[i] * x_i x_i'``, rows ``first .. last``, held by rows.

    Columns are sorted within a row; the last one of ``out`` is that of a constant one.
    """
    cdef:
        Py_ssize_t d = out.shape[0] - 1, i
        index p, q
        double x
        double* row
    with nogil:
        for i in range(first, last):
            out[d, d] += weight[i]
            for p in range(starts[i], starts[i + 1]):
                x = weight[i] if data is None else weight[i] * data[p]
                row = &out[columns[p], 0]
                row[d] += x
                for q in range(p, starts[i + 1]):
                    row[columns[q]] += x if data is None else x * data[q]


def values(const double[:, ::1] X, double[:, ::1] found, Py_ssize_t[:, ::1] times):
    """The first two values of each column and how often each occurs; times sum up short of the
    rows where there are more values."""
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], alive = 0, i, j, at
        double x
        Py_ssize_t[::1] columns = np.arange(d)
    with nogil:
        for j in range(d):
            found[j, 0] = X[0, j]
            found[j, 1] = X[0, j]
            times[j, 0] = 0
            times[j, 1] = 0
        alive = d
        for i in range(n):
            at = 0
            while at < alive:
                j = columns[at]
                x = X[i, j]
                if x == found[j, 0]:
                    times[j, 0] += 1
                elif x == found[j, 1]:
                    times[j, 1] += 1
                elif times[j, 1] == 0:
                    found[j, 1] = x
                    times[j, 1] = 1
                else:
                    alive -= 1
                    columns[at] = columns[alive]
                    continue
                at += 1


def marks(
    const double[:, ::1] X, const Py_ssize_t[::1] columns, const double[::1] common,
    int32_t[::1] indices, int32_t[::1] starts,
):
    """Which of some columns differ from their common value, row by row."""
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


def told(
    const double[::1] data, const index[::1] columns, const index[::1] starts,
    const double[:, ::1] W, double[:, ::1] out,
):
    """Add rows of a matrix, held by rows, times W, and the last row of W to all."""
    cdef:
        Py_ssize_t n = out.shape[0], m = W.shape[1], last = W.shape[0] - 1, i, k
        index p
        double x, total
    with nogil:
        for i in range(n):
            if m == 1:
                total = W[last, 0]
                for p in range(starts[i], starts[i + 1]):
                    total += W[columns[p], 0] * (1.0 if data is None else data[p])
                out[i, 0] += total
                continue
            for k in range(m):
                out[i, k] += W[last, k]
            for p in range(starts[i], starts[i + 1]):
                x = 1.0 if data is None else data[p]
                for k in range(m):
                    out[i, k] += x * W[columns[p], k]


def marked(
    const double[::1] data, const index[::1] columns, const index[::1] starts,
    const double[:, ::1] R, double[:, ::1] out, bint squares,
):
    """Add a transposed matrix (or its squares), held by rows, times R; in the last row, all of R.

    Of one column, every fourth row has sums of its own, lest each wait for those before it.
    """
    cdef:
        Py_ssize_t n = R.shape[0], m = R.shape[1], last = out.shape[0] - 1, i, k
        index p
        double x, r
        double[:, ::1] apart = np.zeros((4, out.shape[0] if m == 1 else 1))
        double* to
    with nogil:
        for i in range(n):
            if m == 1:
                to, r = &apart[i & 3, 0], R[i, 0]
                to[last] += r
                for p in range(starts[i], starts[i + 1]):
                    x = 1.0 if data is None else data[p]
                    to[columns[p]] += (x * x if squares else x) * r
                continue
            for k in range(m):
                out[last, k] += R[i, k]
            for p in range(starts[i], starts[i + 1]):
                x = 1.0 if data is None else data[p]
                x = x * x if squares else x
                for k in range(m):
                    out[columns[p], k] += x * R[i, k]
        if m == 1:
            for k in range(last + 1):
                out[k, 0] += (apart[0, k] + apart[1, k]) + (apart[2, k] + apart[3, k])


def crossed(
    const index[::1] columns, const index[::1] starts, const double[:, ::1] D,
    const double[:, ::1] weights, double[:, :, ::1] mixed, double[:, :, ::1] both,
):
    """Add products of marked columns with those of D, and with each other, for every weight.

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
