"""What the words of a text say: in their places, and on average."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.families.words import WordParameters
from deciban.models.protocol import KnownWords, WordContribution
from deciban.naive_bayes.texts import known_words as known_words_of
from deciban.stats.words import sum_of

if TYPE_CHECKING:
    from deciban.naive_bayes.blocks import Block
    from deciban.naive_bayes.model import NaiveBayesModel

FloatArray = NDArray[np.float64]


def _text_blocks(model: NaiveBayesModel) -> dict[str, Block]:
    return {block.columns[0]: block for block in model.blocks if block.input == "text"}


def word_contributions(model: NaiveBayesModel, column: str, text: str) -> list[WordContribution]:
    """The known words of a text, where they are, and the part of each for every class.

    A word that counts once however often it is said is shared among its places.
    N-grams and segmenters have no places of their own, nor have absent words.
    """
    block = _text_blocks(model).get(column)
    if block is None:
        return []
    parameters = cast("WordParameters", block.parameters)
    how = parameters.settings
    spans = model.tokenizer.spans(text)
    at = model.text_encoders[block.name].positions([token for _, _, token in spans]).tolist()
    known = [
        (start, stop, place)
        for (start, stop, _), place in zip(spans, at, strict=True)
        if place >= 0
    ]
    times = Counter(place for _, _, place in known)
    once = how.weighting != "amount"
    size = float(len(times) if once else len(known))
    factor = model.discount * float(how.discount(np.array([size]))[0])
    weight = parameters.words.weight
    # What a text adds whatever its words is shared among them.
    offsets = model.discount * parameters.offsets / max(len(known), 1)
    return [
        WordContribution(
            text[start:stop],
            start,
            stop,
            weight[place] * factor / (times[place] if once else 1) + offsets,
        )
        for start, stop, place in known
    ]


def known_words(model: NaiveBayesModel, column: str) -> KnownWords:
    """The words of a column, and what each says as the only one of its text."""
    block = _text_blocks(model)[column]
    if model.tokenizer.buckets is not None:
        raise InputError(
            f"the words of {column!r} were counted in buckets, which have no names.",
            hint="train with a Tokenizer without buckets",
        )
    parameters = cast("WordParameters", block.parameters)
    factor = model.discount * float(parameters.settings.discount(np.ones(1))[0])
    documents = sum_of(block.table, "presence").dense().T
    weights = parameters.words.weight * factor + model.discount * parameters.offsets
    return KnownWords(known_words_of(block.table), weights, documents)


def expected_word_contributions(model: NaiveBayesModel) -> dict[str, FloatArray]:
    """The contribution of each text column expected in a row of each class, (classes, classes).

    ``sum_w E[n_w | c] log P(w | k)`` for texts of class c (first axis) and every class k, by the
    words that each class's texts have on average.
    """
    expected = {}
    for name, block in _text_blocks(model).items():
        parameters, table = cast("WordParameters", block.parameters), block.table
        rows = np.where(table.rows > 0, table.rows, 1.0)[:, None]
        how = parameters.settings
        words = sum_of(table, how.weighting).dense() / rows
        factor = model.discount * how.discount(words.sum(axis=1))
        total = words @ parameters.words.weight
        if parameters.words.absent is not None:
            total = total + parameters.words.base
        expected[name] = np.asarray(factor[:, None] * total + model.discount * parameters.offsets)
    return expected
