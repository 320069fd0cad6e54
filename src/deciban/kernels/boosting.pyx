"""Gradient boosting of shallow trees on binned columns: small Newton steps that lower the log loss.

Trees are those of ``trees``: complete, two classes have one a round, more have
one each. Column j has the cells 0 .. sizes[j] - 1, and sizes[j] for holes.
"""

import numpy as np

from deciban.kernels.gradients cimport ClassRows, Rows, sample
from deciban.kernels.splits cimport Options, Split, Sum, add_sum, find_split

from libc.math cimport exp, fabs, fmod, log1p
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef extern from "boosting.h":
    void logistic "deciban_logistic"(const double*, Py_ssize_t, double*) noexcept nogil
    void softmax "deciban_softmax"(const double*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
    void log_totals "deciban_log_totals"(
        const double*, Py_ssize_t, Py_ssize_t, double*
    ) noexcept nogil
    void gather "deciban_gather"(
        const uint8_t*, Py_ssize_t, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t,
        const int32_t*, Py_ssize_t, const void*, void*
    ) noexcept nogil
    void gather_rare "deciban_gather_rare"(
        const int32_t*, const int64_t*, Py_ssize_t, const Py_ssize_t*, const Py_ssize_t*,
        const int32_t*, Py_ssize_t, const void*, void*
    ) noexcept nogil
    void subtract "deciban_subtract"(
        const void*, const void*, void*, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t
    ) noexcept nogil

cdef extern from "trees.h":
    void fall "deciban_fall"(
        const uint8_t*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const int32_t*, const uint64_t*,
        const double*, double*, Py_ssize_t
    ) noexcept nogil
    Py_ssize_t goes_left "deciban_goes_left"(const uint64_t*, Py_ssize_t) noexcept nogil

#: Where the cells that are not their column's commonest are at most this share of all, only they
#: are added up.
MAX_RARE_SHARE = 0.5
#: Knuth's linear congruential generator, and what spreads its seeds.
cdef uint64_t LCG_FACTOR = 6364136223846793005
cdef uint64_t LCG_INCREMENT = 1442695040888963407
cdef uint64_t SEED_FACTOR = 0x9E3779B97F4A7C15
#: The fractional parts of its multiples are spread evenly.
cdef double GOLDEN_RATIO = 0.6180339887498949

cdef struct Table:
    Py_ssize_t d
    Py_ssize_t n
    const uint8_t* cells           # (rows, columns)
    const uint8_t* by_column       # (columns, rows)
    const Py_ssize_t* first        # the place of each column's first cell
    const Py_ssize_t* columns      # those that a tree may split by, in rising order
    Py_ssize_t n_columns
    const Py_ssize_t* common       # ... and of its commonest
    const int32_t* places          # of the cells of each row that are not; or NULL
    const int64_t* starts

cdef struct Leaf:                # of a tree that grows, and how it would be split
    Py_ssize_t node
    Py_ssize_t begin               # of its rows
    Py_ssize_t end
    Sum* sums
    Split split

cdef struct Tree:
    int32_t* column
    uint64_t* left
    double* value


cdef Py_ssize_t partition(
    const Table* table, Rows* rows, Py_ssize_t begin, Py_ssize_t end, const Split* split
) noexcept nogil:
    """Those that go left first, in their order; where the others begin.

    Every row is written to both sides, and one of them moves on: nothing to guess.
    """
    cdef Py_ssize_t i, left, middle = begin, others = 0
    cdef int32_t r
    cdef const uint8_t* cells = table.by_column + split.column * table.n
    for i in range(begin, end):
        r = rows.at[i]
        left = goes_left(split.left, cells[r])
        rows.at[middle] = r
        rows.spare[others] = r
        middle += left
        others += 1 - left
    memcpy(rows.at + middle, rows.spare, others * sizeof(int32_t))
    return middle


cdef void add_up(
    const Table* table, const int32_t* at, Py_ssize_t n, const Sum* of, Sum* sums
) noexcept nogil:
    """The sums of every cell over some rows."""
    if table.places == NULL:
        gather(table.cells, table.d, table.first, table.columns, table.n_columns, at, n, of, sums)
    else:
        gather_rare(table.places, table.starts, table.d, table.first, table.common, at, n, of,
                    sums)


cdef inline double leaf_value(Sum sums, const Options* options) noexcept nogil:
    return -options.rate * sums.gradient / (sums.hessian + options.penalty)


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


cdef Py_ssize_t best_leaf(const Leaf* leaves, Py_ssize_t many) noexcept nogil:
    """The leaf whose split gains most, the first of equals; -1 where none gains."""
    cdef Py_ssize_t i, best = -1
    for i in range(many):
        if leaves[i].split.column >= 0:
            if best < 0 or leaves[i].split.gain > leaves[best].split.gain:
                best = i
    return best


cdef void split_leaf(
    const Table* table, const Options* options, Rows* rows, Leaf* leaf, Leaf* new, Tree tree
) noexcept nogil:
    """Split a leaf in two, of which the right one is new, and sort its rows."""
    cdef Py_ssize_t i, node = leaf.node, child = 2 * node + 1
    cdef Split* split = &leaf.split
    tree.column[node] = <int32_t>split.column
    for i in range(4):
        tree.left[4 * node + i] = split.left[i]
    tree.value[child] = leaf_value(split.part, options)
    add_sum(&split.total, &split.part, -1)
    tree.value[child + 1] = leaf_value(split.total, options)
    i = partition(table, rows, leaf.begin, leaf.end, split)
    new.node, new.begin, new.end = child + 1, i, leaf.end
    leaf.node, leaf.end = child, i
    leaf.split.column = new.split.column = -1


cdef void add_up_both(const Table* table, const Rows* rows, Leaf* left, Leaf* right) noexcept nogil:
    """The sums of two leaves, where the left one has those of both; the larger has what is left."""
    cdef Leaf* small = left if left.end - left.begin <= right.end - right.begin else right
    cdef Leaf* large = right if small == left else left
    large.sums, small.sums = left.sums, right.sums
    add_up(table, rows.at + small.begin, small.end - small.begin, rows.of, small.sums)
    subtract(large.sums, small.sums, large.sums, table.first, table.columns, table.n_columns)


cdef Py_ssize_t grow(
    const Table* table, const uint8_t* ordered, Rows* rows, const Options* options, Leaf* leaves,
    Tree tree
) noexcept nogil:
    """One tree, the leaf that gains most being split next; how many leaves it has."""
    cdef Py_ssize_t inner = (1 << options.depth) - 1, i, best = 0, many = 1
    cdef Sum total
    cdef Leaf* leaf
    memset(&total, 0, sizeof(Sum))
    for i in range(rows.n):
        add_sum(&total, &rows.of[rows.at[i]], 1)
    memset(tree.value, 0, (2 * inner + 1) * sizeof(double))
    tree.value[0] = leaf_value(total, options)
    leaves[0].node, leaves[0].begin, leaves[0].end = 0, 0, rows.n
    add_up(table, rows.at, rows.n, rows.of, leaves[0].sums)
    find_split(leaves[0].sums, table.columns, table.n_columns, table.first, ordered, options,
               &leaves[0].split)
    while many < options.leaves:
        best = best_leaf(leaves, many)
        if best < 0:
            break
        leaf = &leaves[best]
        split_leaf(table, options, rows, leaf, &leaves[many], tree)
        many += 1
        if leaf.node >= inner or many == options.leaves:
            continue
        add_up_both(table, rows, leaf, &leaves[many - 1])
        for i in range(2):
            leaf = &leaves[many - 1 if i else best]
            find_split(leaf.sums, table.columns, table.n_columns, table.first, ordered, options,
                       &leaf.split)
    return many


cdef void add_leaves(
    const Rows* rows, const Leaf* leaves, Py_ssize_t many, const double* value, double* logits
) noexcept nogil:
    """Add the value of its leaf to the logit of every row that a tree was grown on."""
    cdef Py_ssize_t leaf, i
    for leaf in range(many):
        for i in range(leaves[leaf].begin, leaves[leaf].end):
            logits[rows.at[i]] += value[leaves[leaf].node]


cdef double log_loss(
    const double[:, ::1] F, const Py_ssize_t[::1] y, const double[::1] weight, double[::1] room
) noexcept nogil:
    """The summed log loss of rows under the logits F, (trees a round, rows)."""
    cdef Py_ssize_t i, n = F.shape[1]
    cdef double loss = 0, sign
    if n == 0:
        return 0
    if F.shape[0] == 1:
        for i in range(n):
            sign = 1.0 if y[i] == 0 else -1.0
            room[i] = sign * F[0, i]
            loss += weight[i] * (max(room[i], 0.0) + log1p(exp(-fabs(room[i]))))
        return loss
    log_totals(&F[0, 0], n, F.shape[0], &room[0])
    for i in range(n):
        loss += weight[i] * (room[i] - F[y[i], i])
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
    const uint8_t[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weight,
    const uint8_t[:, ::1] X_held, const Py_ssize_t[::1] y_held, const double[::1] weight_held,
    offset, const Py_ssize_t[::1] sizes, const uint8_t[::1] ordered, int depth, int n_leaves,
    double rate, double penalty, double set_penalty, double smoothing, double min_weight,
    double steady_rounds, double max_growth, int rounds, int patience, double trim,
    Py_ssize_t n_columns,
):
    """Add trees to an offset, (classes,), until held-out rows gain nothing for ``patience`` rounds.

    From round ``steady_rounds`` on the rate grows in proportion to the rounds, up to
    ``max_growth`` times itself. Each tree splits by ``n_columns`` of the columns, and has no more
    than ``n_leaves`` leaves.

    Returns ``column, left, value`` of the trees up to the best round, and the
    summed loss of the held-out rows before and after every round.
    """
    cdef:
        Py_ssize_t n = X.shape[0], K = len(offset), T = 1 if K == 2 else K, d = X.shape[1]
        Py_ssize_t n_held = X_held.shape[0]
        Py_ssize_t inner = (1 << depth) - 1, i, k, r, at, many, best = 0
        # Two classes have the logits of the second alone, those of the first being taken off.
        start = np.atleast_1d(np.diff(offset)[0] if K == 2 else offset)[:, None]
        double[:, ::1] F = np.repeat(start, n, axis=1), F_held = np.repeat(start, n_held, axis=1)
        double[::1] room_held = np.empty(n_held)
        # The cells of a column, and that of its holes, stand together.
        Py_ssize_t[::1] first = np.concatenate([[0], np.cumsum(np.asarray(sizes) + 1)])
        int32_t[:, ::1] column = np.full((rounds * T, inner), -1, dtype=np.int32)
        uint64_t[:, :, ::1] left = np.zeros((rounds * T, inner, 4), dtype=np.uint64)
        double[:, ::1] value = np.zeros((rounds * T, 2 * inner + 1))
        double[::1] losses = np.full(rounds + 1, np.inf)
        int32_t[:, ::1] order = np.empty((2, n), dtype=np.int32)
        uint8_t[:, ::1] by_column = np.ascontiguousarray(np.asarray(X).T)
        tuple rare = rare_cells(X, first)
        Py_ssize_t[::1] common = rare[0]
        int32_t[::1] places = rare[1]
        int64_t[::1] starts = rare[2]
        Py_ssize_t[::1] columns = np.arange(d, dtype=np.intp)
        Table table = Table(
            d, n, &X[0, 0], &by_column[0, 0], &first[0], &columns[0], d, &common[0], NULL,
            &starts[0])
        Options options = Options(
            depth, n_leaves, rate, penalty, set_penalty, smoothing, min_weight)
        Leaf* leaves = <Leaf*>malloc(n_leaves * sizeof(Leaf))
        Sum* sums = <Sum*>malloc(n_leaves * first[d] * sizeof(Sum))
        Sum* derivatives = <Sum*>malloc(n * sizeof(Sum))
        Rows rows = Rows(n, &order[0, 0], &order[1, 0], derivatives)
        double[:, ::1] proba = np.empty((T, n))
        ClassRows all = ClassRows(NULL, &y[0], &weight[0], 1, 1.0 if K == 2 else K / (K - 1.0))
        Tree tree
    if places is not None:
        # Where every cell is common there is none to point at, and none is read.
        table.places = &places[0] if places.shape[0] else <int32_t*>&starts[0]
    if leaves == NULL or sums == NULL or derivatives == NULL:
        free(leaves)
        free(sums)
        free(derivatives)
        raise MemoryError
    with nogil:
        for i in range(n_leaves):
            leaves[i].sums = sums + i * first[d]
        losses[0] = log_loss(F_held, y_held, weight_held, room_held)
        for r in range(rounds):
            options.rate = rate * min(max_growth, max(1.0, <double>r / steady_rounds))
            if T == 1:
                logistic(&F[0, 0], n, &proba[0, 0])
            else:
                softmax(&F[0, 0], n, T, &proba[0, 0])
            for k in range(T):
                at = r * T + k
                all.proba, all.target = &proba[k, 0], 1 if T == 1 else k
                sample(&all, n, trim, fmod(at * GOLDEN_RATIO, 1.0), &rows)
                table.n_columns = draw_columns(d, n_columns, at, &columns[0])
                tree = Tree(&column[at, 0], &left[at, 0, 0], &value[at, 0])
                many = grow(&table, &ordered[0], &rows, &options, leaves, tree)
                if trim > 0:
                    fall(&X[0, 0], n, d, inner, tree.column, tree.left, tree.value, &F[k, 0], 1)
                else:
                    add_leaves(&rows, leaves, many, tree.value, &F[k, 0])
                if n_held:
                    fall(&X_held[0, 0], n_held, d, inner, tree.column, tree.left, tree.value,
                         &F_held[k, 0], 1)
            losses[r + 1] = log_loss(F_held, y_held, weight_held, room_held)
            if losses[r + 1] < losses[best]:
                best = r + 1
            elif r + 1 - best >= patience:
                break
    free(leaves)
    free(sums)
    free(derivatives)
    trees = np.asarray(column), np.asarray(left), np.asarray(value)
    history = np.asarray(losses)
    return (*[part[:best * T].copy() for part in trees], history[np.isfinite(history)])
