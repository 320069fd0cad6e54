"""Floats added to wide numbers, exactly.

A float is ``m * 2**e`` with a 53-bit integer ``m``. A wide number is a row of
int64 *digits* in base ``2**32``:

    value = sum_i digits[i] * 2**(32 * (base + i))

where ``base`` is shared by a whole array of them.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    typedef __int128 deciban_int128;
    typedef unsigned __int128 deciban_uint128;

    /* The bits of a float. */
    #define DECIBAN_MAGNITUDE 0x7FFFFFFFFFFFFFFFULL
    #define DECIBAN_INFINITE 0x7FF0000000000000ULL
    #define DECIBAN_FRACTION 0x000FFFFFFFFFFFFFULL
    #define DECIBAN_HIDDEN 0x0010000000000000ULL
    #define DECIBAN_DIGIT 0xFFFFFFFFLL

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
    const uint64_t MAGNITUDE "DECIBAN_MAGNITUDE"
    const uint64_t INFINITE "DECIBAN_INFINITE"
    const uint64_t FRACTION "DECIBAN_FRACTION"
    const uint64_t HIDDEN "DECIBAN_HIDDEN"
    const int64_t DIGIT "DECIBAN_DIGIT"
    void extremes "deciban_extremes"(
        const double* x, Py_ssize_t n, int64_t* least, int64_t* most
    ) noexcept nogil

cdef enum:
    UNIT = 1075          # a float with biased exponent E is m * 2**(E - UNIT)


cdef inline uint64_t magnitude(double x) noexcept nogil:
    cdef uint64_t u
    memcpy(&u, &x, 8)
    return u & MAGNITUDE


cdef inline uint64_t mantissa(uint64_t a) noexcept nogil:
    return a & FRACTION if (a >> 52) == 0 else (a & FRACTION) | HIDDEN


cdef inline int exponent(uint64_t a) noexcept nogil:
    return 1 if (a >> 52) == 0 else <int>(a >> 52)


cdef struct Range:
    int low        # least and greatest biased exponent of the non-zero finite values;
    int high       # low > high when there is none
    Py_ssize_t infinite


cdef inline Range find_range(const double* x, Py_ssize_t n) noexcept nogil:
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


cdef inline void add_product(
    int64_t* digits, int base, uint64_t a, uint64_t b, uint64_t c, int unit, bint negative
) noexcept nogil:
    """Add ``a * b * c * 2**unit`` to a wide number; each factor has at most 53 bits."""
    cdef:
        uint128 q = <uint128>a * b
        uint128 low = <uint128>(<uint64_t>q) * c
        uint128 high = <uint128>(<uint64_t>(q >> 64)) * c + (low >> 64)
    add_words(digits, base, (high << 64) | <uint64_t>low, <uint64_t>(high >> 64), unit, negative)
