"""deciban serve beside FastAPI with a pipeline of scikit-learn, on the loopback address.

    python bench/serve.py ADULT.parquet SMS.parquet [--rows 1000000] [--requests 20000]
        [--minutes 10]

ADULT is the table of incomes with its column ``label``, SMS the short messages with ``text`` and
``label``. The peer is written as FastAPI's and scikit-learn's documents show: a model of the
request, a pipeline that joblib has loaded, one worker. Both are asked by one client, a few
thousand requests in turns, so that whatever else the machine does slows both. Printed are requests
and rows a second, the 99th percentile of the time of one request, the seconds of processor that
the server took per request, and the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import uvloop

import deciban

PEER = """
import joblib, numpy as np, pandas as pd
from fastapi import FastAPI
from pydantic import BaseModel

class Rows(BaseModel):
    rows: list[dict]

class Texts(BaseModel):
    rows: list[str]

app = FastAPI()
table, texts = joblib.load("table.joblib"), joblib.load("texts.joblib")

def answers(model, X):
    names = model.classes_.tolist()
    return [{"answer": names[p.argmax()], "probabilities": dict(zip(names, p.tolist()))}
            for p in model.predict_proba(X)]

@app.post("/table")
def of_rows(asked: Rows):
    return {"predictions": answers(table, pd.DataFrame(asked.rows))}

@app.post("/texts")
def of_texts(asked: Texts):
    return {"predictions": answers(texts, asked.rows)}
"""


class Load(NamedTuple):
    """What a client measured."""

    rate: float
    p99: float
    processor: float


class Connection(asyncio.Protocol):
    """Requests over one connection, each after the answer to the one before."""

    def __init__(self, requests: list[bytes], seconds: list[float]) -> None:
        self._requests, self._seconds = iter(requests), seconds
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        self._transport, self._received = transport, b""
        self._next()

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            self.done.set_result(None)
            return
        self._start = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Take some of an answer; when it is whole, ask again."""
        self._received += data
        head, _, body = self._received.partition(b"\r\n\r\n")
        start = head.lower().find(b"content-length:")
        if start < 0 or len(body) < int(head[start + 15 :].split(b"\r\n")[0]):
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(self._received.decode()))
            self._transport.close()
            return
        self._seconds.append(time.perf_counter() - self._start)
        self._received = b""
        self._next()


def ask(
    server: subprocess.Popen[str], port: int, path: str, bodies: list[Any], clients: int
) -> Load:
    """Send bodies over some connections at once."""
    requests = [
        b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (path.encode(), len(body), body)
        for body in (json.dumps(body).encode() for body in bodies)
    ]
    seconds: list[float] = []

    async def run() -> None:
        loop, connections = asyncio.get_running_loop(), []
        for i in range(clients):
            made = Connection(requests[i::clients], seconds)
            await loop.create_connection(lambda made=made: made, "127.0.0.1", port)
            connections.append(made.done)
        await asyncio.gather(*connections)

    before, start = _processor(server.pid), time.perf_counter()
    uvloop.run(run())
    taken = time.perf_counter() - start
    cpu = _processor(server.pid) - before
    p99 = statistics.quantiles(seconds, n=100)[-1]
    return Load(len(requests) / taken, p99, cpu / len(requests))


def _processor(pid: int) -> float:
    """Seconds of processor that a process has taken, as Linux counts them."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _peak_memory(pid: int) -> int:
    """The most bytes of memory that a process ever had."""
    (line,) = (x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in x)
    return int(line.split()[1]) << 10


@contextlib.contextmanager
def server(command: list[str], folder: str, ready: str) -> Iterator[subprocess.Popen[str]]:
    """A server in a process of its own, from the line that says it is ready."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "DECIBAN_THREADS": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if ready in line:
                break
        else:
            raise RuntimeError(f"{command} did not start")
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def train(adult: pd.DataFrame, sms: pd.DataFrame, folder: str) -> None:
    """Write the models of both sides."""
    import joblib
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.naive_bayes import GaussianNB, MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    deciban.NaiveBayes().fit(adult, target="label").save(f"{folder}/table.deciban")
    deciban.NaiveBayes().fit(sms, target="label").save(f"{folder}/texts.deciban")
    X, y = adult.drop(columns="label"), adult["label"]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (encoder, make_column_selector(dtype_exclude="number")),
        (SimpleImputer(), make_column_selector(dtype_include="number")),
    )
    joblib.dump(make_pipeline(columns, GaussianNB()).fit(X, y), f"{folder}/table.joblib")
    words = make_pipeline(CountVectorizer(), MultinomialNB()).fit(sms["text"], sms["label"])
    joblib.dump(words, f"{folder}/texts.joblib")
    Path(folder, "peer.py").write_text(PEER)


