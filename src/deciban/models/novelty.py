"""Novelty: how likely a row like those that were learned is as unlikely as this one.

A model of counts knows how likely a row is at all. The *typicality* of a row is its log
likelihood, by the n values and words that it has, and beside what is expected of its class::

    t(x) = log P(x) / n - sum_c P(c | x) * m_c / 2

with ``m_c`` the log likelihood of a value or word in the left-out rows of class c: long texts are
not new, nor are rows of a class whose values are spread out. Half of ``m_c`` told classes that
were held out better than all or none of it, on the sets of bench/novelty.py. ``P(c | x)`` follows
from the likelihoods, without a discount. The *novelty* of a row is the share of
left-out training rows whose typicality is as low or lower, a p-value
(:mod:`deciban.models.conformal`): small is new. A row like those that were learned
is below 0.001 once in a thousand times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import checks, labels
from deciban.errors import InputError, ParameterError
from deciban.labels import Labels
from deciban.models.conformal import RankedScores
from deciban.models.protocol import HasLikelihoods, Model
from deciban.sources.batch import Batch

FloatArray = NDArray[np.float64]

#: A value or word is not taken to be less likely than this, in nats.
MIN_LOG_LIKELIHOOD = -700.0
#: How much of what is expected of a class is taken off.
EXPECTED_SHARE = 0.5
#: No more left-out rows than this are scored.
MAX_NOVELTY_ROWS = 1_000


class RowLikelihoods(NamedTuple):
    """Rows as a generative model has them.

    ``log_likelihood`` is ``log P(x | c)``, (rows, classes), and ``size`` how many values and words
    each row has, (rows,).
    """

    log_likelihood: FloatArray
    size: FloatArray


def sum_likelihoods(parts: Sequence[RowLikelihoods]) -> RowLikelihoods:
    """Those of rows from their likelihoods by some columns each: what is independent adds up."""
    return RowLikelihoods(
        np.sum([part.log_likelihood for part in parts], axis=0),
        np.sum([part.size for part in parts], axis=0),
    )


@dataclass(frozen=True, eq=False)
class TypicalityScores:
    """The typicality of left-out rows, and what it is standardised by.

    ``log_likelihood`` and ``size`` are sums over the left-out rows of each class: under
    the class itself, and of values and words.

    >>> classes, y = np.array(["a", "b"]), np.array([0, 0, 1])
    >>> rows = RowLikelihoods(np.log([[0.9, 0.2], [0.5, 0.3], [0.1, 0.6]]), np.ones(3))
    >>> scores = TypicalityScores.of(classes, rows, y, np.ones(3))
    >>> scores.novelty(RowLikelihoods(np.log([[0.8, 0.1], [0.01, 0.01]]), np.ones(2)))
    array([0.75, 0.25])
    """

    classes: Labels
    log_likelihood: FloatArray
    size: FloatArray
    ranked: RankedScores

    @classmethod
    def of(
        cls,
        classes: Labels,
        rows: RowLikelihoods,
        y: NDArray[np.intp],
        weight: FloatArray,
        stride: FloatArray | float = 1.0,
    ) -> TypicalityScores:
        """Of rows that were left out, from their likelihoods."""
        n_classes, own = len(classes), _floor(rows)[np.arange(len(y)), y]
        likelihood, size = (_sum(y, stride * weight * each, n_classes) for each in (own, rows.size))
        standard = cls(classes, likelihood, size, RankedScores.empty())
        ranked = RankedScores.of(standard.typicality(rows), weight, stride)
        return replace(standard, ranked=ranked)

    @property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        return self.log_likelihood, self.size

    @cached_property
    def _log_prior(self) -> FloatArray:
        """The log share of each class in values and words, with one more of each."""
        return np.asarray(np.log((self.size + 1.0) / (self.size.sum() + len(self.size))))

    @cached_property
    def _expected(self) -> FloatArray:
        """The log likelihood of a value or word, (classes,); that of all where there are none."""
        total = max(float(self.size.sum()), np.finfo(float).tiny)
        out = np.full(len(self.size), self.log_likelihood.sum() / total)
        np.divide(self.log_likelihood, self.size, out=out, where=self.size > 0)
        return out

    def typicality(self, rows: RowLikelihoods) -> FloatArray:
        """How likely the values of rows are beside what is expected; low is unlikely, (rows,)."""
        joint = np.ascontiguousarray(_floor(rows).T)  # classes are few: sums over them are of lines
        joint += self._log_prior[:, None]
        top = joint.max(axis=0)
        share = np.exp(np.subtract(joint, top, out=joint), out=joint)
        total = share.sum(axis=0)
        expected = self._expected @ share / total
        log_row = top + np.log(total)
        return np.asarray(log_row / np.maximum(rows.size, 1.0) - EXPECTED_SHARE * expected)

    def novelty(self, rows: RowLikelihoods) -> FloatArray:
        """The share of left-out rows that are as unlikely as each row or more so."""
        return self.ranked.p_values(self.typicality(rows))

    def for_classes(self, classes: Labels) -> TypicalityScores:
        """The scores in the order of other classes."""
        if labels.same(self.classes, classes):
            return self
        at = labels.positions(classes, self.classes)
        likelihood, size = (np.where(at >= 0, each[at], 0.0) for each in self._sums)
        return TypicalityScores(classes, likelihood, size, self.ranked)

    def __add__(self, other: TypicalityScores) -> TypicalityScores:
        classes = labels.union(self.classes, other.classes)
        a, b = self.for_classes(classes), other.for_classes(classes)
        likelihood, size = a.log_likelihood + b.log_likelihood, a.size + b.size
        return TypicalityScores(classes, likelihood, size, a.ranked + b.ranked)

    def __mul__(self, factor: float) -> TypicalityScores:
        likelihood, size = (factor * each for each in self._sums)
        return TypicalityScores(self.classes, likelihood, size, self.ranked * factor)


def novelty(model: Model, batch: Batch) -> FloatArray:
    """The share of training rows, each left out, as unlikely as each row or more so, (rows,)."""
    knowing, typicality = require_typicality(model)
    return typicality.novelty(knowing.row_likelihoods(batch))


def require_typicality(model: Model) -> tuple[HasLikelihoods, TypicalityScores]:
    """The model as one that knows how likely rows are, and the typicality of left-out ones."""
    if not isinstance(model, HasLikelihoods):
        raise no_likelihoods(model)
    typicality = None if model.left_out is None else model.left_out.typicality
    if typicality is None:
        raise InputError(
            f"this {model.kind} does not know how likely the rows are that it learned.",
            hint="fit it again, with calibrate=True",
        )
    return model, typicality


def no_likelihoods(model: Model) -> InputError:
    """The error about a model that cannot say how likely a row is."""
    return InputError(
        f"a {model.kind} keeps no counts by which a row is likely or not.",
        hint="NaiveBayes, AODE and BayesClassifier do",
    )


def abstain(answers: Labels, novelty: FloatArray, novel: float) -> Labels:
    """The answers, and None where the novelty is not above a level.

    >>> abstain(np.array(["a", "b"]), np.array([0.5, 0.001]), novel=0.01)
    array(['a', None], dtype=object)
    """
    out = answers.astype(object)
    out[novelty <= check_level(novel)] = None
    return out


def check_level(novel: float) -> float:
    """The novelty from which on downwards rows get no answer, checked."""
    if checks.is_number(novel) and 0 <= novel <= 1:
        return float(novel)
    raise ParameterError(
        f"novel must be a number from 0 to 1, got {novel!r}.",
        hint="0.001: one row in a thousand of those that are not new gets no answer",
    )


def _floor(rows: RowLikelihoods) -> FloatArray:
    """Log likelihoods, none of which makes a row impossible."""
    least = MIN_LOG_LIKELIHOOD * np.maximum(rows.size, 1.0)[:, None]
    return np.maximum(rows.log_likelihood, least)


def _sum(y: NDArray[np.intp], values: FloatArray, n_classes: int) -> FloatArray:
    """The sum of the values of the rows of each class."""
    return np.bincount(y, values, n_classes).astype(np.float64)
