"""A model as JSON: points in decibans for every value, for people and for other languages.

A scorecard is what a model adds up, written down. Of every column it has *parts*, and the points of
each class are the sum of them:

``{"values": [...], "points": [[...], ...], "unseen": [...], "missing": [...]}``
    points by value, a list over the classes for each
``{"edges": [...], "points": [[...], ...], "missing": [...]}``
    points by bin: those of bin i where i of the edges are at or below the number
``{"formula": [...]}``
    an expression for each class, such as ``["+", 1.5, ["*", -2, ["x"]]]``

Log-odds are ``prior + sum of points``, in decibans: the probability of class c is
``10 ** (total_c / 10)`` as a share of their sum. ``bench/`` and the tests have a reader of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from deciban.errors import InputError
from deciban.formulas import nodes
from deciban.formulas.formula import ByClass, HasFormula
from deciban.formulas.nodes import Condition, Expression, FloatArray
from deciban.models.protocol import Model
from deciban.models.scores import DECIBANS

__all__ = ["SCORECARD_VERSION", "scorecard", "to_json"]

#: The version of the format.
SCORECARD_VERSION = 1

Plain = Any


def to_json(model: Model, *, indent: int | None = None) -> str:
    """The scorecard of a model as a JSON document."""
    return json.dumps(scorecard(model), ensure_ascii=False, indent=indent, allow_nan=False)


def scorecard(model: Model) -> dict[str, Plain]:
    """The scorecard of an additive model, as plain values."""
    if not isinstance(model, HasFormula):
        raise InputError(f"a {model.kind} has no formula.", hint="use predict instead")
    formula = model.formula()
    if not formula.additive:
        raise InputError(
            f"the columns of a {model.kind} act together: it has no points for values.",
            hint="a NaiveBayes or a softmax LogisticRegression has; any model has to_sql",
        )
    return {
        "format": "deciban scorecard",
        "version": SCORECARD_VERSION,
        "unit": "decibans",
        "kind": model.kind,
        "classes": [_label(label) for label in model.classes.tolist()],
        "prior": _points(formula.log_prior),
        "fallback": _points(formula.fallback),
        "columns": [_column(name, some) for name, some in formula.columns.items()],
        "refused": [_condition(one) for one in formula.refused],
    }


def _column(name: str, by_class: ByClass) -> dict[str, Plain]:
    return {"name": name, "parts": [_part(some) for some in _split(by_class)]}


def _split(by_class: ByClass) -> list[ByClass]:
    """The terms of sums, side by side for all classes."""
    terms = [one.terms if isinstance(one, nodes.Sum) else (one,) for one in by_class]
    if len({len(some) for some in terms}) > 1:
        return [by_class]
    return [list(some) for some in zip(*terms, strict=True)]


def _part(by_class: ByClass) -> dict[str, Plain]:
    factor, plain = _factor(by_class)
    known = [one for one in plain if isinstance(one, nodes.Case) and len(one.branches) == 1]
    inner = [one.otherwise for one in known]
    if len(inner) == len(plain) and all(isinstance(one, nodes.Cell) for one in inner):
        return _table(known, factor)
    if len(inner) == len(plain) and all(isinstance(one, nodes.Steps) for one in inner):
        return _bins(known, factor)
    return {"formula": [["*", DECIBANS, _expression(one)] for one in by_class]}


def _factor(by_class: ByClass) -> tuple[float, ByClass]:
    """A number that multiplies what is said of all classes, and what it multiplies."""
    first = by_class[0]
    if isinstance(first, nodes.Product) and isinstance(first.a, nodes.Number):
        return first.a.value, [one.b for one in by_class if isinstance(one, nodes.Product)]
    return 1.0, by_class


def _table(by_class: Sequence[nodes.Case], factor: float) -> dict[str, Plain]:
    cells = [one.otherwise for one in by_class if isinstance(one.otherwise, nodes.Cell)]
    table, (x,) = cells[0].table, cells[0].keys
    unseen = [one.otherwise.value for one in cells if isinstance(one.otherwise, nodes.Number)]
    return {
        "x": _expression(x),
        "values": [_label(key) for key in table.keys[0]],
        "points": [_points(line, factor) for line in table.numbers],
        "unseen": _points(unseen, factor),
        "missing": _points(_missing(by_class), factor),
    }


def _bins(by_class: Sequence[nodes.Case], factor: float) -> dict[str, Plain]:
    steps = [one.otherwise for one in by_class if isinstance(one.otherwise, nodes.Steps)]
    return {
        "x": _expression(steps[0].x),
        "edges": list(steps[0].edges),
        "points": [_points(line, factor) for line in zip(*(s.values for s in steps), strict=True)],
        "missing": _points(_missing(by_class), factor),
    }


def _missing(by_class: Sequence[nodes.Case]) -> list[float]:
    return [
        then.value for one in by_class for _, then in one.branches if isinstance(then, nodes.Number)
    ]


def _points(nats: FloatArray | Sequence[float], factor: float = 1.0) -> list[Plain]:
    return [_number(DECIBANS * factor * float(value)) for value in nats]


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else "-inf" if value < 0 else "inf"


def _label(value: object) -> Plain:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


# ---------------------------------------------------------------------- expressions


def _expression(node: Expression) -> Plain:
    """An expression as nested lists, the first item of which is what is done."""
    match node:
        case nodes.Number():
            return _number(node.value)
        case nodes.Label():
            return ["label", _label(node.value)]
        case nodes.Input():
            return ["column", node.name, node.type, node.empty]
        case nodes.Shared():
            return _expression(node.of)
        case nodes.Flag():
            return _condition(node.condition)
        case nodes.Case():
            branches = [[_condition(c), _expression(then)] for c, then in node.branches]
            return ["case", *branches, _expression(node.otherwise)]
    return _arithmetic(node)


def _arithmetic(node: Expression) -> Plain:
    match node:
        case nodes.Sum():
            return ["+", *map(_expression, node.terms)]
        case nodes.Product():
            return ["*", _expression(node.a), _expression(node.b)]
        case nodes.Quotient():
            return ["/", _expression(node.a), _expression(node.b)]
        case nodes.Scaled():
            x = _expression(node.x)
            return ["*", ["+", x, -node.centre] if node.centre else x, node.scale]
        case nodes.Square():
            return ["square", _expression(node.x)]
        case nodes.Function():
            return [node.name, _expression(node.x)]
        case nodes.Extreme():
            return [{"greatest": "max", "least": "min"}[node.name], *map(_expression, node.terms)]
        case nodes.Modulo():
            return ["modulo", _expression(node.x), node.period]
    raise InputError(f"a {type(node).__name__.lower()} has no place in a scorecard.")


def _condition(node: Condition) -> Plain:
    match node:
        case nodes.Compare():
            return [node.sign, _expression(node.a), _expression(node.b)]
        case nodes.Missing():
            return ["missing", _expression(node.x)]
        case nodes.All() | nodes.Any():
            name = "and" if isinstance(node, nodes.All) else "or"
            return [name, *map(_condition, node.conditions)]
    raise InputError(f"a {type(node).__name__.lower()} has no place in a scorecard.")
