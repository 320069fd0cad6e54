"""Texts to counts, side by side with scikit-learn and Polars.

    python bench/text.py [DIRECTORY]

takes newsgroups20.parquet and zh_hotel.parquet, with columns ``text`` and
``label``, from the directory, draws 200,000 documents from each, cuts long ones
so that no set has more than about 87 MB, and prints both times and the ratio.
Of Chinese, deciban counts characters and pairs of them, and so does the peer;
beside that stands the peer as it is, which takes whole clauses for words.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import CountVectorizer as Theirs
from sklearn.naive_bayes import MultinomialNB

from deciban import NaiveBayes
from deciban.sources import batches
from deciban.text import CountVectorizer, Tokenizer, Vocabulary, parallel
from deciban.threads import n_threads
from side_by_side import best

DOCUMENTS, MEGABYTES = 200_000, 87
#: A smaller set of shorter texts.
SHORT_DOCUMENTS, SHORT_CHARACTERS = 60_000, 320
PATTERN = r"(?u)\b\w\w+\b"
PAIRS = {"analyzer": "char", "ngram_range": (1, 2)}


class Work(NamedTuple):
    """One line of the report."""

    name: str
    megabytes: float
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    asked: float


def draw(path: Path, column: str) -> pl.DataFrame:
    """Documents drawn with replacement, long ones cut until the whole has the wanted size."""
    table = pl.read_parquet(path).select(text=column, label=pl.col("label").cast(pl.String))
    table = table.filter(pl.col("text").str.len_bytes() > 0)
    table = table[np.random.default_rng(0).integers(0, len(table), DOCUMENTS)]
    size = table["text"].str.len_bytes().to_numpy()
    limits = np.arange(100, 20_000, 20)
    fits = [limit for limit in limits if np.minimum(size, limit).sum() <= MEGABYTES * 1e6]
    return table.with_columns(pl.col("text").str.slice(0, fits[-1]))


def count(path: Path, rule: Tokenizer) -> Vocabulary:
    """Our pass over the file: read, tokenise, count."""
    words = Vocabulary()
    for batch in batches(path):
        texts = batch.columns["text"]
        parallel.count(rule, texts, words, np.zeros(len(texts), dtype=np.int64), 1)
    return words


def polars_count(path: Path, pattern: str) -> pl.DataFrame:
    """Tokens counted by Polars, streaming."""
    text = pl.col("text").str.to_lowercase().str.extract_all(pattern)
    plan = pl.scan_parquet(path).select(text.explode()).group_by("text").len()
    return plan.collect(engine="streaming")


def pipeline(
    texts: list[str], labels: list[str], options: dict[str, Any]
) -> tuple[Theirs, MultinomialNB]:
    """What people build today."""
    words = Theirs(**options)
    return words, MultinomialNB().fit(words.fit_transform(texts), labels)


def classifiers(
    language: str, texts: list[str], labels: list[str], rule: dict[str, Any], asked: float
) -> Iterator[Work]:
    """Texts to a model, and to predictions; so many times as fast is asked without calibration."""
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    ours = NaiveBayes(calibrate=False).fit(texts, labels)
    words, theirs = pipeline(texts, labels, rule)
    for name, options, ratio in (("", {"calibrate": False}, asked), (", calibrated", {}, 8)):
        yield Work(
            f"{language}, fit{name}",
            megabytes,
            lambda options=options: NaiveBayes(**options).fit(texts, labels),
            lambda: pipeline(texts, labels, rule),
            ratio,
        )
    yield Work(
        f"{language}, predict",
        megabytes,
        lambda: ours.predict(texts),
        lambda: theirs.predict(words.transform(texts)),
        15,
    )
    message = [texts[0][:120]]
    some = min(seconds_of(lambda: ours.predict_proba(message)) for _ in range(2000))
    print(f"{language}, one short message: {some * 1e6:.0f} microseconds (asked 50)")


def whole_clauses(language: str, texts: list[str], labels: list[str], megabytes: float) -> Work:
    """The peer as it is, which does far less where words have no spaces between them."""
    return Work(
        f"{language}, fit, theirs by clauses",
        megabytes,
        lambda: NaiveBayes(calibrate=False).fit(texts, labels),
        lambda: pipeline(texts, labels, {}),
        1,
    )


def seconds_of(work: Callable[[], Any]) -> float:
    """Seconds that some work takes once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


