"""What the tests of choices take from inside the package, in one place: a rename is mended here."""

import re
from typing import NamedTuple

import numpy as np

from deciban.aode import calibration as aode_calibration
from deciban.ensemble import evidence_weights as weighted_evidence
from deciban.ensemble import linear, radial, stacking, text_learner
from deciban.ensemble.phrase_rows import PhraseRows
from deciban.evaluation import bootstrap
from deciban.evaluation.decisions import decide
from deciban.evaluation.metrics import RowTerms
from deciban.evaluation.predictions import predict
from deciban.families import alone, histogram
from deciban.models import calibration, text_selection
from deciban.report.distributions import ColumnDistribution
from deciban.report.drift import drifts
from deciban.stats import rounding
from deciban.stats.cells import Grid
from deciban.stats.histogram import cut_points

radial_hold_out = radial._hold_out
radial_path = radial._RidgePath


class BaseLearner(NamedTuple):
    """One base learner of a BayesClassifier.

    ``hyperparameter`` is the penalty of a linear one, or the strength of AODE.
    """

    name: str
    weight: float
    loss: float | None
    hyperparameter: float | None


def base_learners(model):
    """The base learners of a fitted BayesClassifier."""
    out = []
    for view in model.report_.views:
        number = re.search(r"(?:penalty|m =) ([\d.]+|inf)", view.note)
        chosen = None if number is None else float(number[1])
        out.append(BaseLearner(view.name, view.share, view.loss, chosen))
    return out


def text_readings(model):
    """How a fitted NaiveBayes reads each text column: ``{column: {hyperparameter: value}}``."""
    return {
        name: {
            "weighting": str(way.weighting),
            "contrast": float(way.contrast),
            "smoothing": float(way.smoothing),
            "length": float(way.length),
            "scale": float(way.scale),
            "idf": float(way.idf),
            "uniformity": float(way.uniformity),
        }
        for name, way in model.model_.text_choices.items()
    }


# ---------------------------------------------------------------------- what is selected from


def smoothings():
    """The smoothings that empirical Bayes chooses from."""
    return alone.SMOOTHING_GRID


def empirical_smoothing(amount):
    """The smoothing under which counts (classes, values) are likeliest."""
    return alone.empirical_smoothing(amount)


def cuts(amount, bins):
    """Where counts (classes, sorted values) are cut into bins; 0 bins is every value."""
    return cut_points(amount, bins)


def try_only(monkeypatch, bins):
    """Let one number of bins be the only shape that a number may have; 0 is every value."""
    monkeypatch.setattr(histogram, "BINS_TRIED", () if bins == 0 else (bins,))
    monkeypatch.setattr(histogram, "MAX_SINGLE_VALUES", 10**9 if bins == 0 else -1)


class TextCandidates(NamedTuple):
    """The hyperparameters of texts that leave-one-out chooses from.

    A text of ``typical`` words is multiplied by a scale, from ``min_scale`` to what depends on the
    contrast; some are tried at first, and more in the end.
    """

    weightings: tuple
    contrasts: tuple
    smoothings: tuple
    idfs: tuple
    uniformities: tuple
    lengths: tuple
    min_scale: float
    n_scales: tuple
    typical: float
    min_gain: float


def text_candidates():
    """What is tried of a column of text."""
    weightings, contrasts = text_selection.TEXT_MODELS["auto"]
    return TextCandidates(
        weightings,
        contrasts,
        text_selection.SMOOTHINGS_TRIED,
        text_selection.IDF_POWERS_TRIED,
        text_selection.UNIFORMITIES_TRIED,
        text_selection.LENGTH_POWERS_TRIED,
        text_selection.MIN_SCALE,
        (text_selection.N_FIRST_SCALES, text_selection.N_SCALES),
        text_selection.TYPICAL_WORDS,
        text_selection.MIN_GAIN_NATS,
    )


def discounts():
    """The discounts, each one over a temperature, that are tried."""
    return calibration.DISCOUNT_GRID


