"""The best split of a node of a tree: which cells of which column go left.

The gain of a split, twice the fall of the log loss to second order, is
``G_l^2 / (H_l + penalty) + G_r^2 / (H_r + penalty) - G^2 / (H + penalty)``
with the sums G and H of first and second derivatives of the rows on the left,
on the right, and of all. Cells are tried in their order, or, where they are
categories, in the order of the step that each would take.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

cdef extern from "cuts.h":
    Py_ssize_t best_cut "deciban_best_cut"(
        const void*, const Py_ssize_t*, Py_ssize_t, const void*, const void*, double, double, double,
        void*, double*
    ) noexcept nogil

cdef enum:
    MAX_CELLS = 256


cdef inline void put_left(uint64_t* left, Py_ssize_t cell) noexcept nogil:
    left[cell >> 6] |= <uint64_t>1 << (cell & 63)


cdef void find_cut(
    const Sum* cells, const Py_ssize_t* order, Py_ssize_t n, Py_ssize_t hole, const Sum* total,
    double penalty, double min_weight, Py_ssize_t column, Split* best
) noexcept nogil:
    """Cut the cells of one column in an order (NULL: their own) where it gains more than ``best``.

    Holes go to either side.
    """
    cdef Py_ssize_t c, at, side
    cdef bint holes = cells[hole].weight > 0
    cdef double value, before = total.gradient * total.gradient / (total.hessian + penalty)
    cdef Sum begin, part
    memset(&begin, 0, sizeof(Sum))
    for side in range(2 if holes else 1):
        if side:
            begin = cells[hole]
        c = best_cut(cells, order, n if holes and not side else n - 1, &begin, total,
                     penalty, min_weight, best.gain + before, &part, &value)
        if c < 0:
            continue
        best.gain, best.column, best.part, best.total = value - before, column, part, total[0]
        memset(best.left, 0, sizeof(best.left))
        for at in range(c + 1):
            put_left(best.left, at if order == NULL else order[at])
        if side:
            put_left(best.left, hole)


cdef Py_ssize_t sort_categories(
    const Sum* cells, Py_ssize_t n, double smoothing, Py_ssize_t* order
) noexcept nogil:
    """The categories that occur, by the step that each would take; how many."""
    cdef double key[MAX_CELLS]
    cdef double k
    cdef Py_ssize_t c, at, n_sorted = 0
    for c in range(n):
        if cells[c].weight <= 0:
            continue
        k = cells[c].gradient / (cells[c].hessian + smoothing)
        at = n_sorted
        while at > 0 and key[at - 1] > k:
            key[at] = key[at - 1]
            order[at] = order[at - 1]
            at -= 1
        key[at] = k
        order[at] = c
        n_sorted += 1
    return n_sorted


cdef void find_split(
    const Sum* sums, const Py_ssize_t* columns, Py_ssize_t n_columns, const Py_ssize_t* first,
    const uint8_t* ordered, const Options* options, Split* best
) noexcept nogil:
    """The split of a node by one of some columns that gains most; -1 is its column where none."""
    cdef Py_ssize_t i, j, c, n, hole
    cdef Py_ssize_t by_step[MAX_CELLS]
    cdef const Sum* cells
    cdef Sum total
    best.gain = 1e-10
    best.column = -1
    memset(&total, 0, sizeof(Sum))
    j = columns[0]  # its cells, as any other's, hold all rows
    for c in range(first[j], first[j + 1]):
        add_sum(&total, &sums[c], 1)
    if total.weight < 2 * options.min_weight:
        return
    for i in range(n_columns):
        j = columns[i]
        cells, hole = sums + first[j], first[j + 1] - first[j] - 1
        if ordered[j]:
            find_cut(
                cells, NULL, hole, hole, &total, options.penalty, options.min_weight, j, best)
        else:
            n = sort_categories(cells, hole, options.smoothing, by_step)
            find_cut(
                cells, by_step, n, hole, &total, options.set_penalty, options.min_weight, j, best)
