"""A hash table of cells by whole numbers: open addressing with linear probing.

A cell begins with its key, 64 bits, and what belongs to the key follows: a key is compared where
it lies, and its sums come with it from memory. No key is 0; that is an empty cell. The width of a
cell in bytes is known to whoever counts.

Where a key belongs is in the high bits of a product: the low bits of keys may all be zero, and
keys that follow each other do not meet.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

cdef extern from "large.h":
    void* zeros "deciban_zeros"(size_t size) noexcept nogil

cdef enum:
    KEY = 8             # bytes of a key

cdef struct HashTable:
    uint8_t* at
    uint64_t mask       # the number of cells, a power of two, less one
    int shift


cdef inline bint allocate_table(HashTable* table, uint64_t least, Py_ssize_t width) noexcept nogil:
    """Empty cells, 64 or more; False where there is no memory."""
    table.mask, table.shift = 63, 58
    while table.mask + 1 < least:
        table.mask = 2 * table.mask + 1
        table.shift -= 1
    table.at = <uint8_t*>zeros((table.mask + 1) * width)
    return table.at != NULL


cdef inline Py_ssize_t n_cells(const HashTable* table) noexcept nogil:
    return 0 if table.at == NULL else <Py_ssize_t>table.mask + 1


cdef inline uint64_t key_at(const uint8_t* cell) noexcept nogil:
    return (<const uint64_t*>cell)[0]


cdef inline uint64_t home(const HashTable* table, uint64_t key) noexcept nogil:
    """Where the search for a key begins."""
    return (key * <uint64_t>0x9E3779B97F4A7C15) >> table.shift


cdef inline uint8_t* cell_of(const HashTable* table, Py_ssize_t width, uint64_t key) noexcept nogil:
    """The cell that holds a key, or the empty one that will."""
    cdef uint64_t at = home(table, key)
    while key_at(table.at + at * width) != key and key_at(table.at + at * width) != 0:
        at = (at + 1) & table.mask
    return table.at + at * width


cdef inline uint64_t key_of_hash(uint64_t h) noexcept nogil:
    """A key for what has a hash; where it is taken by something else, the next one is tried."""
    return h if h else 1


cdef inline bint widen_table(HashTable* table, uint64_t least, Py_ssize_t width) noexcept nogil:
    """Move the cells among more empty ones; False where there is no memory."""
    cdef HashTable new
    cdef Py_ssize_t i
    cdef uint8_t* cell
    if not allocate_table(&new, least, width):
        return False
    for i in range(n_cells(table)):
        cell = table.at + i * width
        if key_at(cell):
            memcpy(cell_of(&new, width, key_at(cell)), cell, width)
    free(table.at)
    table[0] = new
    return True
