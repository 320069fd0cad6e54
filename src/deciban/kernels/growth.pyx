"""Growing one tree on the derivatives of some rows: the leaves that gain most are split next.

The sums of every cell are those of a node's rows. Of the two parts of a split the smaller is added
up, and the larger has what is left.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from deciban.kernels.gradients cimport Rows
from deciban.kernels.splits cimport Options, Split, Sum, add_sum, find_split
from deciban.kernels.team cimport Members, Task, share

cdef extern from "boosting.h":
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
    void add "deciban_add"(
        void*, const void*, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t
    ) noexcept nogil

cdef extern from "trees.h":
    Py_ssize_t goes_left "deciban_goes_left"(const uint64_t*, Py_ssize_t) noexcept nogil

cdef enum:
    MIN_PART_ROWS = 4096    # all rows are added up in parts that are no smaller
    MIN_SHARED_ROWS = 8192  # fewer are not worth waking a thread, and waiting for it
#: Knuth's linear congruential generator, and what spreads its seeds.
cdef uint64_t LCG_FACTOR = 6364136223846793005
cdef uint64_t LCG_INCREMENT = 1442695040888963407
cdef uint64_t SEED_FACTOR = 0x9E3779B97F4A7C15


cdef bint make_room(Growth* growth) except -1:
    """Room for trees on the rows of the table; it is to be freed even where there is too little."""
    cdef Py_ssize_t i, n = growth.table.n, d = growth.table.d, n_cells = growth.table.first[d]
    growth.sums = <Sum*>malloc(growth.options.leaves * n_cells * sizeof(Sum))
    growth.leaves = <Leaf*>malloc(growth.options.leaves * sizeof(Leaf))
    growth.rows.of = <Sum*>malloc(n * sizeof(Sum))
    growth.rows.at = <int32_t*>malloc(2 * n * sizeof(int32_t))
    growth.rows.spare = growth.rows.at + n
    growth.columns = <Py_ssize_t*>malloc(d * sizeof(Py_ssize_t))
    if not (growth.sums and growth.leaves and growth.rows.of and growth.rows.at and growth.columns):
        raise MemoryError
    for i in range(growth.options.leaves):
        growth.leaves[i].sums = growth.sums + i * n_cells
    return True


cdef void free_room(Growth* growth) noexcept:
    free(growth.sums)
    free(growth.leaves)
    free(growth.rows.of)
    free(growth.rows.at)
    free(growth.columns)


cdef void draw_columns(Growth* growth, Py_ssize_t many, Py_ssize_t seed) noexcept nogil:
    """So many of the columns, in rising order, any as likely as any other."""
    cdef Py_ssize_t j, d = growth.table.d, taken = 0
    cdef uint64_t state = <uint64_t>(seed + 1) * SEED_FACTOR
    for j in range(d):
        state = state * LCG_FACTOR + LCG_INCREMENT
        if <Py_ssize_t>((state >> 33) % <uint64_t>(d - j)) < many - taken:
            growth.columns[taken] = j
            taken += 1
    growth.n_columns = taken


cdef Py_ssize_t partition(
    const Table* table, Rows* rows, Py_ssize_t begin, Py_ssize_t end, const Split* split
) noexcept nogil:
    """Those that go left first, in their order; where the others begin.

    Every row is written to both sides, and one of them moves on: nothing to guess.
    """
    cdef Py_ssize_t i, left, middle = begin, others = begin
    cdef int32_t r
    cdef const uint8_t* cells = table.by_column + split.column * table.n
    for i in range(begin, end):
        r = rows.at[i]
        left = goes_left(split.left, cells[r])
        rows.at[middle] = r
        rows.spare[others] = r
        middle += left
        others += 1 - left
    memcpy(rows.at + middle, rows.spare + begin, (others - begin) * sizeof(int32_t))
    return middle


cdef void add_up(Growth* growth, Py_ssize_t begin, Py_ssize_t end, Sum* sums) noexcept nogil:
    """The sums of every cell over some rows."""
    cdef const Table* table = growth.table
    cdef const int32_t* at = growth.rows.at + begin
    if table.places == NULL:
        gather(table.cells, table.d, table.first, growth.columns, growth.n_columns, at,
               end - begin, growth.rows.of, sums)
    else:
        gather_rare(table.places, table.starts, table.d, table.first, table.common, at,
                    end - begin, growth.rows.of, sums)


cdef inline double leaf_value(Sum sums, const Options* options) noexcept nogil:
    cdef double step = -sums.gradient / (sums.hessian + options.penalty)
    return options.rate * min(max(step, -options.max_step), options.max_step)


cdef void find(Growth* growth, Leaf* leaf) noexcept nogil:
    """How a leaf would be split."""
    cdef const Table* table = growth.table
    find_split(leaf.sums, growth.columns, growth.n_columns, table.first, table.ordered,
               growth.options, &leaf.split)


cdef void split_leaf(Growth* growth, Leaf* leaf, Leaf* new) noexcept nogil:
    """Split a leaf in two, of which the right one is new, and sort its rows."""
    cdef Py_ssize_t i, node = leaf.node, child = 2 * node + 1
    cdef Split* split = &leaf.split
    cdef Tree* tree = &growth.tree
    tree.column[node] = <int32_t>split.column
    for i in range(4):
        tree.left[4 * node + i] = split.left[i]
    tree.value[child] = leaf_value(split.part, growth.options)
    add_sum(&split.total, &split.part, -1)
    tree.value[child + 1] = leaf_value(split.total, growth.options)
    i = partition(growth.table, &growth.rows, leaf.begin, leaf.end, split)
    new.node, new.begin, new.end = child + 1, i, leaf.end
    leaf.node, leaf.end = child, i
    leaf.split.column = new.split.column = -1


cdef void add_up_both(Growth* growth, Leaf* left, Leaf* right) noexcept nogil:
    """The sums of two leaves, where the left one has those of both; the larger has what is left."""
    cdef Leaf* small = left if left.end - left.begin <= right.end - right.begin else right
    cdef Leaf* large = right if small == left else left
    large.sums, small.sums = left.sums, right.sums
    add_up(growth, small.begin, small.end, small.sums)
    subtract(large.sums, small.sums, large.sums, growth.table.first, growth.columns,
             growth.n_columns)


cdef void share_out(
    Growth* growth, Task task, Py_ssize_t items, Py_ssize_t n_rows
) noexcept nogil:
    """Do all items of a task on so many rows, with whoever helps where it pays to meet."""
    cdef Py_ssize_t item
    if growth.team != NULL and n_rows >= MIN_SHARED_ROWS:
        share(growth.team, task, growth, items)
        return
    for item in range(items):
        task(growth, item, 0)


cdef void split_chosen(void* of, Py_ssize_t item, Py_ssize_t member) noexcept nogil:
    """Split one of the leaves that are split next, and see how its two would be."""
    cdef Growth* growth = <Growth*>of
    cdef Leaf* left = &growth.leaves[growth.chosen[item]]
    cdef Leaf* right = &growth.leaves[growth.n_leaves + item]
    split_leaf(growth, left, right)
    if left.node < (1 << growth.options.depth) - 1 and not growth.last:
        add_up_both(growth, left, right)
        find(growth, left)
        find(growth, right)


cdef Py_ssize_t choose_leaves(Growth* growth) noexcept nogil:
    """The leaves whose splits gain most, the first of equals first; how many there are."""
    cdef Py_ssize_t i, at, many = 0, most = min(ABREAST, growth.options.leaves - growth.n_leaves)
    cdef Leaf* leaves = growth.leaves
    for i in range(growth.n_leaves):
        if leaves[i].split.column < 0:
            continue
        at = many
        while at > 0 and leaves[i].split.gain > leaves[growth.chosen[at - 1]].split.gain:
            if at < most:
                growth.chosen[at] = growth.chosen[at - 1]
            at -= 1
        if at < most:
            growth.chosen[at] = i
            many = min(many + 1, most)
    return many


cdef Py_ssize_t n_chosen_rows(const Growth* growth, Py_ssize_t many) noexcept nogil:
    cdef Py_ssize_t i, rows = 0
    for i in range(many):
        rows += growth.leaves[growth.chosen[i]].end - growth.leaves[growth.chosen[i]].begin
    return rows


cdef void add_up_part(void* of, Py_ssize_t item, Py_ssize_t member) noexcept nogil:
    """The sums of a part of all rows."""
    cdef Growth* growth = <Growth*>of
    cdef Py_ssize_t n = growth.rows.n, parts = growth.n_parts
    add_up(growth, n * item // parts, n * (item + 1) // parts, growth.leaves[item].sums)


cdef void add_up_root(Growth* growth) noexcept nogil:
    """The sums of all rows: many are added up in parts, however many threads there are."""
    cdef Py_ssize_t i
    growth.n_parts = max(1, min(
        ABREAST, growth.options.leaves, growth.rows.n // MIN_PART_ROWS))
    share_out(growth, add_up_part, growth.n_parts, growth.rows.n)
    for i in range(1, growth.n_parts):
        add(growth.leaves[0].sums, growth.leaves[i].sums, growth.table.first, growth.columns,
            growth.n_columns)


cdef void grow(Growth* growth) noexcept nogil:
    """One tree, the leaves that gain most being split next."""
    cdef Py_ssize_t i, many
    cdef Leaf* root = &growth.leaves[0]
    cdef Tree* tree = &growth.tree
    cdef Sum total
    memset(&total, 0, sizeof(Sum))
    for i in range(growth.rows.n):
        add_sum(&total, &growth.rows.of[growth.rows.at[i]], 1)
    memset(tree.value, 0, ((2 << growth.options.depth) - 1) * sizeof(double))
    tree.value[0] = leaf_value(total, growth.options)
    root.node, root.begin, root.end, growth.n_leaves = 0, 0, growth.rows.n, 1
    add_up_root(growth)
    find(growth, root)
    while growth.n_leaves < growth.options.leaves:
        many = choose_leaves(growth)
        if many == 0:
            break
        growth.last = growth.n_leaves + many == growth.options.leaves
        share_out(growth, split_chosen, many, n_chosen_rows(growth, many))
        growth.n_leaves += many


cdef void add_leaves(const Growth* growth, double* logits) noexcept nogil:
    """Add the value of its leaf to the logit of every row that a tree was grown on."""
    cdef Py_ssize_t leaf, i
    cdef double value
    for leaf in range(growth.n_leaves):
        value = growth.tree.value[growth.leaves[leaf].node]
        for i in range(growth.leaves[leaf].begin, growth.leaves[leaf].end):
            logits[growth.rows.at[i]] += value
