"""The different words and hosts of one text, as Python's strings.

For programs that read one message and end: nothing here needs NumPy. A text is in lower
case already; what a letter is, is what Python says, as in its regular expressions. A
word is compared with those before it where it lies, and made a string once.
"""

from cpython.unicode cimport PyUnicode_Substring
from deciban.kernels.hashtable cimport HashTable, allocate_table, cell_of, key_of_hash

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp

cdef extern from "Python.h":
    int PyUnicode_READY(object text) except -1
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    bint Py_UNICODE_ISALNUM(uint32_t c) nogil
    bint Py_UNICODE_ISDIGIT(uint32_t c) nogil
    bint Py_UNICODE_ISDECIMAL(uint32_t c) nogil

ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t

cdef struct Piece:
    uint64_t key
    int32_t start
    int32_t length

# A hash of the Fowler-Noll-Vo kind (FNV-1a), 64 bits.
cdef extern from *:
    """
    #define DECIBAN_FNV_OFFSET 0xCBF29CE484222325ULL
    #define DECIBAN_FNV_PRIME 0x100000001B3ULL
    """
    const uint64_t HASH_OFFSET "DECIBAN_FNV_OFFSET"
    const uint64_t HASH_PRIME "DECIBAN_FNV_PRIME"

#: What ASCII is: a letter, a digit or the underscore, of words and of hosts.
cdef uint8_t[128] WORDLY
cdef uint8_t[128] HOSTLY
for _c in range(128):
    WORDLY[_c] = chr(_c).isalnum() or chr(_c) == "_"
    HOSTLY[_c] = WORDLY[_c] or chr(_c) == "-"


cdef inline bint within(const uint8_t* ascii, uint32_t c) noexcept nogil:
    return ascii[c] if c < 128 else Py_UNICODE_ISALNUM(c)


cdef inline bint is_new(
    HashTable* pieces, const Point* text, Py_ssize_t start, Py_ssize_t length, uint64_t hash
) noexcept nogil:
    """Whether a piece of the text was not met before; it is remembered."""
    cdef uint64_t key = key_of_hash(hash)
    cdef Piece* piece = <Piece*>cell_of(pieces, sizeof(Piece), key)
    while piece.key:
        if piece.length == length and not memcmp(
            text + piece.start, text + start, length * sizeof(Point)
        ):
            return False
        key += 1
        piece = <Piece*>cell_of(pieces, sizeof(Piece), key)
    piece.key, piece.start, piece.length = key, <int32_t>start, <int32_t>length
    return True


cdef HashTable room_for(Py_ssize_t n, Py_ssize_t most) except *:
    """A table for so many pieces, more than a text of ``n`` characters can have."""
    cdef HashTable pieces
    if n >= 1 << 30:
        raise OverflowError(f"a text of at most {1 << 30} characters is needed, got {n}.")
    if not allocate_table(&pieces, most, sizeof(Piece)):
        raise MemoryError
    return pieces


