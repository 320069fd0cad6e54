"""What a model says as a whole: importance, curves, nomogram and words, as JSON has them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict
from typing import Any

import numpy as np

from deciban.explanation import Explainable
from deciban.plain import PlainDict, plain

__all__ = ["curve", "importance", "nomogram", "plain_values", "strongest"]


def importance(classifier: Explainable[Any]) -> PlainDict:
    """The features, the strongest first, in decibans a row, also by class."""
    features = classifier.importance()
    return {
        "classes": plain(list(features.classes)),
        "features": [plain_values(asdict(feature)) for feature in features],
        "curves": [piece.name for piece in _curves(classifier)],
    }


def _curves(classifier: Explainable[Any]) -> Any:
    """The pieces that have curves."""
    model = classifier.model_
    if model.additive:
        return model.pieces()
    measured = model.measured_evidence
    return () if measured is None else measured.among(model.classes).curves


def curve(classifier: Explainable[Any], column: str, against: Hashable) -> PlainDict:
    """What each value of a column says, with its band and the rows behind it."""
    drawn = classifier.curve(column, against)
    return plain_values(dict(vars(drawn)))


def nomogram(classifier: Explainable[Any], of: Hashable, against: Hashable) -> PlainDict:
    """The scales of all features, and how points become a probability."""
    sheet = classifier.nomogram(of, against)
    return plain_values(
        {
            "of": sheet.of,
            "against": sheet.against,
            "start": sheet.start,
            "unit": sheet.unit,
            "scales": [dict(vars(scale)) for scale in sheet.scales],
        }
    )


def strongest(
    classifier: Explainable[Any], of: Hashable, against: Hashable, n: int, column: str | None
) -> PlainDict:
    """The strongest words of texts for a class."""
    words = classifier.words(of, n, column=column, against=against)
    return plain_values(
        {
            "of": words.of,
            "against": words.against,
            "known": words.n_known,
            "words": [asdict(word) for word in words],
        }
    )


def plain_values(values: PlainDict) -> PlainDict:
    """What JSON knows; arrays are lists.

    >>> plain_values({"x": np.array([1.5, np.inf])})
    {'x': [1.5, None]}
    """
    return {name: plain(_lists(value)) for name, value in values.items()}


def _lists(value: Any) -> Any:
    """Arrays and their numbers as Python has them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _lists(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_lists(item) for item in value]
    return value
