"""Texts to tokens to codes, in one pass over the bytes.

Units (words, or characters) are written, folded, one after the other into a
small buffer; a token is a run of ``low .. high`` units of one chain, hence a
slice of that buffer. Tokens are hashed as they end and looked up some later,
when the table's memory has arrived.

A document with a character whose folding is not one character, or depends on
its neighbours (İ, Σ), is folded by Python first.
"""

from deciban.kernels.dictionary cimport (
    Dictionary, NO_MEMORY, SLACK, Slot, UNKNOWN, check, found, hashed,
)
from deciban.kernels.sinks cimport Sink, prefetch

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove

cdef enum:      # what a character is; text/characters.py makes the table
    WORD = 1
    UNSPACED = 2
    MARK = 4
    DIGIT = 8
    SPACE = 16
    SIGN = 32

cdef enum:      # what a character is folded to, if not to another
    NOTHING = -1
    FOLDED_IN_CONTEXT = -2

cdef enum:
    PENDING = 256
    UNITS = 2048
    FAR = 1 << 16

cdef enum:
    NONE = 0
    IN_WORD = 1
    IN_RUN = 2

WORDS, CHARACTERS, EDGES = 0, 1, 2
cdef enum:
    AS_WORDS = 0
    AS_CHARACTERS = 1
    AS_EDGES = 2

# The same in every process: hashed models must agree.
cdef uint64_t FIXED = 0xD6E8FEB86659FD93


