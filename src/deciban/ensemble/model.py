"""The model: counts, features and terms, which add up to logits and to contributions.

It is a :class:`deciban.models.protocol.Model`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.aode.model import AODEModel
from deciban.encoding.matrices import Caster
from deciban.encoding.row import RowEncoder
from deciban.ensemble import formula
from deciban.ensemble.evidence_weights import (
    evidence,
    evidence_columns,
    evidence_of_columns,
)
from deciban.ensemble.features import Features
from deciban.ensemble.logits import FloatArray
from deciban.ensemble.phrases import PhraseModel
from deciban.ensemble.radial import RadialBasis
from deciban.ensemble.summary import EnsembleSummary
from deciban.ensemble.trees import Forest
from deciban.explanation import measure
from deciban.families.piece import Piece
from deciban.formulas import Formula
from deciban.labels import Labels
from deciban.models.leave_one_out_scores import KeptScores
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.models.novelty import RowLikelihoods, sum_likelihoods
from deciban.models.protocol import KnownWords, WordContribution
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch
from deciban.sources.tabular import Row
from deciban.stats.counts import Counts

if TYPE_CHECKING:
    from deciban.ensemble.refitting import RefittedRows
    from deciban.ensemble.training_table import HeldOutRows


@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """What a base learner, or all of them together, adds to the logits.

    The logits of an ensemble are a weighted sum of those of its base learners, and each of these
    is a sum of terms: so the ensemble is one sum of terms again. The logit of class c is the sum of

    - ``constants[c]``,
    - ``evidence[j]`` times the evidence of part j of the counts,
    - the linear terms times ``linear``, (terms, classes), and the products times ``products``,
    - the values of the trees of ``forest``,
    - what ``radial`` makes of the distances to its centres,
    - ``aode_weight`` times the log joint of ``aode``.
    """

    constants: FloatArray
    evidence: FloatArray
    linear: FloatArray
    products: FloatArray
    forest: Forest
    radial: RadialBasis
    aode: AODEModel | None = None
    aode_weight: float = 0.0

    @classmethod
    def zero(
        cls, n_parts: int, n_numbers: int, n_linear: int, n_products: int, n_classes: int
    ) -> AdditiveTerms:
        """Terms that add nothing."""
        return cls(
            np.zeros(n_classes),
            np.zeros(n_parts),
            np.zeros((n_linear, n_classes)),
            np.zeros((n_products, n_classes)),
            Forest.empty(),
            RadialBasis.empty(n_numbers, n_classes),
        )

    def __mul__(self, factor: float) -> AdditiveTerms:
        return AdditiveTerms(
            self.constants * factor,
            self.evidence * factor,
            self.linear * factor,
            self.products * factor,
            self.forest * factor,
            self.radial * factor,
            self.aode,
            self.aode_weight * factor,
        )

    def __add__(self, other: AdditiveTerms) -> AdditiveTerms:
        """Both; only one of them has trees, one of them centres, and one of them AODE."""
        return AdditiveTerms(
            self.constants + other.constants,
            self.evidence + other.evidence,
            self.linear + other.linear,
            self.products + other.products,
            self.forest if len(self.forest) else other.forest,
            self.radial if len(self.radial) else other.radial,
            self.aode or other.aode,
            self.aode_weight + other.aode_weight,
        )


KIND = "BayesClassifier"
#: So many rows are scored at a time: the evidence of each column is held until it is added up.
SCORING_BATCH_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class EnsembleModel:
    """All that training leaves behind.

    ``counted`` is the naive Bayes model of the table without its texts, which are
    read by ``texts``; ``words`` is that of the texts, by which their novelty is judged.
    ``known_left_out`` are the scores of held-out rows, or ``held_out`` the rows themselves.
    ``sample`` are rows on which the evidence of columns is measured when it is asked for; without
    any, ``evidence`` is what was measured before.
    """

    schema: Schema
    counted: NaiveBayesModel
    features: Features
    terms: AdditiveTerms
    summary: EnsembleSummary
    texts: tuple[PhraseModel, ...] = ()
    words: NaiveBayesModel | None = None
    known_left_out: KeptScores | None = None
    evidence: MeasuredEvidence | None = None
    sample: LabelledBatch | None = None
    held_out: HeldOutRows | RefittedRows | None = None

    @property
    def kind(self) -> str:
        """The name of the estimator."""
        return KIND

    @property
    def counts(self) -> Counts:
        """The table of counts behind the evidence."""
        return self.counted.counts

    @property
    def classes(self) -> Labels:
        """The classes, in order."""
        return self.counts.classes

    @property
    def additive(self) -> bool:
        """False: what a value contributes depends on others, but for linear terms and evidence."""
        return False

    @property
    def absent_value(self) -> None:
        """None: a column that a row does not name is missing."""
        return None

    @cached_property
    def log_prior(self) -> FloatArray:
        """The constant part of every class's logit."""
        terms, n_classes = self.terms, len(self.classes)
        out = terms.constants + (terms.forest.constants(n_classes) if n_classes > 1 else 0.0)
        out = out + terms.radial.constants
        if terms.aode is not None:
            out = out + terms.aode_weight * terms.aode.log_prior
        return np.asarray(out)

    # ------------------------------------------------------------------ scoring

    @cached_property
    def caster(self) -> Caster:
        """The types of the columns."""
        return Caster(self.schema, self.counted.caster.known)

    def unseen_rows(self, batch: Batch) -> dict[str, NDArray[np.intp]]:
        """The rows in which a column has a category that was never seen."""
        return self.counted.unseen_rows(batch)

    def log_joint(self, batch: Batch, out: FloatArray) -> bool:
        """Fill ``out`` with the logits of every row: some rows at a time, on all cores."""

        def work(rows: slice) -> bool:
            return self._add_up(batch.slice(rows.start, rows.stop), out[rows])

        return any(list(threads.run(work, threads.chunks(batch.n_rows, SCORING_BATCH_ROWS))))

    def _add_up(self, batch: Batch, out: FloatArray) -> bool:
        terms, (numbers, codes) = self.terms, self.counted.columns(batch)
        self._add_columns(numbers, codes, out)
        if terms.aode is not None:
            log_joint = np.empty_like(out)
            terms.aode.log_joint(batch, log_joint)
            out += terms.aode_weight * log_joint
        for text in self.texts:
            out += text.logits(batch)
        return bool((codes >= self.counted.n_known).any())

    def log_joint_row(self, row: Row) -> FloatArray | None:
        """The logits of one row, (1, classes); None where only a table can tell."""
        encoded = None if self.texts else self._row_encoder.encode(row)
        if encoded is None:
            return None
        out = np.empty((1, len(self.classes)))
        self._add_columns(np.array([encoded.numbers]), np.array([encoded.codes], np.int64), out)
        if self.terms.aode is not None:
            log_joint = self.terms.aode.log_joint_row(row)
            if log_joint is None:
                return None
            out += self.terms.aode_weight * log_joint
        return out

    @cached_property
    def _row_encoder(self) -> RowEncoder:
        return RowEncoder.of(self.caster)

    def _add_columns(self, numbers: FloatArray, codes: NDArray[np.int64], out: FloatArray) -> None:
        """Write the constants and what numbers and categories add, AODE apart."""
        terms = self.terms
        out[:] = terms.constants
        if terms.evidence.any():
            said = evidence_of_columns(self.counted, numbers, codes)
            one = len(said) == 1  # the threads of a large product would cost more than it does
            out += terms.evidence @ said[0] if one else np.tensordot(said, terms.evidence, (1, 0))
        if terms.linear.any():
            out += self.features.linear(numbers, codes) @ terms.linear
        if terms.products.any():
            out += self.features.products(numbers) @ terms.products
        if len(terms.forest):
            terms.forest.add(self.features.cells(numbers, codes), out)
        if len(terms.radial):
            out += terms.radial.logits(self.features.bent(numbers))

    def row_likelihoods(self, batch: Batch) -> RowLikelihoods:
        """``log P(x | c)`` by the counts, (rows, classes), and the size of every row."""
        models = [model for model in (self.counted, self.words) if model is not None]
        return sum_likelihoods([model.row_likelihoods(batch) for model in models])

    def with_left_out(self, scores: KeptScores | None) -> EnsembleModel:
        """The model with other scores of left-out rows."""
        return replace(self, known_left_out=scores, held_out=None)

    @cached_property
    def left_out(self) -> KeptScores | None:
        """The scores of held-out rows: those that are known, or of the rows of training."""
        return self.known_left_out if self.held_out is None else self.held_out.scores(self)

    # ------------------------------------------------------------------ contributions

    def contributions(self, batch: Batch) -> FloatArray:
        """Each column's part of the logits, (rows, columns, classes).

        A product's part is halved between its two numbers; what a split of a
        tree changes is its column's; centres, AODE and texts have contributions of their own.
        """
        out = np.zeros((batch.n_rows, len(self.schema.names), len(self.classes)))
        self._add_features(batch, out)
        parts = evidence(self.counted, batch) * self.terms.evidence[:, None]
        for j, name in enumerate(evidence_columns(self.counted)):
            out[:, self._column_of[name]] += parts[:, j]
        if self.terms.aode is not None:
            plain = [j for j, column in enumerate(self.schema.columns) if not column.texts]
            out[:, plain] += self.terms.aode_weight * self.terms.aode.contributions(batch)
        for text in self.texts:
            out[:, self.schema.names.index(text.name)] += text.logits(batch)
        return out

    def _add_features(self, batch: Batch, out: FloatArray) -> None:
        """Add the parts of linear terms, products, trees and centres, each to its column."""
        features, terms = self.features, self.terms
        numbers, codes = self.counted.columns(batch)
        names = (*self.schema.numbers, *self.schema.categories)
        by_feature = np.zeros((batch.n_rows, len(names), len(self.classes)))
        linear, products = features.linear(numbers, codes), features.products(numbers)
        _add_terms(by_feature, features.linear_columns, linear, terms.linear)
        for side in features.product_columns:
            _add_terms(by_feature, side, products, terms.products / 2)
        if len(terms.forest):
            terms.forest.add_contributions(features.cells(numbers, codes), by_feature)
        if len(terms.radial):
            terms.radial.add_contributions(features.bent(numbers), by_feature)
        for j, name in enumerate(names):
            out[:, self._column_of[name]] += by_feature[:, j]

    @cached_property
    def _column_of(self) -> dict[str, int]:
        """The column of the schema that each counted column comes from."""
        columns = enumerate(self.schema.columns)
        return {name: j for j, c in columns for name in (*c.numbers, *c.categories)}

    @cached_property
    def measured_evidence(self) -> MeasuredEvidence | None:
        """What the columns said in rows of training."""
        return self.evidence if self.sample is None else measure(self, self.sample, curves=True)

    # ------------------------------------------------------------------ single values and words

    def pieces(self) -> Sequence[Piece]:
        """The log likelihood of each value by itself, of the counts alone.

        These tables are not what the model adds up: they name values to try.
        """
        return self.counted.pieces()

    def formula(self) -> Formula:
        """Log joints and contributions as trees; a column of text has none."""
        return formula.formula(self)

    def word_contributions(self, column: str, text: str) -> Sequence[WordContribution]:
        """The words of known phrases in their places, and what each adds to the logits."""
        by_place: dict[tuple[int, int], FloatArray] = {}
        for phrases in self.texts:
            for word in phrases.word_contributions(text) if phrases.name == column else ():
                place = word.start, word.stop
                by_place[place] = by_place.get(place, 0.0) + word.by_class
        return [WordContribution(text[a:b], a, b, by_place[a, b]) for a, b in sorted(by_place)]

    def known_words(self, column: str) -> KnownWords:
        """The phrases of a column of text, and what each says as the only one of its text."""
        some = [
            phrases for phrases in self.texts
            if phrases.name == column and phrases.tokenizer.characters is None
        ] or [phrases for phrases in self.texts if phrases.name == column]  # fmt: skip
        return KnownWords(some[0].phrases, some[0].weights, None)

    def expected_word_contributions(self) -> dict[str, FloatArray]:
        """None: the counts behind the evidence hold no texts."""
        return {}


def _add_terms(out: FloatArray, columns: NDArray[np.intp], Z: FloatArray, coef: FloatArray) -> None:
    """Add each term to its column."""
    for j in np.unique(columns):
        own = columns == j
        out[:, j] += Z[:, own] @ coef[own]
