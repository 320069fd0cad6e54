"""BayesClassifier as a formula: its additive terms, each given to its columns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deciban.encoding.inputs import Inputs
from deciban.ensemble.evidence_weights import MAX_EVIDENCE_NATS, MIN_LOG_LIKELIHOOD
from deciban.ensemble.features import PRODUCT_BEND_SDS
from deciban.ensemble.radial_formulas import RadialFormula
from deciban.ensemble.tree_formulas import CellTests, Tree, column_tree, tree, trees_by_class
from deciban.errors import InputError
from deciban.formulas.build import clip, known, lookup, minus, times
from deciban.formulas.formula import ByClass, Formula
from deciban.formulas.nodes import (
    Case,
    Compare,
    Expression,
    Function,
    Number,
    Product,
    Quotient,
    Scaled,
    Shared,
    Square,
    Sum,
)
from deciban.naive_bayes.formula import column_formulas

if TYPE_CHECKING:
    from deciban.ensemble.model import EnsembleModel

#: Trees are added up in no more expressions than this.
MAX_TREE_GROUPS = 50
#: A term of a class: the columns that share it alike, and its expression.
Term = tuple[tuple[str, ...], Expression]


def formula(model: EnsembleModel) -> Formula:
    """The sum of all terms; texts have none."""
    if model.texts:
        raise InputError(
            f"column {model.texts[0].name!r} is a text, and phrases are not cut by a database as "
            "they are here.",
            hint="leave the column out of training, or score the rows with predict",
        )
    return _Terms(model).formula()


class _Terms:
    """The terms of a model, class by class."""

    def __init__(self, model: EnsembleModel) -> None:
        self.model, self.terms, self.features = model, model.terms, model.features
        self.inputs = Inputs(model.counted.caster)
        schema = model.counted.schema
        self.names = (*schema.numbers, *schema.categories)
        self.n_numbers = len(schema.numbers)
        self.homes = {n: c.name for c in schema.columns for n in (*c.numbers, *c.categories)}

    def formula(self) -> Formula:
        """The formula of the model."""
        classes = range(len(self.model.classes))
        aode = None if self.terms.aode is None else self.terms.aode.formula()
        joint = []
        columns: dict[str, list[Expression]] = {n: [] for n in self.model.schema.names}
        for k in classes:
            terms, weight = list(self.class_terms(k)), Number(self.terms.aode_weight)
            whole = [term for _, term in terms]
            whole += self._trees(k)
            if self._radial is not None:
                whole.append(self._radial.logit(k))
            by_column = self._by_column(terms, k)
            if aode is not None:
                whole.append(Product(weight, aode.log_joint[k]))
                for name, by_class in aode.columns.items():
                    by_column[name].append(Product(weight, by_class[k]))
            joint.append(Sum((Number(float(self.terms.constants[k])), *whole)))
            for name, some in by_column.items():
                columns[name].append(Sum(tuple(some)))
        prior = self.model.log_prior
        fallback = prior - np.logaddexp.reduce(prior)
        return Formula(joint, dict(columns), prior, fallback, self.inputs.refused)

    def _by_column(self, terms: list[Term], k: int) -> dict[str, list[Expression]]:
        """What each column adds: its part of every term, what trees change by it, and centres."""
        out: dict[str, list[Expression]] = {name: [] for name in self.model.schema.names}
        for names, term in terms:
            share = term if len(names) == 1 else Product(Number(1 / len(names)), term)
            for name in names:
                out[self.homes[name]].append(share)
        for j, name in enumerate(self.names):
            some = [each for each in self._forest[k] if (each.column == j).any()]
            out[self.homes[name]] += _grouped([column_tree(self._tests, one, j) for one in some])
        if self._radial is not None:
            for j in range(self.n_numbers):
                out[self.homes[self.names[j]]].append(self._radial.part(j, k))
        return out

    def class_terms(self, k: int) -> Iterator[Term]:
        """The terms of a class but its trees and AODE."""
        for (name, by_class), weight in zip(
            self._evidence, self.terms.evidence.tolist(), strict=True
        ):
            if weight:
                yield (name,), Product(Number(weight), by_class[k])
        linear = self.terms.linear[:, k]
        pairs = zip(self.names, self._standard, linear.tolist(), strict=False)
        for name, z, coef in pairs:
            if coef:
                yield (name,), times(coef, z)
        for name, by_class in self._categories:
            yield (name,), by_class[k]
        yield from self._products(k)

    # ------------------------------------------------------------------ evidence

    @cached_property
    def _evidence(self) -> list[tuple[str, ByClass]]:
        """The evidence of each part of the counts: less its mean over the classes, bounded."""
        out: list[tuple[str, ByClass]] = []
        for name, by_class in column_formulas(self.model.counted, self.inputs):
            finite: list[Expression] = []
            for one in map(Shared, by_class):
                least = Number(MIN_LOG_LIKELIHOOD)
                finite.append(Shared(Case(((Compare(one, "<", least), least),), one)))
            mean = Shared(Product(Number(1 / len(finite)), Sum(tuple(finite))))
            bound = MAX_EVIDENCE_NATS
            out.append((name, [clip(Shared(minus(x, mean)), -bound, bound) for x in finite]))
        return [(name, [Shared(one) for one in by_class]) for name, by_class in out]

    # ------------------------------------------------------------------ linear terms and products

    @cached_property
    def _standard(self) -> list[Expression]:
        """Numbers with a mean of 0 and a standard deviation of 1; missing ones are at the mean."""
        f, out = self.features, list[Expression]()
        scales = zip(f.low.tolist(), f.high.tolist(), f.mean.tolist(), f.sd.tolist(), strict=True)
        for name, (low, high, mean, sd) in zip(self.names, scales, strict=False):
            x = self.inputs.by_name[name]
            inside = Shared(clip(x, low, high))
            out.append(Shared(known(x, Scaled(inside, mean, 1 / sd))))
        return out

    @cached_property
    def _categories(self) -> list[tuple[str, ByClass]]:
        """What indicators of categories add, looked up by value."""
        f, out, first = self.features, list[tuple[str, ByClass]](), self.n_numbers
        names = self.names[self.n_numbers :]
        for name, rank, frequency, n in zip(
            names, f.rank, f.frequency, f.n_indicators, strict=True
        ):
            coef = self.terms.linear[first : first + n]
            first += n
            if not n or not coef.any():
                continue
            values = self._values[name]
            own = np.vstack([coef, np.zeros(coef.shape[1])])[np.minimum(rank, n)]
            numbers = own - frequency[:n] @ coef
            out.append(
                (
                    name,
                    lookup(self.inputs.by_name[name], values, numbers, np.zeros_like(numbers[0])),
                )
            )
        return out

    @cached_property
    def _values(self) -> dict[str, list[object]]:
        """The values of categories, in the order of their codes."""
        table = self.model.counts.tables.get("categories")
        values = () if table is None else table.cells.values or ()
        return {
            name: known.tolist()
            for name, known in zip(self.model.counted.schema.categories, values, strict=True)
        }

    @cached_property
    def _bent(self) -> list[Expression]:
        """Standardised numbers, bent where they are far from the mean."""
        out: list[Expression] = []
        for z in self._standard:
            square = Square(Scaled(z, 0.0, 1 / PRODUCT_BEND_SDS))
            bend = Function("sqrt", Sum((Number(1.0), square)))
            out.append(Shared(Quotient(z, bend)))
        return out

    def _products(self, k: int) -> Iterator[Term]:
        f = self.features
        scales = self.terms.products[:, k] / f.product_sd
        for (i, j), scale, mean in zip(f.product_columns.T, scales, f.product_mean, strict=True):
            if scale:
                product = self._pair(int(i), int(j))
                term = Scaled(product, float(mean), float(scale))
                yield (self.names[i], self.names[j]), term

    def _pair(self, i: int, j: int) -> Expression:
        if (i, j) not in self._pairs:
            self._pairs[i, j] = Shared(Product(self._bent[i], self._bent[j]))
        return self._pairs[i, j]

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], Expression]:
        return {}

    # ------------------------------------------------------------------ centres

    @cached_property
    def _radial(self) -> RadialFormula | None:
        """Radial basis functions of bent numbers, scaled; None where there are none."""
        basis = self.terms.radial
        if not len(basis):
            return None
        pairs = zip(basis.scale.tolist(), self._bent, strict=True)
        return RadialFormula(basis, [Shared(times(scale, z)) for scale, z in pairs])

    # ------------------------------------------------------------------ trees

    @cached_property
    def _forest(self) -> list[list[Tree]]:
        return trees_by_class(self.terms.forest, len(self.model.classes))

    @cached_property
    def _tests(self) -> CellTests:
        return CellTests(self.features, self.inputs, self.names, self._values)

    def _trees(self, k: int) -> list[Expression]:
        return _grouped([tree(self._tests, each) for each in self._forest[k]])


def _grouped(trees: list[Expression]) -> list[Expression]:
    """Trees added up some at a time: databases take long for one expression of very many."""
    size = max(1, -(-len(trees) // MAX_TREE_GROUPS))
    return [Shared(Sum(tuple(trees[i : i + size]))) for i in range(0, len(trees), size)]
