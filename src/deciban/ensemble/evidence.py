"""The evidence of the counts, column by column, and one weight for each.

``e_jc = log P(x_j | c)`` less its mean over the classes. Of rows that are
counted it is taken as if each had never been counted. The weights ``s_j`` and a
constant for each class minimise the log loss of ``b_c + sum_j s_j e_jc`` plus
``STIFFNESS / 2 |s - CENTRE|^2``: a half, because columns share what they know.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.margins import FloatArray, centred, losses, prior, probabilities
from deciban.families import family
from deciban.families.settings import Settings
from deciban.naive_bayes.model import Model
from deciban.sources.batch import Batch

#: What a weight is drawn to, and how strongly: as if this many rows said so.
CENTRE, STIFFNESS = 0.5, 3.0
#: The constants of the classes are all but free.
LOOSE = 0.01
#: One column alone is never believed further than this, in nats.
MOST = 15.0
#: A step that gains less than this for each row is the last.
NEGLIGIBLE = 1e-6
MOST_STEPS = 20
#: Derivatives are summed over about this many numbers at a time.
CHUNK = 1 << 20


def names(model: Model) -> list[str]:
    """The column of each part of the evidence; holes that say something are parts as well."""
    return [n for table in model.blocks.tables.values() for n in table.cells.columns.tolist()]


def of(model: Model, batch: Batch) -> FloatArray:
    """The evidence of any rows, (rows, parts, classes)."""
    found = [np.empty((batch.n_rows, 0, len(model.log_prior)))]
    for block, X in model.matrices(batch).items():
        kind, parts = model.params.blocks[block]
        found.append(family(kind).explain(parts, X))
    return bounded(np.concatenate(found, axis=1))


def left_out(model: Model, batch: Batch, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
    """The same of counted rows, each as if it had never been counted."""
    found = []
    for block, X in model.matrices(batch).items():
        table, how = model.blocks.tables[block], model.settings[block]
        columns = table.cells.columns.tolist()
        lam, bins = how.per_column(len(columns)), how.bins_of(len(columns)).astype(int)
        for j in range(len(columns)):
            alone = table.column(j)
            if not alone.cells.size:  # a column without any value says nothing
                found.append(np.zeros((batch.n_rows, len(model.log_prior))))
                continue
            its = Settings(how.method, lam[j : j + 1], bins=bins[j : j + 1])
            kind, sums = family(table.family), dict(alone.sums)
            params = kind.estimate(sums, alone.rows, alone.cells, its)
            x = np.ascontiguousarray(X[:, [j]])
            found.append(kind.left_out(params, sums, alone.cells, its, x, y, weight))
    return bounded(np.stack(found, axis=1))


def bounded(evidence: FloatArray) -> FloatArray:
    """Less its mean over the classes, and no further than ``MOST``; the impossible is that far."""
    finite = np.maximum(evidence, -1e3)
    return np.asarray(np.clip(centred(finite), -MOST, MOST))


def margins(weights: FloatArray, evidence: FloatArray) -> FloatArray:
    """The constants of the classes and the weighted evidence, (rows, classes)."""
    n_parts = evidence.shape[1]
    return np.asarray(np.tensordot(evidence, weights[:n_parts], (1, 0)) + weights[n_parts:])


def weigh(evidence: FloatArray, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
    """The weights of the parts, then the constants of the classes, by Newton's method."""
    n_parts, n_classes = evidence.shape[1:]
    centre = np.concatenate([np.full(n_parts, CENTRE), np.zeros(n_classes)])
    stiff = np.concatenate([np.full(n_parts, STIFFNESS), np.full(n_classes, LOOSE)])

    def value(at: FloatArray) -> tuple[float, FloatArray]:
        scores = margins(at, evidence)
        away = at - centre
        return float(weight @ losses(scores, y) + 0.5 * stiff @ away**2), scores

    at = np.concatenate([centre[:n_parts], prior(y, weight, n_classes)])
    now, scores = value(at)
    for _ in range(MOST_STEPS):
        slope, curve = _derivatives(evidence, probabilities(scores), y, weight)
        step = np.linalg.solve(curve + np.diag(stiff), slope + stiff * (at - centre))
        size, (then, new) = 1.0, value(at - step)
        while then > now and size > 1e-3:
            size /= 2
            then, new = value(at - size * step)
        if then > now:
            break
        at, scores, gain, now = at - size * step, new, now - then, then
        if gain < NEGLIGIBLE * weight.sum():
            break
    return at


def _derivatives(
    evidence: FloatArray, proba: FloatArray, y: NDArray[np.intp], weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """First and second derivatives of the summed loss by weights and constants."""
    n_parts, n_classes = evidence.shape[1:]
    width = n_parts + n_classes
    slope, curve = np.zeros(width), np.zeros((width, width))
    for part in _chunks(len(y), width * n_classes):
        p, w = proba[part], weight[part]
        ones = np.broadcast_to(np.eye(n_classes), (len(p), n_classes, n_classes))
        A = np.concatenate([evidence[part].transpose(0, 2, 1), ones], axis=2)
        miss = p * w[:, None]
        mean = np.einsum("nk,nkj->nj", p, A)
        half = (A * np.sqrt(miss)[:, :, None]).reshape(-1, width)
        curve += half.T @ half - (mean * w[:, None]).T @ mean
        miss[np.arange(len(p)), y[part]] -= w
        slope += np.tensordot(miss, A, ((0, 1), (0, 1)))
    return slope, curve


def _chunks(n_rows: int, width: int) -> Iterator[slice]:
    size = max(1, CHUNK // width)
    return (slice(start, start + size) for start in range(0, n_rows, size))
