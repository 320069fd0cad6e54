"""The derivatives of the log loss by the logits of a class, of the rows that a tree is grown on.

The first is the probability of the class less the truth, the second ``p (1 - p)`` times a
curvature, which is that of the class against all others where there are more than two.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from deciban.kernels.splits cimport Sum

cdef enum:
    MASS_BINS = 256            # two for each power of two
    FIRST_MASS_BIN = 2 * (1023 - 100)  # what is less than 2 ** -100 is in the first


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
    cdef double least = least_certain(all, n, trim) if trim > 0 else 0.0, off, share, at = start
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
        rows.at[kept] = <int32_t>i
        rows.of[i] = Sum(
            all.weight[i] * off / share,
            all.weight[i] * all.proba[i] * (1 - all.proba[i]) * all.curvature / share,
            all.weight[i], 0)
        kept += 1
    rows.n = kept
