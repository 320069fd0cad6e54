"""Where codes of tokens go: sums per class, or rows of a sparse matrix.

A sink is handed the codes of one row in pieces, rows in order. Its memory
follows the number of codes that there are, which may grow as it works.
"""

import numpy as np

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset


@cython.final
@cython.auto_pickle(False)
cdef class Block:
    """Bytes that grow without the interpreter; new ones are all 255."""

    def __dealloc__(self):
        free(self.at)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.at, self.size, 0, flags)

    cdef bint fit(self, Py_ssize_t need) noexcept nogil:
        """At least ``need`` bytes; False where there is no memory."""
        cdef Py_ssize_t room
        cdef void* at
        if need > self.room:
            room = max(need, self.room + self.room // 2, 4096)
            at = realloc(self.at, room)
            if at == NULL:
                return False
            self.at = <uint8_t*>at
            memset(self.at + self.room, 255, room - self.room)
            self.room = room
        self.size = max(self.size, need)
        return True

    def array(self, dtype, Py_ssize_t count):
        """The first ``count`` items, as a view of this memory."""
        if count == 0:
            return np.empty(0, dtype)
        return np.frombuffer(self, dtype, count)


cdef class Sink:
    """What all have in common."""

    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil:
        """Some codes of a row; all are below ``n_codes``. False where there is no memory."""
        return True

    cdef bint end(self, Py_ssize_t row) noexcept nogil:
        """The row is over."""
        return True


@cython.final
@cython.auto_pickle(False)
cdef class Table(Sink):
    """Sums per code and class: of tokens, and of the rows that have them.

    ``weight`` None counts in integers. ``binary`` counts a token once a row.
    What was summed stays when it is aimed at more rows.
    """

    cdef:
        const int64_t[::1] y
        const double[::1] weight
        Block cells, rows, seen
        Py_ssize_t n_classes, n_codes, before
        bint binary, documents

    def __init__(self, y, Py_ssize_t n_classes, weight, bint binary, bint documents):
        self.y, self.weight, self.n_classes = y, weight, n_classes
        self.binary, self.documents = binary, documents
        self.cells, self.rows, self.seen = Block(), Block(), Block()

    def aim(self, y, weight):
        """More rows, with weights if the first had some."""
        self.before += self.y.shape[0]
        self.y, self.weight = y, weight

    cdef bint widen(self, Py_ssize_t n_codes) noexcept nogil:
        cdef Py_ssize_t old = 8 * self.n_codes * self.n_classes
        cdef Py_ssize_t new = 8 * n_codes * self.n_classes
        if not self.cells.fit(new):
            return False
        memset(self.cells.at + old, 0, new - old)
        if self.documents:
            if not self.rows.fit(new):
                return False
            memset(self.rows.at + old, 0, new - old)
        self.n_codes = n_codes
        return self.seen.fit(8 * n_codes) if self.documents or self.binary else True

    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil:
        cdef Py_ssize_t i
        cdef int64_t at, c = self.y[row]
        cdef int64_t* seen
        if n_codes > self.n_codes and not self.widen(n_codes):
            return False
        seen = <int64_t*>self.seen.at
        for i in range(n):
            prefetch(self.cells.at + 8 * (codes[i] * self.n_classes + c))
        for i in range(n):
            at = codes[i] * self.n_classes + c
            if self.documents or self.binary:
                if seen[codes[i]] != self.before + row:
                    seen[codes[i]] = self.before + row
                    if self.documents:
                        self.add(self.rows, at, row)
                elif self.binary:
                    continue
            self.add(self.cells, at, row)
        return True

    cdef inline void add(self, Block block, int64_t at, Py_ssize_t row) noexcept nogil:
        if self.weight is None:
            (<int64_t*>block.at)[at] += 1
        else:
            (<double*>block.at)[at] += self.weight[row]

    def result(self, Py_ssize_t n_codes):
        """Tables of classes by codes: of tokens, and of rows or None."""
        with nogil:
            if n_codes > self.n_codes and not self.widen(n_codes):
                with gil:
                    raise MemoryError
        tokens = self.table(self.cells, n_codes)
        return tokens, self.table(self.rows, n_codes) if self.documents else None

    cdef table(self, Block block, Py_ssize_t n_codes):
        dtype = np.int64 if self.weight is None else np.float64
        cells = block.array(dtype, n_codes * self.n_classes)
        return np.ascontiguousarray(cells.reshape(n_codes, self.n_classes).T)


cdef enum:
    KEY = 8             # bytes of the key of a slot

# Bytes of cells that have a place for every class: about what a core's cache holds.
DIRECT = 1 << 19


@cython.final
@cython.auto_pickle(False)
cdef class Pairs(Sink):
    """Sums per code and class, of tokens and of the rows that have them, where there are some.

    The codes that came first, which are those of the frequent tokens, have a
    cell for every class; other pairs of code and class share a hash table, open
    addressing with linear probing. So memory follows the number of pairs, and
    most of the work is done in the cache. ``weight`` None counts in integers of
    32 bits: as many tokens are taken, and no more.
    """

    cdef:
        const int64_t[::1] y
        const double[::1] weight
        Block direct, slots, seen
        Py_ssize_t n_classes, n_direct, n_codes, n_pairs, stride
        uint64_t n_slots
        uint32_t stamp
        readonly uint64_t taken
        readonly bint weighted

    def __init__(self, y, Py_ssize_t n_classes, weight, bint weighted=False):
        self.y, self.weight, self.n_classes = y, weight, n_classes
        self.weighted = weighted or weight is not None
        self.stride = 16 if self.weighted else 8
        self.n_direct = <Py_ssize_t>DIRECT // (self.stride * n_classes)
        self.direct, self.slots, self.seen = Block(), Block(), Block()
        self.stamp = 1

    def aim(self, y, weight):
        """More rows, with weights if the first had some."""
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
        if n_codes <= self.n_direct or 4 * (self.n_pairs + more) <= 3 * <Py_ssize_t>self.n_slots:
            return True
        return self.rehash(self.n_pairs + more)

    cdef bint rehash(self, Py_ssize_t least) noexcept nogil:
        """Slots of which so many pairs fill three quarters at most; False without memory."""
        cdef:
            uint64_t n = max(self.n_slots, 1024), i
            Py_ssize_t width = KEY + self.stride
            uint8_t* old = self.slots.at
            uint8_t* at
        while 4 * least > 3 * <Py_ssize_t>n:
            n *= 2
        at = <uint8_t*>calloc(n, width)
        if at == NULL:
            return False
        for i in range(self.n_slots):
            if (<uint64_t*>(old + i * width))[0]:
                memcpy(slot(at, n, width, (<uint64_t*>(old + i * width))[0]), old + i * width, width)
        free(old)
        self.slots.at, self.slots.room, self.slots.size = at, n * width, n * width
        self.n_slots = n
        return True

    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil:
        cdef Py_ssize_t i, c = self.y[row]
        cdef uint32_t* seen
        cdef bint first
        self.taken += n
        if not self.weighted and self.taken >> 32:
            return False
        if ((n_codes > self.n_codes or 4 * (self.n_pairs + n) > 3 * <Py_ssize_t>self.n_slots)
                and not self.widen(n_codes, n)):
            return False
        seen = <uint32_t*>self.seen.at
        for i in range(n):
            if codes[i] < self.n_direct:
                prefetch(self.direct.at + self.stride * (codes[i] * self.n_classes + c))
            else:
                prefetch(self.slots.at
                         + (KEY + self.stride) * <Py_ssize_t>home(pair(codes[i], c), self.n_slots))
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
        at = slot(self.slots.at, self.n_slots, KEY + self.stride, key)
        if (<uint64_t*>at)[0] == 0:
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
            for i in range(<Py_ssize_t>other.n_slots):
                at = other.slots.at + i * (KEY + other.stride)
                key = (<uint64_t*>at)[0]
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
        if ((n_codes > self.n_codes or 4 * (self.n_pairs + 1) > 3 * <Py_ssize_t>self.n_slots)
                and not self.widen(n_codes, 1)):
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

    def result(self):
        """Codes, classes and both sums of all pairs, in no order."""
        dtype = np.float64 if self.weighted else np.uint32
        n = self.n_classes * min(self.n_codes, self.n_direct)
        cells = self.direct.array(dtype, 2 * n).reshape(n, 2)
        at = np.flatnonzero(cells[:, 1])
        some = np.dtype([("key", np.uint64), ("sums", dtype, 2)])
        slots = self.slots.array(some, self.n_slots)
        slots = slots[slots["key"] > 0]
        word, of = np.divmod(at, self.n_classes)
        return (
            np.concatenate([word, slots["key"] >> 32], dtype=np.int32, casting="unsafe"),
            np.concatenate([of, (slots["key"] & 0xFFFFFFFF) - 1], dtype=np.int32, casting="unsafe"),
            np.concatenate([cells[at], slots["sums"]]),
        )


cdef inline uint64_t pair(Py_ssize_t code, Py_ssize_t c) noexcept nogil:
    """The key of a code and a class; none is 0."""
    return (<uint64_t>code << 32) | <uint64_t>(c + 1)


cdef inline uint64_t home(uint64_t key, uint64_t n_slots) noexcept nogil:
    """Where a key belongs."""
    key *= <uint64_t>0x9E3779B97F4A7C15
    return (key ^ (key >> 32)) & (n_slots - 1)


cdef inline uint8_t* slot(uint8_t* slots, uint64_t n, Py_ssize_t width, uint64_t key) noexcept nogil:
    """The slot that holds a key, or the empty one that will."""
    cdef uint64_t at = home(key, n)
    while (<uint64_t*>(slots + at * width))[0] != 0 and (<uint64_t*>(slots + at * width))[0] != key:
        at = (at + 1) & (n - 1)
    return slots + at * width


@cython.final
@cython.auto_pickle(False)
cdef class Rows(Sink):
    """Rows of a sparse matrix, codes in the order they are first met.

    ``unique`` False keeps every token, in order, instead of counting repeats.
    """

    cdef:
        Block indices, counts, last
        int64_t[::1] indptr
        Py_ssize_t n
        bint unique, binary

    def __init__(self, Py_ssize_t n_rows, bint unique, bint binary):
        self.indptr = np.zeros(n_rows + 1, dtype=np.int64)
        self.unique, self.binary = unique, binary
        self.indices, self.counts, self.last = Block(), Block(), Block()

    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil:
        cdef:
            Py_ssize_t i, need = 4 * (self.n + n)
            int64_t at, first = self.indptr[row]
            int64_t* last
            int32_t* indices
            int32_t* counts
        if not (self.indices.fit(need) and self.counts.fit(need) and self.last.fit(8 * n_codes)):
            return False
        last = <int64_t*>self.last.at
        for i in range(n):
            prefetch(last + codes[i])
        indices, counts = <int32_t*>self.indices.at, <int32_t*>self.counts.at
        for i in range(n):
            at = last[codes[i]]
            if at >= first and self.unique:
                if not self.binary:
                    counts[at] += 1
                continue
            last[codes[i]] = self.n
            indices[self.n] = codes[i]
            counts[self.n] = 1
            self.n += 1
        return True

    cdef bint end(self, Py_ssize_t row) noexcept nogil:
        self.indptr[row + 1] = self.n
        return True

    def result(self):
        """Pointers to rows, codes and counts."""
        return (
            np.asarray(self.indptr),
            self.indices.array(np.int32, self.n),
            self.counts.array(np.int32, self.n),
        )


def arranged(const int64_t[::1] pointers, const int32_t[::1] codes, const int32_t[::1] counts,
             const int32_t[::1] ranks, int32_t[::1] out_codes, int32_t[::1] out_counts):
    """Rows with every code replaced by its rank, and in the order of ranks.

    The matrix is turned to columns and back: time is linear in its size.
    ``pointers`` may be those of some rows; the outputs are filled there.
    """
    cdef:
        Py_ssize_t n = pointers.shape[0] - 1, width = ranks.shape[0], row, i
        int64_t first = pointers[0], size = pointers[n] - first, at
        int64_t[::1] starts = np.zeros(width + 1, dtype=np.int64)
        int64_t[::1] free_at = np.array(pointers, dtype=np.int64)
        int32_t[::1] rows = np.empty(size, dtype=np.int32)
        int32_t[::1] amounts = np.empty(size, dtype=np.int32)
        int32_t rank
    with nogil:
        for i in range(first, first + size):
            starts[ranks[codes[i]] + 1] += 1
        for i in range(width):
            starts[i + 1] += starts[i]
        for row in range(n):
            for i in range(pointers[row], pointers[row + 1]):
                rank = ranks[codes[i]]
                at = starts[rank]
                starts[rank] = at + 1
                rows[at], amounts[at] = <int32_t>row, counts[i]
        # Every start has moved to where the next column begins.
        at = 0
        for i in range(width):
            for at in range(starts[i - 1] if i else 0, starts[i]):
                row = rows[at]
                out_codes[free_at[row]], out_counts[free_at[row]] = <int32_t>i, amounts[at]
                free_at[row] += 1
