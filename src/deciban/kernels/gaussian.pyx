"""Log-densities of numeric columns, added up over the columns of a block.

Rows are taken in small blocks, turned so that one column of the block lies
side by side: the inner loop then runs over rows, whatever the number of
classes. NaN is a missing value: its log density is 0 in every class.
"""

import numpy as np

from libc.float cimport DBL_MAX, DBL_MIN
from libc.math cimport INFINITY, M_PI, lgamma, log, log1p

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
    const double[:, ::1] constant, const double[:, ::1] df, const double[:] most,
    double[:, ::1] out,
):
    """Add the log density of Student's t, column by column:
    ``constant - (df + 1)/2 * log1p((x - mean)**2 * precision / df)``, but no less than ``most[j]``
    below that of the likeliest class. A square that fits no float is taken as the largest.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], i, j, k
        double x, t, top
        double[::1] log_density = np.empty(K)
    with nogil:
        for i in range(n):
            for j in range(d):
                x = X[i, j]
                if x != x:
                    continue
                top = -INFINITY
                for k in range(K):
                    t = x - mean[j, k]
                    t = min(t * t * precision[j, k] / df[j, k], DBL_MAX)
                    t = constant[j, k] - 0.5 * (df[j, k] + 1.0) * log1p(t)
                    log_density[k] = t
                    top = max(top, t)
                for k in range(K):
                    out[i, k] += max(log_density[k], top - most[j])


cdef double student_constant(double df) noexcept nogil:
    """The log density at the centre of Student's t of scale 1; Stirling's series for much data."""
    cdef double a = df / 2, ratio
    if a > 50.0:
        ratio = 0.5 * log(a) - 1 / (8 * a) + 1 / (192 * a * a * a) - 1 / (640 * a * a * a * a * a)
    else:
        ratio = lgamma(a + 0.5) - lgamma(a)
    return ratio - 0.5 * log(M_PI * df)


cdef struct Moments:
    double n
    double mean
    double spread


cdef enum Method:
    ML = 0
    MAP = 1
    BAYES = 2


cdef inline double log_density(
    double x, Moments of, Moments prior, double lam, Method method, double floor,
    double* df_known, double* constant_known,
) noexcept nogil:
    """The log density of one value; the constant of the degrees of freedom asked last is kept."""
    cdef double kappa = lam + of.n, some = kappa if kappa > 0 else 1.0
    cdef double shift = of.mean - prior.mean if lam > 0 else 0.0
    cdef double var = prior.spread / (prior.n if prior.n > 0 else 1.0), centre = prior.mean
    cdef double b = (lam * var + of.spread + of.n * (lam / some) * (shift * shift)) / 2
    if kappa > 0:
        centre = of.mean - lam / some * shift
        if method == BAYES:
            var = 2 * b * (kappa + 1) / (some * some)
        else:
            var = b / (kappa / 2 + 1.5) if method == MAP else 2 * b / some
    var += floor
    cdef double precision = 1.0 / max(var, DBL_MIN), off = x - centre
    cdef double distance = off * off * precision
    if method != BAYES:
        return 0.5 * log(precision / (2 * M_PI)) - distance / 2
    if df_known[0] != some:
        df_known[0], constant_known[0] = some, student_constant(some)
    distance = min(distance / some, DBL_MAX)
    return constant_known[0] + 0.5 * log(precision) - (some + 1) / 2 * log1p(distance)


def leave_out(
    const double[::1] x, const Py_ssize_t[::1] own, const Py_ssize_t[::1] column,
    const double[:, :, ::1] classes, const double[:, ::1] prior, const double[:, ::1] less,
    const double[::1] lam, const double[::1] most, str method, double floor, double[:, ::1] out,
):
    """Log densities of values, (rows, classes), under what is left of each row's class and prior.

    ``classes`` are the number, mean and spread of each class and column, ``less`` those of the
    row's own class without it, ``prior`` those of all rows without it, the prior of every class.
    None is less than ``most`` below that of the likeliest class.
    """
    cdef Py_ssize_t n = x.shape[0], K = out.shape[1], i, j, k
    cdef Method how = BAYES if method == "bayes" else MAP if method == "map" else ML
    cdef double rows, top
    cdef Moments whole, one
    cdef double[:, ::1] known = np.full((4, K), np.nan)  # of each class, and of it without a row
    with nogil:
        for i in range(n):
            whole = Moments(prior[0, i], prior[1, i], prior[2, i])
            if whole.n <= 0 or (whole.spread <= 0 and how != ML):  # nothing is known of the column
                for k in range(K):
                    out[i, k] = 0.0
                continue
            rows = 0.0 if how == ML else lam[i]
            for k in range(K):
                if k == own[i]:
                    one = Moments(less[0, i], less[1, i], less[2, i])
                    out[i, k] = log_density(
                        x[i], one, whole, rows, how, floor, &known[2, k], &known[3, k])
                else:
                    j = column[i]
                    one = Moments(classes[0, k, j], classes[1, k, j], classes[2, k, j])
                    out[i, k] = log_density(
                        x[i], one, whole, rows, how, floor, &known[0, k], &known[1, k])
            top = -INFINITY
            for k in range(K):
                top = max(top, out[i, k])
            for k in range(K):
                out[i, k] = max(out[i, k], top - most[i])


def remove_rows(
    const double[::1] x, const Py_ssize_t[::1] own, const double[::1] weight,
    const double[:, ::1] classes, double cancelled, double[:, ::1] out,
):
    """The number, mean and spread of each row's class without the row, (3, rows).

    True is returned if of some class less than the share ``cancelled`` of its spread is left.
    """
    cdef Py_ssize_t i, k
    cdef double n, left, mean, spread, off, rest
    cdef bint some_cancelled = False
    with nogil:
        for i in range(x.shape[0]):
            k = own[i]
            n, mean, spread = classes[0, k], classes[1, k], classes[2, k]
            left = n - weight[i]
            if not left > 1e-9 * weight[i]:
                out[0, i] = out[1, i] = out[2, i] = 0.0
                continue
            off = x[i] - mean
            rest = spread - weight[i] * (off * off) * (n / left)
            rest = 0.0 if rest < 0.0 else rest
            out[0, i], out[1, i], out[2, i] = left, mean - off * (weight[i] / left), rest
            some_cancelled |= rest < cancelled * spread
    return bool(some_cancelled)
