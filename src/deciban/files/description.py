"""What the document of a model file may hold: every record, its fields, their types and ranges.

A document is checked against its declaration as a whole, by :func:`deciban.files.document.read`,
before anything in it is used. What depends on other parts (as many priors as classes, the columns
of the counts) is checked by whoever puts the parts together. Constructor parameters are checked
by the estimator that takes them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from deciban.checks import MAX_NUMBER
from deciban.plain import PlainDict

Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Amount = Annotated[float, Meta(ge=0.0, le=MAX_NUMBER)]
Probability = Annotated[float, Meta(ge=0.0, le=1.0)]
Number = Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
#: A number that stays whole if it is.
WholeOrNumber = Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)] | Number
Length = Annotated[int, Meta(ge=1, le=256)]
Method = Literal["bayes", "map", "ml"]
Parameters = PlainDict


class Record(Struct, forbid_unknown_fields=True):
    """A part of a document that has these fields and no others."""


# ---------------------------------------------------------------------- the file


class ArrayEntry(Record):
    """An array beside the document."""

    dtype: str
    shape: list[Count]
    sha256: str


class FileEntry(Record):
    """The file: its format, who wrote it, the document and the table of arrays."""

    format: str
    version: Annotated[int, Meta(ge=1)]
    deciban: str
    kind: str
    document: PlainDict
    arrays: dict[str, ArrayEntry]


class Vocabulary(Record):
    """Labels: a few stand here, of many only the number."""

    dtype: str
    labels: list[Any] | UnsetType = UNSET
    size: Count | UnsetType = UNSET


class TableEntry(Record):
    """A table of counts: its columns, and the values or keys of each."""

    name: str
    statistic: str
    columns: Vocabulary
    values: list[Vocabulary] | None = None
    drop: list[Annotated[int, Meta(ge=0, lt=64)]] | UnsetType = UNSET


class CountsEntry(Record):
    """The counts of a model."""

    classes: Vocabulary
    tables: list[TableEntry]


class DocumentEntry(Record):
    """The document: what the model says of itself, its labels, and its counts if it has any."""

    model: PlainDict
    labels: dict[str, Vocabulary]
    counts: CountsEntry | None


# ---------------------------------------------------------------------- parts of models


class ColumnEntry(Record):
    """A column of the schema."""

    name: str
    kind: str
    reason: str
    unit: Literal["", "date", "timestamp", "time"]
    format: str = ""


class ChoiceEntry(Record):
    """How a counted column is modelled."""

    column: str
    family: str
    bins: Annotated[int, Meta(ge=-1, le=1 << 31)]
    smoothing: Amount
    missing: bool
    loss: Number | None


class TextChoiceEntry(Record):
    """How a column of text is modelled."""

    column: str
    weighting: str
    contrast: Amount
    smoothing: Amount
    length: Amount
    scale: Amount
    rows: Count
    idf: Amount = 0.0
    uniformity: Amount = 0.0


class OptionsEntry(Record):
    """What was stated about columns, with the defaults of what was not."""

    numeric: str = "auto"
    missing: str = "auto"
    smoothing: WholeOrNumber | str | dict[str, WholeOrNumber | str] = "auto"
    method: Method = "bayes"
    text: str = "auto"
    min_df: WholeOrNumber = 1
    max_words: Count | None = None


class TokenizerEntry(Record):
    """What a token is."""

    rule: Literal["any-script", "words"] = "any-script"
    ngrams: tuple[Length, Length] = (1, 1)
    characters: tuple[Length, Length] | None = None
    within: bool = False
    case: bool = False
    accents: bool = False
    one_letter: bool = False
    numbers: bool = False
    signs: bool = False
    stop_words: list[str] | None = None
    buckets: Count | None = None


class CurveEntry(Record):
    """The values of a column whose mean evidence was measured; numbers lie between edges."""

    column: str
    values: Annotated[list[bool | int | float | str], Meta(min_length=1)]
    edges: list[float] | None


# ---------------------------------------------------------------------- models


class UnitsEntry(Record):
    """What is remembered of the groups or times of rows: a column, groups seen, the last time.

    Groups are hashes of 16 hexadecimal digits, below ``2 ** (64 - halvings)``.
    """

    kind: Literal["group", "time"]
    column: str | None
    halvings: Annotated[int, Meta(ge=0, le=63)] = 0
    seen: list[Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]] = []
    last: WholeOrNumber | None = None


class TrainedEntry(Record):
    """Hashes of 8 hexadecimal digits, of some of so many rows that were learned.

    So many of so many pairs of them were equal.
    """

    rows: Count
    pairs: Amount
    equal_pairs: Amount
    kept: Annotated[list[Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]], Meta(max_length=4096)]


class ModelEntry(Record):
    """What every model of a table says of itself."""

    parameters: Parameters
    target: str | None
    named: bool
    columns: list[ColumnEntry]
    units: UnitsEntry | None = None
    trained: TrainedEntry | None = None


class NaiveBayesEntry(ModelEntry, kw_only=True):
    """A NaiveBayes."""

    choices: list[ChoiceEntry]
    options: OptionsEntry
    prior: list[Probability] | None
    tokenizer: TokenizerEntry | None = None
    text_choices: list[TextChoiceEntry] = []


class AODEEntry(ModelEntry, kw_only=True):
    """An AODE."""

    prior: list[Probability] | None
    curves: list[CurveEntry] | None = None


class DropInEntry(ModelEntry, kw_only=True):
    """One of scikit-learn's five."""

    settings: dict[str, WholeOrNumber | str | bool | list[WholeOrNumber] | None]


class LogisticEntry(Record):
    """A LogisticRegression."""

    parameters: Parameters
    posteriors: Count
    units: UnitsEntry | None = None


class TextColumnEntry(Record):
    """A column of text of an ensemble."""

    column: str
    tokenizer: TokenizerEntry


class LearnerEntry(Record):
    """A base learner in the summary of an ensemble."""

    name: str
    share: Number
    loss: Number | None
    note: str


class SummaryEntry(Record):
    """The summary of an ensemble."""

    rows: Count
    learned_rows: Count
    loss: Number
    prior_loss: Number
    views: list[LearnerEntry]
    weights: dict[str, Number]


class EnsembleEntry(ModelEntry, kw_only=True):
    """A BayesClassifier."""

    counted: NaiveBayesEntry
    texts: list[TextColumnEntry]
    words: NaiveBayesEntry | None = None
    share_of_pairs: Annotated[float, Meta(ge=0.0, le=1e6)] | None
    report: SummaryEntry
    curves: list[CurveEntry] | None = None
