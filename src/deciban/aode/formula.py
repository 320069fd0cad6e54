"""AODE as a formula: cells of columns, looked up by pairs, and a mean over parents.

Of every column, a row has a cell: 0 for a missing value, where that is a value of its own, 1 to S
for those that were counted, and S + 1 for one never seen; a value that is skipped has none. With
``F_ij`` the logarithm of P(value of j | c, value of i), looked up among the pairs that were
counted, the score of parent i is ``L_i = log P(value of i | c) + sum_j F_ij``.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deciban.aode.pair_counts import counted_columns
from deciban.encoding.inputs import Inputs
from deciban.formulas.build import ZERO, known, minus
from deciban.formulas.formula import ByClass, Formula
from deciban.formulas.nodes import (
    Case,
    Cell,
    Compare,
    Condition,
    Expression,
    Extreme,
    FloatArray,
    Function,
    Label,
    Number,
    Product,
    Quotient,
    Shared,
    Steps,
    Sum,
    Table,
)

if TYPE_CHECKING:
    from deciban.aode.model import AODEModel

IMPOSSIBLE = Number(-math.inf)


def formula(model: AODEModel) -> Formula:
    """``log P(c) + beta log P(x | c)``; columns of text are not counted."""
    return _Scores(model).formula()


class _Scores:
    """The parts of the formula; what is indexed by (i, k) is of a column and a class."""

    def __init__(self, model: AODEModel) -> None:
        self.model, self.params = model, model.params
        self.layout = model.params.layout
        self.inputs = Inputs(model.caster)
        self.columns, self.classes = range(self.layout.n_columns), range(len(model.classes))
        self._pairs: dict[tuple[int, int], list[Expression]] = {}

    def formula(self) -> Formula:
        """The formula of the model."""
        prior, discount = self.model.log_prior, Number(self.model.discount)
        joint = [
            Sum((Number(offset), Product(discount, self.whole[k])))
            for k, offset in enumerate(prior.tolist())
        ]
        at = {name: j for j, name in enumerate(counted_columns(self.model.schema))}
        columns: dict[str, ByClass] = {}
        for column in self.model.schema.columns:
            own = [at[name] for name in (*column.numbers, *column.categories)]
            columns[column.name] = [
                Product(discount, Sum(tuple(self.contribution(j, k) for j in own)))
                for k in self.classes
            ]
        return Formula(joint, columns, prior, prior, self.inputs.refused)

    # ------------------------------------------------------------------ cells

    @cached_property
    def cells(self) -> list[Expression]:
        """The cell of every column; none where a missing value is skipped."""
        names = counted_columns(self.model.schema)
        holes = [choice.missing for choice in self.model.choices.values()]
        cells: list[Expression] = []
        for j, (name, hole) in enumerate(zip(names, holes, strict=True)):
            x, size = self.inputs.by_name[name], self.layout.sizes[j]
            places = self._places(j)
            numbers = places[1:]
            cut = self.model.pair_counts.cut_points.get(name)
            if cut is not None:
                cell: Expression = Steps(x, tuple(cut.tolist()), tuple(numbers.tolist()))
            else:
                values = (self.model.pair_counts.cells.values or ())[j].tolist()
                table = Table((tuple(values),), numbers[:, None])
                cell = Cell(table, (x,), 0, Number(size + 1.0))
            missing = Number(float(places[0])) if hole else Label(None)
            cells.append(Shared(known(x, cell, missing)))
        return cells

    def _places(self, j: int) -> FloatArray:
        """The cell of every value of a column, of a missing one first; one without rows is new."""
        size, empty = self.layout.sizes[j], self.params.empty
        places = np.arange(size + 1.0)
        if empty is not None:
            places[empty[self._lines(j)]] = size + 1.0
        return places

    def _by_cell(self, j: int, numbers: FloatArray) -> list[Expression]:
        """Numbers of the cells of a column, (cells, columns), 0 to S + 1."""
        table = Table((tuple(map(float, range(len(numbers)))),), numbers)
        return [Shared(Cell(table, (self.cells[j],), k, ZERO)) for k in range(numbers.shape[1])]

    def _lines(self, j: int) -> slice:
        return slice(self.layout.first[j], self.layout.first[j + 1])

    @cached_property
    def shares(self) -> list[list[Expression]]:
        """``log P(v | c)`` of the value of each column."""
        share, n_cells = self.params.share, self.layout.n_cells
        lines = [np.vstack([share[self._lines(j)], share[n_cells + j]]) for j in self.columns]
        return [self._by_cell(j, np.log(some)) for j, some in enumerate(lines)]

    @cached_property
    def parents(self) -> list[Expression]:
        """1 where the value of a column is a parent, else 0."""
        support, least = self.params.support, self.params.min_support
        out: list[Expression] = []
        for j in self.columns:
            is_parent = (support[self._lines(j)] > 0) & (support[self._lines(j)] >= least)
            (flag,) = self._by_cell(j, np.append(is_parent, False).astype(float)[:, None])
            out.append(flag)
        return out

    @cached_property
    def n_parents(self) -> Expression:
        """How many parents there are."""
        return Shared(Sum(tuple(self.parents)))

    def _log_known(self, i: int, j: int) -> FloatArray:
        """``log(N_cu + m)`` of the cells u of column i, beside column j; 0 of one never seen."""
        weight = self.params.parent_weight[self._lines(i)]
        beside = weight[:, j if weight.shape[1] > 1 else 0]
        return np.log(np.vstack([beside, np.zeros(len(self.classes))]) + self.params.m)

    @cached_property
    def _log_known_of(self) -> dict[tuple[int, int], list[Expression]]:
        """What is known of the value of column i, beside column j."""
        wide = self.params.parent_weight.shape[1] > 1
        out: dict[tuple[int, int], list[Expression]] = {}
        for i in self.columns:
            alike = None if wide else self._by_cell(i, self._log_known(i, 0))
            for j in self.columns:
                out[i, j] = alike or self._by_cell(i, self._log_known(i, j))
        return out

    # ------------------------------------------------------------------ pairs

    def factor(self, i: int, j: int, k: int) -> Expression:
        """``F_ij``: nothing where j has no value."""
        if (i, j) not in self._pairs:
            self._look_up(min(i, j), max(i, j))
        return self._pairs[i, j][k]

    def _look_up(self, i: int, j: int) -> None:
        """The factors of two columns, ``i < j``, both ways."""
        lines = self.layout.lines(i, j)
        count = self.params.pairs[lines]
        u, v = np.nonzero(count.any(axis=2))
        seen, m = count[u, v], self.params.m
        share = self.params.share
        both = [
            np.log(seen + m * share[self._lines(j)][v]) - self._log_known(i, j)[u],
            np.log(seen + m * share[self._lines(i)][u]) - self._log_known(j, i)[v],
        ]
        keys = tuple(map(float, u)), tuple(map(float, v))
        table = Table(keys, np.hstack(both))
        for side, (a, b) in enumerate(((i, j), (j, i))):
            self._pairs[a, b] = [
                Shared(self._factor(table, (i, j), a, b, side * len(self.classes) + k, k))
                for k in self.classes
            ]

    def _factor(
        self, table: Table, pair: tuple[int, int], a: int, b: int, column: int, k: int
    ) -> Expression:
        log_m = Number(math.log(self.params.m))
        rest = Sum((log_m, minus(self.shares[b][k], self._log_known_of[a, b][k])))
        keys = self.cells[pair[0]], self.cells[pair[1]]
        looked_up: Expression = Cell(table, keys, column, rest) if len(table.numbers) else rest
        if counted_columns(self.model.schema)[b] not in self.model.pair_counts.cut_points:
            # A value never seen is as likely beside any parent as by itself.
            new = Compare(self.cells[b], ">", Number(float(self.layout.sizes[b])))
            looked_up = Case(((new, self.shares[b][k]),), looked_up)
        return known(self.cells[b], looked_up)

    # ------------------------------------------------------------------ scores

    @cached_property
    def scores(self) -> list[list[Expression]]:
        """``L_i`` of every column and class; minus infinity of what is no parent."""
        return [[self._score(i, k) for k in self.classes] for i in self.columns]

    def _score(self, i: int, k: int) -> Expression:
        factors = (self.factor(i, j, k) for j in self.columns if j != i)
        total = Sum((self.shares[i][k], *factors))
        return Shared(Case(((self._is_parent(i), total),), IMPOSSIBLE))

    def _is_parent(self, i: int) -> Condition:
        return Compare(self.parents[i], ">", ZERO)

    @cached_property
    def _no_parent(self) -> Condition:
        return Compare(self.n_parents, "=", ZERO)

    @cached_property
    def whole(self) -> list[Expression]:
        """``log P(x | c)``: the mean over parents; without any, columns are independent."""
        return [Shared(self._whole(k)) for k in self.classes]

    def _whole(self, k: int) -> Expression:
        if not self.columns:
            return ZERO
        scores = [self.scores[i][k] for i in self.columns]
        top = Shared(Extreme("greatest", tuple(scores)))
        parts = (Function("exp", Shared(minus(score, top))) for score in scores)
        mean = Quotient(Sum(tuple(parts)), self.n_parents)
        alone = Sum(tuple(self._share(i, k) for i in self.columns))
        return Case(((self._no_parent, alone),), Sum((top, Function("log", mean))))

    def _share(self, i: int, k: int) -> Expression:
        return known(self.cells[i], self.shares[i][k])

    # ------------------------------------------------------------------ contributions

    def contribution(self, j: int, k: int) -> Expression:
        """The part of column j of ``log P(x | c)``, as :func:`kernels.pairs.explain` has it."""
        beside = tuple(
            Product(self.parts[i][k], self.factor(i, j, k)) for i in self.columns if i != j
        )
        own = Product(self.parts[j][k], minus(self.shares[j][k], self._excess(j, k)))
        as_parent = Case(((Compare(self.parts[j][k], ">", ZERO), own),), ZERO)
        alone = self._share(j, k)
        return Case(((self._no_parent, alone),), Sum((*beside, as_parent)))

    def _excess(self, i: int, k: int) -> Expression:
        return minus(self.scores[i][k], self.whole[k])

    @cached_property
    def parts(self) -> list[list[Expression]]:
        """Each parent's part of the sum."""
        return [[Shared(self._part(i, k)) for k in self.classes] for i in self.columns]

    def _part(self, i: int, k: int) -> Expression:
        part = Quotient(Function("exp", self._excess(i, k)), self.n_parents)
        return Case(((self._is_parent(i), part),), ZERO)
