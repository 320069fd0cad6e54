"""Gradient boosting of shallow trees on binned columns: small Newton steps that lower the log loss.

Trees are those of ``trees``: complete, two classes have one a round, more have
one each. Column j has the cells 0 .. sizes[j] - 1, and sizes[j] for holes.
"""

import numpy as np

from deciban.kernels.splits cimport Options, Split, Sum, add_sum, find_split

from libc.math cimport exp, fabs, fmod, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef extern from "boosting.h":
    void gather "deciban_gather"(
        const uint8_t*, Py_ssize_t, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t,
        const Py_ssize_t*, Py_ssize_t, const void*, void*
    ) noexcept nogil
    void gather_rare "deciban_gather_rare"(
        const int32_t*, const int64_t*, Py_ssize_t, const Py_ssize_t*, const Py_ssize_t*,
        const Py_ssize_t*, Py_ssize_t, const void*, void*
    ) noexcept nogil
    void subtract "deciban_subtract"(
        const void*, const void*, void*, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t
    ) noexcept nogil

cdef extern from "trees.h":
    void fall "deciban_fall"(
        const uint8_t*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const int32_t*, const uint64_t*,
        const double*, double*, Py_ssize_t
    ) noexcept nogil
    bint goes_left "deciban_goes_left"(const uint64_t*, Py_ssize_t) noexcept nogil

cdef enum:
    MASS_BINS = 256            # two for each power of two
    FIRST_MASS_BIN = 2 * (1023 - 100)  # what is less than 2 ** -100 is in the first

#: Where the cells that are not their column's commonest are at most this share of all, only they
#: are added up.
MAX_RARE_SHARE = 0.5
#: Knuth's linear congruential generator, and what spreads its seeds.
cdef uint64_t LCG_FACTOR = 6364136223846793005
cdef uint64_t LCG_INCREMENT = 1442695040888963407
cdef uint64_t SEED_FACTOR = 0x9E3779B97F4A7C15
#: The fractional parts of its multiples are spread evenly.
cdef double GOLDEN_RATIO = 0.6180339887498949

cdef struct Rows:
    Py_ssize_t n
    Py_ssize_t* at         # rows, those of a node together
    Py_ssize_t* spare
    Sum* of                # of each row that is among them

cdef struct ClassRows:           # one class, all rows
    const double* proba
    const Py_ssize_t* y
    const double* weight
    Py_ssize_t target
    double curvature           # what second derivatives are multiplied by

cdef struct Table:
    Py_ssize_t d
    const uint8_t* cells           # (rows, columns)
    const Py_ssize_t* first        # the place of each column's first cell
    const Py_ssize_t* columns      # those that a tree may split by, in rising order
    Py_ssize_t n_columns
    const Py_ssize_t* common       # ... and of its commonest
    const int32_t* places          # of the cells of each row that are not; or NULL
    const int64_t* starts

cdef struct Tree:
    int32_t* column
    uint64_t* left
    double* value


cdef Py_ssize_t partition(
    const Table* table, Rows* rows, Py_ssize_t begin, Py_ssize_t end, const Split* split
) noexcept nogil:
    """Those that go left first, in their order; where the others begin."""
    cdef Py_ssize_t i, r, middle = begin, others = 0
    for i in range(begin, end):
        r = rows.at[i]
        if goes_left(split.left, table.cells[r * table.d + split.column]):
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
        gather(table.cells, table.d, table.first, table.columns, table.n_columns, at, n, of, sums)
    else:
        gather_rare(table.places, table.starts, table.d, table.first, table.common, at, n, of,
                    sums)


cdef inline double leaf_value(Sum sums, const Options* options) noexcept nogil:
    return -options.rate * sums.gradient / (sums.hessian + options.penalty)


cdef inline double residual(const ClassRows* all, Py_ssize_t i) noexcept nogil:
    """The derivative of the loss of a row of weight 1: its probability less the truth."""
    return all.proba[i] - (1.0 if all.y[i] == all.target else 0.0)


cdef inline Py_ssize_t mass_bin(double size) noexcept nogil:
    """The bin of a number by its exponent and the first digit after the point."""
    cdef int64_t bits
    memcpy(&bits, &size, sizeof(double))
    bits = (bits >> 51) - FIRST_MASS_BIN
    return 0 if bits < 0 else (MASS_BINS - 1 if bits >= MASS_BINS else bits)