cdef find_words(
    const Point* at, Py_ssize_t n, str text, str prefix, Py_ssize_t longest, bint numbers, set out
):
    cdef:
        uint64_t h
        Py_ssize_t i = 0, start
        HashTable pieces = room_for(n, n // 2 + 2)
    try:
        while i < n:
            if not within(WORDLY, at[i]):
                i += 1
                continue
            start, h = i, HASH_OFFSET
            while i < n and within(WORDLY, at[i]):
                h = (h ^ at[i]) * HASH_PRIME
                i += 1
            if i - start < 2 or i - start > longest:
                continue
            if not numbers and Py_UNICODE_ISDIGIT(at[start]):
                continue
            if is_new(&pieces, at, start, i - start, h):
                add_piece(text, start, i, prefix, out)
    finally:
        free(pieces.at)


cdef enum:
    LETTER = 1      # of a script without spaces
    MARK = 2        # belongs to the letter before it
    PLANES = 0x20000    # the first two have a table
    MAX_RANGES = 64


cdef class Unspaced:
    """Scripts without spaces, by the first and last characters of their blocks, and their marks."""

    cdef:
        uint8_t flags[PLANES]
        uint32_t first[MAX_RANGES]
        uint32_t last[MAX_RANGES]
        int n_ranges

    def __init__(self, ranges, str marks):
        cdef uint32_t c, first, last
        for first, last in ranges:
            for c in range(first, min(last + 1, <uint32_t>PLANES)):
                self.flags[c] = LETTER if is_letter(c) else 0
            if last >= PLANES:
                if self.n_ranges == MAX_RANGES:
                    raise ValueError(f"at most {MAX_RANGES} blocks are needed")
                self.first[self.n_ranges] = max(first, <uint32_t>PLANES)
                self.last[self.n_ranges] = last
                self.n_ranges += 1
        for mark in marks:
            c = ord(mark)
            if c >= PLANES:
                raise ValueError("marks of the first two planes are needed")
            self.flags[c] |= MARK

    cdef inline uint8_t of(self, uint32_t c) noexcept nogil:
        cdef int i
        if c < PLANES:
            return self.flags[c]
        for i in range(self.n_ranges):
            if self.first[i] <= c <= self.last[i]:
                return LETTER if is_letter(c) else 0
        return 0


cdef inline bint is_letter(uint32_t c) noexcept nogil:
    """What regular expressions call ``[^\\W\\d]``, of characters that are no underscores."""
    return Py_UNICODE_ISALNUM(c) and not Py_UNICODE_ISDECIMAL(c)


cdef struct Rule:
    Py_ssize_t longest
    bint numbers


cdef inline add_new(
    HashTable* pieces, const Point* at, Py_ssize_t start, Py_ssize_t stop, Rule* rule,
    str text, str prefix, set out
):
    """Add a piece that was not met before, if it is neither too long nor a number."""
    cdef uint64_t h = HASH_OFFSET
    cdef Py_ssize_t i
    if stop - start > rule.longest or (not rule.numbers and Py_UNICODE_ISDIGIT(at[start])):
        return
    for i in range(start, stop):
        h = (h ^ at[i]) * HASH_PRIME
    if is_new(pieces, at, start, stop - start, h):
        add_piece(text, start, stop, prefix, out)


cdef find_any(
    const Point* at, Py_ssize_t n, Unspaced scripts, str text, str prefix, Rule* rule, set out
):
    cdef:
        Py_ssize_t i = 0, start, before
        HashTable pieces = room_for(n, 2 * n + 2)
    try:
        while i < n:
            before = -1
            while i < n and scripts.of(at[i]) & LETTER:
                start = i
                i += 1
                while i < n and scripts.of(at[i]) & MARK:
                    i += 1
                add_new(&pieces, at, start, i, rule, text, prefix, out)
                if before >= 0:
                    add_new(&pieces, at, before, i, rule, text, prefix, out)
                before = start
            start = i
            while i < n and within(WORDLY, at[i]) and not scripts.of(at[i]) & LETTER:
                i += 1
            if i - start >= 2:
                add_new(&pieces, at, start, i, rule, text, prefix, out)
            elif i < n and i == start and not scripts.of(at[i]) & LETTER:
                i += 1
    finally:
        free(pieces.at)


cdef find_hosts(const Point* at, Py_ssize_t n, str text, str prefix, set out):
    cdef:
        uint64_t h
        Py_ssize_t i = 0, start, dots
        HashTable pieces = room_for(n, n // 2 + 2)
    try:
        while i < n:
            if not within(HOSTLY, at[i]):
                i += 1
                continue
            start, h, dots = i, HASH_OFFSET, 0
            while i < n and (within(HOSTLY, at[i]) or (
                at[i] == 46 and i + 1 < n and within(HOSTLY, at[i + 1])
            )):
                dots += at[i] == 46
                h = (h ^ at[i]) * HASH_PRIME
                i += 1
            if dots and is_new(&pieces, at, start, i - start, h):
                add_domains(at, start, i, text, prefix, out)
    finally:
        free(pieces.at)


cdef add_domains(
    const Point* at, Py_ssize_t start, Py_ssize_t stop, str text, str prefix, set out
):
    """A host and the domains above it, or an address and its networks."""
    cdef:
        Py_ssize_t i = stop - 1, last
        bint address = True
    while at[i] != 46:
        address = address and Py_UNICODE_ISDIGIT(at[i])
        i -= 1
    last = i
    add_piece(text, start, stop, prefix, out)
    if address:  # from the first name on; one number alone is no network
        for i in range(first_dot(at, start) + 1, last + 1):
            if at[i] == 46:
                add_piece(text, start, i, prefix, out)
    else:
        for i in range(start, last):
            if at[i] == 46:
                add_piece(text, i + 1, stop, prefix, out)


cdef inline Py_ssize_t first_dot(const Point* at, Py_ssize_t i) noexcept nogil:
    while at[i] != 46:
        i += 1
    return i


cdef inline add_piece(str text, Py_ssize_t start, Py_ssize_t stop, str prefix, set out):
    cdef str piece = PyUnicode_Substring(text, start, stop)
    out.add(prefix + piece if prefix else piece)


def words(str text, str prefix, Py_ssize_t longest, bint numbers, set out):
    """Add the runs of two or more letters, up to the longest; ``numbers`` also if digits begin."""
    PyUnicode_READY(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef int kind = PyUnicode_KIND(text)
    if kind == 1:
        find_words(<const uint8_t*>data, len(text), text, prefix, longest, numbers, out)
    elif kind == 2:
        find_words(<const uint16_t*>data, len(text), text, prefix, longest, numbers, out)
    else:
        find_words(<const uint32_t*>data, len(text), text, prefix, longest, numbers, out)


def any_words(str text, Unspaced scripts, str prefix, Py_ssize_t longest, bint numbers, set out):
    """As :func:`words`; of scripts without spaces characters with their marks, and pairs of them."""
    PyUnicode_READY(text)
    cdef:
        void* data = PyUnicode_DATA(text)
        int kind = PyUnicode_KIND(text)
        Rule rule = Rule(longest, numbers)
    if kind == 1:
        find_any(<const uint8_t*>data, len(text), scripts, text, prefix, &rule, out)
    elif kind == 2:
        find_any(<const uint16_t*>data, len(text), scripts, text, prefix, &rule, out)
    else:
        find_any(<const uint32_t*>data, len(text), scripts, text, prefix, &rule, out)


def hosts(str text, str prefix, set out):
    """Add names joined by dots, with the domains above each; addresses with their networks."""
    PyUnicode_READY(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef int kind = PyUnicode_KIND(text)
    if kind == 1:
        find_hosts(<const uint8_t*>data, len(text), text, prefix, out)
    elif kind == 2:
        find_hosts(<const uint16_t*>data, len(text), text, prefix, out)
    else:
        find_hosts(<const uint32_t*>data, len(text), text, prefix, out)
