"""How often strings occur, where there are too many of them for the caches.

A dictionary waits for memory three times a string: for the slot, for the entry, for the text. Here
the strings of a block are asked for at once, and compared when they have arrived. No NumPy.
"""

from array import array

from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject, PyObject_Hash
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

cdef extern from "wide.h":
    void prefetch "DECIBAN_PREFETCH"(const void* address) noexcept nogil

cdef extern from "Python.h":
    int PyUnicode_Compare(PyObject* a, PyObject* b)

cdef enum:
    BLOCK = 64
    HEADER = 48   # of a string of ASCII; its characters follow

# A table of its own instead of that of hashtable.pxd: keys are Python's strings, which have their
# hashes already and are compared under the lock.
cdef struct Entry:
    PyObject* text   # owned by the list of all texts
    int64_t hash
    int64_t count


cdef class Frequencies:
    """Strings, in the order in which they came, and a number for each."""

    cdef readonly list texts
    cdef Entry* entries
    cdef Py_ssize_t size
    cdef Py_ssize_t[BLOCK] at
    cdef int64_t[BLOCK] hashes

    def __cinit__(self):
        self.texts = []
        self.size = 1024
        self.entries = <Entry*>calloc(self.size, sizeof(Entry))
        if self.entries == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.entries)

    def __len__(self):
        return len(self.texts)

    def add(self, list texts, int64_t count):
        """Add one number to each of these."""
        cdef Py_ssize_t start, stop, i
        for start in range(0, len(texts), BLOCK):
            stop = min(start + BLOCK, len(texts))
            self.find(texts, start, stop)
            for i in range(stop - start):
                self.entries[self.at[i]].count += count

    def merge(self, list texts, const int64_t[::1] counts):
        """Add a number of its own to each of these."""
        cdef Py_ssize_t start, stop, i
        if len(texts) != counts.shape[0]:
            raise ValueError(f"one number a text is needed, got {counts.shape[0]} for {len(texts)}.")
        for start in range(0, len(texts), BLOCK):
            stop = min(start + BLOCK, len(texts))
            self.find(texts, start, stop)
            for i in range(stop - start):
                self.entries[self.at[i]].count += counts[start + i]

    def counts(self, list texts):
        """The numbers of these, which are known from now on, if only with a zero."""
        cdef Py_ssize_t start, stop, i
        out = array("q", bytes(8 * len(texts)))
        cdef int64_t[::1] view
        if not texts:
            return out
        view = out
        for start in range(0, len(texts), BLOCK):
            stop = min(start + BLOCK, len(texts))
            self.find(texts, start, stop)
            for i in range(stop - start):
                view[start + i] = self.entries[self.at[i]].count
        return out

    cdef int find(self, list texts, Py_ssize_t start, Py_ssize_t stop) except -1:
        """Where the entries of a block are; those that are new are made."""
        cdef:
            Py_ssize_t i, at, mask
            PyObject* text
            Entry* entry
        if 2 * (len(self.texts) + BLOCK) > self.size:
            self.grow()
        mask = self.size - 1
        for i in range(stop - start):
            self.hashes[i] = PyObject_Hash(<str?><object>PyList_GET_ITEM(texts, start + i))
            prefetch(&self.entries[self.hashes[i] & mask])
        for i in range(stop - start):
            text = self.entries[self.hashes[i] & mask].text
            if text != NULL:
                prefetch(text)
                prefetch(<const char*>text + HEADER)
        for i in range(stop - start):
            text = PyList_GET_ITEM(texts, start + i)
            at = self.hashes[i] & mask
            while True:
                entry = &self.entries[at]
                if entry.text == NULL:
                    self.texts.append(<object>text)
                    entry.text, entry.hash = text, self.hashes[i]
                    break
                if entry.text == text or (
                    entry.hash == self.hashes[i] and not PyUnicode_Compare(entry.text, text)
                ):
                    break
                at = (at + 1) & mask
            self.at[i] = at
        return 0

    cdef int grow(self) except -1:
        cdef:
            Py_ssize_t size = 2 * self.size, i, at
            Entry* old = self.entries
            Entry* new = <Entry*>calloc(size, sizeof(Entry))
        if new == NULL:
            raise MemoryError
        for i in range(self.size):
            if old[i].text != NULL:
                at = old[i].hash & (size - 1)
                while new[at].text != NULL:
                    at = (at + 1) & (size - 1)
                new[at] = old[i]
        free(old)
        self.entries, self.size = new, size
        return 0
