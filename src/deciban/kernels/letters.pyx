"""The different words and hosts of one text, as Python's strings.

For programs that read one message and end: nothing here needs NumPy. A text is in lower
case already; what a letter is, is what Python says, as in its regular expressions. A
word is compared with those before it where it lies, and made a string once.
"""

from cpython.unicode cimport PyUnicode_Substring
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

cdef extern from "Python.h":
    int PyUnicode_READY(object text) except -1
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    bint Py_UNICODE_ISALNUM(uint32_t c) nogil
    bint Py_UNICODE_ISDIGIT(uint32_t c) nogil

ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t

cdef struct Slot:
    uint32_t hash
    int32_t start
    int32_t length

#: What ASCII is: a letter, a digit or the underscore, of words and of hosts.
cdef uint8_t[128] WORDLY
cdef uint8_t[128] HOSTLY
for _c in range(128):
    WORDLY[_c] = chr(_c).isalnum() or chr(_c) == "_"
    HOSTLY[_c] = WORDLY[_c] or chr(_c) == "-"


cdef inline bint within(const uint8_t* ascii, uint32_t c) noexcept nogil:
    return ascii[c] if c < 128 else Py_UNICODE_ISALNUM(c)


cdef inline bint is_new(
    Slot* slots, uint32_t mask, const Point* text, Py_ssize_t start, Py_ssize_t length, uint32_t h
) noexcept nogil:
    """Whether a piece of the text was not met before; it is remembered."""
    cdef uint32_t at = (h ^ (h >> 15)) & mask
    while slots[at].length:
        if slots[at].hash == h and slots[at].length == length and not memcmp(
            text + slots[at].start, text + start, length * sizeof(Point)
        ):
            return False
        at = (at + 1) & mask
    slots[at].hash, slots[at].start, slots[at].length = h, <int32_t>start, <int32_t>length
    return True


cdef Slot* room(Py_ssize_t n, uint32_t* mask) except NULL:
    """A table for more pieces than a text of this length can have."""
    cdef Slot* slots
    cdef uint32_t size = 16
    if n >= 1 << 30:
        raise OverflowError(f"a text of at most {1 << 30} characters is needed, got {n}.")
    while size < n // 2 + 2:
        size *= 2
    slots = <Slot*>calloc(size, sizeof(Slot))
    if slots == NULL:
        raise MemoryError
    mask[0] = size - 1
    return slots


cdef find_words(
    const Point* at, Py_ssize_t n, str text, str prefix, Py_ssize_t longest, bint numbers, set found
):
    cdef:
        uint32_t mask, h
        Py_ssize_t i = 0, start
        Slot* slots = room(n, &mask)
    try:
        while i < n:
            if not within(WORDLY, at[i]):
                i += 1
                continue
            start, h = i, 2166136261
            while i < n and within(WORDLY, at[i]):
                h = (h ^ at[i]) * 16777619
                i += 1
            if i - start < 2 or i - start > longest:
                continue
            if not numbers and Py_UNICODE_ISDIGIT(at[start]):
                continue
            if is_new(slots, mask, at, start, i - start, h):
                keep(text, start, i, prefix, found)
    finally:
        free(slots)


cdef find_hosts(const Point* at, Py_ssize_t n, str text, str prefix, set found):
    cdef:
        uint32_t mask, h
        Py_ssize_t i = 0, start, dots
        Slot* slots = room(n, &mask)
    try:
        while i < n:
            if not within(HOSTLY, at[i]):
                i += 1
                continue
            start, h, dots = i, 2166136261, 0
            while i < n and (within(HOSTLY, at[i]) or (
                at[i] == 46 and i + 1 < n and within(HOSTLY, at[i + 1])
            )):
                dots += at[i] == 46
                h = (h ^ at[i]) * 16777619
                i += 1
            if dots and is_new(slots, mask, at, start, i - start, h):
                above(at, start, i, text, prefix, found)
    finally:
        free(slots)


cdef above(
    const Point* at, Py_ssize_t start, Py_ssize_t stop, str text, str prefix, set found
):
    """A host and the domains above it, or an address and its networks."""
    cdef:
        Py_ssize_t i = stop - 1, last
        bint address = True
    while at[i] != 46:
        address = address and Py_UNICODE_ISDIGIT(at[i])
        i -= 1
    last = i
    keep(text, start, stop, prefix, found)
    if address:  # from the first name on; one number alone is no network
        for i in range(first_dot(at, start) + 1, last + 1):
            if at[i] == 46:
                keep(text, start, i, prefix, found)
    else:
        for i in range(start, last):
            if at[i] == 46:
                keep(text, i + 1, stop, prefix, found)


cdef inline Py_ssize_t first_dot(const Point* at, Py_ssize_t i) noexcept nogil:
    while at[i] != 46:
        i += 1
    return i


cdef inline keep(str text, Py_ssize_t start, Py_ssize_t stop, str prefix, set found):
    cdef str piece = PyUnicode_Substring(text, start, stop)
    found.add(prefix + piece if prefix else piece)


def words(str text, str prefix, Py_ssize_t longest, bint numbers, set found):
    """Add the runs of two or more letters, up to the longest; ``numbers`` also if digits begin."""
    PyUnicode_READY(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef int kind = PyUnicode_KIND(text)
    if kind == 1:
        find_words(<const uint8_t*>data, len(text), text, prefix, longest, numbers, found)
    elif kind == 2:
        find_words(<const uint16_t*>data, len(text), text, prefix, longest, numbers, found)
    else:
        find_words(<const uint32_t*>data, len(text), text, prefix, longest, numbers, found)


def hosts(str text, str prefix, set found):
    """Add names joined by dots, with the domains above each; addresses with their networks."""
    PyUnicode_READY(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef int kind = PyUnicode_KIND(text)
    if kind == 1:
        find_hosts(<const uint8_t*>data, len(text), text, prefix, found)
    elif kind == 2:
        find_hosts(<const uint16_t*>data, len(text), text, prefix, found)
    else:
        find_hosts(<const uint32_t*>data, len(text), text, prefix, found)
