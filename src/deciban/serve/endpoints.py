"""The paths of the API: a request in, an answer out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from deciban.prediction.scored import PredictionOptions
from deciban.serve import batch, bodies
from deciban.serve.batch import ScoredTable
from deciban.serve.learner import Outcome
from deciban.serve.lessons import Content
from deciban.serve.messages import blocks, charset_of, json_response, read_body, require_type
from deciban.serve.metrics import Metrics
from deciban.serve.problems import ProblemError
from deciban.serve.service import Service
from deciban.sources.spool import Spool
from deciban.threads import n_threads

__all__ = ["Endpoints"]

T = TypeVar("T")

#: Requests with no more rows are answered at once; a thread would take longer to begin.
MAX_INLINE_ROWS = 200


class Endpoints:
    """What answers the paths, with one service behind it."""

    def __init__(self, service: Service, metrics: Metrics, openapi: bytes) -> None:
        self._service, self._metrics, self._openapi = service, metrics, openapi
        self._limits = service.settings.limits
        self._pool = ThreadPoolExecutor(n_threads(), "deciban-answers")

    def close(self) -> None:
        """Finish what is being answered."""
        self._pool.shutdown()

    # ------------------------------------------------------------------ questions

    async def predict(self, request: Request) -> Response:
        """Answers and probabilities of rows."""
        asked = await self._read(request, _PREDICT)
        n_rows = self._check_rows(request, len(asked.rows))
        answers = self._service.answers
        if n_rows <= MAX_INLINE_ROWS:
            return json_response(answers.predict(asked))
        return json_response(await self._run(answers.predict, asked))

    async def explain(self, request: Request) -> Response:
        """Why a row has its answer."""
        asked = await self._read(request, _EXPLAIN)
        return json_response(self._service.answers.explain(asked))

    async def counterfactual(self, request: Request) -> Response:
        """What would have to change for another answer."""
        asked = await self._read(request, _COUNTERFACTUAL)
        return json_response(await self._run(self._service.answers.counterfactual, asked))

    async def evaluate(self, request: Request) -> Response:
        """How good the model is."""
        asked = await self._read(request, _EVALUATE)
        self._check_rows(request, len(asked.rows or ()))
        return json_response(await self._run(self._service.evaluate, asked))

    async def model(self, request: Request) -> Response:
        """What the model is."""
        return json_response(await self._run(self._service.describe))

    # ------------------------------------------------------------------ lessons

    async def learn(self, request: Request) -> Response:
        """Learn lessons; they are on the disk when this answers."""
        learner = self._service.require_learner()
        asked = await self._read(request, _LEARN)
        self._check_rows(request, len(asked.lessons))
        named = [(lesson.id, Content(lesson.row, lesson.answer)) for lesson in asked.lessons]
        done = await learner.learn(named, new_classes=asked.new_classes)
        await self._wait(done, asked.wait)
        return json_response(bodies.LearnAnswer(*done))

    async def forget(self, request: Request) -> Response:
        """Take lessons back."""
        learner = self._service.require_learner()
        asked = await self._read(request, _FORGET)
        self._check_rows(request, len(asked.ids))
        done = await learner.forget(asked.ids)
        await self._wait(done, asked.wait)
        return json_response(bodies.ForgetAnswer(*done))

    async def _wait(self, done: Outcome, wait: bool) -> None:
        if wait:
            await self._service.require_learner().reached(done.position)

    # ------------------------------------------------------------------ tables

    async def batch(self, request: Request) -> Response:
        """A table with answers beside its rows."""
        kind = require_type(request, *batch.FORMS)
        form, ending = batch.FORMS[kind]
        options = self._batch_options(request)
        spool = Spool([], ending)
        try:
            with spool.path.open("wb", buffering=1 << 20) as file:
                async for block in blocks(request, self._limits.batch_bytes):
                    file.write(block)
        except OSError as error:
            raise ProblemError(503, f"the table could not be kept: {error.strerror}.") from None
        model = self._service.answers.model
        table = await self._run(
            batch.predict_table, model, spool, form, options, charset_of(request)
        )
        return StreamingResponse(self._pieces(request, table), media_type=kind)

    def _batch_options(self, request: Request) -> PredictionOptions:
        query = request.query_params
        unknown = [name for name in query if name not in ("keep", "evidence")]
        if unknown:
            raise ProblemError(422, f"there is no option {unknown[0]!r}.", "keep and evidence are")
        keep = query.get("keep", "")
        evidence = query.get("evidence", "false")
        if evidence not in ("true", "false"):
            raise ProblemError(422, f"evidence is {evidence!r}.", "true or false")
        kept = None if keep == "*" else tuple(name for name in keep.split(",") if name)
        return PredictionOptions(keep=kept, evidence=evidence == "true", digits=17)

    async def _pieces(self, request: Request, table: ScoredTable) -> AsyncIterator[bytes]:
        """The table in pieces, each made while the one before is sent."""
        pieces = iter(table)
        coming = asyncio.ensure_future(self._run(next, pieces, None))
        try:
            while (piece := await coming) is not None:
                coming = asyncio.ensure_future(self._run(next, pieces, None))
                yield piece
        finally:
            coming.cancel()  # where the caller has gone away
            request.scope["deciban.rows"] = table.n_rows

    # ------------------------------------------------------------------ the service

    async def metrics(self, request: Request) -> Response:
        """Counters for Prometheus."""
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def health(self, request: Request) -> Response:
        """Whether answers can be given."""
        trouble = self._service.trouble
        if trouble:
            raise ProblemError(503, trouble)
        return json_response({"status": "ok"})

    async def openapi(self, request: Request) -> Response:
        """The description of the API."""
        return Response(self._openapi, media_type="application/json")

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


_PREDICT = msgspec.json.Decoder(bodies.PredictionRequest)
_EXPLAIN = msgspec.json.Decoder(bodies.ExplanationRequest)
_COUNTERFACTUAL = msgspec.json.Decoder(bodies.CounterfactualRequest)
_EVALUATE = msgspec.json.Decoder(bodies.EvaluationRequest)
_LEARN = msgspec.json.Decoder(bodies.LearnRequest)
_FORGET = msgspec.json.Decoder(bodies.ForgetRequest)
