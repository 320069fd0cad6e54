"""How good the probabilities are, on real tables, beside what people build today.

    python bench/quality.py [DIRECTORY] [--rows 10000] [--only NAME,NAME] [--strong] [--ebm]
                            [--catboost] [--methods NAME,NAME] [--folds 1]

Every Parquet file of the directory is a table with a column ``label`` and
perhaps ``split`` (train, test); without one, 5 folds with a fixed seed. For
each table and in the mean: log loss, accuracy, calibration error and seconds; beside the
means, on how many tables the first method has a lower log loss than each of the others and on
how many a higher one, and the mean rank of every method by log loss (1 is the best).
The peers fill holes with medians and "?", as their users must. ``--strong`` adds
the flagship and what it is measured against, ``--ebm`` and ``--catboost`` the slowest of
them, which ``--methods flagship,ebm --folds 1`` makes bearable. Seconds are those of processors,
of the programs that a method starts as well.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

import peers
from deciban import AODE, BayesClassifier, NaiveBayes
from side_by_side import processor_seconds

#: Probabilities below this count as this: a peer that is sure and wrong is not infinitely wrong.
MIN_PROBABILITY = 1e-15

Fold = tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]
Method = Callable[[pd.DataFrame, np.ndarray, pd.DataFrame], tuple[np.ndarray, np.ndarray]]


class Figures(NamedTuple):
    """What one method reached on one table."""

    log_loss: float
    accuracy: float
    calibration: float
    seconds: float


def ours(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The defaults of NaiveBayes."""
    model = NaiveBayes().fit(train, y)
    return model.classes_, model.predict_proba(test)


