"""Tokens by number: a message is the numbers of its tokens, and what is known of a token is by it.

Most tokens of a message are in others as well: one that is met again costs a look and no making,
and whatever is counted of it stands beside it.
"""

from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_Substring

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    uint32_t PyUnicode_READ(int kind, void* data, Py_ssize_t i) nogil

# A hash of the Fowler-Noll-Vo kind (FNV-1a), 64 bits.
cdef extern from *:
    """
    #define DECIBAN_FNV_PRIME 0x100000001B3ULL
    """
    const uint64_t FNV_PRIME "DECIBAN_FNV_PRIME"

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define deciban_prefetch(place) __builtin_prefetch(place)
    #else
    #define deciban_prefetch(place) ((void)(place))
    #endif
    """
    void prefetch "deciban_prefetch" (const void* place) noexcept nogil

ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t

cdef struct Entry:
    PyObject* text      # owned by the list of all texts
    int64_t count       # messages of ham, and 2 ** 32 times those of spam
    uint32_t section    # 0 without a prefix; else the number of its prefix from 1, of others one more

cdef struct Slot:
    uint64_t key
    int32_t number      # of the entry, from 1; 0 is empty
    uint32_t round      # the message that had it last


cdef class Lexicon:
    cdef:
        readonly list texts
        readonly tuple prefixes
        readonly Py_ssize_t characters
        readonly Py_ssize_t forgotten
        Entry* entries
        Slot* slots
        int slot_bits
        uint32_t rounds
        uint64_t start          # of hashes, and an odd number that spreads keys: nobody can know
        uint64_t multiplier     # which tokens fall into one place

    cdef Slot* append(self, str token, uint64_t key) except NULL
    cdef Slot* slot_of(self, str token) except NULL
    cdef Slot* free_slot(self, uint64_t key) noexcept
    cdef int grow(self) except -1


cdef class Tokens:
    cdef:
        readonly Lexicon lexicon
        int32_t* numbers
        Py_ssize_t n
        Py_ssize_t capacity
        uint32_t round

    cdef int begin(self) except -1
    cdef int append(self, Slot* slot) except -1
    cdef int reserve(self, Py_ssize_t capacity) except -1


cdef inline uint64_t hash_points(
    const Point* at, Py_ssize_t start, Py_ssize_t stop, uint64_t h
) noexcept nogil:
    """The hash that goes on from ``h``."""
    cdef Py_ssize_t i
    for i in range(start, stop):
        h = (h ^ at[i]) * FNV_PRIME
    return h


cdef enum:
    MAX_NARROW = 7      # characters of one byte, or of two, of which a key is made
    MAX_WIDE = 3
    HASH_BITS = 56


cdef inline uint64_t short_key(const Point* at, Py_ssize_t n) noexcept nogil:
    """The characters of a token as a number, if they fit and are no prefix; else 0."""
    cdef:
        uint64_t key = 0
        uint32_t seen = 0
        Py_ssize_t i
    if n > MAX_NARROW:
        return 0
    for i in range(n):
        if at[i] == 58:
            return 0
        seen |= at[i]
        key = key << 8 | <uint8_t>at[i]
    if seen < 0x100:
        return key | <uint64_t>(n + 1) << HASH_BITS
    if n > MAX_WIDE or seen >= 0x10000:
        return 0
    key = 0
    for i in range(n):
        key = key << 16 | at[i]
    return key | <uint64_t>(n + 0x80) << HASH_BITS


cdef inline uint64_t long_key(uint64_t h) noexcept nogil:
    """A hash as what a token is looked for by."""
    return h >> (64 - HASH_BITS)


cdef inline uint64_t key_of(const Point* at, Py_ssize_t n, uint64_t start) noexcept nogil:
    """What a token is looked for by: its characters if they fit and are no prefix, else a hash.

    The eight highest bits are zero if it is a hash, and only then tokens are compared.
    """
    cdef uint64_t key = short_key(at, n)
    return key if key else long_key(hash_points(at, 0, n, start))


cdef inline bint is_token(PyObject* token, str prefix, const Point* at, Py_ssize_t n) noexcept:
    """Whether a token is a prefix, which is ASCII, and these characters."""
    cdef:
        Py_ssize_t before = len(prefix), i
        int kind = PyUnicode_KIND(<object>token)
        uint8_t* data = <uint8_t*>PyUnicode_DATA(<object>token)
        uint8_t* begin = <uint8_t*>PyUnicode_DATA(prefix)
    if len(<str>token) != before + n:
        return False
    if kind == 1 and memcmp(data, begin, before):
        return False
    if kind != 1:
        for i in range(before):
            if PyUnicode_READ(kind, data, i) != begin[i]:
                return False
    if kind == sizeof(Point):
        return not memcmp(data + before * sizeof(Point), at, n * sizeof(Point))
    for i in range(n):
        if PyUnicode_READ(kind, data, before + i) != at[i]:
            return False
    return True


cdef inline Slot* find_token(
    Lexicon lexicon, str prefix, const Point* at, Py_ssize_t n, uint64_t key
) noexcept:
    """The slot of the token of a prefix and some characters; NULL if it is new."""
    cdef:
        Py_ssize_t mask = (<Py_ssize_t>1 << lexicon.slot_bits) - 1
        Py_ssize_t place = key * lexicon.multiplier >> (64 - lexicon.slot_bits)
        Slot* slot
    while True:
        slot = &lexicon.slots[place]
        if not slot.number:
            return NULL
        if slot.key == key and (
            key >> HASH_BITS or is_token(lexicon.entries[slot.number - 1].text, prefix, at, n)
        ):
            return slot
        place = (place + 1) & mask


cdef inline void fetch_slot(Lexicon lexicon, uint64_t key) noexcept:
    """Have the place read where a key is looked for first: its slot is needed soon."""
    prefetch(&lexicon.slots[key * lexicon.multiplier >> (64 - lexicon.slot_bits)])


cdef inline int add_token(
    Tokens out, const Point* at, Py_ssize_t start, Py_ssize_t stop, uint64_t key, str text, str prefix
) except -1:
    """Add the token of a prefix and a piece of a text, which is looked for by ``key``.

    A prefix is empty, or of ASCII with a colon.
    """
    cdef:
        Slot* slot = find_token(out.lexicon, prefix, at + start, stop - start, key)
        str token
    if slot == NULL:
        token = PyUnicode_Substring(text, start, stop)
        slot = out.lexicon.append(prefix + token if prefix else token, key)
    return 0 if slot.round == out.round else out.append(slot)
