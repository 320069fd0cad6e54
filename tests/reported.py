"""Models of every class with labelled rows, for the tests of reports."""

import numpy as np
import pandas as pd

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from mixed import table


def mixed(kind, classes=2):
    """A model of a mixed table, and other rows of the same kind."""
    X, y = table(n=240, n_classes=classes, seed=1)
    others, truth = table(n=160, n_classes=classes, seed=2)
    return kind().fit({**X, "y": y}, target="y"), {**others, "y": truth}


def texts():
    """A model of a text and a number."""
    rng = np.random.default_rng(3)
    words = [["cheap pills now", "free money today"], ["see you at lunch", "the minutes of today"]]

    def rows(n):
        y = rng.integers(0, 2, n)
        said = [f"{words[c][rng.integers(2)]} {' '.join(rng.permutation(list('abcdefgh')))}"
                for c in y]  # fmt: skip
        noisy = np.where(rng.random(n) < 0.1, 1 - y, y)
        return {"text": said, "size": rng.normal(y, 2.0).round(2).tolist(),
                "y": [["spam", "ham"][c] for c in noisy]}  # fmt: skip

    return NaiveBayes(kinds={"text": "text"}).fit(rows(120), target="y"), rows(80)


def logistic(classes=2):
    """A logistic regression of a frame of numbers."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, classes, 200)
    X = pd.DataFrame(rng.normal(size=(200, 3)) + y[:, None] * [1.0, 0.5, 0.0],
                     columns=["a", "b", "c"])  # fmt: skip
    labels = np.array(["no", "yes", "perhaps"])[y]
    return LogisticRegression().fit(X, labels), X.assign(y=labels)


#: name -> a function: a fitted model, and a table of labelled rows with the column y.
MODELS = {
    "NaiveBayes": lambda: mixed(NaiveBayes),
    "NaiveBayes, three classes": lambda: mixed(NaiveBayes, 3),
    "NaiveBayes, texts": texts,
    "AODE": lambda: mixed(AODE),
    "BayesClassifier": lambda: mixed(BayesClassifier),
    "LogisticRegression": logistic,
    "LogisticRegression, three classes": lambda: logistic(3),
}

HOSTILE = "<script>document.title='gone'</script>"


def hostile():
    """Names, categories and classes that would run, were they not escaped."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 120)
    column, other = f"{HOSTILE}\"'&<b>", "x</title><img src=x onerror=alert(1)>"
    values = [f"{HOSTILE}a", "]]>", '"onload="alert(1)']
    rows = {
        column: [values[v] for v in (y + rng.integers(0, 2, 120))],
        other: rng.normal(y, 1.0).tolist(),
        "${title} $css": rng.integers(0, 5, 120).tolist(),
        "y": [f"{HOSTILE}yes" if v else "</svg></style>no" for v in y],
    }  # fmt: skip
    return NaiveBayes().fit(rows, target="y"), rows
