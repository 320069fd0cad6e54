"""Files of earlier formats, as the present one would have written them.

=======  ==========================================================================================
version  what changed
=======  ==========================================================================================
2        a table states its ``statistic`` instead of a ``family``; where the digits of exact sums
         begin (``base``) is an array beside them; NaiveBayes has ``options`` (were ``wishes``),
         ``text_choices`` (were ``readings``), and choices with a ``family`` (was a ``shape``)
3        the losses of left-out rows under each discount go on above 1, where evidence is enlarged
=======  ==========================================================================================

What is said here in other words is checked by whoever reads it, as in a file of today; a
file that mixes the names of two versions is damaged, and refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from reprlib import repr as short
from typing import TypeVar

import numpy as np

from deciban.errors import ModelFileError
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.files.archive import VERSION, Arrays, Content
from deciban.labels import Array
from deciban.models.calibration import DISCOUNT_GRID

Document = dict[str, object]
T = TypeVar("T")

#: The statistic that each family of version 1 was estimated from.
STATISTIC_OF_FAMILY = {
    "categorical": "categories",
    "gaussian": "moments",
    "histogram": "histogram",
    "words": "words",
    "multinomial": "amounts",
    "complement": "amounts",
    "bernoulli": "presences",
}
#: The family of each shape of version 1.
FAMILY_OF_SHAPE = {
    "categories": "categorical",
    "gaussian": "gaussian",
    "histogram": "histogram",
}

#: How many discounts up to 1 version 2 tried.
N_DISCOUNTS_TO_1 = 93
#: The arrays of losses by discount, and of the rows behind them.
LOSSES_BY_DISCOUNT = ("model.calibration", "model.trust", "model.pairs_trust")


def upgrade(content: Content) -> Content:
    """What a file of an earlier version holds, as the present version states it."""
    while content.version < VERSION:
        content = _STEPS[content.version](content)
    return content


def _from_version_1(content: Content) -> Content:
    document, arrays = dict(content.document), dict(content.arrays)
    if isinstance(document.get("counts"), dict):
        document["counts"] = _upgrade_counts(_field(document, "counts", dict), arrays)
    describe = _DESCRIPTIONS.get(content.kind)
    if describe is not None:
        document["model"] = describe(_field(document, "model", dict))
    return replace(content, document=document, arrays=arrays, version=2)


def _from_version_2(content: Content) -> Content:
    arrays = dict(content.arrays)
    for name in LOSSES_BY_DISCOUNT:
        if name in arrays:
            arrays[name] = _lengthen(arrays[name])
    return replace(content, arrays=arrays, version=3)


def _lengthen(losses: Array) -> Array:
    """The losses by discount, and the rows behind them, with discounts above 1.

    Those were not tried: each row is as badly judged by them as it can be.
    """
    if losses.dtype != np.float64 or losses.ndim != 1 or len(losses) % N_DISCOUNTS_TO_1 != 1:
        return losses
    below = losses[:-1].reshape(-1, N_DISCOUNTS_TO_1)
    n_above = len(DISCOUNT_GRID) - N_DISCOUNTS_TO_1
    above = np.full((len(below), n_above), MAX_ROW_LOSS * losses[-1])
    return np.append(np.hstack([below, above]), losses[-1])


def _upgrade_counts(counts: Document, arrays: Arrays) -> Document:
    """The counts with statistics for families; the bases of their sums go to the arrays."""
    tables = [
        _upgrade_table(_record(entry, "table"), f"counts.table{number}.sum.", arrays)
        for number, entry in enumerate(_field(counts, "tables", list))
    ]
    return {**counts, "tables": tables}


def _upgrade_table(entry: Document, prefix: str, arrays: Arrays) -> Document:
    _check_keys(entry, "name", "family", "columns", "values", "base", "drop")
    bases = _field(entry, "base", dict)
    for key in bases:
        name = f"{prefix}{key}.base"
        if name in arrays:
            raise ModelFileError(f"array {name!r} belongs to nothing.")
        arrays[name] = _base(_field(bases, key, int))
    statistic = _translate(entry, "family", STATISTIC_OF_FAMILY)
    rest = {key: value for key, value in entry.items() if key not in ("family", "base")}
    return {**rest, "statistic": statistic}


def _base(base: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if abs(base) >= 1 << 63:
        raise ModelFileError(f"a sum has digits from place {short(base)}.")
    return np.array([base], dtype=np.int64)


def _upgrade_naive_bayes(model: Document) -> Document:
    renamed = _rename(_rename(model, "wishes", "options"), "readings", "text_choices")
    choices = [_upgrade_choice(_record(e, "choice")) for e in _field(model, "choices", list)]
    return {**renamed, "choices": choices}


def _upgrade_choice(choice: Document) -> Document:
    family = _translate(choice, "shape", FAMILY_OF_SHAPE)
    return {**_rename(choice, "shape", "family"), "family": family}


def _upgrade_ensemble(model: Document) -> Document:
    return {**model, "counted": _upgrade_naive_bayes(_field(model, "counted", dict))}


def _field(entry: Document, name: str, kind: type[T]) -> T:
    """The value of that name, if it has that type."""
    value = entry.get(name)
    if type(value) is not kind:
        raise ModelFileError(f"{name!r} must be of type {kind.__name__}, got {short(value)}.")
    return value


def _check_keys(entry: Document, *names: str) -> None:
    """Refuse a record that has other keys."""
    for name in entry:
        if name not in names:
            raise ModelFileError(f"{short(name)} is not known here.")


def _record(entry: object, what: str) -> Document:
    if not isinstance(entry, dict):
        raise ModelFileError(f"a {what} must be a record.")
    return entry


def _rename(entry: Document, old: str, new: str) -> Document:
    """The record with a key under its new name; that name is not there yet."""
    if new in entry:
        raise ModelFileError(f"{new!r} is not known here.")
    return {new if key == old else key: value for key, value in entry.items()}


def _translate(entry: Document, key: str, words: Mapping[str, str]) -> str:
    """The word of today for the value of a key."""
    word = _field(entry, key, str)
    if word not in words:
        raise ModelFileError(f"the {key} {short(word)} is not known.")
    return words[word]


_STEPS: dict[int, Callable[[Content], Content]] = {1: _from_version_1, 2: _from_version_2}
_DESCRIPTIONS: dict[str, Callable[[Document], Document]] = {
    "NaiveBayes": _upgrade_naive_bayes,
    "BayesClassifier": _upgrade_ensemble,
}
