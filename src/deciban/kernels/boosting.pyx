"""Gradient boosting of shallow trees on binned columns: small Newton steps that lower the log loss.

Trees are those of ``trees``: complete, two classes have one a round, more have
one each. Column j has the cells 0 .. sizes[j] - 1, and sizes[j] for holes.
"""

import numpy as np

from deciban.kernels.gradients cimport ClassRows, sample
from deciban.kernels.growth cimport (
    Growth, Table, Tree, add_leaves, draw_columns, free_room, grow, make_room,
)
from deciban.kernels.splits cimport Options
from deciban.kernels.team cimport Members, Team, share

from libc.math cimport exp, fabs, fmod, log1p
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

cdef extern from "boosting.h":
    void logistic "deciban_logistic"(const double*, Py_ssize_t, double*) noexcept nogil
    void softmax "deciban_softmax"(
        const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t, double*
    ) noexcept nogil
    void log_totals "deciban_log_totals"(
        const double*, Py_ssize_t, Py_ssize_t, double*
    ) noexcept nogil

cdef extern from "trees.h":
    void fall "deciban_fall"(
        const uint8_t*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const int32_t*, const uint64_t*,
        const double*, double*, Py_ssize_t
    ) noexcept nogil

cdef enum:
    PART_ROWS = 8192         # whose probabilities are worked out by one thread

#: Where the cells that are not their column's commonest are at most this share of those that a
#: tree looks at, only they are added up, but of all columns.
MAX_RARE_SHARE = 0.5
#: The fractional parts of its multiples are spread evenly.
cdef double GOLDEN_RATIO = 0.6180339887498949

cdef struct Boosting:          # a round of it, for whoever grows one of its trees
    Table table
    Options options
    Py_ssize_t T                 # trees a round,
    Py_ssize_t at                # of which this is the first
    Py_ssize_t n_columns         # by which each splits
    double trim
    ClassRows rows
    double* logits               # (trees a round, rows)
    double* proba
    const uint8_t* held          # cells of rows held out, how many, and their logits
    Py_ssize_t n_held
    double* logits_held
    Tree trees                   # all of them, one after another
    Growth* growths              # the room of each member of the team


cdef void find_probabilities(void* of, Py_ssize_t part, Py_ssize_t member) noexcept nogil:
    """The probabilities of the classes of some rows."""
    cdef Boosting* b = <Boosting*>of
    cdef Py_ssize_t begin = part * PART_ROWS, end = min(begin + PART_ROWS, b.table.n)
    if b.T == 1:
        logistic(b.logits + begin, end - begin, b.proba + begin)
    else:
        softmax(b.logits, b.table.n, b.T, begin, end, b.proba)


cdef void grow_class(void* of, Py_ssize_t k, Py_ssize_t member) noexcept nogil:
    """Grow the tree of a class, and add it to the logits of all rows."""
    cdef Boosting* b = <Boosting*>of
    cdef Growth* growth = &b.growths[member]
    cdef Table* table = &b.table
    cdef Py_ssize_t inner = (1 << b.options.depth) - 1, at = b.at + k
    cdef ClassRows rows = b.rows
    cdef Tree tree = Tree(
        b.trees.column + at * inner, b.trees.left + 4 * at * inner,
        b.trees.value + at * (2 * inner + 1))
    rows.proba, rows.target = b.proba + k * table.n, 1 if b.T == 1 else k
    sample(&rows, table.n, b.trim, fmod(at * GOLDEN_RATIO, 1.0), &growth.rows)
    draw_columns(growth, b.n_columns, at)
    growth.tree = tree
    grow(growth)
    if b.trim > 0:
        fall(table.cells, table.n, table.d, inner, tree.column, tree.left, tree.value,
             b.logits + k * table.n, 1)
    else:
        add_leaves(growth, b.logits + k * table.n)
    if b.n_held:
        fall(b.held, b.n_held, table.d, inner, tree.column, tree.left, tree.value,
             b.logits_held + k * b.n_held, 1)


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


