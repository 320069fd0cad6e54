"""Training from files: time beside DuckDB and pandas, memory on a file of 2 GB, and the start.

    python bench/files.py [--rows 1000000] [--gigabytes 2]

The table has 20 columns of categories, 5 of numbers and 5 classes. DuckDB does
the equivalent GROUP BY of every column; the usual pipeline reads the file with
pandas, encodes the categories and fits CategoricalNB and GaussianNB. The start is
`deciban predict` on a file of twenty rows, in a new process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder

from deciban import NaiveBayes
from side_by_side import seconds

CATEGORIES = [f"c{j}" for j in range(20)]
NUMBERS = [f"n{j}" for j in range(5)]


def table(rows: int) -> str:
    """A query that makes the table; classes lean differently in every column."""
    categories = ", ".join(
        f"'{name}_' || CAST(floor(10 * power(random(), 1 + (k + {j}) % 5 / 4)) AS INT) AS {name}"
        for j, name in enumerate(CATEGORIES)
    )
    numbers = ", ".join(
        f"round((random() + random() + random()) * (k + {j} + 1), 4) AS {name}"
        for j, name in enumerate(NUMBERS)
    )
    inner = f"SELECT CAST(floor(5 * random()) AS INT) AS k FROM range({rows})"
    return f"SELECT {categories}, {numbers}, 'class_' || k AS label FROM ({inner})"


def write(path: Path, rows: int) -> None:
    """Write the table as CSV or Parquet, by the ending."""
    how = "FORMAT csv, HEADER" if path.suffix == ".csv" else "FORMAT parquet"
    duckdb.sql(f"COPY ({table(rows)}) TO '{path}' ({how})")


def duckdb_groups(path: Path) -> int:
    """The GROUP BY of every column with the label, in DuckDB: how many groups."""
    parts = [
        f"SELECT '{name}' AS name, label, CAST({name} AS VARCHAR) AS value, count(*) AS n "
        f"FROM '{path}' GROUP BY label, {name}"
        for name in CATEGORIES
    ]
    parts += [
        f"SELECT '{name}', label, '', count(*) + sum({name}) + sum({name} * {name}) "
        f"FROM '{path}' GROUP BY label"
        for name in NUMBERS
    ]
    return len(duckdb.sql(" UNION ALL ".join(parts)).fetchall())


def pandas_pipeline(path: Path) -> None:
    """What people write today."""
    frame = pd.read_parquet(path)
    codes = OrdinalEncoder().fit_transform(frame[CATEGORIES])
    CategoricalNB().fit(codes, frame["label"])
    GaussianNB().fit(frame[NUMBERS], frame["label"])


def best(work: Callable[[], object], runs: int) -> float:
    """The best time of some runs."""
    return min(seconds(work) for _ in range(runs))


def compare(folder: Path, rows: int) -> None:
    """Parquet to a model, beside both peers."""
    path = folder / "table.parquet"
    write(path, rows)
    pure = best(lambda: NaiveBayes(calibrate=False).fit(path, target="label"), 3)
    calibrated = best(lambda: NaiveBayes().fit(path, target="label"), 2)
    duck = best(lambda: duckdb_groups(path), 3)
    pandas = best(lambda: pandas_pipeline(path), 1)
    print(f"Parquet, {rows:,} rows x 25 columns, to a model")
    print(f"  deciban                      {pure:7.2f} s   (calibrated: {calibrated:.2f} s)")
    print(f"  DuckDB, GROUP BY each column {duck:7.2f} s   ours / theirs {pure / duck:6.2f}")
    print(f"  pandas + scikit-learn        {pandas:7.2f} s   theirs / ours {pandas / pure:6.1f}x")


MEMORY = """
import sys, time
from pathlib import Path
from deciban import NaiveBayes

def peak():  # of this process alone, in kB
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("VmHWM"))

NaiveBayes  # scikit-learn and the rest are loaded
before = peak()
start = time.perf_counter()
model = NaiveBayes().fit(sys.argv[1], target="label")
print(f"{model.counts_.weight.sum():.0f} {time.perf_counter() - start} {before} {peak()}")
"""


def memory(folder: Path, gigabytes: float) -> None:
    """A large CSV, trained in a process of its own: its peak memory."""
    path = folder / "large.csv"
    write(path, 200_000)
    rows = int(200_000 * gigabytes * 1e9 / path.stat().st_size)
    write(path, rows)
    size = path.stat().st_size
    command = [sys.executable, "-c", MEMORY, str(path)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    taken, base, peak = (float(value) for value in out[1:])
    print(f"CSV of {size / 1e9:.2f} GB, {int(out[0]):,} rows, to a calibrated model")
    print(f"  {taken:.1f} s, {size / 1e6 / taken:.0f} MB/s")
    print(f"  peak memory {peak / 1e3:.0f} MB, of which {base / 1e3:.0f} MB before it began")


def start(folder: Path) -> None:
    """The time of a command on a small file, beside importing what it cannot do without."""
    path, model = folder / "small.csv", folder / "small.deciban"
    write(path, 20)
    NaiveBayes().fit(path, target="label").save(model)
    command = [sys.executable, "-m", "deciban.cli", "predict", str(model), str(path)]
    bare = [sys.executable, "-c", "import numpy, typer, duckdb; duckdb.connect()"]
    ours, least = (
        best(lambda run=run: subprocess.run(run, capture_output=True, check=True), 10)
        for run in (command, bare)
    )
    print("deciban predict on 20 rows of CSV, in a new process")
    print(f"  {ours:.3f} s, of which {least:.3f} s to import numpy, Typer and DuckDB and connect")


def main() -> None:
    """Time, the start, then memory."""
    parser = argparse.ArgumentParser(description="Training from files.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="0 leaves time out")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="0 leaves memory out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.rows:
            compare(Path(folder), options.rows)
        start(Path(folder))
        if options.gigabytes:
            memory(Path(folder), options.gigabytes)


if __name__ == "__main__":
    main()
