"""Columns of floats added up in slices: what ``slices.h`` does, from start to wide numbers."""

from deciban.kernels.digits cimport (
    INFINITE, UNIT, add_words, exponent, int128, magnitude, uint128,
)

from libc.math cimport ldexp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from "slices.h":
    ctypedef struct Slices "deciban_slices":
        double* round
        int64_t* least
        int64_t* most
        double* sums
        int128* totals
        int64_t* rows
        int64_t* since
        int32_t* head

    const int SLICE_BITS "DECIBAN_SLICE_BITS"
    const int SLICE_RANGE "DECIBAN_SLICE_RANGE"
    const int SLICE_SUMS "DECIBAN_SLICE_SUMS"
    const int SLICE_BLOCK "DECIBAN_SLICE_BLOCK"
    const int LANES "DECIBAN_LANES"

    Py_ssize_t slice_rows "deciban_slice_rows"(
        const double* x, Py_ssize_t n, Py_ssize_t d, Py_ssize_t width, const Py_ssize_t* y,
        const Slices* to,
    ) noexcept nogil
    void spill_slices "deciban_spill_slices"(
        double* sums, int128* totals, Py_ssize_t columns, const double* round
    ) noexcept nogil

cdef enum:
    MAX_TOP = 450      # of columns that are sliced: beyond, sums of squares might not fit,
    MIN_TOP = -400     # or be too small
    TOP_ROWS = 512     # looked at for the greatest values,
    TOP_MORE = 2       # which others may exceed by so many bits


cdef inline Py_ssize_t lanes_of(Py_ssize_t width) noexcept nogil:
    """So many columns, rounded up to whole lanes."""
    return (width + LANES - 1) // LANES * LANES


cdef inline bint find_tops(
    const double* x, Py_ssize_t n, Py_ssize_t d, int* tops
) noexcept nogil:
    """Exponents of 2 above the values of each column, by some rows; whether all can be sliced."""
    cdef Py_ssize_t i, j, step = max(<Py_ssize_t>1, n // TOP_ROWS)
    cdef uint64_t a, most
    for j in range(d):
        i = most = 0
        while i < n:
            a = magnitude(x[i * d + j])
            if most < a < INFINITE:
                most = a
            i += step
        tops[j] = exponent(most) - UNIT + 53 + TOP_MORE if most else 0
        if tops[j] > MAX_TOP or tops[j] < MIN_TOP:
            return False
    return True


cdef inline int least_unit(int top) noexcept nogil:
    """The exponent of the finest unit of a column."""
    return top + 1 - 4 * SLICE_BITS


cdef inline void start_slices(
    Slices* s, Py_ssize_t n_classes, const int* tops, Py_ssize_t width
) noexcept nogil:
    """Cut columns below 2 ** ``tops``, of which nothing is added yet."""
    cdef Py_ssize_t c, j, k, columns = lanes_of(width)
    cdef double end
    for j in range(columns):
        for k in range(3):
            s.round[k * columns + j] = 1.5
            if j < width:
                s.round[k * columns + j] = ldexp(1.5, 53 + tops[j] - SLICE_BITS * <int>(k + 1))
        if j < width:
            end = ldexp(1.0, tops[j] - SLICE_RANGE)
            memcpy(&s.least[j], &end, 8)
            end = ldexp(1.0, tops[j])
            memcpy(&s.most[j], &end, 8)
            s.most[j] -= 1
    memset(s.sums, 0, n_classes * columns * SLICE_SUMS * sizeof(double))
    memset(s.totals, 0, n_classes * columns * SLICE_SUMS * sizeof(int128))
    for c in range(n_classes):
        s.since[c], s.head[c] = 0, -1


cdef inline void add_total(int64_t* digits, int base, int128 total, int unit) noexcept nogil:
    """Add ``total * 2**unit`` to a wide number."""
    if total:
        add_words(digits, base, <uint128>(-total if total < 0 else total), 0, unit, total < 0)


cdef inline void add_slices(
    Slices* s, Py_ssize_t c, const int* tops, Py_ssize_t width, int64_t* sums, Py_ssize_t length,
    int base, int64_t* squares, Py_ssize_t squares_length, int squares_base,
) noexcept nogil:
    """Add the sums of class c to wide numbers, column by column."""
    cdef Py_ssize_t j, columns = lanes_of(width), start = c * columns * SLICE_SUMS
    cdef int k, unit
    cdef int128* total
    spill_slices(s.sums + start, s.totals + start, columns, s.round)
    for j in range(width):
        total = s.totals + start + j // LANES * LANES * SLICE_SUMS + j % LANES
        unit = tops[j] + 1 - SLICE_BITS                      # of the first slice
        for k in range(2):
            add_total(sums + j * length, base, total[k * LANES],
                      unit - SLICE_BITS * (1 + 2 * k))
        for k in range(SLICE_SUMS - 2):                      # of odd orders half was added up
            add_total(squares + j * squares_length, squares_base, total[(k + 2) * LANES],
                      2 * unit - SLICE_BITS * k + (k & 1))
