"""Rows in the binary format of PostgreSQL's COPY, as columns.

A row is the number of its fields in 16 bits, and for every field its length in 32 bits, -1 where
it is missing, and its bytes; numbers have their highest byte first. The last row has -1 fields.
"""

import numpy as np

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef inline int16_t read16(const uint8_t* at) noexcept nogil:
    return <int16_t>(<uint16_t>at[0] << 8 | at[1])


cdef inline int32_t read32(const uint8_t* at) noexcept nogil:
    return <int32_t>(
        <uint32_t>at[0] << 24 | <uint32_t>at[1] << 16 | <uint32_t>at[2] << 8 | at[3]
    )


cdef inline int64_t read64(const uint8_t* at) noexcept nogil:
    return <int64_t>(<uint64_t><uint32_t>read32(at) << 32 | <uint32_t>read32(at + 4))


def fields(const uint8_t[::1] data, Py_ssize_t n_rows, Py_ssize_t n_columns):
    """Where the fields of so many rows are, (columns, rows), and their lengths, -1 where missing.

    None where the bytes are not so many rows of so many fields.
    """
    cdef int64_t[:, ::1] start = np.empty((n_columns, n_rows), dtype=np.int64)
    cdef int32_t[:, ::1] length = np.empty((n_columns, n_rows), dtype=np.int32)
    cdef Py_ssize_t size = data.shape[0], i, j, at = 0
    cdef int32_t n
    cdef bint whole = True
    cdef const uint8_t* bytes_ = &data[0] if size else NULL
    with nogil:
        for i in range(n_rows):
            if at + 2 > size or read16(bytes_ + at) != n_columns:
                whole = False
                break
            at += 2
            for j in range(n_columns):
                if at + 4 > size:
                    whole = False
                    break
                n = read32(bytes_ + at)
                at += 4
                start[j, i], length[j, i] = at, n
                if n > 0:
                    at += n
            if not whole or at > size:
                whole = False
                break
    if not whole or at != size:
        return None
    return np.asarray(start), np.asarray(length)


def integers(const uint8_t[::1] data, const int64_t[::1] start, const int32_t[::1] length):
    """Whole numbers of one, two, four or eight bytes; 0 where missing."""
    cdef Py_ssize_t i
    cdef int64_t[::1] out = np.zeros(start.shape[0], dtype=np.int64)
    with nogil:
        for i in range(start.shape[0]):
            if length[i] == 8:
                out[i] = read64(&data[start[i]])
            elif length[i] == 4:
                out[i] = read32(&data[start[i]])
            elif length[i] == 2:
                out[i] = read16(&data[start[i]])
            elif length[i] == 1:
                out[i] = data[start[i]]
    return np.asarray(out)


def floats(const uint8_t[::1] data, const int64_t[::1] start, const int32_t[::1] length):
    """Floats of eight or four bytes; NaN where missing."""
    cdef Py_ssize_t i
    cdef double[::1] out = np.full(start.shape[0], np.nan)
    cdef int64_t wide
    cdef int32_t narrow
    cdef float single
    with nogil:
        for i in range(start.shape[0]):
            if length[i] == 8:
                wide = read64(&data[start[i]])
                memcpy(&out[i], &wide, 8)
            elif length[i] == 4:
                narrow = read32(&data[start[i]])
                memcpy(&single, &narrow, 4)
                out[i] = single
    return np.asarray(out)


def texts(const uint8_t[::1] data, const int64_t[::1] start, const int32_t[::1] length):
    """Texts one after the other: where each starts, and all bytes."""
    cdef Py_ssize_t i, n = start.shape[0]
    cdef int64_t[::1] offsets = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        offsets[i + 1] = offsets[i] + (length[i] if length[i] > 0 else 0)
    cdef uint8_t[::1] out = np.empty(offsets[n], dtype=np.uint8)
    with nogil:
        for i in range(n):
            if length[i] > 0:
                memcpy(&out[offsets[i]], &data[start[i]], length[i])
    return np.asarray(offsets), np.asarray(out)
