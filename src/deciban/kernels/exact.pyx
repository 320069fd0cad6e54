"""Arithmetic of exact sums: wide fixed-point numbers, from floats and back.

A sum of floats, of their squares, and of either times a float weight, is an
integer multiple of some power of two. ``digits.pxd`` says how it is written.
"""

import numpy as np

from deciban.kernels.digits cimport (
    DIGIT, UNIT, Range, add_product, exponent, find_range, floor32, magnitude, mantissa,
)

from libc.math cimport ldexp
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset


def from_floats(const double[::1] x):
    """Digits of shape (values, digits) and the base of finite floats."""
    cdef:
        Py_ssize_t i, n = x.shape[0]
        Range r = find_range(&x[0] if n else NULL, n)
        int base
        uint64_t a, one = 1
    r.high = max(r.high, r.low)
    base = floor32(r.low - UNIT)
    cdef int64_t[:, ::1] digits = np.zeros((n, ((r.high - r.low) >> 5) + 9), dtype=np.int64)
    for i in range(n):
        a = magnitude(x[i])
        if a != 0:
            add_product(&digits[i, 0], base, mantissa(a), one, one, exponent(a) - UNIT, x[i] < 0)
    return np.asarray(digits), base


cdef void carry_digits(int64_t* digits, Py_ssize_t length) noexcept nogil:
    """Bring all digits but the last into 0 .. 2**32 - 1; the last takes the sign."""
    cdef Py_ssize_t k
    for k in range(length - 1):
        digits[k + 1] += digits[k] >> 32
        digits[k] &= DIGIT


cdef bint make_positive(int64_t* digits, Py_ssize_t length) noexcept nogil:
    """Turn the carried ``digits`` into their absolute value; True if they were negative."""
    cdef Py_ssize_t k
    if digits[length - 1] >= 0:
        return False
    for k in range(length):
        digits[k] = -digits[k]
    carry_digits(digits, length)
    return True


cdef double nearest_float(const int64_t* digits, Py_ssize_t length, int base) noexcept nogil:
    """The float nearest to non-negative carried digits (the last bit may differ)."""
    cdef Py_ssize_t k = length - 1, i
    cdef double value = 0.0
    while k > 0 and digits[k] == 0:
        k -= 1
    for i in range(max(0, k - 3), k + 1):       # the smallest first
        value += ldexp(<double>digits[i], <int>(32 * (i - k)))
    return ldexp(value, <int>(32 * (base + k)))


def carry(int64_t[:, ::1] digits):
    """Bring the digits of every row but the last into 0 .. 2**32 - 1, in place."""
    cdef Py_ssize_t i, length = digits.shape[1]
    with nogil:
        for i in range(digits.shape[0]):
            carry_digits(&digits[i, 0], length)


def to_floats(const int64_t[:, ::1] digits, int base):
    """The floats nearest to carried wide numbers."""
    cdef:
        Py_ssize_t i, n = digits.shape[0], length = digits.shape[1]
        double[::1] out = np.empty(n)
        double value
        int64_t* buffer = <int64_t*>calloc(length, 8)
        bint negative
    if buffer == NULL:
        raise MemoryError
    with nogil:
        for i in range(n):
            memcpy(buffer, &digits[i, 0], 8 * length)
            negative = make_positive(buffer, length)
            value = nearest_float(buffer, length, base)
            out[i] = -value if negative else value
    free(buffer)
    return np.asarray(out)


cdef void multiply_add(
    int64_t* out, const int64_t* a, Py_ssize_t la, const int64_t* b, Py_ssize_t lb
) noexcept nogil:
    """``out += a * b`` for non-negative carried digits; ``out`` stays carried."""
    cdef Py_ssize_t i, j
    cdef uint64_t t
    for i in range(la):
        if a[i] == 0:
            continue
        t = 0
        for j in range(lb):
            t += <uint64_t>out[i + j] + <uint64_t>a[i] * <uint64_t>b[j]
            out[i + j] = <int64_t>(t & <uint64_t>DIGIT)
            t >>= 32
        j = i + lb
        while t:
            t += <uint64_t>out[j]
            out[j] = <int64_t>(t & <uint64_t>DIGIT)
            t >>= 32
            j += 1


def spread(
    const int64_t[:, ::1] n, int n_base, const int64_t[:, ::1] s1, int s1_base,
    const int64_t[:, ::1] s2, int s2_base,
):
    """``n * s2 - s1**2`` per row, computed exactly and rounded once.

    Divided by ``n`` it is the sum of squared deviations from the mean, without
    the cancellation that formula is known for. ``n`` and ``s2`` are >= 0.
    """
    cdef:
        Py_ssize_t i, k, cells = n.shape[0], l0 = n.shape[1], l1 = s1.shape[1], l2 = s2.shape[1]
        int base = min(n_base + s2_base, 2 * s1_base)
        Py_ssize_t at1 = n_base + s2_base - base, at2 = 2 * s1_base - base
        # The last digit of an operand may be wider than the rest: two more digits hold it.
        Py_ssize_t w0 = l0 + 2, w1 = l1 + 2, w2 = l2 + 2
        Py_ssize_t width = max(at1 + w0 + w2, at2 + 2 * w1) + 2
        int64_t* work = <int64_t*>calloc(w0 + w1 + w2 + 2 * width, 8)
        int64_t* a
        int64_t* b
        int64_t* c
        int64_t* left
        int64_t* right
        double[::1] out = np.empty(cells)
        double value
        bint negative
    if work == NULL:
        raise MemoryError
    a, b, c = work, work + w0, work + w0 + w1
    left = work + w0 + w1 + w2
    right = left + width
    with nogil:
        for i in range(cells):
            memset(work, 0, 8 * (w0 + w1 + w2 + 2 * width))
            memcpy(a, &n[i, 0], 8 * l0)
            memcpy(b, &s1[i, 0], 8 * l1)
            memcpy(c, &s2[i, 0], 8 * l2)
            carry_digits(a, w0)
            carry_digits(b, w1)
            carry_digits(c, w2)
            make_positive(b, w1)
            multiply_add(left + at1, a, w0, c, w2)
            multiply_add(right + at2, b, w1, b, w1)
            for k in range(width):
                left[k] -= right[k]
            carry_digits(left, width)
            negative = make_positive(left, width)
            value = nearest_float(left, width, base)
            out[i] = -value if negative else value
    free(work)
    return np.asarray(out)