cdef tuple rare_cells(
    const uint8_t[:, ::1] X, const Py_ssize_t[::1] first, Py_ssize_t n_columns
):
    """The place of each column's commonest cell, and the places of all others, row by row.

    ``places`` is None where those would be too many for it to pay, since a tree looks at so many
    columns only.
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
    if n_rare > MAX_RARE_SHARE * n * n_columns:
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


cdef Growth* growths_of(Boosting* b, Members* members) except NULL:
    """Room for every member of the team to grow a tree in; a tree that is alone is grown by all."""
    cdef Py_ssize_t i
    cdef Growth* growths = <Growth*>calloc(members.room, sizeof(Growth))
    if growths == NULL:
        raise MemoryError
    try:
        for i in range(members.room if b.T > 1 else 1):
            growths[i].table, growths[i].options = &b.table, &b.options
            growths[i].team = members if b.T == 1 and members.room > 1 else NULL
            make_room(&growths[i])
    except MemoryError:
        free_growths(growths, members)
        raise
    return growths


cdef void free_growths(Growth* growths, Members* members) noexcept:
    cdef Py_ssize_t i
    for i in range(members.room):
        free_room(&growths[i])
    free(growths)


def boost(
    const uint8_t[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weight,
    const uint8_t[:, ::1] X_held, const Py_ssize_t[::1] y_held, const double[::1] weight_held,
    offset, const Py_ssize_t[::1] sizes, const uint8_t[::1] ordered, int depth, int n_leaves,
    double rate, double max_step, double penalty, double set_penalty, double smoothing, double min_weight,
    double steady_rounds, double max_growth, int rounds, int patience, double min_gain,
    double trim, Py_ssize_t n_columns, Team team=None,
):
    """Add trees to an offset, (classes,), until held-out rows gain nothing for ``patience`` rounds.

    ``min_gain`` or less of the summed loss is nothing.

    From round ``steady_rounds`` on the rate grows in proportion to the rounds, up to
    ``max_growth`` times itself. Each tree splits by ``n_columns`` of the columns, and has no more
    than ``n_leaves`` leaves.

    Trees of one round, or the leaves of one that is alone, are grown by whoever is in the team.

    Returns ``column, left, value`` of the trees up to the best round, and the
    summed loss of the held-out rows before and after every round.
    """
    cdef:
        Py_ssize_t n = X.shape[0], K = len(offset), T = 1 if K == 2 else K, d = X.shape[1]
        Py_ssize_t n_held = X_held.shape[0], inner = (1 << depth) - 1, r, best = 0
        # Two classes have the logits of the second alone, those of the first being taken off.
        start = np.atleast_1d(np.diff(offset)[0] if K == 2 else offset)[:, None]
        double[:, ::1] F = np.repeat(start, n, axis=1), F_held = np.repeat(start, n_held, axis=1)
        double[:, ::1] proba = np.empty((T, n))
        double[::1] room_held = np.empty(n_held)
        # The cells of a column, and that of its holes, stand together.
        Py_ssize_t[::1] first = np.concatenate([[0], np.cumsum(np.asarray(sizes) + 1)])
        int32_t[:, ::1] column = np.full((rounds * T, inner), -1, dtype=np.int32)
        uint64_t[:, :, ::1] left = np.zeros((rounds * T, inner, 4), dtype=np.uint64)
        double[:, ::1] value = np.zeros((rounds * T, 2 * inner + 1))
        double[::1] losses = np.full(rounds + 1, np.inf)
        uint8_t[:, ::1] by_column = np.ascontiguousarray(np.asarray(X).T)
        tuple rare = rare_cells(X, first, n_columns)
        Py_ssize_t[::1] common = rare[0]
        int32_t[::1] places = rare[1]
        int64_t[::1] starts = rare[2]
        Boosting b
        Members* members
    if team is None:
        team = Team(1)
    members = &team.members
    b.table = Table(d, n, &X[0, 0], &by_column[0, 0], &ordered[0], &first[0], &common[0], NULL,
                    &starts[0])
    if places is not None:
        # Where every cell is common there is none to point at, and none is read.
        b.table.places = &places[0] if places.shape[0] else <int32_t*>&starts[0]
    b.options = Options(
        depth, n_leaves, rate, max_step, penalty, set_penalty, smoothing, min_weight)
    b.T, b.n_columns, b.trim = T, n_columns, trim
    b.rows = ClassRows(NULL, &y[0], &weight[0], 1, 1.0 if K == 2 else K / (K - 1.0))
    b.logits, b.proba = &F[0, 0], &proba[0, 0]
    b.n_held, b.held, b.logits_held = n_held, NULL, NULL
    if n_held:
        b.held, b.logits_held = &X_held[0, 0], &F_held[0, 0]
    b.trees = Tree(&column[0, 0], &left[0, 0, 0], &value[0, 0])
    b.growths = growths_of(&b, members)
    with nogil:
        losses[0] = log_loss(F_held, y_held, weight_held, room_held)
        for r in range(rounds):
            b.options.rate = rate * min(max_growth, max(1.0, <double>r / steady_rounds))
            b.at = r * T
            share(members, find_probabilities, &b, (n + PART_ROWS - 1) // PART_ROWS)
            if T == 1:
                grow_class(&b, 0, 0)
            else:
                share(members, grow_class, &b, T)
            losses[r + 1] = log_loss(F_held, y_held, weight_held, room_held)
            if losses[r + 1] < losses[best] - min_gain:
                best = r + 1
            elif r + 1 - best >= patience:
                break
    free_growths(b.growths, members)
    trees = np.asarray(column), np.asarray(left), np.asarray(value)
    history = np.asarray(losses)
    return (*[part[:best * T].copy() for part in trees], history[np.isfinite(history)])
