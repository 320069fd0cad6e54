"""The paths of the API: a request in, an answer out."""

from __future__ import annotations

import time

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from deciban.serve import bodies, lessons
from deciban.serve.learner import Outcome
from deciban.serve.lessons import Content
from deciban.serve.messages import json_response
from deciban.serve.metrics import Metrics
from deciban.serve.problems import ProblemError
from deciban.serve.service import Service
from deciban.serve.tables import TableEndpoints

__all__ = ["Endpoints"]

#: Requests with no more rows are answered at once; a thread would take longer to begin.
MAX_INLINE_ROWS = 200
#: Lessons that are listed, the last ones.
MAX_LISTED_LESSONS = 50
#: Examples are numbered up to here.
MAX_EXAMPLE_DIGITS = 9


class Endpoints(TableEndpoints):
    """What answers the paths, with one service behind it."""

    def __init__(self, service: Service, metrics: Metrics, openapi: bytes) -> None:
        super().__init__(service)
        self._metrics, self._openapi = metrics, openapi

    # ------------------------------------------------------------------ questions

    async def predict(self, request: Request) -> Response:
        """Answers and probabilities of rows."""
        asked = await self._read(request, _PREDICT)
        n_rows = self._check_rows(request, len(asked.rows))
        answers = self._service.answers
        if n_rows <= MAX_INLINE_ROWS:
            told = answers.predict(asked)
        else:
            told = await self._run(answers.predict, asked)
        self._service.recent.add(asked.rows)
        return json_response(told)

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

    async def importance(self, request: Request) -> Response:
        """Which columns carry how much."""
        answers = self._service.answers
        return json_response(await self._run(lambda: answers.importance))

    async def curve(self, request: Request) -> Response:
        """What each value of a column says."""
        asked = await self._read(request, _CURVE)
        return json_response(await self._run(self._service.answers.curve, asked))

    async def nomogram(self, request: Request) -> Response:
        """Points for every value, for a pencil."""
        asked = await self._read(request, _NOMOGRAM)
        return json_response(await self._run(self._service.answers.nomogram, asked))

    async def words(self, request: Request) -> Response:
        """The strongest words for a class."""
        asked = await self._read(request, _WORDS)
        return json_response(await self._run(self._service.answers.words, asked))

    async def example(self, request: Request) -> Response:
        """A row to begin with."""
        stated = request.query_params.get("number", "0")
        if not (stated.isascii() and stated.isdigit() and len(stated) <= MAX_EXAMPLE_DIGITS):
            raise ProblemError(422, f"the number is {stated!r}.", "a whole number, 0 or more")
        return json_response(await self._run(self._service.example, int(stated)))

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

    async def lessons(self, request: Request) -> Response:
        """The lessons that were taught last."""
        learner = self._service.require_learner()
        last = await self._run(learner.last_lessons, MAX_LISTED_LESSONS)
        listed = [
            {"id": one.id, **lessons.read(one.lesson)._asdict(), "taught": one.taught,
             "log_loss": one.loss}
            for one in last
        ]  # fmt: skip
        return json_response({"lessons": listed, "count": await self._run(learner.n_lessons)})

    async def _wait(self, done: Outcome, wait: bool) -> None:
        if wait:
            await self._service.require_learner().reached(done.position)

    # ------------------------------------------------------------------ the service

    async def metrics(self, request: Request) -> Response:
        """Counters for Prometheus."""
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def watch(self, request: Request) -> Response:
        """What was asked lately: how many requests, how far their rows are from training."""
        watched = await self._run(self._service.watch)
        return json_response({"time": time.time(), **self._metrics.totals(), **watched})

    async def health(self, request: Request) -> Response:
        """Whether answers can be given."""
        trouble = self._service.trouble
        if trouble:
            raise ProblemError(503, trouble)
        return json_response({"status": "ok"})

    async def openapi(self, request: Request) -> Response:
        """The description of the API."""
        return Response(self._openapi, media_type="application/json")


_PREDICT = msgspec.json.Decoder(bodies.PredictionRequest)
_EXPLAIN = msgspec.json.Decoder(bodies.ExplanationRequest)
_COUNTERFACTUAL = msgspec.json.Decoder(bodies.CounterfactualRequest)
_EVALUATE = msgspec.json.Decoder(bodies.EvaluationRequest)
_LEARN = msgspec.json.Decoder(bodies.LearnRequest)
_FORGET = msgspec.json.Decoder(bodies.ForgetRequest)
_CURVE = msgspec.json.Decoder(bodies.CurveRequest)
_NOMOGRAM = msgspec.json.Decoder(bodies.NomogramRequest)
_WORDS = msgspec.json.Decoder(bodies.WordsRequest)
