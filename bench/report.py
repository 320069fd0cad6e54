"""A report on adult: from the model file and the data to the page.

    python bench/report.py [adult.parquet]

prints the seconds of the command as a whole, of which no more than 15 are asked, and
of its parts, each also as processor time: a busy machine shows in the former only. Without a
file, a made-up table of the shape of adult.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from deciban import NaiveBayes, evaluate, load
from deciban.report import report
from explain import table

ROWS, ASKED = 48_842, 15.0


def main() -> None:
    """Print one line a part."""
    X, y = table(sys.argv[1] if len(sys.argv) > 1 else None)
    whole = X.assign(label=y).iloc[:ROWS]
    with tempfile.TemporaryDirectory() as folder:
        model, data, page = (Path(folder, name) for name in ("m.deciban", "d.parquet", "r.html"))
        whole.to_parquet(data)
        NaiveBayes().fit(data, target="label").save(model)
        print(f"{len(whole):,} rows, {X.shape[1]} columns")
        command = [sys.executable, "-m", "deciban.cli", "report", model, data, "-o", page, "-q"]
        taken = told("the command", lambda: subprocess.run(command, check=True))
        print(f"                  {taken / ASKED:8.2f} of the {ASKED:g} s that are asked at most")
        found = load(model)
        told("of these: evaluate", lambda: evaluate(found, data, target="label", bootstrap=200))
        made = []
        told("all findings", lambda: made.append(report(found, data)))
        told("drawing the page", made[0].html)
        print(f"{len(made[0].figures)} charts, {page.stat().st_size / 1e3:,.0f} kB")


def told(what: str, work: Callable[[], object]) -> float:
    """Run and print the seconds, and those of the processor."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    work()
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    print(f"{what:18}{wall:8.2f} s  (processor {cpu:.2f} s)")
    return wall


if __name__ == "__main__":
    main()
