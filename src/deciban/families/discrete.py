"""Discrete values: log shares by all three methods.

For counts ``N_a`` of the values ``a = 1..S`` with ``n = sum N_a``, under the
prior Dirichlet(lam, ..., lam):

=========  ===================================  =================================
method     prediction rule                      formula
=========  ===================================  =================================
``ml``     the likeliest parameter              ``N_a / n``
``map``    the mode of the posterior            ``(N_a + lam - 1) / (n + S (lam - 1))``
``bayes``  the parameter integrated out         ``(N_a + lam) / (n + S lam)``
=========  ===================================  =================================

The mode of a posterior with ``N_a + lam < 1`` lies on the boundary: such a
value gets nothing. With ``lam = 1`` the prior is flat and ``map`` is ``ml``;
with ``lam = 0`` ``bayes`` is ``ml``. Where that leaves 0 / 0, nothing is known
and all values are alike: ``1 / S``, the limit of a vanishing ``lam``.

A value that was never seen is no value of small count: ``lam / (n + S lam)`` would be larger in
every class of fewer rows, and so speak for the rarer class. Left out, a value that one row alone
has was never seen, and says with which classes new values come: :func:`log_unseen_shares`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deciban.kernels.categorical import sum_columns

FloatArray = NDArray[np.float64]
#: What a value never seen in training says.
UnseenSays = Literal["leave_one_out", "smooth", "skip"]

#: A row that a class cannot have costs this many nats.
MAX_ROW_LOSS = 700.0
#: How strongly the rates of new values of the classes are drawn together, in new values.
COMMON_RATE_STRENGTH = 2.0
#: Less than this share of a row is rounding of fractional weights.
ROUNDED_SHARE = 1e-9


def log_shares(amount: FloatArray, total: FloatArray, size: FloatArray | float) -> FloatArray:
    """``log(amount / total)`` of ``size`` values; where nothing was counted, ``log(1 / size)``.

    >>> np.exp(log_shares(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[4.0], [0.0]]), 2))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    total = np.broadcast_to(total, amount.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log(amount) - np.log(total)
    return np.where(total > 0, out, -np.log(np.maximum(size, 1.0)))


def seen_once(amount: FloatArray) -> FloatArray:
    """The counts, (classes, values), of the values that no more than one row has; 0 of others.

    >>> seen_once(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0]]))
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    return np.where(amount.sum(axis=0) <= 1.0, amount, 0.0)


def log_unseen_shares(
    total: FloatArray, once: FloatArray, lam: FloatArray | float, size: FloatArray | float
) -> FloatArray:
    """``log P(a value never seen | c)``, (..., classes); 0 where smoothing leaves nothing for it.

    ``total`` are the rows of each class and ``once`` those of them whose value no other row has;
    ``lam`` is the smoothing of ``size`` values, of the shape (..., 1). How likely a new value is
    at all is what smoothing says, ``u = sum_c n_c / n * lam / (n_c + S lam)``. Each row of a value
    seen once, left out, has a new value. Where there are ``m_c`` of them in class c, and
    ``e_c = n_c m / n`` are expected if classes do not matter, ::

        P(new | c) = u (m_c + k) / (e_c + k)

    is the posterior mean under a Gamma(k, k) prior of the ratio: without rows that show
    otherwise, a new value says nothing.

    >>> rows = np.array([90.0, 10.0])
    >>> said = log_unseen_shares(rows, np.array([0.0, 0.0]), 1.0, 3.0)
    >>> bool(said[0] == said[1])
    True
    >>> said = log_unseen_shares(rows, np.array([0.0, 8.0]), 1.0, 3.0)   # (8 + 2) / (.8 + 2)
    >>> np.exp(said[1] - said[0]).round(2), round(10 / 2.8 / (2 / 9.2), 2)
    (np.float64(16.43), 16.43)
    """
    rows, smoothed = total.sum(axis=-1, keepdims=True), total + size * lam
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(rows > 0, total / rows, 1.0 / max(1, total.shape[-1]))
        share = np.where(smoothed > 0, lam / smoothed, 1.0 / np.maximum(size, 1.0))
        level = np.log((part * share).sum(axis=-1, keepdims=True))
    expected = np.where(rows > 0, part * once.sum(axis=-1, keepdims=True), 0.0)
    ratio = (once + COMMON_RATE_STRENGTH) / (expected + COMMON_RATE_STRENGTH)
    return np.where(np.asarray(lam) > 0, level + np.log(ratio), 0.0)


def estimate_log_shares(
    count: FloatArray,
    offsets: NDArray[np.intp],
    pseudo_counts: FloatArray,
    sizes: FloatArray,
    unseen: UnseenSays,
) -> FloatArray:
    """Log shares of all values of all columns, (cells, classes), after each column its new values.

    ``count``, (classes, values), has the values of column j from ``offsets[j]`` on;
    ``pseudo_counts`` and ``sizes`` are those of the columns. The counts are summed by themselves:
    whole numbers, so that the order of the values cannot show.

    >>> log = estimate_log_shares(np.array([[2.0, 1.0]]), np.array([0, 2]), np.ones(1),
    ...                           np.array([2.0]), "smooth")
    >>> np.exp(log).ravel() * 5
    array([3., 2., 1.])
    """
    seen, lam = np.diff(offsets), np.maximum(pseudo_counts, 0.0)
    column = np.repeat(np.arange(len(seen)), seen)
    amount = np.maximum(count + pseudo_counts[column], 0.0)
    parts = [count, seen_once(count)] if unseen == "leave_one_out" else [count]
    rows, *once = np.split(sum_columns(np.concatenate(parts), offsets), len(parts))
    total, below = rows + sizes * lam, pseudo_counts < 0
    if below.any():
        total[:, below] = sum_columns(amount, offsets)[:, below]
    log_prob = np.zeros((len(column) + len(seen), len(count)))
    counted = np.arange(len(column)) + column  # one more cell a column
    log_prob[counted] = log_shares(amount, total[:, column], sizes[column]).T
    if unseen == "leave_one_out":
        new = log_unseen_shares(rows.T, once[0].T, lam[:, None], sizes[:, None])
        empty = np.flatnonzero(count.sum(axis=0) <= 0)
        log_prob[counted[empty]] = new[column[empty]]
    else:  # where smoothing leaves nothing for a value never seen, it says nothing
        shares = log_shares(np.broadcast_to(lam, total.shape), total, sizes)
        new = np.where((unseen == "smooth") & (lam > 0), shares, 0.0).T
    log_prob[offsets[1:] + np.arange(len(seen))] = new
    return log_prob


def leave_out_unseen(
    total: FloatArray,
    once: FloatArray,
    own: NDArray[np.intp],
    weight: FloatArray,
    lam: FloatArray | float,
    size: FloatArray | float,
) -> FloatArray:
    """:func:`log_unseen_shares` of rows that alone had their value, (rows, classes), each left out.

    ``own`` are their classes, ``weight`` their weights; ``total`` and ``once``, (classes,) or
    (rows, classes), are those of the column with all rows.
    """
    row, shape = np.arange(len(own)), (len(own), total.shape[-1])
    totals, alone = (np.broadcast_to(some, shape).copy() for some in (total, once))
    of_one_row = np.where(weight <= 1.0, weight, 0.0)
    totals[row, own] = np.maximum(totals[row, own] - weight, 0.0)
    alone[row, own] = np.maximum(alone[row, own] - of_one_row, 0.0)
    return log_unseen_shares(totals, alone, lam, size)


def leave_out_cells(
    amount: FloatArray, offsets: NDArray[np.intp], lam: FloatArray, new_values: bool
) -> tuple[FloatArray, NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """What one row of each value and class says, left out of the counts, (cells, classes).

    Log likelihoods, (rows, classes); the column, the class and the weight of each such row. The
    values of column j begin at ``offsets[j]``; with ``new_values``, a value of which nothing is
    left was never seen.
    """
    sizes = np.diff(offsets)
    of_cell = np.repeat(np.arange(len(sizes)), sizes)
    total = sum_columns(amount.T, offsets).T
    smoothed = total + (sizes * lam)[:, None]
    cell, own = np.nonzero(amount)
    column, times = of_cell[cell], amount[cell, own]
    one, size, extra = np.minimum(times, 1.0), sizes[column], lam[column]
    rest = total[column, own] - one
    rest = np.where(rest > ROUNDED_SHARE * one, rest, 0.0)
    log = log_shares(amount + lam[of_cell][:, None], smoothed[of_cell], sizes[of_cell][:, None])
    log = log[cell]
    log[np.arange(len(own)), own] = log_shares(times - one + extra, rest + size * extra, size)
    if new_values:
        rows = amount.sum(axis=1)
        gone = np.flatnonzero(rows[cell] - one <= ROUNDED_SHARE * one)
        once, at = sum_columns(seen_once(amount.T), offsets).T, column[gone]
        about = lam[at][:, None], sizes[at][:, None]
        log[gone] = leave_out_unseen(total[at], once[at], own[gone], one[gone], *about)
    return log, column, own, times
