"""Losses of rows that are really taken away: plain loops, no formula of the package."""

import math

import numpy as np


def loss_of_categories(values, y, lam, size, classes):
    """The mean loss of a column of categories used alone, each row judged by all others.

    ``P(v | c) = (n_cv + lam) / (n_c + size lam)`` and ``P(c)`` with one row more of each
    class; rows whose value is None are not judged.
    """
    total = 0.0
    judged = [i for i, value in enumerate(values) if value is not None]
    for i in judged:
        others = [j for j in range(len(y)) if j != i]
        total += _loss(others, i, values, y, lam, size, classes)
    return total / len(judged)


def _loss(others, i, values, y, lam, size, classes):
    joint = []
    for c in classes:
        rows = [j for j in others if y[j] == c]
        known = [j for j in rows if values[j] is not None]
        same = sum(values[j] == values[i] for j in known)
        share = (same + lam) / (len(known) + size * lam)
        joint.append((len(rows) + 1) / (len(others) + len(classes)) * share)
    return -math.log(joint[classes.index(y[i])] / math.fsum(joint))


def loss_without(fit, X, y):
    """The mean loss of rows, each judged by the model of all others: ``fit(X, y)``."""
    total = 0.0
    for i in range(len(y)):
        others = [j for j in range(len(y)) if j != i]
        model = fit({name: [v[j] for j in others] for name, v in X.items()}, [y[j] for j in others])
        p = model.predict_proba({name: [v[i]] for name, v in X.items()})[0]
        total -= math.log(p[model.classes_.tolist().index(y[i])])
    return total / len(y)


def log_likelihood(amount, lam):
    """Of counts (classes, values) in any order, each value predicted from those before it."""
    total = 0.0
    for row in np.asarray(amount, dtype=int).tolist():
        before, seen = [0] * len(row), 0
        for value, times in enumerate(row):
            for _ in range(times):
                total += math.log((before[value] + lam) / (seen + len(row) * lam))
                before[value] += 1
                seen += 1
    return total
