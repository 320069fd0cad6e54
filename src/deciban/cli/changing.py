"""update, forget and merge: model files from other model files, and rows that come or go."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from deciban.cli import models, trained_rows
from deciban.cli.inspection import shares
from deciban.cli.progress import Progress
from deciban.cli.reading import Input, WatchedTable
from deciban.errors import ParameterError
from deciban.files.model import load
from deciban.labels import object_array
from deciban.models.columns import require_columns
from deciban.sources import Scan

if TYPE_CHECKING:
    from deciban.estimators.counted import CountedClassifier
    from deciban.naive_bayes.dropins.base import NaiveBayesClassifier

    #: The estimators whose models are their counts.
    Counted = CountedClassifier[Any, Any, Any] | NaiveBayesClassifier


#: No more rows than this are looked at to know them again.
MAX_REMEMBERED_ROWS = 20_000


@dataclass(frozen=True)
class ChangeFacts:
    """What a model file became: by rows that were counted or taken back, or by merging."""

    output: str
    rows_read: int
    rows: float
    seconds: float
    classes: dict[str, float | None]
    bytes: int


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
    with Progress("forgetting" if forget else "counting", quiet=quiet) as progress:
        label = models.target_column(target, model, path)
        table = data.scan(model.model_.caster.field_types(label, model.classes_))
        progress.expect(table, data)
        rows = WatchedTable(table, progress, MAX_REMEMBERED_ROWS)
        _learn(model, rows.table, label, forget=forget)
        trained_rows.change(model, rows, label, forget=forget)
        return _save_change(model, output, rows.rows_read, progress, overwrite)


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
        trained_rows.merge(merged, parts)
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
