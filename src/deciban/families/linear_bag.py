"""Bags of amounts scored by linear tables: what the multinomial, complement and Bernoulli share.

A bag is a row of amounts (word counts, weights, presences) over many columns.
Its log likelihood is ``sum_j x_j * present[j, c]``, and where absence counts
too, ``absent[j, c]`` for every column with ``x_j = 0`` (amounts are then 0 or 1).
Rows come as a dense float64 matrix or as CSR; the work follows the non-zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deciban.families.bag_removal import Entries
from deciban.families.piece import Piece
from deciban.families.protocol import Candidate, CountedColumns, Selected
from deciban.families.remaining import Remaining
from deciban.families.settings import Method, Settings
from deciban.families.soft import SoftBlock
from deciban.formulas.build import ZERO, times
from deciban.formulas.nodes import Case, Compare, Expression, Number, Sum
from deciban.kernels import panels
from deciban.stats.amounts import AmountRows, amount_of
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Table

#: Of rows, their classes and weights, and their log likelihoods: replace those that a row was
#: counted in by what they are without it.
WithoutRow: TypeAlias = Callable[[Entries, Codes, FloatArray, FloatArray], None]
#: Of rows, and what is left for each: their log likelihoods, (rows, classes).
WithoutUnit: TypeAlias = Callable[[Entries, Remaining], FloatArray]


@dataclass(frozen=True, eq=False)
class LinearParameters:
    """Log probabilities of a bag family, (columns, classes); minus infinity is allowed.

    What is summed is kept finite: an impossible column is instead counted as
    a veto, and one veto makes the class impossible. So 0 times minus infinity
    and minus infinity plus infinity never arise.
    """

    present: FloatArray
    absent: FloatArray | None = None
    unit_curve: Callable[[int], Piece] | None = None
    without_row: WithoutRow | None = None
    without_unit: WithoutUnit | None = None

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.present)

    @cached_property
    def base(self) -> FloatArray:
        """What a row without any column scores."""
        if self.absent is None:
            return np.zeros(self.present.shape[1])
        return np.asarray(_finite(self.absent).sum(axis=0))

    @cached_property
    def weight(self) -> FloatArray:
        """What a unit of a column adds to that."""
        if self.absent is None:
            return _finite(self.present)
        return _finite(self.present) - _finite(self.absent)

    @cached_property
    def panels(self) -> FloatArray:
        """The weights as sparse rows are scored with them."""
        return panels.cut_bags(self.weight)

    @cached_property
    def veto(self) -> LinearParameters | None:
        """The number of vetoes, in the same linear form; None where nothing is impossible."""
        never = np.isneginf(self.present).astype(np.float64)
        always = None if self.absent is None else np.isneginf(self.absent).astype(np.float64)
        if not never.any() and (always is None or not always.any()):
            return None
        return LinearParameters(never, always)

    def add(self, X: AmountRows, out: FloatArray) -> None:
        """Add every row's log likelihood under each class."""
        self._add_finite(X, out)
        if self.veto is not None:
            vetoes = np.zeros_like(out)
            self.veto._add_finite(X, vetoes)
            out[vetoes > 0] = -np.inf

    def _add_finite(self, X: AmountRows, out: FloatArray) -> None:
        out += self.base
        if isinstance(X, np.ndarray):
            out += X @ self.weight
        else:
            panels.add_bags(X.data, X.indices, X.indptr, self.panels, out)

    def contributions(self, X: FloatArray) -> FloatArray:
        """Each column's part of the log likelihood of dense rows, (rows, columns, classes)."""
        out = self._finite_contributions(X)
        if self.veto is not None:
            out[self.veto._finite_contributions(X) > 0] = -np.inf
        return out

    def _finite_contributions(self, X: FloatArray) -> FloatArray:
        base = 0.0 if self.absent is None else _finite(self.absent)
        return np.asarray(base + X[:, :, None] * self.weight)

    def add_contributions(self, X: FloatArray, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add the part of column j to column ``at[j]`` of out, (rows, columns, classes)."""
        out[:, at] += self.contributions(X)

    def entries(self, values: FloatArray, columns: NDArray[np.intp]) -> FloatArray:
        """The log likelihood of single values of some columns, (values, classes)."""
        absent = None if self.absent is None else self.absent[columns]
        some = LinearParameters(self.present[columns], absent)
        return np.asarray(some.contributions(values[None, :])[0])

    def leave_one_out(self, X: AmountRows, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods, (rows, classes), of counted rows, each taken out of its class."""
        if self.without_row is None:
            raise TypeError("these parameters keep no counts")
        out = np.zeros((len(y), self.present.shape[1]))
        self.add(X, out)
        self.without_row(Entries.of(X), y, weight, out)
        return out

    def leave_one_out_by_column(self, X: AmountRows, y: Codes, weight: FloatArray) -> FloatArray:
        """Not kept: no column of amounts is judged alone."""
        raise TypeError("amounts are not left out column by column")

    def leave_out(self, X: AmountRows, remaining: Remaining) -> Iterator[FloatArray]:
        """Log likelihoods of all columns together, by the counts that are left for each row."""
        if self.without_unit is None:
            raise TypeError("these parameters keep no counts")
        yield self.without_unit(Entries.of(X), remaining)

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """What nothing and one unit of the column say."""
        if self.unit_curve is None:
            raise TypeError("these parameters keep no counts")
        return self.unit_curve(column)

    def formula(self, column: int, x: Expression) -> list[Expression]:
        """The part of an amount, which is not missing."""
        absent = np.zeros(self.present.shape[1]) if self.absent is None else self.absent[column]
        pairs = zip(self.present[column].tolist(), absent.tolist(), strict=True)
        return [_part(x, there, gone) for there, gone in pairs]


def _part(x: Expression, present: float, absent: float) -> Expression:
    """``absent + x (present - absent)``, where what is impossible is a veto."""
    finite = [value if math.isfinite(value) else 0.0 for value in (present, absent)]
    out: Expression = Sum((Number(finite[1]), times(finite[0] - finite[1], x)))
    if math.isinf(present):
        out = Case(((Compare(x, ">", ZERO), Number(-math.inf)),), out)
    if math.isinf(absent):
        out = Case(((Compare(x, "<", Number(1.0)), Number(-math.inf)),), out)
    return out


class BagFamily:
    """What the families of bags share: they model whole matrices, not columns of a table."""

    options = ()

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """None: they model no single column of a table."""
        return [[] for _ in columns.names]

    def settings(self, method: Method, selected: Sequence[Selected]) -> Settings:
        """The smoothing of each column."""
        return Settings(method, np.array([one.smoothing for one in selected]))

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """Not learned by EM: the drop-in classifiers need labels."""
        raise TypeError("amounts are not learned without labels")

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""
        return "amounts"


def amount_curve(table: Table, present: FloatArray, column: int) -> Piece:
    """A line through nothing and one unit; what is expected is the amount in a row."""
    rows = np.where(table.rows > 0, table.rows, 1.0)
    log = np.stack([np.zeros(len(rows)), present[column]])
    share = np.stack([np.zeros(len(rows)), amount_of(table)[:, column] / rows])
    return Piece("", "", "amount", (0.0, 1.0), log, share)


def _finite(table: FloatArray) -> FloatArray:
    return table if np.all(np.isfinite(table)) else np.where(np.isfinite(table), table, 0.0)
