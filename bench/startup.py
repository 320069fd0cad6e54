"""How long a small command takes, beside importing NumPy.

    python bench/startup.py [RUNS]

`deciban predict` of four rows, and others, against `python -c "import numpy"` in the same minute:
by the clock and by processor time, as hyperfine measures them: the least of so many runs (10 if
nothing is said) and their mean processor time. Without hyperfine this script takes the times
itself, and says so. A line is printed when it is measured; quietly, all take half a minute.
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
#: What is measured; the first is the peer of all.
WORKS = {
    "import numpy": [PYTHON, "-c", "import numpy"],
    "deciban --version": [*COMMAND, "--version"],
    "deciban predict": [*COMMAND, "predict", "m.deciban", "few.csv"],
    "deciban predict -o": [*COMMAND, "predict", "m.deciban", "few.csv", "-o", "a.csv", "--force"],
    "deciban inspect": [*COMMAND, "inspect", "m.deciban"],
    "deciban explain": [*COMMAND, "explain", "m.deciban", "few.csv"],
    "import scikit-learn": [PYTHON, "-c", "import sklearn.base"],
}


def main() -> None:
    """Print a line for every command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    if not shutil.which("hyperfine"):
        print("hyperfine is not installed (apt install hyperfine): this script takes the times.")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("fruit.csv").write_bytes(FRUIT.read_bytes())
        Path("few.csv").write_text("".join(FRUIT.read_text().splitlines(keepends=True)[:5]))
        subprocess.run(
            [*COMMAND, "train", "fruit.csv", "-t", "fruit", "-o", "m.deciban", "-q"], check=True
        )
        print(f"{'':20}  {'seconds':>8}  {'ratio':>6}  {'CPU':>8}  {'ratio':>6}", flush=True)
        peer: tuple[float, float] | None = None
        for name, work in WORKS.items():
            wall, cpu = measure(work, runs)
            peer = peer or (wall, cpu)
            figures = f"{wall:8.3f}  {wall / peer[0]:6.2f}  {cpu:8.3f}  {cpu / peer[1]:6.2f}"
            print(f"{name:20}  {figures}", flush=True)
    print(f"wanted of predict: a ratio of {WANTED_RATIO:g}")


def measure(work: list[str], runs: int) -> tuple[float, float]:
    """The least seconds by the clock, and seconds of processor time."""
    if shutil.which("hyperfine"):
        return hyperfine(work, runs)
    walls, cpus = [], []
    for _ in range(runs):
        before, began = os.times(), perf_counter()
        subprocess.run(work, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        walls.append(perf_counter() - began)
        cpus.append(sum(after[2:4]) - sum(before[2:4]))
    return min(walls), sum(cpus) / runs


def hyperfine(work: list[str], runs: int) -> tuple[float, float]:
    """As hyperfine measures it."""
    how = ["--warmup", "1", "--runs", str(runs), "--export-json", "h.json", "--style", "none"]
    subprocess.run(["hyperfine", *how, subprocess.list2cmdline(work)], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    (said,) = json.loads(Path("h.json").read_text())["results"]
    return said["min"], said["user"] + said["system"]


if __name__ == "__main__":
    main()