cdef double least_certain(const ClassRows* all, Py_ssize_t n, double trim) noexcept nogil:
    """Rows of residuals below this have about the share ``trim`` of the sum of all gradients."""
    cdef double mass[MASS_BINS]
    cdef double total = 0, below = 0, size
    cdef int64_t bits
    cdef Py_ssize_t i, b
    memset(mass, 0, sizeof(mass))
    for i in range(n):
        size = fabs(residual(all, i))
        mass[mass_bin(size)] += all.weight[i] * size
    for b in range(MASS_BINS):
        total += mass[b]
    for b in range(MASS_BINS):
        below += mass[b]
        if below > trim * total:
            bits = <int64_t>(b + FIRST_MASS_BIN) << 51
            memcpy(&size, &bits, sizeof(double))
            return size
    return 0


cdef void sample(
    const ClassRows* all, Py_ssize_t n, double trim, double start, Rows* rows
) noexcept nogil:
    """The rows that a tree is grown on, with their derivatives.

    Rows of large residuals are among them; of the others each with a probability that is
    its residual over the least of those, which its derivatives are divided by. Systematic
    sampling: a row is taken whenever the sum of the probabilities passes a whole number.
    The weight of a row does not matter: one that is badly wrong is never scaled up.
    """
    cdef double least = least_certain(all, n, trim), off, share, at = start
    cdef Py_ssize_t i, kept = 0
    for i in range(n):
        off = residual(all, i)
        share = 1.0
        if fabs(off) < least:
            share = fabs(off) / least
            at += share
            if at < 1:
                continue
            at -= 1
        rows.at[kept] = i
        rows.of[i] = Sum(
            all.weight[i] * off / share,
            all.weight[i] * all.proba[i] * (1 - all.proba[i]) * all.curvature / share,
            all.weight[i], 0)
        kept += 1
    rows.n = kept


cdef Py_ssize_t draw_columns(
    Py_ssize_t d, Py_ssize_t many, Py_ssize_t seed, Py_ssize_t* out
) noexcept nogil:
    """So many of d columns, in rising order, any as likely as any other; how many there are."""
    cdef Py_ssize_t j, taken = 0
    cdef uint64_t state = <uint64_t>(seed + 1) * SEED_FACTOR
    for j in range(d):
        state = state * LCG_FACTOR + LCG_INCREMENT
        if <Py_ssize_t>((state >> 33) % <uint64_t>(d - j)) < many - taken:
            out[taken] = j
            taken += 1
    return taken


cdef void grow(
    const Table* table, const uint8_t* ordered, Rows* rows, const Options* options, Sum** sums,
    Py_ssize_t* begin, Py_ssize_t* end, Tree tree
) noexcept nogil:
    """One tree, level by level."""
    cdef Py_ssize_t inner = (1 << options.depth) - 1, node, child, i, small, large
    cdef Split split
    cdef Sum total
    memset(&total, 0, sizeof(Sum))
    for i in range(rows.n):
        add_sum(&total, &rows.of[rows.at[i]], 1)
    begin[0], end[0] = 0, rows.n
    memset(tree.value, 0, (2 * inner + 1) * sizeof(double))
    tree.value[0] = leaf_value(total, options)
    add_up(table, rows.at, rows.n, rows.of, sums[0])
    for node in range(inner):
        child = 2 * node + 1
        split.column = -1
        if begin[node] >= 0:
            find_split(sums[node], table.columns, table.n_columns, table.first, ordered, options,
                       &split)
        tree.column[node] = <int32_t>split.column
        if split.column < 0:
            if child < inner:
                begin[child] = begin[child + 1] = -1
            continue
        for i in range(4):
            tree.left[4 * node + i] = split.left[i]
        tree.value[child] = leaf_value(split.part, options)
        add_sum(&split.total, &split.part, -1)
        tree.value[child + 1] = leaf_value(split.total, options)
        if child >= inner:
            continue
        begin[child], end[child + 1] = begin[node], end[node]
        end[child] = begin[child + 1] = partition(table, rows, begin[node], end[node], &split)
        # The larger child is what the smaller leaves.
        small = child if 2 * end[child] <= begin[node] + end[node] else child + 1
        large = 2 * child + 1 - small
        add_up(table, rows.at + begin[small], end[small] - begin[small], rows.of, sums[small])
        subtract(sums[node], sums[small], sums[large], table.first, table.columns,
                 table.n_columns)


