"""Words by class, counted where there are some: a sink whose memory follows what it counted."""

import numpy as np

from deciban.kernels.hashtable cimport (
    KEY, HashTable, cell_of, home, key_at, n_cells, widen_table, zeros,
)
from deciban.kernels.sinks cimport Block, Sink, prefetch

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

# Bytes of cells that have a place for every class: more than a core's own cache holds, but those of
# frequent tokens lie together, which they do not in a hash table.
DIRECT = 1 << 22

cdef enum:
    MAX_TAKEN = 256     # tokens for which memory is asked at once
    AHEAD = 8           # cells for which it is asked while others are moved


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
        Block seen
        uint8_t* direct
        HashTable table
        Py_ssize_t n_classes, n_direct, n_codes, n_pairs, stride, direct_room
        uint32_t stamp
        readonly uint64_t taken
        readonly bint weighted

    def __init__(self, y, Py_ssize_t n_classes, weight, bint weighted=False):
        self.y, self.weight, self.n_classes = y, weight, n_classes
        self.weighted = weighted or weight is not None
        self.stride = 16 if self.weighted else 8
        self.n_direct = <Py_ssize_t>DIRECT // (self.stride * n_classes)
        self.seen = Block()
        self.stamp = 1

    def __dealloc__(self):
        free(self.direct)
        free(self.table.at)

    def aim(self, y, weight):
        """More rows, with weights if the first had some."""
        if self.weighted != (weight is not None):
            raise TypeError("all rows of a sink have weights, or none")
        self.y, self.weight = y, weight

    cdef bint widen(self, Py_ssize_t n_codes, Py_ssize_t more) noexcept nogil:
        """Room for so many codes, and for more pairs."""
        if not self.widen_direct(min(n_codes, self.n_direct)) or not self.seen.fit(4 * n_codes):
            return False
        memset(self.seen.at + 4 * self.n_codes, 0, 4 * (n_codes - self.n_codes))
        self.n_codes = n_codes
        if n_codes <= self.n_direct or not self.full(more):
            return True
        return widen_table(
            &self.table, max(4 * (self.n_pairs + more) // 3 + 1, 1024), KEY + self.stride)

    cdef bint widen_direct(self, Py_ssize_t n_codes) noexcept nogil:
        """Cells of every class for so many codes."""
        cdef Py_ssize_t width = self.stride * self.n_classes, room = self.direct_room
        cdef uint8_t* direct
        if n_codes * width <= room:
            return True
        room = max(room, 4096)
        while room < n_codes * width:
            room *= 2
        direct = <uint8_t*>zeros(room)
        if direct == NULL:
            return False
        if self.direct_room:
            memcpy(direct, self.direct, self.direct_room)
        free(self.direct)
        self.direct, self.direct_room = direct, room
        return True

    cdef inline bint full(self, Py_ssize_t more) noexcept nogil:
        """Whether more pairs would fill three quarters of the cells."""
        return 4 * (self.n_pairs + more) > 3 * n_cells(&self.table)

    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil:
        self.taken += n
        if not self.weighted and self.taken >> 32:
            return False
        if (n_codes > self.n_codes or self.full(n)) and not self.widen(n_codes, n):
            return False
        while n > 0:
            if self.weighted:
                self.take_some(row, self.y[row], codes, min(n, <Py_ssize_t>MAX_TAKEN), True)
            else:
                self.take_some(row, self.y[row], codes, min(n, <Py_ssize_t>MAX_TAKEN), False)
            codes += MAX_TAKEN
            n -= MAX_TAKEN
        return True

    cdef inline void take_some(self, Py_ssize_t row, Py_ssize_t c, const int32_t* codes,
                               Py_ssize_t n, bint weighted) noexcept nogil:
        """Ask for all that is needed, then add to cells of every class, then to the others."""
        cdef:
            uint8_t* cells[MAX_TAKEN]
            int32_t far[MAX_TAKEN]
            bint first[MAX_TAKEN]
            double nowhere[2]
            uint32_t* seen = <uint32_t*>self.seen.at
            uint8_t* direct = self.direct
            Py_ssize_t i, n_far = 0, n_direct = self.n_direct, n_classes = self.n_classes
            Py_ssize_t code, stride = 16 if weighted else 8
            uint32_t stamp = self.stamp
            double weight = self.weight[row] if weighted else 0
            uint64_t key
            uint8_t* cell
            HashTable table = self.table
        nowhere[0] = nowhere[1] = 0
        for i in range(n):
            code = codes[i]
            prefetch(seen + code)
            if code < n_direct:
                cells[i] = direct + stride * (code * n_classes + c)
                prefetch(cells[i])
            else:
                cells[i] = <uint8_t*>nowhere
                prefetch(table.at + (KEY + stride) * home(&table, pair(code, c)))
                far[n_far] = <int32_t>i
                n_far += 1
        for i in range(n):
            first[i] = seen[codes[i]] != stamp
            seen[codes[i]] = stamp
            add(cells[i], first[i], weight, weighted)
        for i in range(n_far):
            code = far[i]
            key = pair(codes[code], c)
            cell = cell_of(&table, KEY + stride, key)
            self.n_pairs += key_at(cell) == 0
            (<uint64_t*>cell)[0] = key
            add(cell + KEY, first[code], weight, weighted)

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
            return self.direct + self.stride * (code * self.n_classes + c)
        key = pair(code, c)
        at = cell_of(&self.table, KEY + self.stride, key)
        if key_at(at) == 0:
            (<uint64_t*>at)[0] = key
            self.n_pairs += 1
        return at + KEY

    def absorb(self, Pairs other, const int32_t[::1] codes, const int32_t[::1] classes):
        """Add what another one has counted: its code i is ``codes[i]`` here, and so are classes."""
        cdef:
            Py_ssize_t i, c, width = KEY + other.stride, n = n_cells(&other.table)
            Py_ssize_t n_codes = max(self.n_codes, 1 + int(np.max(codes, initial=-1)))
            uint64_t key
            const uint8_t* at = other.direct
            bint good = True
        if other.weighted > self.weighted:
            raise TypeError("weights cannot be added to integers")
        with nogil:
            for i in range(min(other.n_codes, other.n_direct)):
                for c in range(other.n_classes):
                    if other.counted(at):
                        good = good and self.put(codes[i], classes[c], n_codes, other, at)
                    at += other.stride
            for i in range(n):
                at = other.table.at + i * width
                key = key_at(at + AHEAD * width) if i + AHEAD < n else 0
                if key:
                    self.fetch(codes[key >> 32], classes[<uint32_t>key - 1])
                key = key_at(at)
                if key:
                    good = good and self.put(codes[key >> 32], classes[<uint32_t>key - 1],
                                             n_codes, other, at + KEY)
        if not good:
            raise MemoryError
        self.taken += other.taken

    cdef inline void fetch(self, Py_ssize_t code, Py_ssize_t c) noexcept nogil:
        """Ask for the memory of a cell, if there is one."""
        if code >= self.n_direct and n_cells(&self.table):
            prefetch(self.table.at + (KEY + self.stride) * home(&self.table, pair(code, c)))
        elif code < min(self.n_codes, self.n_direct):
            prefetch(self.direct + self.stride * (code * self.n_classes + c))

    cdef inline bint counted(self, const uint8_t* at) noexcept nogil:
        return (<const double*>at)[1] != 0 if self.weighted else (<const uint32_t*>at)[1] != 0

    cdef bint put(self, Py_ssize_t code, Py_ssize_t c, Py_ssize_t n_codes, Pairs other,
                  const uint8_t* at) noexcept nogil:
        cdef uint8_t* cell
        cdef int i
        if (n_codes > self.n_codes or self.full(1)) and not self.widen(n_codes, 1):
            return False
        cell = self.cell(code, c)
        for i in range(2):
            if other.weighted:
                (<double*>cell)[i] += (<const double*>at)[i]
            elif self.weighted:
                (<double*>cell)[i] += (<const uint32_t*>at)[i]
            else:
                (<uint32_t*>cell)[i] += (<const uint32_t*>at)[i]
        return True

    def result(self, const int64_t[::1] places, Py_ssize_t n_cells):
        """What was counted, cell by cell, in the order of classes; code i is cell ``places[i]``.

        Where the entries of each cell start, and the class and both sums of every entry. They
        are sorted by class and then by cell, both in linear time.
        """
        dtype = np.float64 if self.weighted else np.uint32
        of_class = np.zeros(self.n_classes + 1, np.int64)
        self.count_by_class(of_class)
        n = of_class[-1]
        cells, classes = np.empty(n, np.int32), np.empty(n, np.int32)
        by_class, by_cell = np.empty((n, 2), dtype), np.empty((2, n), dtype)
        starts = np.zeros(n_cells + 2, np.int64)
        if self.n_codes > places.shape[0]:
            raise ValueError("every code needs a place")
        if n:
            self.sort_by_class(places, of_class, cells, by_class.view(np.uint8))
            sort_by_cell(cells, of_class, starts, by_class.view(np.uint8),
                         classes, by_cell.view(np.uint8), self.stride // 2)
        return starts[:-1], classes, by_cell[0], by_cell[1]

    cdef void count_by_class(self, int64_t[::1] starts) noexcept:
        """Where the entries of each class start, and end, if they follow each other by class."""
        cdef:
            Py_ssize_t i, c, width = KEY + self.stride
            const uint8_t* at = self.direct
        with nogil:
            for i in range(min(self.n_codes, self.n_direct)):
                for c in range(self.n_classes):
                    starts[c + 1] += self.counted(at)
                    at += self.stride
            at = self.table.at
            for i in range(n_cells(&self.table)):
                if key_at(at + i * width):
                    starts[<uint32_t>key_at(at + i * width)] += 1
            for c in range(self.n_classes):
                starts[c + 1] += starts[c]

    cdef void sort_by_class(self, const int64_t[::1] places, int64_t[::1] starts,
                            int32_t[::1] cells, uint8_t[:, ::1] sums) noexcept:
        """Fill the cell and the sums of every entry, those of each class from its start on."""
        cdef:
            Py_ssize_t i, c, width = KEY + self.stride
            const uint8_t* at = self.direct
            uint64_t key
        with nogil:
            for i in range(min(self.n_codes, self.n_direct)):
                for c in range(self.n_classes):
                    if self.counted(at):
                        cells[starts[c]] = <int32_t>places[i]
                        move(&sums[starts[c], 0], at, self.stride)
                        starts[c] += 1
                    at += self.stride
            for i in range(n_cells(&self.table)):
                at = self.table.at + i * width
                key = key_at(at)
                if key:
                    c = <uint32_t>key - 1
                    cells[starts[c]] = <int32_t>places[key >> 32]
                    move(&sums[starts[c], 0], at + KEY, self.stride)
                    starts[c] += 1
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
                move(&out[0, at * size], &sums[i, 0], size)
                move(&out[1, at * size], &sums[i, size], size)
                i += 1


cdef inline void move(uint8_t* to, const uint8_t* at, Py_ssize_t size) noexcept nogil:
    """Copy 4, 8 or 16 bytes."""
    if size == 8:
        memcpy(to, at, 8)
    elif size == 4:
        memcpy(to, at, 4)
    else:
        memcpy(to, at, 16)


cdef inline void add(uint8_t* cell, bint first, double weight, bint weighted) noexcept nogil:
    """Add a token to both sums of a cell."""
    if weighted:
        (<double*>cell)[0] += weight
        (<double*>cell)[1] += first * weight
    else:
        (<uint32_t*>cell)[0] += 1
        (<uint32_t*>cell)[1] += first


cdef inline uint64_t pair(Py_ssize_t code, Py_ssize_t c) noexcept nogil:
    """The key of a code and a class; none is 0."""
    return (<uint64_t>code << 32) | <uint64_t>(c + 1)
