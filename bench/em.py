"""EM: what rows without labels are worth, on 20 newsgroups.

    python bench/em.py FOLDER [--column text_stripped] [--labels 20] [--seed 0] [--unlabelled 1.0]

FOLDER has ``text/newsgroups20.parquet`` with the columns label, split and text. Of
the training split, some texts of every class keep their labels; the accuracy is that on
the test split, with these alone and with all others as rows without a label.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from deciban import NaiveBayes


def choose_labelled(y: np.ndarray, labels: int, seed: int) -> np.ndarray:
    """The rows that keep their labels: so many of every class."""
    rng = np.random.default_rng(seed)
    each = [rng.permutation(np.flatnonzero(y == c))[:labels] for c in np.unique(y)]
    return np.sort(np.concatenate(each))


def measure(model: NaiveBayes, texts: list[str], y: list, test: pd.DataFrame, column: str) -> float:
    """Accuracy in percent, and the seconds of training."""
    start = time.perf_counter()
    model.fit(texts, y)
    seconds = time.perf_counter() - start
    right = 100 * np.mean(model.predict(test[column].tolist()) == test["label"].to_numpy())
    rounds = f"{len(model.likelihood_)} rounds, weight {model.unlabelled_:g}"
    print(f"  {right:6.2f} %  {seconds:7.2f} s  {rounds}")
    return right


def main() -> None:
    """Print two lines and the gain for every seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--column", nargs="+", default=["text_stripped", "text"])
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--seed", type=int, nargs="+", default=[0])
    parser.add_argument("--unlabelled", default="1.0")
    asked = parser.parse_args()
    weight = "auto" if asked.unlabelled == "auto" else float(asked.unlabelled)
    data = pd.read_parquet(asked.folder / "text" / "newsgroups20.parquet")
    for column in asked.column:
        rows = data.assign(**{column: data[column].fillna("")})
        train, test = rows[rows["split"] == "train"], rows[rows["split"] == "test"]
        texts, y = train[column].tolist(), train["label"].to_numpy()
        for seed in asked.seed:
            some = choose_labelled(y, asked.labels, seed)
            print(
                f"{column}, {asked.labels} labels a class, seed {seed}: alone, then with the rest"
            )
            alone = measure(NaiveBayes(), [texts[i] for i in some], list(y[some]), test, column)
            hidden = np.full(len(y), None, dtype=object)
            hidden[some] = y[some]
            model = NaiveBayes(unlabelled=weight)
            gain = measure(model, texts, list(hidden), test, column) - alone
            falls = int(np.sum(np.diff(model.likelihood_) < 0))
            print(f"  gain {gain:+.2f} points; the likelihood fell {falls} times")


if __name__ == "__main__":
    main()
