"""Missing labels: expectation and maximisation, on the same table of counts.

A row without a label is counted once under every class, with the posterior of
that class as its weight; from the new table follow new posteriors, and so on
(Dempster, Laird and Rubin, 1977; for texts Nigam, McCallum, Thrun and Mitchell,
2000). Rows are encoded once; a round is then one pass of scoring and one of counting.

What never falls from one round to the next is

.. code-block:: text

    J  =  u * sum over unlabelled rows  w log sum_c P(c) P(x | c)
            + sum over labelled rows    w log P(c, x)
            + log prior(parameters)

with the weight ``u`` of unlabelled rows. The prior is the one whose mode is the
estimate: for shares ``(N + a) / (n + S a)`` it is Dirichlet(a + 1), so that it adds
``a * sum log p``; for bell curves it is the normal-inverse-gamma prior of
:mod:`deciban.families.gaussian`, estimated by its mode. Without smoothing, J is
the likelihood itself. Shapes, bins, smoothing and what the words of a text count for
stay as the labelled rows have chosen them. A text of n words is believed as
far as its reading says, ``s(n) <= 1``: in J as in the counts it is worth ``s(n)`` times
its words, labelled ones on average as much as one of average length.

The labelled rows are not needed again: their part of J is arithmetic on their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families import family, gaussian, words
from deciban.families.settings import Settings
from deciban.families.words import Bags
from deciban.labels import Labels
from deciban.models import params, scores
from deciban.models.params import Params
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts, Table

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """Columns of one family: the sums of labelled rows, and how all are estimated.

    Numbers in bins are categories here, and words that count are a multinomial bag.
    """

    kind: str
    cells: Cells
    sums: dict[str, Any]
    settings: Settings
    rows: FloatArray
    whole: gaussian.Prior | None = None


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some unlabelled rows: what each block counts of them, and their weights."""

    matrices: dict[str, Any]
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """All that stays the same from round to round."""

    classes: Labels
    rows: FloatArray
    blocks: dict[str, Block]
    chunks: list[Chunk]
    extra: float
    prior: Any


@dataclass(frozen=True, eq=False)
class Run:
    """The posteriors of the unlabelled rows, chunk by chunk, and J after every round."""

    posteriors: list[FloatArray]
    likelihood: list[float]
    converged: bool


def run(problem: Problem, start: Sequence[FloatArray], most: int, tolerance: float) -> Run:
    """Rounds from some posteriors, until J grows by less than ``tolerance`` a row."""
    posteriors, found = list(start), list[float]()
    enough = tolerance * (problem.rows.sum() + sum(c.weight.sum() for c in problem.chunks))
    for _ in range(most):
        fitted = _maximised(problem, posteriors)
        better, value = _expected(problem, fitted)
        if found and not value > found[-1]:  # no more than rounding is left
            return Run(posteriors, found, True)
        posteriors = better
        found.append(value)
        if len(found) > 1 and found[-1] - found[-2] <= enough:
            return Run(posteriors, found, True)
    return Run(posteriors, found, False)


# ---------------------------------------------------------------------- the two steps


def _maximised(problem: Problem, posteriors: Sequence[FloatArray]) -> Params:
    """The parameters of the labelled rows and the soft counts of the others."""

    def work(chunk: int) -> tuple[FloatArray, dict[str, dict[str, Any]]]:
        weight = posteriors[chunk] * problem.chunks[chunk].weight[:, None]
        return weight.sum(axis=0), {
            name: soft(block.kind, problem.chunks[chunk].matrices[name], weight, block.cells)
            for name, block in problem.blocks.items()
        }

    rows = problem.rows
    sums = {name: block.sums for name, block in problem.blocks.items()}
    for more, parts in threads.run(work, range(len(problem.chunks))):
        rows = rows + more
        sums = {n: {k: v + parts[n][k] for k, v in some.items()} for n, some in sums.items()}
    tables = {n: Table(b.kind, b.cells, rows, sums[n]) for n, b in problem.blocks.items()}
    counts = Counts(problem.classes, rows, tables)
    how = {name: block.settings for name, block in problem.blocks.items()}
    prior = params.class_prior(counts, problem.extra, fixed=problem.prior)
    return params.estimate(counts, how, prior)


