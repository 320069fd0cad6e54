"""A drop-in classifier in a file: its parameters, columns, settings and prior beside its counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deciban import checks
from deciban.errors import DecibanError, ModelFileError
from deciban.families.bell import GaussianSettings
from deciban.families.bernoulli import BERNOULLI
from deciban.families.categorical import CATEGORICAL, CategoricalSettings
from deciban.families.complement import COMPLEMENT, ComplementSettings
from deciban.families.gaussian import GAUSSIAN
from deciban.families.multinomial import MULTINOMIAL
from deciban.families.protocol import Family
from deciban.families.settings import Settings
from deciban.files import Stored, document
from deciban.files.arrays import ArrayReader, left_out_from, left_out_to
from deciban.files.description import DropInEntry
from deciban.naive_bayes.dropins.encoders import (
    AmountEncoder,
    CategoryEncoder,
    NumberEncoder,
    PresenceEncoder,
)
from deciban.naive_bayes.dropins.model import BLOCK, UNWEIGHTED, DropInModel, Encoder
from deciban.naive_bayes.stored import schema_of
from deciban.plain import Plain, PlainDict, plain
from deciban.schema import Schema
from deciban.stats.counts import Counts


@dataclass(frozen=True)
class _Kind:
    """What the name of a classifier stands for; an encoder is made of the parameters."""

    family: Family
    settings: type[Settings]
    encoder: Callable[[Mapping[str, Plain]], Encoder]
    blocks: frozenset[str] = frozenset({BLOCK})


def _presences(parameters: Mapping[str, Plain]) -> PresenceEncoder:
    threshold = parameters.get("binarize", 0.0)
    if threshold is not None and not checks.is_number(threshold):
        raise ModelFileError(f"binarize must be a number or null, got {threshold!r}.")
    return PresenceEncoder("BernoulliNB", None if threshold is None else float(threshold))


def _amounts(name: str, parameters: Mapping[str, Plain]) -> AmountEncoder:
    return AmountEncoder(name)


_KINDS = {
    "GaussianNB": _Kind(
        GAUSSIAN, GaussianSettings, lambda _: NumberEncoder(), frozenset({BLOCK, UNWEIGHTED})
    ),
    "MultinomialNB": _Kind(MULTINOMIAL, Settings, partial(_amounts, "MultinomialNB")),
    "ComplementNB": _Kind(COMPLEMENT, ComplementSettings, partial(_amounts, "ComplementNB")),
    "BernoulliNB": _Kind(BERNOULLI, Settings, _presences),
    "CategoricalNB": _Kind(
        CATEGORICAL, CategoricalSettings, lambda _: CategoryEncoder("CategoricalNB")
    ),
}


def to_stored(model: DropInModel, parameters: PlainDict, named: bool) -> Stored:
    """The model as a file holds it."""
    settings = {f.name: getattr(model.settings, f.name) for f in fields(model.settings) if f.init}
    description = {
        "parameters": plain(parameters, strict=True),
        "target": None,
        "named": named,
        "columns": [asdict(entry) for entry in model.schema.columns],
        "settings": plain(settings, strict=True),
    }
    arrays = {"log_prior": model.log_prior, "fallback": model.fallback}
    arrays |= left_out_to(model.left_out, model.classes)
    return Stored(model.kind, model.counts, description, arrays=arrays)


def from_stored(stored: Stored) -> DropInModel:
    """The model of a file, checked; what cannot be estimated is noticed now."""
    model, _ = read(stored)
    try:
        _ = model.parameters
    except DecibanError as error:
        raise ModelFileError(f"the model cannot be estimated: {error}") from None
    return model


def read(stored: Stored) -> tuple[DropInModel, DropInEntry]:
    """The model of a file, not estimated yet, and what the file says of it."""
    kind = _KINDS.get(stored.kind)
    if kind is None or stored.counts is None:
        raise ModelFileError(f"the file holds a {stored.kind}, not a drop-in classifier's counts.")
    about = document.read(stored.description, DropInEntry)
    schema = schema_of(about.columns)
    _check_tables(kind, schema, stored.counts)
    arrays, n_classes = ArrayReader(stored.arrays), len(stored.counts.classes)
    prior = _log_prior(arrays, "fallback", n_classes)
    model = DropInModel(
        stored.kind,
        schema.names,
        stored.counts,
        kind.family,
        _settings(kind, about.settings),
        prior,
        kind.encoder(about.parameters),
        _uses(prior, _log_prior(arrays, "log_prior", n_classes)),
        scores=left_out_from(arrays, stored.counts.classes),
    )
    arrays.done()
    return model, about


def _settings(kind: _Kind, entry: Mapping[str, Plain]) -> Settings:
    try:
        return kind.settings(**entry)
    except (TypeError, DecibanError) as error:
        raise ModelFileError(f"the settings are not those of the model: {error}") from None


def _check_tables(kind: _Kind, schema: Schema, counts: Counts) -> None:
    """One block of the family's statistic, with a column for each of the schema."""
    if set(counts.tables) != kind.blocks:
        raise ModelFileError(f"the counts must have the blocks {sorted(kind.blocks)}.")
    for table in counts.tables.values():
        if table.statistic is not kind.family.statistic:
            raise ModelFileError(f"the counts must be {kind.family.statistic.name}.")
        if len(table.cells.columns) != len(schema.columns):
            raise ModelFileError("the counts are not those of the columns.")


def _log_prior(arrays: ArrayReader, name: str, n_classes: int) -> NDArray[np.float64]:
    """Logarithms of probabilities; a class may be impossible."""
    return arrays.floats(name, (n_classes,), least=-np.inf, most=1e-9)


def _uses(prior: NDArray[np.float64], log_prior: NDArray[np.float64]) -> bool:
    """Whether scores start from the prior; or else from nothing."""
    uses = np.array_equal(prior, log_prior)
    if log_prior.any() and not uses:
        raise ModelFileError("'log_prior' must be the prior, or zeros.")
    return uses
