"""Which model: all of them on rows that are held out, or one other on a sample."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deciban.cli.held_out import HeldOut, Tried, try_models
from deciban.cli.recipes import Recipe, Roles
from deciban.cli.splits import HeldRows
from deciban.errors import DecibanError, DecibanWarning, ParameterError
from deciban.evaluation.metrics import losses
from deciban.evaluation.predictions import predict
from deciban.plain import PlainDict
from deciban.sources import BatchScan
from deciban.sources.scan import scan_batches
from deciban.sources.spaced_rows import SpacedRows

if TYPE_CHECKING:
    from deciban.cli.recipes import Learner

#: Models are tried on no more rows than this, at random,
MAX_TRIED_ROWS = 50_000
#: in so many folds up to so many rows; beyond that, this share of the rows is held out once.
FOLDS, MAX_FOLDED_ROWS, HELD_SHARE = 5, 5_000, 0.2
#: Another model is looked at on no more rows than this, and not on fewer:
MAX_SUGGESTED_ROWS, MIN_SUGGESTED_ROWS = 2_000, 50
#: and only where that takes less than two seconds: rows times features times classes.
MAX_SUGGESTED_WORK = 200_000
#: It is worth a line if it loses less by this share.
MIN_GAIN = 0.01


@dataclass(frozen=True, eq=False)
class Choice:
    """What was tried, which model is taken, and why."""

    recipe: Recipe
    held_out: HeldOut
    reason: str

    def to_dict(self) -> PlainDict:
        """For machines."""
        return {"model": self.recipe.model, "reason": self.reason, **self.held_out.to_dict()}


@dataclass(frozen=True)
class Suggestion:
    """The log loss of two models on rows that were held out of each, of a sample."""

    model: str
    rows: int
    log_loss: float
    naive_log_loss: float

    @property
    def is_better(self) -> bool:
        """Whether the other model is worth its time."""
        return self.log_loss < (1 - MIN_GAIN) * self.naive_log_loss

    def to_dict(self) -> PlainDict:
        """For machines."""
        return dict(vars(self))


def choose(recipe: Recipe, held: HeldRows, roles: Roles, folds: int | None, seed: int) -> Choice:
    """The model of least log loss on rows that are held out."""
    some = held
    if held.rows.n_rows > MAX_TRIED_ROWS:
        some = HeldRows.of(held.table, roles, seed, MAX_TRIED_ROWS)
    n = some.n_labelled
    if folds is None and n > MAX_FOLDED_ROWS:
        splits, how = [some.share(HELD_SHARE)], f"{100 * HELD_SHARE:g} % of {n:,} rows"
    else:
        splits = list(some.folds(folds or FOLDS))
        how = f"{folds or FOLDS} folds, {n:,} rows"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        tried = require_fitted(try_models(recipe.candidates(), some, splits, roles, seed))
    held_out = HeldOut(how, tried)
    best = min(held_out.fitted, key=_log_loss)
    chosen = replace(recipe, model=best.model)
    return Choice(chosen, held_out, _reason(best, held_out, seed))


def require_fitted(tried: Sequence[Tried]) -> tuple[Tried, ...]:
    """What was tried, if anything could be fitted."""
    if not any(one.evaluation is not None for one in tried):
        message, _, hint = tried[0].why.partition(" Hint: ")
        raise ParameterError(message, hint=hint.rstrip(".") or "look at the rows")
    return tuple(tried)


def _log_loss(one: Tried) -> float:
    return float("inf") if one.evaluation is None else one.evaluation.log_loss


def _reason(best: Tried, held_out: HeldOut, seed: int) -> str:
    """Why it is taken: how much less it loses than the next, and whether that can be told."""
    others = sorted((o for o in held_out.fitted if o.model != best.model), key=_log_loss)
    comparison = held_out.compare(seed)
    if not others or comparison is None:
        return f"{best.model} is taken: no other model could be fitted"
    gap = comparison.difference(best.model, others[0].model)
    low, high = gap.interval
    ends = f"{gap.advantage:.4f} [{low:.4f}, {high:.4f}]"
    told = "" if gap.better else ", which may be chance"
    return (
        f"{best.model} is taken: its log loss is the least, by {ends} less than that of "
        f"{others[0].model}{told}"
    )


def suggest(recipe: Recipe, model: Learner, sample: BatchScan, roles: Roles) -> Suggestion | None:
    """What BayesClassifier reaches on a sample, beside the naive model of the same rows.

    None where that would take long or compare what is not alike, and where it cannot be fitted.
    """
    rows = _some(sample)
    size = len(model.schema_.names) * max(2, len(model.classes_))
    n_rows = rows.n_rows or 0
    if n_rows < MIN_SUGGESTED_ROWS or n_rows * size > MAX_SUGGESTED_WORK or model.schema_.texts:
        return None
    if {"unlabelled", "prior"} & set(recipe.parameters) or roles.group or roles.time:
        return None
    other = replace(recipe, model="bayes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DecibanWarning)
            better: Any = other.fit(other.new(), rows, roles)
            naive: Any = recipe.fit(recipe.new(), rows, roles)
            left_out = predict(
                naive, rows, target=roles.target, sample_weight=roles.weight, leave_one_out=True
            )
    except DecibanError:
        return None
    return Suggestion("bayes", n_rows, better.report_.loss, losses(left_out)[0])


def _some(sample: BatchScan) -> BatchScan:
    """No more rows of a sample than are looked at, evenly spaced."""
    kept = SpacedRows(MAX_SUGGESTED_ROWS)
    for batch in sample:
        kept.add(batch)
    return replace(scan_batches(sample.names, kept.batches), formats=sample.formats)
