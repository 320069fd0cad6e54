"""Bodies of requests, read within limits; answers as JSON, problems and bytes."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from email.message import Message
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message as AsgiMessage
from starlette.types import Receive

from deciban.serve.problems import Problem, ProblemError

__all__ = [
    "blocks", "charset_of", "json_response", "problem_response", "read_body", "require_type",
]  # fmt: skip

_encoder = msgspec.json.Encoder()
_problem_encoder = msgspec.json.Encoder()


class _JsonResponse(Response):
    """JSON, with no other headers than it needs."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Its type and length; others are for whoever sends it."""
        self.raw_headers = [
            (b"content-length", b"%d" % len(self.body)),
            (b"content-type", b"application/json"),
        ]


def json_response(content: Any, status: int = 200) -> Response:
    """An answer."""
    return _JsonResponse(_encoder.encode(content), status)


def problem_response(problem: Problem) -> Response:
    """A problem document."""
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else None
    content = _problem_encoder.encode(problem)
    return Response(content, problem.status, headers, "application/problem+json")


def _header(request: Request, name: bytes) -> str | None:
    """A header of a request; its first line, if there are several."""
    for key, value in request.scope["headers"]:
        if key == name:
            return str(value, "latin-1")
    return None


def require_type(request: Request, *known: str) -> str:
    """The type of the content, which must be one of these: forms of other sites never are."""
    stated = (_header(request, b"content-type") or "").partition(";")[0].strip().lower()
    if stated in known:
        return stated
    raise ProblemError(
        415, f"the content type is {stated or 'not stated'}.", f"state {' or '.join(known)}"
    )


def charset_of(request: Request) -> str:
    """In which characters a text is written: as stated, or UTF-8. Nothing is guessed."""
    message = Message()
    message["Content-Type"] = request.headers.get("content-type", "")
    return message.get_content_charset() or "utf-8"


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, unpacked."""
    if _header(request, b"content-encoding") is None:
        first = await request.receive()  # most bodies come in one piece
        if first["type"] == "http.request" and not first.get("more_body"):
            body: bytes = first.get("body", b"")
            if len(body) > limit:
                raise _too_large(limit)
            return body
        request = Request(request.scope, _again(first, request.receive))
    parts = [block async for block in blocks(request, limit)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _again(first: AsgiMessage, receive: Receive) -> Receive:
    """What receives a message that came before, and then the others."""
    waiting = [first]

    async def following() -> AsgiMessage:
        return waiting.pop() if waiting else await receive()

    return following


async def blocks(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The body as it comes, unpacked; no more than the limit."""
    stated = request.headers.get("content-length", "")
    if stated.isascii() and stated.isdigit() and (len(stated) > 18 or int(stated) > limit):
        raise _too_large(limit)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    stream = _stream(request)
    if encoding in ("gzip", "x-gzip"):
        stream = _unpack(stream)
    elif encoding not in ("identity", ""):
        raise ProblemError(415, f"the content encoding {encoding!r} is not known.", "use gzip")
    size = 0
    async for block in stream:
        size += len(block)
        if size > limit:
            raise _too_large(limit)
        if block:
            yield block


def _too_large(limit: int) -> ProblemError:
    return ProblemError(
        413,
        f"the body has more than {limit:,} bytes.",
        "send fewer rows; /api/batch takes tables of any size",
    )


async def _stream(request: Request) -> AsyncIterator[bytes]:
    try:
        async for block in request.stream():
            yield block
    except ClientDisconnect:
        raise ProblemError(400, "the body ended too early.") from None


#: Bytes that are unpacked at once.
_UNPACKED_BYTES = 1 << 20


async def _unpack(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The bytes of a gzip file, a bounded number at a time."""
    unpacker, whole = zlib.decompressobj(wbits=31), True
    async for block in stream:
        rest, more = block, False
        while rest or more:
            try:
                unpacked = unpacker.decompress(rest, _UNPACKED_BYTES)
            except zlib.error as error:
                raise ProblemError(400, f"the body is not gzip: {error}.") from None
            yield unpacked
            rest, more, whole = unpacker.unconsumed_tail, len(unpacked) == _UNPACKED_BYTES, False
            if unpacker.eof:  # another file may follow
                rest, more, whole = unpacker.unused_data, False, True
                unpacker = zlib.decompressobj(wbits=31)
    if not whole:
        raise ProblemError(400, "the gzip file ends too early.")
