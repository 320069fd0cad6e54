"""Services as real processes: killed under load, several workers, callers who trickle.

``DECIBAN_KILLS=200`` kills that many instead of a few.
"""

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import socket
import threading
from urllib.parse import urlsplit

import httpx
import pytest

import serving
from deciban import load
from deciban.serve import lessons, protocol
from deciban.serve.server import Factory
from deciban.serve.settings import Limits, Settings
from deciban.serve.store import LiveStore
from serving import ROW, fruit_model, lesson

KILLS = int(os.environ.get("DECIBAN_KILLS", "5"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return fruit_model(tmp_path_factory.mktemp("served"))


def teach(url, numbers, acknowledged):
    """Send lessons one after the other until the service is gone; each that was acknowledged."""
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        for number in numbers:
            try:
                response = client.post("/api/learn", json={"lessons": [lesson(number)]})
            except httpx.HTTPError:
                return
            assert response.status_code == 200, response.text
            acknowledged.append(number)


def test_kills_under_load_lose_nothing_acknowledged_and_double_nothing(path, tmp_path):
    store, acknowledged, sent = tmp_path / "live.db", [], 0
    chance = random.Random(7)
    for _ in range(KILLS):
        with serving.started(path, "--learn", "--store", store) as (server, url):
            before = len(acknowledged)
            teachers = [
                threading.Thread(
                    target=teach, args=(url, range(sent + i, sent + 4000, 4), acknowledged)
                )
                for i in range(4)
            ]
            for teacher in teachers:
                teacher.start()
            enough = before + chance.randrange(1, 60)
            while len(acknowledged) < enough:  # and then at whatever moment it is
                teachers[0].join(0.001)
            server.kill()
            for teacher in teachers:
                teacher.join()
        sent += 4000
    with LiveStore(str(store)) as opened:
        assert opened.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        there = {name for (name,) in opened.connection.execute("SELECT id FROM lessons")}
    assert {f"n{number}" for number in acknowledged} <= there
    rows = lessons.export(str(store)).counts_.weight.sum() - load(path).counts_.weight.sum()
    assert rows == len(there)
    with serving.process(path, "--learn", "--store", store) as client:
        again = [lesson(number) for number in acknowledged]
        body = client.post("/api/learn", json={"lessons": again}).json()
        assert (body["learnt"], body["known"]) == (0, len(acknowledged))


def test_workers_share_one_store_and_one_set_of_counters(path, tmp_path):
    store = tmp_path / "live.db"
    with serving.started(path, "--learn", "--store", store, "--workers", 2) as (server, url):

        def ask(method, place, **what):  # a connection of its own, which any worker may take
            with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
                return client.request(method, place, **what).json()

        for number in range(6):
            ask("POST", "/api/learn", json={"lessons": [lesson(number)], "wait": True})
            # The second worker is told to wait for what the first has learnt, and the first again.
            for _ in range(2):
                ask("POST", "/api/learn", json={"lessons": [lesson(number)], "wait": True})
        answers = {json.dumps(ask("POST", "/api/predict", json={"rows": [ROW]})) for _ in range(6)}
        positions = set()
        for _ in range(6):
            ask("POST", "/api/forget", json={"ids": ["none"], "wait": True})
            positions.add(ask("GET", "/api/model")["lessons"])
        assert positions == {6}
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
            counters = client.get("/metrics").text
        assert 'deciban_requests_total{path="/api/learn",status="2xx"} 18' in counters
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    expected = lessons.export(str(store)).predict_proba([ROW])[0].tolist()
    last = [list(json.loads(a)["predictions"][0]["probabilities"].values()) for a in answers]
    assert expected in last


def test_one_request_after_another_and_the_end(path, tmp_path):
    with serving.process(path) as client:
        for _ in range(3):
            body = client.post("/api/predict", json={"rows": [ROW]}).json()
            expected = load(path).predict_proba([ROW])[0].tolist()
            assert list(body["predictions"][0]["probabilities"].values()) == expected
        assert client.get("/").headers["content-type"].startswith("text/html")
        assert "server" not in client.get("/healthz").headers


# ---------------------------------------------------------------------- callers who trickle


@contextlib.contextmanager
def listening(path, **limits):
    """The address of a service in this process, under other limits."""
    import uvicorn

    factory = Factory(Settings(str(path), limits=Limits(**limits)))
    config = uvicorn.Config(
        factory, factory=True, http=protocol.BoundedProtocol, port=0, log_level="critical",
        lifespan="on", ws="none",
    )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def answer_to(address, *pieces):
    """All that comes back until the service hangs up."""
    with socket.create_connection(address, timeout=60) as connection:
        for piece in pieces:
            connection.sendall(piece)
        received = b""
        while block := connection.recv(65536):
            received += block
        return received


HEAD = b"POST /api/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def test_a_head_that_never_ends(path):
    with listening(path, header_seconds=0.05) as address:
        for head in (b"", b"\r\n", b"GET / HTTP/1.1\r\n", HEAD + b"X: 1\r\n"):
            answer = answer_to(address, head)
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b"application/problem+json" in answer


def test_a_body_that_never_ends(path):
    with listening(path, body_seconds=0.05) as address:
        assert b"200" not in answer_to(address, HEAD + b"Content-Length: 100\r\n\r\n{")


BODY = b'{"rows":[{"grams":62.5}]}'
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
LAST = b"HEAD /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def undated(address, *pieces):
    """All that comes back, but for the time of day."""
    return re.sub(rb"date: [^\r]*\r\n", b"", answer_to(address, *pieces))


def test_answers_are_whole_whatever_pieces_requests_come_in(path):
    with listening(path) as address:
        one, _, last = undated(address, WHOLE + LAST).rpartition(b"HTTP/1.1 200 OK")
        assert one.count(b"HTTP/1.1 200 OK") == 1
        assert one.endswith(b"}")
        assert last.endswith(b"\r\n\r\n")  # an answer to HEAD has no body
        several = undated(address, WHOLE + WHOLE[:9], WHOLE[9:70], WHOLE[70:-3], WHOLE[-3:], LAST)
        assert several == one + one + b"HTTP/1.1 200 OK" + last
        waiting = HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY)
        continued = undated(address, waiting, BODY, LAST)
        assert continued.endswith(several[len(one) :])
        assert continued[: -len(several[len(one) :])] in (b"", b"HTTP/1.1 100 Continue\r\n\r\n")


def test_a_head_that_never_ends_after_a_whole_request(path):
    with listening(path, header_seconds=0.05) as address:
        assert b"HTTP/1.1 408 " in answer_to(address, WHOLE + HEAD)


def test_a_head_that_is_too_long(path):
    long = b"X: " + b"x" * protocol.MAX_HEAD_BYTES + b"\r\n"
    with listening(path) as address:
        assert answer_to(address, HEAD, long).startswith(b"HTTP/1.1 431 ")


def test_no_more_connections_than_are_allowed(path):
    with listening(path, connections=2) as address, contextlib.ExitStack() as stack:
        for _ in range(2):
            one = stack.enter_context(socket.create_connection(address, timeout=60))
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert one.recv(65536).startswith(b"HTTP/1.1 200 ")
        assert answer_to(address).startswith(b"HTTP/1.1 503 ")


def test_garbage_is_no_request(path):
    with listening(path, header_seconds=0.05) as address:
        for garbage in (
            b"\x16\x03\x01\x02\x00",
            b"GET\r\n\r\n",
            b"\x00" * 1000,
            b"PRI * HTTP/2.0\r\n",
        ):
            assert not answer_to(address, garbage).startswith(b"HTTP/1.1 2")
        assert answer_to(
            address, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        ).startswith(b"HTTP/1.1 200 ")


def test_a_port_that_is_taken(path):
    from commands import run

    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run("serve", path, "--port", taken.getsockname()[1])
    assert ended.code == 1
    assert "cannot be used: Address already in use. Hint: " in ended.err


def test_addresses(path):
    assert urlsplit(Settings("m", host="::1", port=8000).url).hostname == "::1"
