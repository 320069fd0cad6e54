"""The page: files of the package, all read at the start, so that no path of a request is opened."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

__all__ = ["page_routes"]

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Files that are also there under shorter paths.
_SHORT = {"index.html": "/", "docs.html": "/docs"}


def page_routes() -> list[Route]:
    """A path for every file of the folder ``static``."""
    routes = []
    for file in sorted(files("deciban.serve").joinpath("static").iterdir(), key=_name):
        ending = "." + file.name.rpartition(".")[2]
        if ending in _TYPES:
            answer = partial(_answer, file.read_bytes(), _TYPES[ending])
            path = _SHORT.get(file.name, f"/static/{file.name}")
            routes.append(Route(path, answer, methods=["GET"]))
    return routes


def _name(file: Traversable) -> str:
    return file.name


async def _answer(content: bytes, kind: str, request: Request) -> Response:
    return Response(content, headers={"Content-Type": kind})
