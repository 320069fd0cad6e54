"""Texts in the order of their bytes, which in UTF-8 is that of their characters.

Eight bytes at a time, as one number: texts are sorted by the first eight, those that tie by the
next eight, and so on. Many are sorted digit by digit: time is linear in their number.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cdef enum:
    MAX_DEPTH = 64          # bytes that are looked at
    MAX_INSERTED = 24       # texts that are sorted by insertion

cdef struct Entry:
    uint64_t key            # the eight bytes from some depth on
    int64_t at              # the place of the text among those that were given


cdef struct Texts:
    const int64_t* starts
    const int64_t* ends
    const uint8_t* data


cdef inline uint64_t key_of(const Texts* texts, int64_t at, Py_ssize_t depth) noexcept nogil:
    """Eight bytes of a text, the first of them the highest; zeros where it has ended."""
    cdef int64_t start = texts.starts[at] + depth, size = texts.ends[at] - start, i
    cdef uint64_t key = 0
    for i in range(min(size, 8)):
        key |= <uint64_t>texts.data[start + i] << (8 * (7 - i))
    return key


cdef void insert_by_key(Entry* entries, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Entry entry
    for i in range(1, n):
        entry, j = entries[i], i
        while j and entries[j - 1].key > entry.key:
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = entry


cdef void sort_by_key(Entry* entries, Entry* scratch, Py_ssize_t n) noexcept nogil:
    """By the lowest byte first, each time without changing the order of equal ones."""
    cdef:
        Py_ssize_t places[256]
        Py_ssize_t i, total, here
        int digit, byte
        Entry* of = entries
        Entry* to = scratch
    for digit in range(8):
        for byte in range(256):
            places[byte] = 0
        for i in range(n):
            places[(of[i].key >> (8 * digit)) & 255] += 1
        if places[(of[0].key >> (8 * digit)) & 255] == n:
            continue
        total = 0
        for byte in range(256):
            here = places[byte]
            places[byte] = total
            total += here
        for i in range(n):
            byte = (of[i].key >> (8 * digit)) & 255
            to[places[byte]] = of[i]
            places[byte] += 1
        of, to = to, of
    if of != entries:
        memcpy(entries, of, n * sizeof(Entry))


cdef void sort_texts(const Texts* texts, Entry* entries, Entry* scratch, uint8_t* ties,
                     Py_ssize_t n, Py_ssize_t depth) noexcept nogil:
    """Sort texts that are alike up to some depth; ``ties`` are like the one before at the end."""
    cdef Py_ssize_t i, start = 0
    for i in range(n):
        entries[i].key = key_of(texts, entries[i].at, depth)
    if n <= MAX_INSERTED:
        insert_by_key(entries, n)
    else:
        sort_by_key(entries, scratch, n)
    for i in range(1, n + 1):
        if i < n and entries[i].key == entries[start].key:
            ties[i] = 1
            continue
        if i - start > 1 and depth + 8 < MAX_DEPTH:
            ties[start + 1] = 0
            sort_tied(texts, entries + start, scratch, ties + start, i - start, depth + 8)
        start = i


cdef void sort_tied(const Texts* texts, Entry* entries, Entry* scratch, uint8_t* ties,
                    Py_ssize_t n, Py_ssize_t depth) noexcept nogil:
    """Sort on, unless all texts have ended: then they tie."""
    cdef Py_ssize_t i
    cdef bint ended = True
    for i in range(n):
        ended = ended and texts.ends[entries[i].at] - texts.starts[entries[i].at] <= depth
    for i in range(1, n):
        ties[i] = ended
    if not ended:
        sort_texts(texts, entries, scratch, ties, n, depth)


def order(const int64_t[::1] starts, const int64_t[::1] ends, const uint8_t[::1] data):
    """Places of texts in order, and which of them cannot be told from the one before.

    These are alike in their first 64 bytes, or but for zeros at their ends.

    >>> order(np.array([0, 4]), np.array([4, 7]), np.frombuffer(b"spamham", np.uint8))
    (array([1, 0]), array([False, False]))
    """
    cdef:
        Py_ssize_t n = starts.shape[0], i
        int64_t[::1] out = np.empty(n, dtype=np.int64)
        uint8_t[::1] ties = np.zeros(n, dtype=np.uint8)
        Texts texts
        Entry* entries
    if ends.shape[0] != n:
        raise ValueError("every text has a start and an end")
    for i in range(n):
        if not 0 <= starts[i] <= ends[i] <= data.shape[0]:
            raise ValueError("texts must lie within the data")
    if not n:
        return np.asarray(out), np.asarray(ties).view(np.bool_)
    texts.starts, texts.ends = &starts[0], &ends[0]
    texts.data = &data[0] if data.shape[0] else NULL
    entries = <Entry*>malloc(2 * n * sizeof(Entry))
    if entries == NULL:
        raise MemoryError
    with nogil:
        for i in range(n):
            entries[i].at = i
        sort_texts(&texts, entries, entries + n, &ties[0], n, 0)
        for i in range(n):
            out[i] = entries[i].at
        free(entries)
    return np.asarray(out), np.asarray(ties).view(np.bool_)
