"""HTTP as uvicorn speaks it, with limits that it does not have.

The head of a request must be there in time and small; between the pieces of a body there may be
only so much time; and there may be only so many connections. Whoever trickles gets nothing.
The head of an answer is sent with the first of its body, not before: that is one call of the
system instead of two, and whoever asked is woken once.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from deciban.serve.settings import Limits

__all__ = ["BoundedProtocol"]

#: Bytes of the request line and all headers.
MAX_HEAD_BYTES = 64 << 10


class HasLimits(Protocol):
    """What makes an application, and knows its limits."""

    @property
    def limits(self) -> Limits:
        """The limits."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection, under the limits of the application that it is for."""

    _limits: Limits
    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = True
    _is_whole = False

    def __init__(self, config: Config, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        self._limits = cast("HasLimits", config.app).limits

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._refuse(503, "Service Unavailable", "there are too many connections.")
        else:
            self._wait(self._limits.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take some bytes; those of a body give it more time, those of a head do not."""
        if self._in_head:
            self._head_bytes += len(data)
        self._is_whole = False
        super().data_received(data)
        if self._is_whole:  # most requests come in one piece, and are not waited for
            return
        if not self._in_head:
            self._wait(self._limits.body_seconds)
        elif self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(431, "Request Header Fields Too Large", "the headers are too long.")
        elif self._timer is None:
            self._wait(self._limits.header_seconds)

    def on_message_begin(self) -> None:
        """A request begins, maybe after another one in the same bytes."""
        self._is_whole = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head, self._head_bytes = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there; how long the answer takes is our own business."""
        self._stop_waiting()
        super().on_message_complete()
        self._in_head, self._is_whole = True, True

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if cycle.scope["method"] != "HEAD":  # its answer has no body
            cycle.transport = cast("asyncio.Transport", _Answer(cycle))
        super()._start_asgi_task(cycle, app)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if not self._in_head and self.flow.read_paused:  # it is us who are slow
            self._wait(self._limits.body_seconds)
            return
        self._refuse(408, "Request Timeout", "the request took too long.")

    def _refuse(self, status: int, title: str, detail: str) -> None:
        """Say why, and hang up."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            body = f'{{"title":"{title}","status":{status},"detail":"{detail}"}}'
            self.transport.write(
                f"HTTP/1.1 {status} {title}\r\nContent-Type: application/problem+json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
            )
        self.transport.close()


class _Answer:
    """What the answer to one request is written to: its head is held until there is a body."""

    __slots__ = ("_cycle", "_head", "_transport")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle, self._transport = cycle, cycle.transport
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """Send bytes; the first of an answer are its head."""
        if self._head:
            self._transport.writelines((self._head, data))
            self._head = b""
        elif self._head is None and self._cycle.response_started:
            self._head = data
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Send what is held, and hang up."""
        if self._head:
            self._transport.write(self._head)
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether the connection ends."""
        return self._transport.is_closing()
