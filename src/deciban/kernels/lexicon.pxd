"""Tokens that were made last, by a hash of what is in them.

Most tokens of a message are in others as well: a string that is met again costs a look and no
making, and whoever keeps it by its identity finds it at once.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.set cimport PySet_Add
from cpython.unicode cimport PyUnicode_Substring

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    uint32_t PyUnicode_READ(int kind, void* data, Py_ssize_t i) nogil

# A hash of the Fowler-Noll-Vo kind (FNV-1a), 64 bits.
cdef extern from *:
    """
    #define DECIBAN_FNV_OFFSET 0xCBF29CE484222325ULL
    #define DECIBAN_FNV_PRIME 0x100000001B3ULL
    """
    const uint64_t FNV_OFFSET "DECIBAN_FNV_OFFSET"
    const uint64_t FNV_PRIME "DECIBAN_FNV_PRIME"

ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    SLOT_BITS = 17

cdef struct Slot:
    uint64_t key
    uint64_t round      # the last in which it was added
    PyObject* token     # owned, or NULL


cdef class Lexicon:
    cdef:
        Slot* slots
        uint64_t rounds

    cdef uint64_t begin(self) noexcept


cdef inline uint64_t hash_points(
    const Point* at, Py_ssize_t start, Py_ssize_t stop, uint64_t h
) noexcept nogil:
    """The hash that goes on from ``h``."""
    cdef Py_ssize_t i
    for i in range(start, stop):
        h = (h ^ at[i]) * FNV_PRIME
    return h


cdef inline bint is_token(
    PyObject* token, str prefix, const Point* at, Py_ssize_t n
) noexcept:
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


cdef inline int add_token(
    Lexicon lexicon, uint64_t round, const Point* at, Py_ssize_t start, Py_ssize_t stop, uint64_t h,
    str text, str prefix, set out
) except -1:
    """Add the token of a prefix and a piece of a text, whose hash is ``h``, unless this round did.
    """
    cdef:
        Slot* slot = &lexicon.slots[(h * <uint64_t>0x9E3779B97F4A7C15) >> (64 - SLOT_BITS)]
        str token
    if slot.token != NULL and slot.key == h and is_token(slot.token, prefix, at + start, stop - start):
        if slot.round == round:
            return 0
        slot.round = round
        return PySet_Add(out, <object>slot.token)
    token = PyUnicode_Substring(text, start, stop)
    if prefix:
        token = prefix + token
    PySet_Add(out, token)
    if stop - start <= 64:  # nobody can make us keep long ones
        Py_INCREF(token)
        Py_XDECREF(slot.token)
        slot.key, slot.round, slot.token = h, round, <PyObject*>token
    return 0
