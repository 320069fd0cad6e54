"""Discrete values: log shares by all three methods, smoothing by empirical Bayes, loss alone.

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

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deciban.stats.categories import sum_columns
from deciban.stats.sparse import SparseSum

FloatArray = NDArray[np.float64]
#: What a value never seen in training says.
UnseenSays = Literal["leave_one_out", "smooth", "skip"]

#: The smoothings that are tried, from next to nothing to a strong pull towards equal shares.
SMOOTHING_GRID = np.exp(np.linspace(np.log(0.02), np.log(20.0), 29))
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


def empirical_smoothing(amount: FloatArray | SparseSum) -> float:
    """The ``lam`` under which the counts (classes, values) are likeliest; 1 if any is.

    Each class's shares are drawn from a symmetric Dirichlet(lam): empirical Bayes.

    >>> round(empirical_smoothing(np.array([[50.0, 50], [51, 49]])), 1)   # alike: pull hard
    20.0
    >>> round(empirical_smoothing(np.array([[99.0, 1], [1, 99]])), 1)     # apart: let them be
    0.2
    """
    from scipy.special import gammaln

    size = amount.shape[1]
    if isinstance(amount, SparseSum):
        (values, times), whole = amount.distinct(), amount.by_class
    else:
        (values, times), whole = np.unique(amount, return_counts=True), amount.sum(axis=1)
    if size < 2 or not values.any():
        return 1.0
    lam = SMOOTHING_GRID[:, None]
    cells = (gammaln(values + lam) - gammaln(lam)) @ times
    totals = (gammaln(size * lam) - gammaln(whole + size * lam)).sum(axis=1)
    return float(SMOOTHING_GRID[int(np.argmax(cells + totals))])


def smooth_columns(tables: Sequence[FloatArray], smoothing: Sequence[float | None]) -> list[float]:
    """The smoothing of each column of counts: as stated, by empirical Bayes where it is None."""
    pairs = zip(tables, smoothing, strict=True)
    return [empirical_smoothing(amount) if lam is None else lam for amount, lam in pairs]


def smooth_and_judge(
    tables: Sequence[FloatArray],
    smoothing: Sequence[float | None],
    class_weight: FloatArray,
    *,
    new_values: bool = False,
) -> list[tuple[float, float]]:
    """The smoothing of each column of counts, (classes, values), and its leave-one-out loss.

    ``new_values`` is whether there may be others than those that were seen: none of bins.
    """
    pairs = zip(tables, smooth_columns(tables, smoothing), strict=True)
    return [
        (lam, categorical_loss(amount, lam, class_weight, new_values=new_values))
        for amount, lam in pairs
    ]


def categorical_loss(
    amount: FloatArray, lam: float, class_weight: FloatArray, *, new_values: bool = False
) -> float:
    """The leave-one-out loss, in nats a row, of a categorical column used alone.

    ``amount`` are its counts, (classes, values). With ``new_values``, a value of which nothing
    is left was never seen.
    """
    own, value = np.nonzero(amount)
    times, size, total = amount[own, value], amount.shape[1], amount.sum(axis=1)
    one = one_row(times)
    rest = total[own] - one
    rest = np.where(rest > ROUNDED_SHARE * one, rest, 0.0)
    log_likelihood = log_shares(amount.T + lam, total + size * lam, size)[value]
    left = log_shares(times - one + lam, rest + size * lam, size)
    log_likelihood[np.arange(len(own)), own] = left
    if new_values:
        gone = np.flatnonzero(amount.sum(axis=0)[value] - one <= ROUNDED_SHARE * one)
        once = seen_once(amount).sum(axis=1)
        log_likelihood[gone] = leave_out_unseen(total, once, own[gone], one[gone], lam, size)
    return loss_alone(log_likelihood, own, times, class_weight)


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


def one_row(times: FloatArray) -> FloatArray:
    """The weight of one row of many that are alike: 1, or all there is."""
    return np.minimum(times, 1.0)


def losses_alone(
    columns: Iterable[tuple[FloatArray, NDArray[np.intp], FloatArray]], class_weight: FloatArray
) -> list[float]:
    """The losses of columns used alone: log likelihoods, own classes and weights of values."""
    return [loss_alone(*column, class_weight) for column in columns]


def missing_matters(missing: Sequence[FloatArray], class_weight: FloatArray) -> list[bool]:
    """Whether "missing or not" says more than the prior, by leave-one-out, of each column.

    ``missing`` are the rows of each class in which a column has no value.
    """
    if not any(some.any() for some in missing):
        return [False] * len(missing)
    prior = categorical_loss(class_weight[:, None], 1.0, class_weight)
    return [bool(some.any()) and _missing_loss(some, class_weight) < prior for some in missing]


def _missing_loss(missing: FloatArray, class_weight: FloatArray) -> float:
    """The leave-one-out loss of "missing or not" used alone."""
    table = np.stack([np.maximum(class_weight - missing, 0.0), missing], axis=1)
    return categorical_loss(table, empirical_smoothing(table), class_weight)


def loss_alone(
    log_likelihood: FloatArray,
    own: NDArray[np.intp],
    times: FloatArray,
    class_weight: FloatArray,
) -> float:
    """Mean negative log posterior of the true class, each row taken out of the prior as well.

    ``log_likelihood``, (values, classes), leaves one row of each value out of its ``own`` class;
    ``times`` are the rows that have the value, ``class_weight`` the rows of each class.
    """
    if not len(own):
        return float(np.inf)
    rows = np.arange(len(own))
    joint = log_likelihood + np.log(class_weight + 1.0)
    left = np.maximum(class_weight[own] - one_row(times), 0.0)
    joint[rows, own] = log_likelihood[rows, own] + np.log(left + 1.0)
    top = joint.max(axis=1)
    with np.errstate(invalid="ignore"):
        loss = top + np.log(np.exp(joint - top[:, None]).sum(axis=1)) - joint[rows, own]
    return float(np.minimum(np.nan_to_num(loss, nan=np.inf), MAX_ROW_LOSS) @ times / times.sum())
