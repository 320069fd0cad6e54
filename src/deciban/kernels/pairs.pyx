"""Pairs of values: how often two occur together in a class, and the likelihood of rows (AODE).

A row is its *cells*: the position of each column's value in one list of all
values of all columns. The weight of the cells u of column i and v of a later
column j, class by class, stands in line ``start[u] + v`` of the pairs.

Products of many small factors do not underflow: after every few factors the
power of two of each product is moved to an integer beside it.
"""

import numpy as np

from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

cdef extern from "pairs.h":
    ctypedef struct deciban_pairs:
        int64_t d, V, K, W
        const int64_t* start
        const double* pairs
        const double* share
        const double* known
        const double* support
        double least
    ctypedef struct deciban_row:
        int64_t n, parents
        int64_t* column
        int64_t* unseen
        double* parent
        double* count
        double* share
        double* known
        double* over
        double* of
        int64_t* power
    int64_t pair "deciban_pair"(int64_t, int64_t, int64_t) noexcept nogil
    int64_t beside "deciban_beside"(const deciban_pairs*, int64_t, int64_t, int64_t) noexcept nogil
    void take "deciban_take"(const deciban_pairs*, const int64_t*, double, deciban_row*) noexcept nogil
    void leave_one_out "deciban_leave_one_out"(
        const deciban_pairs*, deciban_row*, int64_t, double, const double*
    ) noexcept nogil
    void count_unseen "deciban_count_unseen"(const deciban_pairs*, deciban_row*) noexcept nogil
    void products "deciban_products"(const deciban_pairs*, deciban_row*, double) noexcept nogil
    double two "deciban_two"(int64_t) noexcept nogil

cdef double LN2 = 0.6931471805599453


def place(
    const int64_t[:, ::1] codes, const int64_t[::1] cells, const int64_t[::1] offsets,
):
    """The cell of every code: ``cells[offsets[j] + code + 1]``, a missing value having code -1."""
    cdef:
        Py_ssize_t n = codes.shape[0], d = codes.shape[1], r, j
        int32_t[:, ::1] out = np.empty((n, d), dtype=np.int32)
    with nogil:
        for r in range(n):
            for j in range(d):
                out[r, j] = <int32_t>cells[offsets[j] + codes[r, j] + 1]
    return np.asarray(out)


def count(
    const int32_t[:, ::1] cells, const Py_ssize_t[::1] y, const double[::1] weight,
    const int64_t[::1] start, Py_ssize_t first, Py_ssize_t last, double[:, ::1] pairs,
):
    """Add the weight of every pair whose earlier column is one of ``first`` .. ``last - 1``.

    Column by column: what is written stays in the cache, and threads that do
    different columns never write to the same place.
    """
    cdef:
        Py_ssize_t n = cells.shape[0], d = cells.shape[1], K = pairs.shape[1], r, i, j
        const int32_t* row
        double* line
        double w
    if n == 0 or pairs.shape[0] == 0:
        return
    with nogil:
        for i in range(first, last):
            for r in range(n):
                row = &cells[r, 0]
                line = &pairs[0, 0] + (start[row[i]] * K + y[r])
                w = 1.0 if weight is None else weight[r]
                for j in range(i + 1, d):
                    line[row[j] * K] += w


cdef class Table:
    """The counts of pairs, and what rows are scored with besides."""

    cdef:
        deciban_pairs t
        tuple held

    def __init__(
        self, const int64_t[::1] start, const double[:, ::1] pairs, const double[:, ::1] share,
        const double[:, :, ::1] known, const double[::1] support, double least, Py_ssize_t columns,
    ):
        self.held = (start, pairs, share, known, support)
        self.t.V, self.t.W, self.t.K = known.shape[0], known.shape[1], known.shape[2]
        self.t.d, self.t.least = columns, least
        if self.t.V and self.t.K:
            self.t.start, self.t.support = &start[0], &support[0]
            self.t.share, self.t.known = &share[0, 0], &known[0, 0, 0]
            self.t.pairs = &pairs[0, 0] if pairs.shape[0] else NULL


