"""Scoring from panels: tables of scores cut for the cache (see ``panels.h``)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

cdef extern from "panels.h":
    void codes_2 "deciban_add_codes_2"(const int64_t*, Py_ssize_t, Py_ssize_t, const Py_ssize_t*, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void codes_4 "deciban_add_codes_4"(const int64_t*, Py_ssize_t, Py_ssize_t, const Py_ssize_t*, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void codes_8 "deciban_add_codes_8"(const int64_t*, Py_ssize_t, Py_ssize_t, const Py_ssize_t*, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void narrow "deciban_add_bags_int32_t"(const double*, const int32_t*, const int32_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    void wide "deciban_add_bags_int64_t"(const double*, const int64_t*, const int64_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef enum:
    MAX_BAG_CLASSES = 32        # of one panel


ctypedef fused index:
    int32_t
    int64_t


def cut(const double[:, :] table):
    """A table (cells, classes) as panels (panels, cells, 2, 4 or 8), padded with zeros: for codes."""
    K = table.shape[1]
    return cut_panels(table, 2 if K <= 2 else 4 if K <= 4 else 8)


def cut_bags(const double[:, :] table):
    """A table (columns, classes) as panels (panels, columns, up to 32), padded with zeros: for bags.

    >>> cut_bags(np.zeros((3, 20))).shape, cut_bags(np.zeros((3, 33))).shape
    ((1, 3, 20), (2, 3, 20))
    """
    cdef Py_ssize_t K = max(table.shape[1], 1)
    cdef Py_ssize_t n = (K + MAX_BAG_CLASSES - 1) // MAX_BAG_CLASSES
    return cut_panels(table, 2 if K <= 2 else 4 * ((K + 4 * n - 1) // (4 * n)))


cdef cut_panels(const double[:, :] table, Py_ssize_t W):
    """Panels of W classes."""
    cdef:
        Py_ssize_t cells = table.shape[0], K = table.shape[1], i, b, k
        double[:, :, ::1] out = np.empty(((K + W - 1) // W, cells, W))
    with nogil:
        for b in range(out.shape[0]):
            for i in range(cells):
                for k in range(W):
                    out[b, i, k] = table[i, b * W + k] if b * W + k < K else 0.0
    return np.asarray(out)


def add_codes(
    const int64_t[:, ::1] X, const Py_ssize_t[::1] offsets, const double[:, :, ::1] panels,
    double[:, ::1] out,
):
    """``out[i, :] += sum_j table[offsets[j] + x_ij, :]``.

    The last cell of each column stands for every code beyond it: values never
    seen. A code below zero is a missing value.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], W = panels.shape[2], b, width
    if n == 0 or d == 0:
        return
    with nogil:
        for b in range(panels.shape[0]):
            width = min(W, K - b * W)
            if W == 2:
                codes_2(&X[0, 0], n, d, &offsets[0], &panels[b, 0, 0], &out[0, b * W], K, width)
            elif W == 4:
                codes_4(&X[0, 0], n, d, &offsets[0], &panels[b, 0, 0], &out[0, b * W], K, width)
            else:
                codes_8(&X[0, 0], n, d, &offsets[0], &panels[b, 0, 0], &out[0, b * W], K, width)


def add_bags(
    const double[::1] data, const index[::1] indices, const index[::1] indptr,
    const double[:, :, ::1] panels, double[:, ::1] out,
):
    """``out[i, :] += sum over the non-zeros of x_ij * table[j, :]``, of panels for bags."""
    cdef:
        Py_ssize_t n = out.shape[0], K = out.shape[1], W = panels.shape[2], b, width
    if n == 0 or indptr[n] == indptr[0]:
        return
    if W != 2 and (W % 4 or not 0 < W <= MAX_BAG_CLASSES):
        raise ValueError("panels for bags have 2, 4, 8, 12, ... or 32 classes")
    with nogil:
        for b in range(panels.shape[0]):
            width = min(W, K - b * W)
            if index is int32_t:
                narrow(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K,
                       width, W)
            else:
                wide(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K,
                     width, W)
