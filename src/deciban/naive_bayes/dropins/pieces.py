"""What the drop-in classifiers add up: a piece for every column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.explanation import rows
from deciban.families import family, gaussian
from deciban.families.piece import (
    Piece,
    bells_drawn,
    density_shares,
    share_drawn,
    shares_drawn,
)
from deciban.naive_bayes.dropins.model import BLOCK

FloatArray = NDArray[np.float64]

#: The points of a bell curve, and how many standard deviations it reaches.
POINTS, REACH = 81, 3.0


def pieces(model: Any) -> list[Piece]:
    """The pieces of a fitted classifier, in the order of its columns."""
    kind, params = model._params.blocks[BLOCK]
    make = {"gaussian": _bells, "categorical": _categories, "bernoulli": _presences}
    return list(make.get(kind, _amounts)(model, params, rows.features(model)))


def _bells(model: Any, params: gaussian.Params, names: list[str]) -> Iterator[Piece]:
    n, mean, spread = gaussian.moments(dict(model.counts_.tables[BLOCK].sums))
    deviation = np.sqrt(spread / np.where(n > 0, n, 1.0) + model.epsilon_)
    low, high = (mean - REACH * deviation).min(axis=0), (mean + REACH * deviation).max(axis=0)
    for j, name in enumerate(names):
        x = np.linspace(low[j], high[j], POINTS) if high[j] > low[j] else low[j : j + 1]
        wide = np.full((len(x), len(names)), np.nan)
        wide[:, j] = x
        said = family("gaussian").explain(params, wide)[:, j]
        draws = bells_drawn(x, n[:, j], mean[:, j], spread[:, j], 1.0)
        share = density_shares(said, x)
        yield Piece(name, name, "number", tuple(x.tolist()), said, share, None, draws)


def _categories(model: Any, params: Any, names: list[str]) -> Iterator[Piece]:
    alpha = np.broadcast_to(model._check_alpha(), len(names))
    for j, name in enumerate(names):
        log = params.log_prob[params.offsets[j] : params.offsets[j + 1] - 1]
        counts = model.category_count_[j].T
        values = tuple(model.categories_[j].tolist())
        draws = shares_drawn(counts, float(alpha[j]), 1.0)
        yield Piece(name, name, "category", values, log, np.exp(log), counts, draws)


def _presences(model: Any, params: Any, names: list[str]) -> Iterator[Piece]:
    alpha = np.broadcast_to(model._check_alpha(), len(names))
    present = model.threshold_values()
    for j, name in enumerate(names):
        log = np.stack([params.absent[j], params.present[j]])
        some = model.feature_count_[:, j]
        counts = np.stack([model.class_count_ - some, some])
        draws = shares_drawn(counts, float(alpha[j]), 1.0)
        yield Piece(
            name, name, "category", present, log, np.exp(log), counts, draws,
            names=("absent", "present"),
        )  # fmt: skip


def _amounts(model: Any, params: Any, names: list[str]) -> Iterator[Piece]:
    """A line through nothing and one unit; what is expected is the amount in a row."""
    weight = np.where(model.class_count_ > 0, model.class_count_, 1.0)
    alpha = model.feature_count_ + model._check_alpha()
    rest = alpha.sum(axis=1, keepdims=True) - alpha
    for j, name in enumerate(names):
        said = np.stack([np.zeros_like(weight), params.present[j]])
        share = np.stack([np.zeros_like(weight), model.feature_count_[:, j] / weight])
        draws = _unit_drawn(alpha[:, j], rest[:, j]) if model._family == "multinomial" else None
        yield Piece(name, name, "amount", (0.0, 1.0), said, share, None, draws)


def _unit_drawn(alpha: FloatArray, rest: FloatArray) -> Any:
    draw = share_drawn(alpha, rest)

    def both(rng: np.random.Generator, n: int) -> FloatArray:
        one = draw(rng, n)
        return np.stack([np.zeros_like(one), one], axis=1)

    return both
