"""The model: counts, columns and terms, which add up to margins and to explanations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.aode.model import Model as Pairs
from deciban.ensemble import evidence
from deciban.ensemble.columns import Columns
from deciban.ensemble.margins import FloatArray
from deciban.ensemble.report import Report
from deciban.ensemble.terms import Terms
from deciban.ensemble.words import Words
from deciban.naive_bayes.model import Model as Counted
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.stats.counts import Counts

#: So many rows are scored at a time: what each column says of them is kept until it is added up.
PIECE = 4_096


@dataclass(frozen=True, eq=False)
class Model:
    """All that training leaves behind. ``pairs`` is None where AODE has no share.

    ``counted`` is the table without its texts, which are read by ``texts``.
    """

    schema: Schema
    counted: Counted
    pairs: Pairs | None
    columns: Columns
    terms: Terms
    report: Report
    texts: tuple[Words, ...] = ()

    @property
    def counts(self) -> Counts:
        """The table of counts behind the evidence."""
        return self.counted.counts

    @cached_property
    def log_prior(self) -> FloatArray:
        """The constant part of every class's margin."""
        n_classes = len(self.counts.classes)
        said = 0.0 if self.pairs is None else self.terms.pairs * self.pairs.log_prior
        trees = self.terms.forest.constants(n_classes) if n_classes > 1 else np.zeros(1)
        return np.asarray(self.terms.constants + trees + said)

    def fill_joint(self, batch: Batch, out: FloatArray) -> None:
        """Write the margin of every row and class: some rows at a time, on all cores."""

        def work(rows: slice) -> None:
            self._fill(batch.slice(rows.start, rows.stop), out[rows])

        list(threads.run(work, threads.chunks(batch.n_rows, PIECE)))

    def _fill(self, batch: Batch, out: FloatArray) -> None:
        terms, (numbers, codes) = self.terms, self.counted.columns(batch)
        out[:] = terms.constants + np.tensordot(
            evidence.of(self.counted, batch), terms.weights, (1, 0)
        )
        out += self.columns.linear(numbers, codes) @ terms.linear
        out += self.columns.products(numbers) @ terms.products
        if len(terms.forest.value):
            terms.forest.add(self.columns.cells(numbers, codes), out)
        if self.pairs is not None:
            said = np.empty_like(out)
            self.pairs.fill_joint(batch, said)
            out += terms.pairs * said
        for words in self.texts:
            out += words.margins(batch)

    # ------------------------------------------------------------------ explanation

    @cached_property
    def _homes(self) -> dict[str, int]:
        """The column of the schema that each counted column comes from."""
        columns = enumerate(self.schema.columns)
        return {name: j for j, c in columns for name in (*c.numbers, *c.categories)}

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """The same for the numbers and then the categories, as views see them."""
        names = (*self.schema.numbers, *self.schema.categories)
        return np.array([self._homes[name] for name in names], dtype=np.intp)

    def explain(self, batch: Batch) -> FloatArray:
        """Each column's part of the margins, (rows, columns, classes).

        A product's part is halved between its two numbers; what a split of a
        tree changes is its column's; AODE says by itself whose its parts are; a
        text's part is that of its words.
        """
        terms, (numbers, codes) = self.terms, self.counted.columns(batch)
        shape = batch.n_rows, len(self._places), len(self.counts.classes)
        by_view = np.zeros(shape)
        _add_terms(
            by_view, self.columns.linear_columns, self.columns.linear(numbers, codes), terms.linear
        )
        products = self.columns.products(numbers)
        for side in self.columns.product_columns:
            _add_terms(by_view, side, products, terms.products / 2)
        if len(terms.forest.value):
            terms.forest.explain(self.columns.cells(numbers, codes), by_view)
        out = np.zeros((shape[0], len(self.schema.names), shape[2]))
        for j, home in enumerate(self._places):
            out[:, home] += by_view[:, j]
        said = evidence.of(self.counted, batch) * terms.weights[:, None]
        for j, name in enumerate(evidence.names(self.counted)):
            out[:, self._homes[name]] += said[:, j]
        if self.pairs is not None:
            own = [j for j, column in enumerate(self.schema.columns) if not column.texts]
            out[:, own] += terms.pairs * self.pairs.explain(batch)
        for words in self.texts:
            out[:, self.schema.names.index(words.name)] += words.margins(batch)
        return out


def _add_terms(
    out: FloatArray, columns: NDArray[np.intp], Z: FloatArray, coefficients: FloatArray
) -> None:
    """Add each term to its column."""
    for j in np.unique(columns):
        mine = columns == j
        out[:, j] += Z[:, mine] @ coefficients[mine]
