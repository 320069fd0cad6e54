"""The ASGI application: paths, what answers them, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.routing import Route, Router
from starlette.types import ASGIApp

from deciban.serve.endpoints import Endpoints
from deciban.serve.gate import OTHER_PATH, Gate
from deciban.serve.metrics import Metrics
from deciban.serve.openapi import describe_api
from deciban.serve.pages import page_routes
from deciban.serve.service import Service, prepare
from deciban.serve.settings import Settings

__all__ = ["create_app"]


def create_app(settings: Settings, metrics_file: str | None = None) -> ASGIApp:
    """The application of one worker; ``metrics_file`` is shared by several."""
    service = Service(prepare(settings))
    paths = [*_PATHS, OTHER_PATH]
    metrics = Metrics(paths, settings.workers, metrics_file)
    endpoints = Endpoints(service, metrics, describe_api())

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            endpoints.close()
            service.stop()

    routes = [
        Route(path, getattr(endpoints, name), methods=[method])
        for path, (method, name) in _PATHS.items()
    ]
    router = Router([*routes, *page_routes()], redirect_slashes=False, lifespan=lifespan)
    return Gate(router, settings, metrics, set(paths))


#: The method of every path, and what answers it; those that are asked most come first.
_PATHS = {
    "/api/predict": ("POST", "predict"),
    "/api/explain": ("POST", "explain"),
    "/api/learn": ("POST", "learn"),
    "/api/forget": ("POST", "forget"),
    "/api/counterfactual": ("POST", "counterfactual"),
    "/api/evaluate": ("POST", "evaluate"),
    "/api/batch": ("POST", "batch"),
    "/api/model": ("GET", "model"),
    "/api/openapi.json": ("GET", "openapi"),
    "/metrics": ("GET", "metrics"),
    "/healthz": ("GET", "health"),
}
