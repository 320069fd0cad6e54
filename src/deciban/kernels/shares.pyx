"""Logarithms of smoothed shares, turned from class-major to cell-major."""

import numpy as np

from libc.math cimport INFINITY, log


def log_shares(const double[:, ::1] amount, const double[::1] smoothing, const double[::1] total):
    """``out[j, c] = log((amount[c, j] + smoothing[j]) / total[c])``; uniform where the total is 0.

    ``smoothing`` has one number a cell, or one for all. A sum below zero counts as
    zero. Most cells of a large table hold a small whole number: with one number
    for all, their logarithms are taken once.
    """
    cdef:
        Py_ssize_t K = amount.shape[0], cells = amount.shape[1], c, j, start
        Py_ssize_t step = 1 if smoothing.shape[0] > 1 else 0
        int known = 0 if step else 1024, whole
        double[:, ::1] out = np.empty((cells, K))
        double[::1] base = np.log(np.where(np.asarray(total) > 0, total, 1.0))
        double[1024] small
        double n, uniform = -log(<double>max(cells, 1))
    with nogil:
        for whole in range(known):
            small[whole] = log_of(whole + smoothing[0])
        for start in range(0, cells, 64):              # a tile of the turned table at a time
            for c in range(K):
                for j in range(start, min(start + 64, cells)):
                    n = amount[c, j]
                    whole = <int>n if 0 <= n < known else known
                    if total[c] <= 0:
                        out[j, c] = uniform
                    elif whole < known and whole == n:
                        out[j, c] = small[whole] - base[c]
                    else:
                        out[j, c] = log_of(n + smoothing[j * step]) - base[c]
    return np.asarray(out)


cdef inline double log_of(double value) noexcept nogil:
    return log(value) if value > 0 else -INFINITY
