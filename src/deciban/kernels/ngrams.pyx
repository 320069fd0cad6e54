"""Units to n-grams to codes: tokens are looked up some time after they were found.

Units (words, or characters) lie one after the other in a small buffer. A token
is a run of ``low .. high`` units of one chain, hence a slice of that buffer.
Tokens are hashed as they end and looked up some later, when the memory of the
vocabulary has arrived.
"""

from deciban.kernels.dictionary cimport (
    NO_MEMORY, SLACK, Slot, UNKNOWN, Dictionary, check_offsets, code_of,
)
from deciban.kernels.sinks cimport Sink, prefetch

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove

cdef enum:
    MAX_BUFFER_BYTES = 1 << 16      # from here on it is emptied after a chain

# Equal in every process: models that count buckets must agree.
cdef uint64_t BUCKET_SEED = 0xD6E8FEB86659FD93


@cython.auto_pickle(False)
cdef class NGrams:
    """One thread's chains of units; ``short_chains`` of fewer than ``low`` units are one token."""

    def __init__(self, Py_ssize_t low, Py_ssize_t high, bint short_chains, Dictionary stops):
        self.first_low, self.first_high = low, high
        self.short_chains, self.stops = short_chains, stops

    def __dealloc__(self):
        free(self.buffer)

    def gather(self, const int64_t[::1] pointers, const int64_t[::1] offsets,
               const uint8_t[::1] data, Dictionary words, uint64_t buckets, bint grow, Sink sink):
        """The tokens of units that were found elsewhere into ``sink``, as codes of ``words`` or as
        one of ``buckets``. Row ``i`` has the units ``pointers[i] .. pointers[i + 1]``, a chain.
        """
        cdef Py_ssize_t n = pointers.shape[0] - 1, row, i
        cdef const uint8_t* texts = &data[0] if data.shape[0] else NULL
        check_offsets(pointers, n, offsets.shape[0] - 1)
        check_offsets(offsets, offsets.shape[0] - 1, data.shape[0])
        self.start(words, buckets, grow, sink)
        with nogil:
            for row in range(n):
                self.open_row(row)
                for i in range(pointers[row], pointers[row + 1]):
                    if not self.reserve(offsets[i + 1] - offsets[i] + 1):
                        break
                    memcpy(self.buffer + self.used, texts + offsets[i], offsets[i + 1] - offsets[i])
                    add_unit(self, self.used + offsets[i + 1] - offsets[i], True)
                self.end_chain()
                self.look_up()
                if self.failed or not self.sink.end(row):
                    break
            else:
                row = n
        self.stop()
        if row < n:
            raise MemoryError

    cdef stop(self):
        """Keep nothing that others may have done with, and no more memory than most texts need."""
        self.words = self.sink = None
        if self.room > 2 * MAX_BUFFER_BYTES:
            free(self.buffer)
            self.buffer, self.room = NULL, 0

    cdef start(self, Dictionary words, uint64_t buckets, bint grow, Sink sink):
        """Where the codes come from, and where they go."""
        self.words, self.buckets, self.grow, self.sink = words, buckets, grow, sink
        self.seed = BUCKET_SEED if buckets else words.seed
        self.failed = False

    cdef void open_row(self, Py_ssize_t row) noexcept nogil:
        self.row, self.n_units, self.n_pending, self.n_long, self.used = row, 0, 0, 0, 0
        self.low, self.high = self.first_low, self.first_high

    cdef bint reserve(self, Py_ssize_t more) noexcept nogil:
        """Room for more bytes of units; False where there is no memory."""
        cdef Py_ssize_t room = self.used + more + SLACK
        cdef void* block
        if room <= self.room:
            return True
        room += room // 2
        block = realloc(self.buffer, room)
        if block == NULL:
            self.failed = True
            return False
        self.buffer, self.room = <uint8_t*>block, room
        return True

    cdef void shift_units(self, int64_t start, int64_t stop) noexcept nogil:
        """Make tokens of the oldest units; those that later ones may join, and the
        bytes of a new one, are moved to the front.
        """
        cdef Py_ssize_t done = MAX_UNITS - self.high + 1, i
        cdef int64_t base = self.begins[done] if done < MAX_UNITS else start
        self.emit_ngrams(done)
        self.look_up()
        memmove(self.buffer, self.buffer + base, stop - base)
        for i in range(done, MAX_UNITS):
            self.begins[i - done] = self.begins[i] - base
            self.ends[i - done] = self.ends[i] - base
        self.n_units = MAX_UNITS - done
        self.used = stop - base

    cdef void emit_ngrams(self, Py_ssize_t count) noexcept nogil:
        """Tokens that begin at the first ``count`` units."""
        cdef Py_ssize_t i, n
        for i in range(count):
            for n in range(self.low, min(self.high, self.n_units - i) + 1):
                emit_token(self, self.begins[i], self.ends[i + n - 1])

    cdef void end_chain(self) noexcept nogil:
        """The tokens of a whole chain; the next unit begins another one."""
        self.emit_ngrams(self.n_units)
        if self.short_chains and 0 < self.n_units < self.low:
            emit_token(self, self.begins[0], self.ends[self.n_units - 1])
        self.n_units = 0

    cdef void empty_buffer(self) noexcept nogil:
        """After a chain, write over its units, if they have become long."""
        if self.used > MAX_BUFFER_BYTES:
            self.look_up()
            self.used = 0

    cdef void look_up(self) noexcept nogil:
        """Hand the codes of the tokens that wait to the sink."""
        cdef:
            int32_t codes[MAX_PENDING_TOKENS]
            Py_ssize_t i, n = 0, n_codes
            int64_t code
        if self.n_long and not self.buckets:
            self.prefetch_texts()
        for i in range(self.n_pending):
            if self.buckets:
                code = self.pending[i].key.hash % self.buckets
            else:
                code = code_of_token(self, &self.pending[i])
            if code >= 0:
                codes[n] = <int32_t>code
                n += 1
        self.n_pending = self.n_long = 0
        n_codes = <Py_ssize_t>self.buckets if self.buckets else self.words.n
        if n and not self.sink.take(self.row, codes, n, n_codes):
            self.failed = True

    cdef void prefetch_texts(self) noexcept nogil:
        """Ask for the memory of the texts that the longer tokens will be compared with."""
        cdef:
            Py_ssize_t i
            uint32_t places[MAX_PENDING_TOKENS]
            const Slot* slots = self.words.slots
            const int64_t* starts = self.words.starts
        for i in range(self.n_long):
            places[i] = slots[self.pending[self.longer[i]].key.hash & self.words.size_mask].place
            prefetch(starts + places[i])
        for i in range(self.n_long):
            if places[i]:
                prefetch(self.words.block + starts[places[i] - 1])


cdef inline int64_t code_of_token(NGrams self, const Pending* token) noexcept nogil:
    """The code of a token that waits; a new one is added where the vocabulary grows."""
    cdef const uint8_t* text = self.buffer + token.start
    cdef int64_t code = code_of(self.words, text, token.size, &token.key)
    if code == UNKNOWN and self.grow:
        code = self.words.insert(text, token.size, &token.key)
        if code == NO_MEMORY:
            self.failed = True
    return code
