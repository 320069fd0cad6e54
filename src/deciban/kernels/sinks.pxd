"""Where codes of tokens go; see the implementation."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "wide.h":
    void prefetch "DECIBAN_PREFETCH"(const void* address) noexcept nogil


cdef class Block:
    cdef:
        uint8_t* at
        Py_ssize_t size, room

    cdef bint fit(self, Py_ssize_t need) noexcept nogil


cdef class Sink:
    cdef bint take(self, Py_ssize_t row, const int32_t* codes, Py_ssize_t n,
                   Py_ssize_t n_codes) noexcept nogil
    cdef bint end(self, Py_ssize_t row) noexcept nogil
