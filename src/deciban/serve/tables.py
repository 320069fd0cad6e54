"""The paths that take whole tables: answers beside their rows, and models made from them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from deciban.prediction.scored import PredictionOptions
from deciban.serve import batch, bodies
from deciban.serve.batch import ScoredTable
from deciban.serve.desk import Desk
from deciban.serve.messages import blocks, charset_of, json_response, require_type
from deciban.serve.problems import ProblemError
from deciban.sources.spool import Spool

__all__ = ["TableEndpoints"]

_TRAIN = msgspec.json.Decoder(bodies.TrainingRequest)
#: The query of a table that is classified, and of one that is learnt from.
_BATCH_OPTIONS, _TABLE_OPTIONS = ("keep", "evidence", "novelty"), ("name",)
#: Characters of the name of a table, which is only shown.
MAX_NAME_LENGTH = 200


class TableEndpoints(Desk):
    """What answers the paths of tables."""

    async def batch(self, request: Request) -> Response:
        """A table with answers beside its rows."""
        kind = require_type(request, *batch.INPUTS)
        written = batch.output_type(kind, request.headers.get("accept", "*/*"))
        options = _options(request)
        model = self._service.answers.model
        spool = await self._keep(request, kind, self._limits.batch_bytes)
        table = await self._run(
            batch.predict_table, model, spool, batch.OUTPUTS[written], options, charset_of(request)
        )
        return StreamingResponse(self._pieces(request, table), media_type=written)

    async def _keep(self, request: Request, kind: str, limit: int) -> Spool:
        """The body in a temporary file."""
        spool = Spool([], batch.INPUTS[kind], "the table")
        try:
            with spool.path.open("wb", buffering=1 << 20) as file:
                async for block in blocks(request, limit):
                    file.write(block)
        except OSError as error:
            raise ProblemError(503, f"the table could not be kept: {error.strerror}.") from None
        return spool

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

    # ------------------------------------------------------------------ training

    async def table(self, request: Request) -> Response:
        """Keep a table to learn from, and say what its columns are."""
        trainer = self._service.require_trainer()
        kind = require_type(request, *batch.INPUTS)
        name = _query(request.query_params, _TABLE_OPTIONS).get("name", "table")
        spool = await self._keep(request, kind, self._limits.table_bytes)
        taken = await self._run(batch.open_table, spool, charset_of(request))
        return json_response(await self._run(trainer.take, name[:MAX_NAME_LENGTH], taken))

    async def columns(self, request: Request) -> Response:
        """What the columns of the table are that is there."""
        return json_response({"table": await self._run(self._service.require_trainer().table)})

    async def train(self, request: Request) -> Response:
        """Begin to train."""
        trainer = self._service.require_trainer()
        asked = await self._read(request, _TRAIN)
        return json_response(trainer.start(asked), 202)

    async def training(self, request: Request) -> Response:
        """How far the training is, and how good the model."""
        return json_response(self._service.require_trainer().state())

    async def trained(self, request: Request) -> Response:
        """The model that was trained, as a file."""
        content = self._service.require_trainer().model_file()
        headers = {"Content-Disposition": 'attachment; filename="model.deciban"'}
        return Response(content, headers=headers, media_type="application/octet-stream")


def _query(query: Mapping[str, str], known: tuple[str, ...]) -> Mapping[str, str]:
    """The options in the query, which must be known."""
    for name in query:
        if name not in known:
            raise ProblemError(422, f"there is no option {name!r}.", f"known: {', '.join(known)}")
    return query


def _options(request: Request) -> PredictionOptions:
    query = _query(request.query_params, _BATCH_OPTIONS)
    keep = query.get("keep", "")
    kept = None if keep == "*" else tuple(name for name in keep.split(",") if name)
    return PredictionOptions(
        keep=kept, evidence=_flag(query, "evidence"), novelty=_flag(query, "novelty"), digits=17
    )


def _flag(query: Mapping[str, str], name: str) -> bool:
    stated = query.get(name, "false")
    if stated not in ("true", "false"):
        raise ProblemError(422, f"{name} is {stated!r}.", "true or false")
    return stated == "true"
