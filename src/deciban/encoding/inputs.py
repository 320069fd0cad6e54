"""The columns of a table as formulas read them: what :mod:`deciban.encoding.matrices` encodes.

Numbers are as they are, cyclic ones modulo their period, times in seconds; categories are values
of the type that they had in training, and those of a time its hour and its day of the week.
"""

from __future__ import annotations

from collections.abc import Iterator

from deciban.encoding.matrices import Caster
from deciban.errors import InputError
from deciban.formulas.build import infinite
from deciban.formulas.nodes import (
    Condition,
    Expression,
    Function,
    Input,
    Modulo,
    Number,
    Quotient,
    Shared,
    Sum,
)
from deciban.schema import ColumnSchema

#: The seconds of an hour and of a day; day 0 of 1970 was a Thursday, 3 days after a Monday.
_HOUR, _DAY, _FIRST_WEEKDAY = 3600.0, 86400.0, 3.0


class Inputs:
    """The counted columns of a table: ``by_name`` has an expression for each, derived ones too.

    ``numbers`` are the columns of numbers themselves, of which infinity is refused.
    """

    def __init__(self, caster: Caster) -> None:
        self._caster = caster
        self.numbers: list[Expression] = []
        self.by_name: dict[str, Expression] = {}
        for column in caster.schema.columns:
            if column.name in caster.types and not column.texts:
                self.by_name |= dict(self._read(column))

    @property
    def refused(self) -> tuple[Condition, ...]:
        """The rows that no model takes."""
        return infinite(self.numbers)

    def _read(self, column: ColumnSchema) -> Iterator[tuple[str, Expression]]:
        if not column.numbers:
            yield column.name, self._category(column.name)
            return
        number = Input(column.name, column.unit or "number")
        if not column.unit:
            self.numbers.append(number)
        if column.period is None:
            yield column.name, number
        else:
            yield column.name, Shared(Modulo(number, column.period))
        yield from zip(column.derived, _derive(column, number), strict=True)

    def _category(self, name: str) -> Expression:
        of, known = self._caster.types[name], self._caster.known.get(name)
        values = () if known is None else known.tolist()
        if of == "any" and not values:
            of = "text"
        if of == "any":
            raise InputError(
                f"column {name!r} has categories of several types.",
                hint="a database has one type a column: train on values of one type",
            )
        return Input(name, of, empty=of != "text" or "" in values)


def _derive(column: ColumnSchema, seconds: Expression) -> Iterator[Expression]:
    """The hour of the day and the day of the week, as far as a time has them."""
    if column.kind != "time":
        return
    if column.unit in ("timestamp", "time"):
        hours = Function("floor", Quotient(seconds, Number(_HOUR)))
        yield Shared(Modulo(Shared(hours), 24.0))
    if column.unit in ("timestamp", "date"):
        days = Function("floor", Quotient(seconds, Number(_DAY)))
        yield Shared(Modulo(Shared(Sum((days, Number(_FIRST_WEEKDAY)))), 7.0))
