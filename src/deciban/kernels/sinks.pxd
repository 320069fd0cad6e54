"""Where codes of tokens go; see the implementation."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define deciban_prefetch(at) __builtin_prefetch(at)
    #else
    #define deciban_prefetch(at) ((void)(at))
    #endif
    """
    void prefetch "deciban_prefetch"(const void* at) noexcept nogil


cdef class Block:
    cdef:
        uint8_t* at
        Py_ssize_t size, room

    cdef bint fit(self, Py_ssize_t need) noexcept nogil


cdef class Sink:
    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil
    cdef bint end(self, Py_ssize_t row) noexcept nogil
