"""Logistic regression: the log loss of logits, its residuals and its Hessian.

Logits are ``(rows, m)``: one column for two classes (the second against the
first), else one a class.
"""

from libc.math cimport exp, log, log1p

cdef double MIN_FACTOR = 1e-6       # 1 + x has lost digits of less
cdef double MAX_PRODUCT = 1e280     # of factors up to 2, that may still grow


def residuals(
    double[:, ::1] logits, const Py_ssize_t[::1] y, const double[::1] weight, double[:, ::1] out
):
    """The summed log loss; logits become probabilities in place, and ``out`` the residuals.

    A residual is ``w (p - 1)`` for the class of the row, ``w p`` for the others.
    """
    cdef:
        Py_ssize_t n = logits.shape[0], m = logits.shape[1], i, k
        double total = 0.0, product = 1.0, w, top, mass, small
        double* row
    with nogil:
        for i in range(n):
            w = 1.0 if weight is None else weight[i]
            row = &logits[i, 0]
            if m == 1:
                small = exp(-row[0] if row[0] > 0 else row[0])
                # log(1 + e^z) = max(z, 0) + log(1 + e^-|z|), less z in rows of the second class.
                if (row[0] > 0) != (y[i] == 1):
                    total += w * (row[0] if row[0] > 0 else -row[0])
                if weight is None and small > MIN_FACTOR:
                    # One logarithm for many factors, each from 1 to 2.
                    product *= 1.0 + small
                    if product > MAX_PRODUCT:
                        total += log(product)
                        product = 1.0
                else:
                    total += w * log1p(small)
                row[0] = 1.0 / (1.0 + small) if row[0] > 0 else small / (1.0 + small)
                out[i, 0] = w * (row[0] - y[i])
                continue
            top = row[0]
            for k in range(1, m):
                top = row[k] if row[k] > top else top
            small = row[y[i]] - top
            mass = 0.0
            for k in range(m):
                row[k] = exp(row[k] - top)
                mass += row[k]
            total += w * (log(mass) - small)
            for k in range(m):
                row[k] /= mass
                out[i, k] = w * row[k]
            out[i, y[i]] -= w
    return total + log(product)


def hessian_product(const double[:, ::1] proba, const double[::1] weight, double[:, ::1] change):
    """The change of the residuals by a small change of the logits, in place.

    ``w (diag(p) - p p') change``, row by row.
    """
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