cdef void predict(const double[:, ::1] F, double* out) noexcept nogil:
    """The probabilities under the logits F, (trees a round, rows)."""
    cdef Py_ssize_t i, k, n = F.shape[0], K = F.shape[1]
    cdef double top, total
    for i in range(n):
        if K == 2:
            out[i] = 1.0 / (1.0 + exp(F[i, 0] - F[i, 1]))
            continue
        top, total = F[i, 0], 0
        for k in range(1, K):
            top = max(top, F[i, k])
        for k in range(K):
            out[k * n + i] = exp(F[i, k] - top)
            total += out[k * n + i]
        for k in range(K):
            out[k * n + i] /= total


cdef double log_loss(
    const double[:, ::1] F, const Py_ssize_t[::1] y, const double[::1] weight
) noexcept nogil:
    """The summed log loss of rows under the logits F."""
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


cdef tuple rare_cells(const uint8_t[:, ::1] X, const Py_ssize_t[::1] first):
    """The place of each column's commonest cell, and the places of all others, row by row.

    ``places`` is None where those would be too many for it to pay.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], i, j
        int64_t at = 0, n_rare = n * d
        Py_ssize_t[::1] common = np.empty(d, dtype=np.intp), times = np.zeros(first[d], np.intp)
        int64_t[::1] starts = np.zeros(n + 1, dtype=np.int64)
        int32_t[::1] places
    with nogil:
        for i in range(n):
            for j in range(d):
                times[first[j] + X[i, j]] += 1
    for j in range(d):
        common[j] = first[j] + np.argmax(times[first[j]:first[j + 1]])
        n_rare -= times[common[j]]
    if n_rare > MAX_RARE_SHARE * n * d:
        return common, None, starts
    places = np.empty(n_rare, dtype=np.int32)
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
    double rate, double penalty, double set_penalty, double smoothing, double min_weight,
    double steady_rounds, double max_growth, int rounds, int patience, double trim,
    Py_ssize_t n_columns,
):
    """Add trees to the logits F until held-out rows have not gained for ``patience`` rounds.

    From round ``steady_rounds`` on the rate grows in proportion to the rounds, up to
    ``max_growth`` times itself. Each tree splits by ``n_columns`` of the columns.

    Returns ``column, left, value`` of the trees up to the best round, and the
    summed loss of the held-out rows before and after every round. The logits
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
        tuple rare = rare_cells(X, first)
        Py_ssize_t[::1] common = rare[0]
        int32_t[::1] places = rare[1]
        int64_t[::1] starts = rare[2]
        Py_ssize_t[::1] columns = np.arange(d, dtype=np.intp)
        Table table = Table(d, &X[0, 0], &first[0], &columns[0], d, &common[0], NULL, &starts[0])
        Options options = Options(depth, rate, penalty, set_penalty, smoothing, min_weight)
        Sum** sums = <Sum**>malloc(inner * sizeof(Sum*))
        Sum* room = <Sum*>malloc(inner * first[d] * sizeof(Sum))
        Sum* derivatives = <Sum*>malloc(n * sizeof(Sum))
        Rows rows = Rows(n, &order[0, 0], &order[1, 0], derivatives)
        double[:, ::1] proba = np.empty((T, n))
        ClassRows all = ClassRows(NULL, &y[0], &weight[0], 1, 1.0 if K == 2 else K / (K - 1.0))
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
        losses[0] = log_loss(F_held, y_held, weight_held)
        for r in range(rounds):
            options.rate = rate * min(max_growth, max(1.0, <double>r / steady_rounds))
            predict(F, &proba[0, 0])
            for k in range(T):
                at, target = r * T + k, 1 if K == 2 else k
                all.proba, all.target = &proba[k, 0], target
                sample(&all, n, trim, fmod(at * GOLDEN_RATIO, 1.0), &rows)
                table.n_columns = draw_columns(d, n_columns, at, &columns[0])
                tree = Tree(&column[at, 0], &left[at, 0, 0], &value[at, 0])
                grow(&table, &ordered[0], &rows, &options, sums, &ends[0, 0], &ends[1, 0], tree)
                fall(&X[0, 0], n, d, inner, tree.column, tree.left, tree.value, &F[0, target], K)
                if X_held.shape[0]:
                    fall(&X_held[0, 0], X_held.shape[0], d, inner, tree.column, tree.left,
                         tree.value, &F_held[0, target], K)
            losses[r + 1] = log_loss(F_held, y_held, weight_held)
            if losses[r + 1] < losses[best]:
                best = r + 1
            elif r + 1 - best >= patience:
                break
    free(sums)
    free(room)
    free(derivatives)
    trees = np.asarray(column), np.asarray(left), np.asarray(value)
    history = np.asarray(losses)
    return (*[part[:best * T].copy() for part in trees], history[np.isfinite(history)])
