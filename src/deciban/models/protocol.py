"""The contract of every model: all that scoring, explaining, evaluating, files and commands ask.

Conventions
-----------
- A *batch* is some rows of a table, with (at least) the columns of ``schema`` that are used, in
  the types that they had in training: ``caster`` casts whatever comes to them.
- ``classes`` are K labels; arrays over classes are in their order. Logarithms are natural.
- ``log_prior``, (classes,), is the offset that a model starts from before any column speaks:
  ``log P(c)`` of a generative model, the intercepts of a discriminative one.
- ``log_joint`` fills ``out``, (rows, classes), with the log joint of each row, or, for a
  discriminative model, with its logits: the posterior is their softmax either way. It returns
  whether some category was never seen in training; ``unseen_rows`` says which.
- ``contributions``, (rows, columns of the schema, classes): each column's part of the log joint.
  ``log_prior + contributions.sum(axis=1)`` is the log joint, up to a constant a row.
- Models are immutable and import no scikit-learn; estimators are shells over them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import Caster
from deciban.families.piece import Piece
from deciban.families.remaining import Remaining
from deciban.labels import Labels
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.models.selection import Choice
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.tabular import Row
from deciban.stats.counts import Counts

if TYPE_CHECKING:
    from deciban.models.leave_one_out_scores import KeptScores
    from deciban.models.novelty import RowLikelihoods

FloatArray = NDArray[np.float64]


class WordContribution(NamedTuple):
    """A token, where it stands in its text, and its part of the log joint, (classes,)."""

    token: str
    start: int
    stop: int
    by_class: FloatArray


class KnownWords(NamedTuple):
    """The words or phrases that a model knows of a column of text.

    ``by_class``, (words, classes), is what each adds to the log joint as the only one of its text;
    ``texts``, (words, classes), in how many texts of training it was, if that was counted.
    """

    tokens: Labels
    by_class: FloatArray
    texts: FloatArray | None


class Scored(Protocol):
    """What scores rows: a model, or one that still learns."""

    @property
    def schema(self) -> Schema:
        """The columns of the table, in order."""

    @property
    def classes(self) -> Labels:
        """The classes, in order."""

    @property
    def log_prior(self) -> FloatArray:
        """The offset of every class, (classes,)."""

    @property
    def caster(self) -> Caster:
        """The types of the columns that the model uses."""

    def log_joint(self, batch: Batch, out: FloatArray) -> bool:
        """Fill ``out``, (rows, classes), with the log joint of every row and class.

        Whether some category was never seen in training.
        """

    def unseen_rows(self, batch: Batch) -> Mapping[str, NDArray[np.intp]]:
        """The rows in which a column has a category that was never seen in training."""


class Model(Scored, Protocol):
    """A fitted classifier: schema and classes, log joints, and what each column adds to them."""

    @property
    def kind(self) -> str:
        """The name of the estimator that makes such models, by which files know them."""

    @property
    def additive(self) -> bool:
        """Whether a column's contribution depends on its own value alone."""

    @property
    def absent_value(self) -> float | None:
        """What a column holds in a row that does not name it: an amount of 0, or None: missing."""

    def contributions(self, batch: Batch) -> FloatArray:
        """Each column's part of the log joint, (rows, columns, classes)."""

    def pieces(self) -> Sequence[Piece]:
        """What each value of each column says by itself: the tables that an additive model adds up.

        Of another one they name values to try.
        """

    @property
    def measured_evidence(self) -> MeasuredEvidence | None:
        """What the columns said in rows of training; None where that was not measured.

        Of a model whose evidence is a table of its counts, it follows from ``pieces`` instead.
        """

    def word_contributions(self, column: str, text: str) -> Sequence[WordContribution]:
        """The known tokens of a text in their places; empty for a column that is no text."""

    def expected_word_contributions(self) -> Mapping[str, FloatArray]:
        """What texts are expected to contribute, (classes, classes) by column.

        Rows of a class (first axis), contribution for a class; pieces say it of other columns.
        """


@runtime_checkable
class ScoresRows(Protocol):
    """A model that has a shorter way for one row than that of tables."""

    def log_joint_row(self, row: Row) -> FloatArray | None:
        """The log joint of one row, (1, classes), as ``log_joint``; None where it takes a table."""


@runtime_checkable
class HasWords(Protocol):
    """A model that weighs the words of texts one by one."""

    def known_words(self, column: str) -> KnownWords:
        """The words of a column of text, and what each says alone."""


@runtime_checkable
class HasCounts(Protocol):
    """A model that keeps the table of counts it was estimated from."""

    @property
    def counts(self) -> Counts:
        """The table of counts."""


@runtime_checkable
class HasClassWeights(Protocol):
    """A model without counts that knows how much the rows of each class weighed."""

    @property
    def class_weights(self) -> FloatArray | None:
        """The weight of the training rows of each class; None where it is not known."""


@runtime_checkable
class HasBaseRates(Protocol):
    """A model whose log prior may be moved by its calibration."""

    @property
    def base_rates(self) -> FloatArray:
        """The probabilities of the classes before anything is known of a row, (classes,)."""


@runtime_checkable
class HasLeftOutScores(Protocol):
    """A model that keeps the scores of rows that were left out of it."""

    @property
    def left_out(self) -> KeptScores | None:
        """The scores, in the order of the classes; None where no rows were scored."""

    def with_left_out(self, scores: KeptScores | None) -> Self:
        """The model with other scores of left-out rows."""


@runtime_checkable
class HasLikelihoods(HasLeftOutScores, Protocol):
    """A model that knows how likely a row is at all."""

    def row_likelihoods(self, batch: Batch) -> RowLikelihoods:
        """``log P(x | c)`` without a discount, (rows, classes), and the size of every row."""


@runtime_checkable
class CountedModel(Model, Protocol):
    """A model that is its counts: rows can be added, taken away, and left out one by one."""

    @property
    def counts(self) -> Counts:
        """The table of counts."""

    @property
    def choices(self) -> Mapping[str, Choice]:
        """How each counted column is modelled."""

    @property
    def temperature(self) -> float:
        """What the evidence is divided by, so that probabilities can be trusted; 1 is none."""

    def leave_one_out(
        self, batch: Batch, y: NDArray[np.intp], weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log prior and log likelihood, (rows, classes), each row taken out of the counts."""

    def leave_out(self, batch: Batch, remaining: Remaining) -> tuple[FloatArray, FloatArray]:
        """Log prior and log likelihood, (rows, classes), by the counts left for each row."""

    def joint(self, log_prior: FloatArray, log_likelihood: FloatArray) -> FloatArray:
        """The log joint, calibrated, of a log prior and a log likelihood, (rows, classes)."""
