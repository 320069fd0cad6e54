"""Boosted shallow trees on binned columns: small steps that lower the log loss.

A tree is complete: node ``i`` has the children ``2 i + 1`` and ``2 i + 2``. A
split is a column and the set of its cells, 256 bits, that go left. Column j
has the cells 0 .. sizes[j] - 1, and sizes[j] for holes. The value of every node
is kept, inner ones too, so that what each split changes can be told.

Two classes have one tree a round, for the second class; more have one each.
"""

import numpy as np

from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from "trees.h":
    void gather "deciban_gather"(
        const uint8_t*, Py_ssize_t, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t, const void*,
        void*
    ) noexcept nogil
    void gather_some "deciban_gather_some"(
        const int32_t*, const int64_t*, Py_ssize_t, const Py_ssize_t*, const Py_ssize_t*,
        const Py_ssize_t*, Py_ssize_t, const void*, void*
    ) noexcept nogil
    void fall "deciban_fall"(
        const uint8_t*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const int32_t*, const uint64_t*,
        const double*, double*, Py_ssize_t
    ) noexcept nogil
    void rest "deciban_rest"(const void*, const void*, void*, Py_ssize_t) noexcept nogil

cdef enum:
    CELLS = 256
    BLOCK = 2048            # rows whose cells stay in the cache while trees come and go

#: Where common cells are more than this share of all, only the others are added up.
SHARE = 0.5

cdef struct Sum:
    double slope, curve, weight, unused     # four: one vector register

cdef struct Split:
    double gain
    Py_ssize_t column
    uint64_t left[4]
    Sum part               # of the rows that go left
    Sum total              # of all rows of the node

cdef struct Rules:
    int depth
    double rate            # the share of a Newton step that is taken
    double shrink          # added to the curvature of a leaf
    double shrink_sets     # the same where categories are split into sets
    double smooth          # added to the curvature of a category when they are ordered
    double least           # the least weight of a leaf

cdef struct Rows:
    Py_ssize_t n
    Py_ssize_t* at         # rows, those of a node together
    Py_ssize_t* spare
    const Sum* of          # of each row

cdef struct Table:
    Py_ssize_t d
    const uint8_t* cells           # (rows, columns)
    const Py_ssize_t* first        # the place of each column's first cell
    const Py_ssize_t* common       # ... and of its commonest
    const int32_t* places          # of the cells of each row that are not; or NULL
    const int64_t* starts

cdef struct Tree:
    int32_t* column
    uint64_t* left
    double* value


cdef inline void add_sum(Sum* to, const Sum* what, double sign) noexcept nogil:
    to.slope += sign * what.slope
    to.curve += sign * what.curve
    to.weight += sign * what.weight


cdef inline bint goes_left(const uint64_t* left, Py_ssize_t cell) noexcept nogil:
    return (left[cell >> 6] >> (cell & 63)) & 1


cdef inline void put_left(uint64_t* left, Py_ssize_t cell) noexcept nogil:
    left[cell >> 6] |= <uint64_t>1 << (cell & 63)


cdef void cut_in_two(
    const Sum* cells, const Py_ssize_t* order, Py_ssize_t n, Py_ssize_t hole, Sum total,
    double shrink, double least, Py_ssize_t column, Split* best
) noexcept nogil:
    """The best cut of cells in an order; holes go to either side."""
    cdef Py_ssize_t c, at, side, stop
    cdef bint holes = cells[hole].weight > 0
    cdef double gain, over, under, before = total.slope * total.slope / (total.curve + shrink)
    cdef Sum part, other
    for side in range(2 if holes else 1):
        memset(&part, 0, sizeof(Sum))
        if side:
            add_sum(&part, &cells[hole], 1)
        stop = n if holes and not side else n - 1
        for c in range(stop):
            if cells[order[c]].weight == 0:
                continue
            add_sum(&part, &cells[order[c]], 1)
            if part.weight < least:
                continue
            if total.weight - part.weight < least:
                break
            other.slope, other.curve = total.slope - part.slope, total.curve - part.curve
            # Both sides' worth over one denominator: most cuts are told worse without dividing.
            over, under = part.curve + shrink, other.curve + shrink
            gain = part.slope * part.slope * under + other.slope * other.slope * over
            if gain > (best.gain + before) * over * under:
                best.gain = gain / (over * under) - before
                best.column = column
                best.part = part
                best.total = total
                memset(best.left, 0, sizeof(best.left))
                for at in range(c + 1):
                    put_left(best.left, order[at])
                if side:
                    put_left(best.left, hole)


