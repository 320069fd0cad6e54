"""train: a model file from labelled rows, with figures of rows that were not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from deciban.cli import choosing, exits, models, trained_rows
from deciban.cli.held_out import HeldOut, judge, predictions, try_models
from deciban.cli.inspection import ignored, importance, shares
from deciban.cli.progress import Progress
from deciban.cli.quality import Quality
from deciban.cli.reading import Input, WatchedTable
from deciban.cli.recipes import AUTO, Recipe, Roles, without
from deciban.cli.rendering import HasDict
from deciban.cli.splits import HeldRows
from deciban.errors import ParameterError
from deciban.evaluation.classifier import HasTemperature
from deciban.plain import PlainDict
from deciban.sources import Batch, BatchScan, Scan
from deciban.sources.columns import missing_column
from deciban.sources.scan import hold

if TYPE_CHECKING:
    from deciban.cli.recipes import Learner

#: Quality is measured on no more rows than this, evenly spaced.
MAX_QUALITY_ROWS = 20_000


@dataclass(frozen=True)
class TrainingOptions:
    """What is asked of training besides the model: where to, and which rows are held out.

    ``test`` is a share of the rows or a file of others, ``folds`` how many times all rows are
    parted; ``unlabelled`` are files of rows that have no labels.
    """

    output: str
    overwrite: bool = False
    quiet: bool = False
    test: float | Input | None = None
    folds: int | None = None
    seed: int = 0
    unlabelled: Input | None = None
    drop: Sequence[str] = ()
    only: Sequence[str] = ()
    #: Whether it is said what another model would have reached.
    suggest: bool = True


@dataclass(frozen=True)
class Unlabelled:
    """What rows without a label were worth: their weight, and how many rounds EM took."""

    weight: float
    rounds: int


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
    temperature: float | None
    importance: dict[str, float]
    ignored: dict[str, str]
    bytes: int
    model: str = "naive"
    unlabelled: Unlabelled | None = None
    choice: choosing.Choice | None = None
    tested: HeldOut | None = None
    suggestion: choosing.Suggestion | None = None
    in_folds: bool = False

    def to_dict(self) -> PlainDict:
        """For machines."""
        facts: PlainDict = {}
        for name, value in vars(self).items():
            plain = value.to_dict() if isinstance(value, HasDict) else value
            facts[name] = vars(value) if isinstance(value, Quality | Unlabelled) else plain
        return facts


def train(data: Input, roles: Roles, recipe: Recipe, options: TrainingOptions) -> TrainingFacts:
    """Learn a model from rows and write it."""
    recipe.check()
    with Progress("counting", quiet=options.quiet) as progress:
        run = _Run(data, roles, recipe, options, progress)
        return run.finish()


@dataclass
class _Run:
    """One training: the rows that are learned, the model that is chosen, its figures."""

    data: Input
    roles: Roles
    recipe: Recipe
    options: TrainingOptions
    progress: Progress
    choice: choosing.Choice | None = None
    tested: HeldOut | None = None
    held_out: Scan | None = field(default=None, init=False)

    def finish(self) -> TrainingFacts:
        """Read, choose, learn, judge, write."""
        table = self._table()
        if self._holds:
            table = self._hold(table)
        rows = WatchedTable(table, self.progress, MAX_QUALITY_ROWS)
        self.progress.start("learning" if self._holds else "counting")
        model = self.recipe.fit(self.recipe.new(), rows.table, self.roles)
        quality = Quality.of(model, rows, self.roles.target)
        trained_rows.remember(model, rows, self.roles.target)
        self._test(model)
        size = models.save(model, self.options.output, overwrite=self.options.overwrite)
        seconds = self.progress.seconds  # the model is written; what follows is advice
        return self._facts(model, quality, self._suggest(model, rows), size, seconds)

    # ------------------------------------------------------------------ rows

    def _table(self) -> Scan:
        """All rows, checked: labelled ones, then those of files without labels."""
        table = self.data.scan()
        for name in (*self.roles.names(), *self.options.drop, *self.options.only):
            table.require(name)
        unused = _unused(table, self.roles, self.options)
        kinds = without(self.recipe.parameters.get("kinds") or {}, unused)
        self.recipe = replace(self.recipe, parameters={**self.recipe.parameters, "kinds": kinds})
        self.progress.expect(table, self.data)
        more = self.options.unlabelled
        return table if more is None else _with_unlabelled(table, more, self.roles)

    @property
    def _holds(self) -> bool:
        """Whether rows are held in memory, to be parted."""
        options = self.options
        return self.recipe.model == AUTO or options.folds is not None or self._holds_some_out

    @property
    def _holds_some_out(self) -> bool:
        return isinstance(self.options.test, float)

    def _hold(self, table: Scan) -> Scan:
        """Hold rows out and choose the model; the rows that are left to learn."""
        options, roles = self.options, self.roles
        rows = WatchedTable(table, self.progress, 1)
        held = HeldRows.of(rows.table, roles, options.seed)
        inside = held.table
        if isinstance(options.test, float):
            split = held.share(options.test)
            inside, self.held_out = map(held.take, split)
            held = HeldRows.of(inside, roles, options.seed)
        if self.recipe.model == AUTO:
            self.progress.start("trying models")
            self.choice = choosing.choose(self.recipe, held, roles, options.folds, options.seed)
            self.recipe = self.choice.recipe
        elif options.folds is not None:
            self.progress.start("learning in folds")
            splits = list(held.folds(options.folds))
            tried = try_models([self.recipe], held, splits, roles, options.seed)
            what = f"{options.folds} folds, {held.n_labelled:,} rows"
            self.tested = HeldOut(what, choosing.require_fitted(tried))
        return inside

    # ------------------------------------------------------------------ figures

    def _test(self, model: Learner) -> None:
        """Judge the model on rows that it has not seen."""
        test, name = self.options.test, self.recipe.model
        if isinstance(test, Input):
            types = model.model_.caster.field_types(self.roles.target, model.classes_)
            table, of = test.scan(types), ", ".join(test.paths)
            table = hold(_features(model, table, self.roles))
            known = trained_rows.warning(model, table, self.roles.target, "give rows")
            if known is not None:
                exits.warn(f"--test: {known}")
        elif self.held_out is not None and test is not None:
            table, of = self.held_out, f"{100 * test:g} % of the rows"
        else:
            return
        parts = [predictions(model, table, self.roles)]
        tried = judge(name, parts, 0.0, self.options.seed)
        self.tested = HeldOut(f"{of}, {len(parts[0].codes):,} rows", (tried,))

    def _suggest(self, model: Learner, rows: WatchedTable) -> choosing.Suggestion | None:
        options = self.options
        if not options.suggest or self.recipe.model != "naive" or self.choice is not None:
            return None
        self.progress.start("looking at another model")
        return choosing.suggest(self.recipe, model, rows.scan(), self.roles)

    def _facts(
        self,
        model: Any,
        quality: Quality,
        suggestion: choosing.Suggestion | None,
        size: int,
        seconds: float,
    ) -> TrainingFacts:
        rows = float(model.model_.counts.weight.sum())
        dropped = _unused_names(self.options, model.schema_.names)
        return TrainingFacts(
            self.options.output,
            self.roles.target,
            rows,
            seconds,
            rows / seconds,
            shares(model.model_),
            "row" if model.units_ is None else model.units_.kind,
            quality,
            model.temperature_ if isinstance(model, HasTemperature) else None,
            importance(model.model_),
            {n: "dropped" if n in dropped else why for n, why in ignored(model.model_).items()},
            size,
            self.recipe.model,
            _unlabelled(model),
            self.choice,
            self.tested,
            suggestion,
            self.recipe.kind.in_folds,
        )


@runtime_checkable
class LearnsUnlabelled(Protocol):
    """A model that may have learned rows without a label, by EM."""

    #: What never falls, after every round, and the weight of such a row.
    likelihood_: Sequence[float]
    unlabelled_: float


def _unlabelled(model: object) -> Unlabelled | None:
    if not isinstance(model, LearnsUnlabelled) or not len(model.likelihood_):
        return None
    return Unlabelled(float(model.unlabelled_), len(model.likelihood_))


def _unused_names(options: TrainingOptions, names: Sequence[str]) -> set[str]:
    if options.only:
        return set(names) - set(options.only)
    return set(options.drop)


def _unused(table: Scan, roles: Roles, options: TrainingOptions) -> set[str]:
    """The columns that are not to be used as features."""
    if options.drop and options.only:
        raise ParameterError(
            "--drop and --only both say which columns are used.", hint="state one of them"
        )
    for name in (*options.drop, *options.only):
        if name in roles.names():
            what = "dropped" if options.drop else "a feature"
            raise ParameterError(
                f"{name!r} cannot be {what}: it has another role.",
                hint="the columns of --target, --weight, --group and --time are no features",
            )
    return _unused_names(options, table.names) - set(roles.names())


def _with_unlabelled(table: Scan, more: Input, roles: Roles) -> Scan:
    """The rows of a table, then those of others, which have no labels."""
    other = more.scan()
    roles_without_labels = [name for name in roles.names() if name != roles.target]
    for name in (*(n for n in table.names if n not in roles.names()), *roles_without_labels):
        other.require(name)

    def read() -> Iterator[Batch]:
        first = None
        for batch in table:
            first = first or batch
            yield batch
        labels = None if first is None else first.columns[roles.target]
        if labels is not None:
            yield from (_without_label(batch, table.names, roles, labels) for batch in other)

    formats = table.formats if isinstance(table, BatchScan) else dict
    return BatchScan(table.names, lambda: chain(read()), "file", formats=formats)


def _without_label(batch: Batch, names: Sequence[str], roles: Roles, like: Any) -> Batch:
    none = {roles.target: missing_column(like, batch.n_rows)}
    return Batch(batch.n_rows, {**batch.columns, **none}).select(names)


def _features(model: Any, table: Scan, roles: Roles) -> Scan:
    """The columns of the model, and those of labels and weights."""
    from deciban.sources.scan import select

    some = [roles.target, *([roles.weight] if roles.weight else [])]
    names = [name for name in model.schema_.names if name in table.names]
    return select(table, [*names, *some])
