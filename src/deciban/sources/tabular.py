"""The types of what users pass: tables of any library, labels, weights, and values of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

__all__ = ["Connection", "LabelsLike", "Row", "Tabular", "UnitsLike", "Value", "WeightsLike"]

#: What is read as a table, of whatever library; :mod:`deciban.sources` has the list.
Tabular: TypeAlias = Any
#: One value of a table, as Python has it: a number, a text, a date, None where missing.
Value: TypeAlias = Any
#: Values by the name of their column.
Row: TypeAlias = Mapping[str, Value]
#: The labels of all rows, or None where a column has them.
LabelsLike: TypeAlias = ArrayLike | None
#: The weights of all rows, or the name of their column; None counts every row once.
WeightsLike: TypeAlias = str | ArrayLike | None
#: The groups or the times of all rows, or the name of their column; None where there are none.
UnitsLike: TypeAlias = str | ArrayLike | None
#: A connection to a database, of one of many drivers: none is imported before it is needed.
Connection: TypeAlias = Any
