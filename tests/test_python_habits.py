"""What users of scikit-learn and of frames expect: priors, class weights, routing, frames."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, load
from deciban.errors import InputError, MissingPackageError, ParameterError
from deciban.models.class_weights import class_weights
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

RNG = np.random.default_rng(8)
Y = np.where(RNG.random(300) < 0.15, "yes", "no")
X = pd.DataFrame({
    "x": RNG.normal(np.where(Y == "yes", 1.0, 0.0)),
    "z": np.where(RNG.random(300) < np.where(Y == "yes", 0.7, 0.4), "u", "v"),
})  # fmt: skip
COUNTS = RNG.poisson(np.where(Y == "yes", 1.5, 0.5)[:, None], (300, 3))
TABLES = [NaiveBayes, AODE, BayesClassifier]
DROP_INS = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]


# ---------------------------------------------------------------------- priors


@pytest.mark.parametrize("kind", TABLES)
def test_priors_are_those_of_the_rows_at_hand(kind):
    model = kind().fit(X, Y)
    plain = model.predict_proba(X)
    same = dict(zip(model.classes_, model.model_.counts.weight / 300, strict=True))
    moved = model.predict_proba(X, priors=[0.5, 0.5])
    odds = (moved[:, 1] / moved[:, 0]) / (plain[:, 1] / plain[:, 0])
    np.testing.assert_allclose(odds, odds[0])
    assert odds[0] == pytest.approx(same["no"] / same["yes"], rel=0.05)  # a prior is smoothed
    np.testing.assert_allclose(model.predict_proba(X, priors=same), plain, atol=0.01)
    assert model.predict_proba(X, priors={"no": 1.0, "yes": 0.0})[:, 1].max() == 0.0


def test_priors_that_are_none():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(ParameterError, match="sum to 1"):
        model.predict_proba(X, priors=[0.5, 0.6])
    with pytest.raises(ParameterError, match="priors has no rate for 'no'"):
        model.predict_proba(X, priors={"yes": 1.0})


@pytest.mark.parametrize("kind", [LogisticRegression, *DROP_INS])
def test_priors_of_models_of_matrices(kind):
    """The odds change by what the odds of the classes change by."""
    model = kind().fit(COUNTS, Y)
    plain, other = model.predict_proba(COUNTS), model.predict_proba(COUNTS, priors=[0.5, 0.5])
    odds = plain[:, 1] / plain[:, 0] * (Y == "no").mean() / (Y == "yes").mean()
    np.testing.assert_allclose(other[:, 1] / other[:, 0], odds, rtol=1e-6)
    by_class = model.predict_proba(COUNTS, priors={"yes": 0.5, "no": 0.5})
    np.testing.assert_allclose(by_class, other)
    with pytest.raises(ParameterError, match="sum"):
        model.predict_proba(COUNTS, priors=[0.5, 0.4])


# ---------------------------------------------------------------------- class weights


@pytest.mark.parametrize("kind", [NaiveBayes, AODE])
def test_class_weights_change_the_prior_and_not_the_counts(kind):
    plain, weighted = kind().fit(X, Y), kind(class_weight={"yes": 4.0}).fit(X, Y)
    assert weighted.counts_ == plain.counts_
    n = plain.counts_.weight * [1.0, 4.0]
    np.testing.assert_allclose(np.exp(weighted.model_.log_prior), n / n.sum())
    balanced = kind(class_weight="balanced").fit(X, Y)
    np.testing.assert_allclose(np.exp(balanced.model_.log_prior), [0.5, 0.5])


@pytest.mark.parametrize("kind", [*TABLES, LogisticRegression])
@pytest.mark.parametrize("weight", ["balanced", {"yes": 5}])
def test_every_estimator_takes_class_weights(kind, weight):
    rows = X[["x"]] if kind is LogisticRegression else X
    plain, weighted = kind().fit(rows, Y), kind(class_weight=weight).fit(rows, Y)
    before, after = ((m.predict(rows) == "yes").mean() for m in (plain, weighted))
    assert after > before
    assert weighted.predict_proba(rows)[:, 1].mean() > 1.9 * plain.predict_proba(rows)[:, 1].mean()


def test_class_weights_of_an_ensemble_are_weights_of_rows():
    weighted = BayesClassifier(class_weight={"yes": 3}).fit(X, Y)
    rows = BayesClassifier().fit(X, Y, sample_weight=np.where(Y == "yes", 3.0, 1.0))
    np.testing.assert_array_equal(weighted.predict_proba(X), rows.predict_proba(X))


@pytest.mark.parametrize("kind", TABLES)
def test_class_weights_are_kept_in_files_and_in_updates(kind, tmp_path):
    y = (Y == "yes").astype(int)
    model = kind(class_weight={1: 5.0}).fit(X, y)
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert again.get_params()["class_weight"] == {1: 5.0}
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    if kind is not BayesClassifier:
        again.partial_fit(X, y).forget(X, y)
        np.testing.assert_allclose(again.model_.log_prior, model.model_.log_prior)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("wrong", ["unfair", 3, {"maybe": 2}, {"yes": 0}, {"yes": "much"}])
def test_class_weights_that_are_none(kind, wrong):
    with pytest.raises(ParameterError, match="class_weight"):
        kind(class_weight=wrong).fit(X, Y)


def test_one_of_prior_and_class_weight():
    with pytest.raises(ParameterError, match="both say how common"):
        NaiveBayes(class_weight="balanced", prior="uniform").fit(X, Y)


def test_balanced_weights_are_those_of_scikit_learn():
    from sklearn.utils.class_weight import compute_class_weight

    classes, n = np.unique(Y, return_counts=True)
    expected = compute_class_weight("balanced", classes=classes, y=Y)
    np.testing.assert_allclose(class_weights("balanced", classes, n.astype(float)), expected)


# ---------------------------------------------------------------------- metadata routing


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("kind", [*TABLES, LogisticRegression])
def test_weights_are_routed_to_estimators(kind):
    rows = X[["x"]] if kind is LogisticRegression else X
    weight = np.where(Y == "yes", 6.0, 1.0)
    model = kind().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    done = cross_validate(model, rows, Y, cv=2, params={"sample_weight": weight},
                          return_estimator=True, error_score="raise")  # fmt: skip
    plain = cross_validate(kind(), rows, Y, cv=2, return_estimator=True, error_score="raise")
    for one, other in zip(done["estimator"], plain["estimator"], strict=True):
        assert (one.predict(rows) == "yes").sum() > (other.predict(rows) == "yes").sum()


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_searches_and_pipelines():
    weight = np.where(Y == "yes", 6.0, 1.0)
    pipe = make_pipeline(NaiveBayes().set_fit_request(sample_weight=True)
                         .set_score_request(sample_weight=True))  # fmt: skip
    search = GridSearchCV(pipe, {"naivebayes__smoothing": [0.5, 1.0]}, cv=2, error_score="raise")
    search.fit(X, Y, sample_weight=weight)
    alone = NaiveBayes(**search.best_estimator_[-1].get_params()).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(search.predict(X), alone.predict(X))


@pytest.mark.usefixtures("routing")
def test_what_was_not_asked_for_is_refused():
    from sklearn.exceptions import UnsetMetadataPassedError

    with pytest.raises(UnsetMetadataPassedError):
        cross_val_score(NaiveBayes(), X, Y, params={"sample_weight": np.ones(300)})


# ---------------------------------------------------------------------- frames


@pytest.mark.parametrize("kind", TABLES)
def test_answers_come_as_frames(kind):
    model = kind().fit(X, Y)
    shuffled = X.sample(frac=1, random_state=0)
    answers = model.predict(shuffled, output="frame")
    assert list(answers.columns) == ["prediction", "p_no", "p_yes"]
    assert answers.index.equals(shuffled.index)
    np.testing.assert_array_equal(answers["prediction"], model.predict(shuffled))
    probabilities = model.predict_proba(pl.from_pandas(X), output="frame")
    assert isinstance(probabilities, pl.DataFrame)
    np.testing.assert_array_equal(probabilities.to_numpy(), model.predict_proba(X))
    assert isinstance(model.predict({"x": [1.0], "z": ["u"]}, output="polars"), pl.DataFrame)
    assert isinstance(model.predict_proba(X.to_dict("list"), output="frame"), pd.DataFrame)


@pytest.mark.parametrize("kind", [LogisticRegression, GaussianNB])
def test_answers_of_a_matrix_come_as_frames(kind):
    model = kind().fit(X[["x"]], Y)
    answers = model.predict(X[["x"]], output="frame")
    np.testing.assert_array_equal(answers["prediction"], model.predict(X[["x"]]))
    assert list(model.predict_proba(X[["x"]], output="polars").columns) == ["no", "yes"]


def test_frames_keep_the_types_of_classes():
    model = NaiveBayes().fit(X, (Y == "yes").astype(int))
    assert model.predict(X, output="pandas")["prediction"].dtype.kind == "i"
    assert model.predict(X, output="polars")["prediction"].dtype == pl.Int64
    assert list(model.predict_proba(X, priors=[0.5, 0.5], output="pandas").columns) == ["0", "1"]


def test_classes_that_are_written_alike_are_no_columns():
    model = NaiveBayes().fit({"x": [1, 2, 3] * 9}, [1, "1", 2] * 9)
    assert model.predict_proba({"x": [1]}).shape == (1, 3)
    for answer in (model.predict, model.predict_proba):
        with pytest.raises(InputError, match="two classes are written alike"):
            answer({"x": [1]}, output="pandas")


def test_frames_that_cannot_be_made(monkeypatch):
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(ParameterError, match="output must be"):
        model.predict(X, output="excel")
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'deciban\[frames\]'"):
        model.predict(X, output="polars")


def test_priors_of_a_model_without_counts_are_refused():
    from deciban.models.prior import base_rates

    model = replace(LogisticRegression().fit(X[["x"]], Y).model_, columns=None)
    with pytest.raises(InputError, match="does not know how often"):
        base_rates(model)
