"""Growing one tree, for the kernel that boosts; see the implementation."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from deciban.kernels.gradients cimport Rows
from deciban.kernels.splits cimport Options, Split, Sum
from deciban.kernels.team cimport Members

cdef enum:
    ABREAST = 4              # so many leaves are split at once

cdef struct Table:
    Py_ssize_t d
    Py_ssize_t n
    const uint8_t* cells           # (rows, columns)
    const uint8_t* by_column       # (columns, rows)
    const uint8_t* ordered         # which columns have cells in an order
    const Py_ssize_t* first        # the place of each column's first cell
    const Py_ssize_t* common       # ... and of its commonest
    const int32_t* places          # of the cells of each row that are not; or NULL
    const int64_t* starts

cdef struct Leaf:                # of a tree that grows, and how it would be split
    Py_ssize_t node
    Py_ssize_t begin               # of its rows
    Py_ssize_t end
    Sum* sums
    Split split

cdef struct Tree:
    int32_t* column
    uint64_t* left
    double* value

cdef struct Growth:              # a tree that grows, and the room for it
    const Table* table
    const Options* options
    Rows rows
    Py_ssize_t* columns            # those that the tree may split by, in rising order
    Py_ssize_t n_columns
    Sum* sums
    Leaf* leaves
    Py_ssize_t n_leaves
    Tree tree
    Members* team                  # who help to grow it; NULL if nobody does
    Py_ssize_t chosen[ABREAST]     # the leaves that are split next,
    bint last                      # and whether none will be after them
    Py_ssize_t n_parts             # in which all rows are added up


cdef bint make_room(Growth* growth) except -1
cdef void free_room(Growth* growth) noexcept
cdef void draw_columns(Growth* growth, Py_ssize_t many, Py_ssize_t seed) noexcept nogil
cdef void grow(Growth* growth) noexcept nogil
cdef void add_leaves(const Growth* growth, double* logits) noexcept nogil
