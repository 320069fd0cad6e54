"""Units to n-grams to codes, for kernels that find units; see the implementation."""

from deciban.kernels.dictionary cimport SHORT, UNKNOWN, Dictionary, Key, code_of, key_of
from deciban.kernels.sinks cimport Sink, prefetch

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef enum:
    MAX_PENDING_TOKENS = 256
    MAX_UNITS = 2048

cdef struct Pending:    # a token that waits until it is looked up
    Key key
    int64_t start
    int64_t size


cdef class NGrams:
    cdef:
        Dictionary stops, words
        Sink sink
        bint grow, failed, short_chains
        Py_ssize_t low, high, first_low, first_high, n_units, n_pending, n_long, row
        uint64_t buckets, seed
        int64_t begins[MAX_UNITS]
        int64_t ends[MAX_UNITS]
        Pending pending[MAX_PENDING_TOKENS]
        uint8_t* buffer
        Py_ssize_t room, used

    cdef stop(self)
    cdef start(self, Dictionary words, uint64_t buckets, bint grow, Sink sink)
    cdef void open_row(self, Py_ssize_t row) noexcept nogil
    cdef bint reserve(self, Py_ssize_t more) noexcept nogil
    cdef void shift_units(self, int64_t start, int64_t stop) noexcept nogil
    cdef void emit_ngrams(self, Py_ssize_t count) noexcept nogil
    cdef void end_chain(self) noexcept nogil
    cdef void empty_buffer(self) noexcept nogil
    cdef void look_up(self) noexcept nogil
    cdef void prefetch_texts(self) noexcept nogil


cdef inline void emit_token(NGrams self, int64_t start, int64_t stop) noexcept nogil:
    """What lies from ``start`` to ``stop`` is a token: it waits until it is looked up."""
    cdef Pending* token = &self.pending[self.n_pending]
    token.key = key_of(self.buffer + start, stop - start, self.seed, True)
    token.start, token.size = start, stop - start
    if not self.buckets:
        prefetch(&self.words.slots[token.key.hash & self.words.size_mask])
    self.n_long += stop - start > SHORT
    self.n_pending += 1
    if self.n_pending == MAX_PENDING_TOKENS:
        self.look_up()


cdef inline void emit_unit(NGrams self, int64_t stop) noexcept nogil:
    """What lies from ``used`` to ``stop`` is a unit, and a token by itself."""
    emit_token(self, self.used, stop)
    self.used = stop if self.n_pending else 0   # all are looked up: write over them


cdef inline void add_unit(NGrams self, int64_t stop, bint spaced) noexcept nogil:
    """What lies from ``used`` to ``stop`` is a unit of the chain, unless it is a stop word."""
    cdef int64_t start = self.used
    cdef Key key
    if self.stops.n:
        key = key_of(self.buffer + start, stop - start, self.stops.seed, True)
        if code_of(self.stops, self.buffer + start, stop - start, &key) != UNKNOWN:
            return
    if self.high == 1:
        emit_unit(self, stop)
        return
    self.used = stop
    if self.n_units == MAX_UNITS:
        self.shift_units(start, stop)
        start, stop = self.used - (stop - start), self.used
    self.begins[self.n_units], self.ends[self.n_units] = start, stop
    self.n_units += 1
    if spaced:
        self.buffer[self.used] = 32
        self.used += 1
