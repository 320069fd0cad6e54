"""One row after the other: predict, then learn, beside River's naive Bayes.

    python bench/stream.py [adult.parquet] [--rows 100000]

The rows of a table of 14 columns come as dicts, over and over. Each model is asked before it is
told (prequential). River has no naive Bayes of mixed tables; its documentation puts one-hot
columns beside numbers before ``GaussianNB``, which is the first peer; the second multiplies the
answers of ``GaussianNB`` on numbers and of ``BernoulliNB`` on one-hot columns. Times are of the
processor, all models in one process, in turns of a thousand rows.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from deciban import AODE, NaiveBayes

TURN_ROWS = 1_000
Rows = list[tuple[dict[str, Any], Any]]


class Product:
    """Two classifiers whose answers are multiplied, the prior counted once."""

    def __init__(self, *models: Any) -> None:
        self.models, self.counts = models, {}

    def learn_one(self, x: dict[str, Any], y: Any) -> None:
        """Teach both."""
        for model in self.models:
            model.learn_one(x, y)
        self.counts[y] = self.counts.get(y, 0) + 1

    def predict_proba_one(self, x: dict[str, Any]) -> dict[Any, float]:
        """The product, divided by the prior."""
        answers = [model.predict_proba_one(x) for model in self.models]
        joint = {
            label: math.prod(a.get(label, 0.0) for a in answers) / n
            for label, n in self.counts.items()
        }
        total = sum(joint.values())
        return {label: p / total for label, p in joint.items()} if total > 0 else {}


def peers() -> dict[str, Any]:
    """River's models."""
    from river import compose, naive_bayes, preprocessing

    def one_hot() -> Any:
        return compose.SelectType(str) | preprocessing.OneHotEncoder()

    numbers = compose.SelectType(Number)
    return {
        "river: one-hot, GaussianNB": (numbers + one_hot()) | naive_bayes.GaussianNB(),
        "river: GaussianNB x BernoulliNB": Product(
            compose.SelectType(Number) | naive_bayes.GaussianNB(),
            one_hot() | naive_bayes.BernoulliNB(),
        ),
    }


class Score:
    """Processor seconds of predicting and of learning, and the summed log loss."""

    def __init__(self, model: Any) -> None:
        self.model, self.predicting, self.learning, self.loss, self.asked = model, 0.0, 0.0, 0.0, 0

    def run(self, rows: Rows) -> None:
        """Ask and teach some rows."""
        clock: Callable[[], float] = time.process_time
        for x, y in rows:
            start = clock()
            answer = self.model.predict_proba_one(x)
            middle = clock()
            self.model.learn_one(x, y)
            self.learning += clock() - middle
            self.predicting += middle - start
            if answer:
                self.asked += 1
                self.loss -= math.log(min(max(answer.get(y, 0.0), 1e-15), 1.0))


def read(path: str, n_rows: int) -> Iterator[Rows]:
    """Turns of rows; River's models know a missing value as one that is not there."""
    import pandas as pd

    table = pd.read_parquet(path).drop(columns="split", errors="ignore")
    y = table.pop(table.columns[-1]).tolist()
    known = table.notna().to_numpy()
    rows = [
        ({name: value for (name, value), there in zip(x.items(), has, strict=True) if there}, label)
        for x, has, label in zip(table.to_dict("records"), known, y, strict=True)
    ]
    order = np.random.default_rng(0).permutation(len(rows))
    for start in range(0, n_rows, TURN_ROWS):
        yield [rows[order[i % len(rows)]] for i in range(start, min(start + TURN_ROWS, n_rows))]


def one_row(path: str) -> None:
    """The time of one answer of fitted models."""
    from deciban import BayesClassifier

    rows = [row for turn in read(path, 5_000) for row in turn]
    X, y = [x for x, _ in rows], [label for _, label in rows]
    for model in (NaiveBayes(), AODE(), BayesClassifier()):
        model.fit(X, y)
        model.predict_proba_one(X[0])
        start = time.process_time()
        for x in X[:1_000]:
            model.predict_proba_one(x)
        print(f"predict_proba_one  {type(model).__name__:15} "
              f"{(time.process_time() - start) * 1e3:6.1f} us")  # fmt: skip


def main() -> None:
    """Print times a row, log loss, and ratios to the first peer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", default="../shared/data/tabular/adult.parquet")
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    path, n_rows = options.path, options.rows
    models = {"NaiveBayes": Score(NaiveBayes())}
    models |= {name: Score(model) for name, model in peers().items()}
    for turn in read(path, n_rows):
        for score in models.values():
            score.run(turn)
    print(f"{n_rows:,} rows              learn us   predict us   log loss")
    for name, score in models.items():
        learning, predicting = (1e6 * t / n_rows for t in (score.learning, score.predicting))
        print(f"{name:32} {learning:8.1f} {predicting:10.1f} {score.loss / score.asked:10.4f}")
    mine, theirs = (models[name] for name in list(models)[:2])
    print(f"ratio to River: learn {mine.learning / theirs.learning:.2f}, "
          f"predict {mine.predicting / theirs.predicting:.2f}")  # fmt: skip
    one_row(path)


if __name__ == "__main__":
    main()
