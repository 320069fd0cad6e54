"""Histograms of floats on fixed keys: the float's own bits.

The bits of a float, read as a signed integer with the magnitude of negative
numbers turned over, sort like the floats themselves. Dropping the ``drop``
lowest bits of that key gives nested grids of cells, fine near zero and coarse
far away. Bits are dropped only while there are more than ``max_keys`` keys, so the
grid depends on the set of values alone: not on their order, nor on chunks.
"""

import numpy as np

from deciban.kernels.hashtable cimport HashTable, allocate_table, cell_of

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset


cdef extern from *:
    """
    static inline int deciban_n_bits(uint64_t x) {
    #if defined(__GNUC__)
        return x ? 64 - __builtin_clzll(x) : 0;
    #else
        int n = 0;
        for (; x; x >>= 1)
            n++;
        return n;
    #endif
    }
    """
    int n_bits "deciban_n_bits"(uint64_t x) noexcept nogil

cdef enum:
    AHEAD = 2                  # times as many values as keys are looked at ahead
    MAX_SPAN = 1 << 16         # keys that lie no farther apart have a place each in an array


cdef inline int64_t key_of(double x) noexcept nogil:
    cdef int64_t bits
    x += 0.0                                     # minus zero is zero
    memcpy(&bits, &x, 8)
    return bits ^ ((bits >> 63) & INT64_MAX)


cdef struct Cell:
    uint64_t key               # never 0
    int64_t position           # among the keys

cdef struct Grid:
    int drop
    Py_ssize_t used
    int64_t* keys              # in the order they came
    HashTable table            # of cells, while the keys lie far apart
    int64_t low, high          # the first key and the last, with no bits dropped
    int64_t first              # with bits dropped
    Py_ssize_t span            # from the first key to the last, or 0 where it is too wide
    int32_t* near              # 1 + the position of each key from the first on, or 0


cdef inline void aim(Grid* g) noexcept nogil:
    """Where keys are found with so many bits dropped; none has been."""
    g.first = g.low >> g.drop
    g.span = 0
    if <uint64_t>(g.high >> g.drop) - <uint64_t>g.first < <uint64_t>MAX_SPAN:
        g.span = (g.high >> g.drop) - g.first + 1
        memset(g.near, 0, g.span * sizeof(int32_t))
    else:
        memset(g.table.at, 0, (g.table.mask + 1) * sizeof(Cell))


cdef inline Py_ssize_t place(Grid* g, int64_t key) noexcept nogil:
    """The position of a key, new or known."""
    cdef int32_t* near
    cdef uint64_t nonzero
    cdef Cell* cell
    if g.span:
        near = g.near + (key - g.first)
        if near[0] == 0:
            g.keys[g.used] = key
            g.used += 1
            near[0] = <int32_t>g.used
        return near[0] - 1
    # The table has no key 0, and here it is that of the number 0. NaN is never counted: turned by
    # its key, no other key is 0.
    nonzero = <uint64_t>key ^ <uint64_t>0x7FF8000000000000
    cell = <Cell*>cell_of(&g.table, sizeof(Cell), nonzero)
    if cell.key == 0:
        cell.key, cell.position = nonzero, g.used
        g.keys[g.used] = key
        g.used += 1
    return cell.position


cdef void coarsen(Grid* g, double* counts, Py_ssize_t K, int bits) noexcept nogil:
    """Drop more bits: neighbours share a key, and their counts are added."""
    cdef Py_ssize_t i, at, k, before, n = g.used
    g.drop += bits
    g.used = 0
    aim(g)
    for i in range(n):
        before = g.used
        at = place(g, g.keys[i] >> bits)         # at <= i: nothing unread is overwritten
        for k in range(K):
            if g.used > before:
                counts[at * K + k] = counts[i * K + k]
            else:
                counts[at * K + k] += counts[i * K + k]
    memset(counts + g.used * K, 0, (n - g.used) * K * sizeof(double))


