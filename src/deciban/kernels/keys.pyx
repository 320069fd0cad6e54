"""Hashes of 64 bits of what rows hold, and the different rows among many.

The hash of bytes is Bob Jenkins's lookup3 as PostgreSQL has it (``hashtextextended`` of a text,
``hashfloat8extended`` of a number), so that a server can compute keys where the rows are. It is
made of sums, shifts and exclusive ors of 32 bits, so that a block of values is hashed at once in
wide registers: about a nanosecond a value, and no other hash would make counting rows faster. A
row's hash is the exclusive or of those of its values, each with the seed of its column: in any order.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

cdef extern from "keys.h" nogil:
    enum:
        DECIBAN_KEY_BLOCK
        DECIBAN_KEY_STEP
    ctypedef struct deciban_key_state:
        pass
    ctypedef struct deciban_key_block:
        uint64_t* hash
    deciban_key_state deciban_key_start(int64_t length, uint64_t seed)
    deciban_key_state deciban_key_eight(deciban_key_state s, uint64_t bits)
    deciban_key_state deciban_key_text(
        const uint8_t* at, int64_t n, uint64_t seed, const deciban_key_state* starts)
    uint64_t deciban_key_bits(double value)
    void deciban_key_put(deciban_key_block* block, int64_t i, deciban_key_state s)
    void deciban_key_finish(deciban_key_block* block, int64_t n)

# Whole numbers up to this are floats exactly, and hashed as such.
cdef int64_t MAX_EXACT = 1 << 53
cdef double NAN = float("nan")


cdef uint64_t hash_state(deciban_key_state s) noexcept nogil:
    """The hash of one value from its state."""
    cdef deciban_key_block block
    deciban_key_put(&block, 0, s)
    deciban_key_finish(&block, 1)
    return block.hash[0]


cdef uint64_t hash_missing(uint64_t seed) noexcept nogil:
    return hash_state(deciban_key_eight(deciban_key_start(8, seed), deciban_key_bits(NAN)))


def hash_text(bytes text, uint64_t seed):
    """The hash of some bytes.

    >>> hash_text(b"spam", 0) == hash_text(b"spam", 1)
    False
    """
    cdef deciban_key_state[DECIBAN_KEY_STEP] starts
    fill_starts(seed, starts)
    return hash_state(deciban_key_text(<const uint8_t*>text, len(text), seed, starts))


cdef void fill_starts(uint64_t seed, deciban_key_state* starts) noexcept nogil:
    """The states from which texts of less than ``DECIBAN_KEY_STEP`` bytes are hashed."""
    cdef int n
    for n in range(DECIBAN_KEY_STEP):
        starts[n] = deciban_key_start(n, seed)


def add_numbers(const double[:] values, uint64_t seed, uint64_t[::1] out):
    """Exclusive or of each key and the hash of its number; all NaN are one, and so are all zeros."""
    cdef Py_ssize_t i, start = 0, n
    cdef deciban_key_state eight = deciban_key_start(8, seed)
    cdef deciban_key_block block
    with nogil:
        while start < values.shape[0]:
            n = min(values.shape[0] - start, <Py_ssize_t>DECIBAN_KEY_BLOCK)
            for i in range(n):
                deciban_key_put(
                    &block, i, deciban_key_eight(eight, deciban_key_bits(values[start + i])))
            deciban_key_finish(&block, n)
            for i in range(n):  # PostgreSQL's hash of zero is the seed
                out[start + i] ^= block.hash[i] if values[start + i] != 0 else seed
            start += n


def add_integers(
    const int64_t[:] values, const uint8_t[:] missing, uint64_t seed, uint64_t[::1] out
):
    """Exclusive or of each key and the hash of its whole number: that of the float, if it is one."""
    cdef Py_ssize_t i, start = 0, n
    cdef int64_t v
    cdef deciban_key_state eight = deciban_key_start(8, seed), large = deciban_key_start(9, seed)
    cdef deciban_key_state s
    cdef deciban_key_block block
    with nogil:
        while start < values.shape[0]:
            n = min(values.shape[0] - start, <Py_ssize_t>DECIBAN_KEY_BLOCK)
            for i in range(n):
                v = values[start + i]
                if missing[start + i]:
                    s = deciban_key_eight(eight, deciban_key_bits(NAN))
                elif -MAX_EXACT <= v <= MAX_EXACT:
                    s = deciban_key_eight(eight, deciban_key_bits(<double>v))
                else:
                    s = deciban_key_eight(large, <uint64_t>v)
                deciban_key_put(&block, i, s)
            deciban_key_finish(&block, n)
            for i in range(n):
                out[start + i] ^= (
                    block.hash[i] if values[start + i] != 0 or missing[start + i] else seed)
            start += n


def add_texts(
    const int64_t[:] offsets, const uint8_t[::1] data, const uint8_t[:] missing,
    uint64_t seed, uint64_t[::1] out,
):
    """Exclusive or of each key and the hash of the bytes of its text."""
    cdef Py_ssize_t i, start = 0, n
    cdef uint64_t none = hash_missing(seed)
    cdef const uint8_t* bytes = &data[0] if data.shape[0] else NULL
    cdef int64_t first, last
    cdef deciban_key_state[DECIBAN_KEY_STEP] starts
    cdef deciban_key_block block
    fill_starts(seed, starts)
    with nogil:
        while start < missing.shape[0]:
            n = min(missing.shape[0] - start, <Py_ssize_t>DECIBAN_KEY_BLOCK)
            for i in range(n):
                first, last = offsets[start + i], offsets[start + i + 1]
                deciban_key_put(&block, i, deciban_key_text(bytes + first, last - first, seed, starts))
            deciban_key_finish(&block, n)
            for i in range(n):
                out[start + i] ^= none if missing[start + i] else block.hash[i]
            start += n


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
    with nogil:
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
