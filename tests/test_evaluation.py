"""Figures of a model against scikit-learn's, by number, and on odd rows."""

import json
import math
import pickle
import warnings

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deciban import NaiveBayes, evaluate
from deciban.errors import InputError, ParameterError, ShapeError
from deciban.evaluation.areas import Ranking
from deciban.evaluation.bootstrap import replicates, resample
from deciban.evaluation.metrics import RowTerms
from deciban.naive_bayes import GaussianNB
from mixed import table


class Oracle:
    """A model that says what it is told to say."""

    def __init__(self, classes, posterior):
        self.classes_ = np.array(classes)
        self.posterior = np.asarray(posterior, dtype=float)

    def predict_proba(self, X):
        return self.posterior


def case(n, k, seed, ties=False):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    if ties:
        p = np.maximum(np.round(p * 4), 0.25)
        p /= p.sum(axis=1, keepdims=True)
    y = np.append(np.arange(k), rng.integers(0, k, n - k))
    return Oracle(range(k), p), p, y, rng.integers(1, 5, n).astype(float)


cases = st.builds(case, st.integers(8, 40), st.integers(2, 4), st.integers(0, 10**6), st.booleans())


@given(cases)
@settings(max_examples=12)
def test_figures_are_those_of_scikit_learn(drawn_case):
    model, p, y, w = drawn_case
    e = evaluate(model, p, y, sample_weight=w, bootstrap=0)
    told, k = p.argmax(axis=1), p.shape[1]
    assert e.accuracy == pytest.approx(sk.accuracy_score(y, told, sample_weight=w))
    assert e.log_loss == pytest.approx(sk.log_loss(y, p, sample_weight=w))
    scores = p[:, 1] if k == 2 else p
    assert e.brier == pytest.approx(sk.brier_score_loss(y, scores, sample_weight=w))
    np.testing.assert_allclose(e.confusion, sk.confusion_matrix(y, told, sample_weight=w))
    for average in ("macro", "micro", "weighted"):
        expected = sk.precision_recall_fscore_support(
            y, told, average=average, sample_weight=w, zero_division=0
        )
        found = [getattr(m, average) for m in (e.precision, e.recall, e.f1)]
        assert found == pytest.approx(expected[:3])
    by_class = sk.precision_recall_fscore_support(y, told, sample_weight=w, zero_division=0)
    assert [e.precision[c] for c in range(k)] == pytest.approx(by_class[0])
    assert [e.recall[c] for c in range(k)] == pytest.approx(by_class[1])
    area = sk.roc_auc_score(y, scores, sample_weight=w, multi_class="ovr")
    assert e.roc_auc == pytest.approx(area)
    assert e.average_precision == pytest.approx(
        sk.average_precision_score(y, scores, sample_weight=w)
    )


@given(cases)
@settings(max_examples=8)
def test_resampled_figures_are_the_figures_of_the_resampled_rows(drawn_case):
    """Every resample, judged anew with its rows as weights."""
    model, p, y, w = drawn_case
    e = evaluate(model, p, y, loss=1 + np.eye(p.shape[1]), abstain=1.4, sample_weight=w)
    terms = RowTerms(e.decisions, 10)
    found = replicates(terms, 3, seed=5)
    order = np.lexsort((y, e.decisions.answers, terms.bin, terms.confidence[1]))
    for i, times in enumerate(np.concatenate(list(resample(len(y), 3, seed=5)))):
        again = np.empty(len(y))
        again[order] = times
        if np.any(np.bincount(y, again) == 0):
            continue  # a class is gone, and its row of zeros with it
        other = evaluate(
            model, p, y, 1 + np.eye(p.shape[1]), abstain=1.4, sample_weight=w * again, bootstrap=0
        )
        for name in ("log_loss", "brier", "expected_cost", "realised_cost", "roc_auc",
                     "average_precision", "calibration_error", "coverage"):  # fmt: skip
            assert found[name][i] == pytest.approx(getattr(other, name)), name
        for name in ("precision", "recall", "f1"):
            assert found[name, 1][i] == pytest.approx(getattr(other, name)[1])