@cython.final
@cython.auto_pickle(False)
cdef class Scanner:
    """One thread's tokeniser: a rule, and memory to work in."""

    cdef:
        const uint8_t[::1] classes
        const int32_t[::1] folds
        object fold
        Dictionary stops, words
        Sink sink
        int mode
        bint any_script, digits, grow, failed, plain
        Py_ssize_t shortest, low, high, first_low, first_high, n_units, n_pending, row
        uint64_t buckets, seed
        uint8_t as_is[256]
        uint8_t as_folded[256]
        int64_t begins[UNITS]
        int64_t ends[UNITS]
        int64_t pending_start[PENDING]
        int64_t pending_size[PENDING]
        uint64_t pending_hash[PENDING]
        uint8_t* buffer
        Py_ssize_t room, used
        int kind

    def __init__(self, classes, folds, fold, int mode, bint any_script, bint digits,
                 Py_ssize_t shortest, Py_ssize_t low, Py_ssize_t high, Dictionary stops):
        self.classes, self.folds, self.fold = classes, folds, fold
        self.mode, self.any_script, self.digits = mode, any_script, digits
        self.shortest, self.first_low, self.first_high = shortest, low, high
        self.stops = stops
        cdef int c
        for c in range(256):
            if c >= 128 or (digits and self.classes[c] & DIGIT):
                self.as_is[c] = self.as_folded[c] = 1
            elif self.classes[c] & WORD:
                self.as_is[c] = c
                self.as_folded[c] = c if folds is None else self.folds[c]
            else:
                self.as_is[c] = self.as_folded[c] = 0

    def __dealloc__(self):
        free(self.buffer)

    def scan(self, const int64_t[::1] offsets, const uint8_t[::1] data, missing,
             Dictionary words, uint64_t buckets, bint grow, Sink sink):
        """Every document's tokens into ``sink``, as codes of ``words`` or as one of ``buckets``."""
        cdef const uint8_t[::1] gap = missing.view("u1")
        cdef Py_ssize_t n = gap.shape[0], row
        cdef const uint8_t* texts = &data[0] if data.shape[0] else NULL
        check(offsets, n, data.shape[0])
        self.start(words, buckets, grow, sink)
        with nogil:
            for row in range(n):
                if not gap[row] and offsets[row + 1] > offsets[row]:
                    self.document(row, texts + offsets[row], texts + offsets[row + 1])
                if self.failed or not self.sink.end(row):
                    break
            else:
                row = n
        if row < n:
            raise MemoryError

    def gather(self, const int64_t[::1] pointers, const int64_t[::1] offsets,
               const uint8_t[::1] data, Dictionary words, uint64_t buckets, bint grow, Sink sink):
        """The same for units that were found elsewhere: row ``i`` has those from
        ``pointers[i]`` to ``pointers[i + 1]``.
        """
        cdef Py_ssize_t n = pointers.shape[0] - 1, row, i
        cdef const uint8_t* texts = &data[0] if data.shape[0] else NULL
        check(pointers, n, offsets.shape[0] - 1)
        check(offsets, offsets.shape[0] - 1, data.shape[0])
        self.start(words, buckets, grow, sink)
        with nogil:
            for row in range(n):
                self.open(row)
                for i in range(pointers[row], pointers[row + 1]):
                    if not self.reserve(offsets[i + 1] - offsets[i] + 1):
                        break
                    memcpy(self.buffer + self.used, texts + offsets[i], offsets[i + 1] - offsets[i])
                    self.unit(self.used + offsets[i + 1] - offsets[i], True)
                self.close()
                self.resolve()
                if self.failed or not self.sink.end(row):
                    break
            else:
                row = n
        if row < n:
            raise MemoryError

    cdef start(self, Dictionary words, uint64_t buckets, bint grow, Sink sink):
        self.words, self.buckets, self.grow, self.sink = words, buckets, grow, sink
        self.seed = FIXED if buckets else words.seed
        self.failed = False

    cdef void open(self, Py_ssize_t row) noexcept nogil:
        self.row, self.n_units, self.n_pending, self.used = row, 0, 0, 0
        self.kind, self.low, self.high = IN_WORD, self.first_low, self.first_high

    cdef void document(self, Py_ssize_t row, const uint8_t* at, const uint8_t* end) noexcept nogil:
        cdef const uint8_t* text
        self.open(row)
        self.plain = self.folds is None
        if not self.plain and self.awkward(at, end):
            with gil:
                try:
                    folded = self.fold((<const char*>at)[:end - at])
                    text = <const uint8_t*>(<const char*>(<bytes>folded))
                    self.plain = True
                    self.tokens(text, text + len(folded))
                except MemoryError:
                    self.failed = True
        else:
            self.tokens(at, end)

    cdef void tokens(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        # Folding makes two bytes of a character into three at most, and every
        # word but the last has a byte after it for what separates units.
        if not self.reserve(2 * (end - at) + 64):
            return
        if self.mode == AS_WORDS:
            self.find_words(at, end)
        elif self.mode == AS_CHARACTERS:
            self.find_characters(at, end)
        else:
            self.find_edges(at, end)
        self.close()
        self.resolve()

    cdef bint reserve(self, Py_ssize_t more) noexcept nogil:
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

    cdef bint awkward(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        cdef uint32_t c
        cdef uint64_t eight
        while at < end:
            if end - at >= 8:
                memcpy(&eight, at, 8)
                if not eight & <uint64_t>0x8080808080808080:
                    at += 8
                    continue
            if at[0] < 0x80:
                at += 1
                continue
            at += decoded(at, end, &c)
            if c < <uint32_t>self.folds.shape[0] and self.folds[c] == FOLDED_IN_CONTEXT:
                return True
        return False

    cdef inline int64_t folded(self, uint32_t c) noexcept nogil:
        if self.plain or c >= <uint32_t>self.folds.shape[0]:
            return c
        return self.folds[c]

    cdef inline int classed(self, int64_t c) noexcept nogil:
        return self.classes[c] if c < self.classes.shape[0] else 0

    cdef void find_words(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        """Runs of word characters; under ``any_script`` also unspaced ones, one by one."""
        cdef:
            const uint8_t* word
            const uint8_t* table = &self.as_is[0] if self.plain else &self.as_folded[0]
            uint8_t* out = self.buffer
            uint8_t written
            Py_ssize_t length = 0
            int holding = NONE, kind
            bint digit = False, unspaced, simple = self.high == 1 and self.stops.n == 0
            uint32_t c
            int64_t f
        while at < end:
            written = table[at[0]]
            if written > 1 and holding != IN_RUN:
                word = at
                while written > 1:
                    out[0] = written
                    out += 1
                    at += 1
                    written = table[at[0]] if at < end else 0
                length += at - word
                holding, digit = IN_WORD, False
                if at == end:
                    break
            if written == 1:
                at += decoded(at, end, &c)
                f = self.folded(c)
                if f == NOTHING:
                    continue
                kind = self.classed(f)
                unspaced = self.any_script and kind & UNSPACED
                if unspaced and kind & MARK and holding == IN_RUN:
                    out += encoded(f, out)
                    continue
                if kind & WORD and not unspaced and holding != IN_RUN:
                    if not (self.digits and kind & DIGIT):
                        out += encoded(f, out)
                        digit = False
                    elif not digit:
                        out[0] = 48
                        out += 1
                        digit = True
                    length += 1
                    holding = IN_WORD
                    continue
            elif written:
                f, kind, unspaced = written, WORD, False
                at += 1
            else:
                f, unspaced = at[0], False
                kind = self.classes[f] & SIGN
                at += 1
            if holding:
                if simple and holding == IN_WORD and self.kind == IN_WORD:
                    if length >= self.shortest:
                        self.single(out - self.buffer)
                else:
                    self.finish(out - self.buffer, holding, length)
                out = self.buffer + self.used
                length, digit = 0, False
            if holding == IN_RUN and not unspaced:
                self.close()
                out = self.buffer + self.used
            holding = NONE
            if kind & WORD:
                holding = IN_RUN if unspaced else IN_WORD
                length = 1
                if not unspaced and self.digits and kind & DIGIT:
                    f, digit = 48, True
                out += encoded(f, out)
            elif kind & SIGN:
                out += encoded(f, out)
                self.finish(out - self.buffer, IN_WORD, self.shortest)
                out = self.buffer + self.used
        if holding:
            self.finish(out - self.buffer, holding, length)

    cdef void finish(self, int64_t stop, int holding, Py_ssize_t length) noexcept nogil:
        """A word or a character of a run is over, if it is long enough to count."""
        if holding == IN_WORD and length < self.shortest:
            return
        if holding != self.kind:
            self.turn(holding)
        self.unit(stop, holding == IN_WORD)

    cdef void turn(self, int kind) noexcept nogil:
        """Begin another chain; what is in the buffer stays."""
        self.close_keeping()
        self.kind = kind
        self.low = 1 if kind == IN_RUN else self.first_low
        self.high = 2 if kind == IN_RUN else self.first_high

    cdef void find_characters(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        """Every character; white space of two or more is one space."""
        cdef:
            uint32_t c
            int64_t f, space = NOTHING
        while at < end:
            at += decoded(at, end, &c)
            f = self.folded(c)
            if f == NOTHING:
                continue
            if self.classed(f) & SPACE:
                space = f if space == NOTHING else 32
                continue
            if space != NOTHING:
                self.character(space)
                space = NOTHING
            self.character(f)
        if space != NOTHING:
            self.character(space)

    cdef void find_edges(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        """The characters of words between white space, each word with a space at its ends."""
        cdef:
            uint32_t c
            int64_t f
            bint inside = False
        while at < end:
            at += decoded(at, end, &c)
            f = self.folded(c)
            if f == NOTHING:
                continue
            if self.classed(f) & SPACE:
                if inside:
                    self.character(32)
                    self.close()
                inside = False
                continue
            if not inside:
                self.character(32)
            inside = True
            self.character(f)
        if inside:
            self.character(32)

    cdef void character(self, int64_t c) noexcept nogil:
        self.unit(self.used + encoded(c, self.buffer + self.used), False)

    cdef void unit(self, int64_t stop, bint spaced) noexcept nogil:
        """What lies from ``used`` to ``stop`` is a unit of the chain, unless it is a stop word."""
        cdef int64_t start = self.used
        if self.stops.n and found(
            self.stops, self.buffer + start, stop - start,
            hashed(self.buffer + start, stop - start, self.stops.seed, True), True,
        ) != UNKNOWN:
            return
        if self.high == 1:
            self.single(stop)
            return
        self.used = stop
        if self.n_units == UNITS:
            self.shift(start, stop)
            start, stop = self.used - (stop - start), self.used
        self.begins[self.n_units], self.ends[self.n_units] = start, stop
        self.n_units += 1
        if spaced:
            self.buffer[self.used] = 32
            self.used += 1

    cdef inline void single(self, int64_t stop) noexcept nogil:
        """The unit is a token by itself."""
        self.emit(self.used, stop)
        self.used = stop if self.n_pending else 0   # all are looked up: write over them

    cdef void shift(self, int64_t start, int64_t stop) noexcept nogil:
        """Make tokens of the oldest units; those that later ones may join, and the
        bytes of a new one, are moved to the front.
        """
        cdef Py_ssize_t done = UNITS - self.high + 1, i
        cdef int64_t base = self.begins[done] if done < UNITS else start
        self.chain(done)
        self.resolve()
        memmove(self.buffer, self.buffer + base, stop - base)
        for i in range(done, UNITS):
            self.begins[i - done] = self.begins[i] - base
            self.ends[i - done] = self.ends[i] - base
        self.n_units = UNITS - done
        self.used = stop - base

    cdef void chain(self, Py_ssize_t count) noexcept nogil:
        """Tokens that begin at the first ``count`` units."""
        cdef Py_ssize_t i, n
        for i in range(count):
            for n in range(self.low, min(self.high, self.n_units - i) + 1):
                self.emit(self.begins[i], self.ends[i + n - 1])

    cdef void close_keeping(self) noexcept nogil:
        """The chain is over; a short word between edges counts once."""
        self.chain(self.n_units)
        if self.mode == AS_EDGES and 0 < self.n_units < self.low:
            self.emit(self.begins[0], self.ends[self.n_units - 1])
        self.n_units = 0

    cdef void close(self) noexcept nogil:
        self.close_keeping()
        if self.used > FAR:
            self.resolve()
            self.used = 0

    cdef inline void emit(self, int64_t start, int64_t stop) noexcept nogil:
        cdef uint64_t h = hashed(self.buffer + start, stop - start, self.seed, True)
        if not self.buckets:
            prefetch(&self.words.slots[h & self.words.size_mask])
        self.pending_start[self.n_pending] = start
        self.pending_size[self.n_pending] = stop - start
        self.pending_hash[self.n_pending] = h
        self.n_pending += 1
        if self.n_pending == PENDING:
            self.resolve()

    cdef void resolve(self) noexcept nogil:
        """Codes of the tokens that wait."""
        cdef:
            int32_t codes[PENDING]
            Py_ssize_t i, n = 0
            int64_t code
            Py_ssize_t n_codes
        if not self.buckets:
            self.approach()
        for i in range(self.n_pending):
            if self.buckets:
                code = self.pending_hash[i] % self.buckets
            else:
                code = self.code(
                    self.buffer + self.pending_start[i], self.pending_size[i], self.pending_hash[i]
                )
            if code >= 0:
                codes[n] = <int32_t>code
                n += 1
        self.n_pending = 0
        n_codes = <Py_ssize_t>self.buckets if self.buckets else self.words.n
        if n and not self.sink.take(self.row, codes, n, n_codes):
            self.failed = True

    cdef inline void approach(self) noexcept nogil:
        """Ask for the memory of the texts that the tokens will be compared with."""
        cdef:
            Py_ssize_t i
            uint32_t places[PENDING]
            const Slot* slots = self.words.slots
            const int64_t* starts = self.words.starts
        for i in range(self.n_pending):
            places[i] = slots[self.pending_hash[i] & self.words.size_mask].place
            prefetch(starts + places[i])
        for i in range(self.n_pending):
            if places[i]:
                prefetch(self.words.block + starts[places[i] - 1])

    cdef inline int64_t code(self, const uint8_t* text, Py_ssize_t size, uint64_t h) noexcept nogil:
        cdef int64_t code = found(self.words, text, size, h, True)
        if code == UNKNOWN and self.grow:
            code = self.words.insert(text, size, h)
            if code == NO_MEMORY:
                self.failed = True
        return code


cdef inline bint follows(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(1, n):
        if at[i] & 0xC0 != 0x80:
            return False
    return True


cdef inline Py_ssize_t decoded(const uint8_t* at, const uint8_t* end, uint32_t* c) noexcept nogil:
    """How many bytes the character has; a byte that is not UTF-8 is U+FFFD."""
    cdef uint32_t b = at[0], low = 0
    cdef Py_ssize_t n
    if b < 0x80:
        c[0] = b
        return 1
    n = 2 if 0xC2 <= b < 0xE0 else 3 if 0xE0 <= b < 0xF0 else 4 if 0xF0 <= b < 0xF5 else 0
    c[0] = 0xFFFD
    if n == 0 or end - at < n or not follows(at, n):
        return 1
    if n == 2:
        c[0] = ((b & 0x1F) << 6) | (at[1] & 0x3F)
        return 2
    low = ((b & 0x0F) << 12) | ((at[1] & 0x3F) << 6) | (at[2] & 0x3F)
    if n == 4:
        low = ((b & 0x07) << 18) | ((at[1] & 0x3F) << 12) | ((at[2] & 0x3F) << 6) | (at[3] & 0x3F)
    if low < (0x800 if n == 3 else 0x10000) or 0xD800 <= low < 0xE000 or low > 0x10FFFF:
        return 1
    c[0] = low
    return n


cdef inline Py_ssize_t encoded(int64_t c, uint8_t* out) noexcept nogil:
    """Write a character; how many bytes it has."""
    if c < 0x80:
        out[0] = c
        return 1
    if c < 0x800:
        out[0] = 0xC0 | (c >> 6)
        out[1] = 0x80 | (c & 0x3F)
        return 2
    if c < 0x10000:
        out[0] = 0xE0 | (c >> 12)
        out[1] = 0x80 | ((c >> 6) & 0x3F)
        out[2] = 0x80 | (c & 0x3F)
        return 3
    out[0] = 0xF0 | (c >> 18)
    out[1] = 0x80 | ((c >> 12) & 0x3F)
    out[2] = 0x80 | ((c >> 6) & 0x3F)
    out[3] = 0x80 | (c & 0x3F)
    return 4
