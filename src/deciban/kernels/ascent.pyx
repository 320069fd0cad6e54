"""Dual coordinate ascent for logistic regression: passes over sparse rows (see ``ascent.h``).

``width`` is one for two classes, else the number of classes padded to a multiple of eight.
``cells``, (columns, 2, width), hold coefficients and their variances; ``offset``, ``duals`` and
``spread``, (rows, width), are of all rows, of which a call works on those in ``order``.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

cdef extern from "ascent.h":
    ctypedef struct Ascent "deciban_ascent":
        const float* data
        const int32_t* columns
        const int64_t* starts
        const int64_t* y
        const float* weight
        const float* offset
        const float* spread
        float* cells
        float* duals
    void ascend_many "deciban_ascend"(
        const Ascent*, const int64_t*, Py_ssize_t, const float*, float, float, float*, double*,
        double*, Py_ssize_t
    ) noexcept nogil
    void ascend_one "deciban_ascend_one"(
        const Ascent*, const int64_t*, Py_ssize_t, const float*, float, float, double*, double*
    ) noexcept nogil


def ascend(
    const float[::1] data, const int32_t[::1] columns, const int64_t[::1] starts,
    const int64_t[::1] y, const float[::1] weight, const float[:, ::1] offset,
    const float[:, ::1] spread, float[:, :, ::1] cells, float[:, ::1] duals,
    const int64_t[::1] order, const float[::1] intercept, float accuracy, float least,
):
    """One pass: the dual of each row becomes the best given all others, coefficients follow.

    Returned are how much the duals changed, how large they are, both summed, and how fast their
    sum falls as each intercept rises, (width,). A row's own solution is found to ``accuracy`` nats;
    less change than ``least`` in a row is not made.
    """
    cdef:
        Py_ssize_t n = order.shape[0], width = duals.shape[1]
        Ascent rows
        double[::1] curvature = np.zeros(width), sums = np.zeros(2)
        float[::1] work = np.empty(4 * width, dtype=np.float32)
    if n and data.shape[0]:
        rows.data, rows.columns = &data[0], &columns[0]
        rows.cells = &cells[0, 0, 0]
    if n:
        rows.starts, rows.y, rows.weight = &starts[0], &y[0], &weight[0]
        rows.offset, rows.spread, rows.duals = &offset[0, 0], &spread[0, 0], &duals[0, 0]
        with nogil:
            if width == 1:
                ascend_one(
                    &rows, &order[0], n, &intercept[0], accuracy, least, &curvature[0], &sums[0]
                )
            else:
                ascend_many(
                    &rows, &order[0], n, &intercept[0], accuracy, least, &work[0], &curvature[0],
                    &sums[0], width // 8,
                )
    return sums[0], sums[1], np.asarray(curvature)


def add_coefficients(
    const float[::1] data, const int32_t[::1] columns, const int64_t[::1] starts,
    const int64_t[::1] order, const float[:, :, ::1] cells, float[:, ::1] out,
):
    """``out[at] += sum_j x_ij coefficient_j`` for the row i at each place of the order."""
    cdef:
        Py_ssize_t width = out.shape[1], at, k
        int64_t i, p
        const float* cell
        float* to
    with nogil:
        for at in range(order.shape[0]):
            i = order[at]
            to = &out[at, 0]
            for p in range(starts[i], starts[i + 1]):
                cell = &cells[columns[p], 0, 0]
                for k in range(width):
                    to[k] += data[p] * cell[k]


def add_variances(
    const float[::1] data, const int32_t[::1] columns, const int64_t[::1] starts,
    const int64_t[::1] order, const float[:, :, ::1] cells, float[:, ::1] out,
):
    """``out[i] += sum_j x_ij**2 variance_j`` of some rows i."""
    cdef:
        Py_ssize_t width = out.shape[1], at, k
        int64_t i, p
        const float* cell
        float* to
    with nogil:
        for at in range(order.shape[0]):
            i = order[at]
            to = &out[i, 0]
            for p in range(starts[i], starts[i + 1]):
                cell = &cells[columns[p], 1, 0]
                for k in range(width):
                    to[k] += data[p] * data[p] * cell[k]


def add_duals(
    const float[::1] data, const int32_t[::1] columns, const int64_t[::1] starts,
    const int64_t[::1] order, const float[:, ::1] duals, float[:, :, ::1] cells,
):
    """``coefficient_j += variance_j sum_i x_ij dual_i`` over some rows i."""
    cdef:
        Py_ssize_t width = duals.shape[1], at, k
        int64_t i, p
        float* cell
        const float* of
    with nogil:
        for at in range(order.shape[0]):
            i = order[at]
            of = &duals[i, 0]
            for p in range(starts[i], starts[i + 1]):
                cell = &cells[columns[p], 0, 0]
                for k in range(width):
                    cell[k] += data[p] * of[k] * cell[width + k]
