"""The page: files of the package, all read at the start, so that no path of a request is opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

__all__ = ["pages"]

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Files that are also there under shorter paths.
_SHORT = {"index.html": "/", "docs.html": "/docs"}


def pages() -> dict[str, tuple[str, Callable[[Request], Awaitable[Response]]]]:
    """The path of every file of the folder ``static``, its method, and what answers with it."""
    paths: dict[str, tuple[str, Callable[[Request], Awaitable[Response]]]] = {}
    for file in sorted(files("deciban.serve").joinpath("static").iterdir(), key=_name):
        ending = "." + file.name.rpartition(".")[2]
        if ending in _TYPES:
            answer = partial(_answer, file.read_bytes(), _TYPES[ending])
            paths[_SHORT.get(file.name, f"/static/{file.name}")] = ("GET", answer)
    return paths


def _name(file: Traversable) -> str:
    return file.name


async def _answer(content: bytes, kind: str, request: Request) -> Response:
    return Response(content, headers={"Content-Type": kind})
