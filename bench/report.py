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

ROWS, ASKED_SECONDS = 48_842, 15.0


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
        seconds = print_time("the command", lambda: subprocess.run(command, check=True))
        share = f"{seconds / ASKED_SECONDS:8.2f}"
        print(f"                  {share} of the {ASKED_SECONDS:g} s that are asked at most")
        loaded = load(model)
        print_time(
            "of these: evaluate", lambda: evaluate(loaded, data, target="label", bootstrap=200)
        )
        reports = []
        print_time("all findings", lambda: reports.append(report(loaded, data)))
        print_time("drawing the page", reports[0].html)
        print(f"{len(reports[0].figures)} charts, {page.stat().st_size / 1e3:,.0f} kB")


def print_time(what: str, work: Callable[[], object]) -> float:
    """Run and print the seconds, and those of the processor."""
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    work()
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    print(f"{what:18}{wall:8.2f} s  (processor {cpu:.2f} s)")
    return wall


if __name__ == "__main__":
    main()
