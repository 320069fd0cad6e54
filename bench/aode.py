"""How fast AODE is built, and how good it is, beside Weka's AODE in the same run.

    python bench/aode.py [DIRECTORY] [--tables letter,connect4_binary] [--runs 3]

Weka's AODE takes nominal columns only, so both sides get the same: numbers of
no more than 20 different values as they are, others in ten bins of equal
frequency of the training rows. The build time of Weka is the one it prints,
which leaves reading the file and starting Java out; ours is all of ``fit`` on a
data frame, once with defaults (which also choose the smoothing and calibrate)
and once as plain as Weka's. Four fifths of the rows train, one fifth tests.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from deciban import AODE
from side_by_side import seconds

JAR = Path("/usr/share/java/weka.jar")
#: Numbers of no more different values are nominal as they are.
MAX_NOMINAL_VALUES = 20
WAYS: dict[str, dict[str, object]] = {
    "defaults": {},
    "as Weka": {"smoothing": 1, "calibrate": False, "missing": "skip"},
}


def nominal(frame: pd.DataFrame, train: np.ndarray) -> pd.DataFrame:
    """Every column as texts; long ranges of numbers in ten bins."""
    out = {}
    for name in frame.columns.drop(["label", "split"], errors="ignore"):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > MAX_NOMINAL_VALUES:
            cuts = np.unique(column.iloc[train].quantile(np.arange(1, 10) / 10).to_numpy())
            codes = np.searchsorted(cuts, column.to_numpy(), side="right")
            column = pd.Series(codes, index=frame.index).where(column.notna())
        known = column.notna()
        out[f"a{len(out)}"] = ("v" + column[known].astype(str)).reindex(frame.index)
    return pd.DataFrame(out)


def write_arff(path: Path, X: pd.DataFrame, y: np.ndarray, rows: np.ndarray) -> None:
    """The rows as Weka reads them; the values are those of the whole table."""
    whole = X.assign(label=["c" + label for label in y])
    lines = ["@relation rows"]
    for name in whole:
        values = ",".join(f"'{v}'" for v in sorted(whole[name].dropna().unique()))
        lines.append(f"@attribute {name} {{{values}}}")
    body = whole.iloc[rows].apply(lambda column: "'" + column + "'").fillna("?")
    lines += ["@data", *body.agg(",".join, axis=1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def weka(folder: Path) -> tuple[float, float]:
    """The build time that Weka prints, and its accuracy on the test rows."""
    train, test = (str(folder / f"{part}.arff") for part in ("train", "test"))
    command = ["java", "-Xmx2g", "-cp", str(JAR), "weka.classifiers.bayes.AODE", "-o"]
    run = subprocess.run(
        [*command, "-t", train, "-T", test], capture_output=True, text=True, check=True
    )
    built = re.search(r"Time taken to build model: ([\d.]+) seconds", run.stdout)
    tested = run.stdout.partition("=== Error on test data ===")[2]
    right = re.search(r"Correctly Classified Instances\s+\d+\s+([\d.]+)\s*%", tested)
    if built is None or right is None:
        raise RuntimeError(f"Weka said something else:\n{run.stdout}\n{run.stderr}")
    return float(built[1]), float(right[1]) / 100


def compare(file: Path, runs: int) -> None:
    """One table, side by side."""
    frame = pd.read_parquet(file)
    y = frame["label"].astype(str).to_numpy()
    order = np.random.default_rng(0).permutation(len(frame))
    train, test = np.split(order, [4 * len(order) // 5])
    X = nominal(frame, train)
    A, b, C, d = X.iloc[train], y[train], X.iloc[test], y[test]
    kinds = dict.fromkeys(X.columns, "categorical")
    print(f"{file.stem}: {len(train):,} rows, {X.shape[1]} columns, {len(set(y))} classes")
    with tempfile.TemporaryDirectory() as folder:
        for part, rows in (("train", train), ("test", test)):
            write_arff(Path(folder) / f"{part}.arff", X, y, rows)
        times: dict[str, list[float]] = {name: [] for name in WAYS}
        theirs = []
        for _ in range(runs):
            theirs.append(weka(Path(folder)))
            for name, how in WAYS.items():
                times[name] += [
                    seconds(lambda how=how: AODE(kinds=kinds, **how).fit(A, b)) for _ in range(3)
                ]
    slow, accuracy = min(t for t, _ in theirs), theirs[0][1]
    print(f"  {'Weka':10}{slow:9.3f} s{'':13}accuracy {accuracy:.4f}")
    for name, how in WAYS.items():
        right = float(np.mean(AODE(kinds=kinds, **how).fit(A, b).predict(C) == d))
        fast = min(times[name])
        print(f"  {name:10}{fast:9.3f} s{slow / fast:7.1f} times  accuracy {right:.4f}")


def main() -> None:
    """A few lines a table."""
    parser = argparse.ArgumentParser(description="AODE beside Weka's.")
    parser.add_argument("directory", nargs="?", default="../shared/data/tabular", type=Path)
    parser.add_argument("--tables", default="letter,connect4_binary")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if shutil.which("java") is None or not JAR.exists():
        print(f"aode: Weka is not installed (java and {JAR}); on Debian: apt install weka")
        return
    warnings.simplefilter("ignore")
    for name in options.tables.split(","):
        file = options.directory / f"{name}.parquet"
        if file.exists():
            compare(file, options.runs)
        else:
            print(f"aode: there is no {file}; pass a directory of tables")


if __name__ == "__main__":
    main()
