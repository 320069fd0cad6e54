"""Evidence by column: gathered, compared with one class, and added up.

Arrays are (rows, columns, classes), where the classes are few: loops over so
short an axis are slow in NumPy.
"""

import numpy as np

from libc.stdint cimport int64_t


def add_codes(
    const int64_t[:, :] X, const Py_ssize_t[::1] offsets, const double[:, ::1] log_prob,
    const Py_ssize_t[::1] at, double[:, :, ::1] out,
):
    """Add the log-probabilities of column j's codes to column ``at[j]`` of out; -1 adds nothing."""
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], k = log_prob.shape[1], i, j, c, cell
        const double* log_likelihood
        double* to
    with nogil:
        for i in range(n):
            for j in range(d):
                if X[i, j] < 0:
                    continue
                cell = offsets[j] + X[i, j]
                if X[i, j] >= offsets[j + 1] - offsets[j]:
                    cell = offsets[j + 1] - 1
                log_likelihood = &log_prob[cell, 0]
                to = &out[i, at[j], 0]
                for c in range(k):
                    to[c] += log_likelihood[c]


def compare(double[:, :, ::1] out, Py_ssize_t against, double scale):
    """In place: ``scale * (x - x[against])``; what cannot be compared, being impossible, is 0."""
    cdef:
        Py_ssize_t n = out.shape[0], d = out.shape[1], k = out.shape[2], i, j, c
        double other, evidence
    with nogil:
        for i in range(n):
            for j in range(d):
                other = out[i, j, against]
                for c in range(k):
                    evidence = scale * (out[i, j, c] - other)
                    out[i, j, c] = evidence if evidence == evidence else 0.0


def totals(const double[:, :, ::1] evidence, const double[::1] prior):
    """The prior and all columns added up, (rows, classes)."""
    cdef:
        Py_ssize_t n = evidence.shape[0], d = evidence.shape[1], k = evidence.shape[2], i, j, c
        double[:, ::1] out = np.empty((n, k))
    with nogil:
        for i in range(n):
            for c in range(k):
                out[i, c] = prior[c]
            for j in range(d):
                for c in range(k):
                    out[i, c] += evidence[i, j, c]
    return np.asarray(out)


def differences(
    const double[:, :, ::1] evidence, const Py_ssize_t[::1] a, const Py_ssize_t[::1] b
):
    """The evidence of every column for class ``a[i]`` against class ``b[i]``, (rows, columns)."""
    cdef:
        Py_ssize_t n = evidence.shape[0], d = evidence.shape[1], i, j
        double[:, ::1] out = np.empty((n, d))
    with nogil:
        for i in range(n):
            for j in range(d):
                out[i, j] = evidence[i, j, a[i]] - evidence[i, j, b[i]]
    return np.asarray(out)
