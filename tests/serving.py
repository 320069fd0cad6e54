"""A service inside this process, and services as processes of their own."""

import asyncio
import contextlib
import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from commands import COMMAND, FRUIT
from deciban import NaiveBayes, load
from deciban.serve.app import create_app
from deciban.serve.settings import Settings

ROW = {"grams": 62.5, "colour": "red", "ripe": True, "picked": "2025-06-21"}


def fruit_model(folder):
    """The path of a model of the fruit that the documents use."""
    path = Path(folder, "fruit.deciban")
    NaiveBayes().fit(str(FRUIT), target="fruit").save(path)
    return path


def fruit_fixtures():
    """Fixtures of a module: the path of that model, the model, and a client who has its rows."""

    @pytest.fixture(scope="module")
    def path(tmp_path_factory):
        return fruit_model(tmp_path_factory.mktemp("served"))

    @pytest.fixture(scope="module")
    def model(path):
        return load(path)

    @pytest.fixture(scope="module")
    def client(path):
        with serving(path, data=str(FRUIT)) as client:
            yield client

    return path, model, client


def answer(response, status=200):
    """The body of an answer."""
    assert response.status_code == status, response.text
    return response.json()


def problem(response, status):
    """A problem document, as RFC 9457 has it; never a traceback."""
    assert response.headers["content-type"] == "application/problem+json"
    body = answer(response, status)
    assert body["status"] == status
    assert "Traceback" not in response.text
    return body


@contextlib.contextmanager
def serving(model, **settings):
    """A client of a service that runs in this process; None is no model."""
    named = None if model is None else str(model)
    with Client(create_app(Settings(named, **settings))) as client:
        yield client


class Client:
    """Requests to an ASGI application, one after the other or all at once."""

    def __init__(self, app):
        self._app, self._runner = app, asyncio.Runner()
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")

    def __enter__(self):
        self._runner.run(self._begin())
        return self

    def __exit__(self, *_):
        self._runner.run(self._end())
        self._runner.close()

    def request(self, method, path, **what):
        """The response to one request."""
        return self._runner.run(self._client.request(method, path, **what))

    def get(self, path, **what):
        return self.request("GET", path, **what)

    def post(self, path, **what):
        return self.request("POST", path, **what)

    def delete(self, path, **what):
        return self.request("DELETE", path, **what)

    def post_all(self, path, bodies):
        """The responses to requests that are sent at the same time."""

        async def together():
            return await asyncio.gather(*(self._client.post(path, json=b) for b in bodies))

        return self._runner.run(together())

    async def _begin(self):
        self._told, self._heard = asyncio.Queue(), asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._task = asyncio.create_task(self._app(scope, self._told.get, self._heard.put))
        await self._told.put({"type": "lifespan.startup"})
        assert (await self._heard.get())["type"] == "lifespan.startup.complete"

    async def _end(self):
        await self._client.aclose()
        await self._told.put({"type": "lifespan.shutdown"})
        assert (await self._heard.get())["type"] == "lifespan.shutdown.complete"
        await self._task


@contextlib.contextmanager
def process(model, *arguments, code=0):
    """A client of a service that is a process; it must end well when it is told to."""
    with started(model, *arguments) as (server, url):
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
            yield client
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) in (code, -signal.SIGTERM)


@contextlib.contextmanager
def started(model, *arguments):
    """The process of a service that takes connections, and its address; None is no model."""
    named = [] if model is None else [str(model)]
    command = [*COMMAND, "serve", *named, "--port", "0", *map(str, arguments)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "DECIBAN_THREADS": "1"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = server.stdout.readline()
        what = model if str(model).endswith(".deciban") else "a page to train a model on"
        assert line.startswith(f"deciban serves {what} at http://"), line
        yield server, line.split()[-1]
    finally:
        if server.poll() is None:
            server.kill()
        server.wait()
        server.stdout.close()


def lesson(number, answer="plum", **values):
    """A lesson that differs from others by its number."""
    return {"id": f"n{number}", "row": {**ROW, "grams": 100 + number, **values}, "answer": answer}
