"""inspect: what is in a model file, or what the columns of a data file are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from deciban import files, schema
from deciban.cli.reading import Input
from deciban.explanation import importance_of
from deciban.models.prior import prior_probabilities
from deciban.models.protocol import CountedModel, HasCounts, Model
from deciban.schema import INFERENCE_ROWS, Schema
from deciban.sources import BatchScan
from deciban.sources.files import ENDINGS

_MAGIC = b"PK"


@dataclass(frozen=True)
class Column:
    """A column: its kind and why; and if a model counts it, how."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True)
class ColumnModel:
    """How a counted column is modelled; the leave-one-out loss that it has alone, nats a row."""

    column: str
    shape: str
    bins: int
    smoothing: float
    missing: bool
    loss_alone: float
    model: str


@dataclass(frozen=True)
class TableFacts:
    """What a data file holds."""

    path: str
    columns: list[Column]


@dataclass(frozen=True)
class ModelFacts:
    """What a model file holds; what a kind of model does not have is None, or empty."""

    path: str
    kind: str
    bytes: int
    format_version: int
    target: str | None
    rows: float | None
    classes: dict[str, float | None]
    priors: dict[str, float | None]
    temperature: float | None
    columns: list[Column]
    importance: dict[str, float]
    choices: list[ColumnModel]


def is_model(path: str) -> bool:
    """Whether a file is a model: by its name, or by how it begins."""
    if path == "-":
        return False
    file = Path(path)
    if file.suffix == ".deciban":
        return True
    if file.suffix.lower() in ENDINGS:  # a workbook is a zip as well
        return False
    try:
        with file.open("rb") as opened:
            return opened.read(2) == _MAGIC
    except OSError:
        return False


def table(data: Input, kinds: Mapping[str, str]) -> TableFacts:
    """The kinds of a data file's columns, from its first rows."""
    rows = data.scan(rows=INFERENCE_ROWS)
    first = list(islice(rows, 1))
    formats = rows.formats() if isinstance(rows, BatchScan) else None
    return TableFacts(", ".join(data.paths), _columns(schema.infer(first, kinds, formats)))


def model(path: str) -> ModelFacts:
    """A model file, in words."""
    opened = files.open(path)
    inside = opened.model
    counted = inside if isinstance(inside, CountedModel) else None
    return ModelFacts(
        path,
        inside.kind,
        Path(path).stat().st_size,
        opened.format_version,
        opened.target,
        float(inside.counts.weight.sum()) if isinstance(inside, HasCounts) else None,
        shares(inside),
        _priors(inside),
        None if counted is None else counted.temperature,
        _columns(inside.schema),
        importance(inside),
        [] if counted is None else _choices(counted),
    )


def shares(model: Model) -> dict[str, float | None]:
    """The share of every class among the rows, where they were counted."""
    names = list(map(str, model.classes.tolist()))
    if not isinstance(model, HasCounts) or not model.counts.weight.any():
        return dict.fromkeys(names)
    weight = model.counts.weight
    return dict(zip(names, (weight / weight.sum()).tolist(), strict=True))


def _priors(model: Model) -> dict[str, float | None]:
    """``P(c)``, where the model starts from probabilities."""
    names, prior = map(str, model.classes.tolist()), prior_probabilities(model)
    return dict.fromkeys(names) if prior is None else dict(zip(names, prior.tolist(), strict=True))


def importance(model: Model) -> dict[str, float]:
    """The mean evidence of every column that is used, in decibans a row, the strongest first.

    Empty where it was not measured in training.
    """
    weights, without = importance_of(model), ignored(model)
    return {w.feature: w.decibans for w in weights or () if w.feature not in without}


def ignored(model: Model) -> dict[str, str]:
    """The columns that are not counted, and why."""
    return {c.name: f"{c.kind}: {c.reason}" for c in model.schema.columns if not c.used}


def _columns(of: Schema) -> list[Column]:
    return [Column(column.name, column.kind, column.reason) for column in of.columns]


def _choices(model: CountedModel) -> list[ColumnModel]:
    """What was chosen for each counted column, that of the least loss first."""
    ordered = sorted(model.choices.values(), key=lambda choice: choice.loss)
    return [
        ColumnModel(c.column, c.shape, c.bins, c.smoothing, c.missing, c.loss, c.describe())
        for c in ordered
    ]
