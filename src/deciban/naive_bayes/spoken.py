"""What the words of a text say: in their places, and on average."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from deciban.explanation import DECIBANS, decibans
from deciban.families.words import believed, summed
from deciban.naive_bayes.model import Model, text_block

FloatArray = NDArray[np.float64]


def spoken(model: Model, column: str, text: str) -> list[tuple[str, int, int, list[float]]]:
    """The known words of a text, where they are, and what each says for every class.

    A word that counts once however often it is said is shared among its places.
    N-grams and segmenters have no places of their own, nor have absent words.
    """
    if column not in model.schema.texts:
        return []
    params = model.params.blocks[text_block(column)][1]
    how, known = params.settings, model.words[model.schema.texts.index(column)]
    spans = model.tokenizer.spans(text)
    at = known.positions([token for _, _, token in spans]).tolist()
    found = [(start, stop, place) for (start, stop, _), place in zip(spans, at, strict=True)
             if place >= 0]  # fmt: skip
    times = Counter(place for _, _, place in found)
    once = how.weighting != "amount"
    size = float(len(times) if once else len(found))
    trust = model.discount * float(believed(np.array([size]), how.scale, how.length)[0]) * DECIBANS
    return [
        (text[start:stop], start, stop,
         (params.words.weight[place] * trust / (times[place] if once else 1)).tolist())
        for start, stop, place in found
    ]  # fmt: skip


def weighed(model: Model, prior: FloatArray) -> dict[str, FloatArray]:
    """The expected weight of evidence of each text column, (classes,), for texts of usual length.

    ``P(c) sum_w E[n_w | c] W_c(w)``, by the words that each class's texts have on average.
    """
    found = {}
    for name in model.schema.texts:
        block = text_block(name)
        table, params = model.blocks.tables[block], model.params.blocks[block][1]
        rows = np.where(table.rows > 0, table.rows, 1.0)[:, None]
        expected = summed(dict(table.sums), params.settings) / rows
        said = decibans(params.words.weight) if params.n_columns else np.zeros((0, len(prior)))
        how = params.settings
        trust = model.discount * believed(expected.sum(axis=1), how.scale, how.length)
        found[name] = prior * trust * np.einsum("cw,wc->c", expected, said)
        if params.words.absent is not None:
            found[name] += prior * trust * decibans(params.words.base)
    return found
