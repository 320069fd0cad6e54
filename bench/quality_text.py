"""How good the answers are on real texts, beside what people build today.

    python bench/quality_text.py DIRECTORY [--only SET,SET] [--methods NAME,NAME] [--run 3]

Every Parquet file of the directory is a set with the columns ``text`` and
``label``, and perhaps ``split`` (test, and all else is trained on; where there
are more than three, they are folds) or ``fold``. Without either, texts that are
there twice are dropped (``--copies`` keeps them, as the paper does) and ``--folds``
are dealt with a fixed seed. ``text_stripped`` is preferred to ``text``. ``--run`` stops
after so many folds. The peers are scikit-learn's, on tf-idf of its words; where
most of the text is of a script without spaces, on the tokens of deciban. ``paper``
is the best row of Wang and Manning (2012) where the set is one of theirs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from deciban import BayesClassifier, NaiveBayes
from deciban.text import Tokenizer

#: Probabilities below this count as this.
MIN_PROBABILITY = 1e-15
#: Accuracy in per cent that the paper has.
PAPER = {"rt_polarity": 79.4, "mpqa": 86.3, "cr": 81.8, "subj": 93.6, "rt2k": 89.45, "imdb": 91.8}

Fold = tuple[np.ndarray, np.ndarray]


class Figures(NamedTuple):
    """What one method reached on one set."""

    accuracy: float
    log_loss: float
    seconds: float


def methods(unspaced: bool) -> dict[str, Callable[[], Any]]:
    """All that are compared, each made anew for every fold."""

    def on_words(model: Callable[[], Any]) -> Callable[[], Any]:
        rule = {"analyzer": Tokenizer().tokens} if unspaced else {}
        return lambda: make_pipeline(TfidfVectorizer(**rule), model())

    return {
        "BayesClassifier": BayesClassifier,
        "NaiveBayes": NaiveBayes,
        "MultinomialNB": on_words(MultinomialNB),
        "ComplementNB": on_words(ComplementNB),
        "LogisticRegression": on_words(lambda: LogisticRegression(max_iter=200)),
    }


def read(path: Path, copies: bool) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Texts, labels, and what says how they are split."""
    table = pd.read_parquet(path)
    column = "text_stripped" if "text_stripped" in table else "text"
    stated = next((name for name in ("split", "fold") if name in table), None)
    if stated is None and not copies:
        table = table.drop_duplicates(column)
    split = None if stated is None else table[stated].to_numpy()
    return table[column].tolist(), table["label"].to_numpy(), split


def folds(y: np.ndarray, split: np.ndarray | None, n_folds: int) -> Iterator[Fold]:
    """Rows to train on, and rows to judge."""
    if split is None:
        yield from StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y)
        return
    values = np.unique(split)
    for value in ["test"] if len(values) <= 3 else values:
        yield np.flatnonzero(split != value), np.flatnonzero(split == value)


def measure(make: Callable[[], Any], texts: list[str], y: np.ndarray, fold: Fold) -> Figures:
    """One method, trained and judged once."""
    start = time.perf_counter()
    train, test = fold
    model = make().fit([texts[i] for i in train], y[train])
    proba = model.predict_proba([texts[i] for i in test])
    seconds = time.perf_counter() - start
    at = np.searchsorted(model.classes_, y[test])
    truth = np.maximum(proba[np.arange(len(test)), at], MIN_PROBABILITY)
    right = np.mean(proba.argmax(axis=1) == at)
    return Figures(100 * float(right), float(-np.log(truth).mean()), seconds)


def is_unspaced(texts: list[str]) -> bool:
    """Whether most of some texts is Chinese, Japanese, or the like."""
    some = "".join(texts[:200])
    return sum("\u3040" <= c <= "\u9fff" for c in some) > len(some) / 2


def main() -> None:
    """Print a line for every set and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--run", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default="", help="some of them, by name")
    parser.add_argument("--copies", action="store_true")
    options = parser.parse_args()
    if not options.directory.is_dir() or not any(options.directory.glob("*.parquet")):
        print(f"quality_text: no Parquet files in {options.directory}; pass a directory of texts")
        return
    only, wanted = (set(filter(None, s.split(","))) for s in (options.only, options.methods))
    for path in sorted(options.directory.glob("*.parquet")):
        if only and path.stem not in only:
            continue
        texts, y, split = read(path, options.copies)
        some = list(folds(y, split, options.folds))[: options.run]
        paper = f", paper {PAPER[path.stem]}" if path.stem in PAPER else ""
        print(f"{path.stem}: {len(texts):,} texts, {len(some)} folds{paper}", flush=True)
        for name, make in methods(is_unspaced(texts)).items():
            if wanted and name not in wanted:
                continue
            figures = np.mean([measure(make, texts, y, fold) for fold in some], axis=0)
            print("  {:20} {:6.2f}%  log loss {:.4f}  {:7.2f} s".format(name, *figures), flush=True)


if __name__ == "__main__":
    main()