def pairs(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The defaults of AODE."""
    model = AODE().fit(train, y)
    return model.classes_, model.predict_proba(test)


def flagship(
    train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray]:
    """The defaults of BayesClassifier."""
    model = BayesClassifier(progress=False).fit(train, y)
    return model.classes_, model.predict_proba(test)


def _fill(frame: pd.DataFrame, columns: list[str], medians: pd.Series) -> np.ndarray:
    return frame[columns].astype(float).fillna(medians).to_numpy()


def _sum_of(numbers: Any) -> Method:
    """A model of the numbers and CategoricalNB of the rest, log-likelihoods added."""

    def method(
        train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame
    ) -> tuple[np.ndarray, np.ndarray]:
        numeric, categorical = peers.split_columns(train)
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        joint = np.tile(np.log(counts / counts.sum()), (len(test), 1))
        if numeric:
            medians = train[numeric].astype(float).median().fillna(0.0)
            a, b = (_fill(part, numeric, medians) for part in (train, test))
            joint += numbers(a, codes, b)
        if categorical:
            a, b = (
                part[categorical].astype(object).fillna("?").astype(str) for part in (train, test)
            )
            encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(a)
            sizes = [len(values) + 1 for values in encoder.categories_]
            model = CategoricalNB(min_categories=sizes).fit(encoder.transform(a) + 1, codes)
            joint += (
                model.predict_joint_log_proba(encoder.transform(b) + 1) - model.class_log_prior_
            )
        joint -= np.logaddexp.reduce(joint, axis=1, keepdims=True)
        return classes, np.exp(joint)

    return method


def _gaussian(a: np.ndarray, y: np.ndarray, b: np.ndarray) -> np.ndarray:
    model = GaussianNB().fit(a, y)
    return np.asarray(model.predict_joint_log_proba(b) - np.log(model.class_prior_))


def _ten_bins(a: np.ndarray, y: np.ndarray, b: np.ndarray) -> np.ndarray:
    bins = KBinsDiscretizer(
        10, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
    ).fit(a)
    model = CategoricalNB(min_categories=10).fit(bins.transform(a), y)
    return np.asarray(model.predict_joint_log_proba(bins.transform(b)) - model.class_log_prior_)


def wnb(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """GeneralNB of wnb: normal numbers, categorical rest; where it answers NaN, the prior."""
    from wnb import Distribution, GeneralNB

    numeric, categorical = peers.split_columns(train)
    medians = train[numeric].astype(float).median().fillna(0.0)
    a, b = train.copy(), test.copy()
    for part in (a, b):
        for c in numeric:
            part[c] = part[c].astype(float).fillna(medians[c])
        for c in categorical:
            part[c] = part[c].astype(object).fillna("?").astype(str)
    kinds = [Distribution.NORMAL if c in numeric else Distribution.CATEGORICAL for c in train]
    model = GeneralNB(kinds, alpha=1.0).fit(a, y)
    proba = np.asarray(model.predict_proba(b), dtype=float)
    _, counts = np.unique(y, return_counts=True)
    return model.classes_, np.where(np.isfinite(proba), proba, counts / counts.sum())


METHODS: dict[str, Method] = {
    "deciban": ours,
    "AODE": pairs,
    "gaussian+cat": _sum_of(_gaussian),
    "kbins+cat": _sum_of(_ten_bins),
    "wnb": wnb,
}


def folds(frame: pd.DataFrame) -> Iterator[Fold]:
    """The official split, or five folds."""
    y = frame["label"].astype(str).to_numpy()
    X = frame.drop(columns=["label", "split"], errors="ignore")
    if "split" in frame and set(frame["split"]) >= {"train", "test"}:
        train, test = (np.flatnonzero(frame["split"] == part) for part in ("train", "test"))
        yield X.iloc[train], y[train], X.iloc[test], y[test]
        return
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        yield X.iloc[train], y[train], X.iloc[test], y[test]


def measure(method: Method, fold: Fold) -> Figures:
    """One method on one fold; a class that training never saw has probability zero."""
    train, y, test, truth = fold
    start = processor_seconds()
    classes, proba = method(train, y, test)
    seconds = processor_seconds() - start
    at = {label: i for i, label in enumerate(classes.tolist())}
    own = np.array([at.get(label, -1) for label in truth])
    given = np.where(own >= 0, proba[np.arange(len(own)), own], 0.0)
    right = proba.argmax(axis=1) == own
    return Figures(
        float(-np.log(np.clip(given, MIN_PROBABILITY, 1.0)).mean()),
        float(right.mean()),
        calibration_error(proba.max(axis=1), right),
        seconds,
    )


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """How far confidence is from being right, over ten bins of confidence, weighted by rows."""
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [
        abs(confidence[which == b].mean() - right[which == b].mean()) * np.mean(which == b)
        for b in np.unique(which)
    ]
    return float(np.sum(gaps))


def ranks(names: list[str], results: dict[str, dict[str, Figures]]) -> dict[str, float]:
    """The mean rank of each method by log loss, 1 being the lowest; equal ones share theirs."""
    losses = np.array([[row[name].log_loss for name in names] for row in results.values()])
    below = (losses[:, None, :] < losses[:, :, None]).sum(axis=2)
    equal = (losses[:, None, :] == losses[:, :, None]).sum(axis=2)
    return dict(zip(names, (1 + below + (equal - 1) / 2).mean(axis=0).tolist(), strict=True))


def wins(ours: str, theirs: str, results: dict[str, dict[str, Figures]]) -> tuple[int, int]:
    """On how many tables the first has the lower log loss, and on how many the other."""
    gaps = np.array([row[theirs].log_loss - row[ours].log_loss for row in results.values()])
    return int((gaps > 0).sum()), int((gaps < 0).sum())


def report(names: list[str], results: dict[str, dict[str, Figures]], seconds: float) -> None:
    """The means, the mean rank, and the first method beside each: its share, wins and losses."""
    print(f"\nmean of {len(results)} tables ({seconds:.0f} s)")
    head = ("log loss", "accuracy", "cal. err.", "s / fold", "rank")
    title = f"{'ours/theirs':>13}{'wins':>6}{'losses':>8}"
    print(f"{'':16}" + "".join(f"{name:>10}" for name in head) + title)
    means = {n: Figures(*np.mean([r[n] for r in results.values()], axis=0)) for n in names}
    rank = ranks(names, results)
    for name, mean in means.items():
        share = means[names[0]].log_loss / mean.log_loss
        won, lost = wins(names[0], name, results)
        print(
            f"{name:16}{mean.log_loss:10.4f}{mean.accuracy:10.4f}{mean.calibration:10.4f}"
            f"{mean.seconds:10.3f}{rank[name]:10.2f}{share:13.2f}{won:6}{lost:8}"
        )


def main() -> None:
    """Print a line a table, then the means."""
    parser = argparse.ArgumentParser(description="Log loss and accuracy on real tables.")
    parser.add_argument("directory", nargs="?", default="../shared/data/tabular", type=Path)
    parser.add_argument("--rows", type=int, default=10_000, help="leave larger tables out")
    parser.add_argument("--only", default="", help="some tables, by name")
    parser.add_argument("--strong", action="store_true", help="the flagship and its peers")
    parser.add_argument("--ebm", action="store_true", help="interpret's EBM as well (slow)")
    parser.add_argument("--catboost", action="store_true", help="CatBoost as well (slow)")
    parser.add_argument("--methods", default="", help="some of them, by name")
    parser.add_argument("--folds", type=int, default=5, help="only the first of each table's")
    options = parser.parse_args()
    files = sorted(options.directory.glob("*.parquet")) if options.directory.is_dir() else []
    if not files:
        print(f"quality: no Parquet files in {options.directory}; pass a directory of tables")
        return
    warnings.simplefilter("ignore")
    methods = {"flagship": flagship, **peers.STRONG, **METHODS} if options.strong else METHODS
    slow = {name: method for name, method in peers.SLOW.items() if getattr(options, name)}
    methods = {**methods, **slow}
    wanted = set(filter(None, options.methods.split(",")))
    methods = {name: method for name, method in methods.items() if not wanted or name in wanted}
    if not methods:
        print(f"quality: no method is named {options.methods}; --strong and others add some")
        return
    names, results, start = list(methods), {}, time.perf_counter()
    print("log loss     " + "".join(f"{name:>14}" for name in names))
    for file in files:
        frame = pd.read_parquet(file)
        if len(frame) > options.rows or (options.only and file.stem not in options.only.split(",")):
            continue
        parts = list(folds(frame))[: options.folds]
        figures = {
            n: Figures(*np.mean([measure(methods[n], p) for p in parts], axis=0)) for n in names
        }
        results[file.stem] = figures
        print(
            f"{file.stem:18}" + "".join(f"{figures[n].log_loss:14.3f}" for n in names), flush=True
        )
    report(names, results, time.perf_counter() - start)


if __name__ == "__main__":
    main()