def side_by_side(
    name: str, ours: list[Load], theirs: list[Load], asked: str, rows: int = 1
) -> None:
    """Print the medians of both, and their ratio."""
    a, b = (Load(*map(statistics.median, zip(*side, strict=True))) for side in (ours, theirs))
    print(
        f"{name:28} {a.rate * rows:9,.0f}/s {b.rate * rows:9,.0f}/s  {a.rate / b.rate:5.1f}x   "
        f"p99 {1e3 * a.p99:6.2f} ms {1e3 * b.p99:6.2f} ms   "
        f"processor {1e6 * a.processor:6.0f} us {1e6 * b.processor:6.0f} us "
        f"{b.processor / a.processor:5.1f}x   asked {asked}",
        flush=True,
    )


def requests(adult: pd.DataFrame, sms: pd.DataFrame, n: int, folder: str) -> None:
    """One row, many rows, a text, an explanation."""
    plain = adult.drop(columns="label").head(2000)
    rows = json.loads(plain.to_json(orient="records"))
    texts = sms["text"].head(2000).tolist()
    run = [sys.executable, "-m", "deciban.cli", "serve"]
    uvicorn = [sys.executable, "-m", "uvicorn", "peer:app", "--no-access-log", "--port"]
    with (
        server([*run, "table.deciban", "--port", "8811"], folder, "deciban serves") as table,
        server([*run, "texts.deciban", "--port", "8812"], folder, "deciban serves") as words,
        server([*uvicorn, "8813"], folder, "Uvicorn running") as peer,
    ):
        one = [{"rows": [row]} for row in rows]
        many = [{"rows": rows[i : i + 100]} for i in range(0, 2000, 100)]
        short = [{"rows": [text]} for text in texts]
        why = [{"row": row} for row in rows]
        for name, ours, theirs, clients, share, asked, n_rows in (
            ("one row", (table, 8811, "/api/predict", one), (peer, 8813, "/table", one), 1, 1,
             "5x, p99 1/3", 1),
            ("one row, 8 clients", (table, 8811, "/api/predict", one),
             (peer, 8813, "/table", one), 8, 1, "5x, p99 1/3", 1),
            ("100 rows", (table, 8811, "/api/predict", many), (peer, 8813, "/table", many), 1, 10,
             "5x", 100),
            ("one short text", (words, 8812, "/api/predict", short),
             (peer, 8813, "/texts", short), 1, 1, "5x", 1),
            ("one short text, 8 clients", (words, 8812, "/api/predict", short),
             (peer, 8813, "/texts", short), 8, 1, "5x", 1),
            ("explain beside predict", (table, 8811, "/api/explain", why),
             (peer, 8813, "/table", one), 1, 1, "1x", 1),
        ):  # fmt: skip
            loads: tuple[list[Load], list[Load]] = ([], [])
            for _ in range(5):  # in turns
                for side, (process, port, path, bodies) in zip(loads, (ours, theirs), strict=True):
                    size = max(100, n // share // 5 // (1 if side is loads[0] else 5))
                    some = [bodies[i % len(bodies)] for i in range(size)]
                    side.append(ask(process, port, path, some, clients))
            side_by_side(name, *loads, asked, n_rows)


def lessons(adult: pd.DataFrame, n: int, folder: str) -> None:
    """One lesson a request, on the disk before it is answered, by eight clients."""
    run = [sys.executable, "-m", "deciban.cli", "serve", "table.deciban", "--learn", "--port"]
    rows = json.loads(adult.head(2000).to_json(orient="records"))
    bodies = []
    for i in range(n):
        row = dict(rows[i % len(rows)])
        label = row.pop("label")
        bodies.append({"lessons": [{"id": str(i), "row": row, "answer": label}]})
    with server([*run, "8814"], folder, "deciban serves") as process:
        load = ask(process, 8814, "/api/learn", bodies, 8)
        wide = [{"lessons": [{**b["lessons"][0], "id": f"w{i}"}]} for i, b in enumerate(bodies)]
        more = ask(process, 8814, "/api/learn", wide, 64)
    wait = _fsync(folder)
    print(
        f"learn, 8 clients  {load.rate:9,.0f}/s  p99 {1e3 * load.p99:.1f} ms   "
        f"processor {1e6 * load.processor:.0f} us   asked 1,000/s;  "
        f"64 clients {more.rate:,.0f}/s;  one wait for this disk {1e3 * wait:.2f} ms: "
        f"{load.rate * wait:.1f} lessons in the time of each, of 8 that can wait together"
    )


def _fsync(folder: str) -> float:
    """Seconds until a few bytes of a log are on the disk: no more commits fit into a second."""
    times = []
    with Path(folder, "probe").open("w+b") as file:
        file.write(bytes(4096 * 100))
        os.fsync(file.fileno())
        file.seek(0)
        for _ in range(100):
            file.write(b"x" * 4096)
            file.flush()
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def tables(adult: pd.DataFrame, n_rows: int, folder: str) -> None:
    """A large CSV through ``/api/batch``, and through ``deciban predict``."""
    import http.client

    source = Path(folder, "large.csv")
    part = adult.drop(columns="label")
    repeats = -(-n_rows // len(part))
    pd.concat([part] * repeats).head(n_rows).to_csv(source, index=False)
    run = [sys.executable, "-m", "deciban.cli"]
    with server([*run, "serve", "table.deciban", "--port", "8815"], folder, "serves") as process:
        peaks, ours, theirs = [], [], []
        for _ in range(2):
            start = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", 8815)
            with source.open("rb") as file:
                connection.request("POST", "/api/batch", file, {"Content-Type": "text/csv"})
                response = connection.getresponse()
                lines = 0
                while block := response.read(1 << 20):
                    lines += block.count(b"\n")
            assert (response.status, lines) == (200, n_rows + 1)
            ours.append(time.perf_counter() - start)
            peaks.append(_peak_memory(process.pid))
            start = time.perf_counter()
            command = [*run, "predict", "table.deciban", str(source), "-q", "--digits", "17",
                       "-o", "out.csv", "--force"]  # fmt: skip
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "DECIBAN_THREADS": "1"}
            subprocess.run(command, cwd=folder, check=True, env=environment)
            theirs.append(time.perf_counter() - start)
    print(
        f"batch, {n_rows:,} rows  {min(ours):.1f} s, deciban predict {min(theirs):.1f} s: "
        f"{min(theirs) / min(ours):.2f} of its speed, asked 0.7;  "
        f"memory {peaks[0] >> 20} MB, then {peaks[1] >> 20} MB; "
        f"the table {source.stat().st_size >> 20} MB"
    )


def mixed(adult: pd.DataFrame, minutes: float, folder: str) -> None:
    """Questions, explanations and lessons for minutes: memory after a tenth, and at the end."""
    run = [sys.executable, "-m", "deciban.cli", "serve", "table.deciban", "--learn", "--port"]
    rows = json.loads(adult.head(2000).to_json(orient="records"))
    asked = [{key: value for key, value in row.items() if key != "label"} for row in rows]
    store = ["--store", f"{folder}/mixed.db"]
    with server([*run, "8816", *store], folder, "deciban serves") as process:
        start, turn, n, held = time.perf_counter(), 0, 0, 0
        while (taken := time.perf_counter() - start) < 60 * minutes:
            if not held and taken > 6 * minutes:
                held = _memory(process.pid)
            at = range(turn * 100, turn * 100 + 100)
            some = [asked[i % 2000] for i in at]
            lesson = [
                {"lessons": [{"id": str(i), "row": row, "answer": rows[i % 2000]["label"]}]}
                for i, row in zip(at, some, strict=True)
            ]
            ask(process, 8816, "/api/predict", [{"rows": [row]} for row in some], 8)
            ask(process, 8816, "/api/predict", [{"rows": some}] * 2, 2)
            ask(process, 8816, "/api/explain", [{"row": row} for row in some[:20]], 4)
            ask(process, 8816, "/api/learn", lesson, 8)
            ask(process, 8816, "/api/forget", [{"ids": [str(i)]} for i in at[::2]], 8)
            turn, n = turn + 1, n + 272
        grown = _memory(process.pid) / held - 1
    print(
        f"mixed load, {minutes:g} minutes  {n:,} requests, no error;  memory {held >> 20} MB "
        f"after a tenth of them, {100 * grown:+.1f}% at the end, asked 5%"
    )


def _memory(pid: int) -> int:
    """Bytes of memory that a process has now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("adult")
    parser.add_argument("sms")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--lessons", type=int, default=5_000)
    parser.add_argument("--minutes", type=float, default=10.0, help="of mixed load")
    given = parser.parse_args()
    adult = pd.read_parquet(given.adult).drop(columns="split", errors="ignore")
    sms = pd.read_parquet(given.sms)[["text", "label"]]
    with tempfile.TemporaryDirectory() as folder:
        train(adult, sms, folder)
        print(f"{'':28} {'deciban':>11} {'peer':>11}")
        requests(adult, sms, given.requests, folder)
        lessons(adult, given.lessons, folder)
        tables(adult, given.rows, folder)
        if given.minutes:
            mixed(adult, given.minutes, folder)


if __name__ == "__main__":
    main()
