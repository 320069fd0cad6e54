"""Rows where they are: how long a model takes from each place, beside what people do there today.

    python bench/engines.py [--rows 2000000] [--only duckdb,postgres,spark]

Prints the ratio to the peer of the same run: DuckDB tables, relations and queries to Parquet;
PostgreSQL to a COPY of the columns of numbers that nobody reads, beside the GROUP BYs of the
categories on a second connection; Spark, from Parquet, to an empty ``mapInArrow`` over all columns
and to pyspark.ml, all of them in turn. Of Spark it also prints the processor time of all its
processes, which a busy machine moves less, and by how much the driver grows while a thousand
partitions are merged. PostgreSQL is started in a temporary folder, Spark as
``local-cluster[2,1,4096]``. Rows a second of models as SQL are those of ``bench/sql.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq

from deciban import NaiveBayes

N_NUMBERS = N_CATEGORIES = 5
#: Rows of which a thousand partitions are made.
N_SMALL_ROWS = 200_000
#: Rows that are made at once, and those of a group in Parquet.
N_MADE_ROWS, GROUP_ROWS = 1_000_000, 250_000
#: How often Spark does each work, in turn; the first time its programs are compiled.
N_ROUNDS = 3
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def write_table(path: Path, n_rows: int) -> None:
    """A file of Parquet with so many rows."""
    with pq.ParquetWriter(path, table(1, 0).to_arrow().schema) as file:
        for seed, start in enumerate(range(0, n_rows, N_MADE_ROWS)):
            some = table(min(N_MADE_ROWS, n_rows - start), seed).to_arrow()
            file.write_table(some, row_group_size=GROUP_ROWS)


def table(n_rows: int, seed: int) -> pl.DataFrame:
    """Five numbers, five categories, and a label that depends on the numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    columns: dict[str, Any] = {f"n{j}": rng.normal(0.3 * j * y, 1) for j in range(N_NUMBERS)}
    for j in range(N_CATEGORIES):
        values = np.array([f"value {i}" for i in range(10 ** (j // 2 + 1))])
        columns[f"c{j}"] = values[rng.integers(0, len(values), n_rows)]
    return pl.DataFrame({**columns, "label": np.where(y, "yes", "no")})


def seconds(work: Callable[[], object]) -> float:
    """The time of the better of two runs."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def show(what: str, ours: float, peer: str, theirs: float, n_rows: int) -> None:
    """One line: our time, the peer's, the ratio and our rows a second."""
    figures = f"ratio {ours / theirs:5.2f}  {n_rows / ours:12,.0f} rows/s"
    print(f"{what:16} {ours:7.2f} s  {peer:24} {theirs:7.2f} s  {figures}")


def in_duckdb(path: Path, n_rows: int) -> None:
    """A table of DuckDB beside the same rows in Parquet."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS FROM read_parquet('{path}')")
        parquet = seconds(lambda: NaiveBayes().fit(path, target="label"))
        works: dict[str, Callable[[], object]] = {
            "DuckDB, table": lambda: NaiveBayes().fit(connection, table="t", target="label"),
            "DuckDB, relation": lambda: NaiveBayes().fit(connection.table("t"), target="label"),
            "DuckDB, query": lambda: NaiveBayes().fit(connection, sql="FROM t", target="label"),
        }
        for what, work in works.items():
            show(what, seconds(work), "Parquet", parquet, n_rows)


def in_postgres(path: Path, n_rows: int) -> None:
    """A table of PostgreSQL beside a COPY of its numbers, and the GROUP BYs of its categories."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import psycopg

    import postgres

    with postgres.server() as url, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.csv"
        pl.read_parquet(path).write_csv(file)
        numbers = ", ".join(f"n{j} float8" for j in range(N_NUMBERS))
        names = ", ".join(f"c{j} text" for j in range(N_CATEGORIES))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE t ({numbers}, {names}, label text)")
            with connection.cursor().copy("COPY t FROM STDIN (FORMAT CSV, HEADER)") as copy:
                copy.write(file.read_bytes())
            connection.execute("VACUUM ANALYZE t")
        everything = seconds(lambda: _copy(url, "t"))
        theirs = seconds(lambda: _both(lambda: _copy_numbers(url), lambda: _group(url)))
        ours = seconds(lambda: NaiveBayes().fit(url, table="t", target="label"))
    show("PostgreSQL", ours, "numbers and GROUP BYs", theirs, n_rows)
    show("PostgreSQL", ours, "COPY of all columns", everything, n_rows)


def _copy(url: str, what: str) -> None:
    import psycopg

    sql = f"COPY {what} TO STDOUT (FORMAT BINARY)"
    with psycopg.connect(url) as connection, connection.cursor().copy(sql) as rows:
        for _ in rows:
            pass


def _copy_numbers(url: str) -> None:
    _copy(url, f"(SELECT {', '.join(f'n{j}' for j in range(N_NUMBERS))} FROM t)")


def _group(url: str) -> None:
    import psycopg

    groups = (f"SELECT label, c{j}, count(*) FROM t GROUP BY 1, 2" for j in range(N_CATEGORIES))
    with psycopg.connect(url) as connection:
        connection.execute(" UNION ALL ".join(groups)).fetchall()


def _both(*work: Callable[[], object]) -> None:
    with ThreadPoolExecutor(len(work)) as pool:
        for done in [pool.submit(one) for one in work]:
            done.result()


def in_spark(path: Path, n_rows: int) -> None:
    """A data frame of Spark beside an empty mapInArrow, and pyspark.ml."""
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPARK_WORKER_DIR"] = folder
        builder = SparkSession.builder.master("local-cluster[2,1,4096]")
        for name in ("spark.driver.host", "spark.driver.bindAddress"):
            builder = builder.config(name, "127.0.0.1")
        spark = builder.config("spark.executor.memory", "3g").getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        frame = spark.read.parquet(str(path))
        _counts(frame, n_rows)
        _scores(frame, n_rows)
        _many_partitions(frame.limit(N_SMALL_ROWS).repartition(1000))
        spark.stop()


def _counts(frame: Any, n_rows: int) -> None:
    """A model beside rows that are handed to Python for nothing, and beside pyspark.ml."""
    ours, empty, theirs = _in_turn(
        lambda: NaiveBayes().fit(frame, target="label"), lambda: _empty(frame), lambda: _ml(frame)
    )
    _show_both("Spark, counts", ours, "empty mapInArrow", empty, n_rows)
    _show_both("Spark, counts", ours, "pyspark.ml", theirs, n_rows)


def _scores(frame: Any, n_rows: int) -> None:
    """Scores beside those of pyspark.ml: all columns, and the answers alone."""
    some = frame.limit(N_SMALL_ROWS)
    scored = NaiveBayes().fit(some, target="label").predict(frame, output="frame")
    peer = _ml(some).transform(frame)
    answers = scored.select("prediction", "p_no", "p_yes")
    times = _in_turn(
        *(partial(_run, one)
          for one in (scored, peer, answers, peer.select("prediction", "probability")))
    )  # fmt: skip
    _show_both("Spark, scores", times[0], "pyspark.ml, all columns", times[1], n_rows)
    _show_both("Spark, scores", times[2], "pyspark.ml, answers only", times[3], n_rows)


def _in_turn(*works: Callable[[], object]) -> list[tuple[float, float]]:
    """The least wall time and the least processor time of each work, done in turn."""
    times: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(N_ROUNDS):
        for work, own in zip(works, times, strict=True):
            start, spent = time.perf_counter(), _processor_seconds()
            work()
            own.append((time.perf_counter() - start, _processor_seconds() - spent))
    return [(min(wall for wall, _ in own), min(spent for _, spent in own)) for own in times]


def _processor_seconds() -> float:
    """What this process and all that it started, those that have ended too, have used so far."""
    parents, ticks = {}, {}
    for number, fields in _processes():
        parents[number] = int(fields[1])
        ticks[number] = sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while more := {n for n, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks[n] for n in own if n in ticks) / TICKS_PER_SECOND


def _processes() -> Iterator[tuple[int, list[str]]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            yield int(path.parent.name), path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended


def _show_both(
    what: str, ours: tuple[float, float], peer: str, theirs: tuple[float, float], n_rows: int
) -> None:
    show(what, ours[0], peer, theirs[0], n_rows)
    show("  processors", ours[1], "", theirs[1], n_rows)


def _many_partitions(frame: Any) -> None:
    """By how much the driver grows while it learns from very many partitions."""
    before, start = getrusage(RUSAGE_SELF).ru_maxrss, time.perf_counter()
    model = NaiveBayes().fit(frame, target="label")
    grown = (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024
    merged = len(model.counts_.to_bytes()) / 1e6
    took = time.perf_counter() - start
    print(f"1,000 partitions {took:7.2f} s  driver grew {grown:.0f} MiB, counts {merged:.2f} MB")


def _empty(frame: Any) -> None:
    def nothing(batches: Any) -> Any:
        for _ in batches:
            pass
        yield from ()

    frame.mapInArrow(nothing, "x long").collect()


def _run(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _ml(frame: Any) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes as Peer
    from pyspark.ml.feature import Bucketizer, StringIndexer, VectorAssembler

    names = [f"c{j}" for j in range(N_CATEGORIES)]
    numbers = [f"n{j}" for j in range(N_NUMBERS)]
    cuts = [-np.inf, *np.linspace(-3, 3, 9).tolist(), np.inf]
    indexed = StringIndexer(inputCols=names, outputCols=[f"{n}_i" for n in names])
    label = StringIndexer(inputCol="label", outputCol="label_i")
    binned = Bucketizer(
        inputCols=numbers, outputCols=[f"{n}_b" for n in numbers], splitsArray=[cuts] * N_NUMBERS
    )
    columns = [*(f"{n}_i" for n in names), *(f"{n}_b" for n in numbers)]
    features = VectorAssembler(inputCols=columns, outputCol="features")
    stages = [indexed, label, binned, features, Peer(labelCol="label_i", featuresCol="features")]
    return Pipeline(stages=stages).fit(frame)


PLACES = {"duckdb": in_duckdb, "postgres": in_postgres, "spark": in_spark}


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--only", default=",".join(PLACES))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        write_table(path, given.rows)
        for name in given.only.split(","):
            PLACES[name](path, given.rows)


if __name__ == "__main__":
    main()
