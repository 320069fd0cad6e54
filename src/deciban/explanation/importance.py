"""Which features carry how much: the expected weight of evidence, in decibans a row.

For a feature j, with ``W_c(v)`` the decibans that value v gives class c against
the others (what ``explain`` shows for it), it is

    ``sum_c P(c) sum_v P(v | c) W_c(v)``

by the model's own probabilities: what the feature says for the true class, on
average, if rows are as the counts say (Good, 1950). It is zero for a feature that
looks the same in every class and never less; for two classes it is their
Kullback-Leibler divergences, weighted by the prior. For bags of words v is the
expected amount in a row, and only the sum over all words is a divergence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.explanation.weights import decibans
from deciban.families.piece import Piece
from deciban.models.protocol import Model

if TYPE_CHECKING:
    from rich.console import RenderableType

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Weight:
    """A feature, and the decibans a row that it gives the true class; by class as well."""

    feature: str
    decibans: float
    by_class: tuple[float, ...] = ()


@dataclass(frozen=True)
class Importance(Sequence[Weight]):
    """The features of a model, the strongest first.

    >>> from deciban import NaiveBayes
    >>> X = {"size": ["S", "S", "L", "L"], "noise": [1, 2, 1, 2]}
    >>> found = NaiveBayes(smoothing=1, calibrate=False).fit(X, ["a", "a", "b", "b"]).importance()
    >>> found[0].feature, round(found["size"].decibans, 2), round(found["noise"].decibans, 2)
    ('size', 2.39, 0.0)
    """

    weights: tuple[Weight, ...]
    classes: tuple[Any, ...] = ()

    @classmethod
    def of(cls, weights: Iterable[Weight], classes: Sequence[Any] = ()) -> Importance:
        """The strongest first; equals by name."""
        ordered = sorted(weights, key=lambda w: (-w.decibans, w.feature))
        return cls(tuple(ordered), tuple(classes))

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[Weight]:
        return iter(self.weights)

    def __getitem__(self, at: Any) -> Any:
        """By position, or by the name of a feature."""
        if not isinstance(at, str):
            return self.weights[at]
        for weight in self.weights:
            if weight.feature == at:
                return weight
        names = ", ".join(w.feature for w in self.weights[:8])
        raise InputError(f"there is no feature {at!r}.", hint=f"some are {names}")

    def to_dict(self) -> dict[str, float]:
        """Decibans by feature."""
        return {weight.feature: weight.decibans for weight in self.weights}

    def chart(self, most: int = 30) -> Any:
        """An Altair chart: a bar for each of the strongest features."""
        from deciban.charts import importance

        return importance.chart(self, most)

    def __rich__(self) -> RenderableType:
        from deciban.explanation import terminal

        return terminal.importance(self)

    def __str__(self) -> str:
        from deciban.explanation import terminal

        return terminal.text(self.__rich__())

    def _repr_html_(self) -> str:
        from deciban.explanation import html

        return html.importance(self)


def expected_evidence(model: Model) -> dict[str, FloatArray]:
    """``P(c) E[W_c]`` by column of a model, (classes,): pieces and texts; others say nothing."""
    prior = np.exp(model.log_prior - np.logaddexp.reduce(model.log_prior))
    expected = weighed(model.pieces(), prior, model.schema.names)
    for name, contribution in model.expected_word_contributions().items():
        expected[name] = prior * np.diagonal(decibans(contribution))
    return expected


def weighed(
    pieces: Iterable[Piece], prior: FloatArray, names: Iterable[str] = ()
) -> dict[str, FloatArray]:
    """``P(c) sum_v P(v | c) W_c(v)`` by feature, (classes,); other names say nothing."""
    found = {name: np.zeros(len(prior)) for name in names}
    for piece in pieces:
        before = found.get(piece.feature, np.zeros(len(prior)))
        found[piece.feature] = before + prior * _expected(piece)
    return found


def _expected(piece: Piece) -> FloatArray:
    with np.errstate(invalid="ignore"):
        each = piece.share * decibans(piece.log_likelihood)
    return np.asarray(np.where(piece.share > 0, each, 0.0).sum(axis=0))
