"""Log-densities of numeric columns, added up over the columns of a block.

Rows are taken in small blocks, turned so that one column of the block lies
side by side: the inner loop then runs over rows, whatever the number of
classes. NaN is a missing value: its log density is 0 in every class.
"""

from libc.math cimport log1p

cdef extern from *:
    """
    #include "wide.h"

    #define DECIBAN_BLOCK 64
    DECIBAN_WIDE static void deciban_add_normal(
        double *total, const double *x, double mean, double half, double constant)
    {
        for (int r = 0; r < DECIBAN_BLOCK; r++) {
            double t = x[r] - mean;
            t = constant - half * (t * t);
            total[r] += x[r] == x[r] ? t : 0.0;
        }
    }
    """
    void add_column "deciban_add_normal"(
        double* total, const double* x, double mean, double half, double constant
    ) noexcept nogil
    enum:
        BLOCK "DECIBAN_BLOCK"


cdef inline void transpose(
    const double* x, double* block, Py_ssize_t rows, Py_ssize_t d
) noexcept nogil:
    cdef Py_ssize_t r, j
    for r in range(rows):
        for j in range(d):
            block[j * BLOCK + r] = x[r * d + j]


def add_normal(
    const double[:, ::1] X, const double[:, ::1] mean, const double[:, ::1] precision,
    const double[:, ::1] constant, double[::1] work, double[:, ::1] out,
):
    """``out[i, c] += sum_j constant[j, c] - (x_ij - mean[j, c])**2 * precision[j, c] / 2``.

    ``work`` holds at least 64 numbers a column.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], i, j, k, r, rows
        double[64] total
    with nogil:
        for i in range(0, n, 64):
            rows = min(<Py_ssize_t>BLOCK, n - i)
            transpose(&X[i, 0], &work[0], rows, d)
            for k in range(K):
                for r in range(BLOCK):
                    total[r] = 0.0
                for j in range(d):
                    add_column(total, &work[j * BLOCK], mean[j, k], 0.5 * precision[j, k],
                               constant[j, k])
                for r in range(rows):
                    out[i + r, k] += total[r]


def add_student(
    const double[:, ::1] X, const double[:, ::1] mean, const double[:, ::1] precision,
    const double[:, ::1] constant, const double[:, ::1] df, double[:, ::1] out,
):
    """Add the log density of Student's t, column by column:
    ``constant - (df + 1)/2 * log1p((x - mean)**2 * precision / df)``.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], i, j, k
        double x, t
    with nogil:
        for i in range(n):
            for j in range(d):
                x = X[i, j]
                if x != x:
                    continue
                for k in range(K):
                    t = x - mean[j, k]
                    out[i, k] += constant[j, k] - 0.5 * (df[j, k] + 1.0) * log1p(
                        t * t * precision[j, k] / df[j, k])
