"""Hashes of 64 bits of what rows hold, and the different rows among many.

The hash of bytes is Bob Jenkins's lookup3 as PostgreSQL has it (``hashtextextended`` of a text,
``hashfloat8extended`` of a number), so that a server can compute keys where the rows are. A row's
hash is the exclusive or of those of its values, each with the seed of its column: in any order.
"""

import numpy as np

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

cdef uint64_t NAN_BITS = 0x7FF8000000000000
# Whole numbers up to this are floats exactly, and hashed as such.
cdef int64_t MAX_EXACT = 1 << 53

cdef struct State:
    uint32_t a
    uint32_t b
    uint32_t c


cdef inline uint32_t rotate(uint32_t x, int k) noexcept nogil:
    return (x << k) | (x >> (32 - k))


cdef inline void stir(State* s) noexcept nogil:
    s.a -= s.c; s.a ^= rotate(s.c, 4); s.c += s.b
    s.b -= s.a; s.b ^= rotate(s.a, 6); s.a += s.c
    s.c -= s.b; s.c ^= rotate(s.b, 8); s.b += s.a
    s.a -= s.c; s.a ^= rotate(s.c, 16); s.c += s.b
    s.b -= s.a; s.b ^= rotate(s.a, 19); s.a += s.c
    s.c -= s.b; s.c ^= rotate(s.b, 4); s.b += s.a


cdef inline uint64_t finish(State s) noexcept nogil:
    s.c ^= s.b; s.c -= rotate(s.b, 14)
    s.a ^= s.c; s.a -= rotate(s.c, 11)
    s.b ^= s.a; s.b -= rotate(s.a, 25)
    s.c ^= s.b; s.c -= rotate(s.b, 16)
    s.a ^= s.c; s.a -= rotate(s.c, 4)
    s.b ^= s.a; s.b -= rotate(s.a, 14)
    s.c ^= s.b; s.c -= rotate(s.b, 24)
    return (<uint64_t>s.b << 32) | s.c


cdef inline State start(Py_ssize_t length, uint64_t seed) noexcept nogil:
    cdef State s
    s.a = <uint32_t>length + <uint32_t>0x9E3779B9 + <uint32_t>3923095
    s.b = s.c = s.a
    if seed:
        s.a += <uint32_t>(seed >> 32)
        s.b += <uint32_t>seed
        stir(&s)
    return s


cdef inline uint32_t word(const uint8_t* at) noexcept nogil:
    """Four bytes, the lowest first."""
    return at[0] | <uint32_t>at[1] << 8 | <uint32_t>at[2] << 16 | <uint32_t>at[3] << 24


