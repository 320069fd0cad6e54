"""Log shares of discrete values, seen and never seen; the formulas are in families/discrete.py."""

import numpy as np

from libc.math cimport fmax, fmin, log

cdef double COMMON_RATE_STRENGTH = 2.0    # in new values: it draws the rates of classes together
cdef double ROUNDED = 1e-9                # less than this share of a row is rounding of weights
ROUNDED_SHARE = ROUNDED


cdef inline double log_uniform(double size) noexcept nogil:
    return -log(fmax(size, 1.0))


cdef inline double log_share(double amount, double total, double size) noexcept nogil:
    return log(amount) - log(total) if total > 0 else log_uniform(size)


def log_shares(amount, total, size):
    """``log(amount / total)`` of ``size`` values; where nothing was counted, ``log(1 / size)``."""
    parts = np.broadcast_arrays(amount, total, size)
    out = np.empty(parts[0].shape)
    if out.size:
        *_, last = out.shape or (1,)
        shares, totals, sizes = (np.asarray(part, dtype=np.float64).reshape(-1, last) for part in parts)
        fill_shares(shares, totals, sizes, out.reshape(-1, last))
    return out


cdef fill_shares(const double[:, :] amount, const double[:, :] total, const double[:, :] size, double[:, ::1] out):
    cdef:
        Py_ssize_t i, j
        double known = -1.0, logarithm = 0.0          # of the total before
    with nogil:
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                if not total[i, j] > 0:
                    out[i, j] = log_uniform(size[i, j])
                    continue
                if total[i, j] != known:
                    known = total[i, j]
                    logarithm = log(known)
                out[i, j] = log(amount[i, j]) - logarithm


def seen_once(const double[:, :] amount):
    """The counts, (classes, values), of the values that no more than one row has; 0 of others."""
    return np.where(np.asarray(amount).sum(axis=0) <= 1.0, amount, 0.0)


cdef void fill_unseen(
    const double* total, const double* once, Py_ssize_t K, double lam, double size, double* out,
) noexcept nogil:
    cdef:
        Py_ssize_t c
        double rows = 0.0, alone = 0.0, level = 0.0, part, smoothed, expected
    for c in range(K):
        rows += total[c]
        alone += once[c]
    for c in range(K):
        part = total[c] / rows if rows > 0 else 1.0 / K
        smoothed = total[c] + size * lam
        level += part * (lam / smoothed if smoothed > 0 else 1.0 / fmax(size, 1.0))
    level = log(level)
    for c in range(K):
        expected = total[c] / rows * alone if rows > 0 else 0.0
        out[c] = 0.0
        if lam > 0:
            out[c] = level + log((once[c] + COMMON_RATE_STRENGTH) / (expected + COMMON_RATE_STRENGTH))


def log_unseen_shares(total, once, lam, size):
    """``log P(a value never seen | c)``, (..., classes); 0 where smoothing leaves nothing for it.

    ``total`` are the rows of each class and ``once`` those of them whose value no other row has;
    ``lam`` is the smoothing of ``size`` values, of the shape (..., 1). How likely a new value is
    at all is what smoothing says, ``u = sum_c n_c / n * lam / (n_c + S lam)``. Each row of a value
    seen once, left out, has a new value. Where there are ``m_c`` of them in class c, and
    ``e_c = n_c m / n`` are expected if classes do not matter, ::

        P(new | c) = u (m_c + k) / (e_c + k)

    is the posterior mean under a Gamma(k, k) prior of the ratio: without rows that show
    otherwise, a new value says nothing.
    """
    totals = np.asarray(total, dtype=np.float64)
    *lead, n_classes = totals.shape
    rows = totals.reshape(-1, n_classes)
    extra, sizes = (np.broadcast_to(some, (*lead, 1)).astype(np.float64).ravel() for some in (lam, size))
    own, weight = np.full(len(rows), -1, dtype=np.intp), np.zeros(len(rows))
    alone = np.asarray(once, dtype=np.float64).reshape(rows.shape)
    return unseen_rows(rows, alone, own, weight, extra, sizes).reshape(totals.shape)


def leave_out_unseen(total, once, own, weight, lam, size):
    """:func:`log_unseen_shares` of rows that alone had their value, (rows, classes), each left out.

    ``own`` are their classes, ``weight`` their weights; ``total`` and ``once``, (classes,) or
    (rows, classes), are those of the column with all rows.
    """
    n_rows, (*_, n_classes) = len(own), total.shape
    rows, alone = (np.broadcast_to(some, (n_rows, n_classes)) for some in (total, once))
    extra, sizes = (np.broadcast_to(some, (n_rows, 1)).astype(np.float64).ravel() for some in (lam, size))
    return unseen_rows(rows, alone, own, weight, extra, sizes)


cdef unseen_rows(
    const double[:, :] total, const double[:, :] once, const Py_ssize_t[:] own, const double[:] weight,
    const double[::1] lam, const double[::1] size,
):
    """What values never seen say, (rows, classes), with the weight of a row out of its own class."""
    cdef:
        Py_ssize_t n = total.shape[0], K = total.shape[1], i, c
        double[:, ::1] out = np.empty((n, K)), rows = np.empty((2, K))
        double w
    if K == 0:
        return np.asarray(out)
    with nogil:
        for i in range(n):
            for c in range(K):
                rows[0, c], rows[1, c] = total[i, c], once[i, c]
            c, w = own[i], weight[i]
            if c >= 0:
                rows[0, c] = fmax(rows[0, c] - w, 0.0)
                rows[1, c] = fmax(rows[1, c] - (w if w <= 1.0 else 0.0), 0.0)
            fill_unseen(&rows[0, 0], &rows[1, 0], K, lam[i], size[i], &out[i, 0])
    return np.asarray(out)