cdef Py_ssize_t sorted_cells(
    const Sum* cells, Py_ssize_t n, double smooth, Py_ssize_t* order
) noexcept nogil:
    """The categories that occur, by the step that each would take; how many."""
    cdef double key[CELLS]
    cdef double k
    cdef Py_ssize_t c, at, found = 0
    for c in range(n):
        if cells[c].weight <= 0:
            continue
        k = cells[c].slope / (cells[c].curve + smooth)
        at = found
        while at > 0 and key[at - 1] > k:
            key[at] = key[at - 1]
            order[at] = order[at - 1]
            at -= 1
        key[at] = k
        order[at] = c
        found += 1
    return found


cdef void find_split(
    const Sum* sums, const Py_ssize_t[::1] first, const uint8_t[::1] ordered, const Rules* rules,
    Split* best
) noexcept nogil:
    cdef Py_ssize_t j, c, hole
    cdef Py_ssize_t order[CELLS]
    cdef Py_ssize_t sorted_[CELLS]
    cdef const Sum* cells
    cdef Sum total
    best.gain = 1e-10
    best.column = -1
    memset(&total, 0, sizeof(Sum))
    for c in range(first[1]):  # the first column's cells, as any other's, hold all rows
        add_sum(&total, &sums[c], 1)
    if total.weight < 2 * rules.least:
        return
    for c in range(CELLS):
        order[c] = c
    for j in range(first.shape[0] - 1):
        cells, hole = sums + first[j], first[j + 1] - first[j] - 1
        if ordered[j]:
            cut_in_two(cells, order, hole, hole, total, rules.shrink, rules.least, j, best)
        else:
            cut_in_two(
                cells, sorted_, sorted_cells(cells, hole, rules.smooth, sorted_), hole, total,
                rules.shrink_sets, rules.least, j, best)


cdef Py_ssize_t part_rows(
    const uint8_t[:, ::1] X, Rows* rows, Py_ssize_t begin, Py_ssize_t end, const Split* split
) noexcept nogil:
    """Those that go left first, in their order; where the others begin."""
    cdef Py_ssize_t i, r, middle = begin, others = 0
    for i in range(begin, end):
        r = rows.at[i]
        if goes_left(split.left, X[r, split.column]):
            rows.at[middle] = r
            middle += 1
        else:
            rows.spare[others] = r
            others += 1
    for i in range(others):
        rows.at[middle + i] = rows.spare[i]
    return middle


cdef void add_up(
    const Table* table, const Py_ssize_t* at, Py_ssize_t n, const Sum* of, Sum* sums
) noexcept nogil:
    """The sums of every cell over some rows."""
    if table.places == NULL:
        gather(table.cells, table.d, table.first, at, n, of, sums)
    else:
        gather_some(table.places, table.starts, table.d, table.first, table.common, at, n, of,
                    sums)


cdef inline double step_of(Sum sums, const Rules* rules) noexcept nogil:
    return -rules.rate * sums.slope / (sums.curve + rules.shrink)


cdef void grow(
    const uint8_t[:, ::1] X, const Table* table, const Py_ssize_t[::1] first, const uint8_t[::1] ordered, Rows* rows,
    const Rules* rules, Sum** sums, Py_ssize_t* begin, Py_ssize_t* end, Tree tree,
    double* margin, Py_ssize_t stride
) noexcept nogil:
    """One tree, level by level; the margins of its rows are moved."""
    cdef Py_ssize_t inner = (1 << rules.depth) - 1, node, child, i, r, small, large
    cdef Split split
    cdef Sum total
    memset(&total, 0, sizeof(Sum))
    for i in range(rows.n):
        rows.at[i] = i
        add_sum(&total, &rows.of[i], 1)
    begin[0], end[0] = 0, rows.n
    memset(tree.value, 0, (2 * inner + 1) * sizeof(double))
    tree.value[0] = step_of(total, rules)
    add_up(table, rows.at, rows.n, rows.of, sums[0])
    for node in range(inner):
        child = 2 * node + 1
        split.column = -1
        if begin[node] >= 0:
            find_split(sums[node], first, ordered, rules, &split)
        tree.column[node] = <int32_t>split.column
        if split.column < 0:
            if begin[node] >= 0:
                for i in range(begin[node], end[node]):
                    margin[rows.at[i] * stride] += tree.value[node]
            if child < inner:
                begin[child] = begin[child + 1] = -1
            continue
        for i in range(4):
            tree.left[4 * node + i] = split.left[i]
        tree.value[child] = step_of(split.part, rules)
        add_sum(&split.total, &split.part, -1)
        tree.value[child + 1] = step_of(split.total, rules)
        if child >= inner:
            for i in range(begin[node], end[node]):
                r = rows.at[i]
                margin[r * stride] += tree.value[
                    child if goes_left(split.left, X[r, split.column]) else child + 1]
            continue
        begin[child], end[child + 1] = begin[node], end[node]
        end[child] = begin[child + 1] = part_rows(X, rows, begin[node], end[node], &split)
        # The larger child is what the smaller leaves.
        small = child if 2 * end[child] <= begin[node] + end[node] else child + 1
        large = 2 * child + 1 - small
        add_up(table, rows.at + begin[small], end[small] - begin[small], rows.of, sums[small])
        rest(sums[node], sums[small], sums[large], first[table.d])


