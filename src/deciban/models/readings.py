"""How a text is read: what its words count for, and how far they are believed.

Words of a text are far from independent: a word that was said once is said
again, a long text repeats itself, and rare words make every class that is small
look likely. What helps differs from one collection to the next, so it is chosen
by leave-one-out: of a few ways to read a text, the one under which counted
texts, each judged as if it had never been seen, are likeliest. Whether words
count by amount or by presence, how far a class is contrasted with the others,
the smoothing, and how what a text says grows with its length.

The search is greedy, on a few rows: first what words count for, then the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families import words
from deciban.families.settings import Method, Settings, Weighting
from deciban.families.words import Bags
from deciban.stats.table import Table

FloatArray = NDArray[np.float64]

SMOOTHINGS = (0.03, 0.1, 0.3, 0.6, 1.0, 2.0)
CONTRASTS = (0.0, 2 / 3)
LENGTHS = (0.0, 0.5, 0.75, 1.0)
#: A text of ``TYPICAL`` words is multiplied by these, whatever the power of its length.
SCALES = np.exp(np.linspace(np.log(0.01), 0.0, 24))
TYPICAL = 100.0
#: A row that a class cannot have costs this many nats.
LARGE = 700.0
#: Rows times classes that are looked at, and words of all texts.
WORK, WORDS = 16_000, 1 << 19


@dataclass(frozen=True)
class Reading:
    """How one text column is read; ``rows`` is how many rows said so."""

    column: str
    weighting: Weighting
    contrast: float
    smoothing: float
    length: float
    scale: float
    rows: int = 0

    def settings(self, method: Method) -> Settings:
        """The same for the family of words."""
        return Settings(
            method,
            self.smoothing,
            weighting=self.weighting,
            contrast=self.contrast,
            length=self.length,
            scale=self.scale,
        )


#: What the user may ask for: weightings and contrasts that are tried.
READINGS: dict[str, tuple[tuple[Weighting, ...], tuple[float, ...]]] = {
    "auto": (("amount", "presence"), CONTRASTS),
    "multinomial": (("amount",), (0.0,)),
    "binary": (("presence",), (0.0,)),
    "bernoulli": (("absence",), (0.0,)),
    "complement": (("amount",), (1.0,)),
}


def plain(column: str, text: str, smoothing: float) -> Reading:
    """The pure model: nothing is corrected."""
    weightings, contrasts = READINGS[text]
    return Reading(column, weightings[0], contrasts[0], smoothing, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Trial:
    """Counted texts of one column on which readings are tried."""

    table: Table
    bags: Bags
    y: NDArray[np.intp]
    weight: FloatArray
    times: FloatArray
    prior: FloatArray
    method: Method

    @staticmethod
    def stride(tables: Iterable[Table], n_rows: int) -> int:
        """Every so many of the counted rows are enough."""
        every = 1
        for table in tables:
            size = table.sums["documents"].by_cell.sum() / max(table.rows.sum(), 1.0)
            every = max(every, n_rows * len(table.rows) // WORK, int(n_rows * size) // WORDS)
        return every

    def best(self, column: str, text: str, smoothings: Iterable[float]) -> Reading:
        """The reading of least leave-one-out loss."""
        weightings, contrasts = READINGS[text]
        if len(self.table.rows) < 3:  # of two classes, the rest is the other one
            contrasts = contrasts[:1]

        def work(way: tuple[Weighting, float]) -> list[tuple[float, Reading, Heard]]:
            tried = []
            for contrast, heard in self._heard(*way, contrasts):
                loss, scale = heard.least(0.5, SCALES[::3])
                reading = Reading(column, way[0], contrast, way[1], 0.5, scale, len(self.y))
                tried.append((loss, reading, heard))
            return tried

        ways = threads.run(work, product(weightings, smoothings))
        _, found, heard = min(chain.from_iterable(ways), key=lambda entry: entry[0])
        _, scale, length = min((*heard.least(length, SCALES), length) for length in LENGTHS)
        return replace(found, length=length, scale=scale)

    def _heard(
        self, weighting: Weighting, smoothing: float, contrasts: Iterable[float]
    ) -> Iterator[tuple[float, Heard]]:
        """What the texts say, each left out, under every contrast."""
        how = Settings(self.method, smoothing, weighting=weighting, contrast=max(contrasts))
        table = self.table
        params = words.estimate(dict(table.sums), table.rows, table.cells, how)
        gone = words.removal(params, self.bags, self.y, self.weight)
        for contrast, said in words.contrasted(params, gone, contrasts):
            with np.errstate(invalid="ignore"):
                best = said - said.max(axis=1, keepdims=True)
            yield contrast, Heard(best, gone.size, self.prior, self.y, self.times)


@dataclass(frozen=True, eq=False)
class Heard:
    """What texts of some lengths say, (rows, classes), beside the prior and the truth."""

    said: FloatArray
    size: FloatArray
    prior: FloatArray
    y: NDArray[np.intp]
    times: FloatArray

    def least(self, length: float, scales: FloatArray) -> tuple[float, float]:
        """The least loss under a power of the length, and the scale that has it."""
        unit = TYPICAL**length
        tried = [(self._loss(scale * unit, length), scale * unit) for scale in scales]
        loss, scale = min(reversed(tried), key=lambda entry: entry[0])
        return loss, float(scale)

    def _loss(self, scale: float, length: float) -> float:
        joint = self.prior + self.said * words.believed(self.size, scale, length)[:, None]
        with np.errstate(invalid="ignore"):
            joint -= joint.max(axis=1, keepdims=True)
            true = joint[np.arange(len(self.y)), self.y]
            loss = np.log(np.exp(joint).sum(axis=1)) - true
        return float(self.times @ np.nan_to_num(np.minimum(loss, LARGE), nan=LARGE))