def _expected(problem: Problem, fitted: Params) -> tuple[list[FloatArray], float]:
    """The posteriors of the unlabelled rows, and J."""

    def work(chunk: Chunk) -> tuple[FloatArray, float]:
        joint = np.empty((len(chunk.weight), len(problem.classes)))
        scores.fill_log_joint(fitted, chunk.matrices, joint)
        likelihood = np.logaddexp.reduce(joint, axis=1)
        scores.normalise(joint, fitted.log_prior)
        return joint, float(chunk.weight @ likelihood)

    done = list(threads.run(work, problem.chunks))
    value = _dot(problem.rows + (problem.extra if problem.prior is None else 0), fitted.log_prior)
    for name, block in problem.blocks.items():
        value += _fixed_part(block, fitted.blocks[name][1])
    return [posterior for posterior, _ in done], value + sum(part for _, part in done)


def soft(kind: str, X: Any, weight: FloatArray, cells: Cells) -> dict[str, Any]:
    """The sums of rows that belong to every class, (rows, classes), by so much."""
    n_rows, n_classes = weight.shape
    if isinstance(X, Bags):
        names = {"amount": "amount"} if kind == "multinomial" else words.SUMS
        return {name: _product(X.read(how), weight) for name, how in names.items()}
    each = np.tile(np.arange(n_classes), n_rows)
    many = np.repeat(X, n_classes, axis=0)
    found: dict[str, Any] = family(kind).count(many, each, n_classes, weight.ravel(), cells)
    return found


def _product(bags: Bags, weight: FloatArray) -> FloatArray:
    """The weighted sum of the rows for every class, (classes, words)."""
    from scipy.sparse import csr_array

    rows = csr_array((bags.data, bags.indices, bags.indptr), shape=bags.shape)
    return np.ascontiguousarray((rows.T @ weight).T)


# ---------------------------------------------------------------------- the objective


def _fixed_part(block: Block, fitted: Any) -> float:
    """What the labelled rows and the prior of a block's parameters add to J."""
    if block.kind == "gaussian":
        return _bells(block, fitted)
    extra = block.settings.per_column(len(block.cells.columns))
    if block.kind == "categorical":
        column = np.repeat(np.arange(len(extra)), np.diff(block.cells.offsets))
        log = fitted.log_prob[np.arange(len(column)) + column]
        return _dot(block.sums["count"] + extra[column], log.T)
    if block.kind == "multinomial":
        return _dot(block.sums["amount"] + extra, fitted.present.T)
    there = block.sums["documents"] + extra
    absent = block.rows[:, None] - block.sums["documents"] + extra
    return _dot(there, fitted.words.present.T) + _dot(absent, fitted.words.absent.T)


def _bells(block: Block, fitted: gaussian.Params) -> float:
    """The same for bell curves, whose prior looks like the whole column."""
    n, mean, spread = gaussian.moments(block.sums)
    lam = block.settings.per_column(block.cells.size)
    centre, precision = fitted.mean.T, fitted.precision.T
    off = spread + n * (mean - centre) ** 2
    if block.whole is not None:
        off += lam * (block.whole.var + (centre - block.whole.mean) ** 2)
    value = (n + lam + 3) / 2 * np.log(precision) - off * precision / 2
    return float(value.sum() - n.sum() / 2 * np.log(2 * np.pi))


def _dot(amount: FloatArray, log: FloatArray) -> float:
    """The sum of products, where nothing times minus infinity is nothing."""
    if not np.isneginf(log).any():
        return float(np.vdot(amount, log))
    return float(np.vdot(amount, np.where(amount > 0, log, 0.0)))
