"""Sums, sums of squares and weights of numeric columns by class, exactly.

Adding integers never rounds: the order of the rows, the chunks they came in
and what was added and taken away again cannot show. Without weights, values of about the same
size are summed in slices (``slices.h``). Where that fails, mantissas
and their squares are summed by exponent in 128 bits. Only those sums are
added to wide numbers (see ``digits.pxd``).
"""

import numpy as np

from deciban.kernels.digits cimport (
    FRACTION, HIDDEN, INFINITE, MAGNITUDE, UNIT, Range, add_product, add_words, exponent,
    find_range, floor32, int128, magnitude, mantissa, uint128,
)
from deciban.kernels.slices cimport (
    SLICE_SUMS, Slices, add_slices, add_total, block_rows, find_tops, lanes_of, least_unit,
    slice_rows, start_slices,
)

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cdef enum:
    MIN_SLICED_ROWS = 64     # a class: with fewer, adding up the sums of slices takes longer
    MAX_CELLS = 1 << 19      # held at once: 16 MB
    GUESSED_VALUES = 1 << 14  # looked at to guess the range of exponents,
    GUESSED_MORE = 16         # and how far it may reach beyond them on both sides
    REFUSED_TRIAL = 1 << 14   # values that slices may refuse before they are given up

cdef struct Cell:
    int128 total           # sum of the mantissas of one exponent, and of their squares:
    uint128 squares        # 2**22 rows fit


cdef inline bint add_value(
    double x, Cell* cells, uint64_t low, uint64_t span, int64_t* number
) noexcept nogil:
    """Add a value to the cells of its class and column, one per exponent from ``low`` on.

    NaN is taken from ``number``. False for an infinity, or an exponent that has no cell.
    """
    cdef uint64_t a, e, m
    cdef int64_t sign
    memcpy(&a, &x, 8)
    sign = <int64_t>a >> 63              # 0 or -1: no branch to mispredict
    a &= MAGNITUDE
    e = (a >> 52) - low
    m = (a & FRACTION) | HIDDEN
    if e >= span or a >= INFINITE:
        if a > INFINITE:
            number[0] -= 1
        elif a < HIDDEN and low == 1:    # too small to have a hidden bit, or zero
            e, m = 0, a
        elif a:
            return False
        if a == 0 or a > INFINITE:
            return True
    cells[e].total += (<int64_t>m ^ sign) - sign
    cells[e].squares += <uint128>m * m
    return True


cdef Py_ssize_t fill(
    const double* x, Py_ssize_t n, Py_ssize_t d, Py_ssize_t first, Py_ssize_t last,
    const Py_ssize_t* y, int low, Py_ssize_t span, Cell* cells, int64_t* number, int64_t* rows,
) noexcept nogil:
    """Add columns ``first .. last`` to the cells: one per class, column and exponent.

    ``rows`` counts the rows of each class, ``number`` what is missing from them. Returned is
    how many rows were added: all, or those before an infinity or an exponent that has no cell.
    """
    cdef:
        Py_ssize_t i, j
        Cell* row
        int64_t* of_class
    for i in range(n):
        row = cells + y[i] * (last - first) * span
        of_class = number + y[i] * d
        rows[y[i]] += 1
        for j in range(first, last):
            if not add_value(x[i * d + j], row, low, span, of_class + j):
                return i
            row += span
    return n


cdef Range guess_range(const double* x, Py_ssize_t n, Py_ssize_t d, Py_ssize_t K) noexcept nogil:
    """The exponents that some rows have, and more on both sides; those of all where rows are few.
    """
    cdef Range r
    if n * d <= GUESSED_VALUES or n < 16 * K * GUESSED_MORE:
        return find_range(x, n * d)
    r = find_range(x, GUESSED_VALUES)
    if r.low > r.high or r.infinite >= 0:
        return find_range(x, n * d)
    r.low, r.high = max(r.low - GUESSED_MORE, 1), min(r.high + GUESSED_MORE, 2046)
    return r


