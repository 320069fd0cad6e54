"""Missing labels: expectation and maximisation, on the table of counts.

A row without a label is counted once under every class, with the posterior of
that class as its weight; from the new table follow new posteriors, and so on
(Dempster, Laird and Rubin, 1977; for texts Nigam, McCallum, Thrun and Mitchell,
2000). LabelledScan are encoded once; a round is then one pass of scoring and one of counting.

What never falls from one round to the next is

.. code-block:: text

    J  =  u * sum over unlabelled rows  w log sum_c P(c) P(x | c)
            + sum over labelled rows    w log P(c, x)
            + log prior(parameters)

with the weight ``u`` of unlabelled rows. The prior is the one whose mode is the
estimate: for shares ``(N + a) / (n + S a)`` it is Dirichlet(a + 1), so that it adds
``a * sum log p``; for bell curves it is the normal-inverse-gamma prior of
:mod:`deciban.families.gaussian`, estimated by its mode. Without smoothing, J is
the likelihood itself. Families, bins, smoothing and what the words of a text count for
stay as the labelled rows have selected them. A text of n words is discounted as
its model says, by ``s(n) <= 1``: in J as in the counts it is worth ``s(n)`` times
its words, labelled ones on average as much as one of average length.

The labelled rows are not needed again: their part of J is arithmetic on their counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families.protocol import Parameters
from deciban.families.soft import SoftBlock, dot
from deciban.models import prior, scores
from deciban.models.prior import StatedPrior
from deciban.stats.statistic import Matrix
from deciban.stats.table import Sum, Table

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Some unlabelled rows: what each block counts of them, and their weights."""

    matrices: Mapping[str, Matrix]
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """All that stays the same from round to round."""

    class_weight: FloatArray
    blocks: Mapping[str, SoftBlock]
    batches: Sequence[EncodedRows]
    prior_pseudo_count: float
    stated_prior: StatedPrior


@dataclass(frozen=True, eq=False)
class Run:
    """The posteriors of the unlabelled rows, batch by batch, and J after every round."""

    posteriors: list[FloatArray]
    likelihood: list[float]
    converged: bool


@dataclass(frozen=True, eq=False)
class _Estimate:
    """The parameters of one round."""

    log_prior: FloatArray
    parameters: Mapping[str, Parameters]


def run(problem: Problem, start: Sequence[FloatArray], max_rounds: int, tol: float) -> Run:
    """Rounds from some posteriors, until J grows by less than ``tol`` a row."""
    posteriors, values = list(start), list[float]()
    weight = problem.class_weight.sum() + sum(b.weight.sum() for b in problem.batches)
    for _ in range(max_rounds):
        better, value = _expect(problem, _maximise(problem, posteriors))
        if values and not value > values[-1]:  # no more than rounding is left
            return Run(posteriors, values, True)
        posteriors = better
        values.append(value)
        if len(values) > 1 and values[-1] - values[-2] <= tol * weight:
            return Run(posteriors, values, True)
    return Run(posteriors, values, False)


def _maximise(problem: Problem, posteriors: Sequence[FloatArray]) -> _Estimate:
    """The parameters of the labelled rows and the soft counts of the others."""

    def work(number: int) -> tuple[FloatArray, dict[str, dict[str, Sum]]]:
        batch = problem.batches[number]
        weight = posteriors[number] * batch.weight[:, None]
        return weight.sum(axis=0), {
            name: block.count(batch.matrices[name], weight)
            for name, block in problem.blocks.items()
        }

    rows = problem.class_weight
    sums = {name: dict(block.table.sums) for name, block in problem.blocks.items()}
    for more, parts in threads.run(work, range(len(problem.batches))):
        rows = rows + more
        sums = {n: {k: v + parts[n][k] for k, v in some.items()} for n, some in sums.items()}
    parameters = {}
    for name, block in problem.blocks.items():
        table = Table(block.table.statistic, block.table.cells, rows, sums[name])
        parameters[name] = block.family.estimate(table, block.settings)
    lam, stated = problem.prior_pseudo_count, problem.stated_prior
    return _Estimate(prior.class_prior(rows, lam, stated=stated), parameters)


def _expect(problem: Problem, estimate: _Estimate) -> tuple[list[FloatArray], float]:
    """The posteriors of the unlabelled rows, and J."""

    def work(batch: EncodedRows) -> tuple[FloatArray, float]:
        joint = np.tile(estimate.log_prior, (len(batch.weight), 1))
        for name, parameters in estimate.parameters.items():
            parameters.add(batch.matrices[name], joint)
        likelihood = np.logaddexp.reduce(joint, axis=1)
        scores.normalise(joint, estimate.log_prior)
        return joint, float(batch.weight @ likelihood)

    done = list(threads.run(work, problem.batches))
    extra = problem.prior_pseudo_count if problem.stated_prior is None else 0.0
    value = dot(problem.class_weight + extra, estimate.log_prior)
    for name, block in problem.blocks.items():
        value += block.objective(estimate.parameters[name])
    return [posterior for posterior, _ in done], value + sum(part for _, part in done)
