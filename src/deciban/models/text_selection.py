"""How texts are modelled: what their words count for, and how far they are discounted.

Words of a text are far from independent: a word that was said once is said
again, a long text repeats itself, and rare words make every class that is small
look likely. What helps differs from one collection to the next, so it is selected
by leave-one-out: of a few models of a text, the one under which counted
texts, each judged as if it had never been seen, are likeliest. Whether words
count by amount or by presence, how far a class is contrasted with the others,
the smoothing, whether rare words count more, whether large classes are favoured, and how the
evidence of a text grows with its length.

The search is greedy, on a few rows: first what words count for, then the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families.alone import least
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.families.remaining import Remaining
from deciban.families.removal import Removal
from deciban.families.settings import Method
from deciban.families.unit_removal import UnitRemoval
from deciban.families.words import TYPICAL_WORDS, WORD_FAMILY, WordSettings, length_discount
from deciban.stats.table import Table
from deciban.stats.words import Bags, Weighting, sum_of

FloatArray = NDArray[np.float64]

SMOOTHINGS_TRIED = (0.03, 0.1, 0.3, 0.6, 1.0, 2.0)
CONTRASTS_TRIED = (0.0, 2 / 3, 1.0)
#: Powers of the idf, beside none, and how far a text takes back the frequencies of the classes.
IDF_POWERS_TRIED = (0.5, 1.0)
UNIFORMITIES_TRIED = (0.0, 1.0)
#: What each of the two must gain of the summed log loss: of a few texts, less is luck.
MIN_GAIN_NATS = 2.0
LENGTH_POWERS_TRIED = (0.0, 0.5, 0.75, 1.0)
#: A text of ``TYPICAL_WORDS`` words is multiplied by no less, whatever the power of its length; so
#: many multiples are tried at first, and so many in the end.
MIN_SCALE, N_FIRST_SCALES, N_SCALES = 0.01, 8, 24
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
    idf: float = 0.0
    uniformity: float = 0.0

    def settings(self, method: Method) -> WordSettings:
        """How the words of the column are estimated."""
        return WordSettings(
            method,
            self.smoothing,
            weighting=self.weighting,
            contrast=self.contrast,
            length=self.length,
            scale=self.scale,
            idf=self.idf,
            uniformity=self.uniformity,
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

    def select(self, column: str, text: str, smoothings: Sequence[float]) -> TextChoice:
        """The model of least leave-one-out loss."""
        weightings, contrasts = TEXT_MODELS[text]
        corrected = text == "auto"
        uniformities = UNIFORMITIES_TRIED if corrected else (0.0,)
        n_rows = round(float(self.times.sum()))
        if len(self.table.rows) < 3:  # of two classes, the rest is the other one
            contrasts = contrasts[:1]

        def work(way: Way) -> list[Tried]:
            scores = self._scores(way)
            return [
                scores[t].tried(way.choice(column, t, n_rows), 0.5, N_FIRST_SCALES, u)
                for t, u in product(way.contrasts, uniformities)
            ]

        ways = [Way(*each, contrasts) for each in product(weightings, smoothings)]
        best = least(chain.from_iterable(threads.run(work, ways)), attrgetter("loss"))
        if corrected and best.choice.weighting != "absence":
            uniformities, at = (best.choice.uniformity,), smoothings.index(best.choice.smoothing)
            near = smoothings[max(at - 1, 0) : at + 2]
            contrasts = (best.choice.contrast,)
            ways = [
                Way(best.choice.weighting, smoothing, contrasts, idf)
                for idf, smoothing in product(IDF_POWERS_TRIED, near)
            ]
            best = least([best, *chain.from_iterable(threads.run(work, ways))], attrgetter("loss"))
        return _refine(best, corrected=corrected)

    def _scores(self, way: Way) -> dict[float, Scores]:
        """The leave-one-out log likelihoods of the texts under every contrast."""
        how = WordSettings(
            self.method,
            way.smoothing,
            weighting=way.weighting,
            contrast=max(way.contrasts),
            idf=way.idf,
            uniformity=1.0,
        )
        parameters = WORD_FAMILY.estimate(self.table, how)
        removal: Removal | UnitRemoval
        if self.remaining is None:
            removal = parameters.remove(self.bags, self.y, self.weight)
        else:
            removal = parameters.remove_units(self.bags, self.remaining)
        offsets = how.offsets(removal.left_rows(self.table.rows)) * (removal.size > 0)[:, None]
        scores = {}
        for contrast, log_likelihood in parameters.contrasts(removal, way.contrasts):
            with np.errstate(invalid="ignore"):
                below_best = log_likelihood - log_likelihood.max(axis=1, keepdims=True)
            rows = removal.size, self.log_prior, offsets, self.y, self.times
            scores[contrast] = Scores(below_best, *rows)
        return scores


class Way(NamedTuple):
    """What the words of texts count for, under some contrasts."""

    weighting: Weighting
    smoothing: float
    contrasts: tuple[float, ...]
    idf: float = 0.0

    def choice(self, column: str, contrast: float, rows: int) -> TextChoice:
        """The model of texts under one contrast, evidence as it is."""
        way = self.weighting, contrast, self.smoothing
        return TextChoice(column, *way, 0.0, 1.0, rows, self.idf)


class Tried(NamedTuple):
    """A model of texts, its leave-one-out loss, and the log likelihoods that gave it."""

    loss: float
    choice: TextChoice
    scores: Scores


def _refine(best: Tried, *, corrected: bool) -> TextChoice:
    """The power of the length and the scale of least loss; then how far it is uniform."""
    _, choice, scores = best

    def attempt(length: float, uniformity: float) -> Tried:
        return scores.tried(choice, length, N_SCALES, uniformity)

    best = least((attempt(p, choice.uniformity) for p in LENGTH_POWERS_TRIED), attrgetter("loss"))
    if corrected:
        best = least([best, attempt(best.choice.length, 0.5)], attrgetter("loss"))
    return best.choice


@dataclass(frozen=True, eq=False)
class Scores:
    """Log likelihoods of texts of some sizes, (rows, classes), beside the prior and the truth.

    ``offsets``, (rows, classes), are what texts add if they take back all of the frequencies.
    """

    log_likelihood: FloatArray
    size: FloatArray
    log_prior: FloatArray
    offsets: FloatArray
    y: NDArray[np.intp]
    times: FloatArray

    def tried(self, choice: TextChoice, length: float, n_scales: int, uniformity: float) -> Tried:
        """The choice under a power of the length, with the scale of least loss."""
        unit, most = TYPICAL_WORDS**length, self.max_scale(choice.contrast)
        scales = np.geomspace(MIN_SCALE, most, n_scales)
        losses = [(self.loss(scale * unit, length, uniformity), scale * unit) for scale in scales]
        loss, scale = least(reversed(losses), itemgetter(0))
        choice = replace(choice, length=length, scale=float(scale), uniformity=uniformity)
        return Tried(loss + MIN_GAIN_NATS * (bool(choice.idf) + bool(uniformity)), choice, self)

    def max_scale(self, contrast: float) -> float:
        """By how much evidence is too small where a class is set against the others.

        Of K classes, one that has a word changes what the others have of it by one part in
        K - 1 only.
        """
        n_others = max(self.log_likelihood.shape[1] - 1, 1)
        return float(1.0 / (1.0 - contrast + contrast / n_others))

    def loss(self, scale: float, length: float, uniformity: float) -> float:
        """The summed log loss under a discount of long texts."""
        discount = length_discount(self.size, scale, length)
        joint = self.log_prior + self.log_likelihood * discount[:, None]
        if uniformity:
            joint += uniformity * self.offsets
        with np.errstate(invalid="ignore"):
            joint -= joint.max(axis=1, keepdims=True)
            true = joint[np.arange(len(self.y)), self.y]
            loss = np.log(np.exp(joint).sum(axis=1)) - true
        limited = np.nan_to_num(np.minimum(loss, MAX_ROW_LOSS), nan=MAX_ROW_LOSS)
        return float(self.times @ limited)
