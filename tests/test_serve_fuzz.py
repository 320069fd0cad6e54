"""Requests that nobody meant: none is a mistake of the service, and none makes it grow.

``DECIBAN_FUZZ=20000`` tries that many instead of a few hundred.
"""

import gc
import io
import json
import os
import random
import tracemalloc
from copy import deepcopy
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from commands import FRUIT
from deciban.serve.app import API_PATHS
from deciban.serve.batch import EXCEL
from deciban.serve.watch import MAX_RECENT_ROWS
from serving import ROW, fruit_model, lesson, serving
from workbooks import write_workbook

#: What the service thinks of a table goes to its log.
pytestmark = pytest.mark.filterwarnings("ignore::deciban.errors.DecibanWarning")
TRIES = int(os.environ.get("DECIBAN_FUZZ", "300"))
BODIES = {
    "/api/predict": {"rows": [ROW], "loss": None, "abstain": 0.5, "priors": {"plum": 1.0}},
    "/api/explain": {"row": ROW, "against": "plum", "novelty": True},
    "/api/counterfactual": {"row": ROW, "target": "plum", "fixed": ["grams"], "max_changes": 2},
    "/api/evaluate": {"rows": [{**ROW, "fruit": "plum"}], "bootstrap": 5, "seed": 1},
    "/api/learn": {"lessons": [lesson(1)], "new_classes": True},
    "/api/forget": {"ids": ["n1"]},
    "/api/curve": {"column": "grams", "against": "plum"},
    "/api/nomogram": {"of": "plum", "against": "apple"},
    "/api/words": {"of": "plum", "n": 3, "column": "colour"},
    "/api/train": {"target": "fruit", "kinds": {"grams": "numeric"}, "model": "NaiveBayes"},
}
#: What a value is replaced by.
ODD = [
    None, True, False, 0, -1, 1e308, -1e308, 5e-324, 2**63, 2**200, "", " ", "\x00", "plum", "٣",
    "1e999", "NaN", "2025-99-99", "a" * 5000, [], [""], ["a", "b"], [[]], {}, {"": ""}, [None], [1],
    {"plum": {"apple": 2}}, [[0, 1], [1, 0]], "🍒" * 100, "../../etc/passwd", "\u202e",
]  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    with serving(fruit_model(folder), store=str(folder / "live.db")) as client:
        yield client


def check(response):
    """An answer, or a mistake of the caller."""
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        assert response.headers["content-type"] == "application/problem+json"
        assert set(response.json()) <= {"title", "status", "detail", "hint"}
        assert "Traceback" not in response.text


def test_the_whole_api_as_it_is_described(client):
    """Requests made from the description of the API."""
    schema = schemathesis.openapi.from_dict(json.loads(client.get("/api/openapi.json").content))
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) == len(API_PATHS)
    quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    each = settings(
        max_examples=max(5, TRIES // len(operations)), deadline=None, derandomize=True,
        database=None, suppress_health_check=quiet,
    )  # fmt: skip
    for operation in operations:

        @each
        @given(case=operation.as_strategy())
        def ask(case):
            kind = {"Content-Type": case.media_type} if case.media_type else {}
            body = case.body
            if case.media_type == "application/json":
                content = json.dumps(body).encode() if body is not None else b""
            else:
                content = body.encode("utf-8", "replace") if isinstance(body, str) else b""
            check(
                client.request(
                    case.method, case.path, params=dict(case.query or {}), content=content,
                    headers=kind,
                )
            )  # fmt: skip

        ask()


def test_bodies_that_are_almost_right(client):
    chance = random.Random(5)
    for _ in range(TRIES):
        path = chance.choice(list(BODIES))
        body = json.loads(json.dumps(BODIES[path]))
        for _ in range(chance.randrange(1, 4)):
            _spoil(body, chance)
        check(client.post(path, json=body))


def test_bytes_that_are_almost_json(client):
    chance, kind = random.Random(6), {"Content-Type": "application/json"}
    for _ in range(TRIES):
        path = chance.choice(list(BODIES))
        content = bytearray(json.dumps(BODIES[path]).encode())
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(content))
            content[at : at + chance.randrange(3)] = bytes([chance.randrange(256)])
        check(client.post(path, content=bytes(content), headers=kind))


