"""How long BayesClassifier takes to learn texts, beside what people build today.

    python bench/text_fit.py DIRECTORY [--only SET,SET] [--runs 2] [--max-texts 20000] [--cpu]

Sets are read as in ``quality_text.py``; of those without a stated split, a tenth is held out.
The peer is scikit-learn's LogisticRegression(C=10) on tf-idf of words and pairs of words (of
characters, where most of the text is of a script without spaces). Both are fitted in turn on
the same texts in one process, and the best time of each counts; beside the ratio stand the
accuracy and the log loss of both on the texts held out. ``--cpu`` counts the seconds of all
processors together instead of those of a clock: for a machine that does other things as well (with
OMP_NUM_THREADS=1, or threads of the peer's BLAS count while they wait).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from deciban import BayesClassifier
from deciban.threads import n_threads
from quality_text import MIN_PROBABILITY, Fold, folds, is_unspaced, read

N_FOLDS = 10


class Figures(NamedTuple):
    """What one side reached: seconds of the fastest fit, and the answers of the last."""

    seconds: float
    accuracy: float
    log_loss: float


def peer(texts: list[str]) -> Any:
    """What people build today."""
    analyzer = "char" if is_unspaced(texts) else "word"
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, analyzer=analyzer)
    return make_pipeline(words, LogisticRegression(C=10))


def measure(
    sides: list[Callable[[], Any]],
    texts: list[str],
    y: np.ndarray,
    fold: Fold,
    runs: int,
    clock: Callable[[], float],
) -> list[Figures]:
    """Every side, fitted in turn so many times."""
    train, test = ([texts[i] for i in rows] for rows in fold)
    times: list[list[float]] = [[] for _ in sides]
    models: list[Any] = [None for _ in sides]
    for _ in range(runs):
        for side, make in enumerate(sides):
            start = clock()
            models[side] = make().fit(train, y[fold[0]])
            times[side].append(clock() - start)
    return [
        Figures(min(each), *answers(model, test, y[fold[1]]))
        for each, model in zip(times, models, strict=True)
    ]


def answers(model: Any, test: list[str], y: np.ndarray) -> tuple[float, float]:
    """The accuracy in per cent and the log loss in nats."""
    proba = model.predict_proba(test)
    at = np.searchsorted(model.classes_, y)
    truth = np.maximum(proba[np.arange(len(y)), at], MIN_PROBABILITY)
    return 100 * float(np.mean(proba.argmax(axis=1) == at)), float(-np.log(truth).mean())


def main() -> None:
    """Print a line for every set, and the mean ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--max-texts", type=int, default=20_000)
    parser.add_argument("--cpu", action="store_true", help="seconds of all processors")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    only = set(filter(None, options.only.split(",")))
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"BayesClassifier.fit against tf-idf and LogisticRegression, {n_threads()} threads")
    print(f"{'set':20}{'texts':>7}{'K':>4}{'ours':>9}{'theirs':>9}{'ratio':>7}", end="")
    print(f"{'accuracy, ours and theirs':>27}{'log loss':>18}")
    ratios = []
    for path in sorted(options.directory.glob("*.parquet")):
        if only and path.stem not in only:
            continue
        texts, y, split = read(path, copies=False)
        fold = next(iter(folds(y, split, N_FOLDS, 1)))
        if len(fold[0]) > options.max_texts:
            continue
        sides = [BayesClassifier, lambda texts=texts: peer(texts)]
        ours, theirs = measure(sides, texts, y, fold, options.runs, clock)
        ratios.append(ours.seconds / theirs.seconds)
        print(
            f"{path.stem:20}{len(fold[0]):7,}{len(np.unique(y)):4}{ours.seconds:8.2f}s"
            f"{theirs.seconds:8.2f}s{ratios[-1]:7.2f}{ours.accuracy:16.2f}%{theirs.accuracy:9.2f}%"
            f"{ours.log_loss:10.4f}{theirs.log_loss:8.4f}",
            flush=True,
        )
    if ratios:
        print(f"mean ratio {np.mean(ratios):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
