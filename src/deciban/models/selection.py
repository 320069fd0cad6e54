"""What the counts themselves choose: how a column is modelled, how much it is smoothed.

Everything here is arithmetic on the table; no row is read again.

- *Smoothing* is chosen by empirical Bayes, column by column: the ``lam`` under
  which the counts of the column are likeliest, when each class's shares are
  drawn from a symmetric Dirichlet(lam).
- *The shape of a number* is the one with the least leave-one-out loss when the
  column is used alone: a bell curve (Student's t, the normal distribution with
  its parameters integrated out), 5, 10 or 20 bins of equal frequency, or every
  value by itself where there are few.
- *Missing values* say something of their own where "missing or not", used
  alone, has a smaller leave-one-out loss than the prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.errors import InputError
from deciban.families import gaussian, histogram
from deciban.families.discrete import log_shares
from deciban.families.histogram import binned
from deciban.families.settings import Settings
from deciban.stats.counts import Counts, Table
from deciban.stats.cuts import EACH, MDL, cut_points
from deciban.stats.sparse import SparseSum

FloatArray = NDArray[np.float64]
Shape = Literal["categories", "gaussian", "histogram"]

#: The smoothings that are tried, from next to nothing to a strong pull towards equal shares.
SMOOTHINGS = np.exp(np.linspace(np.log(0.02), np.log(20.0), 29))
#: The numbers of bins that are tried.
BINS = (5, 10, 20)
#: Columns with no more values are tried with every value by itself.
FEW_VALUES = 30
#: The loss of a bell curve is measured on fewer than this many values of all classes.
MOST_VALUES = 1 << 14
#: A row that a class cannot have costs this many nats.
LARGE = 700.0
#: The prior of a bell curve is worth this many rows.
BELL = 1.0


@dataclass(frozen=True)
class Choice:
    """How one column is modelled.

    ``loss`` is the leave-one-out loss of the column alone, in nats a row.
    """

    column: str
    shape: Shape
    bins: int
    smoothing: float
    missing: bool
    loss: float


class Smoothed(NamedTuple):
    """The smoothing of a column's shares, and whether its holes say something."""

    smoothing: float
    missing: bool


@dataclass(frozen=True)
class Wishes:
    """What the user has fixed; ``"auto"`` is left to the counts."""

    numeric: str = "auto"
    missing: str = "auto"
    smoothing: Any = "auto"
    method: str = "bayes"
    text: str = "auto"
    min_df: float = 1
    max_words: int | None = None

    def smoothing_of(self, column: str) -> float | None:
        """The smoothing stated for a column; None is for the counts to choose."""
        stated = self.smoothing
        if isinstance(stated, Mapping):
            stated = stated.get(column, "auto")
        return None if isinstance(stated, str) else float(stated)


def choose(counts: Counts, wishes: Wishes) -> dict[str, Choice]:
    """A choice for every column that is counted."""
    found = {}
    for part, name, table in _columns(counts, "categories"):
        found[name] = _category(counts, wishes, name, table, part)
    numbers = _columns(counts, "histogram")
    for column, (part, name, table) in zip(_both_places(counts), numbers, strict=True):
        found[name] = _number(counts, wishes, name, table, part, column)
    return found


def _both_places(counts: Counts) -> list[tuple[int, int]]:
    """Where each number stands in its histogram, and where among the moments."""
    table, moments = counts.tables.get("histogram"), counts.tables.get("moments")
    if table is None or moments is None:
        return []
    return list(enumerate(labels.positions(table.cells.columns, moments.cells.columns).tolist()))


def _columns(counts: Counts, block: str) -> list[tuple[slice, str, Table]]:
    table = counts.tables.get(block)
    if table is None:
        return []
    parts = [slice(a, b) for a, b in pairwise(table.cells.offsets)]
    return list(zip(parts, table.cells.columns.tolist(), [table] * len(parts), strict=True))


def smoothed(counts: Counts, wishes: Wishes) -> dict[str, Smoothed]:
    """What is chosen for every column of categories, where nobody asks what it is worth alone."""
    return {
        name: _smoothed(counts, wishes, name, table, part)
        for part, name, table in _columns(counts, "categories")
    }


def _smoothed(counts: Counts, wishes: Wishes, name: str, table: Table, part: slice) -> Smoothed:
    amount = table.sums["count"][:, part]
    missing = _missing_matters(counts, wishes, table.rows - amount.sum(axis=1))
    return Smoothed(_smoothing(wishes, name, amount), missing)


def _category(counts: Counts, wishes: Wishes, name: str, table: Table, part: slice) -> Choice:
    lam, missing = _smoothed(counts, wishes, name, table, part)
    loss = _loss_of_categories(table.sums["count"][:, part], lam, counts.weight)
    return Choice(name, "categories", 0, lam, missing, loss)


