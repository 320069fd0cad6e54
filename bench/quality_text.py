"""How good the answers are on real texts, beside what people build today.

    python bench/quality_text.py [DIRECTORY] [--only SET,SET] [--methods NAME,NAME] [--run 3]
    python bench/quality_text.py [DIRECTORY] --against count-ComplementNB --folds 5 --seeds 3

Every Parquet file of the directory is a set with the columns ``text`` and
``label``, and perhaps ``split`` (test, and all else is trained on; where there
are more than three, they are folds) or ``fold``. Without either, texts that are
there twice are dropped (``--copies`` keeps them, as the paper does) and ``--folds``
are dealt with a fixed seed, and with ``--seeds`` so often. ``text_stripped`` is preferred to
``text``. ``--run`` stops after so many folds. The peers are scikit-learn's, on tf-idf of its
words (``count-`` is on their plain counts); where most of the text is of a script without
spaces, on the tokens of deciban. ``paper`` is the best row of Wang and Manning (2012) where
the set is one of theirs.

``--against`` prints beside each method by how much it differs from the one named, on the same
texts, and the standard error of that: a difference of one standard error is noise.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
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
    """What one method reached on one set: per cent and nats, each text by itself, and seconds."""

    accuracy: np.ndarray
    log_loss: np.ndarray
    seconds: float


def methods(unspaced: bool) -> dict[str, Callable[[], Any]]:
    """All that are compared, each made anew for every fold."""

    def on_words(
        model: Callable[[], Any], vectorizer: type[CountVectorizer] = TfidfVectorizer
    ) -> Callable[[], Any]:
        rule = {"analyzer": Tokenizer().tokens} if unspaced else {}
        return lambda: make_pipeline(vectorizer(**rule), model())

    return {
        "BayesClassifier": BayesClassifier,
        "NaiveBayes": NaiveBayes,
        "plain-NaiveBayes": lambda: NaiveBayes(calibrate=False),
        "MultinomialNB": on_words(MultinomialNB),
        "ComplementNB": on_words(ComplementNB),
        "count-ComplementNB": on_words(ComplementNB, CountVectorizer),
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


def folds(y: np.ndarray, split: np.ndarray | None, n_folds: int, n_seeds: int) -> Iterator[Fold]:
    """Rows to train on, and rows to judge."""
    if split is None:
        for seed in range(n_seeds):
            yield from StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y)
        return
    values = np.unique(split)
    for value in ["test"] if len(values) <= 3 else values:
        yield np.flatnonzero(split != value), np.flatnonzero(split == value)


def measure(make: Callable[[], Any], texts: list[str], y: np.ndarray, some: list[Fold]) -> Figures:
    """One method, trained and judged on each fold; texts that are judged again are averaged."""
    right, loss, times = np.zeros((3, len(texts)))
    start = time.perf_counter()
    for train, test in some:
        model = make().fit([texts[i] for i in train], y[train])
        proba = model.predict_proba([texts[i] for i in test])
        at = np.searchsorted(model.classes_, y[test])
        right[test] += 100.0 * (proba.argmax(axis=1) == at)
        loss[test] -= np.log(np.maximum(proba[np.arange(len(test)), at], MIN_PROBABILITY))
        times[test] += 1
    seconds = (time.perf_counter() - start) / len(some)
    judged = times > 0
    return Figures(right[judged] / times[judged], loss[judged] / times[judged], seconds)


def difference(of: np.ndarray, peer: np.ndarray) -> tuple[float, float]:
    """The mean of the paired differences, and its standard error."""
    each = of - peer
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))


def is_unspaced(texts: list[str]) -> bool:
    """Whether most of some texts is Chinese, Japanese, or the like."""
    some = "".join(texts[:200])
    return sum("\u3040" <= c <= "\u9fff" for c in some) > len(some) / 2


def print_line(name: str, of: Figures, peer: Figures | None) -> None:
    """The figures of one method, and by how much they differ from those of a peer."""
    line = f"  {name:20} {of.accuracy.mean():6.2f}%  log loss {of.log_loss.mean():.4f}"
    if peer is not None:
        points = "{:+.2f} ± {:.2f}".format(*difference(of.accuracy, peer.accuracy))
        nats = "{:+.4f} ± {:.4f}".format(*difference(of.log_loss, peer.log_loss))
        line += f"  {points} points, {nats} nats"
    print(f"{line}  {of.seconds:7.2f} s", flush=True)


def main() -> None:
    """Print a line for every set and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", nargs="?", default="../shared/data/text", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--run", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default="", help="some of them, by name")
    parser.add_argument("--seeds", type=int, default=1, help="deal the folds so often")
    parser.add_argument("--against", default="", help="the method that the others differ from")
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
        some = list(folds(y, split, options.folds, options.seeds))[: options.run]
        paper = f", paper {PAPER[path.stem]}" if path.stem in PAPER else ""
        print(f"{path.stem}: {len(texts):,} texts, {len(some)} folds{paper}", flush=True)
        every = methods(is_unspaced(texts))
        peer = None
        if options.against:
            peer = measure(every.pop(options.against), texts, y, some)
            print_line(options.against, peer, None)
        for name, make in every.items():
            if not wanted or name in wanted:
                print_line(name, measure(make, texts, y, some), peer)


if __name__ == "__main__":
    main()