PEAK = """
import json, sys
import polars as pl
table = pl.read_parquet(sys.argv[1])
texts, labels = table["text"].to_list(), table["label"].to_list()
options = {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(sys.argv[3]).items()}
if sys.argv[2] == "ours":
    from deciban import NaiveBayes
    work = lambda some, y: NaiveBayes(**options).fit(some, y)
else:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    work = lambda some, y: MultinomialNB().fit(CountVectorizer(**options).fit_transform(some), y)
work(texts[:1000], labels[:1000])
def memory(name):
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")     # forget the peak of reading the file
before = memory("VmRSS")
work(texts, labels)
print(memory("VmHWM") - before)
"""


def peak(path: Path, side: str, options: dict[str, Any]) -> float:
    """Megabytes of training above the texts, in a process of its own."""
    command = [sys.executable, "-c", PEAK, str(path), side, json.dumps(options)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


def memory(path: Path, language: str, rule: dict[str, Any]) -> None:
    """The peak of training, with and without calibration."""
    theirs = peak(path, "theirs", rule)
    for name, options in (("fit", {"calibrate": False}), ("fit, calibrated", {})):
        ours = peak(path, "ours", options)
        print(
            f"{language}, peak memory of {name} above the texts: {ours:.0f} MB against "
            f"{theirs:.0f} MB, {ours / theirs:.2f} of it (asked 0.10)",
            flush=True,
        )


def works(directory: Path, scratch: Path) -> Iterator[Work]:
    """All that is measured."""
    for language, name, column, rule in (
        ("English", "newsgroups20", "text_stripped", {}),
        ("Chinese", "zh_hotel", "text", PAIRS),
    ):
        table = draw(directory / f"{name}.parquet", column)
        megabytes = table["text"].str.len_bytes().sum() / 1e6
        path = scratch / f"{name}.parquet"
        table.write_parquet(path)
        memory(path, language, rule)
        texts = table["text"].to_list()
        yield Work(
            f"{language}, CountVectorizer",
            megabytes,
            lambda texts=texts: CountVectorizer().fit_transform(texts),
            lambda texts=texts: Theirs().fit_transform(texts),
            8,
        )
        labels = table["label"].to_list()
        yield from classifiers(language, texts, labels, rule, 15 if rule else 25)
        if not rule:
            short = [text[:SHORT_CHARACTERS] for text in texts[:SHORT_DOCUMENTS]]
            some = labels[:SHORT_DOCUMENTS]
            yield from classifiers(f"{language}, short", short, some, rule, 20)
        if rule:
            yield whole_clauses(language, texts, labels, megabytes)
        yield Work(
            f"{language}, file to counts, Polars",
            megabytes,
            lambda path=path: count(path, Tokenizer("words")),
            lambda path=path: polars_count(path, PATTERN.removeprefix("(?u)")),
            2,
        )


def main() -> None:
    """Print one line a work."""
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data/text")
    if not directory.is_dir():
        print(f"text: there is no {directory}; pass a directory of texts")
        return
    print(f"deciban against its peers, {n_threads()} threads, best of several runs")
    print(f"{'work':38}{'ours':>10}{'theirs':>10}{'ratio':>8}{'asked':>7}{'MB/s':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        for work in works(directory, Path(scratch)):
            ours, theirs = best(work.ours, work.theirs, runs=2)
            print(
                f"{work.name:38}{ours * 1e3:8.0f}ms{theirs * 1e3:8.0f}ms{theirs / ours:7.1f}x"
                f"{work.asked:6.0f}x{work.megabytes / ours:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
