"""NaiveBayes: the estimator of mixed tables and of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from deciban import encoding, files
from deciban.encoding.class_limit import MAX_NUMBER_CLASSES
from deciban.engines import ENGINES, Plan
from deciban.errors import ModelFileError
from deciban.estimators.counted import CountedClassifier, refuse_empty
from deciban.labels import Labels
from deciban.models.calibration import Calibration
from deciban.models.class_weights import ClassWeight
from deciban.models.options import Options, Smoothing
from deciban.models.prior import StatedPrior
from deciban.naive_bayes import leave_one_out, stored
from deciban.naive_bayes.live import LiveNaiveBayes
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.naive_bayes.near_copies import with_labels_together
from deciban.naive_bayes.semi_supervised import UnlabelledOptions, complete
from deciban.progress import shows_progress
from deciban.schema import INFERENCE_ROWS, Schema, check_columns
from deciban.sources.databases.query import query_of
from deciban.sources.labelled import LabelledBatch, LabelledScan, labelled_scan
from deciban.sources.row_sample import RowSample
from deciban.sources.sample import Sample
from deciban.sources.tabular import LabelsLike, Tabular, UnitsLike, WeightsLike
from deciban.sources.unit_sample import TrainingUnits, check_units
from deciban.sources.units import UnitSource, unit_source
from deciban.stats.counts import Counts
from deciban.stats.statistic import FloatArray
from deciban.text import Tokenizer
from deciban.text.tokenizer import DEFAULT_TOKENIZER, check_same_words, check_tokenizer


class NaiveBayes(CountedClassifier[NaiveBayesModel, Counts, Calibration]):
    """Naive Bayes on tables as they are: numbers, categories, booleans, times, texts, with holes.

    It takes frames (pandas, Polars, pyarrow), arrays, lists of dicts, lists of
    texts, and files or queries with ``target`` naming the column of labels. One
    pass over the rows fills a table of counts; how each column is modelled, how
    much it is smoothed and whether a hole says something is then chosen by the
    table.

    Identifiers are not counted: ``schema_`` says so. A table without any other
    column is an error; with one class, every answer is that class.

    Rows whose label is missing (None, NaN or NA) are learned from by EM, see
    :mod:`deciban.naive_bayes.em`: they are kept in memory while ``fit`` runs, and counted under
    every class, by its posterior. ``likelihood_`` has what never falls, after every
    round; ``unlabelled_`` the weight they were given.

    Parameters
    ----------
    kinds
        ``{column: kind}`` where inference is to be overruled; see :mod:`deciban.schema`
    numeric
        ``"auto"``, or what a family in :mod:`deciban.families` answers to: ``"gaussian"``,
        ``"histogram"`` (bins of equal frequency), ``"mdl"``, ...; columns to which it does not
        apply are modelled as by ``"auto"``
    missing
        ``"auto"``, ``"skip"`` (a hole says nothing) or ``"value"`` (it is a value of its own)
    smoothing
        ``"auto"`` (empirical Bayes, column by column), a number >= 0, or ``{column: number}``
    method
        ``"bayes"``, ``"map"`` or ``"ml"``
    text
        how texts are read: ``"multinomial"``, ``"binary"`` (every word of a text once),
        ``"bernoulli"`` (absent words count too), ``"complement"``, or ``"auto"``: the
        multinomial model, corrected for bursts of words, length and rare words as
        leave-one-out finds best (see :mod:`deciban.models.text_selection`). Without ``calibrate``,
        nothing is corrected.
    tokenizer
        what a word is: a :class:`deciban.text.Tokenizer`, by default one for any script.
        ``Tokenizer(buckets=2**20)`` counts words by their hash, so that memory has a bound
        however long ``partial_fit`` goes on
    stop_words
        words that are left out of texts: ``"english"`` or ``"chinese"`` for a short list, or a
        list of them
    min_df, max_words
        which words of a text column are used: those that are in ``min_df`` texts or more
        (a whole number, or a share of all texts such as 0.001), and of these no more than
        the ``max_words`` that are said most often. All words are counted, so that models
        still add up and rows can be forgotten; these are chosen whenever the counts change
    prior
        class priors: None (as counted), ``"uniform"``, or probabilities by class or in the
        order of the classes
    class_weight
        how many times a row of each class counts: None (once), ``"balanced"`` (classes weigh the
        same) or ``{class: weight}``; it changes the prior, not the counts
    calibrate
        whether the evidence is discounted so that probabilities can be trusted; False
        is the pure model. The discount is fitted on leave-one-out scores of evenly
        spaced rows, kept while counting; rows that are added later add theirs, rows
        that are taken away leave it as it is, and ``recalibrate`` fits it anew.
    max_classes
        so many different numbers may be labels, 1000 if nothing is stated: more call for
        regression, and take a row in every table of counts. None is no limit; texts have none
    n_classes
        how many classes to find where every label is missing, or none is given: ``fit(X)``; they
        are named 0, 1, ...
    unlabelled
        the weight of a row without a label, a number >= 0, or ``"auto"``: of a few, the one
        under which the labelled rows, each left out, are likeliest
    n_starts, random_state
        where every label is missing: how often EM begins anew, and the seed; the best is kept
    max_rounds, tol
        EM ends after so many rounds, with a warning, or when a round gains no more than
        ``tol`` nats a row
    half_life
        after how many rows of ``learn_one`` and ``partial_fit`` what was learned before them
        counts half: for streams that drift. None is never

    >>> rows = [{"size": "S", "age": 1}, {"size": "M", "age": None}, {"size": "L", "age": 9}]
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(rows, ["a", "a", "b"])
    >>> m.predict([{"size": "L", "age": 8}])
    array(['b'], dtype='<U1')
    >>> m = NaiveBayes().fit(["good film", "a fine film", "bad film"], ["yes", "yes", "no"])
    >>> m.predict(["a good one"])
    array(['yes'], dtype='<U3')

    """

    _held_rows = INFERENCE_ROWS

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        numeric: str = "auto",
        missing: str = "auto",
        smoothing: Smoothing = "auto",
        method: str = "bayes",
        text: str = "auto",
        tokenizer: Tokenizer | None = None,
        stop_words: str | Iterable[str] | None = None,
        min_df: float = 1,
        max_words: int | None = None,
        prior: StatedPrior = None,
        class_weight: ClassWeight = None,
        calibrate: bool = True,
        max_classes: int | None = MAX_NUMBER_CLASSES,
        n_classes: int | None = None,
        unlabelled: float | str = 1.0,
        n_starts: int = 10,
        max_rounds: int = 100,
        tol: float = 1e-3,
        random_state: int = 0,
        half_life: float | None = None,
    ) -> None:
        self.kinds = kinds
        self.numeric = numeric
        self.missing = missing
        self.smoothing = smoothing
        self.method = method
        self.text = text
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_words = max_words
        self.prior = prior
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.max_classes = max_classes
        self.n_classes = n_classes
        self.unlabelled = unlabelled
        self.n_starts = n_starts
        self.max_rounds = max_rounds
        self.tol = tol
        self.random_state = random_state
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

        ``sample_weight`` is an array or the name of a column. A label may be missing; with
        ``n_classes``, so may all of them: rows are then dealt out to classes that are found.
        With ``groups``, an array or the name of a column that is no feature then, what is called
        leave-one-out leaves whole groups out; ``"auto"`` takes copies of rows together. With
        ``time``, a row is judged by the rows before it, all of which are held in memory.
        Selection, calibration, sets and novelty follow; see docs/trust.md.

        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"], "y": [1, 1, 2]}, target="y")
        >>> m.counts_.weight, print(m.schema_)
        x  categorical  texts: 2 different values in 3
        (array([2., 1.]), None)
        >>> m = NaiveBayes().fit(["good", "bad", "good, fine", "fine"], ["yes", "no", None, None])
        >>> m.predict(["fine"])                     # only rows without a label say what that is
        array(['yes'], dtype='<U3')
        >>> groups = NaiveBayes(n_classes=2).fit({"x": ["S", "L"] * 9, "z": ["T", "W"] * 9})
        >>> sorted(groups.predict({"x": ["S", "L"], "z": ["T", "W"]}).tolist())
        [0, 1]
        """
        units = None if groups is None and time is None else unit_source(groups, time)
        query = None if sql is None and table is None else query_of(sql, table)
        return self._fit(X, y, None, target, query, sample_weight, units, aside=[])

    def __add__(self, other: object) -> Self:
        """The model of both data sets, with the parameters of the first."""
        result = super().__add__(other)
        if isinstance(other, NaiveBayes):
            result.model_ = result.model_.with_text_choices(other.model_.text_choices)
        return result

    def with_counts(self, counts: Counts) -> Self:
        """Another model of the same columns and parameters, with other counts.

        >>> m = NaiveBayes().fit({"x": ["S", "L"]}, [1, 2])
        >>> m.with_counts(m.counts_ * 3).counts_.weight
        array([3., 3.])
        """
        return self._with(counts, self._model().whole_calibration)

    # ------------------------------------------------------------------ counts

    def _fit(
        self,
        X: Tabular,
        y: LabelsLike,
        classes: ArrayLike | None,
        target: str | None,
        sql: str | None,
        weight: WeightsLike,
        units: UnitSource | None = None,
        aside: list[LabelledBatch] | None = None,
        *,
        sample: Sample | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> Self:
        rows = labelled_scan(
            X, y, target=target, sql=sql, weight=weight, units=units,
            kinds=self.kinds if kinds is None else kinds, max_classes=self.max_classes,
        )  # fmt: skip
        if self.n_classes is not None or not (y is None and target is None):
            rows.unlabelled = aside
        self._learn_table(rows, classes, sample)
        return self

    def _learn_table(
        self, rows: LabelledScan, classes: ArrayLike | None, sample: Sample | None
    ) -> None:
        """Count the rows; the model of their counts is this estimator's, when all is done."""
        check_columns(rows.schema)
        units = rows.units
        if sample is None:
            sample = self._sample(None if units is None else TrainingUnits(units.kind))
        options, tokenizer = self._options(rows.schema), DEFAULT_TOKENIZER
        if not (self.tokenizer is None and self.stop_words is None):
            tokenizer = check_tokenizer(self.tokenizer, self.stop_words)

        def model_of(counts: Counts) -> NaiveBayesModel:
            about = rows.schema, counts, options
            return NaiveBayesModel.of(*about, prior=self._prior_of(counts), tokenizer=tokenizer)

        counts = ENGINES[rows.scan.place].count(rows, Plan(rows.schema, tokenizer, sample))
        likelihood, given = np.empty(0), 0.0
        if rows.unlabelled:
            done = complete(model_of(counts), rows, sample, UnlabelledOptions.of(self))
            likelihood, given, counts = np.array(done.likelihood), done.weight, done.counts
        counts = self._declare(counts, classes, rows.schema)
        if units is not None:
            check_units(sample)
        model = self._judge(model_of(counts).estimate(), sample, None, units is not None)
        self._remember(rows)
        self.likelihood_, self.unlabelled_, self.model_ = likelihood, given, model
        if units is not None:
            self._remember_units(sample)

    def _count(self, rows: LabelledScan, sample: Sample | None) -> Counts:
        plan = Plan(rows.schema, self.model_.tokenizer, sample)
        return ENGINES[rows.scan.place].count(rows, plan)

    def _recalibrate(self, rows: LabelledScan) -> None:
        model = self.model_
        max_rows = min(RowSample().max_rows, leave_one_out.max_rows(len(model.counts.classes)))
        sample = ENGINES[rows.scan.place].sample(rows, max_rows)
        self.model_ = leave_one_out.judge(model, with_labels_together(model, sample))

    def _state(self) -> tuple[Counts, Calibration | None]:
        return self._model().counts, self._model().whole_calibration

    def _declare(
        self, counts: Counts, classes: ArrayLike | None, schema: Schema | None = None
    ) -> Counts:
        """The counts with classes that have no rows yet."""
        if classes is None:
            return counts
        known = encoding.class_codes(classes, "classes").classes
        return counts + Plan(schema or self.schema_).empty(known)

    def _subtract(self, counts: Counts, gone: Counts) -> Counts:
        # Columns stay when their last value goes.
        left = refuse_empty(counts - gone, counts)
        return Plan(self.schema_).empty(left.classes) + left

    def _pool(self, mine: Calibration | None, theirs: Calibration | None) -> Calibration | None:
        both: Calibration | None = super()._pool(mine, theirs)
        return both if self.calibrate else mine

    def _combine(self, other: NaiveBayes, combine: Callable[[Counts, Counts], Counts]) -> Counts:
        if self._model().schema.texts:
            check_same_words(self.model_.tokenizer, other._model().tokenizer)
        counts: Counts = super()._combine(other, combine)
        return counts

    # ------------------------------------------------------------------ files

    _to_stored = staticmethod(stored.to_stored)

    @classmethod
    def from_stored(cls, content: files.Stored) -> Self:
        """The estimator in a model file that was read."""
        model, about = stored.read(content)
        try:
            estimator = cls(**stored.estimator_parameters(about, model))
        except TypeError:
            raise ModelFileError("the parameters are not those of NaiveBayes.") from None
        estimator._options(model.schema)
        estimator._restore(model, about)
        return estimator

    # ------------------------------------------------------------------ the model

    def _options(self, schema: Schema) -> Options:
        """What is stated about columns, checked."""
        options = Options(
            self.numeric, self.missing, self.smoothing, self.method,  # type: ignore[arg-type]
            self.text, self.min_df, self.max_words,
        )  # fmt: skip
        return options.for_columns(schema) if isinstance(self.smoothing, Mapping) else options

    def _adopt(self, counts: Counts, calibration: Calibration | None) -> None:
        before, calibration = self.model_, calibration and calibration.for_other_rows()
        # Counts do not know which rows belong together: what such rows selected stays.
        prior = self._prior_of(counts)
        model = NaiveBayesModel.of(
            before.schema, counts, self._options(before.schema), prior=prior,
            calibration=calibration, tokenizer=before.tokenizer, text_choices=before.text_choices,
            choices=None if self.units_ is None else before.choices,
        )  # fmt: skip
        self.model_ = model.estimate()

    def _follow(self, total: Counts) -> LiveNaiveBayes:
        plain = self.prior is None and self.class_weight is None
        stated = None if plain else partial(self._stated_prior, total.classes)
        return LiveNaiveBayes(self._selected(), total, stated)

    def _classes_of(self, total: Counts) -> Labels:
        return total.classes

    def _with_columns(
        self, model: NaiveBayesModel, total: Counts, schema: Schema
    ) -> tuple[NaiveBayesModel, Counts]:
        wide = total + Plan(schema).empty(total.classes)
        narrow = model.counts + Plan(schema).empty(model.classes)
        return model.with_columns(schema, narrow), wide

    def _prior_of(self, counts: Counts) -> FloatArray | None:
        """The prior that is stated of counted classes; None is as counted."""
        if self.prior is None and self.class_weight is None:
            return None
        return self._stated_prior(counts.classes, counts.weight)

    def _sample(self, units: TrainingUnits | None) -> Sample | None:
        if units is not None:
            return units.sample()
        return RowSample() if self.calibrate else None

    def _calibrate(self, sample: Sample | None, before: Calibration | None) -> None:
        self.model_ = self._judge(self.model_, sample, before, self.units_ is not None)

    def _judge(
        self,
        model: NaiveBayesModel,
        sample: Sample | None,
        before: Calibration | None,
        in_units: bool,
    ) -> NaiveBayesModel:
        """The model with what counted rows of the sample choose, and their scores."""
        if sample is None or (in_units and not sample.batches):
            return model
        return leave_one_out.judge_sample(model, sample, before, self.calibrate, in_units)
