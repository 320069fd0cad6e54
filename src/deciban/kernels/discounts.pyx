"""The log loss of rows under every discount of their evidence, and what one says of classes."""

import numpy as np

from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t

cdef extern from "discounts.h":
    void totals "deciban_totals"(
        const double*, int64_t, const double*, const double*, int64_t, double*, double*
    ) noexcept nogil
    double shares "deciban_shares"(
        double, const double*, const double*, int64_t, double*
    ) noexcept nogil


cdef inline void beside_best(
    const double* log_likelihood, Py_ssize_t K, double* out
) noexcept nogil:
    """The log likelihoods of one row, the greatest of which is 0; all are 0 if it has none."""
    cdef Py_ssize_t k
    cdef double best = -INFINITY
    for k in range(K):
        best = max(best, log_likelihood[k])
    for k in range(K):
        out[k] = 0.0 if best == -INFINITY else log_likelihood[k] - best


def losses(
    const double[:, ::1] prior, const double[:, ::1] log_likelihood, const Py_ssize_t[::1] y,
    const double[::1] weight, const double[::1] discounts, double max_loss,
):
    """The summed ``-log P(y | x)``, a row costing no more than ``max_loss``, under each discount.

    ``log P(c | x) = prior + discount * log_likelihood`` up to a constant; a
    row that no class can have is no evidence.
    """
    cdef:
        Py_ssize_t n = log_likelihood.shape[0], K = log_likelihood.shape[1]
        Py_ssize_t B = discounts.shape[0], r, b
        double[::1] out = np.zeros(B)
        double[::1] top = np.empty(B)
        double[::1] total = np.empty(B)
        double[::1] row = np.empty(K)
        double true, loss
    if n == 0 or K == 0 or B == 0:
        return np.asarray(out)
    with nogil:
        for r in range(n):
            beside_best(&log_likelihood[r, 0], K, &row[0])
            totals(&discounts[0], B, &prior[r, 0], &row[0], K, &top[0], &total[0])
            for b in range(B):
                true = prior[r, y[r]] + discounts[b] * row[y[r]] - top[b]
                loss = log(total[b]) - true
                # What is impossible is no number, or infinite.
                out[b] += weight[r] * (loss if loss < max_loss else max_loss)
    return np.asarray(out)


def expected_rows(
    const double[:, ::1] prior, const double[:, ::1] log_likelihood, const double[::1] weight,
    double discount,
):
    """The rows that are expected of each class, and their variance, (2, classes).

    They are the sums of ``P(c | x)`` and of ``P(c | x) (1 - P(c | x))``, with ``losses``'s
    posterior under one discount.
    """
    cdef:
        Py_ssize_t n = log_likelihood.shape[0], K = log_likelihood.shape[1], r, k
        double[:, ::1] out = np.zeros((2, K))
        double[::1] row = np.empty(K)
        double[::1] share = np.empty(K)
        double total, p
    if n == 0 or K == 0:
        return np.asarray(out)
    with nogil:
        for r in range(n):
            beside_best(&log_likelihood[r, 0], K, &row[0])
            total = shares(discount, &prior[r, 0], &row[0], K, &share[0])
            for k in range(K):
                p = share[k] / total
                out[0, k] += weight[r] * p
                out[1, k] += weight[r] * p * (1.0 - p)
    return np.asarray(out)
