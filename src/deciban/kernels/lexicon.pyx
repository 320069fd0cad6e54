"""Tokens that were made last: memory, and the rounds in which they are added."""

from cpython.ref cimport Py_XDECREF

cimport cython
from libc.stdlib cimport calloc, free


@cython.auto_pickle(False)
cdef class Lexicon:
    """So many slots for tokens; a token takes the place of the one before it."""

    def __cinit__(self):
        self.slots = <Slot*>calloc(1 << SLOT_BITS, sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.slots != NULL:
            for i in range(1 << SLOT_BITS):
                Py_XDECREF(self.slots[i].token)
            free(self.slots)

    cdef uint64_t begin(self) noexcept:
        """A new round, in which a token is added once: other threads may begin theirs meanwhile."""
        self.rounds += 1
        return self.rounds
