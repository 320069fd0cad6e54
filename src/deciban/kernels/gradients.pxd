"""Derivatives of some rows, for the kernel that grows trees; see the implementation."""

from libc.stdint cimport int32_t

from deciban.kernels.splits cimport Sum

cdef struct Rows:
    Py_ssize_t n
    int32_t* at            # rows, those of a node together
    int32_t* spare
    Sum* of                # of each row that is among them

cdef struct ClassRows:           # one class, all rows
    const double* proba
    const Py_ssize_t* y
    const double* weight
    Py_ssize_t target
    double curvature           # what second derivatives are multiplied by


cdef void sample(
    const ClassRows* all, Py_ssize_t n, double trim, double start, Rows* rows
) noexcept nogil
