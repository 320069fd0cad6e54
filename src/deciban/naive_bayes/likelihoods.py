"""How likely a row is at all: ``log P(x | c)`` of all that it holds, also of what is new in it.

What tells classes apart need not tell whether a row is new. So here

- words are those of the plain multinomial model, and a word that is not known is as likely as
  one that a class never had;
- a number beyond all that were seen, of which bins know nothing, is as likely as that is of the
  next of n numbers: once in n + 1 times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.families.remaining import Remaining
from deciban.families.removal import Removal
from deciban.families.unit_removal import UnitRemoval
from deciban.families.words import WordParameters, WordSettings
from deciban.models.novelty import RowLikelihoods
from deciban.sources.batch import Batch
from deciban.stats.categories import count_by_column
from deciban.stats.histogram import HISTOGRAM, grid_of
from deciban.stats.statistic import Matrix
from deciban.stats.words import Bags, sum_of
from deciban.text import Buckets

if TYPE_CHECKING:
    from deciban.naive_bayes.blocks import Block
    from deciban.naive_bayes.model import NaiveBayesModel

FloatArray = NDArray[np.float64]

#: The pseudo-count of a word, by which texts of classes that were held out are told best.
WORD_SMOOTHING = 0.03
#: Words are counted in so many buckets where only their number matters.
SIZE_BUCKETS = 1 << 16


@dataclass(frozen=True, eq=False)
class NumberRanges:
    """The range of the numbers that were seen in each column, (columns,).

    All are at least ``low`` and below ``high``; ``low_weight`` and ``high_weight`` are the weight
    of rows at either end, which end before ``next_low`` and from ``next_high`` on.
    """

    low: FloatArray
    high: FloatArray
    low_weight: FloatArray
    high_weight: FloatArray
    next_low: FloatArray
    next_high: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, model: NaiveBayesModel) -> NumberRanges:
        """The ranges of a model's columns; of one without numbers, none is beyond."""
        table = model.counts.tables[HISTOGRAM.name]
        columns = []
        for count, ends in zip(count_by_column(table), grid_of(table).all_ends(), strict=True):
            weight = count.sum(axis=0)
            if not len(weight):
                columns.append((-np.inf, np.inf, 0.0, 0.0, -np.inf, np.inf, 0.0))
                continue
            first, last = min(1, len(weight) - 1), max(0, len(weight) - 2)
            columns.append(
                (ends[0, 0], ends[1, -1], weight[0], weight[-1], ends[0, first], ends[1, last],
                 weight.sum())
            )  # fmt: skip
        return cls(*np.array(columns).reshape(len(columns), 7).T)

    def log_beyond(self, numbers: FloatArray) -> FloatArray:
        """The log likelihood of being beyond the range, summed over the columns of each row."""
        with np.errstate(invalid="ignore"):
            beyond = (numbers < self.low) | (numbers >= self.high)
        return np.asarray(beyond.astype(np.float64) @ -np.log1p(self.weight))

    def log_beyond_without(self, numbers: FloatArray, weight: FloatArray) -> FloatArray:
        """That of counted rows, each taken out: one that is an end by itself is beyond the next."""
        own = weight[:, None]
        with np.errstate(invalid="ignore"):
            beyond = (numbers < self.next_low) & (self.low_weight <= own)
            beyond |= (numbers >= self.next_high) & (self.high_weight <= own)
        log = -np.log1p(np.maximum(self.weight - own, 0.0))
        return np.asarray((beyond * log).sum(axis=1))