cdef class Row:
    """Room for the counts that concern the values of one row."""

    cdef deciban_row r

    def __cinit__(self, Table table):
        cdef:
            Py_ssize_t d = table.t.d, K = table.t.K, lines = d * table.t.W
        self.r.column = <int64_t*>calloc(d, sizeof(int64_t))
        self.r.unseen = <int64_t*>calloc(d, sizeof(int64_t))
        self.r.parent = <double*>calloc(d, sizeof(double))
        self.r.count = <double*>calloc(d * (d - 1) // 2 * K, sizeof(double))
        self.r.share = <double*>calloc(d * K, sizeof(double))
        self.r.known = <double*>calloc(lines * K, sizeof(double))
        self.r.over = <double*>calloc(lines * K, sizeof(double))
        self.r.of = <double*>calloc(d * K, sizeof(double))
        self.r.power = <int64_t*>calloc(d * K, sizeof(int64_t))
        if not (
            self.r.column and self.r.unseen and self.r.parent and self.r.count and self.r.share
            and self.r.known and self.r.over and self.r.of and self.r.power
        ):
            raise MemoryError

    def __dealloc__(self):
        free(self.r.column)
        free(self.r.unseen)
        free(self.r.parent)
        free(self.r.count)
        free(self.r.share)
        free(self.r.known)
        free(self.r.over)
        free(self.r.of)
        free(self.r.power)


cdef void log_mean(const deciban_row* r, Py_ssize_t K, double* out) noexcept nogil:
    """The logarithm of the mean over the parents; without any, the columns are independent."""
    cdef:
        Py_ssize_t i, k
        int64_t top
        double total
    for k in range(K):
        if r.parents == 0:
            out[k] = 0.0
            for i in range(r.n):
                out[k] += log(r.share[i * K + k])
            continue
        top = -(<int64_t>1 << 60)
        for i in range(r.n):
            if r.parent[i] and r.power[i * K + k] > top:
                top = r.power[i * K + k]
        total = 0.0
        for i in range(r.n):
            if r.parent[i]:
                total += r.of[i * K + k] * two(r.power[i * K + k] - top)
        out[k] = log(total / r.parents) + top * LN2


def score(
    Table table, const int64_t[:, ::1] cells, const double[::1] strengths, double[:, :, ::1] out,
    const Py_ssize_t[::1] y=None, const double[::1] weight=None,
    const double[:, ::1] own_share=None,
):
    """``log P(x | c)`` under each m: (strengths, rows, classes), averaged over the parents.

    A cell of -1 is skipped; ``V`` and more are values that were never seen.
    With classes ``y``, each row is taken away from its class first; ``own_share``
    are the shares of its values there without it, (rows, columns).
    """
    cdef:
        Py_ssize_t r, s
        Row row
    if cells.shape[0] == 0 or table.t.K == 0 or table.t.d == 0:
        return
    row = Row(table)
    with nogil:
        for r in range(cells.shape[0]):
            take(&table.t, &cells[r, 0], 0.0 if y is None else weight[r], &row.r)
            if y is not None:
                leave_one_out(&table.t, &row.r, y[r], weight[r], &own_share[r, 0])
            count_unseen(&table.t, &row.r)
            for s in range(strengths.shape[0]):
                products(&table.t, &row.r, strengths[s])
                log_mean(&row.r, table.t.K, &out[s, r, 0])


cdef inline double factor(
    const deciban_pairs* t, const deciban_row* r, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k,
    double m,
) noexcept nogil:
    """``P(value j | c, value i)`` of class k."""
    cdef Py_ssize_t line = pair(r.n, i, j) if i < j else pair(r.n, j, i)
    return (r.count[line * t.K + k] + m * r.share[j * t.K + k]) * r.over[beside(t, r.n, i, j) + k]


cdef void explain_row(
    const deciban_pairs* t, const deciban_row* r, double m, const double* whole, double* out,
) noexcept nogil:
    cdef:
        Py_ssize_t i, j, k, K = t.K
        double part
    for i in range(r.n):
        for k in range(K):
            if r.parents == 0:
                out[r.column[i] * K + k] = log(r.share[i * K + k])
            if not r.parent[i]:
                continue
            # This parent's share of the sum.
            part = exp(log(r.of[i * K + k]) + r.power[i * K + k] * LN2 - whole[k]) / r.parents
            if part == 0.0:
                continue
            out[r.column[i] * K + k] += part * (log(r.share[i * K + k]) - log(part * r.parents))
            for j in range(r.n):
                if j != i:
                    out[r.column[j] * K + k] += part * log(factor(t, r, i, j, k, m))


def explain(Table table, const int64_t[:, ::1] cells, double m, double[:, :, ::1] out):
    """Add each column's part of ``log P(x | c)``, (rows, columns, classes).

    The logarithm of a mean of terms is the mean of ``log term - log (n * part)``
    weighted by each term's part of the sum. So a column is given its log likelihood
    beside each parent, weighted so, and the cost of choosing it as parent.
    """
    cdef:
        Py_ssize_t r
        double[::1] whole = np.empty(table.t.K)
        Row row
    if cells.shape[0] == 0 or table.t.K == 0 or table.t.d == 0:
        return
    row = Row(table)
    with nogil:
        for r in range(cells.shape[0]):
            take(&table.t, &cells[r, 0], 0.0, &row.r)
            count_unseen(&table.t, &row.r)
            products(&table.t, &row.r, m)
            log_mean(&row.r, table.t.K, &whole[0])
            explain_row(&table.t, &row.r, m, &whole[0], &out[r, 0, 0])
