"""Sets of classes with a guarantee, beside MAPIE's: how often they hold the truth, how large.

    python bench/sets.py [DIRECTORY] [--tables 20] [--rows 5000] [--scores]

Of each table a third is kept for testing. deciban takes its scores from the rows that it was
trained on, each left out; MAPIE's split method keeps a fifth of the rows for them, its cross
method fits five models; both by the same score (LAC), around logistic regression and a random
forest.
At each coverage: the share of test rows whose set has their class, the mean size of the
sets, and on how many tables the coverage is below the wish by more than chance alone would
have it (one time in a hundred, test and calibration rows being drawn at random). MAPIE's
sets may be empty; for sizes that compare, the likeliest class is put into them as well.
``--scores`` compares scores instead, on the exact leave-one-out posteriors of NaiveBayes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import betabinom
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import peers
from deciban import AODE, BayesClassifier, NaiveBayes

COVERAGES = (0.8, 0.9, 0.95)
#: What chance does less often than this is not chance.
CHANCE_LEVEL = 0.01
#: The penalty of RAPS for each class beyond the allowed number.
RAPS_PENALTY, RAPS_FREE_CLASSES = 0.05, 1

#: Sets by coverage, (coverages, rows, classes), the classes, and the rows behind the scores.
Answer = tuple[np.ndarray, np.ndarray, int]
Method = Callable[[pd.DataFrame, np.ndarray, pd.DataFrame], Answer]


def ours(kind: type[NaiveBayes] | type[AODE] | type[BayesClassifier]) -> Method:
    """A classifier of deciban."""

    def method(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
        model = kind().fit(train, y)
        sets = [model.predict_set(test, coverage) for coverage in COVERAGES]
        return np.stack(sets), model.classes_, int(model.model_.left_out.conformity.rows)

    return method


def split(estimator: Callable[[], object]) -> Method:
    """MAPIE's split method around an estimator: a fifth of the rows is for scores."""

    def method(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
        from mapie.classification import SplitConformalClassifier

        a, b = peers._encode(peers._one_hot(train), peers.plain(train), peers.plain(test))
        fit, held, y_fit, y_held = train_test_split(a, y, test_size=0.2, random_state=0)
        model = estimator().fit(fit, y_fit)
        known = np.isin(y_held, model.classes_)
        conformal = SplitConformalClassifier(model, list(COVERAGES), prefit=True)
        conformal.conformalize(held[known], y_held[known])
        sets = conformal.predict_set(b)[1].transpose(2, 0, 1)
        return _with_likeliest(sets, model.predict_proba(b)), model.classes_, int(known.sum())

    return method


def cross(estimator: Callable[[], object]) -> Method:
    """MAPIE's cross method around an estimator: the scores are those of five folds."""

    def method(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
        from mapie.classification import CrossConformalClassifier

        a, b = peers._encode(peers._one_hot(train), peers.plain(train), peers.plain(test))
        classes, codes = np.unique(y, return_inverse=True)
        conformal = CrossConformalClassifier(estimator(), list(COVERAGES), random_state=0)
        sets = conformal.fit_conformalize(a, codes).predict_set(b)[1].transpose(2, 0, 1)
        likeliest = estimator().fit(a, codes).predict_proba(b)
        return _with_likeliest(sets, likeliest), classes, len(y)

    return method


def _with_likeliest(sets: np.ndarray, proba: np.ndarray) -> np.ndarray:
    out = sets.astype(bool).copy()
    out[:, np.arange(len(proba)), proba.argmax(axis=1)] = True
    return out


def _logistic() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def _forest() -> RandomForestClassifier:
    return RandomForestClassifier(random_state=0, n_jobs=1)


METHODS: dict[str, Method] = {
    "BayesClassifier": ours(BayesClassifier),
    "AODE": ours(AODE),
    "NaiveBayes": ours(NaiveBayes),
    "split logistic": split(_logistic),
    "cross logistic": cross(_logistic),
    "split forest": split(_forest),
    "cross forest": cross(_forest),
}


# ---------------------------------------------------------------------- scores


def least_ambiguous(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """LAC: the probability of a class."""
    return p


def adaptive(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """APS: minus the probability of all classes that are likelier, and a random part of its own."""
    order = np.argsort(-p, axis=1)
    ranked = np.take_along_axis(p, order, axis=1)
    below = np.cumsum(ranked, axis=1) - ranked
    out = np.empty_like(p)
    np.put_along_axis(out, order, -(below + rng.random((len(p), 1)) * ranked), axis=1)
    return out


def regularised(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """RAPS: APS with a penalty on every class beyond the first."""
    rank = np.argsort(np.argsort(-p, axis=1), axis=1)
    return adaptive(p, rng) - RAPS_PENALTY * np.maximum(rank - RAPS_FREE_CLASSES + 1, 0)


SCORES = {"LAC": least_ambiguous, "APS": adaptive, "RAPS": regularised}


def scored(name: str) -> Method:
    """The sets of NaiveBayes under a score, from its exact leave-one-out posteriors."""
    score = SCORES[name]

    def method(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
        model, rng = NaiveBayes().fit(train, y), np.random.default_rng(0)
        known = np.searchsorted(model.classes_, y)
        own = np.sort(score(np.exp(model.leave_one_out(train, y)), rng)[np.arange(len(y)), known])
        p = model.predict_proba(test)
        value = (1 + np.searchsorted(own, score(p, rng), side="right")) / (1 + len(own))
        sets = np.stack([value > 1 - coverage for coverage in COVERAGES])
        return _with_likeliest(sets, p), model.classes_, len(y)

    return method


# ---------------------------------------------------------------------- figures


def measure(method: Method, frame: pd.DataFrame) -> np.ndarray:
    """Coverage, mean size and whether coverage is too low, at each coverage; and the seconds."""
    y = frame["label"].astype(str).to_numpy()
    X = frame.drop(columns=["label", "split"], errors="ignore")
    train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=0)
    start = time.perf_counter()
    sets, classes, rows = method(X.iloc[train], y[train], X.iloc[test])
    seconds = time.perf_counter() - start
    at = {label: i for i, label in enumerate(classes.tolist())}
    own = np.array([at.get(label, -1) for label in y[test]])
    held = sets[:, np.arange(len(own)), own] & (own >= 0)
    out = []
    for i, coverage in enumerate(COVERAGES):
        rank = np.floor((rows + 1) * (1 - coverage))
        chance = betabinom(len(own), rows + 1 - rank, rank) if rank else None
        low = chance is not None and chance.cdf(held[i].sum()) < CHANCE_LEVEL
        out.append((held[i].mean(), sets[i].sum(axis=1).mean(), low, seconds))
    return np.array(out)


def report(results: dict[str, dict[str, np.ndarray]]) -> None:
    """The means over the tables, for every coverage."""
    names = list(next(iter(results.values())))
    for i, coverage in enumerate(COVERAGES):
        print(f"\ncoverage {coverage:g}, mean of {len(results)} tables")
        print(f"{'':18}{'coverage':>10}{'size':>8}{'too low':>9}{'seconds':>9}{'ours/theirs':>13}")
        table = np.array([[r[n][i] for n in names] for r in results.values()])
        for j, name in enumerate(names):
            held, size, _, seconds = table[:, j].mean(axis=0)
            share = table[:, 0, 1].mean() / size
            print(
                f"{name:18}{held:10.3f}{size:8.3f}{int(table[:, j, 2].sum()):9}"
                f"{seconds:9.2f}{share:13.2f}"
            )


def main() -> None:
    """Print a line a table, then the means."""
    parser = argparse.ArgumentParser(description="Sets of classes with a guarantee.")
    parser.add_argument("directory", nargs="?", default="../shared/data/tabular", type=Path)
    parser.add_argument("--tables", type=int, default=20, help="the first so many that are small")
    parser.add_argument("--rows", type=int, default=5_000, help="leave larger tables out")
    parser.add_argument("--scores", action="store_true", help="compare scores instead")
    options = parser.parse_args()
    files = sorted(options.directory.glob("*.parquet")) if options.directory.is_dir() else []
    if not files:
        print(f"sets: no Parquet files in {options.directory}; pass a directory of tables")
        return
    warnings.simplefilter("ignore")
    methods = {name: scored(name) for name in SCORES} if options.scores else METHODS
    results: dict[str, dict[str, np.ndarray]] = {}
    for file in files:
        frame = pd.read_parquet(file)
        counts = frame["label"].value_counts()
        if len(frame) > options.rows or len(frame) < 300 or counts.min() < 10:
            continue
        results[file.stem] = {name: measure(method, frame) for name, method in methods.items()}
        sizes = "".join(f"{figures[1, 1]:10.3f}" for figures in results[file.stem].values())
        print(f"{file.stem:20}{sizes}", flush=True)
        if len(results) == options.tables:
            break
    report(results)


if __name__ == "__main__":
    main()
