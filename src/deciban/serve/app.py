"""The ASGI application: paths, what answers them, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from deciban.serve.endpoints import Endpoints
from deciban.serve.gate import OTHER_PATH, Gate
from deciban.serve.metrics import Metrics
from deciban.serve.openapi import describe_api
from deciban.serve.pages import pages
from deciban.serve.problems import ProblemError
from deciban.serve.service import Service, prepare
from deciban.serve.settings import Settings

__all__ = ["API_PATHS", "create_app"]

#: The method of every path, and the endpoint that answers it.
API_PATHS = {
    "/api/predict": ("POST", "predict"),
    "/api/explain": ("POST", "explain"),
    "/api/counterfactual": ("POST", "counterfactual"),
    "/api/evaluate": ("POST", "evaluate"),
    "/api/learn": ("POST", "learn"),
    "/api/forget": ("POST", "forget"),
    "/api/batch": ("POST", "batch"),
    "/api/model": ("GET", "model"),
    "/api/example": ("GET", "example"),
    "/api/importance": ("GET", "importance"),
    "/api/curve": ("POST", "curve"),
    "/api/nomogram": ("POST", "nomogram"),
    "/api/words": ("POST", "words"),
    "/api/lessons": ("GET", "lessons"),
    "/api/watch": ("GET", "watch"),
    "/api/table": ("POST", "table"),
    "/api/columns": ("GET", "columns"),
    "/api/train": ("POST", "train"),
    "/api/training": ("GET", "training"),
    "/api/trained": ("GET", "trained"),
    "/api/openapi.json": ("GET", "openapi"),
    "/metrics": ("GET", "metrics"),
    "/healthz": ("GET", "health"),
}
Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(settings: Settings, metrics_file: str | None = None) -> ASGIApp:
    """The application of one worker; ``metrics_file`` is shared by several."""
    service = Service(prepare(settings))
    metrics = Metrics([*API_PATHS, OTHER_PATH], settings.workers, metrics_file)
    endpoints = Endpoints(service, metrics, describe_api())

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            endpoints.close()
            service.stop()

    paths = {path: (method, getattr(endpoints, name)) for path, (method, name) in API_PATHS.items()}
    app = Paths({**pages(), **paths}, Router(lifespan=lifespan))
    return Gate(app, settings, metrics, frozenset(API_PATHS))


class Paths:
    """An endpoint for every path: paths have no parts that vary, so one look-up finds it."""

    def __init__(self, endpoints: Mapping[str, tuple[str, Endpoint]], lifespan: ASGIApp) -> None:
        self._endpoints, self._lifespan = endpoints, lifespan

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or begin and end."""
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
            return
        method, endpoint = self._endpoints.get(scope["path"], ("", None))
        if endpoint is None:
            raise ProblemError(404, "there is no such path.", "see /api/openapi.json")
        if scope["method"] != method and (scope["method"], method) != ("HEAD", "GET"):
            raise ProblemError(405, f"the method is not {method}.", "see /api/openapi.json")
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)