cdef Py_ssize_t fill(
    Grid* g, const double[:] values, const Py_ssize_t[::1] y, const double[::1] weight,
    double* counts, Py_ssize_t K, Py_ssize_t start, Py_ssize_t max_keys,
) noexcept nogil:
    """Count values from a start until there are too many keys; returned is where that was."""
    cdef:
        Py_ssize_t i, n = values.shape[0], step = values.strides[0]
        const char* x = <const char*>&values[0] if n else NULL
        const double* w = &weight[0] if weight is not None and n else NULL
        double value
    for i in range(start, n):
        value = (<const double*>(x + i * step))[0]
        if value == value:
            counts[place(g, key_of(value) >> g.drop) * K + y[i]] += w[i] if w else 1.0
            if g.used > max_keys:
                return i + 1
    return n


cdef void find_ends(Grid* g, const double[:] values) noexcept nogil:
    """The keys of the least number and of the greatest; of none, any."""
    cdef Py_ssize_t i, n = values.shape[0], step = values.strides[0]
    cdef const char* x = <const char*>&values[0] if n else NULL
    cdef double value, low = INFINITY, high = -INFINITY
    for i in range(n):
        value = (<const double*>(x + i * step))[0]
        low = value if value < low else low
        high = value if value > high else high
    g.low, g.high = key_of(low), key_of(high)


cdef int enough_drop(const double[:] values, Py_ssize_t max_keys):
    """How many bits must be dropped for some values alone: together with others, no fewer.

    Keys in order differ from their neighbours first in some bit: there is one key more than
    neighbours that differ in a bit that is not dropped.
    """
    cdef:
        Py_ssize_t i, n_keys = 0, kept = 1
        Py_ssize_t[65] first_bit
        int bit = 64
    keys = np.empty(values.shape[0], dtype=np.int64)
    cdef int64_t[::1] view = keys
    for i in range(values.shape[0]):
        if values[i] == values[i]:
            view[n_keys] = key_of(values[i])
            n_keys += 1
    keys[:n_keys].sort()
    memset(first_bit, 0, sizeof(first_bit))
    for i in range(1, n_keys):
        first_bit[n_bits(<uint64_t>(view[i] ^ view[i - 1]))] += 1
    while bit > 0 and kept + first_bit[bit] <= max_keys:
        kept += first_bit[bit]
        bit -= 1
    return bit


def count(
    const double[:] values, const Py_ssize_t[::1] y, const double[::1] weight,
    Py_ssize_t n_classes, int drop, Py_ssize_t max_keys,
):
    """Weight of every key and class: ``drop, keys, counts`` (keys in order; classes by keys).

    Starts with ``drop`` bits dropped, and drops more while there are more than
    ``max_keys`` keys. NaN is left out. When keys become too many, values that lie ahead say at
    once about how many bits must go.
    """
    cdef:
        Py_ssize_t n = values.shape[0], K = n_classes, i = 0, at, room = min(n, max_keys) + 1
        Grid g
        double* counts
        int bits
    g.drop, g.used = drop, 0
    g.near = <int32_t*>malloc(MAX_SPAN * sizeof(int32_t))
    g.keys = <int64_t*>calloc(room, sizeof(int64_t))
    counts = <double*>calloc(room * K + 1, sizeof(double))
    if (not allocate_table(&g.table, 2 * room, sizeof(Cell)) or g.keys == NULL
            or counts == NULL or g.near == NULL):
        free(g.table.at)
        free(g.keys)
        free(g.near)
        free(counts)
        raise MemoryError
    with nogil:
        find_ends(&g, values)
        aim(&g)
    while i < n:
        with nogil:
            i = fill(&g, values, y, weight, counts, K, i, max_keys)
        if g.used <= max_keys:
            continue
        bits = 1
        if g.drop == drop:
            bits = max(bits, enough_drop(values[:min(n, i + AHEAD * max_keys)], max_keys) - g.drop)
        with nogil:
            coarsen(&g, counts, K, bits)
            while g.used > max_keys:
                coarsen(&g, counts, K, 1)
    order = key_order(&g)
    keys, table = np.empty(g.used, dtype=np.int64), np.empty((K, g.used))
    cdef const int64_t[::1] places = order
    cdef int64_t[::1] keys_view = keys
    cdef double[:, ::1] table_view = table
    for i in range(g.used):
        keys_view[i] = g.keys[places[i]]
        for at in range(K):
            table_view[at, i] = counts[places[i] * K + at]
    final = g.drop
    free(g.keys)
    free(g.near)
    free(g.table.at)
    free(counts)
    return final, keys, table


