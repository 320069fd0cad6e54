"""Whether probabilities come true: expected calibration error on real tables, beside pure chance.

    python bench/calibration.py [DIRECTORY] [--rows 10000] [--only NAME,NAME] [--folds 5]
                                [--methods NAME,NAME]

Every table is predicted in folds. The error is the mean distance between the probability of the
class that is named and how often it is right, over ten bins of that probability. Rows are few, so
perfect probabilities have an error too: what "chance" says is the mean error of labels that are
drawn from the stated probabilities themselves. The difference is what a model is to blame for, but
for luck: "by luck" is the share of such draws whose error is no less than the model's. The means
say on how many tables an error is more than 0.02 above that of chance, on how many it would be if
the stated probabilities were right, and on how many luck is out of the question.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import peers
import quality
from deciban import LogisticRegression

#: How often labels are drawn from the stated probabilities.
DRAWS = 200
#: A difference of more than this is too much.
MAX_EXCESS = 0.02
#: Rarer than this is no luck.
MIN_LUCK = 0.01


def logistic(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> peers.Answer:
    """LogisticRegression on one-hot and scaled columns, with its default penalty."""
    a, b = peers._encode(peers._one_hot(train), peers.plain(train), peers.plain(test))
    model = LogisticRegression().fit(a, y)
    return model.classes_, model.predict_proba(b)


def chosen(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> peers.Answer:
    """LogisticRegression whose penalty the rows choose."""
    a, b = peers._encode(peers._one_hot(train), peers.plain(train), peers.plain(test))
    model = LogisticRegression(C="auto").fit(a, y)
    return model.classes_, model.predict_proba(b)


METHODS: dict[str, quality.Method] = {
    "NaiveBayes": quality.ours,
    "AODE": quality.pairs,
    "BayesClassifier": quality.flagship,
    "logistic": logistic,
    "logistic auto": chosen,
}


def chance_errors(proba: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The errors of labels that are drawn from the probabilities, (rows, classes)."""
    top, named = proba.max(axis=1), proba.argmax(axis=1)
    errors = []
    for _ in range(DRAWS):
        drawn = (proba.cumsum(axis=1) < rng.random((len(proba), 1))).sum(axis=1)
        errors.append(quality.calibration_error(top, drawn == named))
    return np.array(errors)


class Judgement(NamedTuple):
    """The calibration error of a model on a table, and what chance has to do with it."""

    table: str
    method: str
    error: float
    chance: float
    more: float
    by_luck: float
    too_much: bool
    too_much_by_luck: float
    no_luck: bool


def judge(table: str, name: str, folds: list[quality.Fold]) -> Judgement:
    """The calibration error of all folds together, beside that of chance."""
    stated, right = [], []
    for train, y, test, truth in folds:
        classes, proba = METHODS[name](train, y, test)
        stated.append(proba)
        right.append(classes[proba.argmax(axis=1)] == truth)
    width = max(part.shape[1] for part in stated)  # a fold may lack a class
    whole = np.concatenate([np.pad(p, ((0, 0), (0, width - p.shape[1]))) for p in stated])
    error = quality.calibration_error(whole.max(axis=1), np.concatenate(right))
    errors = chance_errors(whole, np.random.default_rng(0))
    chance = float(errors.mean())
    more, by_luck = error - chance, float((errors >= error).mean())
    too_much_by_luck = float((errors - chance > MAX_EXCESS).mean())
    own = error, chance, more, by_luck, more > MAX_EXCESS, too_much_by_luck, by_luck < MIN_LUCK
    return Judgement(table, name, *own)


def main() -> None:
    """Print a line a table and method, then the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", nargs="?", default="../shared/data/tabular", type=Path)
    parser.add_argument("--rows", type=int, default=10_000, help="leave larger tables out")
    parser.add_argument("--only", default="", help="some tables, by name")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--folds", type=int, default=5, help="only the first of each table's")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    only, names = list(filter(None, options.only.split(","))), options.methods.split(",")
    figures = []
    print(f"{'':36}{'error':>8}{'chance':>8}{'more':>8}{'by luck':>9}")
    for path in sorted(options.directory.glob("*.parquet")):
        frame = pd.read_parquet(path)
        if len(frame) > options.rows or (only and path.stem not in only):
            continue
        folds = list(quality.folds(frame))[: options.folds]
        for name in names:
            own = judge(path.stem, name, folds)
            figures.append(own)
            mark = "  <--" if own.too_much else ""
            numbers = f"{own.error:8.4f}{own.chance:8.4f}{own.more:8.4f}{own.by_luck:9.3f}"
            print(f"{path.stem:20}{name:16}{numbers}{mark}", flush=True)
    by_method = pd.DataFrame(figures).drop(columns="table").groupby("method", sort=False)
    means = by_method[["error", "chance", "more"]].mean()
    counts = by_method[["too_much", "too_much_by_luck", "no_luck"]].sum()
    print(f"\nmean of {len(figures) // len(names)} tables, and numbers of tables")
    print(means.join(counts).round(4).to_string())


if __name__ == "__main__":
    main()
