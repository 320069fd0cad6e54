"""Python's texts as one block of UTF-8.

Written straight into place: asking each text for its UTF-8 would make it keep
a second copy of itself.
"""

import numpy as np

from deciban.kernels.utf8 cimport encode

from cpython.float cimport PyFloat_Check
from cpython.unicode cimport PyUnicode_Check, PyUnicode_CheckExact
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    int PyUnicode_READY(object text) except -1
    bint PyUnicode_IS_ASCII(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t


cdef Py_ssize_t encoded_size(const Point* at, Py_ssize_t n) noexcept nogil:
    """How many bytes the characters are in UTF-8."""
    cdef Py_ssize_t i, total = n
    for i in range(n):
        total += at[i] >= 0x80
        if Point is not uint8_t:
            total += at[i] >= 0x800
        if Point is uint32_t:
            total += at[i] >= 0x10000
    return total


cdef void write(const Point* at, Py_ssize_t n, uint8_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out = encode(at[i], out)


cdef Py_ssize_t utf8_size(object text) except -1:
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    if PyUnicode_IS_ASCII(text):
        return n
    if PyUnicode_KIND(text) == 1:
        return encoded_size(<uint8_t*>PyUnicode_DATA(text), n)
    if PyUnicode_KIND(text) == 2:
        return encoded_size(<uint16_t*>PyUnicode_DATA(text), n)
    return encoded_size(<uint32_t*>PyUnicode_DATA(text), n)


cdef int put(object text, uint8_t* out) except -1:
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    if PyUnicode_IS_ASCII(text):
        memcpy(out, PyUnicode_DATA(text), n)
    elif PyUnicode_KIND(text) == 1:
        write(<uint8_t*>PyUnicode_DATA(text), n, out)
    elif PyUnicode_KIND(text) == 2:
        write(<uint16_t*>PyUnicode_DATA(text), n, out)
    else:
        write(<uint32_t*>PyUnicode_DATA(text), n, out)
    return 0


cdef bint has_surrogate(const Point* at, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if Point is not uint8_t and 0xD800 <= at[i] < 0xE000:
            return True
    return False


def has_surrogates(list texts):
    """Whether a text has a lone surrogate, which is no character.

    >>> has_surrogates(["né", None]), has_surrogates(["\\udc80"])
    (False, True)
    """
    cdef Py_ssize_t i
    cdef bint some = False
    for i in range(len(texts)):
        text = texts[i]
        if text is None or PyUnicode_KIND(text) == 1:
            continue
        if PyUnicode_KIND(text) == 2:
            some = has_surrogate(<uint16_t*>PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text))
        else:
            some = has_surrogate(<uint32_t*>PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text))
        if some:
            return True
    return False


def utf8(list texts):
    """Offsets, bytes and gaps of texts; None is a gap, anything else a TypeError.

    >>> offsets, data, missing = utf8(["né", None])
    >>> offsets, data.tobytes().decode(), missing
    (array([0, 3, 3]), 'né', array([False,  True]))
    """
    cdef:
        Py_ssize_t n = len(texts), i
        int64_t total = 0
        int64_t[::1] offsets = np.zeros(n + 1, dtype=np.int64)
        uint8_t[::1] missing = np.zeros(n, dtype=np.uint8)
        uint8_t[::1] data
    texts = list(texts)         # nobody else can change this one
    for i in range(n):
        text = texts[i]
        if text is None:
            missing[i] = 1
        elif PyUnicode_Check(text):
            PyUnicode_READY(text)
            total += utf8_size(text)
        else:
            raise TypeError(f"row {i} is not text, got {text!r}")
        offsets[i + 1] = total
    data = np.empty(max(total, 1), dtype=np.uint8)
    for i in range(n):
        if not missing[i]:
            put(texts[i], &data[0] + offsets[i])
    return np.asarray(offsets), np.asarray(data)[:total], np.asarray(missing).view(np.bool_)


def utf8_or_nothing(list values):
    """As :func:`utf8`, of values that are texts or missing; None if there is another value.

    What differs from itself is missing, as NaN is. None is also given for a text with a lone
    surrogate, and where no value is a text.

    >>> utf8_or_nothing(["né", None, float("nan")])[2], utf8_or_nothing(["né", 1])
    (array([False,  True,  True]), None)
    """
    cdef:
        Py_ssize_t n = len(values), i
        int64_t total = 0
        int64_t[::1] offsets
        uint8_t[::1] missing, data
        bint some = False
    if n == 0 or not (PyUnicode_Check(values[0]) or PyFloat_Check(values[0]) or values[0] is None):
        return None
    offsets, missing = np.zeros(n + 1, dtype=np.int64), np.zeros(n, dtype=np.uint8)
    values = list(values)       # nobody else can change this one
    for i in range(n):
        value = values[i]
        if PyUnicode_CheckExact(value):
            PyUnicode_READY(value)
            total += utf8_size(value)
            some = True
        elif value is None or (PyFloat_Check(value) and value != value):
            missing[i] = 1
        else:
            return None
        offsets[i + 1] = total
    if not some or has_surrogates([v for v in values if PyUnicode_CheckExact(v)]):
        return None
    data = np.empty(max(total, 1), dtype=np.uint8)
    for i in range(n):
        if not missing[i]:
            put(values[i], &data[0] + offsets[i])
    return np.asarray(offsets), np.asarray(data)[:total], np.asarray(missing).view(np.bool_)


def are_texts(list texts):
    """Whether all are texts, or None.

    >>> are_texts(["spam", None]), are_texts(["spam", 1])
    (True, False)
    """
    cdef Py_ssize_t i
    for i in range(len(texts)):
        if not (texts[i] is None or PyUnicode_Check(texts[i])):
            return False
    return True


def batch_end(list texts, Py_ssize_t start, Py_ssize_t max_texts, Py_ssize_t size):
    """Where the texts from ``start`` on have ``size`` characters, or are ``max_texts``.

    >>> batch_end(["spam", "ham", None, "eggs"], 1, 3, 5), batch_end(["spam"] * 9, 0, 3, 100)
    (4, 3)
    """
    cdef Py_ssize_t i, stop = min(start + max_texts, len(texts))
    for i in range(start, stop):
        text = texts[i]
        if PyUnicode_Check(text):
            PyUnicode_READY(text)
            size -= PyUnicode_GET_LENGTH(text)
        if size <= 0:
            return i + 1
    return stop


def take(const int64_t[::1] offsets, const uint8_t[::1] data, const Py_ssize_t[::1] rows):
    """Offsets and bytes of some rows, one after the other.

    >>> offsets, data, _ = utf8(["spam", "ham", "eggs"])
    >>> offsets, data = take(offsets, data, np.array([2, 0]))
    >>> offsets, data.tobytes()
    (array([0, 4, 8]), b'eggsspam')
    """
    cdef:
        Py_ssize_t n = rows.shape[0], n_rows = offsets.shape[0] - 1, i
        int64_t total = 0
        int64_t[::1] out_offsets = np.zeros(n + 1, dtype=np.int64)
        uint8_t[::1] out
    for i in range(n):
        if not 0 <= rows[i] < n_rows:
            raise IndexError(f"row {rows[i]} of {n_rows}")
        if not 0 <= offsets[rows[i]] <= offsets[rows[i] + 1] <= data.shape[0]:
            raise ValueError("offsets must rise and stay within the data")
        total += offsets[rows[i] + 1] - offsets[rows[i]]
        out_offsets[i + 1] = total
    out = np.empty(max(total, 1), dtype=np.uint8)
    if total:
        with nogil:
            for i in range(n):
                memcpy(&out[0] + out_offsets[i], &data[0] + offsets[rows[i]],
                       offsets[rows[i] + 1] - offsets[rows[i]])
    return np.asarray(out_offsets), np.asarray(out)[:total]
