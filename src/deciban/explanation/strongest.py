"""The strongest words of texts, and the strongest values of other columns, for a class.

What a word says is what it says as the only one of its text; in a longer text it may say less, as
an explanation of that text shows. Words and values that few rows of training had are left out, and
those that no row of the class had.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from deciban import checks
from deciban.charts import Chart, finite
from deciban.errors import InputError
from deciban.families.piece import Piece
from deciban.labels import position
from deciban.models.protocol import HasWords, KnownWords, Model
from deciban.models.scores import decibans
from deciban.sources import column_names
from deciban.stats.rounding import ROUNDING

if TYPE_CHECKING:
    from rich.console import RenderableType

FloatArray = NDArray[np.float64]
#: Decibans beyond this are drawn here.
MAX_DECIBANS = 100.0


@dataclass(frozen=True)
class ValueEvidence:
    """A word of a text or a value of a column, and its evidence for a class, in decibans.

    ``rows`` of the class had it in training, and ``others`` of other classes; None where that was
    not counted.
    """

    column: str
    value: str
    decibans: float
    rows: float | None
    others: float | None
    is_word: bool = False

    @property
    def name(self) -> str:
        """The word, or the column and its value."""
        return self.value if self.is_word else f"{self.column} = {self.value}"


@dataclass(frozen=True)
class StrongestEvidence(Sequence[ValueEvidence]):
    """The strongest words or values for a class, the strongest first.

    ``against`` is the class compared with, None for all others; ``n_known`` words and values there
    are in all.

    >>> from deciban import NaiveBayes
    >>> texts, y = ["free money", "free lunch", "see you", "lunch money"], [1, 1, 0, 0]
    >>> words = NaiveBayes(smoothing=1, calibrate=False).fit(texts, y).words(1, min_texts=1)
    >>> words[0].value, round(words[0].decibans, 1), words[0].rows, words.n_known
    ('free', 4.8, 2.0, 5)
    """

    of: Hashable
    against: Hashable
    evidence: tuple[ValueEvidence, ...]
    n_known: int

    def __len__(self) -> int:
        return len(self.evidence)

    def __iter__(self) -> Iterator[ValueEvidence]:
        return iter(self.evidence)

    @overload
    def __getitem__(self, at: int) -> ValueEvidence: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[ValueEvidence, ...]: ...
    def __getitem__(self, at: int | slice) -> ValueEvidence | tuple[ValueEvidence, ...]:
        return self.evidence[at]

    @property
    def title(self) -> str:
        """What is listed, in words."""
        what = "words" if all(one.is_word for one in self.evidence) else "words and values"
        if not any(one.is_word for one in self.evidence):
            what = "values"
        return f"The strongest {what} for {self.of}"

    def to_dict(self) -> dict[str, float]:
        """Decibans by word or value."""
        return {one.name: one.decibans for one in self.evidence}

    def chart(self, most: int = 20) -> Chart:
        """An Altair chart: a bar for each of the strongest."""
        from deciban.charts import importance
        from deciban.charts.notebook import offline
        from deciban.explanation.importance import Weight

        bars = [Weight(one.name, finite(one.decibans, MAX_DECIBANS)) for one in self.evidence]
        return offline(
            importance.chart(bars, most, title=self.title, axis=f"decibans for {self.of}")
        )

    def __rich__(self) -> RenderableType:
        from deciban.explanation import terminal

        return terminal.strongest(self)

    def __str__(self) -> str:
        from deciban.explanation import terminal

        return terminal.text(self.__rich__())

    def _repr_html_(self) -> str:
        from deciban.explanation import html

        return html.strongest(self)


@dataclass(frozen=True)
class Search:
    """Which class is asked for, against which, how many, and how many rows must have a value."""

    of: int
    against: int | None
    n: int
    min_rows: int

    @classmethod
    def among(
        cls, model: Model, class_: Hashable, n: int, against: Hashable, min_rows: int
    ) -> Search:
        """What a caller asks for, checked."""
        of = position(class_, model.classes)
        if of is None:
            raise InputError(
                "no class is named.", hint=f"one of {', '.join(map(str, model.classes[:10]))}"
            )
        n = checks.whole_number("n", n, 1, "20 is usual")
        min_rows = checks.whole_number("min_texts", min_rows, 1, "3 is usual, 1 takes every word")
        return cls(of, position(against, model.classes), n, min_rows)

    def strongest(
        self, model: Model, tables: Sequence[tuple[list[ValueEvidence], int]]
    ) -> StrongestEvidence:
        """The strongest of all tables, and how many they had."""
        every = [one for some, _ in tables for one in some if one.decibans > 0]
        every.sort(key=lambda one: (-one.decibans, -(one.rows or 0.0), one.name))
        labels = model.classes.tolist()
        against = None if self.against is None else labels[self.against]
        n_known = sum(n for _, n in tables)
        return StrongestEvidence(labels[self.of], against, tuple(every[: self.n]), n_known)


def strongest_words(model: Model, search: Search, column: str | None) -> StrongestEvidence:
    """The strongest words of one column of text, or of all."""
    if not isinstance(model, HasWords) or not model.schema.texts:
        raise InputError(
            f"this {model.kind} has no column of text.", hint="curve(column) shows what values say"
        )
    names = model.schema.texts
    if column is not None and column not in names:
        raise column_names.unknown(str(column), names)
    columns = names if column is None else (column,)
    return search.strongest(
        model, [_words(name, model.known_words(name), search) for name in columns]
    )


def strongest_evidence(model: Model, search: Search) -> StrongestEvidence:
    """The strongest words and values of all columns; of a curve, its highest point."""
    tables = [_values(piece, search) for piece in model.pieces()]
    if isinstance(model, HasWords):
        tables += [_words(name, model.known_words(name), search) for name in model.schema.texts]
    return search.strongest(model, tables)


def _words(column: str, known: KnownWords, search: Search) -> tuple[list[ValueEvidence], int]:
    """The strongest words of a column, and how many it has."""
    table = _strongest(decibans(known.by_class, search.against)[:, search.of], known.texts, search)
    some = [ValueEvidence(column, known.tokens[i], *numbers, is_word=True) for i, numbers in table]
    return some, len(known.tokens)


def _values(piece: Piece, search: Search) -> tuple[list[ValueEvidence], int]:
    """The strongest values of a piece, and how many it has."""
    evidence = decibans(piece.log_likelihood, search.against)[:, search.of]
    table = _strongest(evidence, piece.rows, search)
    if piece.kind == "number" and piece.edges is None:
        table = table[:1]  # neighbours on a curve say the same
    labels = piece.labels
    return [ValueEvidence(piece.name, labels[i], *numbers) for i, numbers in table], len(labels)


def _strongest(
    evidence: FloatArray, rows: FloatArray | None, search: Search
) -> list[tuple[int, tuple[float, float | None, float | None]]]:
    """Position, decibans, rows of the class and of others, the strongest first."""
    if rows is None:
        order = np.argsort(-evidence, kind="stable")[: search.n].tolist()
        return [(i, (float(evidence[i]), None, None)) for i in order]
    total, mine = rows.sum(axis=1), rows[:, search.of]
    enough = np.flatnonzero((total >= search.min_rows * (1 - ROUNDING)) & (mine > 0))
    order = enough[np.lexsort((-total[enough], -evidence[enough]))][: search.n].tolist()
    return [(i, (float(evidence[i]), float(mine[i]), float(total[i] - mine[i]))) for i in order]
