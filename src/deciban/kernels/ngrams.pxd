"""Units to n-grams to codes, for kernels that find units; see the implementation."""

from deciban.kernels.dictionary cimport (
    SHORT_BYTES, UNKNOWN, Dictionary, Key, Slot, code_of, hash_of, key_of, long_key, short_key,
)
from deciban.kernels.sinks cimport Sink, prefetch

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

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
        int32_t longer[MAX_PENDING_TOKENS]      # those of them that are not short
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
    if self.buckets:
        token.key.hash = hash_of(self.buffer + start, stop - start, self.seed, True)
    else:
        token.key = key_of(self.buffer + start, stop - start, self.seed, True)
        prefetch(&self.words.slots[token.key.hash & self.words.size_mask])
    token.start, token.size = start, stop - start
    self.longer[self.n_long] = <int32_t>self.n_pending
    self.n_long += stop - start > SHORT_BYTES
    self.n_pending += 1
    if self.n_pending == MAX_PENDING_TOKENS:
        self.look_up()


cdef inline void emit_units(
    NGrams self, const uint16_t* edges, Py_ssize_t n_edges, int64_t shortest
) noexcept nogil:
    """Units that begin and end at edges from ``used`` on are tokens, if they are long enough."""
    cdef:
        int64_t base = self.used, start, size
        const uint8_t* text = self.buffer
        const Slot* slots = self.words.slots
        uint64_t seed = self.seed, mask = self.words.size_mask
        Py_ssize_t i, n = self.n_pending
        Pending* pending = &self.pending[0]
        Key key
    for i in range(0, n_edges, 2):
        start, size = base + edges[i], edges[i + 1] - edges[i]
        if size > SHORT_BYTES:
            key = long_key(text + start, size, seed, True)
            self.longer[self.n_long] = <int32_t>n
            self.n_long += size >= shortest
        else:
            key = short_key(text + start, size, seed)
        prefetch(&slots[key.hash & mask])
        pending[n].key = key
        pending[n].start, pending[n].size = start, size
        n += size >= shortest       # no branch to mispredict
        if n == MAX_PENDING_TOKENS:
            self.n_pending = n
            self.look_up()
            slots, mask, n = self.words.slots, self.words.size_mask, 0
    self.n_pending = n


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
