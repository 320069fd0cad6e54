"""Pairs of values: how often two occur together in a class, and what that says (AODE).

A row is its *cells*: the position of each column's value in one list of all
values of all columns. The weight of the cells u of column i and v of a later
column j, class by class, stands in line ``start[u] + v`` of the pairs.

Products of many small factors do not underflow: after every few factors the
power of two of each product is moved to an integer beside it.
"""

import numpy as np

from libc.math cimport exp, frexp, log
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

cdef extern from "pairs.h":
    ctypedef struct Table "deciban_pairs":
        int64_t d, V, K, W
        const int64_t* start
        const double* pairs
        const double* share
        const double* over
        const double* support
        double m, least
    const double* line_of "deciban_line"(const Table*, int64_t, int64_t) noexcept nogil
    const double* over_of "deciban_over"(const Table*, int64_t, int64_t) noexcept nogil
    void products "deciban_products"(const Table*, const int64_t*, double*, int64_t*) noexcept nogil
    double two "deciban_two"(int64_t) noexcept nogil

cdef double LN2 = 0.6931471805599453


def place(
    const int64_t[:, ::1] codes, const int64_t[::1] cells, const int64_t[::1] offsets,
):
    """The cell of every code: ``cells[offsets[j] + code + 1]``, a missing value having code -1."""
    cdef:
        Py_ssize_t n = codes.shape[0], d = codes.shape[1], r, j
        int64_t[:, ::1] out = np.empty((n, d), dtype=np.int64)
    with nogil:
        for r in range(n):
            for j in range(d):
                out[r, j] = cells[offsets[j] + codes[r, j] + 1]
    return np.asarray(out)


def count(
    const int64_t[:, ::1] cells, const Py_ssize_t[::1] y, const double[::1] weight,
    const int64_t[::1] start, Py_ssize_t first, Py_ssize_t last, double[:, ::1] pairs,
):
    """Add the weight of every pair whose earlier column is one of ``first`` .. ``last - 1``.

    Column by column: what is written stays in the cache, and threads that do
    different columns never write to the same place.
    """
    cdef:
        Py_ssize_t n = cells.shape[0], d = cells.shape[1], K = pairs.shape[1], r, i, j, base
        const int64_t* row
        double* line
        double w
    if n == 0 or pairs.shape[0] == 0:
        return
    line = &pairs[0, 0]
    with nogil:
        for i in range(first, last):
            for r in range(n):
                row = &cells[r, 0]
                base = start[row[i]]
                w = 1.0 if weight is None else weight[r]
                for j in range(i + 1, d):
                    line[(base + row[j]) * K + y[r]] += w


cdef inline bint parent(Table* t, Py_ssize_t u, double w) noexcept nogil:
    """Whether a cell may be a parent when a row of weight w is left out."""
    return 0 <= u < t.V and t.support[u] - w > 1e-9 * w and t.support[u] - w >= t.least


cdef void averaged(
    Table* t, const int64_t* row, double w, const double* of, const int64_t* power, double* out,
) noexcept nogil:
    """The logarithm of the mean over the parents; without any, the columns are independent."""
    cdef:
        Py_ssize_t i, k, d = t.d, K = t.K, n = 0
        int64_t top
        double total
    for i in range(d):
        n += parent(t, row[i], w)
    if n == 0:
        for k in range(K):
            out[k] = 0.0
            for i in range(d):
                if row[i] >= 0:
                    out[k] += log(t.share[row[i] * K + k])
        return
    for k in range(K):
        top = -(<int64_t>1 << 60)
        for i in range(d):
            if parent(t, row[i], w) and power[i * K + k] > top:
                top = power[i * K + k]
        total = 0.0
        for i in range(d):
            if parent(t, row[i], w):
                total += of[i * K + k] * two(power[i * K + k] - top)
        out[k] = log(total / n) + top * LN2


