"""Differences of counts that are floats, up to rounding; see stats/rounding.py."""

import numpy as np

from libc.math cimport fabs, floor, fmax

cdef double SHARE = 1e-12        # counts of fractional weights that differ by less are the same
ROUNDING = SHARE


cdef inline bint is_exact(double amount) noexcept nogil:
    return amount == floor(amount) and amount < 9007199254740992.0


cdef inline bint is_rounding(double a, double b) noexcept nogil:
    """Whether a difference that is not zero may come from rounding alone."""
    return fabs(a - b) <= SHARE * fmax(a, b) and not (is_exact(a) and is_exact(b))


def difference(a, b):
    """``a - b``, zero where only rounding is left."""
    cdef:
        const double[::1] left, right
        double[::1] out
        Py_ssize_t i
    sides = np.broadcast_arrays(a, b)
    result = np.empty(sides[0].shape)
    left, right = (np.asarray(side, dtype=np.float64).ravel() for side in sides)
    out = result.reshape(-1)
    with nogil:
        for i in range(out.shape[0]):
            out[i] = 0.0 if is_rounding(left[i], right[i]) else left[i] - right[i]
    return result


def same(a, b):
    """Whether two arrays are equal up to rounding."""
    cdef:
        const double[::1] left, right
        Py_ssize_t i
        bint equal = True
    left, right = (np.asarray(side, dtype=np.float64).ravel() for side in np.broadcast_arrays(a, b))
    with nogil:
        for i in range(left.shape[0]):
            if left[i] != right[i] and not is_rounding(left[i], right[i]):
                equal = False
                break
    return equal
