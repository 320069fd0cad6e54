"""The logarithm of the gamma function, without SciPy, whose import takes longer than a prediction."""

import numpy as np

from libc.math cimport lgamma


def log_gamma(values):
    """``log |Gamma(x)|`` of every number; infinity at zero and at the negative integers."""
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    cdef:
        const double[::1] x = flat
        double[::1] out = np.empty(len(flat))
        Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = lgamma(x[i])
    return np.asarray(out).reshape(np.shape(values))
