"""Shallow trees on binned columns: what they add to the logits of rows.

A tree is complete: node ``i`` has the children ``2 i + 1`` and ``2 i + 2``. A
split is a column and the set of its cells, 256 bits, that go left; a node
without one has the column -1. The value of every node is kept, inner ones too,
so that the change by each split is known, and a row whose cell of the column is 255, which is in
no set, stays at the node.

Two classes have one tree a round, for the second class; more have one each.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t

cdef extern from "trees.h":
    void fall "deciban_fall"(
        const uint8_t*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const int32_t*, const uint64_t*,
        const double*, double*, Py_ssize_t
    ) noexcept nogil
    void fall_alone "deciban_fall_alone"(
        const uint8_t*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const int32_t*, const uint64_t*,
        const double*, double*, Py_ssize_t
    ) noexcept nogil
    Py_ssize_t child_of "deciban_child"(
        const uint8_t*, Py_ssize_t, Py_ssize_t, const int32_t*, const uint64_t*
    ) noexcept nogil

cdef enum:
    BLOCK_ROWS = 2048       # whose cells stay in the cache while trees come and go


def add(
    const uint8_t[:, ::1] X, const int32_t[:, ::1] column, const uint64_t[:, :, ::1] left,
    const double[:, ::1] value, double[:, ::1] out, bint unknown,
):
    """Add the values of the nodes that rows come to to their logits, (rows, classes).

    ``unknown`` says whether rows have the cell 255.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], inner = column.shape[1]
        Py_ssize_t t, i = 0, many
    with nogil:
        while i < n:
            many = n - i if n - i < BLOCK_ROWS else BLOCK_ROWS
            for t in range(column.shape[0]):
                (fall_alone if unknown else fall)(
                    &X[i, 0], many, d, inner, &column[t, 0], &left[t, 0, 0], &value[t, 0],
                    &out[i, 1 if K == 2 else t % K], K)
            i += many


def explain(
    const uint8_t[:, ::1] X, const int32_t[:, ::1] column, const uint64_t[:, :, ::1] left,
    const double[:, ::1] value, double[:, :, ::1] out,
):
    """Add the change of the logits by each split to its column, (rows, columns, classes).

    The values of roots are left out.
    """
    cdef:
        Py_ssize_t K = out.shape[2], inner = column.shape[1], t, i, target, node, child
        const int32_t* split
    with nogil:
        for t in range(column.shape[0]):
            split, target = &column[t, 0], 1 if K == 2 else t % K
            for i in range(X.shape[0]):
                node, child = 0, child_of(&X[i, 0], 0, inner, split, &left[t, 0, 0])
                while child != node:
                    out[i, split[node], target] += value[t, child] - value[t, node]
                    node, child = child, child_of(&X[i, 0], child, inner, split, &left[t, 0, 0])
