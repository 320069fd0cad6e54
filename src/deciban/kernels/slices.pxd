"""Columns of floats added up in slices: what ``slices.h`` does, from start to wide numbers."""

from deciban.kernels.digits cimport (
    INFINITE, UNIT, add_words, exponent, int128, magnitude, uint128,
)

from libc.math cimport ldexp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from "slices.h":
    ctypedef struct Slices "deciban_slices":
        double* begin
        double* finer
        int64_t* least
        int64_t* most
        double* sums
        int128* totals
        int64_t* rows
        int64_t* since
        int32_t* head
        int64_t* aside
        Py_ssize_t n_aside
        Py_ssize_t refused

    const int SLICE_RANGE "DECIBAN_SLICE_RANGE"
    const int SLICE_SUMS "DECIBAN_SLICE_SUMS"
    const int LANES "DECIBAN_LANES"
    const int* UNITS "deciban_slice_units"
    const int* IS_LAST "deciban_slice_is_last"

    Py_ssize_t block_rows "deciban_block_rows"(Py_ssize_t width) noexcept nogil
    Py_ssize_t slice_rows "deciban_slice_rows"(
        const double* x, Py_ssize_t n, Py_ssize_t d, Py_ssize_t width, const Py_ssize_t* y,
        Slices* to,
    ) noexcept nogil
    void spill_slices "deciban_spill_slices"(
        const Slices* s, Py_ssize_t c, Py_ssize_t size
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


cdef inline int unit_of(int k, int top) noexcept nogil:
    """The exponent of the unit of a sum of values below 2 ** ``top``, or of their squares."""
    return (top if k < 2 else 2 * top) - UNITS[k]


cdef inline int least_unit(int top) noexcept nogil:
    """An exponent below those of the units of values; twice it is below those of squares."""
    return top - UNITS[SLICE_SUMS - 1] // 2 - 1


cdef inline void start_slices(
    Slices* s, Py_ssize_t n_classes, const int* tops, Py_ssize_t width
) noexcept nogil:
    """Cut columns below 2 ** ``tops``, of which nothing is added yet."""
    cdef Py_ssize_t c, j, at, columns = lanes_of(width), size = columns * SLICE_SUMS
    cdef int k, top
    cdef double end
    for j in range(columns):
        top = tops[j] if j < width else 0
        end = ldexp(1.0, top - SLICE_RANGE)
        memcpy(&s.least[j], &end, 8)
        end = ldexp(1.0, top)
        memcpy(&s.most[j], &end, 8)
        for k in range(SLICE_SUMS):
            at = place_of(j) + k * LANES
            s.begin[at] = 0.0 if IS_LAST[k] else ldexp(1.5, 52 + unit_of(k, top))
            s.finer[at] = ldexp(1.0, -unit_of(k, top))
    memset(s.totals, 0, n_classes * size * sizeof(int128))
    for c in range(n_classes):
        memcpy(s.sums + c * size, s.begin, size * sizeof(double))
        s.since[c], s.head[c] = 0, -1


cdef inline Py_ssize_t place_of(Py_ssize_t j) noexcept nogil:
    """Where the first sum of a column is among those of a class; the others are ``LANES`` apart."""
    return j // LANES * LANES * SLICE_SUMS + j % LANES


cdef inline void add_total(int64_t* digits, int base, int128 total, int unit) noexcept nogil:
    """Add ``total * 2**unit`` to a wide number."""
    if total:
        add_words(digits, base, <uint128>(-total if total < 0 else total), 0, unit, total < 0)


cdef inline void add_slices(
    Slices* s, Py_ssize_t c, const int* tops, Py_ssize_t width, int64_t* sums, Py_ssize_t length,
    int base, int64_t* squares, Py_ssize_t squares_length, int squares_base,
) noexcept nogil:
    """Add the sums of class c to wide numbers, column by column."""
    cdef Py_ssize_t j, size = lanes_of(width) * SLICE_SUMS
    cdef int k
    cdef int128* totals
    spill_slices(s, c, size)
    for j in range(width):
        totals = s.totals + c * size + place_of(j)
        for k in range(SLICE_SUMS):
            if k < 2:
                add_total(sums + j * length, base, totals[k * LANES], unit_of(k, tops[j]))
            else:
                add_total(squares + j * squares_length, squares_base, totals[k * LANES],
                          unit_of(k, tops[j]))
