"""Rows that databases score a second with the query of a model, beside predict_proba.

A table of 10 columns, half of them numbers, half categories of 5 to 200 values, two classes. Times
are CPU seconds of whoever computes, on one core, so that a busy machine does not show.

    python bench/sql.py [rows]
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

from deciban import NaiveBayes

sys.path.append(str(Path(__file__).parents[1] / "tests"))

TICKS_PER_SECOND = 100


def table(n: int) -> tuple[dict[str, list], list[str]]:
    """Rows, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.choice(["good", "bad"], n)
    rows: dict[str, list] = {}
    for j in range(5):
        rows[f"n{j}"] = (rng.normal(size=n) + 0.3 * (y == "good") * j).tolist()
    for j, size in enumerate((5, 8, 12, 30, 200)):
        rows[f"c{j}"] = [f"v{v}" for v in (rng.random(n) ** (1 + (y == "good")) * size).astype(int)]
    return rows, y.tolist()


def report(name: str, n: int, seconds: float) -> None:
    """Print a line."""
    print(f"{name:30} {n / seconds:12,.0f} rows/s")


def spent(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Measure all."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    rows, y = table(n)
    model = NaiveBayes().fit(rows, y)
    report("predict_proba", n, spent(lambda: model.predict_proba(rows)))
    with duckdb.connect() as con:
        con.execute("SET threads = 1")
        con.register("frame", {k: np.array(v) for k, v in rows.items()})
        con.execute('CREATE TABLE "new" AS SELECT * FROM frame')
        query = f"SELECT sum(p_good) FROM ({model.to_sql('new')})"
        report("DuckDB", n, spent(lambda: con.execute(query).fetchall()))
    lite = sqlite3.connect(":memory:")
    lite.execute(f'CREATE TABLE "new" ({", ".join(rows)})')
    lite.executemany(f'INSERT INTO "new" VALUES ({", ".join("?" * 10)})', zip(*rows.values()))  # noqa: B905
    query = f"SELECT sum(p_good) FROM ({model.to_sql('new', 'sqlite')})"
    report("SQLite", n, spent(lambda: lite.execute(query).fetchall()))
    postgresql(model, rows, n)


def postgresql(model: NaiveBayes, rows: dict[str, list], n: int) -> None:
    """A server of its own; its CPU time is that of the process that serves the connection."""
    import psycopg

    import postgres

    with postgres.server() as address, psycopg.connect(address, autocommit=True) as con:
        types = ", ".join(f"{c} {'float8' if c[0] == 'n' else 'text'}" for c in rows)
        con.execute(f'CREATE TABLE "new" ({types})')
        with con.cursor() as cursor, cursor.copy('COPY "new" FROM STDIN') as copy:
            for line in zip(*rows.values(), strict=True):
                copy.write_row(line)
        con.execute("SET max_parallel_workers_per_gather = 0")
        con.execute('ANALYZE "new"')
        pid = con.info.backend_pid
        query = f"SELECT sum(p_good) FROM ({model.to_sql('new', 'postgres')}) AS q"
        before = ticks(pid)
        con.execute(query).fetchall()
        report("PostgreSQL", n, (ticks(pid) - before) / TICKS_PER_SECOND)


def ticks(pid: int) -> int:
    """The CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    main()
