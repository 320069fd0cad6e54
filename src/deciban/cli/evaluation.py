"""evaluate and compare: how good model files are, on labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deciban.cli import exits, models, trained_rows
from deciban.cli.progress import Progress
from deciban.cli.reading import Input, watch
from deciban.decision import Loss
from deciban.encoding.unseen import UnseenValues
from deciban.errors import InputError, ParameterError
from deciban.evaluation import Comparison, Evaluation, evaluate
from deciban.evaluation.comparison import compare_decisions
from deciban.evaluation.decisions import Decisions, decide
from deciban.evaluation.predictions import predict
from deciban.plain import PlainDict
from deciban.sources import Scan
from deciban.sources.scan import hold, select

if TYPE_CHECKING:
    from deciban.estimators.classifier import TableClassifier

#: The share of resampled figures that an interval holds.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class EvaluationOptions:
    """How models are to be judged; the loss is made when the classes are known."""

    loss: Callable[[Sequence[Hashable]], Loss]
    abstain: float | None
    leave_one_out: bool
    bootstrap: int
    seed: int
    coverage: float | None = None
    per_class: bool = False

    def settings(self, classes: Sequence[Hashable]) -> PlainDict:
        """As the library takes them."""
        return {
            "loss": self.loss(classes),
            "abstain": self.abstain,
            "leave_one_out": self.leave_one_out,
            "bootstrap": self.bootstrap,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class EvaluationFacts:
    """What an evaluation or a comparison of model files gave."""

    models: list[str]
    rows: int
    seconds: float
    result: Evaluation | Comparison

    def to_dict(self) -> PlainDict:
        """For machines."""
        return {"models": self.models, "seconds": self.seconds, **self.result.to_dict()}


def evaluate_file(
    path: str, data: Input | None, target: str | None, options: EvaluationOptions, *, quiet: bool
) -> EvaluationFacts:
    """Evaluate a model on the rows of a table, or on those that it kept the scores of."""
    if data is None:
        return _evaluate_kept(path, target, options, quiet=quiet)
    out = options.leave_one_out
    with labelled_table(path, data, target, leave_one_out=out, quiet=quiet) as table:
        model, rows, label, progress = table
        result = evaluate(
            model,
            rows,
            target=label,
            coverage=options.coverage,
            per_class=options.per_class,
            **options.settings(model.classes_.tolist()),
        )
        exits.warn_unseen(model.unseen_)
        return EvaluationFacts([path], result.rows, progress.seconds, result)


def _evaluate_kept(
    path: str, target: str | None, options: EvaluationOptions, *, quiet: bool
) -> EvaluationFacts:
    """Evaluate a model on rows of training, each left out, whose scores are in its file."""
    if target is not None:
        raise ParameterError(
            f"--target {target} is a column, but there are no rows.", hint="name the data as well"
        )
    with Progress("evaluating", quiet=quiet) as progress:
        model = models.load_classifier(path)
        if model.training_scores_ is None:
            raise InputError(
                f"{path} keeps no scores of the rows that it learned.",
                hint="name labelled rows as well; --leave-one-out if it has learned them",
            )
        how = options.settings(model.classes_.tolist())
        how["leave_one_out"] = False  # they are left out already
        result = evaluate(model, coverage=options.coverage, per_class=options.per_class, **how)
        return EvaluationFacts([path], result.rows, progress.seconds, result)


class LabelledTable(NamedTuple):
    """A model, labelled rows for it, the column of labels, and the progress of it all."""

    model: TableClassifier[Any]
    rows: Scan
    target: str
    progress: Progress


@contextmanager
def labelled_table(
    path: str, data: Input, target: str | None, *, leave_one_out: bool, quiet: bool
) -> Iterator[LabelledTable]:
    """Read a model file and labelled rows; a warning says if the model has learned them."""
    with Progress("evaluating", quiet=quiet) as progress:
        model = models.load_classifier(path, leave_one_out=leave_one_out)
        label = models.target_column(target, model, path)
        source = data.scan(model.model_.caster.field_types(label, model.classes_))
        progress.expect(source, data)
        rows = _columns(model, _read(source, progress), label, leave_one_out)
        known = None if leave_one_out else trained_rows.warning(model, rows, label)
        yield LabelledTable(model, rows, label, progress)
        if known is not None:  # a mistake would have been one line
            exits.warn(known)


def compare_files(
    paths: Sequence[str],
    data: Input,
    target: str | None,
    options: EvaluationOptions,
    *,
    quiet: bool,
) -> EvaluationFacts:
    """Compare models on the same rows."""
    with Progress("comparing", quiet=quiet) as progress:
        classifiers = {
            name: models.load_classifier(path, leave_one_out=options.leave_one_out)
            for name, path in _names(paths).items()
        }
        first = next(iter(classifiers.values()))
        label = models.target_column(target, first, paths[0])
        source = data.scan(first.model_.caster.field_types(label, first.classes_))
        progress.expect(source, data)
        table = _read(source, progress)
        how = options.settings(first.classes_.tolist())
        loss, abstain = how["loss"], how["abstain"]
        decisions: dict[str, Decisions] = {}
        unseen: dict[str, UnseenValues] = {}
        for name, model in classifiers.items():
            rows = _columns(model, table, label, options.leave_one_out)
            predictions = predict(model, rows, target=label, leave_one_out=options.leave_one_out)
            decisions[name] = decide(predictions, loss, abstain)
            unseen |= model.unseen_
            known = None if options.leave_one_out else trained_rows.warning(model, rows, label)
            if known is not None:
                exits.warn(f"{name}: {known}")
        exits.warn_unseen(unseen)
        result = compare_decisions(decisions, options.bootstrap, CONFIDENCE, options.seed)
        return EvaluationFacts(list(paths), result.rows, progress.seconds, result)


def _read(table: Scan, progress: Progress) -> Scan:
    """The table in memory: the standard input can be read once."""
    return hold(watch(table, [lambda batch: progress.add(batch.n_rows)]))


def _columns(model: TableClassifier[Any], table: Scan, target: str, leave_one_out: bool) -> Scan:
    """The columns of the model and its labels; others are not looked at.

    Where rows are left out, those of their groups or times are needed as well.
    """
    names = [name for name in model.schema_.names if name in table.names and name != target]
    units = model.units_
    if leave_one_out and units is not None and units.column is not None:
        names.append(units.column)
    return select(table, (*names, target))


def _names(paths: Sequence[str]) -> Mapping[str, str]:
    """Files by their short names, if those differ."""
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise ParameterError(
            f"{twice} is named twice: a model does not differ from itself.",
            hint="name each model once",
        )
    short = [Path(path).stem for path in paths]
    names = short if len(set(short)) == len(paths) else list(paths)
    return dict(zip(names, paths, strict=True))
