"""Texts to tokens, in one pass over the bytes: where units begin and end, and how they are folded.

Units are words or characters; n-grams of them are tokens (see ``ngrams``). A
document with a character whose folding is not one character, or depends on its
neighbours (İ, Σ), is folded by Python first.
"""

from deciban.kernels.dictionary cimport SLACK, Dictionary, check_offsets
from deciban.kernels.ngrams cimport NGrams, add_unit, emit_unit, emit_units
from deciban.kernels.sinks cimport Sink
from deciban.kernels.utf8 cimport decode, encode

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "plain.h" nogil:
    enum:
        BLOCK "DECIBAN_PLAIN_BLOCK"
        CHUNK_BYTES "DECIBAN_PLAIN_CHUNK"
    Py_ssize_t plain_words "deciban_plain_words"(
        const uint8_t* at, Py_ssize_t n, uint8_t lower, uint8_t* folded, uint16_t* edges,
        Py_ssize_t* n_edges) noexcept
    Py_ssize_t ascii_blocks "deciban_ascii_blocks"(const uint8_t* at, Py_ssize_t n) noexcept

cdef enum:      # what a character is; text/characters.py makes the table
    WORD = 1
    UNSPACED = 2
    MARK = 4
    DIGIT = 8
    SPACE = 16
    SIGN = 32

cdef enum:      # what a character is folded to, if not to another
    REMOVED = -1
    CONTEXTUAL = -2     # not to one character, or not always to the same

cdef enum:      # where a character may be
    OUTSIDE = 0
    IN_WORD = 1
    IN_RUN = 2          # of a script without spaces

WORDS, CHARACTERS, EDGES = 0, 1, 2
cdef enum:
    AS_WORDS = 0
    AS_CHARACTERS = 1
    AS_EDGES = 2


