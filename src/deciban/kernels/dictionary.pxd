"""The table of texts, for other kernels that look up as they read."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

cdef extern from *:
    """
    static inline uint64_t deciban_mix(uint64_t a, uint64_t b) {
      unsigned __int128 product = (unsigned __int128)a * b;
      return (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    """
    uint64_t mix "deciban_mix"(uint64_t a, uint64_t b) noexcept nogil

cdef enum:
    MISSING = -1
    UNKNOWN = -2
    NO_MEMORY = -3

# A table of its own instead of that of hashtable.pxd: vocabularies are large, and a slot of eight
# bytes, half of a cell there, is half as much memory to wait for.
cdef struct Slot:
    uint32_t tag        # the high half of the hash
    uint32_t place      # code + 1; 0 is empty


cdef class Dictionary:
    cdef:
        Slot* slots
        uint64_t* hashes
        int64_t* starts
        uint8_t* block
        uint64_t size_mask, seed
        Py_ssize_t n, room, text_room

    cdef add(self, bytes text)
    cdef codes(self, const int64_t[::1] offsets, const uint8_t[::1] data,
               const uint8_t[::1] gap, bint grow)
    cdef int64_t insert(self, const uint8_t* text, Py_ssize_t length, uint64_t h) noexcept nogil
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


cdef inline uint64_t first(uint64_t word, Py_ssize_t n) noexcept nogil:
    """The first ``n`` bytes of eight, the others 0; all from eight on, none up to 0."""
    if n >= 8:
        return word
    return word & ((<uint64_t>1 << (8 * n)) - 1) if n > 0 else 0


cdef inline uint64_t hash_of(const uint8_t* at, Py_ssize_t n, uint64_t seed,
                             bint slack) noexcept nogil:
    cdef uint64_t odd = 0x9E3779B97F4A7C15
    cdef uint64_t h = seed ^ (<uint64_t>n * odd)
    cdef uint8_t tail[16]
    while n > 16:
        h = mix(eight(at) ^ odd, eight(at + 8) ^ h)
        at += 16
        n -= 16
    if not slack:
        memset(tail, 0, 16)
        memcpy(tail, at, n)
        at = tail
    return mix(first(eight(at), n) ^ (seed * odd), first(eight(at + 8), n - 8) ^ h)


cdef inline bint equal(const uint8_t* stored, const uint8_t* text, Py_ssize_t n,
                       bint slack) noexcept nogil:
    """Whether ``n`` bytes are equal; those that are stored always have slack."""
    if n > 16 or not slack:
        return memcmp(stored, text, n) == 0
    return not (
        first(eight(stored) ^ eight(text), n) | first(eight(stored + 8) ^ eight(text + 8), n - 8)
    )


cdef inline int64_t code_of(Dictionary d, const uint8_t* text, Py_ssize_t length,
                            uint64_t h, bint slack) noexcept nogil:
    """The code of a text whose hash is ``h``, or UNKNOWN."""
    cdef:
        uint64_t at = h & d.size_mask
        uint32_t tag = <uint32_t>(h >> 32)
        Slot slot
        int64_t start
    while d.slots[at].place:
        slot = d.slots[at]
        if slot.tag == tag:
            start = d.starts[slot.place - 1]
            if (d.starts[slot.place] - start == length
                    and equal(d.block + start, text, length, slack)):
                return <int64_t>slot.place - 1
        at = (at + 1) & d.size_mask
    return UNKNOWN
