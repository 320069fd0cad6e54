"""BayesClassifier: the estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deciban import files, threads
from deciban.encoding.class_limit import MAX_NUMBER_CLASSES
from deciban.engines import ENGINES, Plan
from deciban.ensemble import stored
from deciban.ensemble.base_learners import LEARNERS
from deciban.ensemble.model import EnsembleModel
from deciban.ensemble.phrases import select_tokenizers
from deciban.ensemble.refitting import refit_few
from deciban.ensemble.summary import EnsembleSummary
from deciban.ensemble.training import TrainingOptions, n_steps, train
from deciban.errors import ModelFileError, ParameterError
from deciban.estimators.classifier import TableClassifier
from deciban.files.model import restored_parameters
from deciban.models.class_weights import ClassWeight, class_weights
from deciban.models.options import Options
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.naive_bayes.row_choices import choose_columns
from deciban.progress import Progress, should_show
from deciban.schema import Schema, check_columns
from deciban.sources.databases.query import query_of
from deciban.sources.labelled import LabelledBatch, LabelledScan, labelled_scan
from deciban.sources.row_sample import RowSample
from deciban.sources.sample import Sample
from deciban.sources.tabular import LabelsLike, Tabular, UnitsLike, WeightsLike
from deciban.sources.unit_sample import AllRows, TrainingUnits, check_units
from deciban.sources.units import UnitSource, unit_source
from deciban.stats.counts import Counts
from deciban.stats.words import WORDS
from deciban.text import Tokenizer
from deciban.text.tokenizer import DEFAULT_TOKENIZER, check_tokenizer

FloatArray = NDArray[np.float64]


class BayesClassifier(TableClassifier[EnsembleModel]):
    """The best answer that counting and weighing can give, on tables and texts as they are.

    It takes whatever :class:`NaiveBayes` takes. Of tables, its answer is a sum of terms: the
    evidence of the counts, each column weighted; linear terms and products of
    numbers; shallow boosted trees; radial basis functions; and AODE. The weight of each is
    fitted on held-out rows: sums leave a row out, all else is fitted in folds. Of
    texts, phrases of up to three words and pieces of words are weighted, each as far
    as the counts of the classes let it be; what texts and other columns tell is
    added. ``report_`` says what was selected. The answer still adds up, column by
    column, in decibans.

    All rows are held in memory while it learns, and are gone over many times;
    the models of the folds are kept, as their mean.

    Parameters
    ----------
    kinds
        ``{column: kind}`` where inference is to be overruled; see :mod:`deciban.schema`
    class_weight
        how many times a row of each class counts: None (once), ``"balanced"`` (classes weigh the
        same) or ``{class: weight}``
    learners
        which base learners are fitted: ``"auto"``, or some of ``"linear"`` (the evidence of the
        counts, weighted, and linear terms), ``"products"`` (linear terms and products of numbers),
        ``"trees"``, ``"pairs"`` (AODE), ``"logistic"`` (linear terms alone) and ``"radial"``
        (radial basis functions of all columns). ``["logistic"]`` is a logistic regression on the
        columns of a table as they are
    max_rows
        trees are learned from no more different rows than this, weights, linear terms and
        texts from no more than 50,000 of them, chosen by what they hold; the counts are
        those of all rows
    memory_limit
        the most bytes that the pairs of AODE may need; where they need more, it has no weight
    max_classes
        so many different numbers may be labels, 1000 if nothing is stated: more call for
        regression, and take a row in every table of counts. None is no limit; texts have none
    tokenizer
        what a word is: a :class:`deciban.text.Tokenizer`; by default phrases of one to
        three words of any script, and pieces of words where texts are not very long
    random_state
        the seed that deals rows out to folds; the same seed gives the same model
    progress
        ``"auto"`` (a bar on a terminal, after a second), True or False

    >>> rows = [{"x": x, "z": z} for x in range(8) for z in "ab"]
    >>> y = [(row["x"] > 3) != (row["z"] == "a") for row in rows]
    >>> m = BayesClassifier().fit(rows * 4, y * 4)
    >>> m.predict([{"x": 1, "z": "a"}, {"x": 1, "z": "b"}])
    array([ True, False])
    >>> print(m.importance())                   # together they say it all, alone nothing
    feature  decibans a row
    x                  12.1  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
    z                   4.8  ▇▇▇▇▇▇▇▇▇▇

    """

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        class_weight: ClassWeight = None,
        learners: str | Sequence[str] = "auto",
        max_rows: int = 1_000_000,
        max_classes: int | None = MAX_NUMBER_CLASSES,
        memory_limit: int = 1 << 28,
        tokenizer: Tokenizer | None = None,
        random_state: int = 0,
        progress: str | bool = "auto",
    ) -> None:
        self.kinds = kinds
        self.class_weight = class_weight
        self.learners = learners
        self.max_rows = max_rows
        self.max_classes = max_classes
        self.memory_limit = memory_limit
        self.tokenizer = tokenizer
        self.random_state = random_state
        self.progress = progress

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
        """Learn a table, with labels ``y`` or in the column ``target``.

        ``sample_weight`` is an array or the name of a column. With ``groups``, an array or the
        name of a column that is no feature then, no fold splits a group, and counts leave whole
        groups out. With ``time``, folds go forward: rows are held out from what came before.

        >>> m = BayesClassifier().fit({"x": [1, 2, 8, 9] * 5, "y": list("aabb") * 5}, target="y")
        >>> m.predict({"x": [3]}), m.report_.rows
        (array(['a'], dtype='<U1'), 20)
        """
        options = self._check_parameters()
        rows = labelled_scan(
            X, y, target=target, weight=sample_weight, kinds=self.kinds,
            sql=None if sql is None and table is None else query_of(sql, table),
            units=None if groups is None and time is None else unit_source(groups, time),
            max_classes=self.max_classes,
        )  # fmt: skip
        check_columns(rows.schema)
        tokenizer = DEFAULT_TOKENIZER if self.tokenizer is None else check_tokenizer(self.tokenizer)
        counts, parts = _count(rows, options.max_rows, tokenizer)
        if self.class_weight is not None:
            counts, parts = _weigh_classes(self.class_weight, counts, parts)
        counted, words = _counted_models(rows, counts, parts, self.tokenizer)
        part = LabelledBatch.concatenate(parts)
        schema, texts = rows.schema, rows.schema.texts
        rules = select_tokenizers(part.batch, texts, self.tokenizer) if texts else []
        bar = Progress("learning", n_steps(schema, rules), shown=should_show(self.progress))
        # Many small problems: threads of BLAS would only wait for each other.
        with threads.serial_blas(), bar as progress:
            model = train(schema, rules, counted, words, part, options, progress.add)
        self._remember(rows)
        self.model_ = refit_few(model, part, rules, options)
        return self

    @property
    def report_(self) -> EnsembleSummary:
        """What was chosen, and why.

        >>> m = BayesClassifier().fit({"x": [1, 2, 8, 9] * 5}, list("aabb") * 5)
        >>> [view.name for view in m.report_.views]
        ['linear', 'products', 'trees', 'pairs']
        """
        return self._model().summary

    _to_stored = staticmethod(stored.to_stored)

    @classmethod
    def from_stored(cls, content: files.Stored) -> Self:
        """The estimator in a model file that was read."""
        model, about = stored.read(content)
        try:
            parameters = restored_parameters(about.parameters)
            if parameters.get("tokenizer") is not None:
                parameters = {**parameters, "tokenizer": Tokenizer(**parameters["tokenizer"])}
            estimator = cls(**parameters)
            estimator._check_parameters()
        except (TypeError, ParameterError) as error:
            raise ModelFileError(
                f"the parameters are not those of BayesClassifier: {error}"
            ) from None
        estimator._restore(model, about)
        return estimator

    def _check_parameters(self) -> TrainingOptions:
        """The options of training; everything else is checked as well."""
        for name, least in (("max_rows", 1), ("memory_limit", 0), ("random_state", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ParameterError(
                    f"{name} must be a whole number >= {least}, got {value!r}.",
                    hint="the default serves",
                )
        if not (isinstance(self.progress, bool) or self.progress == "auto"):
            raise ParameterError(
                f'progress must be "auto", True or False, got {self.progress!r}.',
                hint='"auto" shows a bar on a terminal',
            )
        if self.tokenizer is not None and check_tokenizer(self.tokenizer).buckets is not None:
            raise ParameterError(
                f"phrases are weighed by name, not in buckets, got {self.tokenizer!r}.",
                hint="leave buckets out, or use NaiveBayes",
            )
        limits = int(self.max_rows), int(self.memory_limit), int(self.random_state)
        return TrainingOptions(*limits, _check_learners(self.learners))


def _check_learners(stated: str | Sequence[str]) -> tuple[str, ...] | None:
    """The names of base learners, each once, in their order; None for the usual ones."""
    if isinstance(stated, str) and stated == "auto":
        return None
    names = [stated] if isinstance(stated, str) or not isinstance(stated, Sequence) else stated
    if not names or not all(name in LEARNERS for name in names):
        raise ParameterError(
            f'learners must be "auto" or names of base learners, got {stated!r}.',
            hint=f"there are {', '.join(map(repr, LEARNERS))}",
        )
    return tuple(name for name in LEARNERS if name in names)


def _count(
    rows: LabelledScan, max_rows: int, tokenizer: Tokenizer
) -> tuple[Counts, list[LabelledBatch]]:
    """The counts of all rows, and the rows that weigh anything.

    Of rows that are spread over the executors of Spark, no more than ``max_rows`` are brought here.
    """
    every: Sample = AllRows() if rows.scan.place != "spark" else RowSample(max_rows)
    counts = ENGINES[rows.scan.place].count(rows, Plan(rows.schema, tokenizer, every))
    return counts, [part for part in every.batches if part.batch.n_rows]


def _weigh_classes(
    stated: ClassWeight, counts: Counts, parts: list[LabelledBatch]
) -> tuple[Counts, list[LabelledBatch]]:
    """The counts and the rows with their weights times those of their classes."""
    each = class_weights(stated, counts.classes, counts.weight)
    weighed = [replace(p, weight=p.weights * each[p.codes_among(counts.classes)]) for p in parts]
    return counts.scale_classes(each), weighed


def _counted_models(
    rows: LabelledScan, counts: Counts, parts: list[LabelledBatch], tokenizer: Tokenizer | None
) -> tuple[NaiveBayesModel, NaiveBayesModel | None]:
    """The naive Bayes models of all columns but texts, and of the texts, if there are any."""
    tables = dict(counts.tables)
    words = tables.pop(WORDS.name, None)
    plain = Schema(tuple(column for column in rows.schema.columns if not column.texts))
    counted = NaiveBayesModel.of(plain, Counts(counts.classes, counts.weight, tables), Options())
    counted = _leave_units_out(counted, rows.units, parts)
    if words is None:
        return counted, None
    texts = Schema(tuple(column for column in rows.schema.columns if column.texts))
    of_words = Counts(counts.classes, counts.weight, {WORDS.name: words})
    return counted, NaiveBayesModel.of(texts, of_words, Options(), tokenizer=tokenizer)


def _leave_units_out(
    model: NaiveBayesModel, units: UnitSource | None, parts: list[LabelledBatch]
) -> NaiveBayesModel:
    """The model as rows select it that are judged without their whole group, or in time."""
    if units is None:
        return model
    sample = TrainingUnits(units.kind).sample()
    for part in parts:
        sample.add(part)
    check_units(sample)
    return choose_columns(model, sample)
