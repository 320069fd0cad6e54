"""The figures of every model on three small tables; ``python tests/golden.py`` writes them anew."""

import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_extraction.text import CountVectorizer

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, evaluate
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from internals import base_learners, text_readings
from mixed import part, table

FILE = Path(__file__).with_name("data") / "golden.json"
TABLES = ["iris", "wine", "mixed"]
WORDS = {"ham": "lunch report thanks team", "spam": "prize click offer now", "eggs": "farm hen"}


def mixed():
    """Numbers, categories, booleans, times and texts, with holes, of three classes."""
    X, y = table(n=400, seed=7, n_classes=3)
    rng = np.random.default_rng(8)
    vocabulary = " ".join(WORDS.values()).split()
    X["note"] = [
        None
        if i % 11 == 5
        else " ".join(
            rng.choice(WORDS[label].split() if rng.random() < 0.35 else vocabulary)
            for _ in range(rng.integers(2, 9))
        )
        for i, label in enumerate(y)
    ]
    return X, y


def as_mixed(name):
    """One of the tables, as columns and labels."""
    if name == "mixed":
        return mixed()
    data = {"iris": load_iris, "wine": load_wine}[name]()
    columns = (n.split(" (")[0] for n in data.feature_names)
    return dict(zip(columns, data.data.T, strict=True)), data.target.tolist()


def as_matrix(name):
    """A table as numbers >= 0, none missing: texts as counts of words, categories as codes."""
    X, y = as_mixed(name)
    parts = []
    for column, values in X.items():
        if column == "note":
            texts = [text or "" for text in values]
            parts.append(CountVectorizer().fit_transform(texts).toarray())
        elif column == "size":
            parts.append(np.array([["S", "M", "L", None].index(v) for v in values])[:, None])
        elif column == "when":
            parts.append(np.array([v.hour for v in values])[:, None])
        else:
            numbers = np.array([0.0 if v is None else float(v) for v in values])
            parts.append((numbers - numbers.min())[:, None])
    return np.hstack(parts).astype(float), np.array(y)


def quartered(Z):
    """Numbers as codes 0 .. 3, by the quarters of each column."""
    cuts = np.quantile(Z, [0.25, 0.5, 0.75], axis=0)
    return (Z[None] > cuts[:, None]).sum(axis=0)


def halves(n):
    """Rows to learn from and rows to be judged: every other, after a shuffle."""
    order = np.random.default_rng(0).permutation(n)
    return np.sort(order[::2]), np.sort(order[1::2])


def judged(model, X, y):
    """Log loss and accuracy of rows that a model was not trained on."""
    p = model.predict_proba(X)
    codes = np.searchsorted(model.classes_, y)
    return {
        "log_loss": float(-np.log(p[np.arange(len(y)), codes]).mean()),
        "accuracy": float((p.argmax(axis=1) == codes).mean()),
    }


def chosen(model):
    """How the columns of a table are modelled."""
    figures = {}
    for name, choice in model.choices_.items():
        figures[f"{name}.shape"] = f"{choice.shape} {choice.bins} {choice.missing}"
        figures[f"{name}.smoothing"] = choice.smoothing
        figures[f"{name}.loss"] = choice.loss
    return figures


def read(model):
    """How texts are read."""
    ways = text_readings(model).items()
    return {f"{name}.{field}": way[field] for name, way in ways for field in way}


def of_naive_bayes(name):
    X, y, Z, z = split(name)
    m = NaiveBayes().fit(X, y)
    loss = evaluate(m, bootstrap=0).log_loss
    return {
        **judged(m, Z, z),
        "temperature": m.temperature_,
        "leave_one_out": loss,
        **chosen(m),
        **read(m),
    }


def of_aode(name):
    X, y, Z, z = split(name, texts=False)
    m = AODE().fit(X, y)
    loss = evaluate(m, X, y, leave_one_out=True, bootstrap=0).log_loss
    return {
        **judged(m, Z, z),
        "temperature": m.temperature_,
        "strength": m.strength_,
        "leave_one_out": loss,
    }


def of_ensemble(name):
    X, y, Z, z = split(name)
    m = BayesClassifier(progress=False).fit(X, y)
    report = m.report_
    figures = {**judged(m, Z, z), "held_out": report.loss, "prior": report.prior_loss}
    for learner in base_learners(m):
        figures[f"{learner.name}.weight"] = learner.weight
        figures[f"{learner.name}.loss"] = learner.loss
        if learner.hyperparameter is not None:
            figures[f"{learner.name}.hyperparameter"] = learner.hyperparameter
    return {**figures, **{f"{name}.evidence": weight for name, weight in report.weights.items()}}


def split(name, texts=True):
    """Both halves of a table."""
    X, y = as_mixed(name)
    if not texts:
        X.pop("note", None)
    some, others = halves(len(y))
    return *part(X, y, some), *part(X, y, others)


def of_matrix(Model, name):
    Z, y = as_matrix(name)
    some, others = halves(len(y))
    if Model is CategoricalNB:
        Z = quartered(Z)
    m = Model(min_categories=4) if Model is CategoricalNB else Model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m.fit(Z[some], y[some])
    return judged(m, Z[others], y[others])


MODELS = {
    "NaiveBayes": of_naive_bayes,
    "AODE": of_aode,
    "BayesClassifier": of_ensemble,
    **{
        Model.__name__: lambda name, Model=Model: of_matrix(Model, name)
        for Model in (
            LogisticRegression, GaussianNB, CategoricalNB, MultinomialNB, ComplementNB, BernoulliNB
        )
    },
}  # fmt: skip


def rounded(figures):
    """Numbers to seven digits, more than the tests compare."""
    return {k: float(f"{v:.7g}") if isinstance(v, float) else v for k, v in figures.items()}


if __name__ == "__main__":
    figures = {f"{t} {m}": rounded(MODELS[m](t)) for t in TABLES for m in MODELS}
    FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
