"""The best split of a node, for the kernel that grows trees; see the implementation."""

from libc.stdint cimport uint8_t, uint64_t

cdef struct Sum:
    double gradient, hessian, weight, unused     # four: one vector register

cdef struct Split:
    double gain
    Py_ssize_t column
    uint64_t left[4]
    Sum part               # of the rows that go left
    Sum total              # of all rows of the node

cdef struct Options:
    int depth
    int leaves             # no tree has more
    double rate            # the share of a Newton step that is taken
    double max_step        # no Newton step is larger
    double penalty         # L2, of a leaf: added to its second derivative
    double set_penalty     # of a leaf where categories are split into sets
    double smoothing       # added to the second derivative of a category to order categories
    double min_weight      # of a leaf


cdef void find_split(
    const Sum* sums, const Py_ssize_t* columns, Py_ssize_t n_columns, const Py_ssize_t* first,
    const uint8_t* ordered, const Options* options, Split* best
) noexcept nogil


cdef inline void add_sum(Sum* to, const Sum* what, double sign) noexcept nogil:
    to.gradient += sign * what.gradient
    to.hessian += sign * what.hessian
    to.weight += sign * what.weight