cdef inline double carried(double product, int* power) noexcept nogil:
    """The product without its power of two, which is added up."""
    cdef int more
    product = frexp(product, &more)
    power[0] += more
    return product


cdef double own_term(
    Table* t, const int64_t* row, Py_ssize_t i, Py_ssize_t k, double w, const double* share,
) noexcept nogil:
    """The logarithm of the product of parent i for class k, a row of weight w taken away."""
    cdef:
        Py_ssize_t j, n = 0, d = t.d
        int64_t u = row[i], v
        int power = 0
        double had, of = share[i], over = over_of(t, u, 0)[k]
    for j in range(d):
        v = row[j]
        if v < 0 or j == i:
            continue
        had = line_of(t, u, v)[k] - w if v < t.V else 0.0
        had = had if had > 0 else 0.0
        if t.W > 1:
            over = over_of(t, u, j)[k]
        of *= (had + t.m * share[j]) / (1.0 / over - w)
        n += 1
        if n % 8 == 0:
            of = carried(of, &power)
    return log(of) + power * LN2


cdef double own_class(
    Table* t, const int64_t* row, Py_ssize_t k, double w, const double* share, double* terms,
) noexcept nogil:
    """The same for a row's own class k with the row taken away; ``share`` are its new shares."""
    cdef:
        Py_ssize_t i, n = 0, d = t.d
        double top = 0.0, total = 0.0
    for i in range(d):
        if parent(t, row[i], w):
            terms[n] = own_term(t, row, i, k, w, share)
            top = terms[n] if n == 0 or terms[n] > top else top
            n += 1
    if n == 0:
        for i in range(d):
            total += log(share[i]) if row[i] >= 0 else 0.0
        return total
    for i in range(n):
        total += exp(terms[i] - top)
    return log(total / n) + top


cdef Table table_of(
    Py_ssize_t d, const int64_t[::1] start, const double[:, ::1] pairs, const double[:, ::1] share,
    const double[:, :, ::1] over, const double[::1] support, double m, double least,
) noexcept:
    cdef Table t
    t.d, t.V, t.K, t.W = d, over.shape[0], over.shape[2], over.shape[1]
    t.start, t.share, t.over = &start[0], &share[0, 0], &over[0, 0, 0]
    t.support, t.m, t.least = &support[0], m, least
    t.pairs = &pairs[0, 0] if pairs.shape[0] else NULL
    return t


def score(
    const int64_t[:, ::1] cells, const int64_t[::1] start, const double[:, ::1] pairs,
    const double[:, ::1] share, const double[:, :, ::1] over, const double[::1] support,
    double m, double least, double[:, ::1] out,
):
    """``log P(x | c)`` of every row and class, averaged over the parents.

    A cell of -1 is skipped; ``V + j`` is a value of column j that was never seen.
    """
    cdef:
        Py_ssize_t n = cells.shape[0], r
        Table t
        double* of
        int64_t* power
    if n == 0 or out.shape[1] == 0 or cells.shape[1] == 0:
        return
    t = table_of(cells.shape[1], start, pairs, share, over, support, m, least)
    of = <double*>calloc(t.d * t.K, sizeof(double))
    power = <int64_t*>calloc(t.d * t.K, sizeof(int64_t))
    if of == NULL or power == NULL:
        free(of)
        free(power)
        raise MemoryError
    with nogil:
        for r in range(n):
            products(&t, &cells[r, 0], of, power)
            averaged(&t, &cells[r, 0], 0.0, of, power, &out[r, 0])
    free(of)
    free(power)


