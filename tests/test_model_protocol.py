"""Every model keeps the contract of :mod:`deciban.models.protocol`.

A new model is one more entry of ``MODELS``: a function that gives a fitted
estimator and the columns and labels that it was fitted to.
"""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from deciban.families.piece import Piece
from deciban.models.protocol import CountedModel, Model, WordContribution
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from deciban.sources import scan
from mixed import table

MATRIX_KINDS = (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    LogisticRegression,
)
TEXT = "a ball, a goal and the judge"


def aode(n_classes):
    X, y = table(n=90, n_classes=n_classes)
    return AODE().fit(X, y), X, y


def ensemble(n_classes):
    X, y = table(n=90, n_classes=n_classes)
    return BayesClassifier().fit(X, y), X, y


def ensemble_with_text(n_classes):
    X, y = table(n=90, n_classes=n_classes)
    words = {"ham": "ball goal", "spam": "salt oven", "eggs": "judge trial"}
    X = {**X, "note": [f"the {words[label]} and number {i % 7}" for i, label in enumerate(y)]}
    return BayesClassifier(kinds={"note": "text"}).fit(X, y), X, y


def naive_bayes(n_classes):
    X, y = table(n=90, n_classes=n_classes)
    return NaiveBayes().fit(X, y), X, y


def counts_of_events(n_classes):
    """Columns that every matrix classifier takes: small whole numbers."""
    rng = np.random.default_rng(3)
    y = np.array(["ham", "spam", "eggs"])[np.arange(90) % n_classes]
    rates = np.arange(90) % n_classes
    X = {"a": rng.poisson(1 + 2 * rates), "b": rng.poisson(5 - rates), "c": rng.integers(0, 3, 90)}
    return X, y


def of_matrix(kind):
    def fit(n_classes):
        X, y = counts_of_events(n_classes)
        return kind().fit(pd.DataFrame(X), y), X, y

    return fit


#: By name: a function of the number of classes, and whether the model is its counts.
MODELS = {
    "NaiveBayes": (naive_bayes, True),
    "AODE": (aode, True),
    "BayesClassifier": (ensemble, False),
    "BayesClassifier of texts": (ensemble_with_text, False),
    **{kind.__name__: (of_matrix(kind), False) for kind in MATRIX_KINDS},
}
COUNTED = [name for name, (_, counted) in MODELS.items() if counted]


class Case:
    """A fitted model and a batch of the rows that it was fitted to."""

    def __init__(self, name, n_classes):
        self.estimator, self.X, self.y = MODELS[name][0](n_classes)
        self.model = self.estimator.model_
        self.batch = next(iter(scan(self.X)))
        self.n_rows, self.n_classes = len(self.y), n_classes
        self.asked = pd.DataFrame(self.X) if type(self.estimator) in MATRIX_KINDS else self.X

    def log_joint(self):
        out = np.full((self.n_rows, self.n_classes), np.nan)
        assert self.model.log_joint(self.batch, out) is False  # nothing is unseen
        return out


@pytest.fixture(scope="module", params=[(n, k) for n in MODELS for k in (2, 3)], ids=str)
def case(request):
    return Case(*request.param)


@pytest.fixture(scope="module", params=COUNTED)
def counted(request):
    return Case(request.param, 3)


def members(protocol):
    return {name for home in protocol.__mro__ for name in vars(home) if name[0] != "_"}


def contrasts(values):
    """Without what is the same for all classes."""
    return values - values.mean(axis=-1, keepdims=True)


def log_posterior(joint):
    return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)


def test_every_member_is_there(case, counted):
    assert {"kind", "log_joint", "contributions"} < members(Model) < members(CountedModel)
    for name in members(Model):
        assert hasattr(case.model, name), name
    for name in members(CountedModel):
        assert hasattr(counted.model, name), name


def test_what_it_is(case):
    model = case.model
    assert model.kind == type(case.estimator).__name__
    assert model.schema.names == tuple(case.X)
    assert model.classes.tolist() == case.estimator.classes_.tolist()
    assert isinstance(model.additive, bool)
    assert model.log_prior.shape == (case.n_classes,)
    with pytest.raises(AttributeError):
        model.schema = None


def test_log_joints_give_the_probabilities(case):
    posterior = log_posterior(case.log_joint())
    np.testing.assert_allclose(posterior, case.estimator.predict_log_proba(case.asked), atol=1e-9)


def test_contributions_add_up_to_the_log_joint(case):
    each = case.model.contributions(case.batch)
    assert each.shape == (case.n_rows, len(case.model.schema.names), case.n_classes)
    total = case.model.log_prior + each.sum(axis=1)
    np.testing.assert_allclose(contrasts(total), contrasts(case.log_joint()), atol=1e-9)


def test_pieces_are_tables_of_values_and_classes(case):
    pieces = case.model.pieces()
    names = {name for c in case.model.schema.columns for name in (*c.numbers, *c.categories)}
    assert {piece.feature for piece in pieces} <= set(case.model.schema.names)
    assert {piece.name for piece in pieces} >= names
    for piece in pieces:
        assert isinstance(piece, Piece)
        shape = (len(piece.values), case.n_classes)
        assert piece.log_likelihood.shape == piece.share.shape == shape


def test_words_are_in_their_places(case):
    for column in case.model.schema.columns:
        words = case.model.word_contributions(column.name, TEXT)
        assert bool(words) == bool(column.texts)
        for word in words:
            assert isinstance(word, WordContribution)
            assert TEXT[word.start : word.stop] == word.token
            assert np.shape(word.by_class) == (case.n_classes,)


def test_rows_are_taken_out_of_the_counts(counted):
    model, estimator = counted.model, counted.estimator
    assert model.counts == estimator.counts_
    assert model.temperature == pytest.approx(estimator.temperature_)
    y = np.searchsorted(model.classes, counted.y)
    prior, likelihood = model.leave_one_out(counted.batch, y, np.ones(counted.n_rows))
    assert prior.shape == likelihood.shape == (counted.n_rows, counted.n_classes)
    posterior = log_posterior(prior + likelihood / model.temperature)
    expected = estimator.leave_one_out(counted.X, counted.y)
    np.testing.assert_allclose(posterior, expected, atol=1e-9)
    weight = model.counts.weight
    one_less = np.log((weight[y] - 1 + 1) / (weight.sum() - 1 + counted.n_classes))
    np.testing.assert_allclose(prior[np.arange(counted.n_rows), y], one_less)


@pytest.mark.parametrize(
    "module",
    [
        "deciban.aode.stored",
        "deciban.ensemble.stored",
        "deciban.files",
        "deciban.logistic.stored",
        "deciban.naive_bayes.dropins.stored",
        "deciban.naive_bayes.stored",
    ],
)
def test_models_import_no_scikit_learn(module):
    code = f"import sys, {module}; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
