"""Scoring from panels: tables of scores cut for the cache (see ``panels.h``)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

cdef extern from "panels.h":
    void codes_2 "deciban_add_codes_2"(const int64_t*, Py_ssize_t, Py_ssize_t, const Py_ssize_t*, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void codes_4 "deciban_add_codes_4"(const int64_t*, Py_ssize_t, Py_ssize_t, const Py_ssize_t*, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void codes_8 "deciban_add_codes_8"(const int64_t*, Py_ssize_t, Py_ssize_t, const Py_ssize_t*, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void narrow_2 "deciban_add_bags_2_int32_t"(const double*, const int32_t*, const int32_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void narrow_4 "deciban_add_bags_4_int32_t"(const double*, const int32_t*, const int32_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void narrow_8 "deciban_add_bags_8_int32_t"(const double*, const int32_t*, const int32_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void wide_2 "deciban_add_bags_2_int64_t"(const double*, const int64_t*, const int64_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void wide_4 "deciban_add_bags_4_int64_t"(const double*, const int64_t*, const int64_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void wide_8 "deciban_add_bags_8_int64_t"(const double*, const int64_t*, const int64_t*, Py_ssize_t, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil

ctypedef fused index:
    int32_t
    int64_t


def cut(const double[:, :] table):
    """A table (cells, classes) as panels (panels, cells, 2, 4 or 8), padded with zeros."""
    cdef:
        Py_ssize_t cells = table.shape[0], K = table.shape[1], i, b, k
        Py_ssize_t W = 2 if K <= 2 else 4 if K <= 4 else 8
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
    """``out[i, :] += sum over the non-zeros of x_ij * table[j, :]``."""
    cdef:
        Py_ssize_t n = out.shape[0], K = out.shape[1], W = panels.shape[2], b, width
    if n == 0 or indptr[n] == indptr[0]:
        return
    with nogil:
        for b in range(panels.shape[0]):
            width = min(W, K - b * W)
            if index is int32_t:
                if W == 2:
                    narrow_2(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K, width)
                elif W == 4:
                    narrow_4(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K, width)
                else:
                    narrow_8(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K, width)
            else:
                if W == 2:
                    wide_2(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K, width)
                elif W == 4:
                    wide_4(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K, width)
                else:
                    wide_8(&data[0], &indices[0], &indptr[0], n, &panels[b, 0, 0], &out[0, b * W], K, width)
