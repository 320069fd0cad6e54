"""Small mixed tables for the tests of NaiveBayes."""

import numpy as np


def table(n=60, seed=0, n_classes=2, holes=True):
    """Columns of every kind, as Python lists, and labels."""
    import datetime

    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    start = datetime.datetime(2024, 1, 1)
    X = {
        "size": [["S", "M", "L"][v] for v in (y + rng.integers(0, 2, n)) % 3],
        "ready": [bool(v) for v in (rng.random(n) < 0.3 + 0.4 * (y == 0))],
        "age": [int(v) for v in rng.integers(0, 9, n) + 2 * y],
        "height": [float(v) for v in np.round(rng.normal(size=n) + y, 2)],
        "when": [start + datetime.timedelta(hours=int(v)) for v in rng.integers(0, 900, n)],
    }
    if holes:
        for name, every in (("size", 7), ("height", 5)):
            X[name] = [None if i % every == 3 else v for i, v in enumerate(X[name])]
    return X, [["ham", "spam", "eggs"][v] for v in y]


def part(X, y, rows):
    """Some rows."""
    return {name: [values[i] for i in rows] for name, values in X.items()}, [y[i] for i in rows]


def records(X):
    """The same as a list of dicts."""
    names = list(X)
    return [dict(zip(names, row, strict=True)) for row in zip(*X.values(), strict=True)]
