"""Recipes: which model is to be made, with what parameters, from which columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from deciban.errors import MissingValueError, ParameterError

if TYPE_CHECKING:
    from deciban.aode import AODE
    from deciban.ensemble import BayesClassifier
    from deciban.naive_bayes import NaiveBayes
    from deciban.sources import Scan

    Learner: TypeAlias = NaiveBayes | AODE | BayesClassifier


@dataclass(frozen=True)
class ModelKind:
    """What ``--model`` names: an estimator, the parameters it takes, and those that are fixed."""

    estimator: str
    takes: frozenset[str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    #: Whether its figures are those of rows held out in folds, not of rows left out one by one.
    in_folds: bool = False


_TABLES = frozenset({"kinds", "max_classes", "class_weight"})
_COUNTS = _TABLES | {"missing", "smoothing", "calibrate", "prior"}
_TEXTS = frozenset({"tokenizer", "stop_words", "min_df", "max_words"})
_FOLDS = _TABLES | {"tokenizer", "random_state"}
#: The models, from the quickest to the slowest.
MODELS: Mapping[str, ModelKind] = {
    "naive": ModelKind("NaiveBayes", _COUNTS | _TEXTS | {"numeric", "unlabelled"}),
    "aode": ModelKind("AODE", _COUNTS),
    "logistic": ModelKind(
        "BayesClassifier", _FOLDS, {"learners": ["logistic"], "progress": False}, in_folds=True
    ),
    "bayes": ModelKind("BayesClassifier", _FOLDS, {"progress": False}, in_folds=True),
}
#: What tries all of them.
AUTO = "auto"
#: Parameters that every recipe has: a model that does not take one does without.
_COMMON = ("kinds", "max_classes", "random_state")
#: Parameters by the options that state them, where their names differ.
_OPTIONS = {"calibrate": "--no-calibrate", "unlabelled": "--em"}


@dataclass(frozen=True)
class Roles:
    """The columns that are no features: labels, weights, and groups or times of rows."""

    target: str
    weight: str | None = None
    group: str | None = None
    time: str | None = None

    def arguments(self) -> dict[str, str | None]:
        """As ``fit`` takes them."""
        return {
            "target": self.target,
            "sample_weight": self.weight,
            "groups": self.group,
            "time": self.time,
        }

    def names(self) -> list[str]:
        """The columns, each once."""
        group = None if self.group == AUTO else self.group
        some = (self.target, self.weight, group, self.time)
        return list(dict.fromkeys(name for name in some if name is not None))


@dataclass(frozen=True)
class Recipe:
    """The name of a model, and the parameters that were stated, for whichever model it is."""

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> ModelKind:
        """What the name stands for."""
        return MODELS[self.model]

    def check(self) -> None:
        """Refuse parameters that the model does not take."""
        if self.model == AUTO:
            if not self.candidates():
                raise ParameterError(
                    "no model takes all that is stated: "
                    f"{', '.join(sorted(map(_option, self._stated())))}.",
                    hint="leave some of it out",
                )
            return
        wrong = sorted(self._stated() - self.kind.takes)
        if wrong:
            takers = [name for name, kind in MODELS.items() if wrong[0] in kind.takes]
            raise ParameterError(
                f"{_option(wrong[0])} is of no use for --model {self.model}.",
                hint=f"it is for --model {' and '.join(takers)}",
            )

    def candidates(self) -> list[Recipe]:
        """The models that take all that is stated, from the quickest to the slowest."""
        names = MODELS if self.model == AUTO else [self.model]
        return [replace(self, model=n) for n in names if self._stated() <= MODELS[n].takes]

    def new(self, **more: Any) -> Learner:
        """An estimator that has learned nothing yet."""
        import deciban

        kind = self.kind
        own = {n: v for n, v in {**self.parameters, **more}.items() if n in kind.takes}
        learner: Learner = getattr(deciban, kind.estimator)(**kind.fixed, **own)
        return learner

    @property
    def learns_unlabelled(self) -> bool:
        """Whether rows without a label are learned from."""
        return "unlabelled" in self.parameters

    def fit(self, estimator: Learner, table: Scan, roles: Roles) -> Learner:
        """Learn the rows; those without a label are refused unless they are asked for."""
        from deciban.naive_bayes import NaiveBayes

        learn = estimator.fit
        if isinstance(estimator, NaiveBayes) and not self.learns_unlabelled:
            learn = estimator.partial_fit
        try:
            learn(table, **roles.arguments())
        except MissingValueError as error:
            if f"the target {roles.target!r}" not in str(error):
                raise
            raise MissingValueError(
                str(error).partition(" Hint:")[0],
                hint="leave such rows out, or add --em to learn from them",
            ) from None
        return estimator

    def _stated(self) -> set[str]:
        return set(self.parameters) - set(_COMMON)


def _option(parameter: str) -> str:
    return _OPTIONS.get(parameter, "--" + parameter.replace("_", "-"))


def without(kinds: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """The kinds of columns, of which some are not to be used."""
    return {**kinds, **dict.fromkeys(columns, "identifier")}
