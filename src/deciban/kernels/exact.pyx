"""Exact sums of floats: every sum is a wide fixed-point integer.

A float is ``m * 2**e`` with a 53-bit integer ``m``, so a sum of floats, of
their squares, and of either times a float weight, is an integer multiple of
some power of two. Adding such integers never rounds: the order of the rows,
the chunks they came in and what was added and taken away again cannot show.

A wide number is a row of int64 *digits* in base ``2**32``:

    value = sum_i digits[i] * 2**(32 * (base + i))

where ``base`` is shared by the whole array.
"""

import numpy as np

from libc.math cimport ldexp
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    typedef __int128 deciban_int128;
    typedef unsigned __int128 deciban_uint128;

    #include "wide.h"
    #include <string.h>

    /* The least non-zero and the greatest magnitude, as bits. */
    DECIBAN_WIDE static void deciban_extremes(
        const double *x, ptrdiff_t n, int64_t *least, int64_t *most)
    {
        int64_t low = INT64_MAX, high = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            int64_t a;
            memcpy(&a, x + i, 8);
            a &= INT64_MAX;
            int64_t b = a == 0 ? INT64_MAX : a;
            low = b < low ? b : low;
            high = a > high ? a : high;
        }
        *least = low;
        *most = high;
    }
    """
    ctypedef int int128 "deciban_int128"
    ctypedef unsigned int uint128 "deciban_uint128"
    void extremes "deciban_extremes"(
        const double* x, Py_ssize_t n, int64_t* least, int64_t* most
    ) noexcept nogil

cdef enum:
    UNIT = 1075          # a float with biased exponent E is m * 2**(E - UNIT)
    CELLS = 1 << 19      # cells held at once: 16 MB

cdef uint64_t MAGNITUDE = 0x7FFFFFFFFFFFFFFF
cdef uint64_t INFINITE = 0x7FF0000000000000
cdef uint64_t FRACTION = 0x000FFFFFFFFFFFFF
cdef uint64_t HIDDEN = 0x0010000000000000
cdef int64_t DIGIT = 0xFFFFFFFF


cdef inline uint64_t magnitude(double x) noexcept nogil:
    cdef uint64_t u
    memcpy(&u, &x, 8)
    return u & MAGNITUDE


cdef inline uint64_t mantissa(uint64_t a) noexcept nogil:
    return a & FRACTION if (a >> 52) == 0 else (a & FRACTION) | HIDDEN


cdef inline int exponent(uint64_t a) noexcept nogil:
    return 1 if (a >> 52) == 0 else <int>(a >> 52)


cdef struct Cell:
    int128 total           # sum of the mantissas of one exponent, and of their squares:
    uint128 squares        # 2**22 rows fit


cdef struct Range:
    int low        # least and greatest biased exponent of the non-zero finite values;
    int high       # low > high when there is none
    Py_ssize_t infinite


cdef Range scan(const double* x, Py_ssize_t n) noexcept nogil:
    """Exponents in ``x``, and the position of the last infinity (-1: none)."""
    cdef:
        Range r
        uint64_t a
        int64_t least, most
        Py_ssize_t i
    r.infinite = -1
    extremes(x, n, &least, &most)
    if most >= <int64_t>INFINITE:
        most = 0
        for i in range(n):
            a = magnitude(x[i])
            if a < INFINITE:
                most = <int64_t>a if <int64_t>a > most else most
            elif a == INFINITE:
                r.infinite = i
    r.low = exponent(<uint64_t>least)
    r.high = exponent(<uint64_t>most) if most > 0 else r.low - 1
    return r


cdef inline int floor32(int e) noexcept nogil:
    return e >> 5


cdef inline void add_words(
    int64_t* digits, int base, uint128 low, uint64_t high, int unit, bint negative
) noexcept nogil:
    """Add ``(high * 2**128 + low) * 2**unit`` to a wide number."""
    cdef:
        int at = unit - 32 * base, shift = at & 31, k
        uint64_t[4] word
        int64_t piece
    word[0] = <uint64_t>low
    word[1] = <uint64_t>(low >> 64)
    word[2] = high
    word[3] = (high >> 1) >> (63 - shift)
    word[2] = (high << shift) | ((word[1] >> 1) >> (63 - shift))
    word[1] = (word[1] << shift) | ((word[0] >> 1) >> (63 - shift))
    word[0] = word[0] << shift
    digits += at >> 5
    for k in range(7):
        piece = <int64_t>(word[k >> 1] >> (32 * (k & 1))) & DIGIT
        digits[k] += -piece if negative else piece


cdef void fill(
    const double* x, Py_ssize_t n, Py_ssize_t d, Py_ssize_t first, Py_ssize_t last,
    const Py_ssize_t* y, int low, Py_ssize_t span, Cell* cells, int64_t* number, int64_t* rows,
) noexcept nogil:
    """Add columns ``first .. last`` to the cells: one per class, column and exponent.

    ``rows`` counts the rows of each class, ``number`` what is missing from them.
    """
    cdef:
        Py_ssize_t i, j
        uint64_t a, m
        int64_t sign
        Cell* row
        Cell* at
    for i in range(n):
        row = cells + y[i] * (last - first) * span - low
        rows[y[i]] += 1
        for j in range(first, last):
            memcpy(&a, x + i * d + j, 8)
            sign = <int64_t>a >> 63              # 0 or -1: no branch to mispredict
            a &= MAGNITUDE
            at = row + exponent(a)
            row += span
            if a - 1 >= INFINITE - 1:
                if a != 0:
                    number[y[i] * d + j] -= 1
                continue
            m = mantissa(a)
            at.total += (<int64_t>m ^ sign) - sign
            at.squares += <uint128>m * m


def moments(const double[:, ::1] X, const Py_ssize_t[::1] y, Py_ssize_t n_classes):
    """Number, sum and sum of squares of the values per class and column, exactly.

    Returns ``infinite``, then digits and base of the three: ``infinite`` is the
    flat position of an infinity or -1; NaN is not a value. Digits have the shape
    (classes, columns, digits). At most 2**22 rows.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], K = n_classes, c, j, e, span, width, first, last
        const double* x = &X[0, 0] if n and d else NULL
        Range r
        Cell* cells
        Cell* at
        int b1, b2
    with nogil:
        r = scan(x, n * d)
    if r.infinite >= 0:
        return r.infinite, None, 0, None, 0, None, 0
    span = max(r.high - r.low, 0) + 1
    width = max(<Py_ssize_t>1, min(d, CELLS // (K * span + 1)))
    b1 = floor32(r.low - UNIT)
    b2 = floor32(2 * (r.low - UNIT))
    cdef int64_t[:, :, ::1] s0 = np.zeros((K, d, 1), dtype=np.int64)
    cdef int64_t[::1] rows = np.zeros(K, dtype=np.int64)
    cdef int64_t[:, :, ::1] s1 = np.zeros((K, d, span // 32 + 8), dtype=np.int64)
    cdef int64_t[:, :, ::1] s2 = np.zeros((K, d, span // 16 + 8), dtype=np.int64)
    cells = <Cell*>calloc(K * width * span, sizeof(Cell))
    if cells == NULL:
        raise MemoryError
    with nogil:
        first = 0
        while first < d and n > 0:
            last = min(first + width, d)
            if first > 0:
                memset(cells, 0, K * width * span * sizeof(Cell))
            rows[:] = 0
            fill(x, n, d, first, last, &y[0], r.low, span, cells, &s0[0, 0, 0], &rows[0])
            for c in range(K):
                for j in range(first, last):
                    at = cells + (c * (last - first) + j - first) * span
                    s0[c, j, 0] += rows[c]
                    for e in range(span):
                        add_words(&s1[c, j, 0], b1, <uint128>(-at.total if at.total < 0 else at.total),
                                  0, <int>(r.low + e - UNIT), at.total < 0)
                        add_words(&s2[c, j, 0], b2, at.squares, 0, <int>(2 * (r.low + e - UNIT)), False)
                        at += 1
            first = last
    free(cells)
    return -1, np.asarray(s0), 0, np.asarray(s1), b1, np.asarray(s2), b2


cdef inline void add_product(
    int64_t* digits, int base, uint64_t a, uint64_t b, uint64_t c, int unit, bint negative
) noexcept nogil:
    """Add ``a * b * c * 2**unit`` to a wide number; each factor has at most 53 bits."""
    cdef:
        uint128 q = <uint128>a * b
        uint128 low = <uint128>(<uint64_t>q) * c
        uint128 high = <uint128>(<uint64_t>(q >> 64)) * c + (low >> 64)
    add_words(digits, base, (high << 64) | <uint64_t>low, <uint64_t>(high >> 64), unit, negative)


def weighted_moments(
    const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weight,
    Py_ssize_t n_classes,
):
    """Weight, weighted sum and weighted sum of squares per class and column, exactly.

    Returns ``infinite``, then digits and base of each of the three sums.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j
        const double* x = &X[0, 0] if n and d else NULL
        Range r, s
        int b0, b1, b2, ew, e
        uint64_t a, w, m, one = 1
        bint negative
    with nogil:
        r = scan(x, n * d)
        s = scan(&weight[0] if n else NULL, n)
    if r.infinite >= 0:
        return r.infinite, None, 0, None, 0, None, 0
    r.high = max(r.high, r.low)
    s.high = max(s.high, s.low)
    b0 = floor32(s.low - UNIT)
    b1 = floor32(s.low + r.low - 2 * UNIT)
    b2 = floor32(s.low + 2 * r.low - 3 * UNIT)
    shape = (n_classes, d)
    cdef int64_t[:, :, ::1] s0 = np.zeros((*shape, ((s.high - s.low) >> 5) + 9), dtype=np.int64)
    cdef int64_t[:, :, ::1] s1 = np.zeros(
        (*shape, ((s.high - s.low + r.high - r.low) >> 5) + 9), dtype=np.int64)
    cdef int64_t[:, :, ::1] s2 = np.zeros(
        (*shape, ((s.high - s.low + 2 * (r.high - r.low)) >> 5) + 9), dtype=np.int64)
    with nogil:
        for i in range(n):
            w = magnitude(weight[i])
            if w == 0:
                continue
            ew = exponent(w)
            w = mantissa(w)
            for j in range(d):
                a = magnitude(x[i * d + j])
                if a > INFINITE:
                    continue
                add_product(&s0[y[i], j, 0], b0, w, one, one, ew - UNIT, False)
                if a == 0:
                    continue
                negative = x[i * d + j] < 0
                e = exponent(a)
                m = mantissa(a)
                add_product(&s1[y[i], j, 0], b1, w, m, one, ew + e - 2 * UNIT, negative)
                add_product(&s2[y[i], j, 0], b2, w, m, m, ew + 2 * e - 3 * UNIT, False)
    return -1, np.asarray(s0), b0, np.asarray(s1), b1, np.asarray(s2), b2


def from_floats(const double[::1] x):
    """Digits of shape (values, digits) and the base of finite floats."""
    cdef:
        Py_ssize_t i, n = x.shape[0]
        Range r = scan(&x[0] if n else NULL, n)
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


cdef void carry(int64_t* digits, Py_ssize_t length) noexcept nogil:
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
    carry(digits, length)
    return True


cdef double rounded(const int64_t* digits, Py_ssize_t length, int base) noexcept nogil:
    """The float nearest to non-negative carried digits (the last bit may differ)."""
    cdef Py_ssize_t k = length - 1, i
    cdef double value = 0.0
    while k > 0 and digits[k] == 0:
        k -= 1
    for i in range(max(0, k - 3), k + 1):       # the smallest first
        value += ldexp(<double>digits[i], <int>(32 * (i - k)))
    return ldexp(value, <int>(32 * (base + k)))


def carried(int64_t[:, ::1] digits):
    """Carry every row in place."""
    cdef Py_ssize_t i, length = digits.shape[1]
    with nogil:
        for i in range(digits.shape[0]):
            carry(&digits[i, 0], length)


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
            value = rounded(buffer, length, base)
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
            carry(a, w0)
            carry(b, w1)
            carry(c, w2)
            make_positive(b, w1)
            multiply_add(left + at1, a, w0, c, w2)
            multiply_add(right + at2, b, w1, b, w1)
            for k in range(width):
                left[k] -= right[k]
            carry(left, width)
            negative = make_positive(left, width)
            value = rounded(left, width, base)
            out[i] = -value if negative else value
    free(work)
    return np.asarray(out)
