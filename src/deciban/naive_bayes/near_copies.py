"""Many near copies among texts are noticed: rows that belong together make a model too sure."""

from __future__ import annotations

import warnings

import numpy as np

from deciban.encoding.matrices import text_column
from deciban.errors import DataWarning
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.copies import token_hashes
from deciban.sources.sample import Sample
from deciban.stats.words import WORDS, sum_of
from deciban.text.near_copies import near_copy_share

#: Nothing is said of fewer texts than this, and of texts of fewer different words.
MIN_TEXTS, MIN_WORDS = 200, 8
#: The share of near copies from which on something is said.
NOTICED_SHARE = 0.2
#: No more words than about this are looked at.
MAX_WORDS_NOTICED = 1 << 17


def warn_near_copies(model: NaiveBayesModel, sample: Sample) -> None:
    """Say so if many texts of a sample are near copies of others in it."""
    if not model.schema.texts or sample.n_rows < MIN_TEXTS:
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
