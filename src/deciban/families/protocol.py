"""The contract of a family: a likelihood of one kind of column, estimated from its statistic.

Conventions
-----------
- K classes, d columns; ``X`` is what the family's statistic counts: a C-contiguous float64
  matrix, codes in int64, or rows of amounts in compressed form. Logarithms are natural.
- ``estimate`` makes parameters: immutable, laid out (cells, classes). They score rows (``add``),
  say what each column adds (``contributions``), and score counted rows as if each had never
  been counted (``leave_one_out``): only the row's own class loses it. Where whole groups of rows
  are taken away, ``leave_out`` scores each row by what is left. What was chosen, such as bins and
  the values that a column can take, stays.
- A class without any data in a column takes every value to be equally likely.
- A family is one object in one file, and its line in :mod:`deciban.families`; it touches no
  other file. What selection may try for a column is its ``candidates``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deciban.families.piece import Piece
from deciban.families.remaining import Remaining
from deciban.families.settings import Method, Settings
from deciban.families.soft import SoftBlock
from deciban.stats.statistic import Codes, FloatArray, Matrix, Statistic
from deciban.stats.table import Table


@dataclass(frozen=True)
class Candidate:
    """One way to model a column: the strength of its prior, and how numbers are cut into bins.

    ``bins`` is a number of bins of equal frequency, 0 for every value by itself, -1 for bins by
    minimum description length; families without bins leave it 0. ``loss`` is the leave-one-out
    log loss, in nats a row, of the column used alone.
    """

    smoothing: float
    bins: int = 0
    loss: float = np.inf


class Selected(Protocol):
    """What was selected for a column."""

    @property
    def smoothing(self) -> float:
        """The strength of the prior."""

    @property
    def bins(self) -> int:
        """How numbers are cut."""

    @property
    def kind(self) -> str:
        """The kind of the column, with its parameter if it has one."""


@dataclass(frozen=True, eq=False)
class CountedColumns:
    """Columns that are counted alike: a table for each statistic, and the weight of each class.

    ``count``, (classes, cells), is that of the values of all columns, which are categories or the
    keys of a histogram; those of column j begin at ``offsets[j]``, and are ``counts[j]``.
    ``kinds`` are such as ``"numeric"`` or ``"categorical"``, with a parameter, if a kind has one,
    after a colon. ``smoothing`` is what the caller states for each column, or None for the counts
    to choose. ``option`` is what the caller asks of such columns.
    """

    names: Sequence[str]
    kinds: Sequence[str]
    tables: Mapping[str, Table]
    count: FloatArray
    offsets: NDArray[np.intp]
    counts: Sequence[FloatArray]
    class_weight: FloatArray
    smoothing: Sequence[float | None]
    option: str = "auto"


class Parameters(Protocol):
    """An estimated likelihood of some columns."""

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""

    def add(self, X: Matrix, out: FloatArray) -> None:
        """Add the log likelihood of every row under each class to ``out``, (rows, classes)."""

    def contributions(self, X: Matrix) -> FloatArray:
        """The log likelihood of each column, (rows, columns, classes)."""

    def add_contributions(self, X: Matrix, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add that of column j to column ``at[j]`` of ``out``, (rows, columns, classes)."""

    def leave_one_out(self, X: Matrix, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods, (rows, classes), of counted rows, each taken out of its class."""

    def leave_one_out_by_column(self, X: Matrix, y: Codes, weight: FloatArray) -> FloatArray:
        """Those of each column alone, (rows, columns, classes)."""

    def leave_out(self, X: Matrix, remaining: Remaining) -> Iterator[FloatArray]:
        """Of each column in turn, the log likelihoods of counted rows by what is left for each."""

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """What each value of a column says; ``seen`` is the histogram of its numbers, if kept."""


class Family(Protocol):
    """A likelihood, as an object."""

    @property
    def name(self) -> str:
        """By which choices and files know it."""

    @property
    def shape(self) -> str:
        """What :attr:`deciban.NaiveBayes.choices_` calls it."""

    @property
    def statistic(self) -> Statistic:
        """What it is estimated from."""

    @property
    def options(self) -> tuple[str, ...]:
        """The values of the option ``numeric`` that ask for it; none for other columns."""

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """What selection may choose for each column; none where the family does not apply.

        It is asked only about columns whose tables hold its statistic, and of which some are of
        its kind if it is for one (:class:`ForKind`).
        """

    def settings(self, method: Method, selected: Sequence[Selected]) -> Settings:
        """How columns that were selected are estimated together."""

    def estimate(self, table: Table, settings: Settings) -> Parameters:
        """The parameters of a table's columns."""

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """Columns as EM estimates them; ``whole`` counts all rows, also those without a label."""

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""


@runtime_checkable
class ForKind(Protocol):
    """A family of columns of one kind, which gives it a parameter: a file may state no other.

    Selection does not ask it about columns among which none is of that kind.
    """

    @property
    def kind(self) -> str:
        """The name of the kind, without its parameter."""
