"""Texts to counts, side by side with scikit-learn and Polars.

    python bench/text.py DIRECTORY

takes newsgroups20.parquet and zh_hotel.parquet, with columns ``text`` and
``label``, from the directory, draws 200,000 documents from each, cuts long ones
so that no set has more than about 87 MB, and prints both times and the ratio.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import CountVectorizer as Theirs

from deciban.engines.threads import n_threads
from deciban.source import batches
from deciban.text import CountVectorizer, Tokenizer, Vocabulary, parts
from side_by_side import best

DOCUMENTS, MEGABYTES = 200_000, 87
PATTERN = r"(?u)\b\w\w+\b"


class Work(NamedTuple):
    """One line of the report."""

    name: str
    megabytes: float
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    asked: float


def drawn(path: Path, column: str) -> pl.DataFrame:
    """Documents drawn with replacement, long ones cut until the whole has the wanted size."""
    table = pl.read_parquet(path).select(text=column, label=pl.col("label").cast(pl.String))
    table = table.filter(pl.col("text").str.len_bytes() > 0)
    table = table[np.random.default_rng(0).integers(0, len(table), DOCUMENTS)]
    size = table["text"].str.len_bytes().to_numpy()
    limits = np.arange(100, 20_000, 20)
    fits = [limit for limit in limits if np.minimum(size, limit).sum() <= MEGABYTES * 1e6]
    return table.with_columns(pl.col("text").str.slice(0, fits[-1]))


def counted(path: Path, rule: Tokenizer) -> Vocabulary:
    """Our pass over the file: read, tokenise, count."""
    words = Vocabulary()
    for batch in batches(path):
        texts = batch.columns["text"]
        parts.count(rule, texts, words, np.zeros(len(texts), dtype=np.int64), 1)
    return words


def grouped(path: Path, pattern: str) -> pl.DataFrame:
    """The same by Polars, streaming."""
    text = pl.col("text").str.to_lowercase().str.extract_all(pattern)
    plan = pl.scan_parquet(path).select(text.explode()).group_by("text").len()
    return plan.collect(engine="streaming")


def works(directory: Path, scratch: Path) -> Iterator[Work]:
    """All that is measured."""
    for language, name, column in (
        ("English", "newsgroups20", "text_stripped"),
        ("Chinese", "zh_hotel", "text"),
    ):
        table = drawn(directory / f"{name}.parquet", column)
        megabytes = table["text"].str.len_bytes().sum() / 1e6
        path = scratch / f"{name}.parquet"
        table.write_parquet(path)
        texts = table["text"].to_list()
        yield Work(
            f"{language}, CountVectorizer",
            megabytes,
            lambda texts=texts: CountVectorizer().fit_transform(texts),
            lambda texts=texts: Theirs().fit_transform(texts),
            8,
        )
        yield Work(
            f"{language}, file to counts, Polars",
            megabytes,
            lambda path=path: counted(path, Tokenizer("words")),
            lambda path=path: grouped(path, PATTERN.removeprefix("(?u)")),
            2,
        )


def main() -> None:
    """Print one line a work."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"deciban against its peers, {n_threads()} threads, best of several runs")
    print(f"{'work':38}{'ours':>10}{'theirs':>10}{'ratio':>8}{'asked':>7}{'MB/s':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        for work in works(Path(sys.argv[1]), Path(scratch)):
            ours, theirs = best(work.ours, work.theirs, runs=2)
            print(
                f"{work.name:38}{ours * 1e3:8.0f}ms{theirs * 1e3:8.0f}ms{theirs / ours:7.1f}x"
                f"{work.asked:6.0f}x{work.megabytes / ours:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
