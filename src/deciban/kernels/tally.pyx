"""Words by class, counted where there are some: a sink whose memory follows what it counted."""

import numpy as np

from deciban.kernels.hashtable cimport (
    KEY, HashTable, cell_of, home, key_at, n_cells, widen_table,
)
from deciban.kernels.sinks cimport Block, Sink, prefetch

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

# Bytes of cells that have a place for every class: about what a core's cache holds.
DIRECT = 1 << 19


@cython.final
@cython.auto_pickle(False)
cdef class Pairs(Sink):
    """Sums per code and class, of tokens and of the rows that have them, where there are some.

    The codes that came first, which are those of the frequent tokens, have a
    cell for every class; other pairs of code and class share a hash table. So
    memory follows the number of pairs, and most of the work is done in the cache.
    ``weight`` None counts in integers of 32 bits: as many tokens are taken, and
    no more.
    """

    cdef:
        const int64_t[::1] y
        const double[::1] weight
        Block direct, seen
        HashTable table
        Py_ssize_t n_classes, n_direct, n_codes, n_pairs, stride
        uint32_t stamp
        readonly uint64_t taken
        readonly bint weighted

    def __init__(self, y, Py_ssize_t n_classes, weight, bint weighted=False):
        self.y, self.weight, self.n_classes = y, weight, n_classes
        self.weighted = weighted or weight is not None
        self.stride = 16 if self.weighted else 8
        self.n_direct = <Py_ssize_t>DIRECT // (self.stride * n_classes)
        self.direct, self.seen = Block(), Block()
        self.stamp = 1

    def __dealloc__(self):
        free(self.table.at)

    def aim(self, y, weight):
        """More rows, with weights if the first had some."""
        if self.weighted != (weight is not None):
            raise TypeError("all rows of a sink have weights, or none")
        self.y, self.weight = y, weight

    cdef bint widen(self, Py_ssize_t n_codes, Py_ssize_t more) noexcept nogil:
        """Room for so many codes, and for more pairs."""
        cdef Py_ssize_t old = self.stride * self.n_classes * min(self.n_codes, self.n_direct)
        cdef Py_ssize_t new = self.stride * self.n_classes * min(n_codes, self.n_direct)
        if not self.direct.fit(new) or not self.seen.fit(4 * n_codes):
            return False
        if new > old:
            memset(self.direct.at + old, 0, new - old)
        memset(self.seen.at + 4 * self.n_codes, 0, 4 * (n_codes - self.n_codes))
        self.n_codes = n_codes
        if n_codes <= self.n_direct or not self.full(more):
            return True
        return widen_table(
            &self.table, max(4 * (self.n_pairs + more) // 3 + 1, 1024), KEY + self.stride)

    cdef inline bint full(self, Py_ssize_t more) noexcept nogil:
        """Whether more pairs would fill three quarters of the cells."""
        return 4 * (self.n_pairs + more) > 3 * n_cells(&self.table)

    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil:
        cdef Py_ssize_t i, c = self.y[row]
        cdef uint32_t* seen
        cdef bint first
        self.taken += n
        if not self.weighted and self.taken >> 32:
            return False
        if (n_codes > self.n_codes or self.full(n)) and not self.widen(n_codes, n):
            return False
        seen = <uint32_t*>self.seen.at
        for i in range(n):
            prefetch(seen + codes[i])
            if codes[i] < self.n_direct:
                prefetch(self.direct.at + self.stride * (codes[i] * self.n_classes + c))
            else:
                prefetch(self.table.at
                         + (KEY + self.stride) * home(&self.table, pair(codes[i], c)))
        for i in range(n):
            first = seen[codes[i]] != self.stamp
            seen[codes[i]] = self.stamp
            self.add(self.cell(codes[i], c), first, row)
        return True

    cdef bint end(self, Py_ssize_t row) noexcept nogil:
        self.stamp += 1
        if self.stamp == 0:
            memset(self.seen.at, 0, 4 * self.n_codes)
            self.stamp = 1
        return True

    cdef inline uint8_t* cell(self, Py_ssize_t code, Py_ssize_t c) noexcept nogil:
        cdef uint8_t* at
        cdef uint64_t key
        if code < self.n_direct:
            return self.direct.at + self.stride * (code * self.n_classes + c)
        key = pair(code, c)
        at = cell_of(&self.table, KEY + self.stride, key)
        if key_at(at) == 0:
            (<uint64_t*>at)[0] = key
            self.n_pairs += 1
        return at + KEY

    cdef inline void add(self, uint8_t* cell, bint first, Py_ssize_t row) noexcept nogil:
        if self.weighted:
            (<double*>cell)[0] += self.weight[row]
            (<double*>cell)[1] += first * self.weight[row]
        else:
            (<uint32_t*>cell)[0] += 1
            (<uint32_t*>cell)[1] += first

    def absorb(self, Pairs other, const int32_t[::1] codes, const int32_t[::1] classes):
        """Add what another one has counted: its code i is ``codes[i]`` here, and so are classes."""
        cdef:
            Py_ssize_t i, n = other.n_classes * min(other.n_codes, other.n_direct)
            Py_ssize_t n_codes = max(self.n_codes, 1 + int(np.max(codes, initial=-1)))
            uint64_t key
            uint8_t* at
            bint good = True
        if other.weighted > self.weighted:
            raise TypeError("weights cannot be added to integers")
        with nogil:
            for i in range(n):
                at = other.direct.at + i * other.stride
                if other.counted(at):
                    good = good and self.put(codes[i // other.n_classes],
                                             classes[i % other.n_classes], n_codes, other, at)
            for i in range(n_cells(&other.table)):
                at = other.table.at + i * (KEY + other.stride)
                key = key_at(at)
                if key:
                    good = good and self.put(codes[key >> 32], classes[<uint32_t>key - 1],
                                             n_codes, other, at + KEY)
        if not good:
            raise MemoryError
        self.taken += other.taken

    cdef inline bint counted(self, uint8_t* at) noexcept nogil:
        return (<double*>at)[1] != 0 if self.weighted else (<uint32_t*>at)[1] != 0

    cdef bint put(self, Py_ssize_t code, Py_ssize_t c, Py_ssize_t n_codes, Pairs other,
                  uint8_t* at) noexcept nogil:
        cdef uint8_t* cell
        cdef int i
        if (n_codes > self.n_codes or self.full(1)) and not self.widen(n_codes, 1):
            return False
        cell = self.cell(code, c)
        for i in range(2):
            if other.weighted:
                (<double*>cell)[i] += (<double*>at)[i]
            elif self.weighted:
                (<double*>cell)[i] += (<uint32_t*>at)[i]
            else:
                (<uint32_t*>cell)[i] += (<uint32_t*>at)[i]
        return True

    def result(self, const int64_t[::1] places, Py_ssize_t n_cells):
        """What was counted, cell by cell, in the order of classes; code i is cell ``places[i]``.

        Where the entries of each cell start, and the class and both sums of every entry. They
        are sorted by class and then by cell, both in linear time.
        """
        dtype = np.float64 if self.weighted else np.uint32
        n = self.count_entries()
        cells, classes = np.empty(n, np.int32), np.empty(n, np.int32)
        by_class, by_cell = np.empty((n, 2), dtype), np.empty((2, n), dtype)
        of_class = np.zeros(self.n_classes + 1, np.int64)
        starts = np.zeros(n_cells + 2, np.int64)
        if self.n_codes > places.shape[0]:
            raise ValueError("every code needs a place")
        if n:
            self.sort_by_class(places, of_class, cells, by_class.view(np.uint8))
            sort_by_cell(cells, of_class, starts, by_class.view(np.uint8),
                         classes, by_cell.view(np.uint8), self.stride // 2)
        return starts[:-1], classes, by_cell[0], by_cell[1]

    cdef Py_ssize_t count_entries(self) noexcept:
        cdef Py_ssize_t i, n = self.n_pairs
        for i in range(self.n_classes * min(self.n_codes, self.n_direct)):
            n += self.counted(self.direct.at + i * self.stride)
        return n

    cdef void sort_by_class(self, const int64_t[::1] places, int64_t[::1] starts,
                            int32_t[::1] cells, uint8_t[:, ::1] sums) noexcept:
        """Fill the cell and the sums of every entry, those of each class from its start on."""
        cdef:
            Py_ssize_t i, c, n = self.n_classes * min(self.n_codes, self.n_direct)
            uint8_t* at
            uint64_t key
            int turn
        # The first turn counts the entries of the class before each, the second puts them.
        with nogil:
            for turn in range(2):
                for i in range(n):
                    at = self.direct.at + i * self.stride
                    if self.counted(at):
                        c = i % self.n_classes
                        if turn:
                            cells[starts[c]] = <int32_t>places[i // self.n_classes]
                            memcpy(&sums[starts[c], 0], at, self.stride)
                        starts[c + 1 - turn] += 1
                for i in range(n_cells(&self.table)):
                    at = self.table.at + i * (KEY + self.stride)
                    key = key_at(at)
                    if key:
                        c = <uint32_t>key - 1
                        if turn:
                            cells[starts[c]] = <int32_t>places[key >> 32]
                            memcpy(&sums[starts[c], 0], at + KEY, self.stride)
                        starts[c + 1 - turn] += 1
                if not turn:
                    for c in range(self.n_classes):
                        starts[c + 1] += starts[c]
        # Every start has moved to where the next class begins.


cdef void sort_by_cell(const int32_t[::1] cells, const int64_t[::1] ends, int64_t[::1] starts,
                       const uint8_t[:, ::1] sums, int32_t[::1] classes, uint8_t[:, ::1] out,
                       Py_ssize_t size) noexcept:
    """Move entries, class by class, to where their cells are; ``size`` are the bytes of a sum."""
    cdef Py_ssize_t i = 0, c, at
    with nogil:
        for i in range(cells.shape[0]):
            starts[cells[i] + 2] += 1
        for i in range(2, starts.shape[0]):
            starts[i] += starts[i - 1]
        i = 0
        for c in range(ends.shape[0] - 1):
            while i < ends[c]:
                at = starts[cells[i] + 1]
                starts[cells[i] + 1] += 1
                classes[at] = <int32_t>c
                memcpy(&out[0, at * size], &sums[i, 0], size)
                memcpy(&out[1, at * size], &sums[i, size], size)
                i += 1


cdef inline uint64_t pair(Py_ssize_t code, Py_ssize_t c) noexcept nogil:
    """The key of a code and a class; none is 0."""
    return (<uint64_t>code << 32) | <uint64_t>(c + 1)
