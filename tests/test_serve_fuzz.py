"""Requests that nobody meant: none is a mistake of the service, and none makes it grow.

``DECIBAN_FUZZ=20000`` tries that many instead of a few hundred.
"""

import gc
import json
import os
import random
import tracemalloc
from copy import deepcopy

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from deciban.serve.app import API_PATHS
from deciban.serve.watch import MAX_RECENT_ROWS
from serving import ROW, fruit_model, lesson, serving

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
        some(50)
        before = _held()
        some(200)
        assert _held() - before < 50_000  # of what would be megabytes
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
