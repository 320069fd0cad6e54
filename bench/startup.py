"""How long a small command takes, beside importing NumPy.

    python bench/startup.py [RUNS]

`deciban predict` of four rows, and others, against `python -c "import numpy"` in the same minute:
by the clock (by hyperfine where it is installed) and by processor time, the least of so many runs.
What is asked is 0.30 s for `predict` on a machine that imports NumPy in 0.10 s: three times that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

FRUIT = Path(__file__).parents[1] / "docs" / "fruit.csv"
PYTHON = sys.executable
COMMAND = [PYTHON, "-m", "deciban"]
WANTED_RATIO = 3.0


def main() -> None:
    """Print a line for every command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("fruit.csv").write_bytes(FRUIT.read_bytes())
        Path("few.csv").write_text("".join(FRUIT.read_text().splitlines(keepends=True)[:5]))
        subprocess.run(
            [*COMMAND, "train", "fruit.csv", "-t", "fruit", "-o", "m.deciban", "-q"], check=True
        )
        works = {
            "import numpy": [PYTHON, "-c", "import numpy"],
            "deciban --version": [*COMMAND, "--version"],
            "deciban predict": [*COMMAND, "predict", "m.deciban", "few.csv"],
            "deciban predict -o": [*COMMAND, "predict", "m.deciban", "few.csv", "-o", "a.csv",
                                   "--force"],
            "deciban explain": [*COMMAND, "explain", "m.deciban", "few.csv"],
            "deciban inspect": [*COMMAND, "inspect", "m.deciban"],
        }  # fmt: skip
        measured = {name: measure(work, runs) for name, work in works.items()}
    wall, cpu = measured["import numpy"]
    print(f"{'':20}  {'seconds':>8}  {'ratio':>6}  {'CPU':>8}  {'ratio':>6}")
    for name, (w, c) in measured.items():
        print(f"{name:20}  {w:8.3f}  {w / wall:6.2f}  {c:8.3f}  {c / cpu:6.2f}")
    print(f"wanted of predict: a ratio of {WANTED_RATIO:g}")


def measure(work: list[str], runs: int) -> tuple[float, float]:
    """The least seconds by the clock and of processor time."""
    if shutil.which("hyperfine"):
        return hyperfine(work, runs)
    walls, cpus = [], []
    for _ in range(runs):
        before, began = os.times(), perf_counter()
        subprocess.run(work, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        walls.append(perf_counter() - began)
        cpus.append(sum(after[2:4]) - sum(before[2:4]))
    return min(walls), min(cpus)


def hyperfine(work: list[str], runs: int) -> tuple[float, float]:
    """As hyperfine measures it."""
    how = ["--warmup", "2", "--runs", str(runs), "--export-json", "h.json", "--style", "none"]
    subprocess.run(["hyperfine", *how, subprocess.list2cmdline(work)], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    (said,) = json.loads(Path("h.json").read_text())["results"]
    return said["min"], said["user"] + said["system"]


if __name__ == "__main__":
    main()