cdef inline Py_ssize_t next_node(Tree tree, Py_ssize_t node, const uint8_t* x) noexcept nogil:
    return 2 * node + (1 if goes_left(tree.left + 4 * node, x[tree.column[node]]) else 2)


cdef void slopes(
    const double[:, ::1] F, const Py_ssize_t[::1] y, const double[::1] weight, Sum* out
) noexcept nogil:
    """First and second derivatives of the log loss, (trees a round, rows)."""
    cdef Py_ssize_t i, k, n = F.shape[0], K = F.shape[1]
    cdef double top, total, p
    for i in range(n):
        if K == 2:
            p = 1.0 / (1.0 + exp(F[i, 0] - F[i, 1]))
            out[i] = Sum(weight[i] * (p - y[i]), weight[i] * p * (1 - p), weight[i], 0)
            continue
        top, total = F[i, 0], 0
        for k in range(1, K):
            top = max(top, F[i, k])
        for k in range(K):
            out[k * n + i].slope = exp(F[i, k] - top)
            total += out[k * n + i].slope
        for k in range(K):
            p = out[k * n + i].slope / total
            out[k * n + i] = Sum(
                weight[i] * (p - (1.0 if k == y[i] else 0.0)),
                weight[i] * p * (1 - p) * K / (K - 1.0), weight[i], 0)


cdef double loss_of(
    const double[:, ::1] F, const Py_ssize_t[::1] y, const double[::1] weight
) noexcept nogil:
    """The summed log loss."""
    cdef Py_ssize_t i, k
    cdef double top, total, loss = 0
    for i in range(F.shape[0]):
        top, total = F[i, 0], 0
        for k in range(1, F.shape[1]):
            top = max(top, F[i, k])
        for k in range(F.shape[1]):
            total += exp(F[i, k] - top)
        loss += weight[i] * (top + log(total) - F[i, y[i]])
    return loss