@dataclass(frozen=True, eq=False)
class NumberKeys:
    """The numbers of each column as they were counted, by keys in their order.

    ``least`` are the least numbers of the keys, ``weight`` the weight of the rows that have them,
    and ``class_weight`` that of the rows of each class that have any number.
    """

    least: Sequence[FloatArray]
    weight: Sequence[FloatArray]
    class_weight: Sequence[FloatArray]

    @classmethod
    def of(cls, model: NaiveBayesModel) -> NumberKeys:
        """The keys of a model's columns of numbers."""
        table = model.counts.tables[HISTOGRAM.name]
        counts = count_by_column(table)
        by_key, by_class = ([count.sum(axis=axis) for count in counts] for axis in (0, 1))
        return cls(grid_of(table).all_floats(), by_key, by_class)

    def log_beyond_left(self, numbers: FloatArray, remaining: Remaining) -> FloatArray:
        """The log likelihood of being beyond the numbers left for each row, summed over columns."""
        out = np.zeros(len(numbers))
        columns = zip(numbers.T, self.least, self.weight, self.class_weight, strict=True)
        for x, least, weight, class_weight in columns:
            known = np.flatnonzero(~np.isnan(x))
            if not len(known):
                continue
            some = remaining.take(known)
            code = np.maximum(np.searchsorted(least, x[known], side="right") - 1, 0)
            above = len(least) - 1 - code
            beyond = some.none_left_to(code, np.cumsum(weight)[code])
            beyond |= some.none_left_to(above, np.cumsum(weight[::-1])[above])
            left = remaining.left(class_weight, (~np.isnan(x)).astype(np.float64)).sum(axis=1)
            out[known[beyond]] -= np.log1p(np.maximum(left[known[beyond]], 0.0))
        return out


