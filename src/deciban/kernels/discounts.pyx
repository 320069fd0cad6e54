"""What rows lose under every discount of their evidence."""

import numpy as np

from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t

cdef extern from "discounts.h":
    void totals "deciban_totals"(
        const double*, int64_t, const double*, const double*, int64_t, double*, double*
    ) noexcept nogil


def losses(
    const double[:, ::1] prior, const double[:, ::1] said, const Py_ssize_t[::1] y,
    const double[::1] weight, const double[::1] discounts, double most,
):
    """The summed ``-log P(y | x)``, a row costing no more than ``most``, under each discount.

    ``log P(c | x) = prior + discount * said`` up to a constant; a row that no
    class can have says nothing.
    """
    cdef:
        Py_ssize_t n = said.shape[0], K = said.shape[1], B = discounts.shape[0], r, b, k
        double[::1] out = np.zeros(B)
        double[::1] top = np.empty(B)
        double[::1] total = np.empty(B)
        double[::1] row = np.empty(K)
        double best, true, loss
    if n == 0 or K == 0 or B == 0:
        return np.asarray(out)
    with nogil:
        for r in range(n):
            best = -INFINITY
            for k in range(K):
                best = said[r, k] if said[r, k] > best else best
            for k in range(K):
                row[k] = 0.0 if best == -INFINITY else said[r, k] - best
            totals(&discounts[0], B, &prior[r, 0], &row[0], K, &top[0], &total[0])
            for b in range(B):
                true = prior[r, y[r]] + discounts[b] * row[y[r]] - top[b]
                loss = log(total[b]) - true
                # What is impossible is no number, or infinite.
                out[b] += weight[r] * (loss if loss < most else most)
    return np.asarray(out)