cdef inline uint32_t partial_word(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    """Up to four bytes, the lowest first."""
    cdef uint32_t out = 0
    cdef Py_ssize_t i
    for i in range(n if n < 4 else 4):
        out |= <uint32_t>at[i] << (8 * i)
    return out


cdef uint64_t hash_bytes(const uint8_t* at, Py_ssize_t n, uint64_t seed) noexcept nogil:
    cdef State s = start(n, seed)
    while n >= 12:
        s.a += word(at)
        s.b += word(at + 4)
        s.c += word(at + 8)
        stir(&s)
        at += 12
        n -= 12
    if n:
        s.a += partial_word(at, n)
    if n > 4:
        s.b += partial_word(at + 4, n - 4)
    if n > 8:  # the lowest byte of c is that of the length
        s.c += partial_word(at + 8, n - 8) << 8
    return finish(s)


cdef inline uint64_t hash_double(double value, State eight, uint64_t seed) noexcept nogil:
    cdef uint64_t bits
    if value == 0:
        return seed
    if isnan(value):
        bits = NAN_BITS
    else:
        memcpy(&bits, &value, 8)
    eight.a += <uint32_t>bits
    eight.b += <uint32_t>(bits >> 32)
    return finish(eight)


def hash_text(bytes text, uint64_t seed):
    """The hash of some bytes.

    >>> hash_text(b"spam", 0) == hash_text(b"spam", 1)
    False
    """
    return hash_bytes(<const uint8_t*>text, len(text), seed)


def add_numbers(const double[::1] values, uint64_t seed, uint64_t[::1] out):
    """Exclusive or of each key and the hash of its number; all NaN are one, and so are all zeros."""
    cdef Py_ssize_t i
    cdef State eight = start(8, seed)
    with nogil:
        for i in range(values.shape[0]):
            out[i] ^= hash_double(values[i], eight, seed)


def add_integers(
    const int64_t[::1] values, const uint8_t[::1] missing, uint64_t seed, uint64_t[::1] out
):
    """Exclusive or of each key and the hash of its whole number: that of the float, if it is one."""
    cdef Py_ssize_t i
    cdef int64_t v
    cdef State eight = start(8, seed), large = start(9, seed), s
    cdef uint64_t none = hash_double(float("nan"), eight, seed)
    with nogil:
        for i in range(values.shape[0]):
            v = values[i]
            if missing[i]:
                out[i] ^= none
            elif -MAX_EXACT <= v <= MAX_EXACT:
                out[i] ^= hash_double(<double>v, eight, seed)
            else:
                s = large
                s.a += <uint32_t>v
                s.b += <uint32_t>(<uint64_t>v >> 32)
                out[i] ^= finish(s)


def add_texts(
    const int64_t[::1] offsets, const uint8_t[::1] data, const uint8_t[::1] missing,
    uint64_t seed, uint64_t[::1] out,
):
    """Exclusive or of each key and the hash of the bytes of its text."""
    cdef Py_ssize_t i
    cdef uint64_t none = hash_double(float("nan"), start(8, seed), seed)
    cdef const uint8_t* block = &data[0] if data.shape[0] else NULL
    with nogil:
        for i in range(missing.shape[0]):
            if missing[i]:
                out[i] ^= none
            else:
                out[i] ^= hash_bytes(block + offsets[i], offsets[i + 1] - offsets[i], seed)


def mix(uint64_t[::1] keys):
    """Make all bits of every key depend on all of them, in place: the finaliser of splitmix64."""
    cdef Py_ssize_t i
    cdef uint64_t z
    with nogil:
        for i in range(keys.shape[0]):
            z = keys[i] + <uint64_t>0x9E3779B97F4A7C15
            z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
            z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
            keys[i] = z ^ (z >> 31)


def distinct(const uint64_t[::1] keys, const double[::1] weight, uint64_t limit):
    """The first row of every different key up to a limit, and the weight of all that have it.

    >>> rows, weight = distinct(np.array([7, 9, 7, 3], dtype=np.uint64), None, 8)
    >>> rows.tolist(), weight.tolist()
    ([0, 3], [2.0, 1.0])
    """
    cdef Py_ssize_t n = keys.shape[0], i, n_rows = 0, n_below = 0
    for i in range(n):
        n_below += keys[i] <= limit
    cdef uint64_t mask = 16
    while mask < <uint64_t>(2 * n_below):
        mask *= 2
    cdef uint64_t slot
    cdef Py_ssize_t[::1] rows = np.empty(n_below, dtype=np.intp)
    cdef double[::1] total = np.empty(n_below)
    cdef uint32_t* table = <uint32_t*>calloc(mask, sizeof(uint32_t))  # 1 + number of the row
    if not table:
        raise MemoryError
    mask -= 1
    with nogil:
        for i in range(n):
            if keys[i] > limit:
                continue
            slot = (keys[i] * <uint64_t>0x9E3779B97F4A7C15 >> 32) & mask
            while table[slot] and keys[rows[table[slot] - 1]] != keys[i]:
                slot = (slot + 1) & mask
            if not table[slot]:
                rows[n_rows], total[n_rows] = i, 0.0
                n_rows += 1
                table[slot] = <uint32_t>n_rows
            total[table[slot] - 1] += 1.0 if weight is None else weight[i]
    free(table)
    return np.asarray(rows)[:n_rows].copy(), np.asarray(total)[:n_rows].copy()
