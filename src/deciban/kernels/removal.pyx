"""Texts scored by counts that hold them, each as if it were not there.

Counts are sparse: of every word, the classes that have it. The log likelihood of
a word is equal in all classes without it, so that a text is scored by that, once
for all classes, and by how far the classes that have a word differ from it.
"""

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

import numpy as np

cdef double ROUNDING = 1e-12


cdef inline bint whole(double a) noexcept nogil:
    return -9007199254740992.0 < a < 9007199254740992.0 and a == <double><int64_t>a


cdef inline double difference(double a, double b) noexcept nogil:
    """``a - b``, zero where only rounding is left; as ``deciban.stats.rounding`` does."""
    cdef double out = a - b
    if out != 0 and abs(out) <= ROUNDING * max(a, b) and not (whole(a) and whole(b)):
        return 0.0
    return out


def shared_entries(
    const double[::1] data, const int32_t[::1] indices, const int32_t[::1] indptr,
    const double[::1] weight, const double[::1] documents,
):
    """Which entries of texts other texts have too, and how many words of each text that is."""
    cdef:
        Py_ssize_t row, i, n = indptr.shape[0] - 1
        uint8_t[::1] stays = np.empty(data.shape[0], dtype=np.uint8)
        double[::1] size = np.zeros(n)
    with nogil:
        for row in range(n):
            for i in range(indptr[row], indptr[row + 1]):
                stays[i] = difference(documents[indices[i]], weight[row]) > 0
                if stays[i]:
                    size[row] += data[i]
    return np.asarray(stays).view(np.bool_), np.asarray(size)


def leave_one_out(
    const double[::1] data, const double[::1] worth, const int32_t[::1] indices, const int32_t[::1] indptr,
    const int64_t[::1] y, const double[::1] weight, shared_mask,
    const int64_t[::1] starts, const int32_t[::1] classes, const double[::1] amounts,
    const double[::1] logs, const double[::1] by_cell, const double[::1] own_totals,
    const double[::1] rest_totals, double smoothing, double[:, ::1] own, double[:, ::1] rest,
):
    """``sum_w u_w x_w log P(w | c)`` of texts, each taken out of the counts, in ``own``; in
    ``rest``, if it has rows, ``sum_w u_w x_w log P(w | not c)``. Both come in as zeros; x are
    the ``data`` of entries, which is taken out, and u their ``worth``.

    Counts of word w lie at ``starts[w] .. starts[w + 1]``; ``logs`` has the logarithms of
    the smoothed ones, minus that of ``smoothing`` where it is above zero. Entry i of the texts
    stays in the vocabulary where ``shared_mask[i]``. Totals are those of all counts; what is
    added to each, if it is above zero, is added to a total when the text is gone from it:
    the other way round, little of it would be left.
    """
    cdef:
        const uint8_t[::1] stays = shared_mask.view(np.uint8)
        Py_ssize_t row, n_classes = own.shape[1], i, p, c, true, lost
        bint others = rest.shape[0] > 0, smooth = smoothing > 0, counted
        double x, worth_x, w, size, n, after, add = max(smoothing, 0.0)
        double base = log(smoothing) if smoothing > 0 else 0.0
        double own_gone, rest_gone, shared, apart, log_apart, alike, added
        int64_t[::1] possible = np.zeros(n_classes, dtype=np.int64)
        int64_t held, vetoed, word
    with nogil:
        for row in range(y.shape[0]):
            true, w, size, lost, held, vetoed = y[row], weight[row], 0.0, 0, 0, 0
            own_gone, rest_gone, shared, apart = 0.0, 0.0, 0.0, 0.0
            if not smooth:
                memset(&possible[0], 0, n_classes * sizeof(int64_t))
            for i in range(indptr[row], indptr[row + 1]):
                x, word, counted = data[i], indices[i], False
                worth_x = x * worth[i]
                if not stays[i]:
                    lost += 1
                    rest_gone += by_cell[word]
                    n = 0.0
                    for p in range(starts[word], starts[word + 1]):
                        if classes[p] == true:
                            n = amounts[p]
                    own_gone += n if smooth else max(n + smoothing, 0.0)
                    continue
                size += worth_x
                held += 1
                shared += worth_x * base
                log_apart = 0.0
                if others:
                    rest_gone += w * x
                    log_apart = log(max(difference(by_cell[word], w * x), 0.0) + add)
                    apart += worth_x * log_apart
                for p in range(starts[word], starts[word + 1]):
                    c, n = classes[p], amounts[p]
                    if c == true:
                        counted = True
                        after = max(difference(n, w * x) + smoothing, 0.0)
                        own_gone += (
                            (n if smooth else max(n + smoothing, 0.0)) - max(after - add, 0.0))
                        if after > 0:
                            own[row, c] += worth_x * (log(after) - base)
                            possible[c] += 1
                        else:
                            vetoed += 1
                        if others:
                            rest[row, c] += worth_x * (log(by_cell[word] - n + add) - log_apart)
                        continue
                    if logs[p] > -INFINITY:
                        own[row, c] += worth_x * logs[p]
                        possible[c] += 1
                    if others:
                        after = max(difference(by_cell[word] - n, w * x), 0.0) + add
                        rest[row, c] += worth_x * (log(after) - log_apart)
                if not counted:
                    after = max(smoothing - w * x, 0.0)
                    if after > 0:
                        own[row, true] += worth_x * (log(after) - base)
                        possible[true] += 1
                    else:
                        vetoed += 1
                    if others:
                        rest[row, true] += worth_x * (log(by_cell[word] + add) - log_apart)
            alike = log(max(<double>(by_cell.shape[0] - lost), 1.0))
            added = add * (by_cell.shape[0] - lost)
            for c in range(n_classes):
                after = remaining(own_totals[c], own_gone if c == true else 0.0) + added
                own[row, c] = normalise(own[row, c] + shared, size, after, alike)
                if (vetoed and c == true) or (not smooth and possible[c] < held):
                    if size > 0 and after > 0:
                        own[row, c] = -INFINITY
                if others:
                    after = remaining(rest_totals[c], 0.0 if c == true else rest_gone) + added
                    rest[row, c] = normalise(rest[row, c] + apart, size, after, alike)


cdef inline double remaining(double total, double gone) noexcept nogil:
    """What is left of a total; what the rounding of fractional weights leaves is not a word."""
    cdef double left = total - gone
    return left if gone == 0 or left > ROUNDING * total else 0.0


cdef inline double normalise(
    double total_log, double size, double total, double alike
) noexcept nogil:
    """The log likelihood of ``size`` words from the sum of their log counts.

    Where nothing was counted, all words are equally likely.
    """
    if size <= 0:
        return 0.0
    return total_log - size * log(total) if total > 0 else -size * alike
