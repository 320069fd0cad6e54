"""From log joints to posteriors, in place, and to the likeliest class."""

import numpy as np

from libc.math cimport INFINITY, exp, isnan, log


def weigh(double[:, ::1] likelihood, const double[::1] prior, double discount):
    """Turn log likelihoods into ``prior + discount * likelihood``, in place.

    What is impossible stays so, whatever the discount.
    """
    cdef:
        Py_ssize_t n = likelihood.shape[0], K = likelihood.shape[1], i, k
        double joint
    if prior.shape[0] != K:
        raise ValueError("one prior per class is needed")
    with nogil:
        for i in range(n):
            for k in range(K):
                joint = prior[k] + discount * likelihood[i, k]
                likelihood[i, k] = -INFINITY if isnan(joint) else joint

cdef extern from "posterior.h":
    void exponentials "deciban_exponentials"(double* x, Py_ssize_t n, double most) noexcept nogil


def normalise(double[:, ::1] joint, const double[::1] fallback, bint logarithm):
    """Turn every row into a posterior that sums to one, or into its logarithm.

    A row that no class can have produced (all minus infinity) carries no
    information: it becomes ``fallback``, the log prior.
    """
    cdef:
        Py_ssize_t n = joint.shape[0], K = joint.shape[1], i, k
        double most, total
        double* row
    if K == 0:
        return
    with nogil:
        for i in range(n):
            row = &joint[i, 0]
            most = row[0]
            for k in range(1, K):
                most = row[k] if row[k] > most else most
            if most == -INFINITY:
                for k in range(K):
                    row[k] = fallback[k] if logarithm else exp(fallback[k])
                continue
            total = 0.0
            if logarithm:
                for k in range(K):
                    total += exp(row[k] - most)
                total = log(total)
                for k in range(K):
                    row[k] = (row[k] - most) - total
            else:
                exponentials(row, K, most)
                for k in range(K):
                    total += row[k]
                for k in range(K):
                    row[k] /= total


def largest(const double[:, ::1] joint):
    """The position of the largest number of every row, the first of equals."""
    cdef:
        Py_ssize_t n = joint.shape[0], K = joint.shape[1], i, k, best
        Py_ssize_t[::1] out = np.zeros(n, dtype=np.intp)
    with nogil:
        for i in range(n):
            best = 0
            for k in range(1, K):
                if joint[i, k] > joint[i, best]:
                    best = k
            out[i] = best
    return np.asarray(out)