@given(cases)
@settings(max_examples=8)
def test_areas_of_weights_are_those_of_scikit_learn(drawn_case):
    _, p, y, w = drawn_case
    found = Ranking.of(y == 1, p[:, 1]).areas(np.stack([w, np.ones_like(w)]))
    for row, weight in zip(found, (w, None), strict=True):
        assert row[0] == pytest.approx(sk.roc_auc_score(y == 1, p[:, 1], sample_weight=weight))
        assert row[1] == pytest.approx(
            sk.average_precision_score(y == 1, p[:, 1], sample_weight=weight)
        )


@given(cases.filter(lambda c: c[1].shape[1] == 2))
@settings(max_examples=8)
def test_thresholds_are_the_roc_curve_with_costs(drawn_case):
    model, p, y, w = drawn_case
    loss = np.array([[0.0, 7.0], [2.0, -1.0]])
    e = evaluate(model, p, y, loss, sample_weight=w, bootstrap=0)
    t = e.thresholds()
    fpr, tpr, at = sk.roc_curve(y, p[:, 1], sample_weight=w, drop_intermediate=False)
    np.testing.assert_allclose(t.fpr, fpr)
    np.testing.assert_allclose(t.tpr, tpr)
    np.testing.assert_allclose(t.threshold, at)
    for threshold, cost in zip(t.threshold, t.cost, strict=True):
        told = (p[:, 1] >= threshold).astype(int)
        assert cost == pytest.approx(w @ loss[told, y] / w.sum())
    assert e.implied_threshold == pytest.approx(2 / 10)
    assert t.cost.min() <= e.realised_cost + 1e-12
    assert e.best_threshold == t.threshold[t.best]
    assert set(t.to_dict()) == {"threshold", "tpr", "fpr", "precision", "recall", "cost"}


# ---------------------------------------------------------------------- by number


def test_accuracy_misleads_when_errors_cost_differently():
    """Of 100 people 10 are ill; a missed illness costs 50, a false alarm 1."""
    y = np.repeat([0, 1], [90, 10])
    blind = Oracle(["well", "ill"], np.tile([0.9, 0.1], (100, 1)))
    told = np.concatenate([np.repeat([0, 1], [70, 20]), np.repeat([0, 1], [1, 9])])
    sharp = Oracle(["well", "ill"], np.where(told[:, None] == 1, [0.3, 0.7], [0.99, 0.01]))
    truth = np.array(["well", "ill"])[y]
    loss = {("well", "ill"): 50, ("ill", "well"): 1}
    never, alert = (evaluate(m, y[:, None], truth, bootstrap=0) for m in (blind, sharp))
    assert (never.accuracy, alert.accuracy) == (0.90, 0.79)  # the useless one looks better
    np.testing.assert_array_equal(alert.confusion, [[70, 20], [1, 9]])
    assert (never.recall["ill"], alert.recall["ill"]) == (0, 0.9)
    assert alert.precision["ill"] == pytest.approx(9 / 29)
    assert alert.f1["ill"] == pytest.approx(2 * 9 / (10 + 29))
    dear = evaluate(sharp, y[:, None], truth, loss, bootstrap=0)
    assert dear.realised_cost == pytest.approx((20 * 1 + 1 * 50) / 100)
    assert dear.baseline.accuracy == 0.90
    assert dear.baseline.realised_cost == pytest.approx(10 * 50 / 100)
    assert dear.implied_threshold == pytest.approx(1 / 51)
    # Under that loss even the one that knows nothing answers "ill": 0.1 is above 1/51.
    assert evaluate(blind, y[:, None], truth, loss, bootstrap=0).realised_cost == pytest.approx(0.9)


