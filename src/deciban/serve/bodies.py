"""What requests and answers look like; the description of the API is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from deciban.serve.problems import ProblemError

__all__ = [
    "CounterfactualRequest",
    "CurveRequest",
    "EvaluationRequest",
    "ExplanationRequest",
    "ForgetRequest",
    "LearnRequest",
    "NomogramRequest",
    "PredictionRequest",
    "TrainingRequest",
    "WordsRequest",
    "decode",
]

T = TypeVar("T")

#: A value of a row: what JSON has, and lists of texts, which are bags of words.
Value = None | bool | int | float | str | list[str]
Label = bool | int | float | str
Row = Annotated[dict[str, Value], Meta(description="Values by column; others are missing.")]
#: A row, or a text alone for a model of one column of texts.
Asked = Row | str
Cost = Annotated[float, Meta(ge=-1e100, le=1e100)]
Rate = Annotated[float, Meta(ge=0, le=1)]
Costs = Annotated[
    list[list[Cost]] | dict[str, dict[str, Cost]],
    Meta(description="Costs by answer and truth: a matrix, or {answer: {truth: cost}}."),
]
Rates = Annotated[dict[str, Rate], Meta(description="Base rates of all classes; they sum to 1.")]
Abstention = Annotated[float, Meta(ge=0, le=1e100, description="The cost of giving no answer.")]
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class Request(Struct, forbid_unknown_fields=True):
    """A body; fields that are not known are refused."""


class PredictionRequest(Request):
    """Rows to classify."""

    rows: list[Asked]
    loss: Costs | None = None
    abstain: Abstention | None = None
    priors: Rates | None = None


class ExplanationRequest(Request):
    """A row whose answer is explained, against the runner-up or another class."""

    row: Asked
    against: Label | None = None
    novelty: bool = False


class CounterfactualRequest(Request):
    """A row, and the answer that it should have; features that are fixed stay."""

    row: Asked
    target: Label | None = None
    fixed: list[str] = []
    max_changes: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None


class CurveRequest(Request):
    """A column whose values are weighed, against all other classes or one of them."""

    column: str
    against: Label | None = None


class NomogramRequest(Request):
    """The two classes that are compared; those left out are chosen."""

    of: Label | None = None
    against: Label | None = None


class WordsRequest(Request):
    """A class whose strongest words are listed."""

    of: Label
    against: Label | None = None
    n: Annotated[int, Meta(ge=1, le=1000)] = 20
    column: str | None = None


class TrainingRequest(Request):
    """The column to predict of the table that was sent, and kinds of columns that are known."""

    target: str
    kinds: dict[str, str] = {}
    model: Literal["NaiveBayes", "AODE", "BayesClassifier"] = "NaiveBayes"


class EvaluationRequest(Request):
    """Labelled rows, with their labels in the column of training; none are those of the service."""

    rows: list[Row] | None = None
    loss: Costs | None = None
    abstain: Abstention | None = None
    bootstrap: Annotated[int, Meta(ge=0, le=10_000)] = 200
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] = 0


class Lesson(Request):
    """A row and its class, under a name that the caller chose."""

    id: Name
    row: Asked
    answer: Label


class LearnRequest(Request):
    """Lessons, each of which counts once, however often it is sent; all or none are learnt."""

    lessons: Annotated[list[Lesson], Meta(min_length=1)]
    new_classes: bool = False
    wait: bool = False


class ForgetRequest(Request):
    """The names of lessons that no longer count."""

    ids: Annotated[list[Name], Meta(min_length=1)]
    wait: bool = False


# Answers


class UnseenEntry(Struct):
    """What rows had that training did not, in one column."""

    count: int
    examples: list[Any]
    reason: str


class Prediction(Struct):
    """The answer, null for an abstention, and the probability of every class."""

    answer: Any
    probabilities: dict[str, float]


class Predictions(Struct, omit_defaults=True):
    """A prediction for every row, in order."""

    predictions: list[Prediction]
    unseen: dict[str, UnseenEntry] = {}


class ChangeEntry(Struct):
    """A feature, its value, the value it would have to have, and what that gains in decibans."""

    feature: str
    before: Any
    after: Any
    decibans: float


class CounterfactualEntry(Struct):
    """The changes under which the answer is another."""

    answer: Any
    new_answer: Any
    changes: list[ChangeEntry]
    probability_before: float
    probability_after: float


class CounterfactualAnswer(Struct):
    """The fewest changes for another answer; null where none do."""

    counterfactual: CounterfactualEntry | None


class LearnAnswer(Struct):
    """Lessons that were learnt now, those known before, and a position in what was learnt."""

    learnt: int
    known: int
    position: int


class ForgetAnswer(Struct):
    """Lessons that were taken back, those nobody knew, and a position in what was learnt."""

    forgotten: int
    unknown: int
    position: int


def decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """A body that is as described; otherwise a problem.

    Types are flat, so no nesting is followed deeper than they go; JSON has no NaN, and numbers
    that no float holds are refused.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise ProblemError(422, f"{error}.", "see /api/openapi.json") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProblemError(400, f"the body is not JSON: {error}.", "send JSON in UTF-8") from None
