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

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from deciban.charts import Chart
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
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(X, ["a", "a", "b", "b"])
    >>> features = m.importance()
    >>> features[0].feature, [round(features[name].decibans, 2) for name in X]
    ('size', [2.39, 0.0])
    """

    weights: tuple[Weight, ...]
    classes: tuple[Hashable, ...] = ()

    @classmethod
    def from_evidence(
        cls, evidence: Mapping[str, FloatArray], classes: Sequence[Hashable] = ()
    ) -> Importance:
        """From the expected evidence of each feature, (classes,)."""
        weights = [Weight(n, float(db.sum()), tuple(db.tolist())) for n, db in evidence.items()]
        return cls.of(weights, classes)

    @classmethod
    def of(cls, weights: Iterable[Weight], classes: Sequence[Hashable] = ()) -> Importance:
        """The strongest first; equals by name."""
        ordered = sorted(weights, key=lambda w: (-w.decibans, w.feature))
        return cls(tuple(ordered), tuple(classes))

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[Weight]:
        return iter(self.weights)

    @overload
    def __getitem__(self, at: int | str) -> Weight: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Weight, ...]: ...
    def __getitem__(self, at: int | str | slice) -> Weight | tuple[Weight, ...]:
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

    def chart(self, most: int = 30) -> Chart:
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
    expected = sum_pieces(model.pieces(), prior, model.schema.names)
    for name, contribution in model.expected_word_contributions().items():
        expected[name] = prior * np.diagonal(decibans(contribution))
    return expected


def sum_pieces(
    pieces: Iterable[Piece], prior: FloatArray, names: Iterable[str] = ()
) -> dict[str, FloatArray]:
    """``P(c) sum_v P(v | c) W_c(v)`` in decibans by feature, (classes,); 0 for other names."""
    by_feature = {name: np.zeros(len(prior)) for name in names}
    for piece in pieces:
        before = by_feature.get(piece.feature, np.zeros(len(prior)))
        by_feature[piece.feature] = before + prior * _expected(piece)
    return by_feature


def _expected(piece: Piece) -> FloatArray:
    """``sum_v P(v | c) W_c(v)``, (classes,)."""
    with np.errstate(invalid="ignore"):
        each = piece.share * decibans(piece.log_likelihood)
    return np.asarray(np.where(piece.share > 0, each, 0.0).sum(axis=0))
