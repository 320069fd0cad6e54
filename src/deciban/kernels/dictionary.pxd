"""The table of texts, for other kernels that look up as they read."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

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

cdef struct Slot:
    uint32_t tag
    uint32_t place      # code + 1; 0 is empty


cdef class Dictionary:
    cdef:
        Slot* slots
        uint64_t* hashes
        int64_t* starts
        uint8_t* texts
        uint64_t size_mask, seed
        Py_ssize_t n, room, text_room

    cdef add(self, bytes text)
    cdef codes(self, const int64_t[::1] offsets, const uint8_t[::1] data,
               const uint8_t[::1] gap, bint grow)
    cdef int64_t insert(self, const uint8_t* text, Py_ssize_t length, uint64_t h) noexcept nogil
    cdef bint reserve(self, Py_ssize_t length) noexcept nogil
    cdef bint rehash(self) noexcept nogil


cdef int check(const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t size) except -1


cdef inline uint64_t load(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    """Up to eight bytes as one number."""
    cdef uint64_t low = 0
    cdef uint32_t a, b
    if n >= 8:
        memcpy(&low, at, 8)
        return low
    if n >= 4:
        memcpy(&a, at, 4)
        memcpy(&b, at + n - 4, 4)
        return (<uint64_t>a << 32) | b
    if n > 0:
        return (<uint64_t>at[0] << 16) | (<uint64_t>at[n >> 1] << 8) | at[n - 1]
    return 0


cdef inline uint64_t hashed(const uint8_t* at, Py_ssize_t n, uint64_t seed) noexcept nogil:
    cdef uint64_t odd = 0x9E3779B97F4A7C15
    cdef uint64_t h = seed ^ <uint64_t>n
    cdef Py_ssize_t i = 0
    while n - i > 8:
        h = mix(h ^ load(at + i, 8), odd)
        i += 8
    return mix(h ^ load(at + i, n - i), odd ^ seed)


cdef inline int64_t found(Dictionary d, const uint8_t* text, Py_ssize_t length,
                          uint64_t h) noexcept nogil:
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
                    and memcmp(d.texts + start, text, length) == 0):
                return <int64_t>slot.place - 1
        at = (at + 1) & d.size_mask
    return UNKNOWN
