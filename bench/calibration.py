"""Whether probabilities come true: expected calibration error on real tables, beside pure chance.

    python bench/calibration.py [DIRECTORY] [--rows 10000] [--only NAME,NAME] [--folds 5]
                                [--methods NAME,NAME]

Every table is predicted in folds. The error is the mean distance between the probability of the
class that is named and how often it is right, over ten bins of that probability. Rows are few, so
perfect probabilities have an error too: what "chance" says is the mean error of labels that are
drawn from the stated probabilities themselves. The difference is what a model is to blame for.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import peers
import quality
from deciban import LogisticRegression

#: How often labels are drawn from the stated probabilities.
DRAWS = 50
#: A difference of more than this is too much.
MAX_EXCESS = 0.02


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


def chance_error(proba: np.ndarray, rng: np.random.Generator) -> float:
    """The mean error of labels that are drawn from the probabilities, (rows, classes)."""
    top, named = proba.max(axis=1), proba.argmax(axis=1)
    errors = []
    for _ in range(DRAWS):
        drawn = (proba.cumsum(axis=1) < rng.random((len(proba), 1))).sum(axis=1)
        errors.append(quality.calibration_error(top, drawn == named))
    return float(np.mean(errors))


def judge(method: quality.Method, folds: list[quality.Fold]) -> tuple[float, float]:
    """The calibration error of all folds together, and that of chance."""
    stated, right = [], []
    for train, y, test, truth in folds:
        classes, proba = method(train, y, test)
        stated.append(proba)
        right.append(classes[proba.argmax(axis=1)] == truth)
    width = max(part.shape[1] for part in stated)  # a fold may lack a class
    whole = np.concatenate([np.pad(p, ((0, 0), (0, width - p.shape[1]))) for p in stated])
    error = quality.calibration_error(whole.max(axis=1), np.concatenate(right))
    return error, chance_error(whole, np.random.default_rng(0))


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
    print(f"{'':20}{'':16}{'error':>8}{'chance':>8}{'more':>8}")
    for path in sorted(options.directory.glob("*.parquet")):
        frame = pd.read_parquet(path)
        if len(frame) > options.rows or (only and path.stem not in only):
            continue
        folds = list(quality.folds(frame))[: options.folds]
        for name in names:
            error, chance = judge(METHODS[name], folds)
            figures.append((path.stem, name, error, chance, error - chance))
            mark = "  <--" if error - chance > MAX_EXCESS else ""
            print(
                f"{path.stem:20}{name:16}{error:8.4f}{chance:8.4f}{error - chance:8.4f}{mark}",
                flush=True,
            )
    table = pd.DataFrame(figures, columns=["table", "method", "error", "chance", "more"])
    means = table.drop(columns="table").groupby("method", sort=False).mean()
    means["too much"] = table.groupby("method", sort=False)["more"].agg(
        lambda more: int((more > MAX_EXCESS).sum())
    )
    print(f"\nmean of {table['table'].nunique()} tables\n{means.round(4).to_string()}")


if __name__ == "__main__":
    main()
