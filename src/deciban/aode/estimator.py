"""AODE: the estimator."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban import checks, encoding, files
from deciban.aode import cut_points, stored
from deciban.aode.calibration import AODEOptions, StrengthCalibration
from deciban.aode.counting import count_table
from deciban.aode.cut_points import CUTTING_ROWS, Bins
from deciban.aode.model import AODEModel
from deciban.aode.pair_counts import (
    VALUES,
    PairCounts,
    check_memory,
    counted_columns,
    empty_counts,
)
from deciban.encoding.class_limit import MAX_NUMBER_CLASSES
from deciban.engines import ENGINES
from deciban.errors import ModelFileError, ParameterError
from deciban.estimators.counted import CountedClassifier, refuse_empty
from deciban.estimators.stream import Lesson, Stream
from deciban.files.model import restored_parameters
from deciban.labels import Labels
from deciban.models.class_weights import ClassWeight
from deciban.models.leave_one_out_scores import pool
from deciban.models.prior import StatedPrior
from deciban.progress import shows_progress
from deciban.schema import INFERENCE_ROWS, Schema, nothing_to_learn
from deciban.sources.databases.query import query_of
from deciban.sources.labelled import LabelledBatch, LabelledScan, labelled_scan
from deciban.sources.row_sample import RowSample
from deciban.sources.sample import Sample
from deciban.sources.tabular import LabelsLike, Tabular, UnitsLike, WeightsLike
from deciban.sources.unit_sample import TrainingUnits, check_units
from deciban.sources.units import UnitSource, unit_source
from deciban.transaction import all_or_nothing

#: Strength and temperature are selected on no more rows than this.
MAX_CALIBRATION_ROWS = 1_000
#: On fewer, though not fewer than these, where rows by pairs of columns by classes are more.
MIN_CALIBRATION_ROWS, MAX_CALIBRATION_SCORES = 250, 3_000_000

#: When rows are added, the evidence of columns is measured on so many of the sample before.
MAX_EARLIER_ROWS = 200


class AODE(CountedClassifier[AODEModel, PairCounts, StrengthCalibration]):
    """Averaged one-dependence estimators: naive Bayes that counts pairs of values.

    Each column in turn is the parent on which all others depend, and the
    answers of all parents are averaged: ``P(c, x) = P(c) * mean_i (P(x_i | c) *
    prod_j P(x_j | c, x_i))``. It takes whatever :class:`NaiveBayes` takes, in one
    pass, and is more accurate where columns depend on each other; its table
    grows with the square of the number of values.

    Numbers are cut into bins in the first 100,000 rows that it sees, and stay
    so: all further counting is exact given the bins, and models of the same
    ``bins_`` can be added and subtracted. Text and identifiers are not counted.

    Parameters
    ----------
    kinds
        ``{column: kind}`` where inference is to be overruled; see :mod:`deciban.schema`
    bins
        ``"auto"`` (ten bins of equal frequency, fewer below 100 rows, or every value where there
        are few), a number of bins, ``"mdl"``, or cut points ``{column: [...]}`` such as those of
        another model, ``other.bins_``; columns without any are cut as by ``"auto"``
    missing
        ``"auto"``, ``"skip"`` (a hole says nothing) or ``"value"`` (it is a value of its own)
    smoothing
        how many rows the shares of a column are worth beside those of a parent: a number
        from 1e-6 to 1e6, or ``"auto"``, the one of least leave-one-out loss. A number also
        smooths the shares themselves; with ``"auto"`` that is empirical Bayes.
    support
        the weight of rows that a value must have to be a parent; without any parent,
        the columns of a row are taken to be independent
    prior
        class priors: None (as counted), ``"uniform"``, or probabilities by class or in the
        order of the classes
    class_weight
        how many times a row of each class counts: None (once), ``"balanced"`` (classes weigh the
        same) or ``{class: weight}``; it changes the prior, not the counts
    calibrate
        whether the evidence is discounted so that probabilities can be trusted
    max_classes
        so many different numbers may be labels, 1000 if nothing is stated: more call for
        regression, and take a row in every table of counts. None is no limit; texts have none
    memory_limit
        the most bytes that counting may need; more is refused before it starts
    half_life
        after how many rows of ``learn_one`` and ``partial_fit`` what was learned before them
        counts half: for streams that drift. None is never

    >>> rows = [{"a": a, "b": b} for a in "01" for b in "01"] * 5
    >>> same = [row["a"] == row["b"] for row in rows]          # neither column says anything alone
    >>> m = AODE(smoothing=1, calibrate=False).fit(rows, same)
    >>> m.predict([{"a": "0", "b": "0"}, {"a": "0", "b": "1"}])
    array([ True, False])

    """

    _held_rows = max(INFERENCE_ROWS, CUTTING_ROWS)

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        bins: Bins = "auto",
        missing: str = "auto",
        smoothing: float | str = "auto",
        support: float = 0.0,
        prior: StatedPrior = None,
        class_weight: ClassWeight = None,
        calibrate: bool = True,
        max_classes: int | None = MAX_NUMBER_CLASSES,
        memory_limit: int = 1 << 30,
        half_life: float | None = None,
    ) -> None:
        self.kinds = kinds
        self.bins = bins
        self.missing = missing
        self.smoothing = smoothing
        self.support = support
        self.prior = prior
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.max_classes = max_classes
        self.memory_limit = memory_limit
        self.half_life = half_life

    @shows_progress("learning")
    def fit(
        self,
        X: Tabular,
        y: LabelsLike = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        table: str | None = None,
        sample_weight: WeightsLike = None,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Count the rows of a table, with labels ``y`` or in the column ``target``.

        ``sample_weight`` is an array or the name of a column. With ``groups``, an array or the
        name of a column that is no feature then, strength, discount, sets and novelty are those of
        rows judged without their whole group; with ``time``, by the rows before them, all of
        which are held in memory.

        >>> m = AODE().fit({"x": ["S", "S", "L"], "z": [1, 2, 2], "y": [1, 1, 2]}, target="y")
        >>> m.counts_.weight, m.bins_
        (array([2., 1.]), {'z': [1.5]})
        """
        return self._fit(
            X, y, None, target, query_of(sql, table), sample_weight, unit_source(groups, time)
        )

    # ------------------------------------------------------------------ the model

    @property
    def bins_(self) -> dict[str, list[float]]:
        """Where each numeric column is cut: the least value of each bin but the first."""
        cuts = self._model().pair_counts.cut_points
        return {name: points.tolist() for name, points in cuts.items()}

    @property
    def strength_(self) -> float:
        """How many rows a column's own shares are worth beside those of a parent."""
        return self._model().m

    @property
    def memory_(self) -> int:
        """The bytes that counting needs, as ``memory_limit`` bounds them."""
        model = self._model()
        return model.pair_counts.layout.n_bytes(len(model.classes))

    def _fit(
        self,
        X: Tabular,
        y: LabelsLike,
        classes: ArrayLike | None,
        target: str | None,
        sql: str | None,
        weight: WeightsLike,
        units: UnitSource | None = None,
        *,
        sample: Sample | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> Self:
        with all_or_nothing(self):
            self._check_parameters()
            rows = labelled_scan(
                X, y, target=target, sql=sql, weight=weight, units=units,
                kinds=self.kinds if kinds is None else kinds,
                max_classes=self.max_classes,
            )  # fmt: skip
            _check_columns(rows.schema)
            if sample is None:
                sample = self._sample(None if units is None else TrainingUnits(units.kind))
            counts = count_table(rows, self.bins, self.memory_limit, sample)
            check_units(sample)
            self._remember(rows)
            self.model_ = AODEModel(rows.schema, counts)
            self._adopt(self._declare(counts, classes), None)
            self._calibrate(sample, None)
            self._remember_units(sample)
        return self

    def _count(self, rows: LabelledScan, sample: Sample | None) -> PairCounts:
        return count_table(rows, self.model_.pair_counts.cut_points, self.memory_limit, sample)

    def _recalibrate(self, rows: LabelledScan) -> None:
        sample = ENGINES[rows.scan.place].sample(rows, MAX_CALIBRATION_ROWS)
        self.model_ = replace(self.model_, evidence=None, sample=None)
        self._adopt(self.model_.pair_counts, None)
        self._calibrate(sample, None)

    def _state(self) -> tuple[PairCounts, StrengthCalibration | None]:
        return self._model().pair_counts, self._model().calibration

    def _declare(self, total: PairCounts, classes: ArrayLike | None) -> PairCounts:
        if classes is None:
            return total
        named = encoding.class_codes(classes, "classes").classes
        return total.widen(empty_counts(counted_columns(self.schema_), total.cut_points, named))

    def _join(self, total: PairCounts, more: PairCounts) -> PairCounts:
        both = total.counts + more.counts
        check_memory(both.tables[VALUES].cells, len(both.classes), self.memory_limit)
        return total + more

    def _subtract(self, total: PairCounts, gone: PairCounts) -> PairCounts:
        rest = total - gone
        refuse_empty(rest.counts, total.counts)
        return rest

    def _adopt(self, total: PairCounts, calibration: StrengthCalibration | None) -> None:
        total = total.ordered()
        prior = self._stated_prior(total.counts.classes, total.counts.weight)
        options, before = self._check_parameters(), self.model_
        calibration = calibration and calibration.for_other_rows()
        self.model_ = AODEModel(
            before.schema, total, options, prior, calibration, before.evidence, before.sample
        )

    def _blank(self, model: AODEModel) -> AODEModel:
        return replace(model, evidence=None, sample=None, calibration=None)

    def _follow(self, total: PairCounts) -> AODEModel:
        model = self._selected()
        classes, weight = total.counts.classes, total.counts.weight
        return replace(
            model, pair_counts=total, prior=self._stated_prior(classes, weight), sample=None
        )

    def _check_room(self, stream: Stream[PairCounts, StrengthCalibration], lesson: Lesson) -> None:
        known = stream.reader is not None and stream.reader.knows(lesson.row)
        if known and lesson.label in stream.codes:
            return
        y: list[Any] = [lesson.label]
        with self._at_work(stream):
            self._count_pending(stream)
            self._join(stream.total, self._count(self._rows([lesson.row], y), None))

    def _classes_of(self, total: PairCounts) -> Labels:
        return total.counts.classes

    def _sample(self, units: TrainingUnits | None) -> Sample:
        if units is not None:
            return units.sample(MAX_CALIBRATION_ROWS)
        return RowSample(MAX_CALIBRATION_ROWS)

    def _calibrate(self, sample: Sample | None, before: StrengthCalibration | None) -> None:
        if sample is None or not sample.batches:
            return
        counts, n_rows = self.model_.pair_counts, sample.n_rows
        work = counts.layout.n_columns**2 * len(self.classes_) * n_rows
        step = max(1, min(-(-work // MAX_CALIBRATION_SCORES), n_rows // MIN_CALIBRATION_ROWS))
        part = sample.part(max(step, -(-n_rows // MAX_CALIBRATION_ROWS)))
        if self.calibrate or isinstance(self.smoothing, str):
            rows = self.model_.judge(part.rows, part.judged)
            losses = StrengthCalibration.of(rows) * part.stands_for
            self._adopt(counts, losses if before is None else before + losses)
            scores = self.model_.left_out_scores(rows, part.stands_for)
            self.model_ = self.model_.with_left_out(pool(self.model_.left_out, scores))
        judged = part.rows if part.judged is None else part.rows.take(part.judged)
        self._keep(replace(judged, weight=judged.weights * part.stands_for, units=None))

    def _keep(self, part: LabelledBatch) -> None:
        """Keep rows to measure the evidence of columns on; it is measured on earlier ones now."""
        model = self.model_
        if model.sample is not None:
            step = -(-model.sample.batch.n_rows // MAX_EARLIER_ROWS)
            few = model.sample.take(np.arange(0, model.sample.batch.n_rows, step))
            model = replace(model, sample=replace(few, weight=few.weights * step))
        self.model_ = replace(model, evidence=model.measured_evidence, sample=part)

    def _shrink(self, left: PairCounts) -> None:
        """Rows that are taken away are kept nowhere: what is known of them is measured first."""
        said = self._model().measured_evidence
        super()._shrink(left)
        self.model_ = replace(self.model_, evidence=said, sample=None)

    def __add__(self, other: object) -> Self:
        """The model of both data sets, with the parameters of the first."""
        result = super().__add__(other)
        if isinstance(other, AODE):
            parts = [side.model_.measured_evidence for side in (self, other)]
            said = [part for part in parts if part is not None]
            both = reduce(operator.add, said) if said else None
            result.model_ = replace(result.model_, evidence=both, sample=None)
        return result

    def _check_parameters(self) -> AODEOptions:
        cut_points.check(self.bins)
        if not (checks.is_number(self.memory_limit) and self.memory_limit >= 1):
            raise ParameterError(
                f"memory_limit must be a number of bytes, got {self.memory_limit!r}.",
                hint="1 << 30 is one GiB, the default",
            )
        return AODEOptions.of(self.smoothing, self.missing, self.support, bool(self.calibrate))

    # ------------------------------------------------------------------ files

    _to_stored = staticmethod(stored.to_stored)

    @classmethod
    def from_stored(cls, content: files.Stored) -> Self:
        """The estimator in a model file that was read."""
        about = stored.read(content)
        try:
            estimator = cls(**restored_parameters(about.parameters))
            options = estimator._check_parameters()
        except (TypeError, ParameterError) as error:
            raise ModelFileError(f"the parameters are not those of AODE: {error}") from None
        estimator._restore(stored.model_of(about, content, options), about)
        return estimator


def _check_columns(schema: Schema) -> None:
    """Text is named in a warning; some column must be left to learn from."""
    if not counted_columns(schema):
        raise nothing_to_learn(schema)
    texts = schema.texts
    if texts:
        warnings.warn(
            f"AODE counts no text, so {', '.join(map(repr, texts))} is ignored.",
            UserWarning,
            stacklevel=4,
        )
