"""How likely a row is at all: ``log P(x | c)`` of all that it holds, with unknown words.

Classes are told apart by word models that need not be likelihoods, and a word that no class has
says nothing about them. It says much about whether a text is new. So here words are those of
the plain multinomial model, and an unknown one is as likely as a word that a class never had.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.families.words import WordParameters, WordSettings
from deciban.models.novelty import RowLikelihoods
from deciban.sources.batch import Batch
from deciban.stats.words import sum_of
from deciban.text import Buckets, Tokenizer

if TYPE_CHECKING:
    from deciban.naive_bayes.blocks import Block
    from deciban.naive_bayes.model import NaiveBayesModel

FloatArray = NDArray[np.float64]

#: The pseudo-count of a word, by which texts of classes that were held out are told best.
WORD_SMOOTHING = 0.03
#: Words are counted in so many buckets where only their number matters.
SIZE_BUCKETS = 1 << 16


def row_likelihoods(model: NaiveBayesModel, batch: Batch) -> RowLikelihoods:
    """The log likelihood of every row and class, and the values and words of every row."""
    out, size = np.zeros((batch.n_rows, len(model.classes))), _n_values(model, batch)
    encoded = model.encode(batch)
    for block in model.blocks:
        if block.input != "text":
            block.parameters.add(encoded[block.name], out)
            continue
        words, bags = _plain_words(block), encoded[block.name]
        words.add(bags, out)
        size += _add_unknown(words, model.tokenizer, block, batch, bags.sum_rows(bags.data), out)
    return RowLikelihoods(out, size)


def leave_one_out_likelihoods(
    model: NaiveBayesModel, batch: Batch, y: NDArray[np.intp], weight: FloatArray
) -> RowLikelihoods:
    """Those of counted rows, each taken out of the counts; its own words are then unknown."""
    out, size = np.zeros((batch.n_rows, len(model.classes))), _n_values(model, batch)
    encoded = model.encode(batch)
    for block in model.blocks:
        if block.input != "text":
            out += block.parameters.leave_one_out(encoded[block.name], y, weight)
            continue
        words = _plain_words(block)
        removal = words.remove(encoded[block.name], y, weight)
        out += removal.log_shares(words.smoothed, others=False)[0]
        size += _add_unknown(words, model.tokenizer, block, batch, removal.size, out)
    return RowLikelihoods(out, size)


def _n_values(model: NaiveBayesModel, batch: Batch) -> FloatArray:
    """How many values other than texts each row has."""
    numbers, codes = model.columns(batch)
    known = (~np.isnan(numbers)).sum(axis=1) + (codes >= 0).sum(axis=1)
    return np.asarray(known, dtype=np.float64)


@lru_cache(maxsize=8)
def _plain_words(block: Block) -> WordParameters:
    """The multinomial model of a column of text."""
    return WordParameters(block.table, WordSettings("bayes", WORD_SMOOTHING))


def _add_unknown(
    words: WordParameters,
    tokenizer: Tokenizer,
    block: Block,
    batch: Batch,
    known: FloatArray,
    out: FloatArray,
) -> FloatArray:
    """Add the log likelihood of the words beyond those that are known; all words of each row."""
    texts = matrices.text_column(batch, block.columns[0])
    rows, _, counts = tokenizer.encode(texts, Buckets(SIZE_BUCKETS), grow=False)
    size = np.diff(np.append(0, np.cumsum(counts))[rows]).astype(np.float64)
    total = sum_of(words.table, "amount").by_class + words.n_columns * WORD_SMOOTHING
    share = WORD_SMOOTHING / np.maximum(total, WORD_SMOOTHING)
    out += np.maximum(size - known, 0.0)[:, None] * np.log(share)
    return size
