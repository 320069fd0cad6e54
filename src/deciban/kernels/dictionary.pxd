"""The table of texts, for other kernels that look up as they read."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

cdef extern from *:
    """
    static inline uint64_t deciban_mix(uint64_t a, uint64_t b) {
      unsigned __int128 product = (unsigned __int128)a * b;
      return (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    /* Eight bytes from 16 - n and 24 - n on leave n bytes of sixteen. */
    static const uint8_t deciban_masks[32] = {
      255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    };
    """
    uint64_t mix "deciban_mix"(uint64_t a, uint64_t b) noexcept nogil
    const uint8_t* MASKS "deciban_masks"

cdef enum:
    MISSING = -1
    UNKNOWN = -2
    NO_MEMORY = -3

cdef enum:
    SHORT_BYTES = 11    # what a text may have, so that head and tail hold it and its length
    LONG_TAIL = 0xFF000000

# What a text is looked for by. Short texts with one head and tail are the same, and no text has to
# be fetched to compare them.
cdef struct Key:
    uint64_t hash
    uint64_t head       # the first eight bytes of a short text; the hash of another
    uint32_t tail       # the other bytes and, above them, its length + 1; LONG_TAIL and the length

# A table of its own instead of that of hashtable.pxd: what a text is found by is in its slot.
cdef struct Slot:
    uint64_t head
    uint32_t tail       # never 0, but where the slot is empty
    uint32_t place      # code + 1; 0 is empty


cdef class Dictionary:
    cdef:
        Slot* slots
        int64_t* starts
        uint8_t* block
        uint64_t size_mask, seed
        Py_ssize_t n, room, text_room

    cdef add(self, bytes text)
    cdef codes(self, const int64_t[::1] offsets, const uint8_t[::1] data,
               const uint8_t[::1] gap, bint grow)
    cdef int64_t insert(self, const uint8_t* text, Py_ssize_t length,
                        const Key* key) noexcept nogil
    cdef bint reserve(self, Py_ssize_t length) noexcept nogil
    cdef bint rehash(self) noexcept nogil


cdef int check_offsets(const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t size) except -1


# Where a text has SLACK bytes after it that may be read, short ones are hashed
# and compared without a branch on their length.
cdef enum:
    SLACK = 16


cdef inline uint64_t eight(const uint8_t* at) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, at, 8)
    return word


cdef inline uint64_t hash_of(const uint8_t* at, Py_ssize_t n, uint64_t seed,
                             bint slack) noexcept nogil:
    """The hash of a text, the same wherever the seed is."""
    cdef uint64_t odd = 0x9E3779B97F4A7C15
    cdef uint64_t h = seed ^ (<uint64_t>n * odd)
    cdef uint8_t tail[SLACK]
    while n > 16:
        h = mix(eight(at) ^ odd, eight(at + 8) ^ h)
        at += 16
        n -= 16
    if not slack:
        memset(tail, 0, 16)
        memcpy(tail, at, n)
        at = tail
    return mix((eight(at) & eight(&MASKS[16 - n])) ^ (seed * odd),
               (eight(at + 8) & eight(&MASKS[24 - n])) ^ h)


cdef inline Key short_key(const uint8_t* at, Py_ssize_t n, uint64_t seed) noexcept nogil:
    """The key of a short text with slack."""
    cdef Key key
    key.head = eight(at) & eight(&MASKS[16 - n])
    key.tail = <uint32_t>(eight(at + 8) & eight(&MASKS[24 - n])) | <uint32_t>(n + 1) << 24
    key.hash = mix(key.head ^ seed, key.tail ^ (seed * <uint64_t>0x9E3779B97F4A7C15))
    return key


cdef inline Key long_key(const uint8_t* at, Py_ssize_t n, uint64_t seed, bint slack) noexcept nogil:
    """The key of a longer text."""
    cdef uint64_t h = hash_of(at, n, seed, slack)
    return Key(h, h, LONG_TAIL | <uint32_t>(n & 0xFFFFFF))


cdef inline Key key_of(const uint8_t* at, Py_ssize_t n, uint64_t seed, bint slack) noexcept nogil:
    """The key of a text."""
    cdef uint8_t copy[SLACK]
    if n > SHORT_BYTES:
        return long_key(at, n, seed, slack)
    if not slack:
        memset(copy, 0, SLACK)
        memcpy(copy, at, n)
        at = copy
    return short_key(at, n, seed)


cdef inline bint is_text(Dictionary d, Py_ssize_t code, const uint8_t* text,
                         Py_ssize_t n) noexcept nogil:
    """Whether a code is that of a text."""
    cdef int64_t start = d.starts[code]
    return d.starts[code + 1] - start == n and memcmp(d.block + start, text, n) == 0


cdef inline int64_t code_of(Dictionary d, const uint8_t* text, Py_ssize_t n,
                            const Key* key) noexcept nogil:
    """The code of a text with a key, or UNKNOWN."""
    cdef uint64_t at = key.hash & d.size_mask
    cdef const Slot* slot
    while True:
        slot = &d.slots[at]
        if slot.head == key.head and slot.tail == key.tail:
            if n <= SHORT_BYTES or is_text(d, slot.place - 1, text, n):
                return <int64_t>slot.place - 1
        elif not slot.place:
            return UNKNOWN
        at = (at + 1) & d.size_mask
