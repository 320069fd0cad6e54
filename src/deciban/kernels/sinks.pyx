"""Where codes of tokens go: sums per class, or rows of a sparse matrix.

A sink is handed the codes of one row in batches, rows in order. Its memory
follows the number of codes that there are, which may grow as it works.
"""

import numpy as np

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

cdef enum:
    FEW_TOKENS = 64     # so many are compared with each other sooner than a table is made


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
    """What is handed the codes of rows; this one forgets them."""

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
    """

    cdef:
        const int64_t[::1] y
        const double[::1] weight
        Block cells, rows, seen
        Py_ssize_t n_classes, n_codes
        bint binary, documents

    def __init__(self, y, Py_ssize_t n_classes, weight, bint binary, bint documents):
        self.y, self.weight, self.n_classes = y, weight, n_classes
        self.binary, self.documents = binary, documents
        self.cells, self.rows, self.seen = Block(), Block(), Block()

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
                if seen[codes[i]] != row:
                    seen[codes[i]] = row
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
            bint is_new
        if not (self.indices.fit(need) and self.counts.fit(need)):
            return False
        indices, counts = <int32_t*>self.indices.at, <int32_t*>self.counts.at
        if not self.unique or (self.last.at == NULL and self.n + n <= FEW_TOKENS):
            self.take_few(first, codes, n, indices, counts)
            return True
        is_new = self.last.at == NULL
        if not self.last.fit(8 * n_codes):
            return False
        last = <int64_t*>self.last.at
        if is_new:
            for at in range(first, self.n):
                last[indices[at]] = at
        for i in range(n):
            prefetch(last + codes[i])
        for i in range(n):
            at = last[codes[i]]
            if at >= first:
                if not self.binary:
                    counts[at] += 1
                continue
            last[codes[i]] = self.n
            indices[self.n] = codes[i]
            counts[self.n] = 1
            self.n += 1
        return True

    cdef void take_few(self, int64_t first, const int32_t* codes, Py_ssize_t n,
                       int32_t* indices, int32_t* counts) noexcept nogil:
        """Repeats are found by looking: no table of all codes is made for one short text."""
        cdef Py_ssize_t i, at
        for i in range(n):
            at = first if self.unique else self.n
            while at < self.n and indices[at] != codes[i]:
                at += 1
            if at == self.n:
                indices[at], counts[at] = codes[i], 1
                self.n += 1
            elif not self.binary:
                counts[at] += 1

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


def arrange(const int64_t[::1] pointers, const int32_t[::1] codes, const int32_t[::1] counts,
            const int32_t[::1] ranks, int32_t[::1] out_codes, int32_t[::1] out_counts):
    """Replace every code of rows by its rank, in the order of ranks.

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