cdef key_order(const Grid* g):
    """The positions of the keys, in the order of keys."""
    cdef Py_ssize_t i, n = 0
    order = np.empty(g.used, dtype=np.int64)
    cdef int64_t[::1] out = order
    for i in range(g.span):
        if g.near[i]:
            out[n] = g.near[i] - 1
            n += 1
    if g.span == 0:
        for i in range(g.used):
            out[i] = g.keys[i]
        order = np.argsort(order)
    return order


def cut(const double[::1] total, const Py_ssize_t[::1] offsets, const int64_t[::1] bins):
    """Where the bins of columns begin: ``starts, bin_offsets``.

    The keys of column j have the weights ``total[offsets[j]:offsets[j + 1]]``, in their order; it
    is cut into at most ``bins[j]`` bins of about the same weight, or, if that is 0, each key is
    one. ``starts`` are the first keys of bins, of which column j has those from ``bin_offsets[j]``
    on: one at least, also without a key.
    """
    cdef Py_ssize_t d = bins.shape[0], j, i, b, end, room = d, used = 0
    cdef double whole, below
    for j in range(d):
        end = offsets[j + 1] - offsets[j]
        room += min(end, bins[j]) if bins[j] else end
    cdef Py_ssize_t[::1] starts = np.empty(room, dtype=np.intp)
    cdef Py_ssize_t[::1] bin_offsets = np.zeros(d + 1, dtype=np.intp)
    with nogil:
        for j in range(d):
            i, end, whole = offsets[j], offsets[j + 1], 0.0
            starts[used] = i
            used += 1
            if i < end:
                below = total[i]
            for b in range(i, end):
                whole += total[b]
            for b in range(1, bins[j] if bins[j] else end - i):
                while i + 1 < end and bins[j] and below < whole * b / bins[j] * (1 - 1e-12):
                    i += 1
                    below += total[i]
                if i + 1 >= end:
                    break
                if i + 1 > starts[used - 1]:
                    starts[used] = i + 1
                    used += 1
                i += bins[j] == 0
            bin_offsets[j + 1] = used
    return np.asarray(starts)[:used], np.asarray(bin_offsets)


def floats(const int64_t[::1] keys, int drop):
    """The least float of each key."""
    cdef:
        Py_ssize_t i, n = keys.shape[0]
        int64_t bits
        double[::1] out = np.empty(n)
    for i in range(n):
        bits = <int64_t>(<uint64_t>keys[i] << drop)
        bits ^= (bits >> 63) & INT64_MAX
        memcpy(&out[i], &bits, 8)
    return np.asarray(out)


def only_counts(const int64_t[::1] keys, double max_count):
    """Whether the floats of keys that drop no bits are all whole and from 0 to the largest."""
    cdef:
        Py_ssize_t i
        double x
        bint whole = True
    with nogil:
        for i in range(keys.shape[0]):
            memcpy(&x, &keys[i], 8)              # of a key below zero, it is negative as well
            if not (0 <= x <= max_count and x == <double><int64_t>x):
                whole = False
                break
    return whole


def bins(const double[:, ::1] X, const double[::1] edges, const Py_ssize_t[::1] offsets):
    """How many edges of its column do not lie above each value; -1 for NaN.

    The edges of column j are ``edges[offsets[j]:offsets[j + 1]]``, in order.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j, at, left, half
        int64_t[:, ::1] out = np.empty((n, d), dtype=np.int64)
        double x
    with nogil:
        for i in range(n):
            for j in range(d):
                x = X[i, j]
                if x != x:
                    out[i, j] = -1
                    continue
                at = offsets[j]
                left = offsets[j + 1] - at
                while left > 1:                  # halving without branches
                    half = left >> 1
                    at += half if edges[at + half - 1] <= x else 0
                    left -= half
                out[i, j] = at - offsets[j] + (1 if left == 1 and edges[at] <= x else 0)
    return np.asarray(out)
