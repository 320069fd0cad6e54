"""Numbers that decide: what is rounding, what a baseline has seen, intervals, and drift."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from deciban import NaiveBayes, evaluate
from internals import (
    discounts,
    drift_verdict,
    equal_counts,
    grid_values,
    linear_penalties,
    resampled_figures,
    smoothings,
    strengths,
    subtract_counts,
    text_candidates,
    text_penalties,
)
from mixed import table


@pytest.mark.parametrize(("share", "rounding"), [(5e-13, True), (5e-12, False), (5e-10, False)])
@pytest.mark.parametrize("size", [0.3, 1e6 + 0.1])
def test_less_than_a_millionth_of_a_millionth_is_rounding(size, share, rounding):
    a, b = np.array([size]), np.array([size * (1 - share)])
    assert (subtract_counts(a, b)[0] == 0.0) == rounding
    assert equal_counts(a, b) == rounding
    assert equal_counts(b, a) == rounding


def test_whole_numbers_are_never_rounding_and_fractions_may_be():
    a, b = np.array([2.0**52]), np.array([2.0**52 - 1])
    assert subtract_counts(a, b) == [1.0]
    assert not equal_counts(a, b)
    a, b = np.array([1e13 + 0.5]), np.array([1e13 - 0.5])
    assert subtract_counts(a, b) == [0.0]
    assert equal_counts(a, b)


def test_numbers_are_told_apart_up_to_4096_of_them():
    x = np.linspace(1.0, 2.0, 4096)
    middles, least = grid_values(x)
    np.testing.assert_array_equal(middles, x)
    np.testing.assert_array_equal(least, x)
    x = np.linspace(1.0, 2.0, 4097)
    middles, least = grid_values(x)
    assert len(least) < 4096
    widths = np.diff(least)
    np.testing.assert_allclose(middles[:-1], least[:-1] + widths / 2, rtol=1e-12)


# ---------------------------------------------------------------------- candidates


def test_the_candidates_are_these():
    texts = text_candidates()
    assert texts[:6] == (
        ("amount", "presence"), (0.0, 2 / 3, 1.0), (0.03, 0.1, 0.3, 0.6, 1.0, 2.0), (0.5, 1.0),
        (0.0, 1.0), (0.0, 0.5, 0.75, 1.0),
    )  # fmt: skip
    assert (texts.min_scale, texts.n_scales) == (0.01, (8, 24))
    assert (texts.typical, texts.min_gain) == (100.0, 2.0)
    assert smoothings() == pytest.approx(np.geomspace(0.02, 20.0, 29))
    assert discounts()[:93] == pytest.approx(np.geomspace(0.01, 1.0, 93))
    assert discounts()[92:] == pytest.approx(np.geomspace(1.0, 100.0 ** (28 / 92), 29))
    assert discounts()[92] == 1.0
    assert strengths() == (0.3, 1.0, 3.0, 10.0, 30.0)
    assert linear_penalties() == (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
    assert text_penalties() == (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)


def test_what_is_never_answered_is_precise():
    X, y = table(n=40)
    at = evaluate(NaiveBayes().fit(X, y), X, y, bootstrap=0).thresholds()
    assert (at.threshold[0], at.precision[0], at.recall[0]) == (np.inf, 1.0, 0.0)


# ---------------------------------------------------------------------- the baseline


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_baseline_of_rows_left_out_has_not_seen_the_row(n_classes):
    """The share of each class among all other rows, with one row more of each."""
    X, y = table(n=30, n_classes=n_classes)
    model = NaiveBayes().fit(X, y)
    expected = 0.0
    for i, label in enumerate(y):
        others = y[:i] + y[i + 1 :]
        expected -= math.log((others.count(label) + 1) / (len(others) + n_classes)) / len(y)
    for e in (
        evaluate(model, bootstrap=0),
        evaluate(model, X, y, leave_one_out=True, bootstrap=0),
    ):
        assert e.baseline.log_loss == pytest.approx(expected, rel=1e-12)
        assert e.baseline.accuracy == max(y.count(label) for label in set(y)) / len(y)


def test_the_baseline_of_new_rows_is_the_shares_of_training():
    X, y = table(n=30)
    model = NaiveBayes().fit(X, y)
    Z, z = table(n=20, seed=1)
    expected = -sum(math.log(y.count(label) / len(y)) for label in z) / len(z)
    assert evaluate(model, Z, z, bootstrap=0).baseline.log_loss == pytest.approx(expected)


# ---------------------------------------------------------------------- intervals


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_are_quantiles_and_that_of_a_distance_is_reflected(confidence):
    """Noise can only add to a calibration error: resampled, it is too great by as much."""
    X, y = table(n=80, n_classes=3)
    model = NaiveBayes().fit(X, y)
    Z, z = table(n=60, n_classes=3, seed=5)
    e = evaluate(model, Z, z, bootstrap=200, confidence=confidence)
    resampled = resampled_figures(model, Z, z, 200)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    for name in ("log_loss", "accuracy", "brier"):
        low, high = np.quantile(resampled[name], ends)
        assert e.intervals[name] == pytest.approx((low, high))
        assert low < getattr(e, name) < high
    low, high = np.quantile(resampled["calibration_error"], ends)
    error = e.calibration_error
    expected = max(0.0, 2 * error - high), max(0.0, 2 * error - low)
    assert e.intervals["calibration_error"] == pytest.approx(expected)
    assert resampled["calibration_error"].mean() > error
    assert expected != pytest.approx((low, high), rel=0.05)


# ---------------------------------------------------------------------- drift


def index(before, now):
    """The population stability index, half a row more in every cell."""
    p, q = ((np.array(side) + 0.5) / (sum(side) + 0.5 * len(side)) for side in (before, now))
    return float(((p - q) * np.log(p / q)).sum())


@pytest.mark.parametrize(
    ("bound", "below", "above"), [(0.1, "the same", "moved"), (0.25, "moved", "moved far")]
)
def test_a_tenth_is_drift_and_a_quarter_is_much(bound, below, above):
    before = [20_000, 80_000]
    first = next(n for n in range(20_000, 90_000) if index(before, [n, 100_000 - n]) > bound)
    for now, verdict in ((first - 1, below), (first, above)):
        after = [now, 100_000 - now]
        found, chance, words = drift_verdict(before, after)
        assert found == pytest.approx(index(before, after))
        assert found == pytest.approx(bound, rel=1e-3)
        assert chance < 0.001
        assert words == verdict


@pytest.mark.parametrize("cells", [2, 5, 9])
def test_what_one_of_a_thousand_exceeds_by_chance_is_no_drift(cells):
    before, now = [10] * cells, [4] + [5] * (cells - 2) + [9]
    found, chance, verdict = drift_verdict(before, now)
    expected = (1 / sum(before) + 1 / sum(now)) * chi2.isf(0.001, cells - 1)
    assert chance == pytest.approx(expected)
    assert verdict == ("the same" if found <= max(chance, 0.1) else "moved")
    far = drift_verdict(before, [0] * (cells - 1) + [40])
    assert far[0] > far[1]
    assert far[2] == "moved far"
