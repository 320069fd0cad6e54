"""scikit-learn's checks of what an estimator must do, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB


@parametrize_with_checks(
    [
        GaussianNB(),
        MultinomialNB(),
        ComplementNB(),
        BernoulliNB(),
        CategoricalNB(),
        NaiveBayes(),
        AODE(),
        LogisticRegression(),
        BayesClassifier(),
    ],
)
@pytest.mark.filterwarnings("default")
def test_estimator_check(estimator, check):
    check(estimator)