def uncommon(const uint8_t[:, ::1] X, const Py_ssize_t[::1] first):
    """The place of each column's commonest cell, and the places of all others, row by row.

    ``places`` is None where those would be too many for it to pay.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j
        int64_t at = 0, rare = n * d
        Py_ssize_t[::1] common = np.empty(d, dtype=np.intp), times = np.zeros(first[d], np.intp)
        int64_t[::1] starts = np.zeros(n + 1, dtype=np.int64)
        int32_t[::1] places
    with nogil:
        for i in range(n):
            for j in range(d):
                times[first[j] + X[i, j]] += 1
    for j in range(d):
        common[j] = first[j] + np.argmax(times[first[j]:first[j + 1]])
        rare -= times[common[j]]
    if rare > SHARE * n * d:
        return common, None, starts
    places = np.empty(rare, dtype=np.int32)
    with nogil:
        for i in range(n):
            for j in range(d):
                if first[j] + X[i, j] != common[j]:
                    places[at] = <int32_t>(first[j] + X[i, j])
                    at += 1
            starts[i + 1] = at
    return common, places, starts


def boost(
    const uint8_t[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weight, double[:, ::1] F,
    const uint8_t[:, ::1] X_held, const Py_ssize_t[::1] y_held, const double[::1] weight_held,
    double[:, ::1] F_held, const Py_ssize_t[::1] sizes, const uint8_t[::1] ordered, int depth,
    double rate, double shrink, double shrink_sets, double smooth, double least, int rounds,
    int patience,
):
    """Add trees to the margins F until held-out rows have not gained for ``patience`` rounds.

    Returns ``column, left, value`` of the trees up to the best round, and the
    summed loss of the held-out rows before and after every round. The margins
    are changed in place.
    """
    cdef:
        Py_ssize_t n = X.shape[0], K = F.shape[1], T = 1 if K == 2 else K, d = X.shape[1]
        Py_ssize_t inner = (1 << depth) - 1, i, k, r, at, target, best = 0
        # The cells of a column, and that of its holes, stand together.
        Py_ssize_t[::1] first = np.concatenate([[0], np.cumsum(np.asarray(sizes) + 1)])
        int32_t[:, ::1] column = np.full((rounds * T, inner), -1, dtype=np.int32)
        uint64_t[:, :, ::1] left = np.zeros((rounds * T, inner, 4), dtype=np.uint64)
        double[:, ::1] value = np.zeros((rounds * T, 2 * inner + 1))
        double[::1] losses = np.full(rounds + 1, np.inf)
        Py_ssize_t[:, ::1] order = np.empty((2, n), dtype=np.intp)
        Py_ssize_t[:, ::1] ends = np.empty((2, 2 * inner + 1), dtype=np.intp)
        tuple found = uncommon(X, first)
        Py_ssize_t[::1] common = found[0]
        int32_t[::1] places = found[1]
        int64_t[::1] starts = found[2]
        Table table = Table(d, &X[0, 0], &first[0], &common[0], NULL, &starts[0])
        Rules rules = Rules(depth, rate, shrink, shrink_sets, smooth, least)
        Rows rows = Rows(n, &order[0, 0], &order[1, 0], NULL)
        Sum** sums = <Sum**>malloc(inner * sizeof(Sum*))
        Sum* room = <Sum*>malloc(inner * first[d] * sizeof(Sum))
        Sum* derivatives = <Sum*>malloc(T * n * sizeof(Sum))
        Tree tree
    if places is not None:
        # Where every cell is common there is none to point at, and none is read.
        table.places = &places[0] if places.shape[0] else <int32_t*>&starts[0]
    if sums == NULL or room == NULL or derivatives == NULL:
        free(sums)
        free(room)
        free(derivatives)
        raise MemoryError
    with nogil:
        for i in range(inner):
            sums[i] = room + i * first[d]
        losses[0] = loss_of(F_held, y_held, weight_held)
        for r in range(rounds):
            slopes(F, y, weight, derivatives)
            for k in range(T):
                at, target = r * T + k, 1 if K == 2 else k
                rows.of = derivatives + k * n
                tree = Tree(&column[at, 0], &left[at, 0, 0], &value[at, 0])
                grow(X, &table, first, ordered, &rows, &rules, sums, &ends[0, 0], &ends[1, 0], tree,
                     &F[0, target], K)
                if X_held.shape[0]:
                    fall(&X_held[0, 0], X_held.shape[0], d, inner, tree.column, tree.left,
                         tree.value, &F_held[0, target], K)
            losses[r + 1] = loss_of(F_held, y_held, weight_held)
            if losses[r + 1] < losses[best]:
                best = r + 1
            elif r + 1 - best >= patience:
                break
    free(sums)
    free(room)
    free(derivatives)
    kept, seen = best * T, np.asarray(losses)
    trees = np.asarray(column), np.asarray(left), np.asarray(value)
    return (*[part[:kept].copy() for part in trees], seen[np.isfinite(seen)])


def add(
    const uint8_t[:, ::1] X, const int32_t[:, ::1] column, const uint64_t[:, :, ::1] left,
    const double[:, ::1] value, double[:, ::1] out,
):
    """Add what the trees say to the margins of rows, (rows, classes)."""
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], inner = column.shape[1]
        Py_ssize_t t, i = 0, many
    with nogil:
        while i < n:
            many = n - i if n - i < BLOCK else BLOCK
            for t in range(column.shape[0]):
                fall(&X[i, 0], many, d, inner, &column[t, 0], &left[t, 0, 0], &value[t, 0],
                     &out[i, 1 if K == 2 else t % K], K)
            i += many


def explain(
    const uint8_t[:, ::1] X, const int32_t[:, ::1] column, const uint64_t[:, :, ::1] left,
    const double[:, ::1] value, double[:, :, ::1] out,
):
    """Add what each split changes to its column, (rows, columns, classes); roots are left out."""
    cdef:
        Py_ssize_t K = out.shape[2], inner = column.shape[1], t, i, target, node, child
        Tree tree
    with nogil:
        for t in range(column.shape[0]):
            tree = Tree(<int32_t*>&column[t, 0], <uint64_t*>&left[t, 0, 0], <double*>&value[t, 0])
            target = 1 if K == 2 else t % K
            for i in range(X.shape[0]):
                node = 0
                while node < inner and tree.column[node] >= 0:
                    child = next_node(tree, node, &X[i, 0])
                    out[i, tree.column[node], target] += tree.value[child] - tree.value[node]
                    node = child
