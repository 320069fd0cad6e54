"""How texts are modelled: what their words count for, and how far they are discounted.

Words of a text are far from independent: a word that was said once is said
again, a long text repeats itself, and rare words make every class that is small
look likely. What helps differs from one collection to the next, so it is selected
by leave-one-out: of a few models of a text, the one under which counted
texts, each judged as if it had never been seen, are likeliest. Whether words
count by amount or by presence, how far a class is contrasted with the others,
the smoothing, and how the evidence of a text grows with its length.

The search is greedy, on a few rows: first what words count for, then the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.families.remaining import Remaining
from deciban.families.removal import Removal
from deciban.families.settings import Method
from deciban.families.unit_removal import UnitRemoval
from deciban.families.words import WORD_FAMILY, WordSettings, length_discount
from deciban.stats.table import Table
from deciban.stats.words import Bags, Weighting, sum_of

FloatArray = NDArray[np.float64]

SMOOTHINGS_TRIED = (0.03, 0.1, 0.3, 0.6, 1.0, 2.0)
CONTRASTS_TRIED = (0.0, 2 / 3)
LENGTH_POWERS_TRIED = (0.0, 0.5, 0.75, 1.0)
#: A text of ``TYPICAL_WORDS`` words is multiplied by these, whatever the power of its length.
SCALES_TRIED = np.exp(np.linspace(np.log(0.01), 0.0, 24))
TYPICAL_WORDS = 100.0
#: Rows times classes that are looked at, and words of all texts.
MAX_TRIAL_SCORES, MAX_TRIAL_WORDS = 16_000, 1 << 19

#: The models of text that a caller may ask for: weightings and contrasts that are tried.
TEXT_MODELS: dict[str, tuple[tuple[Weighting, ...], tuple[float, ...]]] = {
    "auto": (("amount", "presence"), CONTRASTS_TRIED),
    "multinomial": (("amount",), (0.0,)),
    "binary": (("presence",), (0.0,)),
    "bernoulli": (("absence",), (0.0,)),
    "complement": (("amount",), (1.0,)),
}


@dataclass(frozen=True)
class TextChoice:
    """How one text column is modelled; ``rows`` is how many rows it was selected on."""

    column: str
    weighting: Weighting
    contrast: float
    smoothing: float
    length: float
    scale: float
    rows: int = 0

    def settings(self, method: Method) -> WordSettings:
        """How the words of the column are estimated."""
        return WordSettings(
            method,
            self.smoothing,
            weighting=self.weighting,
            contrast=self.contrast,
            length=self.length,
            scale=self.scale,
        )


def plain_choice(column: str, text: str, smoothing: float) -> TextChoice:
    """The pure model, in which nothing is corrected."""
    weightings, contrasts = TEXT_MODELS[text]
    return TextChoice(column, weightings[0], contrasts[0], smoothing, 0.0, 1.0)


def trial_stride(tables: Iterable[Table], n_rows: int) -> int:
    """Every so many of the counted rows are enough to select on."""
    stride = 1
    for table in tables:
        words = sum_of(table, "presence").by_cell.sum() / max(table.rows.sum(), 1.0)
        by_scores = n_rows * len(table.rows) // MAX_TRIAL_SCORES
        stride = max(stride, by_scores, int(n_rows * words) // MAX_TRIAL_WORDS)
    return stride


@dataclass(frozen=True, eq=False)
class Trial:
    """Counted texts of one column on which models are tried.

    ``weight`` is what is left out of the counts for each row, ``times`` how often it counts;
    ``remaining`` is what is left where rows belong to groups or times.
    """

    table: Table
    bags: Bags
    y: NDArray[np.intp]
    weight: FloatArray
    times: FloatArray
    log_prior: FloatArray
    method: Method
    remaining: Remaining | None = None

    def select(self, column: str, text: str, smoothings: Iterable[float]) -> TextChoice:
        """The model of least leave-one-out loss."""
        weightings, contrasts = TEXT_MODELS[text]
        n_rows = round(float(self.times.sum()))  # copies of one row are one row of more weight
        if len(self.table.rows) < 3:  # of two classes, the rest is the other one
            contrasts = contrasts[:1]

        def work(way: tuple[Weighting, float]) -> list[tuple[float, TextChoice, Scores]]:
            tried = []
            for contrast, scores in self._scores(*way, contrasts):
                loss, scale = scores.best_scale(0.5, SCALES_TRIED[::3])
                choice = TextChoice(column, way[0], contrast, way[1], 0.5, scale, n_rows)
                tried.append((loss, choice, scores))
            return tried

        ways = threads.run(work, product(weightings, smoothings))
        _, best, scores = min(chain.from_iterable(ways), key=lambda entry: entry[0])
        _, scale, length = min(
            (*scores.best_scale(length, SCALES_TRIED), length) for length in LENGTH_POWERS_TRIED
        )
        return replace(best, length=length, scale=scale)

    def _scores(
        self, weighting: Weighting, smoothing: float, contrasts: Iterable[float]
    ) -> Iterator[tuple[float, Scores]]:
        """The leave-one-out log likelihoods of the texts under every contrast."""
        how = WordSettings(self.method, smoothing, weighting=weighting, contrast=max(contrasts))
        parameters = WORD_FAMILY.estimate(self.table, how)
        removal: Removal | UnitRemoval
        if self.remaining is None:
            removal = parameters.remove(self.bags, self.y, self.weight)
        else:
            removal = parameters.remove_units(self.bags, self.remaining)
        for contrast, log_likelihood in parameters.contrasts(removal, contrasts):
            with np.errstate(invalid="ignore"):
                below_best = log_likelihood - log_likelihood.max(axis=1, keepdims=True)
            yield contrast, Scores(below_best, removal.size, self.log_prior, self.y, self.times)


@dataclass(frozen=True, eq=False)
class Scores:
    """Log likelihoods of texts of some sizes, (rows, classes), beside the prior and the truth."""

    log_likelihood: FloatArray
    size: FloatArray
    log_prior: FloatArray
    y: NDArray[np.intp]
    times: FloatArray

    def best_scale(self, length: float, scales: FloatArray) -> tuple[float, float]:
        """The least loss under a power of the length, and the scale that has it."""
        unit = TYPICAL_WORDS**length
        tried = [(self.loss(scale * unit, length), scale * unit) for scale in scales]
        loss, scale = min(reversed(tried), key=lambda entry: entry[0])
        return loss, float(scale)

    def loss(self, scale: float, length: float) -> float:
        """The summed log loss under a discount of long texts."""
        discount = length_discount(self.size, scale, length)
        joint = self.log_prior + self.log_likelihood * discount[:, None]
        with np.errstate(invalid="ignore"):
            joint -= joint.max(axis=1, keepdims=True)
            true = joint[np.arange(len(self.y)), self.y]
            loss = np.log(np.exp(joint).sum(axis=1)) - true
        limited = np.nan_to_num(np.minimum(loss, MAX_ROW_LOSS), nan=MAX_ROW_LOSS)
        return float(self.times @ limited)