def count(const double[:, ::1] X, const Py_ssize_t[::1] y, Py_ssize_t n_classes):
    """Number, sum and sum of squares of the values per class and column, exactly.

    Returns ``infinite``, then digits and base of the three: ``infinite`` is the
    flat position of an infinity or -1; NaN is not a value. Digits have the shape
    (classes, columns, digits). At most 2**22 rows.

    The exponents are guessed from some rows: looking at all would take as long again as adding
    them up. Where the guess was wrong, all are looked at.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1]
        const double* x = &X[0, 0] if n and d else NULL
        Range r
    with nogil:
        r = guess_range(x, n, d, n_classes)
    if r.infinite < 0:
        sums = sum_cells(X, y, n_classes, r)
        if sums is not None:
            return sums
        with nogil:
            r = find_range(x, n * d)
    if r.infinite >= 0:
        return r.infinite, None, 0, None, 0, None, 0
    return sum_cells(X, y, n_classes, r)


cdef Py_ssize_t fill_rows(
    const double* x, Py_ssize_t n, Py_ssize_t d, Py_ssize_t first, Py_ssize_t last,
    const Py_ssize_t* y, Range r, Slices* slices, Cell* cells, int64_t* number, int64_t* rows,
) noexcept nogil:
    """Add values to slices where they fit, otherwise to cells; what is returned, ``fill`` says.

    Slices are given up where they refuse most values, for themselves or for others beside them.
    """
    cdef:
        Py_ssize_t width = last - first, done = 0, start, c, i, j, k
        Py_ssize_t span = r.high - r.low + 1
    while slices != NULL and done < n and 4 * slices.refused <= 3 * done * width + REFUSED_TRIAL:
        start = done
        done += slice_rows(x + start * d + first, n - start, d, width, y + start, slices)
        for k in range(slices.n_aside):
            i, j = start + slices.aside[k] // d, slices.aside[k] % d
            c = y[i]
            if not add_value(x[i * d + first + j], cells + (c * width + j) * span, r.low, span,
                             number + c * d + first + j):
                return i
    return done + fill(x + done * d, n - done, d, first, last, y + done, r.low, span, cells,
                       number, rows)


cdef sum_cells(const double[:, ::1] X, const Py_ssize_t[::1] y, Py_ssize_t K, Range r):
    """What ``count`` returns of values within a range of exponents; None where one lies outside."""
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], c, j, e, span, width, first, last
        Py_ssize_t added = n
        Cell* cells
        Cell* at
        int[::1] tops = np.zeros(d + 1, dtype=np.intc)
        Slices slices
        bint sliced = n >= MIN_SLICED_ROWS * K and d > 0
        int low = r.low - UNIT, high, b1, b2
    r.high = max(r.high, r.low)
    high, span = r.high - UNIT + 1, r.high - r.low + 1
    width = max(<Py_ssize_t>1, min(d, MAX_CELLS // (K * max(span, <Py_ssize_t>SLICE_SUMS) + 1)))
    if sliced and find_tops(&X[0, 0], n, d, &tops[0]):
        for j in range(d):
            low, high = min(low, least_unit(tops[j])), max(high, tops[j])
    else:
        sliced = False
    b1, b2 = floor32(low), floor32(2 * low)
    cdef int64_t[:, :, ::1] s0 = np.zeros((K, d, 1), dtype=np.int64)
    cdef int64_t[::1] rows = np.zeros(K, dtype=np.int64)
    cdef int64_t[:, :, ::1] s1 = np.zeros((K, d, (high - low) // 32 + 8), dtype=np.int64)
    cdef int64_t[:, :, ::1] s2 = np.zeros((K, d, (high - low) // 16 + 8), dtype=np.int64)
    cdef Py_ssize_t columns = lanes_of(width) if sliced else 0, size = K * columns * SLICE_SUMS
    cdef Py_ssize_t a_class = columns * SLICE_SUMS
    cdef double[::1] floats = np.empty(2 * a_class + size + 1)
    cdef int64_t[::1] whole = np.empty(2 * columns + 2 * size + K + 1, dtype=np.int64)
    cdef int64_t[::1] aside = np.empty(block_rows(width) * columns + 1, dtype=np.int64)
    cdef int32_t[::1] head = np.empty(K + 1, dtype=np.int32)
    slices.sums, slices.begin, slices.finer = &floats[0], &floats[size], &floats[size + a_class]
    slices.totals = <int128*>&whole[0]
    slices.least, slices.most = &whole[2 * size], &whole[2 * size + columns]
    slices.since, slices.rows, slices.head = &whole[2 * (size + columns)], &rows[0] if K else NULL, &head[0]
    slices.aside, slices.n_aside, slices.refused = &aside[0], 0, 0
    cells = <Cell*>calloc(K * width * span, sizeof(Cell))
    if cells == NULL:
        raise MemoryError
    with nogil:
        first = 0
        while first < d and n > 0 and added == n:
            last = min(first + width, d)
            if first > 0:
                memset(cells, 0, K * width * span * sizeof(Cell))
            if sliced:
                start_slices(&slices, K, &tops[first], last - first)
            rows[:] = 0
            added = fill_rows(&X[0, 0], n, d, first, last, &y[0], r, &slices if sliced else NULL,
                              cells, &s0[0, 0, 0], &rows[0])
            for c in range(K):
                if sliced:
                    add_slices(&slices, c, &tops[first], last - first, &s1[c, first, 0],
                               s1.shape[2], b1, &s2[c, first, 0], s2.shape[2], b2)
                for j in range(first, last):
                    at = cells + (c * (last - first) + j - first) * span
                    s0[c, j, 0] += rows[c]
                    for e in range(span):
                        if at.squares:
                            add_total(&s1[c, j, 0], b1, at.total, <int>(r.low + e - UNIT))
                            add_words(&s2[c, j, 0], b2, at.squares, 0,
                                      <int>(2 * (r.low + e - UNIT)), False)
                        at += 1
            first = last
    free(cells)
    if added < n:
        return None
    return -1, np.asarray(s0), 0, np.asarray(s1), b1, np.asarray(s2), b2


def count_weighted(
    const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weight,
    Py_ssize_t n_classes,
):
    """Weight, weighted sum and weighted sum of squares per class and column, exactly.

    Returns ``infinite``, then digits and base of each of the three sums.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j
        const double* x = &X[0, 0] if n and d else NULL
        Range r, s
        int b0, b1, b2, ew, e
        uint64_t a, w, m, one = 1
        bint negative
    with nogil:
        r = find_range(x, n * d)
        s = find_range(&weight[0] if n else NULL, n)
    if r.infinite >= 0:
        return r.infinite, None, 0, None, 0, None, 0
    r.high = max(r.high, r.low)
    s.high = max(s.high, s.low)
    b0 = floor32(s.low - UNIT)
    b1 = floor32(s.low + r.low - 2 * UNIT)
    b2 = floor32(s.low + 2 * r.low - 3 * UNIT)
    shape = (n_classes, d)
    cdef int64_t[:, :, ::1] s0 = np.zeros((*shape, ((s.high - s.low) >> 5) + 9), dtype=np.int64)
    cdef int64_t[:, :, ::1] s1 = np.zeros(
        (*shape, ((s.high - s.low + r.high - r.low) >> 5) + 9), dtype=np.int64)
    cdef int64_t[:, :, ::1] s2 = np.zeros(
        (*shape, ((s.high - s.low + 2 * (r.high - r.low)) >> 5) + 9), dtype=np.int64)
    with nogil:
        for i in range(n):
            w = magnitude(weight[i])
            if w == 0:
                continue
            ew = exponent(w)
            w = mantissa(w)
            for j in range(d):
                a = magnitude(x[i * d + j])
                if a > INFINITE:
                    continue
                add_product(&s0[y[i], j, 0], b0, w, one, one, ew - UNIT, False)
                if a == 0:
                    continue
                negative = x[i * d + j] < 0
                e = exponent(a)
                m = mantissa(a)
                add_product(&s1[y[i], j, 0], b1, w, m, one, ew + e - 2 * UNIT, negative)
                add_product(&s2[y[i], j, 0], b2, w, m, m, ew + 2 * e - 3 * UNIT, False)
    return -1, np.asarray(s0), b0, np.asarray(s1), b1, np.asarray(s2), b2