@dataclass(frozen=True, eq=False)
class PlainWords:
    """The multinomial model of a column of text."""

    parameters: WordParameters

    @classmethod
    def of(cls, block: Block) -> PlainWords:
        """The model of the words that a block counts, however the block uses them."""
        return cls(WordParameters(block.table, WordSettings("bayes", WORD_SMOOTHING)))

    def add(self, bags: Bags, out: FloatArray) -> None:
        """Add the log likelihood of known words."""
        self.parameters.add(bags, out)

    @cached_property
    def totals(self) -> FloatArray:
        """All words of each class, with what smoothing adds, (classes,)."""
        amount = sum_of(self.parameters.table, "amount").by_class
        return np.asarray(amount + self.parameters.n_columns * WORD_SMOOTHING)

    def totals_left(self, removal: UnitRemoval) -> FloatArray:
        """Those that are left for each text, (rows, classes)."""
        amount = sum_of(self.parameters.table, "amount").by_class
        return removal.totals_left(amount) + WORD_SMOOTHING * removal.n_words

    def totals_without(self, removal: Removal) -> FloatArray:
        """Those without each text: its words go, and so do those that no other text has."""
        bags, rows = removal.bags, np.arange(len(removal.y))
        gone = bags.sum_rows(~removal.stays)
        out = self.totals - WORD_SMOOTHING * gone[:, None]
        out[rows, removal.y] -= removal.weight * bags.sum_rows(bags.data)
        return np.asarray(out)


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """The log likelihoods of rows under a naive Bayes model."""

    model: NaiveBayesModel

    @cached_property
    def _words(self) -> dict[str, PlainWords]:
        """The words of each column of text, by block."""
        texts = (block for block in self.model.blocks if block.input == "text")
        return {block.name: PlainWords.of(block) for block in texts}

    @cached_property
    def _ranges(self) -> NumberRanges:
        return NumberRanges.of(self.model)

    @cached_property
    def _keys(self) -> NumberKeys:
        return NumberKeys.of(self.model)

    def of_rows(self, batch: Batch) -> RowLikelihoods:
        """The log likelihood of every row and class, and the values and words of every row."""
        numbers, codes, size, out = self._start(batch)
        encoded = self._encode(batch, numbers, codes)
        for block in self.model.blocks:
            if block.input != "text":
                block.parameters.add(encoded[block.name], out)
                continue
            words, bags = self._words[block.name], encoded[block.name]
            words.add(bags, out)
            known = bags.sum_rows(bags.data)
            size += self._add_unknown(block, batch, known, words.totals, out)
        if numbers.shape[1]:
            out += self._ranges.log_beyond(numbers)[:, None]
        return RowLikelihoods(out, size)

    def leave_one_out(
        self,
        batch: Batch,
        y: NDArray[np.intp],
        weight: FloatArray,
        plain: FloatArray | None = None,
    ) -> RowLikelihoods:
        """Those of counted rows, each taken out of the counts: its own words are not known then.

        ``plain`` is the part of all columns, (rows, classes), where none is a text and it is known.
        """
        numbers, codes, size, out = self._start(batch)
        if plain is not None and not self._words:
            out += plain
        else:
            encoded = self._encode(batch, numbers, codes)
            size += self._leave_blocks_out(batch, encoded, y, weight, out)
        if numbers.shape[1]:
            out += self._ranges.log_beyond_without(numbers, weight)[:, None]
        return RowLikelihoods(out, size)

    def leave_out(self, batch: Batch, remaining: Remaining) -> RowLikelihoods:
        """Those of counted rows by what is left for each: other words are not known then."""
        numbers, codes, size, out = self._start(batch)
        encoded = self._encode(batch, numbers, codes)
        size += self._leave_units_out(batch, encoded, remaining, out)
        if numbers.shape[1]:
            out += self._keys.log_beyond_left(numbers, remaining)[:, None]
        return RowLikelihoods(out, size)

    def _leave_units_out(
        self, batch: Batch, encoded: dict[str, Matrix], remaining: Remaining, out: FloatArray
    ) -> FloatArray:
        """Add the part of every block; returns how many words there are in each row."""
        n_words = np.zeros(batch.n_rows)
        for block in self.model.blocks:
            if block.input != "text":
                for column in block.parameters.leave_out(encoded[block.name], remaining):
                    out += column
                continue
            words, bags = self._words[block.name], encoded[block.name]
            removal = words.parameters.remove_units(bags, remaining)
            out += removal.log_shares(words.parameters.smoothed, others=False)[0]
            size = bags.sum_rows(bags.data) if self._knows_all_words else None
            totals = words.totals_left(removal)
            n_words += self._add_unknown(block, batch, removal.size, totals, out, size)
        return n_words

    def _leave_blocks_out(
        self,
        batch: Batch,
        encoded: dict[str, Matrix],
        y: NDArray[np.intp],
        weight: FloatArray,
        out: FloatArray,
    ) -> FloatArray:
        """Add the part of every block; returns how many words there are in each row."""
        n_words = np.zeros(batch.n_rows)
        for block in self.model.blocks:
            if block.input != "text":
                out += block.parameters.leave_one_out(encoded[block.name], y, weight)
                continue
            words, bags = self._words[block.name], encoded[block.name]
            removal = words.parameters.remove(bags, y, weight)
            out += removal.log_shares(words.parameters.smoothed, others=False)[0]
            # All words of counted rows are known, unless some were not chosen.
            size = bags.sum_rows(bags.data) if self._knows_all_words else None
            totals = words.totals_without(removal)
            n_words += self._add_unknown(block, batch, removal.size, totals, out, size)
        return n_words

    @property
    def _knows_all_words(self) -> bool:
        options = self.model.options
        return options.max_words is None and isinstance(options.min_df, int) and options.min_df == 1

    def _start(self, batch: Batch) -> tuple[FloatArray, NDArray[np.int64], FloatArray, FloatArray]:
        """Numbers and codes of a batch, how many values other than texts rows have, and zeros."""
        numbers, codes = self.model.columns(batch)
        size = _count(~np.isnan(numbers)) + _count(codes >= 0)
        return numbers, codes, size, np.zeros((len(size), len(self.model.counts.classes)))

    def _encode(
        self, batch: Batch, numbers: FloatArray, codes: NDArray[np.int64]
    ) -> dict[str, Matrix]:
        """Rows, whose columns other than texts are known, as every block reads them."""
        texts: dict[str, Matrix] = {
            name: encoder.encode(batch) for name, encoder in self.model.text_encoders.items()
        }
        return texts | self.model.encode_columns(numbers, codes)

    def _add_unknown(
        self,
        block: Block,
        batch: Batch,
        known: FloatArray,
        totals: FloatArray,
        out: FloatArray,
        size: FloatArray | None = None,
    ) -> FloatArray:
        """Add the log likelihood of words that are not known; returns how many words there are.

        ``totals`` are those of the classes, (classes,) or (rows, classes); ``size`` is how many
        words there are, if that is known.
        """
        if size is None:
            texts = matrices.text_column(batch, block.columns[0])
            rows, _, counts = self.model.tokenizer.encode(texts, Buckets(SIZE_BUCKETS), grow=False)
            size = np.diff(np.append(0, np.cumsum(counts))[rows]).astype(np.float64)
        share = WORD_SMOOTHING / np.maximum(totals, WORD_SMOOTHING)
        out += np.maximum(size - known, 0.0)[:, None] * np.log(share)
        return size


def _count(known: NDArray[np.bool_]) -> FloatArray:
    """How many values of each row are known: a product, which is faster than short sums."""
    return known.astype(np.float64) @ np.ones(known.shape[1])
