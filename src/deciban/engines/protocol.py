"""The contract of an engine: count, sample and score the rows of a table.

Conventions
-----------
- A result does not depend on the engine: counts and samples are equal, scores are equal to
  the bit where the engine reads the rows, and up to rounding where it computes elsewhere.
- Rows of weight zero are not there. Rows without a label are refused, or put aside where the
  scan has a list for them; see :class:`~deciban.sources.labelled.LabelledScan`.
- ``count`` reads the rows once where they can be read only once, and fills the sample of the
  plan meanwhile. A table without rows, or without weight, is an error.
- ``sample`` keeps the rows whose keys are least, no more than ``k`` different ones, see
  :mod:`deciban.sources.row_sample`; of rows that belong to groups, whole groups, and all rows
  that have a time.
- ``score`` gives one result a row, in the order of the rows; labels are not needed. It says in
  the scan's ``unseen`` which values training did not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.labels import Labels
from deciban.models.protocol import Scored
from deciban.schema import Schema
from deciban.sources.labelled import LabelledScan
from deciban.sources.sample import Sample
from deciban.stats.categories import CATEGORIES
from deciban.stats.counts import Counts
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.moments import MOMENTS
from deciban.stats.table import Table
from deciban.stats.words import WORDS
from deciban.text import Tokenizer

FloatArray = NDArray[np.float64]

#: What is computed of a row, for every class.
Score = Literal["log_joint", "log_posterior", "posterior"]


@dataclass(frozen=True)
class Plan:
    """What is counted: the columns of a schema, words by a tokenizer; and the sample to fill.

    The schema may have fewer columns than that of the scan; the sample has all of them.
    """

    schema: Schema
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    sample: Sample | None = None

    def empty(self, classes: Labels) -> Counts:
        """The counts of no rows: all columns, and these classes.

        Counts from which rows are taken away lose the columns that have no value left; adding
        this brings them back.
        """
        rows = np.zeros(len(classes))
        tables: dict[str, Table] = {}
        for statistic, names in (
            (CATEGORIES, self.schema.categories),
            (WORDS, self.schema.texts),
            (MOMENTS, self.schema.numbers),
            (HISTOGRAM, self.schema.numbers),
        ):
            if names:
                cells, sums = statistic.empty(labels.label_array(names), len(classes))
                tables[statistic.name] = Table(statistic, cells, rows, sums)
        return Counts(classes, rows, tables)


class Engine(Protocol):
    """Who works on the rows of the scans of one place."""

    def count(self, scan: LabelledScan, plan: Plan) -> Counts:
        """The counts of all rows."""

    def sample(self, scan: LabelledScan, k: int) -> Sample:
        """The rows of least key, no more than ``k``."""

    def score(self, scan: LabelledScan, model: Scored, what: Score) -> FloatArray:
        """Scores of all rows under a model, (rows, classes)."""
