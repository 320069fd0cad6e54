"""Copies among texts: rows that belong together make a model too sure, or not sure enough.

A text that was written down once for each of its labels is judged by its own copies when one of
its rows is left out: all of them speak for other labels, and words that are rare for the wrong
ones. New texts have no such copies. So the rows of one text are left out together.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import text_column
from deciban.errors import DataWarning
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.batch import Units
from deciban.sources.copies import token_hashes
from deciban.sources.row_keys import Keys, row_keys
from deciban.sources.sample import Sample
from deciban.sources.unit_sample import GroupSample
from deciban.stats.words import WORDS, sum_of
from deciban.text.near_copies import near_copy_share

#: Nothing is said of fewer texts than this, and of texts of fewer different words.
MIN_TEXTS, MIN_WORDS = 200, 8
#: The share of near copies from which on something is said.
NOTICED_SHARE = 0.2
#: The share of rows whose text has another label too from which on texts have several labels.
SEVERAL_LABELS_SHARE = 0.1
#: No more words than about this are looked at.
MAX_WORDS_NOTICED = 1 << 17


def warn_near_copies(model: NaiveBayesModel, sample: Sample) -> None:
    """Say so if many texts of a sample are near copies of others in it, but not in a group."""
    if _in_units(sample) or not model.schema.texts or sample.n_rows < MIN_TEXTS:
        return
    words = sum_of(model.counts.tables[WORDS.name], "presence").by_cell.sum()
    per_row = float(words) / max(float(model.counts.weight.sum()), 1.0)
    part = sample.part(1 + int(sample.n_rows * per_row) // MAX_WORDS_NOTICED).rows
    for name in model.schema.texts:
        tokens, starts = token_hashes([text_column(part.batch, name)])
        sizes = np.diff(starts)
        long = sizes >= MIN_WORDS
        if np.count_nonzero(long) < MIN_TEXTS:
            continue
        some = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[long])])
        share = near_copy_share(tokens[np.repeat(long, sizes)], some)
        if share >= NOTICED_SHARE:
            warnings.warn(
                f"at least {share:.0%} of the texts in column {name!r} are near copies of others, "
                "so that rows left out are judged by their copies and the model is too sure. "
                'Hint: groups="auto" leaves copies out together.',
                DataWarning,
                stacklevel=5,
            )


def with_labels_together(model: NaiveBayesModel, sample: Sample) -> Sample:
    """The sample with all rows of one text in a group, where many texts have several labels.

    Where the sample is not the whole table, copies are missing from it, and it stays as it is; so
    does one of rows that are in groups or times already.
    """
    if _in_units(sample) or sample.stands_for != 1.0 or sample.n_rows < MIN_TEXTS:
        return sample
    texts = [row_keys(batch.batch, model.schema.texts) for batch in sample.batches]
    codes = [batch.codes_among(model.classes) for batch in sample.batches]
    if _share_of_several(np.concatenate(texts), np.concatenate(codes)) < SEVERAL_LABELS_SHARE:
        return sample
    groups = GroupSample(sample.max_rows)
    for batch, keys in zip(sample.batches, texts, strict=True):
        groups.add(replace(batch, units=Units("group", keys)))
    return groups


def _in_units(sample: Sample) -> bool:
    return any(batch.units is not None for batch in sample.batches)


def _share_of_several(texts: Keys, codes: NDArray[np.intp]) -> float:
    """The share of rows whose text is there with another label; 0 where few texts differ."""
    different, at = np.unique(texts, return_inverse=True)
    if len(different) < MIN_TEXTS or len(different) == len(texts):
        return 0.0
    n_labels = np.bincount(np.unique(np.column_stack([at, codes]), axis=0)[:, 0])
    return float(np.mean(n_labels[at] > 1))
