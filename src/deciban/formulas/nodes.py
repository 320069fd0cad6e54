"""The nodes of a formula.

Conventions
-----------
- An *expression* is a number, a label or a truth value of each row; it may be missing. Arithmetic
  with a missing number is missing, a comparison with one does not hold.
- Numbers are floats of 64 bits; minus infinity, the logarithm of nothing, is one of them.
- A :class:`Shared` expression is worth computing once; nodes are told apart by identity.
- They are structs of msgspec because those are made in no time when the module is imported.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: What a column of the table holds.
InputType = Literal["number", "integer", "boolean", "text", "date", "timestamp", "time"]
#: Functions of one number.
FunctionName = Literal["exp", "log", "log1p", "sin", "sqrt", "abs", "floor"]


class Input(msgspec.Struct, frozen=True, eq=False):
    """A column of the table, cast to the type that it had in training.

    Numbers are missing where they are NaN; times are seconds since 1970, or since midnight. Where
    ``empty`` is False, an empty text is missing.
    """

    name: str
    type: InputType
    empty: bool = True


class Number(msgspec.Struct, frozen=True, eq=False):
    """A number that is the same in all rows."""

    value: float


class Label(msgspec.Struct, frozen=True, eq=False):
    """A label that is the same in all rows; None is missing."""

    value: Hashable


class Sum(msgspec.Struct, frozen=True, eq=False):
    """The sum of some numbers, 0 of none."""

    terms: tuple[Expression, ...]


class Product(msgspec.Struct, frozen=True, eq=False):
    """The product of two numbers."""

    a: Expression
    b: Expression


class Quotient(msgspec.Struct, frozen=True, eq=False):
    """One number divided by another."""

    a: Expression
    b: Expression


class Scaled(msgspec.Struct, frozen=True, eq=False):
    """``(x - centre) * scale``: how far a number is from another, in some unit."""

    x: Expression
    centre: float
    scale: float


class Square(msgspec.Struct, frozen=True, eq=False):
    """The square of a distance."""

    x: Scaled


class Function(msgspec.Struct, frozen=True, eq=False):
    """A function of one number."""

    name: FunctionName
    x: Expression


class Extreme(msgspec.Struct, frozen=True, eq=False):
    """The greatest or the least of some numbers, none of which is missing."""

    name: Literal["greatest", "least"]
    terms: tuple[Expression, ...]


class Modulo(msgspec.Struct, frozen=True, eq=False):
    """What is left of a number, from 0 to below the period."""

    x: Expression
    period: float


class Case(msgspec.Struct, frozen=True, eq=False):
    """The expression of the first condition that holds, or else ``otherwise``."""

    branches: tuple[tuple[Condition, Expression], ...]
    otherwise: Expression


class Steps(msgspec.Struct, frozen=True, eq=False):
    """The number of the step that x is in: ``values[i]`` has i of the rising edges at or below x.

    x is not missing.
    """

    x: Expression
    edges: tuple[float, ...]
    values: tuple[float, ...]


class Table(msgspec.Struct, frozen=True, eq=False):
    """Numbers by key: ``numbers``, (lines, columns), of the lines whose ``keys`` are all different.

    A key has one or more parts: ``keys`` has a tuple of values for each part, of one type.
    """

    keys: tuple[tuple[Hashable, ...], ...]
    numbers: FloatArray


class Cell(msgspec.Struct, frozen=True, eq=False):
    """The number of a column of a table, in the line of a key; ``otherwise`` if there is none.

    Where a part of the key is missing, there is none.
    """

    table: Table
    keys: tuple[Expression, ...]
    column: int
    otherwise: Expression


class Flag(msgspec.Struct, frozen=True, eq=False):
    """Whether a condition holds, as a truth value."""

    condition: Condition


class Shared(msgspec.Struct, frozen=True, eq=False):
    """An expression that is used more than once."""

    of: Expression


Expression: TypeAlias = (
    Input
    | Number
    | Label
    | Sum
    | Product
    | Quotient
    | Scaled
    | Square
    | Function
    | Extreme
    | Modulo
    | Case
    | Steps
    | Cell
    | Flag
    | Shared
)


# ---------------------------------------------------------------------- conditions


class Compare(msgspec.Struct, frozen=True, eq=False):
    """Whether two expressions, neither of them missing, compare so."""

    a: Expression
    sign: Literal["=", "<", "<=", ">", ">="]
    b: Expression


class Missing(msgspec.Struct, frozen=True, eq=False):
    """Whether an expression is missing."""

    x: Expression


class All(msgspec.Struct, frozen=True, eq=False):
    """Whether all conditions hold."""

    conditions: tuple[Condition, ...]


class Any(msgspec.Struct, frozen=True, eq=False):
    """Whether some condition holds."""

    conditions: tuple[Condition, ...]


class OneOf(msgspec.Struct, frozen=True, eq=False):
    """Whether a whole number that is not negative is one of some codes."""

    x: Expression
    codes: tuple[int, ...]


Condition: TypeAlias = Compare | Missing | All | Any | OneOf


def parts(node: Expression | Condition) -> tuple[Expression | Condition, ...]:
    """The nodes that a node is made of, in the order in which they are written.

    >>> parts(Sum((Number(1.0), Number(2.0))))
    (Number(value=1.0), Number(value=2.0))
    """
    match node:
        case Sum() | Extreme():
            return node.terms
        case Product() | Quotient() | Compare():
            return node.a, node.b
        case Scaled() | Square() | Function() | Modulo() | Steps() | Missing() | OneOf():
            return (node.x,)
        case Case():
            return (*(part for branch in node.branches for part in branch), node.otherwise)
        case Cell():
            return (*node.keys, node.otherwise)
        case All() | Any():
            return node.conditions
        case Flag():
            return (node.condition,)
        case Shared():
            return (node.of,)
    return ()