@cython.final
@cython.auto_pickle(False)
cdef class Scanner(NGrams):
    """One thread's tokeniser: a rule, and memory to work in."""

    cdef:
        const uint8_t[::1] classes
        const int32_t[::1] folds
        object fold
        int mode, kind
        bint any_script, digits, folded, plain
        uint8_t lower
        Py_ssize_t shortest
        uint8_t as_is[256]
        uint8_t as_folded[256]

    def __init__(self, classes, folds, fold, int mode, bint any_script, bint digits,
                 Py_ssize_t shortest, Py_ssize_t low, Py_ssize_t high, Dictionary stops):
        super().__init__(low, high, mode == AS_EDGES, stops)
        self.classes, self.folds, self.fold = classes, folds, fold
        self.mode, self.any_script, self.digits = mode, any_script, digits
        self.shortest = shortest
        cdef int c
        for c in range(256):
            if c >= 128 or (digits and self.classes[c] & DIGIT):
                self.as_is[c] = self.as_folded[c] = 1
            elif self.classes[c] & WORD:
                self.as_is[c] = c
                self.as_folded[c] = c if folds is None else self.folds[c]
            else:
                self.as_is[c] = self.as_folded[c] = 0
        # Words of ASCII are letters, digits and underscores, and nothing else counts.
        cdef int lower = folds_case(self.as_folded)
        self.plain = lower >= 0 and folds_case(self.as_is) == 0 and not any(
            self.classes[c] & SIGN for c in range(128))
        self.lower = max(lower, 0)

    def scan(self, const int64_t[::1] offsets, const uint8_t[::1] data, missing,
             Dictionary words, uint64_t buckets, bint grow, Sink sink):
        """The tokens of all texts into ``sink``, as codes of ``words`` or as one of ``buckets``."""
        cdef const uint8_t[::1] gap = missing.view("u1")
        cdef Py_ssize_t n = gap.shape[0], row
        cdef const uint8_t* texts = &data[0] if data.shape[0] else NULL
        check_offsets(offsets, n, data.shape[0])
        self.start(words, buckets, grow, sink)
        with nogil:
            for row in range(n):
                if not gap[row] and offsets[row + 1] > offsets[row]:
                    self.scan_text(row, texts + offsets[row], texts + offsets[row + 1])
                if self.failed or not self.sink.end(row):
                    break
            else:
                row = n
        self.stop()
        if row < n:
            raise MemoryError

    cdef void scan_text(self, Py_ssize_t row, const uint8_t* at, const uint8_t* end) noexcept nogil:
        self.open_row(row)
        self.kind, self.folded = IN_WORD, self.folds is None
        if not self.folded and self.has_contextual(at, end):
            self.scan_folded(at, end)
        else:
            self.find_tokens(at, end)

    cdef void scan_folded(self, const uint8_t* at, const uint8_t* end) noexcept with gil:
        """Let Python fold a text: a function of its own, as only this one needs the interpreter."""
        cdef const uint8_t* text
        try:
            copy = self.fold((<const char*>at)[:end - at])
            text = <const uint8_t*>(<const char*>(<bytes>copy))
            self.folded = True
            self.find_tokens(text, text + len(copy))
        except MemoryError:
            self.failed = True

    cdef void find_tokens(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
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
        self.end_chain()
        self.look_up()

    cdef bint has_contextual(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        """Whether Python must fold the text."""
        cdef uint32_t c
        at += ascii_blocks(at, end - at)
        while at < end:
            if at[0] < 0x80:
                at += 8 if is_ascii(at, end) else 1
                continue
            at += decode(at, end, &c)
            if c < <uint32_t>self.folds.shape[0] and self.folds[c] == CONTEXTUAL:
                return True
        return False

    cdef inline int64_t fold_character(self, uint32_t c) noexcept nogil:
        if self.folded or c >= <uint32_t>self.folds.shape[0]:
            return c
        return self.folds[c]

    cdef inline int class_of(self, int64_t c) noexcept nogil:
        return self.classes[c] if c < self.classes.shape[0] else 0

    cdef void find_words(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        """Runs of word characters; under ``any_script`` also unspaced ones, one by one."""
        cdef:
            const uint8_t* word
            const uint8_t* table = &self.as_is[0] if self.folded else &self.as_folded[0]
            uint8_t* out = self.buffer
            uint8_t written
            Py_ssize_t length = 0
            int holding = OUTSIDE, kind
            bint digit = False, unspaced, simple = self.high == 1 and self.stops.n == 0
            uint32_t c
            int64_t f
        while at < end:
            if self.plain and holding == OUTSIDE and self.kind == IN_WORD and is_ascii(at, end):
                at = self.find_plain_words(at, end, simple and not self.buckets)
                out = self.buffer + self.used
                if at == end:
                    break
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
                at += decode(at, end, &c)
                f = self.fold_character(c)
                if f == REMOVED:
                    continue
                kind = self.class_of(f)
                unspaced = self.any_script and kind & UNSPACED
                if unspaced and kind & MARK and holding == IN_RUN:
                    out = encode(f, out)
                    continue
                if kind & WORD and not unspaced and holding != IN_RUN:
                    if not (self.digits and kind & DIGIT):
                        out = encode(f, out)
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
                        emit_unit(self, out - self.buffer)
                else:
                    self.end_unit(out - self.buffer, holding, length)
                out = self.buffer + self.used
                length, digit = 0, False
            if holding == IN_RUN and not unspaced:
                self.end_chain()
                self.empty_buffer()
                out = self.buffer + self.used
            holding = OUTSIDE
            if kind & WORD:
                holding = IN_RUN if unspaced else IN_WORD
                length = 1
                if not unspaced and self.digits and kind & DIGIT:
                    f, digit = 48, True
                out = encode(f, out)
            elif kind & SIGN:
                out = encode(f, out)
                self.end_unit(out - self.buffer, IN_WORD, self.shortest)
                out = self.buffer + self.used
        if holding:
            self.end_unit(out - self.buffer, holding, length)

    cdef const uint8_t* find_plain_words(
        self, const uint8_t* at, const uint8_t* end, bint simple
    ) noexcept nogil:
        """Words of ASCII from here, which is outside of any, some blocks at a time.

        Returned is where the first begins that may not be such a word, or is very long.
        """
        cdef:
            uint8_t copy[CHUNK_BYTES + SLACK]
            uint16_t edges[CHUNK_BYTES + 2]
            uint8_t lower = 0 if self.folded else self.lower
            Py_ssize_t done = CHUNK_BYTES, n_edges, length, i
            uint8_t* folded = copy
        while at < end and 2 * done > CHUNK_BYTES:
            if simple:
                folded = self.buffer + self.used
            done = plain_words(at, end - at, lower, folded, edges, &n_edges)
            if simple:
                emit_units(self, edges, n_edges, self.shortest)
                self.used += done
            else:
                for i in range(0, n_edges, 2):
                    length = edges[i + 1] - edges[i]
                    memcpy(self.buffer + self.used, copy + edges[i], length)
                    self.end_unit(self.used + length, IN_WORD, length)
            at += done
        return at

    cdef void end_unit(self, int64_t stop, int holding, Py_ssize_t length) noexcept nogil:
        """A word or a character of a run is over, if it is long enough to count."""
        if holding == IN_WORD and length < self.shortest:
            return
        if holding != self.kind:
            self.begin_chain(holding)
        add_unit(self, stop, holding == IN_WORD)

    cdef void begin_chain(self, int kind) noexcept nogil:
        """Begin another chain; what is in the buffer stays."""
        self.end_chain()
        self.kind = kind
        self.low = 1 if kind == IN_RUN else self.first_low
        self.high = 2 if kind == IN_RUN else self.first_high

    cdef void find_characters(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        """Every character; white space of two or more is one space."""
        cdef:
            uint32_t c
            int64_t f, space = REMOVED
        while at < end:
            at += decode(at, end, &c)
            f = self.fold_character(c)
            if f == REMOVED:
                continue
            if self.class_of(f) & SPACE:
                space = f if space == REMOVED else 32
                continue
            if space != REMOVED:
                self.add_character(space)
                space = REMOVED
            self.add_character(f)
        if space != REMOVED:
            self.add_character(space)

    cdef void find_edges(self, const uint8_t* at, const uint8_t* end) noexcept nogil:
        """The characters of words between white space, each word with a space at its ends."""
        cdef:
            uint32_t c
            int64_t f
            bint inside = False
        while at < end:
            at += decode(at, end, &c)
            f = self.fold_character(c)
            if f == REMOVED:
                continue
            if self.class_of(f) & SPACE:
                if inside:
                    self.add_character(32)
                    self.end_chain()
                    self.empty_buffer()
                inside = False
                continue
            if not inside:
                self.add_character(32)
            inside = True
            self.add_character(f)
        if inside:
            self.add_character(32)

    cdef void add_character(self, int64_t c) noexcept nogil:
        add_unit(self, encode(c, self.buffer + self.used) - self.buffer, False)


cdef int folds_case(const uint8_t* table) noexcept nogil:
    """32 where a table of ASCII makes capitals small, 0 where it leaves all; -1 for other tables."""
    cdef int c, small = 32 if table[65] == 97 else 0
    for c in range(128):
        if 65 <= c <= 90:
            if table[c] != c + small:
                return -1
        elif table[c] != (c if 97 <= c <= 122 or 48 <= c <= 57 or c == 95 else 0):
            return -1
    return small


cdef inline bint is_ascii(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Whether the next eight bytes are ASCII; fewer are left to be looked at one by one."""
    cdef uint64_t eight
    if end - at < 8:
        return False
    memcpy(&eight, at, 8)
    return not eight & <uint64_t>0x8080808080808080
