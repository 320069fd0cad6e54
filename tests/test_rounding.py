"""What only rounding tells apart is equal: in comparisons, thresholds and cautions."""

import numpy as np
import pytest

from deciban import NaiveBayes, compare
from deciban.evaluation import Thresholds
from deciban.report import report


class Fixed:
    """Answers that are given, with an error on each."""

    classes_ = np.array(["a", "b"])

    def __init__(self, p, error=0.0):
        self.p = np.asarray(p) * (1 + error)

    def predict_proba(self, X):
        return np.column_stack([1 - self.p, self.p])


def test_models_that_differ_by_rounding_cannot_be_told_apart():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 200)
    y = np.where(rng.random(200) < p, "b", "a")
    X = np.zeros((200, 1))
    same = compare({"one": Fixed(p), "other": Fixed(p, 3e-16)}, X, y)
    for measure in ("log_loss", "accuracy", "realised_cost"):
        difference = same.difference("one", "other", measure)
        assert (difference.better, difference.advantage) == (None, 0.0)
    # A bias of all rows the same way is a difference however small, if it is not rounding.
    sharper = np.where(y == "b", p * (1 + 1e-6), p * (1 - 1e-6))
    told = compare({"one": Fixed(sharper), "other": Fixed(p)}, X, y)
    assert told.difference("one", "other").better == "one"


def test_the_first_of_the_best_thresholds_is_taken():
    cost = np.array([0.5, 0.3, 0.3 - 1e-17 * 4, 0.30000000000000004, 0.29999999999999993])
    columns = [np.linspace(1, 0, 5)] * 5
    assert Thresholds(*columns, cost).best == 1
    assert Thresholds(*columns, np.array([3.0, 2.0, 1.0, 0.5, 0.4])).best == 4


def test_a_model_that_says_what_the_shares_say_is_no_gain():
    X, y = {"x": ["S"] * 40}, ["a", "b"] * 20
    model = NaiveBayes(smoothing=1, calibrate=False).fit(X, y)
    nearly = model.predict_proba(X)[0, 1] * (1 - 1e-13)
    assert nearly == pytest.approx(0.5)
    page = report(model, X, y, bootstrap=0)
    assert "no gain" in {caution.kind for caution in page.cautions}