def estimate_log_shares(
    const double[:, :] count, const Py_ssize_t[::1] offsets, const double[:] pseudo_counts, const double[:] sizes,
    str unseen,
):
    """Log shares of all values of all columns, (cells, classes), after each column its new values.

    ``count``, (classes, values), has the values of column j from ``offsets[j]`` on;
    ``pseudo_counts`` and ``sizes`` are those of the columns. The counts are summed by themselves:
    whole numbers, so that the order of the values cannot show.
    """
    cdef:
        Py_ssize_t K = count.shape[0], d = offsets.shape[0] - 1, j, c, a, new
        double[:, ::1] out = np.zeros((offsets[d] + d, K)), sums = np.empty((3, K))
        double[::1] rows = np.asarray(count).sum(axis=0)
        double extra, lam, total, base
        bint smooth = unseen == "smooth", by_leaving_out = unseen == "leave_one_out"
    if K == 0:
        return np.asarray(out)
    with nogil:
        for j in range(d):
            extra, lam, new = pseudo_counts[j], fmax(pseudo_counts[j], 0.0), offsets[j + 1] + j
            for c in range(K):
                sums[0, c] = sums[1, c] = sums[2, c] = 0.0
                for a in range(offsets[j], offsets[j + 1]):
                    sums[0, c] += count[c, a]
                    sums[1, c] += count[c, a] if rows[a] <= 1.0 else 0.0
                    sums[2, c] += fmax(count[c, a] + extra, 0.0)
                total = sums[2, c] if extra < 0 else sums[0, c] + sizes[j] * lam
                base = log(total) if total > 0 else 0.0
                for a in range(offsets[j], offsets[j + 1]):
                    if total > 0:
                        out[a + j, c] = log(fmax(count[c, a] + extra, 0.0)) - base
                    else:
                        out[a + j, c] = log_uniform(sizes[j])
                if smooth and lam > 0:      # where smoothing leaves nothing for it, it says nothing
                    out[new, c] = log_share(lam, total, sizes[j])
            if by_leaving_out:
                fill_unseen(&sums[0, 0], &sums[1, 0], K, lam, sizes[j], &out[new, 0])
                for a in range(offsets[j], offsets[j + 1]):
                    for c in range(K if rows[a] <= 0 else 0):
                        out[a + j, c] = out[new, c]
    return np.asarray(out)


def leave_out_cells(
    const double[:, ::1] amount, const Py_ssize_t[::1] offsets, const double[:] lam, bint new_values,
):
    """What one row of each value and class says, left out of the counts, (cells, classes).

    Log likelihoods, (rows, classes); the column, the class and the weight of each such row. The
    values of column j begin at ``offsets[j]``; with ``new_values``, a value of which nothing is
    left was never seen.
    """
    cdef:
        Py_ssize_t K = amount.shape[1], d = offsets.shape[0] - 1, j, c, a, own, at = 0
        Py_ssize_t n = np.count_nonzero(amount)
        double[:, ::1] log_likelihood = np.empty((n, K)), sums = np.empty((4, K)), shares = np.empty((1, K))
        Py_ssize_t[::1] column = np.empty(n, dtype=np.intp), classes = np.empty(n, dtype=np.intp)
        double[::1] times = np.empty(n), rows = np.asarray(amount).sum(axis=1)
        double size, one, rest, extra
    with nogil:
        for j in range(d):
            extra, size = lam[j], offsets[j + 1] - offsets[j]
            for c in range(K):
                sums[0, c] = sums[1, c] = 0.0
                for a in range(offsets[j], offsets[j + 1]):
                    sums[0, c] += amount[a, c]
                    sums[1, c] += amount[a, c] if rows[a] <= 1.0 else 0.0
            for a in range(offsets[j], offsets[j + 1]):
                if rows[a] == 0:
                    continue
                for c in range(K):
                    shares[0, c] = log_share(amount[a, c] + extra, sums[0, c] + size * extra, size)
                for own in range(K):
                    if amount[a, own] == 0:
                        continue
                    column[at], classes[at], times[at] = j, own, amount[a, own]
                    one = fmin(amount[a, own], 1.0)
                    if new_values and rows[a] - one <= ROUNDED * one:
                        for c in range(K):
                            sums[2, c], sums[3, c] = sums[0, c], sums[1, c]
                        sums[2, own] = fmax(sums[2, own] - one, 0.0)
                        sums[3, own] = fmax(sums[3, own] - one, 0.0)
                        fill_unseen(&sums[2, 0], &sums[3, 0], K, extra, size, &log_likelihood[at, 0])
                    else:
                        for c in range(K):
                            log_likelihood[at, c] = shares[0, c]
                        rest = sums[0, own] - one
                        rest = rest if rest > ROUNDED * one else 0.0
                        log_likelihood[at, own] = log_share(
                            amount[a, own] - one + extra, rest + size * extra, size
                        )
                    at += 1
    return np.asarray(log_likelihood), np.asarray(column), np.asarray(classes), np.asarray(times)
