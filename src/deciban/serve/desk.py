"""What all endpoints share: the service behind them, bodies read within limits, threads to work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from deciban.serve import bodies
from deciban.serve.messages import read_body, require_type
from deciban.serve.problems import ProblemError
from deciban.serve.service import Service
from deciban.threads import n_threads

__all__ = ["Desk"]

T = TypeVar("T")


class Desk:
    """Where requests are read, and work is given out."""

    def __init__(self, service: Service) -> None:
        self._service, self._limits = service, service.settings.limits
        self._pool = ThreadPoolExecutor(n_threads(), "deciban-answers")

    def close(self) -> None:
        """Finish what is being answered."""
        self._pool.shutdown()

    async def _read(self, request: Request, decoder: msgspec.json.Decoder[T]) -> T:
        require_type(request, "application/json")
        body = await read_body(request, self._limits.body_bytes)
        return bodies.decode(decoder, body)

    def _check_rows(self, request: Request, n_rows: int) -> int:
        if n_rows > self._limits.rows:
            raise ProblemError(
                413,
                f"the request has {n_rows:,} rows, more than {self._limits.rows:,}.",
                "send fewer at a time; /api/batch takes tables of any size",
            )
        request.scope["deciban.rows"] = n_rows
        return n_rows

    async def _run(self, work: Callable[..., T], *arguments: Any) -> T:
        """What a thread makes of it; other requests are answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)