def score_left_out(
    const int64_t[:, ::1] cells, const int64_t[::1] start, const double[:, ::1] pairs,
    const double[:, ::1] share, const double[:, :, ::1] over, const double[::1] support,
    double m, double least, const Py_ssize_t[::1] y, const double[::1] weight,
    const double[:, ::1] own_share, double[:, ::1] out,
):
    """The same with each row taken away from its class ``y``.

    ``own_share`` are the shares of the row's values in its class without it, (rows, columns).
    """
    cdef:
        Py_ssize_t n = cells.shape[0], r
        Table t
        double* of
        double* terms
        int64_t* power
    if n == 0 or out.shape[1] == 0 or cells.shape[1] == 0:
        return
    t = table_of(cells.shape[1], start, pairs, share, over, support, m, least)
    of = <double*>calloc(t.d * t.K, sizeof(double))
    terms = <double*>calloc(t.d, sizeof(double))
    power = <int64_t*>calloc(t.d * t.K, sizeof(int64_t))
    if of == NULL or power == NULL or terms == NULL:
        free(of)
        free(terms)
        free(power)
        raise MemoryError
    with nogil:
        for r in range(n):
            products(&t, &cells[r, 0], of, power)
            averaged(&t, &cells[r, 0], weight[r], of, power, &out[r, 0])
            out[r, y[r]] = own_class(&t, &cells[r, 0], y[r], weight[r], &own_share[r, 0], terms)
    free(of)
    free(terms)
    free(power)


cdef inline double factor(
    Table* t, Py_ssize_t u, Py_ssize_t v, Py_ssize_t j, Py_ssize_t k,
) noexcept nogil:
    """``P(v | c, u)`` of class k; v is in column j."""
    cdef double had = line_of(t, u, v)[k] if v < t.V else 0.0
    return (had + t.m * t.share[v * t.K + k]) * over_of(t, u, j)[k]


cdef void explain_row(
    Table* t, const int64_t* row, const double* of, const int64_t* power, const double* whole,
    double* out,
) noexcept nogil:
    cdef:
        Py_ssize_t i, j, k, n = 0, d = t.d, K = t.K
        double part, term
    for i in range(d):
        n += parent(t, row[i], 0.0)
    for k in range(K):
        if n == 0:
            for i in range(d):
                out[i * K + k] = log(t.share[row[i] * K + k]) if row[i] >= 0 else 0.0
            continue
        for i in range(d):
            if not parent(t, row[i], 0.0):
                continue
            term = log(of[i * K + k]) + power[i * K + k] * LN2
            part = exp(term - whole[k]) / n                 # this parent's share of the sum
            if part == 0.0:
                continue
            out[i * K + k] += part * (log(t.share[row[i] * K + k]) - log(part * n))
            for j in range(d):
                if j != i and row[j] >= 0:
                    out[j * K + k] += part * log(factor(t, row[i], row[j], j, k))


def explain(
    const int64_t[:, ::1] cells, const int64_t[::1] start, const double[:, ::1] pairs,
    const double[:, ::1] share, const double[:, :, ::1] over, const double[::1] support,
    double m, double least, double[:, :, ::1] out,
):
    """Add each column's part of ``log P(x | c)``, (rows, columns, classes).

    The logarithm of a mean of terms is the mean of ``log term - log (n * part)``
    weighted by each term's part of the sum. So a column is given what it says
    beside each parent, weighted so, and what choosing it as parent costs.
    """
    cdef:
        Py_ssize_t n = cells.shape[0], r
        Table t
        double* of
        double* whole
        int64_t* power
    if n == 0 or out.shape[2] == 0 or cells.shape[1] == 0:
        return
    t = table_of(cells.shape[1], start, pairs, share, over, support, m, least)
    of = <double*>calloc(t.d * t.K, sizeof(double))
    whole = <double*>calloc(t.K, sizeof(double))
    power = <int64_t*>calloc(t.d * t.K, sizeof(int64_t))
    if of == NULL or power == NULL or whole == NULL:
        free(of)
        free(whole)
        free(power)
        raise MemoryError
    with nogil:
        for r in range(n):
            products(&t, &cells[r, 0], of, power)
            averaged(&t, &cells[r, 0], 0.0, of, power, whole)
            explain_row(&t, &cells[r, 0], of, power, whole, &out[r, 0, 0])
    free(of)
    free(whole)
    free(power)
