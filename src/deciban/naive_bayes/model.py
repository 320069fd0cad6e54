"""The naive Bayes model of a table: counts, what they select, and what follows from both.

``log P(c | x) = log P(c) + beta * sum_j log P(x_j | c)`` up to a constant, with the class prior
smoothed like the counts, and the discount ``beta`` and perhaps offsets of the classes, which the
prior has then, from the calibration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.encoding.row import RowEncoder
from deciban.families.piece import Piece
from deciban.families.remaining import Remaining
from deciban.formulas import Formula
from deciban.labels import Labels
from deciban.models.calibration import Calibrated, Calibration
from deciban.models.class_offsets import add_offset
from deciban.models.leave_one_out_scores import KeptScores, pool
from deciban.models.novelty import RowLikelihoods
from deciban.models.options import Options
from deciban.models.prior import class_prior, leave_one_out, of_remaining
from deciban.models.protocol import KnownWords, WordContribution
from deciban.models.scores import weigh
from deciban.models.selection import Choice, select
from deciban.models.text_selection import TextChoice
from deciban.naive_bayes import formula, pieces, word_evidence
from deciban.naive_bayes.blocks import Block, blocks_of, column_blocks, estimate, text_blocks
from deciban.naive_bayes.likelihoods import Likelihoods
from deciban.naive_bayes.row import RowBlocks
from deciban.naive_bayes.texts import TextEncoder, known_words
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.tabular import Row
from deciban.stats.categories import CATEGORIES
from deciban.stats.counts import Counts
from deciban.stats.statistic import Matrix
from deciban.text import Tokenizer
from deciban.text.tokenizer import DEFAULT_TOKENIZER

if TYPE_CHECKING:
    from deciban.naive_bayes.leave_one_out import LeftOutRows

FloatArray = NDArray[np.float64]

#: A code that no category has.
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class NaiveBayesModel(Calibrated):
    """All that training leaves behind; :meth:`of` makes it from counts.

    ``choices`` say how each counted column is modelled, ``text_choices`` how texts are that were
    selected on rows. ``prior`` is stated, or None: as counted. ``blocks`` follow from the choices
    and the counts when they are first asked for; those of a model that this one was made of are
    ``known_blocks``. The scores of ``left_out_rows`` are beside those of the calibration.
    """

    schema: Schema
    counts: Counts
    options: Options
    choices: Mapping[str, Choice]
    text_choices: Mapping[str, TextChoice]
    tokenizer: Tokenizer
    prior: FloatArray | None = None
    calibration: Calibration | None = None
    known_blocks: tuple[Block, ...] | None = None
    left_out_rows: LeftOutRows | None = None

    kind = "NaiveBayes"
    additive = True
    absent_value = None
    measured_evidence = None

    @classmethod
    def of(
        cls,
        schema: Schema,
        counts: Counts,
        options: Options,
        *,
        prior: FloatArray | None = None,
        calibration: Calibration | None = None,
        tokenizer: Tokenizer | None = None,
        choices: Mapping[str, Choice] | None = None,
        text_choices: Mapping[str, TextChoice] | None = None,
    ) -> NaiveBayesModel:
        """The model of some counts; what is not chosen yet is selected by the counts."""
        counts = counts.ordered()
        chosen = select(counts, schema, options) if choices is None else choices
        about = schema, counts, options, chosen, dict(text_choices or {})
        return cls(*about, tokenizer or DEFAULT_TOKENIZER, prior, calibration)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Columns that are estimated together, and what they are estimated as."""
        if self.known_blocks is not None:
            return self.known_blocks
        about = self.counts, self.schema, self.options, self.choices
        return tuple(blocks_of(*about, self.text_choices))

    @cached_property
    def log_prior(self) -> FloatArray:
        """The logarithms of the base rates, with the offsets of the calibration."""
        return add_offset(self._log_base_rates, self.class_offset)

    @property
    def base_rates(self) -> FloatArray:
        """``P(c)``, as stated, or smoothed as the counts are."""
        return np.exp(self._log_base_rates)

    @cached_property
    def _log_base_rates(self) -> FloatArray:
        weight, lam, method = self.counts.weight, self.options.prior_smoothing, self.options.method
        return class_prior(weight, lam, method=method, stated=self.prior)

    @property
    def classes(self) -> Labels:
        """The classes, in order."""
        return self.counts.classes

    @property
    def sizes(self) -> tuple[float, int, int]:
        """How many rows, columns and classes there are."""
        n_columns = len(self.choices) + len(self.schema.texts)
        return float(self.counts.weight.sum()), n_columns, len(self.classes)

    @cached_property
    def left_out(self) -> KeptScores | None:
        """The scores of left-out rows; None where none were scored."""
        scores = None if self.calibration is None else self.calibration.left_out
        own = None if scores is None else scores.for_classes(self.classes)
        return own if self.left_out_rows is None else pool(own, self.left_out_rows.scores(self))

    @property
    def whole_calibration(self) -> Calibration | None:
        """The calibration with the scores of all left-out rows: what models pass on."""
        if self.calibration is None or self.left_out_rows is None:
            return self.calibration
        return self.calibration.with_left_out(self.left_out)

    def estimate(self) -> NaiveBayesModel:
        """The model itself, with all parameters estimated: what cannot be is an error now."""
        estimate(self.blocks)
        return self

    # ------------------------------------------------------------------ rows

    @cached_property
    def _lookups(self) -> list[matrices.Lookup]:
        table = self.counts.tables.get(CATEGORIES.name)
        return [] if table is None else [matrices.Lookup(v) for v in table.cells.values or ()]

    @cached_property
    def caster(self) -> matrices.Caster:
        """The types of the columns."""
        values = (lookup.known for lookup in self._lookups)
        return matrices.Caster(self.schema, dict(zip(self.schema.categories, values, strict=True)))

    @cached_property
    def n_known(self) -> NDArray[np.int64]:
        """From which code on a category was never seen; none is of those derived from times."""
        names, derived = self.schema.categories, {n for c in self.schema.columns for n in c.derived}
        pairs = zip(names, self._lookups, strict=True)
        sizes = [_NEVER if name in derived else len(lookup.known) for name, lookup in pairs]
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def text_encoders(self) -> dict[str, TextEncoder]:
        """What the words of every column of text are looked up with, by block."""
        return {
            block.name: TextEncoder(block.columns[0], self.tokenizer, known_words(block.table))
            for block in self.blocks
            if block.input == "text"
        }

    def columns(self, batch: Batch) -> tuple[FloatArray, NDArray[np.int64]]:
        """The numbers of some rows, NaN where missing, and the codes of their categories."""
        return matrices.encode(self.schema, self._lookups, batch)

    def encode(self, batch: Batch) -> dict[str, Matrix]:
        """Rows as every block reads them, by the name of the block."""
        return self._encode(batch)[0]

    def _encode(self, batch: Batch) -> tuple[dict[str, Matrix], NDArray[np.int64] | None]:
        """Rows as every block reads them, and the codes of categories, if they were needed."""
        out: dict[str, Matrix] = {
            name: encoder.encode(batch) for name, encoder in self.text_encoders.items()
        }
        if len(out) == len(self.blocks):
            return out, None
        numbers, codes = self.columns(batch)
        return {**out, **self.encode_columns(numbers, codes)}, codes

    def encode_columns(self, numbers: FloatArray, codes: NDArray[np.int64]) -> dict[str, Matrix]:
        """Numbers and codes of categories as every block but those of texts reads them."""
        out: dict[str, Matrix] = {}
        for block in self.blocks:
            if block.input == "categories":
                out[block.name] = _take(codes, block.positions)
            elif block.input == "numbers":
                out[block.name] = _take(numbers, block.positions)
            elif block.input == "missing":
                gaps = np.column_stack([np.isnan(numbers), codes < 0])
                out[block.name] = _take(gaps.astype(np.int64), block.positions)
        return out

    def unseen_rows(self, batch: Batch) -> dict[str, NDArray[np.intp]]:
        """The rows in which a column has a category that was never seen."""
        return matrices.unseen_rows(self.schema, self._lookups, batch)

    def log_joint(self, batch: Batch, out: FloatArray) -> bool:
        """Write ``log P(c) + beta * log P(x | c)`` of every row and class."""
        matrices, codes = self._encode(batch)
        unseen = codes is not None and bool((codes >= self.n_known).any())
        if self.discount == 1.0:
            out[:] = self.log_prior
            for block in self.blocks:
                block.parameters.add(matrices[block.name], out)
            return unseen
        out[:] = 0.0
        for block in self.blocks:
            block.parameters.add(matrices[block.name], out)
        weigh(out, self.log_prior, self.discount)
        return unseen

    def log_joint_row(self, row: Row) -> FloatArray | None:
        """The log joint of one row, (1, classes); None where only a table can tell."""
        encoder, blocks = self._row_reader
        encoded = encoder.encode(row)
        if encoded is None:
            return None
        plain = self.discount == 1.0
        out = self.log_prior[None].copy() if plain else np.zeros((1, len(self.log_prior)))
        blocks.add([block.parameters for block in self.blocks], encoded, out)
        if not plain:
            weigh(out, self.log_prior, self.discount)
        return out

    @cached_property
    def _row_reader(self) -> tuple[RowEncoder, RowBlocks]:
        return RowEncoder.of(self.caster), RowBlocks(self.blocks, self.text_encoders)

    def contributions(self, batch: Batch) -> FloatArray:
        """``beta * log P(x_j | c)`` of every column of the schema, (rows, columns, classes)."""
        out = np.zeros((batch.n_rows, len(self.schema.names), len(self.counts.classes)))
        matrices = self.encode(batch)
        for block, at in zip(self.blocks, self._schema_positions, strict=True):
            block.parameters.add_contributions(matrices[block.name], at, out)
        if self.discount != 1.0:
            out *= self.discount
        return out

    @cached_property
    def _schema_positions(self) -> list[NDArray[np.intp]]:
        """Where the columns of each block belong among the columns of the schema."""
        at = {
            name: j
            for j, column in enumerate(self.schema.columns)
            for name in (*column.numbers, *column.categories, *column.texts)
        }
        return [np.array([at[name] for name in b.columns], dtype=np.intp) for b in self.blocks]

    # ------------------------------------------------------------------ leaving one out

    def leave_one_out(
        self, batch: Batch, y: NDArray[np.intp], weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log prior and log likelihood, (rows, classes), each row taken out of the counts."""
        evidence = np.zeros((batch.n_rows, len(self.counts.classes)))
        matrices = self.encode(batch)
        for block in self.blocks:
            evidence += block.parameters.leave_one_out(matrices[block.name], y, weight)
        return self.prior_without(y, weight), evidence

    def leave_out(self, batch: Batch, remaining: Remaining) -> tuple[FloatArray, FloatArray]:
        """Log prior and log likelihood, (rows, classes), by the counts left for each row."""
        evidence = np.zeros((batch.n_rows, len(self.counts.classes)))
        matrices = self.encode(batch)
        for block in self.blocks:
            for column in block.parameters.leave_out(matrices[block.name], remaining):
                evidence += column
        return self.prior_remaining(remaining), evidence

    def prior_remaining(self, remaining: Remaining) -> FloatArray:
        """The log prior, (rows, classes), by the rows left for each."""
        lam, left = self.options.prior_smoothing, remaining.left(self.counts.weight)
        return of_remaining(left, lam, method=self.options.method, stated=self.prior)

    def prior_without(self, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        """The log prior, (rows, classes), each row taken out of the counts."""
        lam, method = self.options.prior_smoothing, self.options.method
        class_weight = self.counts.weight
        return leave_one_out(class_weight, y, weight, lam, method=method, stated=self.prior)

    # ------------------------------------------------------------------ other models

    def with_text_choices(self, selected: Mapping[str, TextChoice]) -> NaiveBayesModel:
        """The model with texts modelled another way, where more rows say so."""
        better = {
            name: choice
            for name, choice in selected.items()
            if name not in self.text_choices or choice.rows >= self.text_choices[name].rows
        }
        if not better:
            return self
        choices = {**self.text_choices, **better}
        columns = [block for block in self.blocks if block.input != "text"]
        texts = text_blocks(self.counts, self.schema, self.options, choices)
        return self._other(text_choices=choices, known_blocks=(*columns, *texts))

    def with_choices(self, choices: Mapping[str, Choice]) -> NaiveBayesModel:
        """The model with columns modelled another way."""
        columns = column_blocks(self.counts, self.schema, self.options, choices)
        texts = [block for block in self.blocks if block.input == "text"]
        return self._other(choices=choices, known_blocks=(*columns, *texts))

    def with_counts(self, counts: Counts) -> NaiveBayesModel:
        """The pure model of other counts of the same columns, its choices selected anew."""
        return NaiveBayesModel.of(
            self.schema, counts, self.options, prior=self.prior, tokenizer=self.tokenizer
        )

    def with_calibration(self, calibration: Calibration | None) -> NaiveBayesModel:
        """The model with another calibration; its parameters do not depend on it."""
        return self._other(calibration=calibration)

    def with_columns(self, schema: Schema, counts: Counts) -> NaiveBayesModel:
        """The model with columns that no row has yet: what it says stays as it is."""
        return self._other(schema=schema, counts=counts)

    def _other(self, **changes: Any) -> NaiveBayesModel:
        """Another model of these blocks; rows that were left out of this one have its scores."""
        if "calibration" not in changes:
            changes["calibration"] = self.whole_calibration
        return replace(self, **{"known_blocks": self.blocks, "left_out_rows": None, **changes})

    def row_likelihoods(self, batch: Batch) -> RowLikelihoods:
        """``log P(x | c)`` without a discount, (rows, classes), and the size of every row."""
        return self.likelihoods.of_rows(batch)

    @cached_property
    def likelihoods(self) -> Likelihoods:
        """How likely rows are at all, also what is new in them."""
        return Likelihoods(self)

    def with_left_out(self, scores: KeptScores | None) -> NaiveBayesModel:
        """The model with other scores of left-out rows."""
        calibration = self.calibration or Calibration.empty()
        return self._other(calibration=calibration.with_left_out(scores))

    def with_left_out_rows(self, rows: LeftOutRows) -> NaiveBayesModel:
        """The model with rows left out of it, whose scores are not asked for yet."""
        calibration = self.whole_calibration or Calibration.empty()
        return self._other(calibration=calibration, left_out_rows=rows)

    def with_all_words(self) -> NaiveBayesModel:
        """The model without limits on words: how many texts have them is not known yet."""
        options = replace(self.options, min_df=1, max_words=None)
        return self._other(options=options, known_blocks=None)

    # ------------------------------------------------------------------ explanation

    def pieces(self) -> Sequence[Piece]:
        """What each value of each counted column says, in the order of the schema."""
        return pieces.pieces(self)

    def formula(self) -> Formula:
        """Log joints and contributions as trees; a column of text has none."""
        return formula.formula(self)

    def word_contributions(self, column: str, text: str) -> Sequence[WordContribution]:
        """The known words of a text in their places, and the part of each, in nats."""
        return word_evidence.word_contributions(self, column, text)

    def known_words(self, column: str) -> KnownWords:
        """The words of a column of text, and what each says as the only one of its text."""
        return word_evidence.known_words(self, column)

    def expected_word_contributions(self) -> dict[str, FloatArray]:
        """Of every text column, (classes, classes): rows of a class, contribution for a class."""
        return word_evidence.expected_word_contributions(self)


def _take(matrix: NDArray[np.generic], positions: NDArray[np.intp]) -> Matrix:
    """Some columns of a matrix, contiguous; the matrix itself where it is all of them."""
    if len(positions) == matrix.shape[1]:
        return np.ascontiguousarray(matrix)
    return np.ascontiguousarray(matrix[:, positions])
