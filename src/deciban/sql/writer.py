"""Expressions as SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from deciban.errors import InputError
from deciban.formulas.nodes import (
    All,
    Any,
    Case,
    Cell,
    Compare,
    Condition,
    Expression,
    Extreme,
    Flag,
    Function,
    Input,
    Label,
    Missing,
    Modulo,
    Number,
    OneOf,
    Product,
    Quotient,
    Scaled,
    Shared,
    Square,
    Steps,
    Sum,
)
from deciban.sql.dialects import Dialect

#: Sums and lists of arguments are nested from so many terms on: parsers have limits.
MAX_TERMS = 60
#: Where arithmetic is checked: what is beyond the first is infinite, below the second zero; their
#: products are neither too large nor too small.
MAX_DISTANCE, MIN_DISTANCE = 1e150, 1e-150
#: The exponential of less than this is taken for zero.
MIN_EXPONENT = -700.0
_FUNCTIONS = {"log": "ln", "sin": "sin", "sqrt": "sqrt", "abs": "abs", "floor": "floor"}


class Writer:
    """Writes expressions in a dialect.

    ``column`` gives the name of a node that is computed before, ``source`` is what stands before
    the name of a column of the table.
    """

    def __init__(
        self, dialect: Dialect, column: Callable[[Expression], str | None], source: str = ""
    ) -> None:
        self.dialect = dialect
        self._column = column
        self._source = source

    def write(self, node: Expression) -> str:
        """An expression, in parentheses where it needs them."""
        return self._column(node) or self.define(node)

    def define(self, node: Expression) -> str:
        """An expression as it is computed, also if it has a column."""
        return str(getattr(self, f"_{type(node).__name__.lower()}")(node))

    # ------------------------------------------------------------------ leaves

    def literal(self, value: Hashable) -> str | None:
        """A label; None where no value of the database can be equal to it."""
        if value is None:
            return "NULL"
        if isinstance(value, bool | np.bool_):
            return self.dialect.booleans[int(value)]
        if isinstance(value, str):
            return self.dialect.text(value)
        if isinstance(value, int | np.integer):
            return str(int(value))
        if isinstance(value, float | np.floating):
            return self.dialect.write_number(float(value))
        return self.dialect.text(str(value))

    def _input(self, node: Input) -> str:
        how = self.dialect.inputs.get(node.type)
        if how is None:
            raise InputError(
                f"column {node.name!r} is a {node.type}, and {self.dialect.name} has none.",
                hint="train on a timestamp instead",
            )
        read = how.format(self._source + self.dialect.name_of(node.name))
        return read if node.empty else f"NULLIF({read}, '')"

    def _number(self, node: Number) -> str:
        return self.dialect.write_number(node.value)

    def _label(self, node: Label) -> str:
        written = self.literal(node.value)
        if written is None:
            raise InputError(
                f"the label {node.value!r} is no text that {self.dialect.name} can have.",
                hint="a text of this database has no NUL: train with other labels",
            )
        return written

    def _shared(self, node: Shared) -> str:
        return self.write(node.of)

    def _flag(self, node: Flag) -> str:
        return self.condition(node.condition)

    # ------------------------------------------------------------------ arithmetic

    def _sum(self, node: Sum) -> str:
        return self._add([self.write(term) for term in node.terms])

    def _add(self, terms: Sequence[str]) -> str:
        if len(terms) <= MAX_TERMS:
            return f"({' + '.join(terms)})" if terms else self.dialect.write_number(0.0)
        size = -(-len(terms) // MAX_TERMS)
        return self._add([self._add(terms[i : i + size]) for i in range(0, len(terms), size)])

    def _product(self, node: Product) -> str:
        return f"({self.write(node.a)} * {self.write(node.b)})"

    def _quotient(self, node: Quotient) -> str:
        return f"({self.write(node.a)} / {self.write(node.b)})"

    def _scaled(self, node: Scaled) -> str:
        if node.scale == 0:
            return self.dialect.write_number(0.0)
        infinity = math.copysign(math.inf, node.scale)
        return self._checked(node, self._distance(node), (-infinity, infinity))

    def _square(self, node: Square) -> str:
        if node.x.scale == 0:
            return self.dialect.write_number(0.0)
        distance = self._distance(node.x)
        return self._checked(node.x, f"({distance} * {distance})", (math.inf, math.inf))

    def _distance(self, node: Scaled) -> str:
        x, number = self.write(node.x), self.dialect.write_number
        distance = f"({x} - {number(node.centre)})" if node.centre else x
        return f"({distance} * {number(node.scale)})"

    def _checked(self, node: Scaled, plain: str, ends: tuple[float, float]) -> str:
        """Infinite where the distance is huge, and zero where it is tiny."""
        if not self.dialect.checked:
            return plain
        number, centre, x = self.dialect.write_number, node.centre, self.write(node.x)
        far, near = (
            min(MAX_DISTANCE, MAX_DISTANCE / abs(node.scale)),
            MIN_DISTANCE / abs(node.scale),
        )
        low, high = (number(end) for end in ends)
        branches = [
            f"WHEN {x} > {number(centre + far)} THEN {high}",
            f"WHEN {x} < {number(centre - far)} THEN {low}",
        ]
        if centre - near < centre:
            between = f"{x} > {number(centre - near)} AND {x} < {number(centre + near)}"
            branches.append(f"WHEN {between} THEN {number(0.0)}")
        return f"(CASE {' '.join(branches)} ELSE {plain} END)"

    def _function(self, node: Function) -> str:
        x = self.write(node.x)
        if node.name == "exp":
            less = f"{x} < {self.dialect.write_number(MIN_EXPONENT)}"
            return f"(CASE WHEN {less} THEN {self.dialect.write_number(0.0)} ELSE exp({x}) END)"
        if node.name == "log1p":
            return self._log1p(x)
        return f"{_FUNCTIONS[node.name]}({x})"

    def _log1p(self, x: str) -> str:
        """``log(1 + x)`` to the last bits, by what rounding did to ``1 + x`` (Kahan)."""
        if self.dialect.log1p is not None:
            return f"{self.dialect.log1p}({x})"
        one = self.dialect.write_number(1.0)
        more = f"({one} + {x})"
        exact = f"ln({more}) * ({x} / ({more} - {one}))"
        return (
            f"(CASE WHEN {x} > {one} THEN ln({more}) WHEN {more} = {one} THEN {x} ELSE {exact} END)"
        )

    def _extreme(self, node: Extreme) -> str:
        name = self.dialect.greatest if node.name == "greatest" else self.dialect.least
        return self._nest(name, [self.write(term) for term in node.terms])

    def _nest(self, name: str, terms: Sequence[str]) -> str:
        if len(terms) == 1:
            return terms[0]
        if len(terms) <= MAX_TERMS:
            return f"{name}({', '.join(terms)})"
        size = -(-len(terms) // MAX_TERMS)
        groups = [terms[i : i + size] for i in range(0, len(terms), size)]
        return self._nest(name, [self._nest(name, group) for group in groups])

    def _modulo(self, node: Modulo) -> str:
        """A number within the period is as it is; below zero by next to nothing, it is zero."""
        number = self.dialect.write_number
        x, period, zero = self.write(node.x), number(node.period), number(0.0)
        rest = self.dialect.modulo.format(x=x, period=period)
        return (
            f"(CASE WHEN {x} >= {zero} AND {x} < {period} THEN {x} "
            f"WHEN {x} < {zero} AND {x} > {number(-1e-200)} THEN {zero} ELSE {rest} END)"
        )

    # ------------------------------------------------------------------ choices

    def _case(self, node: Case) -> str:
        branches = (
            f"WHEN {self.condition(condition)} THEN {self.write(then)}"
            for condition, then in node.branches
        )
        return f"(CASE {' '.join(branches)} ELSE {self.write(node.otherwise)} END)"

    def _steps(self, node: Steps) -> str:
        x, number = self.write(node.x), self.dialect.write_number

        def between(first: int, last: int) -> str:
            if first == last:
                return number(node.values[first])
            middle = (first + last) // 2
            less, more = between(first, middle), between(middle + 1, last)
            return f"CASE WHEN {x} < {number(node.edges[middle])} THEN {less} ELSE {more} END"

        return f"({between(0, len(node.values) - 1)})"

    def _cell(self, node: Cell) -> str:
        """A cell as a CASE; one that is joined has a column."""
        (key,), (keys,) = node.keys, node.table.keys
        number, otherwise = self.dialect.write_number, self.write(node.otherwise)
        written = zip(map(self.literal, keys), node.table.numbers[:, node.column], strict=True)
        branches = [f"WHEN {key_} THEN {number(value)}" for key_, value in written if key_]
        if not branches:
            return otherwise
        return f"(CASE {self.write(key)} {' '.join(branches)} ELSE {otherwise} END)"

    # ------------------------------------------------------------------ conditions

    def condition(self, node: Condition) -> str:
        """A condition, in parentheses where it needs them."""
        match node:
            case Compare():
                return f"{self.write(node.a)} {node.sign} {self.write(node.b)}"
            case Missing():
                return f"({self.write(node.x)} IS NULL)"
            case All():
                return self._join(" AND ", node.conditions)
            case Any():
                return self._join(" OR ", node.conditions)
            case OneOf():
                return self._one_of(node)

    def _one_of(self, node: OneOf) -> str:
        """A sign for every code in one text: databases take long for very many lists."""
        signs = ["0"] * (1 + max(node.codes, default=0))
        for code in node.codes:
            signs[code] = "1"
        return f"substr('{''.join(signs)}', CAST({self.write(node.x)} AS INTEGER) + 1, 1) = '1'"

    def _join(self, word: str, conditions: Sequence[Condition]) -> str:
        return f"({word.join(map(self.condition, conditions))})"