def test_a_reliability_table_by_hand():
    p = np.array([0.05, 0.05, 0.95, 0.95])
    e = evaluate(Oracle([0, 1], np.stack([1 - p, p], axis=1)), p, [0, 1, 1, 1], bootstrap=0)
    first, last = e.reliability[0], e.reliability[9]
    assert (first.weight, first.stated, first.observed) == (2, 0.05, 0.5)
    assert (last.weight, last.stated, last.observed) == (2, 0.95, 1.0)
    assert e.calibration_error == pytest.approx((0.45 + 0.05) / 2)
    assert last.interval == pytest.approx(stats.beta(2.5, 0.5).interval(0.95))


def test_an_abstention_is_no_answer_and_costs_what_it_costs():
    p = np.array([[0.95, 0.05], [0.5, 0.5], [0.1, 0.9]])
    e = evaluate(Oracle([0, 1], p), p, [0, 1, 0], abstain=0.2, bootstrap=50)
    assert (e.accuracy, e.coverage) == (0.5, pytest.approx(2 / 3))
    assert e.abstained.tolist() == [0, 1]
    assert e.realised_cost == pytest.approx((0 + 0.2 + 1) / 3)
    assert e.expected_cost == pytest.approx((0.05 + 0.2 + 0.1) / 3)
    assert "no answer" in str(e)
    nothing = evaluate(Oracle([0, 1], p), p, [0, 1, 0], abstain=0, bootstrap=50)
    assert math.isnan(nothing.accuracy)
    assert nothing.coverage == 0


# ---------------------------------------------------------------------- intervals


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(3)
    held = np.zeros(2)
    for i in range(60):
        p = rng.uniform(0.5, 1, 150)  # the accuracy of what is certain to p is 0.75 on average
        y = (rng.random(150) < p).astype(int)
        e = evaluate(Oracle([0, 1], np.stack([1 - p, p], 1)), p, y, bootstrap=100,
                     confidence=0.9, seed=i)  # fmt: skip
        brier = 1 / 6  # the mean of p (1 - p) over that range
        for j, (name, true) in enumerate((("accuracy", 0.75), ("brier", brier))):
            low, high = e.interval(name)
            held[j] += low <= true <= high
    assert np.all(held / 60 >= 0.8)
    assert np.all(held / 60 < 1)


def test_intervals_are_seeded_and_hold_the_figure():
    X, y = table(200)
    m = NaiveBayes().fit(X, y)
    a, b, c = (evaluate(m, X, y, seed=s) for s in (1, 1, 2))
    assert a.intervals["accuracy"] == b.intervals["accuracy"]
    assert a.intervals["log_loss"] != c.intervals["log_loss"]
    for name in ("accuracy", "log_loss", "brier", "roc_auc", "f1", "realised_cost"):
        low, high = a.interval(name)
        assert low <= getattr(a, name) <= high
    assert a.interval("recall", "ham")[0] <= a.recall["ham"] <= a.interval("recall", "ham")[1]
    assert a.intervals["confusion"].shape == (2, 2, 2)


def test_rows_in_another_order_give_the_same_figures():
    model, p, y, w = case(30, 3, 1)
    back = np.arange(30)[::-1]
    a = evaluate(model, p, y, sample_weight=w, bootstrap=0).to_dict()
    b = evaluate(Oracle(range(3), p[back]), p, y[back], sample_weight=w[back], bootstrap=0)
    for name in ("accuracy", "log_loss", "roc_auc", "calibration_error"):
        assert a[name]["value"] == pytest.approx(b.to_dict()[name]["value"])


# ---------------------------------------------------------------------- odd rows


