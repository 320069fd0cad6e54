"""The AODE model of a mixed table: the tally, what it chooses, and what follows from both.

It answers to the same names as the model of :mod:`deciban.naive_bayes`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.aode import scoring
from deciban.aode.counting import columns_of
from deciban.aode.tally import VALUES, Tally
from deciban.aode.trust import STRENGTH, STRENGTHS, Trust
from deciban.encoding import matrices
from deciban.families import histogram
from deciban.models import params
from deciban.models.calibration import Calibration
from deciban.models.selection import Smoothed, Wishes, smoothed
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch
from deciban.stats.counts import Counts

FloatArray = NDArray[np.float64]

#: Rows that are left out at once: enough pieces for all cores.
PIECE = 128
#: The smoothing of the class prior.
PRIOR = 1.0


@dataclass(frozen=True, eq=False)
class Model:
    """All that training leaves behind; everything else is derived when it is asked for.

    ``smoothing`` is ``m``, how many rows the shares of a column are worth
    beside those of a parent, and smooths the shares as well; without it, both
    are chosen by the counts and by ``trust``. ``calibrate`` is whether the
    evidence is discounted.
    """

    schema: Schema
    tally: Tally
    smoothing: float | None = None
    missing: str = "auto"
    least: float = 0.0
    prior: FloatArray | None = None
    calibrate: bool = True
    trust: Trust | None = None

    @property
    def counts(self) -> Counts:
        """The classes, and how often each value occurs in them."""
        return self.tally.counts

    @cached_property
    def m(self) -> float:
        """How many rows the shares of a column are worth beside those of a parent."""
        if self.smoothing is not None:
            return self.smoothing
        return STRENGTH if self.trust is None else self.trust.m(discounted=self.calibrate)

    @cached_property
    def discount(self) -> float:
        """How far the evidence is believed."""
        if self.trust is None or not self.calibrate:
            return 1.0
        return self.trust.calibration(self.m).discount

    @cached_property
    def log_prior(self) -> FloatArray:
        """``log P(c)``."""
        return params.class_prior(self.counts, PRIOR, fixed=self.prior)

    @cached_property
    def choices(self) -> dict[str, Smoothed]:
        """How each counted column is smoothed, and whether its holes say something."""
        counts = Counts(
            self.counts.classes, self.counts.weight, {"categories": self.counts.tables[VALUES]}
        )
        stated = "auto" if self.smoothing is None else self.smoothing
        found = smoothed(counts, Wishes(missing=self.missing, smoothing=stated))
        if self.smoothing is None:
            return found
        return {
            name: Smoothed(self.smoothing / max(1, size + choice.missing), choice.missing)
            for (name, choice), size in zip(found.items(), self.tally.layout.sizes, strict=True)
        }

    @cached_property
    def params(self) -> scoring.Params:
        """What rows are scored with."""
        chosen = list(self.choices.values())
        lam = np.array([choice.smoothing for choice in chosen])
        holes = [choice.missing for choice in chosen]
        return scoring.estimate(self.tally, lam, self.m, holes, self.least)

    # ------------------------------------------------------------------ rows

    @cached_property
    def _lookups(self) -> list[matrices.Lookup]:
        values = self.tally.cells.values or ()
        return [matrices.Lookup(v) for v in values[len(self.schema.numbers) :]]

    def cells(self, batch: Batch) -> NDArray[np.int64]:
        """The cells of some rows: -1 is skipped, V + j is a value never seen in column j."""
        edges = tuple(self.tally.edges[name] for name in self.schema.numbers)
        binned = histogram.codes_of(edges, matrices.numbers(self.schema, batch))
        columns = matrices.category_columns(self.schema, batch)
        codes = np.hstack([binned, matrices.category_codes(self._lookups, columns, batch.n_rows)])
        layout = self.tally.layout
        new = codes >= np.array(layout.sizes, dtype=np.int64)
        holes = np.array([c.missing for c in self.choices.values()], dtype=bool)
        out = np.where(new, layout.n_cells + np.arange(layout.n_columns), codes + 1)
        out = np.where(new, out, out + layout.first[:-1])
        return np.ascontiguousarray(np.where((codes < 0) & ~holes, -1, out), dtype=np.int64)

    # ------------------------------------------------------------------ scoring

    def fill_joint(self, batch: Batch, out: FloatArray) -> None:
        """Write ``log P(c) + beta * log P(x | c)`` of every row and class."""
        said = scoring.log_likelihood(self.params, self.cells(batch))
        out[:] = self.believed(self.log_prior, said)

    def believed(self, prior: FloatArray, said: FloatArray) -> FloatArray:
        """``prior + beta * said``."""
        return np.asarray(prior + self.discount * said)

    def explain(self, batch: Batch) -> FloatArray:
        """``beta`` times each column's part of ``log P(x | c)``, (rows, columns, classes)."""
        said = scoring.explain(self.params, self.cells(batch))
        out = np.zeros((batch.n_rows, len(self.schema.names), said.shape[2]))
        at = {name: j for j, name in enumerate(columns_of(self.schema))}
        for j, column in enumerate(self.schema.columns):
            for name in (*column.numbers, *column.categories):
                out[:, j] += said[:, at[name]]
        return out * self.discount

    def left_out(
        self, batch: Batch, y: NDArray[np.intp], weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log prior and log-likelihood, (rows, classes), of counted rows as if each never was."""
        said = scoring.left_out(self.params, self.cells(batch), y, weight)
        return self._prior_left_out(y, weight), said[0]

    def _prior_left_out(self, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        return params.prior_left_out(self.counts, y, weight, PRIOR, fixed=self.prior)

    # ------------------------------------------------------------------ trust

    def tried(self, part: LabelledBatch) -> Trust:
        """The leave-one-out loss of counted rows: of a row of weight k, one of k is left out."""
        y, weight = part.codes_among(self.counts.classes), part.weights
        one, cells = np.minimum(weight, 1.0), self.cells(part.batch)
        prior = self._prior_left_out(y, one)
        strengths = STRENGTHS if self.smoothing is None else (self.smoothing,)
        of = self.params

        def work(rows: slice) -> Trust:
            said = scoring.left_out(of, cells[rows], y[rows], one[rows], strengths)
            found = [Calibration.of(prior[rows], each, y[rows], weight[rows]) for each in said]
            return Trust.of(strengths, found)

        pieces = threads.chunks(len(y), PIECE) or [slice(0, 0)]
        return reduce(operator.add, threads.run(work, pieces))