def discount_prior(n_rows, n_columns, n_classes):
    """What each discount costs beforehand: the square of how unusual it is for such a table.

    One that enlarges evidence costs three nats more.
    """
    rows, columns, classes = np.log([n_rows, n_columns, n_classes])
    usual = min(0.0, -3.1 + 0.5 * rows - 0.4 * columns + 0.5 * classes)
    return 0.5 * ((np.log(discounts()) - usual) / 0.5) ** 2 + 3.0 * (discounts() > 1.0)


def strengths():
    """The strengths of AODE that are tried."""
    return aode_calibration.STRENGTHS_IN_ROWS


# ---------------------------------------------------------------------- the ensemble


def linear_penalties():
    """The penalties of a linear base learner that are tried, from strong to weak."""
    return linear.PENALTIES


def fit_linear(Z, y, splits, offset):
    """The penalty that a linear base learner selects; ``splits`` are (rows, rows held out)."""
    return linear.fit(Z, y, np.ones(len(y)), splits, [offset] * len(splits)).penalty


def text_penalties():
    """The penalties of the regression on phrases that are tried, from strong to weak."""
    return text_learner.PENALTIES


class TextProblem:
    """The regression on phrases: unit rows of phrases, and what the counts say of them."""

    def __init__(self, X, y, start):
        names = np.array([f"phrase {i}" for i in range(X.shape[1])])
        words = np.ones(X.shape[1], dtype=np.intp)
        source = PhraseRows(names, words, np.ones(X.shape[1]), X)
        self._texts = text_learner.TextRows(source, y, np.ones(len(y)), start)

    def precision(self, rows):
        """The penalty of each coefficient, (phrases + 1, scores), where the penalty is one."""
        return self._texts.problem(rows).prior.precision

    def counted(self, rows):
        """The coefficients of the counts, (phrases + 1, classes)."""
        return self._texts.complements(rows)

    def penalty(self, splits):
        """The penalty that is selected."""
        counts = np.zeros((len(self._texts.y), len(self._texts.prior_logits)))
        for inside, held in splits:
            counts[held] = self._texts.source.X[held] @ self.counted(inside)[:-1]
        return text_learner._select_penalty(self._texts, counts, splits)[0]


def pool_shares(logits, y, weight):
    """The weights of base learners that add up to one, given logits of rows held out."""
    return stacking.simplex_weights(logits, y, weight)


def pool_strengths(logits, offset, y, weight):
    """The weights >= 0 of logits (learners, rows, classes) that are added to an offset."""
    return stacking.nonnegative_weights(logits, offset, y, weight)


def evidence_weights(E, y, weight):
    """The weight of each column's evidence (rows, columns, classes), then the constants."""
    return weighted_evidence.fit(E, y, weight)


# ---------------------------------------------------------------------- figures and cautions


def subtract_counts(a, b):
    """Counts less counts; zero where only rounding is left."""
    return rounding.difference(a, b)


def equal_counts(a, b):
    """Whether counts are equal up to rounding."""
    return rounding.same(a, b)


def resampled_figures(model, X, y, resamples, seed=0, bins=10):
    """Every figure of every bootstrap resample, (resamples,) each."""
    answers = decide(predict(model, X, y))
    return bootstrap.replicates(RowTerms(answers, bins), resamples, seed)


def drift_verdict(before, now):
    """The index of a column by its cells in training and now, what chance gives, the verdict."""
    names = tuple(f"v{i}" for i in range(len(before)))
    cells = ColumnDistribution(
        "x", names, np.array(before, dtype=float), np.array(now, dtype=float)
    )
    (drift,) = drifts([cells])
    return drift.index, drift.by_chance, drift.verdict


def grid_values(x):
    """The values that stand for the cells of a histogram of numbers, and the least of each."""
    grid = Grid.of([np.asarray(x, dtype=float)], ["x"])
    return grid.middles(0), grid.floats(0)
