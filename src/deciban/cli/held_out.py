"""How good models are on rows that they have not seen: some that are held out, or a file."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from deciban.cli.recipes import Recipe, Roles
from deciban.cli.splits import HeldRows, Split
from deciban.errors import DataWarning, DecibanError
from deciban.evaluation import Evaluation
from deciban.evaluation.comparison import Comparison, compare_decisions
from deciban.evaluation.decisions import Decisions, decide
from deciban.evaluation.evaluator import evaluate_decisions
from deciban.evaluation.predictions import Predictions, predict
from deciban.plain import PlainDict
from deciban.sources import Scan

#: Intervals rest on so many resamples, and hold this share of them.
RESAMPLES, CONFIDENCE = 1000, 0.95


@dataclass(frozen=True, eq=False)
class Tried:
    """A model on rows that it has not seen; ``why`` says it where it could not be fitted."""

    model: str
    seconds: float
    decisions: Decisions | None = None
    evaluation: Evaluation | None = None
    why: str = ""

    def to_dict(self) -> PlainDict:
        """For machines."""
        figures: PlainDict = {} if self.evaluation is None else self.evaluation.to_dict()
        reason = {"why": self.why} if self.why else {}
        return {"model": self.model, "seconds": self.seconds, **figures, **reason}


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Which rows were held out, in words, and what models made of them."""

    rows: str
    tried: tuple[Tried, ...]

    @property
    def fitted(self) -> list[Tried]:
        """The models that could be fitted."""
        return [one for one in self.tried if one.evaluation is not None]

    def compare(self, seed: int) -> Comparison | None:
        """The paired differences of the models; None of fewer than two."""
        some = {one.model: one.decisions for one in self.fitted if one.decisions is not None}
        if len(some) < 2:
            return None
        return compare_decisions(some, RESAMPLES, CONFIDENCE, seed)

    def to_dict(self) -> PlainDict:
        """For machines."""
        return {"rows": self.rows, "models": [one.to_dict() for one in self.tried]}


def try_models(
    recipes: Iterable[Recipe], held: HeldRows, splits: Sequence[Split], roles: Roles, seed: int
) -> tuple[Tried, ...]:
    """Fit every model to each part of the rows, and judge it on the rows that are held out."""
    return tuple(_try(recipe, held, splits, roles, seed) for recipe in recipes)


def _try(recipe: Recipe, held: HeldRows, splits: Sequence[Split], roles: Roles, seed: int) -> Tried:
    began, parts = perf_counter(), []
    try:
        for inside, outside in splits:
            model = recipe.fit(recipe.new(), held.take(inside), roles)
            parts.append(predictions(model, held.take(outside), roles))
    except DecibanError as error:
        return Tried(recipe.model, perf_counter() - began, why=" ".join(str(error).split()))
    return judge(recipe.model, parts, perf_counter() - began, seed)


def predictions(model: Any, table: Scan, roles: Roles) -> Predictions:
    """What a model says of labelled rows that it has not seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return predict(model, table, target=roles.target, sample_weight=roles.weight)


def judge(model: str, parts: Sequence[Predictions], seconds: float, seed: int) -> Tried:
    """The figures of predictions, with intervals."""
    decisions = decide(Predictions.concatenate(parts), None, None)
    evaluation = evaluate_decisions(decisions, RESAMPLES, CONFIDENCE, seed)
    return Tried(model, seconds, decisions, evaluation)