def test_tables_that_are_almost_tables(client):
    chance = random.Random(8)
    good = b"grams,colour,ripe,picked\n62.5,red,true,2025-06-21\n,,,\n1,blue,false,2025-07-01\n"
    for _ in range(max(20, TRIES // 10)):
        content = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(content))
            content[at : at + chance.randrange(4)] = bytes([chance.randrange(256)])
        for kind in ("text/csv", "application/x-ndjson", "application/vnd.apache.arrow.stream"):
            check(client.post("/api/batch", content=bytes(content), headers={"Content-Type": kind}))


def test_files_of_tables_that_are_almost_whole(client, tmp_path):
    chance, files = random.Random(9), _table_files(tmp_path)
    for number in range(max(60, TRIES // 10)):
        kind, content = files[number % len(files)]
        query = chance.choice(["", "?keep=*", "?evidence=true", "?novelty=true", "?keep=nothing"])
        check(
            client.post(
                f"/api/batch{query}",
                content=_broken(content, chance),
                headers={"Content-Type": kind},
            )
        )


def test_a_service_that_trains_takes_anything(tmp_path):
    """Tables and requests that are almost right: a training ends well, or with a hint."""
    chance, files = random.Random(10), _table_files(tmp_path)
    asked = {"target": "fruit", "kinds": {"grams": "numeric"}, "model": "NaiveBayes"}
    with serving(None) as client:
        for number in range(max(30, TRIES // 100)):
            kind, content = files[number % len(files)]
            if number >= len(files):
                content = _broken(content, chance)
            check(client.post("/api/table", content=content, headers={"Content-Type": kind}))
            check(client.get("/api/columns"))
            body = json.loads(json.dumps(asked))
            if chance.random() < 0.7:
                _spoil(body, chance)
            check(client.post("/api/train", json=body))
            while (state := client.get("/api/training").json())["stage"] not in ENDED:
                pass
            assert state.get("problem") is None or state["problem"]["status"] < 500, state
            for path in BODIES:
                check(client.post(path, json=BODIES[path]))


#: Stages of a training in which nothing goes on.
ENDED = ("none", "done", "failed")


def _table_files(folder):
    """The same small table as a file of every kind."""
    frame = pd.read_csv(FRUIT).head(60)
    table, sinks = pa.Table.from_pandas(frame), [io.BytesIO(), io.BytesIO()]
    pq.write_table(table, sinks[0])
    with pa.ipc.new_stream(sinks[1], table.schema) as writer:
        writer.write_table(table)
    cells = json.loads(frame.to_json(orient="values"))
    write_workbook(folder / "t.xlsx", {"fruit": [list(frame), *cells]})
    return [
        ("application/vnd.apache.parquet", sinks[0].getvalue()),
        ("application/vnd.apache.arrow.stream", sinks[1].getvalue()),
        (EXCEL, (folder / "t.xlsx").read_bytes()),
        ("application/vnd.oasis.opendocument.spreadsheet", (folder / "t.xlsx").read_bytes()),
        ("text/csv", frame.to_csv(index=False).encode()),
        ("application/x-ndjson", frame.to_json(orient="records", lines=True).encode()),
    ]


def _broken(content, chance):
    """Bytes of a file, some of them changed, gone or doubled."""
    content = bytearray(content)
    for _ in range(chance.randrange(1, 8)):
        at, size = chance.randrange(len(content) + 1), chance.randrange(64)
        deed = chance.randrange(4)
        if deed == 0:
            content[at : at + size] = chance.randbytes(size)
        elif deed == 1:
            del content[at : at + size]
        elif deed == 2:
            content[at:at] = content[at : at + size]
        else:
            content[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(content)


def test_the_service_does_not_grow(client):
    def some(n):
        for i in range(n):
            check(client.post("/api/predict", json={"rows": [{**ROW, "colour": f"odd {i}"}]}))
            check(client.post("/api/predict", json={"rows": [{f"odd {i}": 1}]}))
            check(client.get(f"/odd/{i}", headers={"Host": f"10.0.{i % 200}.{i % 7}"}))

    some(100)
    check(client.post("/api/predict", json={"rows": [ROW] * MAX_RECENT_ROWS}))  # which are kept
    tracemalloc.start()
    try:
        held = []
        for _ in range(4):
            some(100)
            held.append(_held())
        # What is made once, whenever its time comes, is no growth: that goes on in every round.
        assert min(after - before for before, after in pairwise(held)) < 25_000
    finally:
        tracemalloc.stop()


def _held():
    """Bytes that code of the package holds; what the client holds is its own business."""
    gc.collect()
    own = tracemalloc.Filter(inclusive=True, filename_pattern="*/deciban/*")
    traces = tracemalloc.take_snapshot().filter_traces([own]).statistics("filename")
    return sum(each.size for each in traces)


def _spoil(body, chance):
    """Replace, rename or remove something, somewhere."""
    place = body
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.7:
            place = place[key]
            continue
        break
    deed = chance.random()
    if deed < 0.7:
        place[key] = deepcopy(chance.choice(ODD))
    elif deed < 0.85 and isinstance(place, dict):
        place[chance.choice(["", "rows", "fruit", "id", "odd", "grams "])] = place.pop(key)
    else:
        del place[key]
