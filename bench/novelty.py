"""Novelty: is a class that training never saw found as new, beside scikit-learn's detectors?

    python bench/novelty.py [DIRECTORY] [--rows 2000] [--tables 20] [--texts 5] [--two]

DIRECTORY has ``tabular/`` and ``text/``. The commonest classes of each set, at most three, are held
out one at a time; a third of the other rows is kept for testing as well. The area under the ROC
curve says how well the rows of the class are told from those; a half is guessing.
IsolationForest and LocalOutlierFactor have their defaults, on one-hot and scaled columns, or on
tf-idf of words (of characters, where a text has no spaces). Seconds are those of learning what is
usual and of scoring the rows; deciban's are also given without the fit, which is that of
the classifier. The form of deciban's score was chosen on texts and on tables of three classes or
more; nothing was chosen on tables of two: ``--two --rows 1000 --tables 40 --texts 0``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

import peers
from deciban import AODE, LogisticRegression, NaiveBayes

MAX_CLASSES = 3

#: Scores of the test rows (low is new), seconds of all, and of scoring alone.
Answer = tuple[np.ndarray, float, float]
Method = Callable[[pd.DataFrame, np.ndarray, pd.DataFrame], Answer]


def ours(kind: type[NaiveBayes] | type[AODE]) -> Method:
    """A classifier of deciban."""

    def method(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
        start = time.perf_counter()
        model = kind().fit(train, y)
        middle = time.perf_counter()
        scores, end = model.novelty(test), time.perf_counter()
        return scores, end - start, end - middle

    return method


def linear(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """LogisticRegression on the columns of the detectors; one class alone cannot be fitted."""
    a, b = _encoded(train, test)
    start = time.perf_counter()
    model = LogisticRegression().fit(a, y)
    middle = time.perf_counter()
    scores, end = model.novelty(b), time.perf_counter()
    return scores, end - start, end - middle


def detector(make: Callable[[], IsolationForest | LocalOutlierFactor]) -> Method:
    """A detector of scikit-learn."""

    def method(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
        a, b = _encoded(train, test)
        start = time.perf_counter()
        model = make().fit(a)
        middle = time.perf_counter()
        scores, end = model.score_samples(b), time.perf_counter()
        return scores, end - start, end - middle

    return method


def _encoded(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    if list(train) != ["text"]:
        return peers._encode(peers._one_hot(train), peers.plain(train), peers.plain(test))
    spaced = train["text"].str.count(" ").sum() > len(train) * 2
    words = {} if spaced else {"analyzer": "char", "ngram_range": (1, 2)}
    tfidf = TfidfVectorizer(sublinear_tf=True, **words)
    return tfidf.fit_transform(train["text"]), tfidf.transform(test["text"])


METHODS: dict[str, Method] = {
    "NaiveBayes": ours(NaiveBayes),
    "AODE": ours(AODE),
    "LogisticRegression": linear,
    "IsolationForest": detector(lambda: IsolationForest(random_state=0)),
    "LocalOutlierFactor": detector(lambda: LocalOutlierFactor(novelty=True)),
}
TEXT_METHODS = {name: method for name, method in METHODS.items() if name != "AODE"}


def measure(methods: dict[str, Method], frame: pd.DataFrame) -> dict[str, np.ndarray]:
    """The mean area and seconds of each method, one class held out at a time."""
    y = frame["label"].astype(str).to_numpy()
    X = (
        frame[["text"]]
        if "text" in frame
        else frame.drop(columns=["label", "split"], errors="ignore")
    )
    rng, results = np.random.default_rng(0), {name: [] for name in methods}
    for label in pd.Series(y).value_counts().index[:MAX_CLASSES]:
        new, old = np.flatnonzero(y == label), np.flatnonzero(y != label)
        rng.shuffle(old)
        train, test = old[len(old) // 3 :], np.concatenate([old[: len(old) // 3], new])
        is_new = y[test] == label
        for name, method in methods.items():
            if name == "LogisticRegression" and len(np.unique(y[train])) < 2:
                continue
            scores, *seconds = method(X.iloc[train], y[train], X.iloc[test])
            results[name].append((roc_auc_score(is_new, -scores), *seconds))
    return {name: np.mean(each, axis=0) for name, each in results.items() if each}


def report(title: str, results: dict[str, dict[str, np.ndarray]]) -> None:
    """The means over the sets."""
    if not results:
        return
    common = set.intersection(*(set(each) for each in results.values()))
    names = [name for name in METHODS if name in common]  # some cannot learn one class alone
    print(f"\n{title}: mean of {len(results)}")
    print(f"{'':20}{'area':>8}{'seconds':>10}{'scoring':>10}")
    for name in names:
        area, seconds, scoring = np.mean([r[name] for r in results.values()], axis=0)
        print(f"{name:20}{area:8.3f}{seconds:10.4f}{scoring:10.4f}")


def _sets(folder: Path, rows: int, two: bool) -> list[tuple[Path, pd.DataFrame]]:
    """Sets of at least 150 rows, those of three classes or more first; or those of two alone."""
    out = []
    for file in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(file)
        frame = frame.drop_duplicates("text") if "text" in frame else frame
        frame = frame.sample(min(len(frame), rows), random_state=0)
        if len(frame) >= 150 and not (two and frame["label"].nunique() > 2):
            out.append((file, frame))
    return sorted(out, key=lambda each: each[1]["label"].nunique() < 3)


def main() -> None:
    """Print a line a set, then the means."""
    parser = argparse.ArgumentParser(description="Classes that were held out, found as new.")
    parser.add_argument("directory", nargs="?", default="../shared/data", type=Path)
    parser.add_argument("--rows", type=int, default=2_000, help="of each set, at random")
    parser.add_argument("--tables", type=int, default=20, help="the first so many")
    parser.add_argument("--texts", type=int, default=5, help="the first so many")
    parser.add_argument("--two", action="store_true", help="sets of two classes alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    plan = (("tabular", METHODS, options.tables), ("text", TEXT_METHODS, options.texts))
    for folder, methods, most in plan:
        results: dict[str, dict[str, np.ndarray]] = {}
        for file, frame in _sets(options.directory / folder, options.rows, options.two):
            if len(results) == most:
                break
            results[file.stem] = measure(methods, frame)
            areas = "".join(f"{figures[0]:10.3f}" for figures in results[file.stem].values())
            print(f"{file.stem:20}{areas}", flush=True)
        if not results and most:
            print(f"novelty: no Parquet files in {options.directory / folder}")
        report(folder, results)


if __name__ == "__main__":
    main()
