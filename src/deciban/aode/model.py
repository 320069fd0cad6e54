"""The AODE model of a mixed table: its pair counts, and what follows from them.

It is a :class:`deciban.models.protocol.CountedModel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.aode import formula, one_dependence, pieces, unit_removal
from deciban.aode.calibration import (
    DEFAULT_STRENGTH_IN_ROWS,
    AODEOptions,
    LeftOutRows,
    StrengthCalibration,
)
from deciban.aode.one_dependence import AODEParameters
from deciban.aode.pair_counts import VALUES, PairCounts, counted_columns
from deciban.encoding import matrices
from deciban.encoding.row import RowEncoder
from deciban.explanation.measurement import measure
from deciban.families.histogram import flat_edges
from deciban.families.piece import Piece
from deciban.families.remaining import Remaining, remaining_rows
from deciban.formulas import Formula
from deciban.kernels import histogram as kernel
from deciban.labels import Labels
from deciban.models import prior, scores
from deciban.models.calibration import discount_evidence, discount_penalty
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import KeptScores, LeaveOneOutScores
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.models.novelty import RowLikelihoods, TypicalityScores
from deciban.models.options import Options
from deciban.models.protocol import WordContribution
from deciban.models.selection import Choice, select_smoothing
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch
from deciban.sources.tabular import Row
from deciban.stats.categories import CATEGORIES
from deciban.stats.counts import Counts

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]

KIND = "AODE"
#: Rows that are left out at once: enough batches for all cores.
LEAVE_ONE_OUT_BATCH_ROWS = 128
#: The smoothing of the class prior, in rows a class.
PRIOR_SMOOTHING = 1.0


@dataclass(frozen=True, eq=False)
class AODEModel:
    """All that training leaves behind; everything else is derived when it is asked for.

    ``evidence`` is what columns said in rows that were measured before, and ``sample`` are rows
    on which it is still to be measured, when it is asked for.
    """

    schema: Schema
    pair_counts: PairCounts
    options: AODEOptions = field(default_factory=AODEOptions)
    prior: FloatArray | None = None
    calibration: StrengthCalibration | None = None
    evidence: MeasuredEvidence | None = None
    sample: LabelledBatch | None = None

    @property
    def kind(self) -> str:
        """The name of the estimator."""
        return KIND

    @property
    def classes(self) -> Labels:
        """The classes, in order."""
        return self.counts.classes

    @property
    def additive(self) -> bool:
        """False: what a value contributes depends on the values of other columns."""
        return False

    @property
    def absent_value(self) -> None:
        """None: a column that a row does not name is missing."""
        return None

    @property
    def counts(self) -> Counts:
        """The classes, and how often each value occurs in them."""
        return self.pair_counts.counts

    @cached_property
    def m(self) -> float:
        """How many rows the shares of a column are worth beside those of a parent."""
        if self.options.smoothing is not None:
            return self.options.smoothing
        if self.calibration is None:
            return DEFAULT_STRENGTH_IN_ROWS
        return self.calibration.best_strength(self._penalty if self.options.calibrate else None)

    @cached_property
    def _penalty(self) -> FloatArray:
        """What each discount costs beforehand."""
        n_columns = len(self.pair_counts.cells.columns)
        return discount_penalty(float(self.counts.weight.sum()), n_columns, len(self.classes))

    @cached_property
    def discount(self) -> float:
        """The factor on the evidence: one over the temperature."""
        if self.calibration is None or not self.options.calibrate:
            return 1.0
        return self.calibration.at(self.m).discount(self._penalty)

    @property
    def temperature(self) -> float:
        """What the evidence is divided by, so that probabilities can be trusted."""
        return 1.0 / self.discount

    @cached_property
    def left_out(self) -> KeptScores | None:
        """The scores of left-out rows; None where none were scored."""
        scores = None if self.calibration is None else self.calibration.left_out
        return None if scores is None else scores.for_classes(self.classes)

    def with_left_out(self, scores: KeptScores | None) -> AODEModel:
        """The model with other scores of left-out rows."""
        calibration = self.calibration or StrengthCalibration.empty(self.options.strengths)
        return replace(self, calibration=calibration.with_left_out(scores))

    @cached_property
    def log_prior(self) -> FloatArray:
        """``log P(c)``."""
        return prior.class_prior(self.counts.weight, PRIOR_SMOOTHING, stated=self.prior)

    @cached_property
    def choices(self) -> dict[str, Choice]:
        """The smoothing of each counted column, and whether "missing" is a value of its own."""
        counts = Counts(
            self.classes, self.counts.weight, {CATEGORIES.name: self.counts.tables[VALUES]}
        )
        m = self.options.smoothing
        stated = "auto" if m is None else m
        options = Options(missing=self.options.missing, smoothing=stated)
        by_column = select_smoothing(counts, self.schema, options)
        if m is None:
            return by_column
        sizes = zip(by_column.items(), self.pair_counts.layout.sizes, strict=True)
        return {
            name: replace(choice, smoothing=m / max(1, size + choice.missing))
            for (name, choice), size in sizes
        }

    @cached_property
    def params(self) -> AODEParameters:
        """What rows are scored with."""
        lam = np.array([choice.smoothing for choice in self.choices.values()])
        return one_dependence.estimate(
            self.pair_counts, lam, self.m, self._missing_is_value, self.options.min_support
        )

    # ------------------------------------------------------------------ rows

    @property
    def _missing_is_value(self) -> list[bool]:
        return [choice.missing for choice in self.choices.values()]

    @cached_property
    def _lookups(self) -> list[matrices.Lookup]:
        values = self.pair_counts.cells.values or ()
        return [matrices.Lookup(v) for v in values[len(self.schema.numbers) :]]

    @cached_property
    def caster(self) -> matrices.Caster:
        """The types of the columns that are counted: texts are not."""
        values = (lookup.known for lookup in self._lookups)
        known = dict(zip(self.schema.categories, values, strict=True))
        return matrices.Caster(self.schema, known, ("identifier", "text"))

    @cached_property
    def _plain(self) -> NDArray[np.bool_]:
        """Which counted columns are not derived from others."""
        names = {column.name for column in self.schema.columns}
        return np.array([name in names for name in counted_columns(self.schema)])

    def unseen_rows(self, batch: Batch) -> dict[str, NDArray[np.intp]]:
        """The rows in which a column has a category that was never seen."""
        return matrices.unseen_rows(self.schema, self._lookups, batch)

    def cells(self, batch: Batch) -> NDArray[np.int64]:
        """The cells of some rows: -1 is skipped, V + j is a value never seen in column j."""
        columns = matrices.category_columns(self.schema, batch)
        codes = matrices.category_codes(self._lookups, columns, batch.n_rows)
        return self.cells_of_columns(matrices.numbers(self.schema, batch), codes)

    def cells_of_columns(self, numbers: FloatArray, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cells of rows whose numbers and codes of categories are known."""
        edges, sizes, holes = self._binning
        codes = np.concatenate([kernel.bins(numbers, *edges), codes], axis=1)
        layout = self.pair_counts.layout
        new = codes >= sizes
        out = np.where(new, layout.n_cells + np.arange(layout.n_columns), codes + 1)
        out = np.where(new, out, out + layout.first[:-1])
        return np.ascontiguousarray(np.where((codes < 0) & ~holes, -1, out), dtype=np.int64)

    @cached_property
    def _binning(
        self,
    ) -> tuple[tuple[FloatArray, Codes], NDArray[np.int64], NDArray[np.bool_]]:
        """The cut points of all numbers, how many values columns have, and whose holes are one."""
        cuts = tuple(self.pair_counts.cut_points[name] for name in self.schema.numbers)
        sizes = np.array(self.pair_counts.layout.sizes, dtype=np.int64)
        return flat_edges(cuts), sizes, np.array(self._missing_is_value, dtype=bool)

    # ------------------------------------------------------------------ scoring

    def log_joint(self, batch: Batch, out: FloatArray) -> bool:
        """Fill ``out`` with ``log P(c) + log P(x | c) / temperature``."""
        cells = self.cells(batch)
        out[:] = self.joint(self.log_prior, one_dependence.log_likelihood(self.params, cells))
        return bool((cells[:, self._plain] >= self.pair_counts.layout.n_cells).any())

    def log_joint_row(self, row: Row) -> FloatArray | None:
        """The log joint of one row, (1, classes); None where only a table can tell."""
        encoded = self._row_encoder.encode(row)
        if encoded is None:
            return None
        numbers, codes = np.array([encoded.numbers]), np.array([encoded.codes], np.int64)
        cells = self.cells_of_columns(numbers, codes)
        return self.joint(self.log_prior, one_dependence.log_likelihood(self.params, cells))

    @cached_property
    def _row_encoder(self) -> RowEncoder:
        return RowEncoder.of(self.caster)

    def contributions(self, batch: Batch) -> FloatArray:
        """Each column's part of ``log P(x | c) / temperature``, (rows, columns, classes)."""
        by_name = one_dependence.contributions(self.params, self.cells(batch))
        out = np.zeros((batch.n_rows, len(self.schema.names), len(self.classes)))
        at = {name: j for j, name in enumerate(counted_columns(self.schema))}
        for j, column in enumerate(self.schema.columns):
            for name in (*column.numbers, *column.categories):
                out[:, j] += by_name[:, at[name]]
        return out * self.discount

    def row_likelihoods(self, batch: Batch) -> RowLikelihoods:
        """``log P(x | c)`` without a discount, (rows, classes), and the values of every row."""
        cells = self.cells(batch)
        return RowLikelihoods(one_dependence.log_likelihood(self.params, cells), self._sizes(cells))

    def _sizes(self, cells: NDArray[np.int64]) -> FloatArray:
        """How many values each row has; one that is missing is none, even if it counts as one."""
        return np.asarray(
            ((cells >= 0) & (cells != self.pair_counts.layout.first[:-1])).sum(axis=1), float
        )

    def leave_one_out(
        self, batch: Batch, y: Codes, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log prior and log likelihood, (rows, classes), each row taken out of the counts."""
        cells = self.cells(batch)
        log_likelihood = one_dependence.leave_one_out(self.params, cells, y, weight)[0]
        return self._leave_one_out_prior(y, weight), log_likelihood

    def leave_out(self, batch: Batch, remaining: Remaining) -> tuple[FloatArray, FloatArray]:
        """Log prior and log likelihood, (rows, classes), by the counts left for each row."""
        cells, every = self.cells(batch), np.arange(batch.n_rows)
        holes = self._missing_is_value
        log = unit_removal.leave_out(self.params, holes, cells, remaining, (self.m,), every)
        return self._prior_remaining(remaining), log[0]

    def _prior_remaining(self, remaining: Remaining) -> FloatArray:
        left = remaining.left(self.counts.weight)
        return prior.of_remaining(left, PRIOR_SMOOTHING, stated=self.prior)

    def leave_one_out_joint(
        self, batch: Batch, y: Codes, weight: FloatArray, remaining: Remaining | None = None
    ) -> FloatArray:
        """The log joint, (rows, classes), each row or what belongs to it out of the counts."""
        if remaining is not None:
            return self.joint(*self.leave_out(batch, remaining))
        return self.joint(*self.leave_one_out(batch, y, weight))

    def joint(self, log_prior: FloatArray, log_likelihood: FloatArray) -> FloatArray:
        """The log joint, calibrated, of a log prior and a log likelihood, (rows, classes)."""
        return discount_evidence(log_prior, log_likelihood, self.discount)

    def _leave_one_out_prior(self, y: Codes, weight: FloatArray) -> FloatArray:
        class_weight = self.counts.weight
        return prior.leave_one_out(class_weight, y, weight, PRIOR_SMOOTHING, stated=self.prior)

    # ------------------------------------------------------------------ calibration

    def judge(self, part: LabelledBatch, scored: Codes | None = None) -> LeftOutRows:
        """Counted rows, each left out of the counts: of a row of weight k, one of k.

        Of rows that belong to groups, whole groups are left out; of rows that have a time, what
        did not come before: the ``scored`` ones, or all, are judged.
        """
        remaining = None if part.units is None else remaining_rows(part, self.classes)
        if remaining is not None:
            every = np.arange(part.n_rows) if scored is None else scored
            return self._judge_units(part, remaining, every)
        y, weight = part.codes_among(self.classes), part.weights
        one, cells = np.minimum(weight, 1.0), self.cells(part.batch)
        parameters, strengths = self.params, self.options.strengths

        def work(rows: slice) -> FloatArray:
            return one_dependence.leave_one_out(
                parameters, cells[rows], y[rows], one[rows], strengths
            )

        batches = threads.chunks(len(y), LEAVE_ONE_OUT_BATCH_ROWS)
        none = np.empty((len(strengths), 0, len(self.classes)))
        log_likelihood = np.concatenate([none, *threads.run(work, batches)], axis=1)
        log_prior = self._leave_one_out_prior(y, one)
        return LeftOutRows(strengths, log_prior, log_likelihood, y, weight, self._sizes(cells))

    def _judge_units(self, part: LabelledBatch, remaining: Remaining, scored: Codes) -> LeftOutRows:
        cells, strengths = self.cells(part.batch), self.options.strengths
        log_likelihood = unit_removal.leave_out(
            self.params, self._missing_is_value, cells, remaining, strengths, scored
        )
        log_prior = self._prior_remaining(remaining)[scored]
        y, weight, size = remaining.y, remaining.weight, self._sizes(cells)
        return LeftOutRows(
            strengths, log_prior, log_likelihood, y[scored], weight[scored], size[scored]
        )

    def left_out_scores(self, rows: LeftOutRows, stands_for: float) -> KeptScores:
        """The scores of rows that were left out, each of which stands for so many rows."""
        y, weight, classes = rows.y, rows.weight, self.classes
        log_likelihood = rows.log_likelihood[rows.strengths.index(self.m)]
        posterior = self.joint(rows.log_prior, log_likelihood)
        scores.normalise(posterior, self.log_prior, logarithm=True)
        conformity = ConformityScores.of(classes, posterior, y, weight, stands_for)
        likelihoods = RowLikelihoods(log_likelihood, rows.size)
        typicality = TypicalityScores.of(classes, likelihoods, y, weight, stands_for)
        left_out = LeaveOneOutScores.of(posterior, y, weight)
        return KeptScores(conformity, typicality, left_out)

    @cached_property
    def measured_evidence(self) -> MeasuredEvidence | None:
        """What the columns said in rows of training."""
        if self.sample is None:
            return self.evidence
        said = measure(self, self.sample, curves=True)
        return said if self.evidence is None else self.evidence + said

    # ------------------------------------------------------------------ single values

    def pieces(self) -> list[Piece]:
        """The log likelihood of each value if nothing else is known."""
        return pieces.pieces(self)

    def formula(self) -> Formula:
        """Log joints and contributions as trees."""
        return formula.formula(self)

    def word_contributions(self, column: str, text: str) -> Sequence[WordContribution]:
        """None: AODE counts no texts."""
        return ()

    def expected_word_contributions(self) -> dict[str, FloatArray]:
        """None: AODE counts no texts."""
        return {}
