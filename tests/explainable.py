"""Fitted models of every class that gives reasons, with rows they take."""

from dataclasses import fields

from deciban import AODE, LogisticRegression, NaiveBayes
from mixed import records
from mixed import table as mixed_table
from models import FIVE
from models import table as plain_table


def _matrix(kind):
    def make(classes, seed=0):
        X, y = plain_table(rows=40, classes=classes, seed=seed)
        return kind().fit(X, y), X

    return make


def _naive_bayes(**settings):
    def make(classes, seed=0):
        X, y = mixed_table(n=60, n_classes=classes, seed=seed)
        return NaiveBayes(**settings).fit(X, y), records(X)

    return make


def _aode(classes, seed=0):
    X, y = mixed_table(n=60, n_classes=classes, seed=seed)
    return AODE().fit(X, y), records(X)


#: name -> a function of the number of classes: the model and some rows, one at a time.
MODELS = {
    "NaiveBayes": _naive_bayes(),
    "NaiveBayes, pure": _naive_bayes(calibrate=False),
    "NaiveBayes, bins": _naive_bayes(numeric="histogram", missing="value"),
    "NaiveBayes, bells": _naive_bayes(numeric="gaussian", missing="value"),
    "AODE": _aode,
    "LogisticRegression": _matrix(LogisticRegression),
    **{kind.__name__: _matrix(kind) for kind in FIVE},
}
#: Those whose evidence does not depend on the other columns.
ADDITIVE = [name for name in MODELS if name != "AODE"]


def fields_of(model):
    """What a model is made of, by name."""
    return {field.name: getattr(model, field.name) for field in fields(model)}
