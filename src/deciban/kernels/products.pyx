"""Products with sparse matrices, held by rows (CSR) or by columns (CSC).

``starts`` has where each row or column begins, and ``columns`` or ``rows`` what
lies there. A matrix of which all stored values are one comes without ``data``.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

ctypedef fused index:
    int32_t
    int64_t


def add_product_csr(
    const double[::1] data, const index[::1] columns, const index[::1] starts,
    const double[:, ::1] W, double[:, ::1] out,
):
    """``out += X W``, and the last row of W, the intercepts, to all rows."""
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


def add_transposed_product_csr(
    const double[::1] data, const index[::1] columns, const index[::1] starts,
    const double[:, ::1] R, double[:, ::1] out, bint squares,
):
    """``out += X' R``, of the squares of X if asked for; in the last row, the sum of R.

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


def add_gram_csr(
    const double[::1] data, const index[::1] columns, const index[::1] starts,
    const double[::1] weight, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out,
):
    """``out += sum_i weight[i] * x_i x_i'`` over the rows ``first .. last``, the upper half.

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


def add_product_csc(
    const double[::1] data, const index[::1] rows, const index[::1] starts,
    const double[:, ::1] W, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out,
):
    """``out += X W``, the part of columns ``first .. last``."""
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


def transposed_product_csc(
    const double[::1] data, const index[::1] rows, const index[::1] starts,
    const double[:, ::1] R, Py_ssize_t first, Py_ssize_t last, double[:, ::1] out, bint squares,
):
    """``out = X' R``, the part of columns ``first .. last``; of the squares of X if asked for."""
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


def add_gram_product_csc(
    const double[::1] data, const index[::1] rows, const index[::1] starts,
    const double[:, ::1] unit, const double[:, ::1] R, Py_ssize_t first, Py_ssize_t last,
    double[:, ::1] out,
):
    """``out += X diag(unit) X' R``, the part of columns ``first .. last``: down each and up again.

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
