"""train, update, forget and merge: model files from rows or from other model files."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from deciban.cli import models
from deciban.cli.inspection import ignored, importance, shares
from deciban.cli.progress import Progress
from deciban.cli.reading import Input, watch
from deciban.cli.spaced_rows import SpacedRows
from deciban.errors import ParameterError
from deciban.files.registry import load
from deciban.labels import object_array
from deciban.models.columns import require_columns
from deciban.sources import Batch, Scan
from deciban.sources.scan import scan_batches

if TYPE_CHECKING:
    from deciban.estimators.counted import CountedClassifier
    from deciban.naive_bayes import NaiveBayes
    from deciban.naive_bayes.dropins.base import NaiveBayesClassifier

    #: The estimators whose models are their counts.
    Counted = CountedClassifier[Any, Any, Any] | NaiveBayesClassifier

#: Quality is measured on no more rows than this, evenly spaced.
MAX_QUALITY_ROWS = 20_000


@dataclass(frozen=True)
class Quality:
    """Leave-one-out accuracy and log loss (nats a row), and those of always guessing the same."""

    rows: int
    accuracy: float
    log_loss: float
    commonest: str
    guessing_accuracy: float
    guessing_log_loss: float

    @classmethod
    def of(cls, model: NaiveBayes, rows: Scan, target: str) -> Quality:
        """On counted rows, each judged as if it, or what belongs to it, had never been seen."""
        from deciban.evaluation import evaluate

        if model.units_ is None:
            e = evaluate(model, rows, target=target, leave_one_out=True, bootstrap=0)
        else:  # the rows that were judged so while it was fitted
            e = evaluate(model, bootstrap=0)
        guess = (str(e.guess), e.baseline.accuracy, e.baseline.log_loss) if e.baseline else ()
        return cls(e.rows, e.accuracy, e.log_loss, *guess)


@dataclass(frozen=True)
class TrainingFacts:
    """What people want to know after training."""

    output: str
    target: str
    rows: float
    seconds: float
    rows_per_second: float
    classes: dict[str, float | None]
    left_out: str
    quality: Quality
    temperature: float
    importance: dict[str, float]
    ignored: dict[str, str]
    bytes: int


@dataclass(frozen=True)
class ChangeFacts:
    """What a model file became: by rows that were counted or taken back, or by merging."""

    output: str
    rows_read: int
    rows: float
    seconds: float
    classes: dict[str, float | None]
    bytes: int


def train(
    data: Input,
    target: str,
    settings: Mapping[str, Any],
    units: Mapping[str, str | None],
    output: str,
    *,
    overwrite: bool,
    quiet: bool,
) -> TrainingFacts:
    """Learn a model from rows and write it."""
    from deciban.naive_bayes import NaiveBayes

    model, sample = NaiveBayes(**settings), SpacedRows(MAX_QUALITY_ROWS)
    table = data.scan()
    with Progress("counting", quiet=quiet) as progress:
        # Unlike fit, it refuses rows without a label: in a file they are more likely a mistake.
        model.partial_fit(_watch_progress(table, progress, sample), target=target, **units)
        seconds = progress.seconds
        measured = Quality.of(model, scan_batches(table.names, sample.batches), target)
        size = models.save(model, output, overwrite=overwrite)
    rows = float(model.counts_.weight.sum())
    return TrainingFacts(
        output,
        target,
        rows,
        seconds,
        rows / seconds,
        shares(model.model_),
        "row" if model.units_ is None else model.units_.kind,
        measured,
        model.temperature_,
        importance(model.model_),
        ignored(model.model_),
        size,
    )


def update(
    path: str,
    data: Input,
    target: str | None,
    output: str,
    *,
    forget: bool,
    overwrite: bool,
    quiet: bool,
) -> ChangeFacts:
    """Count more rows into a model file, or take counted ones back."""
    model = _load_counted(path)
    sample = SpacedRows(1)
    with Progress("forgetting" if forget else "counting", quiet=quiet) as progress:
        label = models.target_column(target, model.target_, path)
        table = _watch_progress(
            data.scan(model.model_.caster.field_types(label, model.classes_)), progress, sample
        )
        _learn(model, table, label, forget=forget)
        return _save_change(model, output, sample.rows_seen, progress, overwrite)


def _learn(model: Counted, table: Scan, target: str, *, forget: bool) -> None:
    """Count rows or take them back; a classifier of matrices gets them batch by batch."""
    from deciban.estimators.counted import CountedClassifier

    if isinstance(model, CountedClassifier):
        (model.forget if forget else model.partial_fit)(table, target=target)
        return
    caster = require_columns(model.model_, table)
    table.require(target)
    learn = model.forget if forget else model.partial_fit
    with warnings.catch_warnings():
        # The columns of the matrix were found by their names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        for batch in table:
            if batch.n_rows:
                rows = caster.cast(batch, strict=True)
                learn(model.model_.matrix(rows), object_array(batch.columns[target].tolist()))


def merge(paths: Sequence[str], output: str, *, overwrite: bool, quiet: bool) -> ChangeFacts:
    """One model of the rows of all."""
    with Progress("merging", quiet=quiet) as progress:
        parts = [_load_counted(path) for path in paths]
        kinds = sorted({type(part).__name__ for part in parts})
        if len(kinds) > 1:
            raise ParameterError(
                f"the files hold different kinds of models: {' and '.join(kinds)}.",
                hint="merge models of one kind",
            )
        targets = {part.target_ for part in parts}
        if len(targets) > 1:
            raise ParameterError(
                f"the models predict different columns: {', '.join(sorted(map(repr, targets)))}.",
                hint="merge models of the same target",
            )
        merged = reduce(lambda a, b: a + b, parts)
        merged.target_ = targets.pop()
        return _save_change(merged, output, 0, progress, overwrite)


def _load_counted(path: str) -> Counted:
    """The estimator in a file, which must be one that is its counts."""
    from deciban.estimators.counted import CountedClassifier
    from deciban.naive_bayes.dropins.base import NaiveBayesClassifier

    estimator = load(path)
    if isinstance(estimator, CountedClassifier | NaiveBayesClassifier):
        return estimator
    raise ParameterError(
        f"{path} holds a {type(estimator).__name__}, which is fitted on all rows at once: "
        "no rows can be added to it or taken back.",
        hint="train it again on all rows, or keep a NaiveBayes or AODE model, which is its counts",
    )


def _save_change(
    model: Counted, output: str, rows_read: int, progress: Progress, overwrite: bool
) -> ChangeFacts:
    size = models.save(model, output, overwrite=overwrite)
    rows = float(model.counts_.weight.sum())
    return ChangeFacts(output, rows_read, rows, progress.seconds, shares(model.model_), size)


def _watch_progress(table: Scan, progress: Progress, sample: SpacedRows) -> Scan:
    """The table with its progress shown; rows of the first reading are kept in the sample."""

    def first(batch: Batch) -> None:
        sample.add(batch)
        progress.add(batch.n_rows)

    def again(batch: Batch) -> None:
        if progress.rows >= sample.rows_seen:
            progress.start("calibrating")
        progress.add(batch.n_rows)

    return watch(table, [first, again])
