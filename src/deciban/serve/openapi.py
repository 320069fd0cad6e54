"""The description of the API in OpenAPI 3.1, made from the types of its bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from deciban import __version__
from deciban.plain import PlainDict
from deciban.serve import bodies
from deciban.serve.batch import INPUTS, OUTPUTS
from deciban.serve.problems import Problem

__all__ = ["describe_api"]

_OBJECT = {"type": "object"}
_TABLES_IN, _TABLES_OUT = (
    {kind: {"schema": {"type": "string"}} for kind in kinds} for kinds in (INPUTS, OUTPUTS)
)


class _Path(NamedTuple):
    """A path: its method, what it does, its request and its answer."""

    method: str
    summary: str
    asks: Any = None
    answers: Any = None


_PATHS = {
    "/api/model": _Path("get", "What the model is: classes, columns, values to try, lessons."),
    "/api/predict": _Path("post", "Classify rows.", bodies.PredictionRequest, bodies.Predictions),
    "/api/explain": _Path(
        "post", "Say why a row has its answer, in decibans.", bodies.ExplanationRequest
    ),
    "/api/counterfactual": _Path(
        "post",
        "Find the fewest values to change for another answer.",
        bodies.CounterfactualRequest,
        bodies.CounterfactualAnswer,
    ),
    "/api/evaluate": _Path("post", "Judge the model on labelled rows.", bodies.EvaluationRequest),
    "/api/learn": _Path(
        "post", "Learn lessons, each once.", bodies.LearnRequest, bodies.LearnAnswer
    ),
    "/api/forget": _Path("post", "Take lessons back.", bodies.ForgetRequest, bodies.ForgetAnswer),
    "/api/batch": _Path(
        "post", "Classify a whole table: CSV, JSON lines, an Arrow stream, Parquet or Excel."
    ),
    "/api/example": _Path("get", "A row to begin with, and its answer if that is known."),
    "/api/importance": _Path("get", "Which columns carry how much, in decibans a row."),
    "/api/curve": _Path("post", "What each value of a column says.", bodies.CurveRequest),
    "/api/nomogram": _Path("post", "Points for every value.", bodies.NomogramRequest),
    "/api/words": _Path("post", "The strongest words for a class.", bodies.WordsRequest),
    "/api/lessons": _Path("get", "The lessons that were taught last."),
    "/api/watch": _Path("get", "Requests, drift since training, log loss of taught answers."),
    "/api/table": _Path("post", "Send a table to train on; says what its columns are."),
    "/api/columns": _Path("get", "What the columns of the table are that was sent."),
    "/api/train": _Path("post", "Begin to train a model on the table.", bodies.TrainingRequest),
    "/api/training": _Path("get", "How far the training is, and how good the model."),
    "/api/trained": _Path("get", "The model that was trained, as a file."),
    "/api/openapi.json": _Path("get", "This description."),
    "/metrics": _Path("get", "Counters for Prometheus."),
    "/healthz": _Path("get", "Whether answers can be given."),
}


def describe_api() -> bytes:
    """The description as JSON."""
    types = [t for path in _PATHS.values() for t in (path.asks, path.answers) if t is not None]
    _, schemas = msgspec.json.schema_components(
        [*types, Problem], ref_template="#/components/schemas/{name}"
    )
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "deciban",
            "version": __version__,
            "description": "Bayesian classification with reasons, in decibans.",
        },
        "paths": {path: {of.method: _operation(path, of)} for path, of in _PATHS.items()},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return msgspec.json.encode(document)


def _operation(path: str, of: _Path) -> PlainDict:
    operation: PlainDict = {
        "operationId": path.strip("/").replace("/", "_").replace(".", "_"),
        "summary": of.summary,
        "responses": {
            _OK.get(path, "200"): {"description": "The answer.", "content": _answer(path, of)},
            "default": {
                "description": "What was wrong, and a hint.",
                "content": {"application/problem+json": {"schema": _reference(Problem)}},
            },
        },
    }
    if path in _PARAMETERS:
        operation["parameters"] = _PARAMETERS[path]
    if path in ("/api/batch", "/api/table"):
        operation["requestBody"] = {"required": True, "content": _TABLES_IN}
    elif of.asks is not None:
        content = {"application/json": {"schema": _reference(of.asks)}}
        operation["requestBody"] = {"required": True, "content": content}
    if path.startswith("/api/") or path == "/metrics":
        operation["security"] = [{}, {"token": []}]
    return operation


def _answer(path: str, of: _Path) -> PlainDict:
    if path == "/api/batch":
        return _TABLES_OUT
    if path == "/api/trained":
        return {"application/octet-stream": {"schema": {"type": "string"}}}
    if path == "/metrics":
        return {"text/plain": {"schema": {"type": "string"}}}
    schema = _OBJECT if of.answers is None else _reference(of.answers)
    return {"application/json": {"schema": schema}}


def _parameter(name: str, text: str, kind: str) -> PlainDict:
    return {"name": name, "in": "query", "description": text, "schema": {"type": kind}}


_PARAMETERS = {
    "/api/batch": [
        _parameter("keep", "Columns to write as well, between commas; * is all.", "string"),
        _parameter("evidence", "Whether decibans of every column are written.", "boolean"),
        _parameter("novelty", "Whether it is written how unlike training a row is.", "boolean"),
    ],
    "/api/table": [_parameter("name", "What the table is called.", "string")],
    "/api/example": [_parameter("number", "Which row: 0, 1, 2, ...", "integer")],
}
#: The status of an answer, where it is not 200.
_OK = {"/api/train": "202"}


def _reference(of: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{of.__name__}"}
