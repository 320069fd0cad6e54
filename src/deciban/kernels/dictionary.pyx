"""Texts to codes: a hash table of byte strings that grows from batch to batch.

Codes are given in the order in which texts are first seen: 0, 1, 2, ... Two
texts are the same when their bytes are. The table is open addressing with
linear probing, at most half full; a slot holds a short text itself, or the hash
of a longer one, and the code. All texts lie one after the other in one block.
"""

import os

import numpy as np

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

cdef extern from "large.h":
    void* zeros "deciban_zeros"(size_t size) noexcept nogil

# Drawn anew in every process, so that nobody can prepare texts that collide.
cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little") | 1


cdef class Dictionary:
    """Codes of texts, kept across batches. One thread at a time may use it.

    >>> import numpy as np
    >>> words = Dictionary(["spam"])
    >>> offsets, data = np.array([0, 3, 7, 7]), np.frombuffer(b"hamspam", np.uint8)
    >>> words.encode(offsets, data, np.array([False, False, True]))
    array([ 1,  0, -1])
    >>> words.labels()
    ['spam', 'ham']
    """

    def __cinit__(self, labels=()):
        self.n, self.room, self.text_room, self.size_mask = 0, 64, 1024, 127
        self.seed = SEED
        self.slots = <Slot*>zeros(128 * sizeof(Slot))
        self.starts = <int64_t*>malloc((self.room + 1) * sizeof(int64_t))
        self.block = <uint8_t*>malloc(self.text_room)
        if not self.slots or not self.starts or not self.block:
            raise MemoryError
        self.starts[0] = 0
        for label in labels:
            self.add(label.encode("utf-8", "surrogateescape"))

    def __dealloc__(self):
        free(self.slots)
        free(self.starts)
        free(self.block)

    def __len__(self):
        return self.n

    def __reduce__(self):
        return (Dictionary, (self.labels(),))

    cdef add(self, bytes text):
        cdef const uint8_t[::1] view = text if text else b"\0"
        cdef Key key = key_of(&view[0], len(text), self.seed, False)
        if (code_of(self, &view[0], len(text), &key) == UNKNOWN
                and self.insert(&view[0], len(text), &key) == NO_MEMORY):
            raise MemoryError

    def encode(self, const int64_t[::1] offsets, const uint8_t[::1] data, missing):
        """The code of each text, -1 where missing; new texts are added."""
        return self.codes(offsets, data, missing.view(np.uint8), True)

    def lookup(self, const int64_t[::1] offsets, const uint8_t[::1] data, missing):
        """The code of each text, -1 where missing, -2 where unknown; nothing is added."""
        return self.codes(offsets, data, missing.view(np.uint8), False)

    def labels(self, codes=None):
        """The texts of some codes; without any, all, in the order of their codes.

        Bytes that are not UTF-8 become surrogate escapes: different bytes stay
        different labels, and ``label.encode("utf-8", "surrogateescape")`` gives
        the bytes back.
        """
        cdef const int64_t[::1] which = np.arange(self.n) if codes is None else codes
        cdef Py_ssize_t i, n = which.shape[0]
        cdef int64_t start
        cdef list out = [None] * n
        for i in range(n):
            if not 0 <= which[i] < self.n:
                raise IndexError(f"code {which[i]} of {self.n}")
            start = self.starts[which[i]]
            out[i] = PyUnicode_DecodeUTF8(
                <char*>self.block + start, self.starts[which[i] + 1] - start, "surrogateescape")
        return out

    def texts(self):
        """The texts in the order of their codes, as offsets and bytes."""
        offsets = np.empty(self.n + 1, dtype=np.int64)
        data = np.empty(self.starts[self.n], dtype=np.uint8)
        cdef int64_t[::1] starts = offsets
        cdef uint8_t[::1] block = data
        memcpy(&starts[0], self.starts, (self.n + 1) * sizeof(int64_t))
        if data.size:
            memcpy(&block[0], self.block, data.size)
        return offsets, data

    cdef codes(self, const int64_t[::1] offsets, const uint8_t[::1] data,
               const uint8_t[::1] gap, bint grow):
        cdef:
            Py_ssize_t n = gap.shape[0], i
            int64_t[::1] out = np.empty(n, dtype=np.int64)
            const uint8_t* texts = &data[0] if data.shape[0] else self.block
            int64_t start, length, code
            Key key
            Py_ssize_t size = data.shape[0]
        check_offsets(offsets, n, data.shape[0])
        with nogil:
            for i in range(n):
                if gap[i]:
                    out[i] = MISSING
                    continue
                start, length = offsets[i], offsets[i + 1] - offsets[i]
                key = key_of(texts + start, length, self.seed, start + length + SLACK <= size)
                code = code_of(self, texts + start, length, &key)
                if code == UNKNOWN and grow:
                    code = self.insert(texts + start, length, &key)
                    if code == NO_MEMORY:
                        break
                out[i] = code
            else:
                i = n
        if i < n:
            raise MemoryError
        return np.asarray(out)

    cdef int64_t insert(self, const uint8_t* text, Py_ssize_t length,
                        const Key* key) noexcept nogil:
        """The code of a text that is known to be new."""
        if not self.reserve(length):
            return NO_MEMORY
        memcpy(self.block + self.starts[self.n], text, length)
        self.starts[self.n + 1] = self.starts[self.n] + length
        self.n += 1
        put(self.slots, self.size_mask, key, self.n)
        return self.n - 1

    cdef bint reserve(self, Py_ssize_t length) noexcept nogil:
        """Room for one more text; False where there is no memory."""
        cdef Py_ssize_t need = self.starts[self.n] + length + SLACK
        cdef void* block
        if need > self.text_room:
            block = realloc(self.block, 2 * need)
            if block == NULL:
                return False
            self.block, self.text_room = <uint8_t*>block, 2 * need
        if self.n < self.room:
            return True
        if self.n >= 0x7FFFFFFE:
            return False
        block = realloc(self.starts, (2 * self.room + 1) * sizeof(int64_t))
        if block == NULL:
            return False
        self.starts = <int64_t*>block
        return self.rehash()

    cdef bint rehash(self) noexcept nogil:
        """Twice as many slots, and room for half as many texts."""
        cdef:
            uint64_t mask = 2 * self.size_mask + 1
            Slot* slots = <Slot*>zeros((mask + 1) * sizeof(Slot))
            Py_ssize_t i
            Key key
        if slots == NULL:
            return False
        for i in range(self.n):     # in their order: frequent ones come first, and find their place
            key = key_of(self.block + self.starts[i], self.starts[i + 1] - self.starts[i],
                         self.seed, True)
            put(slots, mask, &key, i + 1)
        free(self.slots)
        self.slots, self.size_mask, self.room = slots, mask, 2 * self.room
        return True


cdef inline void put(Slot* slots, uint64_t mask, const Key* key, Py_ssize_t place) noexcept nogil:
    """Fill the first empty slot from where a key belongs."""
    cdef uint64_t at = key.hash & mask
    while slots[at].place:
        at = (at + 1) & mask
    slots[at] = Slot(key.head, key.tail, <uint32_t>place)


cdef int check_offsets(const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t size) except -1:
    """Refuse offsets that do not cut ``size`` bytes into ``n`` texts."""
    cdef Py_ssize_t i
    cdef int64_t last = 0
    if offsets.shape[0] != n + 1:
        raise ValueError("one more offset than rows is needed")
    with nogil:
        for i in range(n + 1):
            if offsets[i] < last:
                break
            last = offsets[i]
        else:
            i = n + 2
    if i < n + 2 or last > size:
        raise ValueError("offsets must rise and stay within the data")
    return 0