def _number(
    counts: Counts, wishes: Wishes, name: str, table: Table, part: slice, column: tuple[int, int]
) -> Choice:
    amount = table.sums["count"][:, part]
    missing = _missing_matters(counts, wishes, table.rows - amount.sum(axis=1))
    tried = []
    if wishes.numeric in ("auto", "gaussian"):
        lam = wishes.smoothing_of(name)
        lam = BELL if lam is None else lam
        loss = _loss_of_bell(counts, column, table, amount, lam)
        tried.append(Choice(name, "gaussian", 0, lam, missing, loss))
    for bins in _rules(wishes.numeric, amount.shape[1]):
        some = binned(amount, cut_points(amount, bins))
        lam = _smoothing(wishes, name, some)
        loss = _loss_of_categories(some, lam, counts.weight)
        tried.append(Choice(name, "histogram", bins, lam, missing, loss))
    return min(tried, key=lambda choice: choice.loss)


def _rules(numeric: str, n_values: int) -> list[int]:
    if numeric == "gaussian":
        return []
    if numeric == "mdl":
        return [MDL]
    return [*BINS, EACH] if n_values <= FEW_VALUES else [*BINS]


def _missing_matters(counts: Counts, wishes: Wishes, missing: FloatArray) -> bool:
    missing = np.maximum(missing, 0.0)
    if wishes.missing == "skip" or not missing.any():
        return False
    if wishes.missing == "value":
        return True
    table = np.stack([np.maximum(counts.weight - missing, 0.0), missing], axis=1)
    alone = _loss_of_categories(table, empirical_smoothing(table), counts.weight)
    nothing = _loss_of_categories(counts.weight[:, None], 1.0, counts.weight)
    return alone < nothing


def _smoothing(wishes: Wishes, name: str, amount: FloatArray) -> float:
    stated = wishes.smoothing_of(name)
    return empirical_smoothing(amount) if stated is None else stated


def empirical_smoothing(amount: FloatArray | SparseSum) -> float:
    """The ``lam`` under which the counts (classes, values) are likeliest; 1 if any is.

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
    lam = SMOOTHINGS[:, None]
    cells = (gammaln(values + lam) - gammaln(lam)) @ times
    totals = (gammaln(size * lam) - gammaln(whole + size * lam)).sum(axis=1)
    return float(SMOOTHINGS[int(np.argmax(cells + totals))])


def _loss_of_categories(amount: FloatArray, lam: float, weight: FloatArray) -> float:
    """The leave-one-out loss, a row, of a categorical column used alone."""
    own, value = np.nonzero(amount)
    times, size, total = amount[own, value], amount.shape[1], amount.sum(axis=1)
    one, rest = _one(times), total[own] - _one(times)
    rest = np.where(rest > 1e-9 * one, rest, 0.0)  # rounding of fractional weights is no row
    said = log_shares(amount.T + lam, total + size * lam, size)[value]
    said[np.arange(len(own)), own] = log_shares(times - one + lam, rest + size * lam, size)
    return _loss(said, own, times, weight)


def _loss_of_bell(
    counts: Counts, column: tuple[int, int], table: Table, amount: FloatArray, lam: float
) -> float:
    """The same of a bell curve; values are those of the histogram's keys, evenly thinned."""
    own, key = np.nonzero(amount)
    own, key = (np.ascontiguousarray(at[:: 1 + len(own) // MOST_VALUES]) for at in (own, key))
    times = amount[own, key]
    x = histogram.grid_of(table.cells).middles(column[0])[key]
    sums = gaussian.of_column(dict(counts.tables["moments"].sums), column[1])
    try:
        said = gaussian.column_left_out(sums, lam, Settings("bayes", lam), x, own, _one(times))
    except InputError:  # squares that fit no float
        return float(np.inf)
    return _loss(said, own, times, counts.weight)


def _one(times: FloatArray) -> FloatArray:
    """The weight of one row of many that are alike: 1, or all there is."""
    return np.minimum(times, 1.0)


def _loss(said: FloatArray, own: NDArray[np.intp], times: FloatArray, weight: FloatArray) -> float:
    """Mean negative log posterior of the true class, each row taken out of the prior as well."""
    if not len(own):
        return float(np.inf)
    rows = np.arange(len(own))
    joint = said + np.log(weight + 1.0)
    joint[rows, own] = said[rows, own] + np.log(np.maximum(weight[own] - _one(times), 0.0) + 1.0)
    top = joint.max(axis=1)
    with np.errstate(invalid="ignore"):
        loss = top + np.log(np.exp(joint - top[:, None]).sum(axis=1)) - joint[rows, own]
    return float(np.minimum(np.nan_to_num(loss, nan=np.inf), LARGE) @ times / times.sum())