@pytest.mark.filterwarnings("ignore::deciban.errors.UnknownLabelWarning")
def test_classes_that_only_one_side_knows():
    p = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1]])
    e = evaluate(Oracle(["a", "b", "c"], p), p, ["a", "z", "b"], {("a", "z"): 9}, bootstrap=20)
    assert e.classes.tolist() == ["a", "b", "c", "z"]
    assert e.accuracy == pytest.approx(1 / 3)
    assert e.recall["z"] == 0
    assert np.isfinite(e.log_loss)
    assert e.log_loss > 10  # the model was certain that there is no z
    assert e.best_threshold is None
    with pytest.raises(ShapeError, match="unknown to the model"):
        evaluate(Oracle(["a", "b", "c"], p), p, ["a", "z", "b"], 1 - np.eye(3))


def test_one_class_alone_has_no_areas_and_no_warning():
    p = np.array([[0.7, 0.3], [0.4, 0.6]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        e = evaluate(Oracle([0, 1], p), p, [0, 0])
    assert math.isnan(e.roc_auc)
    assert math.isnan(e.interval("roc_auc")[0])
    assert "undefined" in str(e)
    assert e.to_dict()["roc_auc"]["value"] is None
    only = evaluate(NaiveBayes().fit({"x": list("SSL")}, [1, 1, 1]), {"x": ["S"]}, [1])
    assert (only.accuracy, only.log_loss) == (1, 0)


def test_a_row_of_weight_zero_is_not_there():
    model, p, y, _ = case(12, 3, 0)
    w = np.ones(12)
    w[-1] = 0
    a = evaluate(model, p, y, sample_weight=w)
    b = evaluate(Oracle(range(3), p[:-1]), p, y[:-1])
    assert a.to_dict() == b.to_dict()


def test_every_kind_of_model_and_table():
    X, y = table(120)
    m = NaiveBayes().fit({**X, "label": y}, target="label")
    e = evaluate(m, {**X, "label": y})
    assert e.accuracy == evaluate(m, X, y).accuracy == (m.predict(X) == np.array(y)).mean()
    weighted = evaluate(m, {**X, "label": y, "w": [2] * 120}, sample_weight="w", bootstrap=0)
    assert weighted.accuracy == pytest.approx(e.accuracy)
    assert weighted.weight == 240
    numbers = np.column_stack([X["age"], np.arange(120)])
    five = GaussianNB().fit(numbers, y)
    assert evaluate(five, numbers, y).accuracy == five.score(numbers, y)
    from sklearn.linear_model import LogisticRegression

    other = LogisticRegression().fit(numbers, y)
    assert evaluate(other, numbers, y).accuracy == other.score(numbers, y)


def test_a_frame_with_a_target_for_any_model():
    import pandas as pd
    from sklearn.naive_bayes import GaussianNB as Peer

    X, y = table(60)
    frame = pd.DataFrame({"age": X["age"], "y": y})
    peer = Peer().fit(frame[["age"]], y)
    assert evaluate(peer, frame, target="y").accuracy == peer.score(frame[["age"]], y)


# ---------------------------------------------------------------------- leaving one out


def test_without_rows_it_is_the_exact_leave_one_out():
    X, y = table(150, n_classes=3)
    m = NaiveBayes().fit(X, y)
    kept, given_rows = evaluate(m), evaluate(m, X, y, leave_one_out=True)
    assert kept.leave_one_out
    assert given_rows.leave_one_out
    assert kept.rows == 150
    assert kept.log_loss == pytest.approx(given_rows.log_loss, rel=1e-12)
    said = m.leave_one_out(X, y)
    codes = np.searchsorted(m.classes_, y)
    assert kept.log_loss == pytest.approx(-said[np.arange(150), codes].mean(), rel=1e-9)
    assert kept.baseline.roc_auc == 0.5
    again = pickle.loads(pickle.dumps(m))
    assert evaluate(again).log_loss == kept.log_loss


def test_scores_that_no_longer_fit_are_not_kept():
    X, y = table(40)
    m = NaiveBayes().fit(X, y)
    stale = [
        NaiveBayes().fit(X, y) + m,
        NaiveBayes().fit(X, y).partial_fit(X, y),
        NaiveBayes().fit(X, y).decay(0.5),
        NaiveBayes(calibrate=False).fit(X, y),
    ]
    for model in stale:
        with pytest.raises(InputError, match=r"keeps no leave-one-out scores.*pass X and y"):
            evaluate(model)


# ---------------------------------------------------------------------- what it looks like


def test_it_prints_and_serialises():
    X, y = table(80, n_classes=3)
    e = evaluate(NaiveBayes().fit(X, y), X, y)
    text = str(e)
    for part in ("80 rows", "95 % interval", "always ", "accuracy", "answers, by truth", "spam"):
        assert part in text
    assert e._repr_html_().count("<table>") == 4
    facts = json.loads(json.dumps(e.to_dict(), allow_nan=False))
    assert facts["accuracy"]["value"] == e.accuracy
    assert facts["confusion"] == e.confusion.tolist()
    assert [c["class"] for c in facts["classes"]] == ["eggs", "ham", "spam"]
    with pytest.raises(AttributeError):
        e.accuracy = 1.0
    assert pickle.loads(pickle.dumps(e)).precision["ham"] == e.precision["ham"]


@pytest.mark.parametrize("classes", [["<b>", "x"], ["x", "<b>"]])
def test_markup_in_a_label_stays_text(classes):
    p = np.array([[0.7, 0.3], [0.4, 0.6]])
    page = evaluate(Oracle(classes, p), p, ["<b>", "x"])._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


# ---------------------------------------------------------------------- bad input

GOOD = (Oracle([0, 1], [[0.7, 0.3], [0.4, 0.6]]), [[1], [2]], [0, 1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bootstrap": -1}, "bootstrap must be a whole number >= 0, got -1"),
        ({"bootstrap": 2.5}, "got 2.5"),
        ({"bins": 0}, "bins must be a whole number >= 1"),
        ({"seed": "x"}, "seed must be"),
        ({"confidence": 1}, "confidence must be a number between 0 and 1, got 1"),
        ({"abstain": -1}, "abstain must be"),
        ({"loss": [[0, 1]]}, "loss must have shape"),
        ({"loss": {("ham", "spam"): 1}}, "not one of the classes"),
        ({"sample_weight": [0, 0]}, "total weight is zero"),
        ({"sample_weight": [1]}, "sample_weight has 1 rows"),
        ({"target": "y"}, "got both"),
        ({"leave_one_out": True}, "cannot leave its rows out"),
    ],
)
def test_bad_settings(change, said):
    with pytest.raises(InputError, match=said):
        evaluate(*GOOD, **change)


def test_bad_models_and_rows():
    model, X, y = GOOD
    with pytest.raises(InputError, match="predict_proba"):
        evaluate(NaiveBayes(), X, y)
    with pytest.raises(InputError, match="got str"):
        evaluate("model", X, y)
    with pytest.raises(ShapeError, match="X has 2 rows, y has 3"):
        evaluate(model, X, [0, 1, 1])
    with pytest.raises(InputError, match="there are no labels"):
        evaluate(model, X)
    with pytest.raises(InputError, match="contains NaN or None"):
        evaluate(model, X, [0, None])
    with pytest.raises(ParameterError, match="no rows"):
        evaluate(model, y=y)
    with pytest.raises(InputError, match="sum to 1"):
        evaluate(Oracle([0, 1], [[0.7, 0.7], [0.4, 0.6]]), X, y)
    with pytest.raises(InputError, match="perhaps 'label' was meant"):
        evaluate(NaiveBayes().fit({"x": [1, 2]}, y), {"x": [1, 2], "label": y}, target="lable")
    with pytest.raises(ParameterError, match="two classes, there are 3"):
        evaluate(Oracle(list("abc"), np.full((3, 3), 1 / 3)), [1, 2, 3], list("abc")).thresholds()
    with pytest.raises(ParameterError, match=r"no interval of 'accuracy'.*bootstrap=0"):
        evaluate(*GOOD, bootstrap=0).interval("accuracy")
