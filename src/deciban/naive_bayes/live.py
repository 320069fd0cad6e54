"""Naive Bayes that follows rows as they are learned: choices stay, estimates do not wait.

Families, bins, smoothing, the words that are used and the discount are those of the model that
was selected last. The counts behind the estimates are those of all rows, to the last one learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.encoding.matrices import Caster
from deciban.encoding.row import EncodedRow, RowEncoder, row_batch
from deciban.families.live import Live, follow, keep_choices
from deciban.families.settings import Settings
from deciban.labels import Labels
from deciban.models.class_offsets import add_offset
from deciban.models.prior import class_prior
from deciban.models.scores import weigh
from deciban.naive_bayes.blocks import Block, block_table
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.naive_bayes.row import RowBlocks, Scores
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings
from deciban.sources.tabular import Row
from deciban.stats.counts import Counts
from deciban.stats.statistic import Matrix

__all__ = ["LiveNaiveBayes"]

FloatArray = NDArray[np.float64]


class LiveNaiveBayes:
    """A model of more counts than those that it was selected on.

    ``stated`` gives the prior that is stated where classes have some weight; None is as counted.
    ``follows`` is whether single rows can be learned: without it, all blocks are estimated anew
    from the counts.
    """

    kind = "NaiveBayes"

    def __init__(
        self,
        selected: NaiveBayesModel,
        counts: Counts,
        stated: Callable[[FloatArray], FloatArray | None] | None = None,
    ) -> None:
        blocks = tuple(_recount(block, selected, counts) for block in selected.blocks)
        self.model = replace(selected, counts=counts, known_blocks=blocks)
        self.discount = selected.discount
        self._offset = self.model.class_offset
        self.weight, self._stated = counts.weight.copy(), stated
        self._log_prior: FloatArray | None = None
        self.encoder = RowEncoder.of(self.model.caster)
        self._rows = RowBlocks(blocks, self.model.text_encoders)
        lives = [follow(b.family, b.table, b.settings, b.parameters) for b in blocks]
        self._live: Sequence[Live] = [live for live in lives if live is not None]
        typed = all(of != "any" for of in self.caster.types.values())
        self.follows = len(self._live) == len(blocks) and typed
        self._scores: Sequence[Scores] = (
            self._live if self.follows else [block.parameters for block in blocks]
        )
        self.lock = RLock()

    @property
    def schema(self) -> Schema:
        """The columns of the table, in order."""
        return self.model.schema

    @property
    def classes(self) -> Labels:
        """The classes, in order."""
        return self.model.counts.classes

    @property
    def caster(self) -> Caster:
        """The types of the columns."""
        return self.model.caster

    @property
    def counts(self) -> Counts:
        """The counts that it began with."""
        return self.model.counts

    @property
    def log_prior(self) -> FloatArray:
        """``log P(c)``."""
        with self.lock:
            if self._log_prior is None:
                self._log_prior = self._prior()
            return self._log_prior

    def _prior(self) -> FloatArray:
        options = self.model.options
        smoothing, method = options.prior_smoothing, options.method
        if self._stated is None and smoothing > 0 and method == "bayes":
            amount = self.weight + smoothing  # what class_prior says of it, in a few steps
            return add_offset(np.log(amount) - np.log(amount.sum()), self._offset)
        stated = None if self._stated is None else self._stated(self.weight)
        rates = class_prior(self.weight, smoothing, method=method, stated=stated)
        return add_offset(rates, self._offset)

    # ------------------------------------------------------------------ learning

    def learn(self, row: Row, own: int, weight: float, keep: float = 1.0) -> None:
        """Count one row, cast before, of the class ``own``; ``keep`` is left of those before."""
        with self.lock:
            encoded = self._encode_row(row, grow=True)
            if keep != 1.0:
                self.weight *= keep
                for live in self._live:
                    live.decay(keep)
            for live, X in zip(self._live, self._rows.matrices(encoded), strict=True):
                live.learn(X, own, weight)
            self.weight[own] += weight
            self._log_prior = None

    # ------------------------------------------------------------------ scoring

    def log_joint_row(self, row: Row) -> FloatArray:
        """``log P(c) + beta * log P(x | c)`` of one row, (1, classes)."""
        with self.lock:
            encoded = self._encode_row(row)
            out = np.zeros((1, len(self.weight)))
            self._rows.add(self._scores, encoded, out)
            weigh(out, self.log_prior, self.discount)
            return out

    def log_joint(self, batch: Batch, out: FloatArray) -> bool:
        """Write ``log P(c) + beta * log P(x | c)`` of every row and class."""
        with self.lock:
            encoded, codes = self._encode(batch)
            out[:] = 0.0
            for scores, X in zip(self._scores, encoded, strict=True):
                scores.add(X, out)
            weigh(out, self.log_prior, self.discount)
            return bool((codes >= self._n_known).any())

    def unseen_rows(self, batch: Batch) -> dict[str, NDArray[np.intp]]:
        """The rows in which a column has a category that was never seen."""
        with self.lock:
            codes = self._codes(batch)
            unseen = np.asarray(codes >= self._n_known)
        names = self.schema.categories
        return {
            name: np.flatnonzero(rows)
            for name, rows in zip(names, unseen.T, strict=True)
            if rows.any() and name in batch.columns
        }

    # ------------------------------------------------------------------ encoding

    @property
    def _n_known(self) -> NDArray[np.int64]:
        known = self.encoder.known
        plain = {column.name for column in self.schema.columns}
        never = np.iinfo(np.int64).max
        return np.array(
            [len(known[n]) if n in plain else never for n in self.schema.categories], np.int64
        )

    def _encode_row(self, row: Row, *, grow: bool = False) -> EncodedRow:
        """A row in numbers and codes; where it takes a table to read it, by that."""
        encoded = self.encoder.encode(row, grow=grow)
        if encoded is not None:
            return encoded
        batch = row_batch(row, self.caster, strict=grow)
        numbers = matrices.numbers(self.schema, batch)
        codes = self._codes(batch, grow=grow)
        texts = [matrices.text_column(batch, name).tolist()[0] for name in self.schema.texts]
        return EncodedRow(numbers[0].tolist(), codes[0].tolist(), texts)

    def _encode(self, batch: Batch) -> tuple[list[Matrix], NDArray[np.int64]]:
        codes = self._codes(batch)
        encoded = self.model.encode_columns(matrices.numbers(self.schema, batch), codes)
        texts = {name: each.encode(batch) for name, each in self.model.text_encoders.items()}
        return [{**encoded, **texts}[block.name] for block in self.model.blocks], codes

    def _codes(self, batch: Batch, *, grow: bool = False) -> NDArray[np.int64]:
        """The codes of categories, also of those that were learned since."""
        columns = matrices.category_columns(self.schema, batch)
        out = np.empty((batch.n_rows, len(columns)), dtype=np.int64)
        for j, (name, column) in enumerate(zip(self.schema.categories, columns, strict=True)):
            known = self.encoder.known[name]
            values, at = matrices.factorise(column)
            codes = []
            for value in values.tolist():
                code = known.get(value)
                if code is None:
                    empty = isinstance(column, Strings) and value == ""
                    code = -1 if empty and not grow else len(known)
                    if grow:
                        known[value] = code
                codes.append(code)
            out[:, j] = np.array([*codes, -1], dtype=np.int64)[at]
        return out


def _recount(block: Block, selected: NaiveBayesModel, counts: Counts) -> Block:
    """A block of more counts; what was chosen of its values stays."""
    table = block_table(block, counts, selected.schema, selected.options)
    settings: Settings = keep_choices(block.parameters, block.settings)
    return replace(block, table=table, settings=settings)
