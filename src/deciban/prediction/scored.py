"""Rows to answers, probabilities and reasons, a batch at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from deciban import decision, threads
from deciban.decision import Loss
from deciban.encoding.matrices import Caster
from deciban.encoding.unseen import Unseen
from deciban.engines.local.score import score_batch
from deciban.errors import ParameterError
from deciban.labels import Labels
from deciban.models.columns import require_columns
from deciban.models.conformal import Sets, check_coverage, conformity_of
from deciban.models.novelty import abstain, check_level, novelty, require_typicality
from deciban.models.protocol import Model
from deciban.models.scores import decibans
from deciban.prediction.base_rates import at_priors
from deciban.prediction.kept import kept_column
from deciban.prediction.writing import ColumnValues, Field, kind_of
from deciban.sources import BATCH_ROWS, Batch, Scan
from deciban.sources.batch import FieldBatch
from deciban.sources.scan import check_names

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Scores of a batch, one for each row and class, and reasons, one for each column besides.
MAX_BATCH_SCORES, MAX_BATCH_REASONS = 1 << 24, 1 << 21
#: What stands between the classes of a set.
SET_SEPARATOR = "|"


@dataclass(frozen=True)
class PredictionOptions:
    """What is asked of the model."""

    loss: Loss = None
    abstain: float | None = None
    priors: Mapping[Hashable, float] | None = None
    #: Columns of the input that are written as well; None is all of them.
    keep: Sequence[str] | None = ()
    evidence: bool = False
    digits: int = 6
    coverage: float | None = None
    per_class: bool = False
    novelty: bool = False
    novel: float | None = None
    #: A class that is answered where its probability is at least this; else another one is.
    threshold: tuple[Hashable, float] | None = None
    #: So many of the likeliest classes are written, instead of all.
    top: int | None = None
    #: Whether answers are written, or probabilities alone.
    answers: bool = True

    def check(self, model: Model) -> None:
        """Refuse what cannot be asked of this model, before any row is read."""
        if self.coverage is not None:
            conformity_of(model)
            check_coverage(self.coverage)
            _check_set_labels(model.classes)
        if self.coverage is not None and self.priors is not None:
            raise ParameterError(
                "sets hold for the base rates of training, so --coverage and --priors exclude "
                "each other.",
                hint="--per-class holds whatever the rates of classes are: leave --priors out",
            )
        if self.per_class and self.coverage is None:
            raise ParameterError("--per-class is about sets.", hint="add --coverage 0.9")
        if self.threshold is not None and (self.loss is not None or self.abstain is not None):
            raise ParameterError(
                "--threshold and costs both say which answer is given.",
                hint="state --threshold, or --loss and --abstain",
            )
        if self.novel is not None:
            check_level(self.novel)
        if self.asks_novelty:
            require_typicality(model)

    @property
    def asks_novelty(self) -> bool:
        """Whether it must be known how unlikely rows are."""
        return self.novelty or self.novel is not None

    def kept(self, names: Sequence[str]) -> Sequence[str]:
        """Which columns of the input are written as well."""
        return names if self.keep is None else self.keep


def batch_rows(model: Model, options: PredictionOptions) -> int:
    """The most rows that are scored at once, so that their scores stay in bounds."""
    n_classes = max(1, len(model.classes))
    rows = MAX_BATCH_SCORES // n_classes
    if options.evidence:
        rows = min(rows, MAX_BATCH_REASONS // (len(model.schema.names) * n_classes))
    return max(1, min(BATCH_ROWS, rows))


def scored_batches(model: Model, table: Scan, options: PredictionOptions) -> Iterator[ScoredBatch]:
    """All rows of a table, scored batch by batch on all cores, in order."""
    work = partial(ScoredBatch.of, model, require_columns(model, table), options)
    return threads.run(work, (batch for batch in table if batch.n_rows))


def fields(
    model: Model, options: PredictionOptions, names: Sequence[str], sample: Batch | None
) -> list[Field]:
    """The names and kinds of the columns that are written; without rows, input is text."""
    classes = model.classes.tolist()
    label = kind_of(classes)
    columns_written = [_kept_field(name, sample) for name in options.kept(names)]
    columns_written += [Field("prediction", label)] if options.answers else []
    columns_written += _probability_fields(classes, label, options.top)
    if options.coverage is not None:
        columns_written.append(Field("set", "text"))
    if options.novelty:
        columns_written.append(Field("novelty", "number"))
    if options.evidence:
        names = ["prior", *(c.name for c in model.schema.columns if c.used)]
        columns_written += [Field("runner_up", label), *(Field(f"db_{n}", "number") for n in names)]
    check_names([field.name for field in columns_written])
    return columns_written


def _probability_fields(classes: Sequence[Hashable], label: str, top: int | None) -> list[Field]:
    """A column for every class, or of the likeliest ones two: which it is, and how likely."""
    if top is None:
        return [Field(f"p_{c}", "number") for c in classes]
    places = range(1, min(top, len(classes)) + 1)
    pairs = [(Field(f"class_{i}", label), Field(f"p_{i}", "number")) for i in places]
    return [field for pair in pairs for field in pair]


def _kept_field(name: str, sample: Batch | None) -> Field:
    """A column of the input, by some of its rows."""
    if sample is None:
        return Field(name, "text")
    kind = kind_of(sample.columns[name])
    if not isinstance(sample, FieldBatch):
        return Field(name, kind)
    sql = sample.types.get(name, "")
    return Field(name, kind, sql, digits=kind == "number" and not sql)


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """A batch as it came, its rows as the model takes them, and their answers."""

    model: Model
    batch: Batch
    options: PredictionOptions
    rows: Batch
    posterior: FloatArray
    answers: Labels
    unseen: Unseen
    sets: Sets | None = None
    novelty: FloatArray | None = None

    @classmethod
    def of(
        cls, model: Model, caster: Caster, options: PredictionOptions, batch: Batch
    ) -> ScoredBatch:
        """Score some rows."""
        classes = model.classes
        rows = caster.cast(batch)
        sets = new = None
        if options.priors is None and options.coverage is None:
            posterior, unseen = score_batch(rows, model, "posterior")
        else:
            log, unseen = score_batch(rows, model, "log_posterior")
            if options.priors is not None:
                log = at_priors(log, model, options.priors)
            if options.coverage is not None:
                sets = conformity_of(model).sets(log, options.coverage, options.per_class)
            posterior = np.exp(log)
        if options.threshold is None:
            answers = decision.decide(posterior, classes, options.loss, options.abstain)
        else:
            answers = classes[answer_above(posterior, classes, *options.threshold)]
        if options.asks_novelty:
            new = novelty(model, rows)
        if new is not None and options.novel is not None:
            answers = abstain(answers, new, options.novel)
        return cls(model, batch, options, rows, posterior, answers, unseen, sets, new)

    @property
    def abstained(self) -> int:
        """How many rows got no answer."""
        if self.options.abstain is None and self.options.novel is None:
            return 0
        return sum(answer is None for answer in self.answers.tolist())

    def columns(self) -> list[ColumnValues]:
        """The values of these columns."""
        values: list[ColumnValues] = [
            kept_column(self.batch, name) or self.batch.columns[name].tolist()
            for name in self.options.kept(list(self.batch.columns))
        ]
        values += [self.answers.tolist()] if self.options.answers else []
        values += self._probabilities()
        if self.sets is not None:
            values.append(set_labels(self.sets, self.model.classes))
        if self.options.novelty and self.novelty is not None:
            values += self._rounded(self.novelty[:, None])
        return values + (self._reasons() if self.options.evidence else [])

    def _probabilities(self) -> list[ColumnValues]:
        """Those of all classes, or the likeliest classes and theirs."""
        if self.options.top is None:
            return self._rounded(self.posterior)
        order = np.argsort(-self.posterior, axis=1, kind="stable")[:, : self.options.top]
        likely = self._rounded(np.take_along_axis(self.posterior, order, axis=1))
        names: list[ColumnValues] = [self.model.classes[at].tolist() for at in order.T]
        return [column for pair in zip(names, likely, strict=True) for column in pair]

    def _reasons(self) -> list[ColumnValues]:
        """The runner-up, and decibans for the answer against it: of the prior, of each column."""
        classes = self.model.classes
        pair = _best_two(self.posterior, self.answers, classes)
        prior = np.broadcast_to(self._log_prior(), (len(pair), 1, len(classes)))
        some = [column.used for column in self.model.schema.columns]
        columns = self.model.contributions(self.rows)[:, some]
        terms = np.concatenate([prior, columns], axis=1)
        both = np.take_along_axis(terms, pair[:, None, :], axis=2)
        against: list[Hashable] = classes[pair[:, 1]].tolist()
        if len(classes) == 1:
            against = [None] * len(pair)
        return [against, *self._rounded(decibans(both)[..., 0])]

    def _log_prior(self) -> FloatArray:
        """The log prior that the answers are made with."""
        prior = self.model.log_prior[None]
        if self.options.priors is None:
            return prior
        return at_priors(prior, self.model, self.options.priors)

    def _rounded(self, values: FloatArray) -> list[ColumnValues]:
        """The columns of a matrix with as many digits as are options."""
        digits = self.options.digits
        if digits >= 17:
            return values.T.tolist()  # type: ignore[no-any-return]
        return [[float(f"{v:.{digits}g}") for v in column] for column in values.T.tolist()]


def answer_above(
    posterior: FloatArray, classes: Labels, label: Hashable, threshold: float
) -> Codes:
    """The place of a class where its probability is at least a threshold, else of another one.

    >>> posterior = np.array([[0.7, 0.3], [0.9, 0.1]])
    >>> answer_above(posterior, np.array(["a", "b"]), "b", 0.2)
    array([1, 0])
    """
    own = classes.tolist().index(label)
    others = posterior.copy()
    others[:, own] = -1.0
    above = posterior[:, own] >= threshold
    return np.asarray(np.where(above | (len(classes) == 1), own, others.argmax(axis=1)))


def set_labels(sets: Sets, classes: Labels) -> list[str]:
    """The classes of each set, joined.

    >>> set_labels(np.array([[True, True], [False, True]]), np.array(["a", "b"]))
    ['a|b', 'b']
    """
    names = [str(label) for label in classes.tolist()]
    return [SET_SEPARATOR.join(compress(names, row)) for row in sets.tolist()]


def _check_set_labels(classes: Labels) -> None:
    for label in classes.tolist():
        if SET_SEPARATOR in str(label):
            raise ParameterError(
                f"the classes of a set are joined by {SET_SEPARATOR!r}, which {label!r} has.",
                hint="rename the class, or use predict_set in Python",
            )


def _best_two(posterior: FloatArray, answers: Labels, classes: Labels) -> Codes:
    """The answer (where there is none, the likeliest class) and the likeliest other class."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    likeliest = posterior.argmax(axis=1)
    codes = [place.get(label, -1) for label in answers.tolist()]
    answer = np.where(np.array(codes, dtype=np.intp) < 0, likeliest, codes)
    others = posterior.copy()
    if len(classes) > 1:
        np.put_along_axis(others, answer[:, None], -1.0, axis=1)
    return np.stack([answer, others.argmax(axis=1)], axis=1).astype(np.intp)
