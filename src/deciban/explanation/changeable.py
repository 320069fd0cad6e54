"""The methods of a classifier that say what would have to change for another answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deciban import checks
from deciban.explanation.counterfactual import Change, Changes, Counterfactual, Problem, search
from deciban.explanation.word_removal import Removable, WordKey
from deciban.labels import Labels, position
from deciban.models.protocol import Model
from deciban.models.scores import decibans
from deciban.sources import column_names
from deciban.sources.held import HeldTable
from deciban.sources.tabular import Row, Tabular, Value

if TYPE_CHECKING:
    from deciban.families.piece import Piece

FloatArray = NDArray[np.float64]
M = TypeVar("M", bound=Model)


class Changeable(Generic[M]):
    """Counterfactuals, by the model's own answers to changed rows."""

    if TYPE_CHECKING:

        @property
        def classes_(self) -> Labels:
            """The classes, in order."""

        def _model(self) -> M:
            """The fitted model; an error if there is none yet."""

        def predict_proba(self, X: Tabular) -> FloatArray:
            """``P(c | x)``, (rows, classes)."""

        def _known_pieces(self) -> Sequence[Piece]:
            """The tables of evidence; an error if there are none."""

        def _read_row(self, model: M, row: object) -> dict[str, Value]:
            """The values of a row by the names of the columns."""

        def _hold_rows(self, model: M, rows: Sequence[Row]) -> HeldTable:
            """Some rows as a table."""

        def _held_evidence(self, model: M, held: HeldTable, against: int) -> FloatArray:
            """Decibans of held rows, (rows, columns, classes)."""

    def counterfactual(
        self,
        row: object,
        target: Hashable = None,
        fixed: Iterable[str] = (),
        max_changes: int | None = None,
    ) -> Counterfactual | None:
        """The fewest values to change for another answer, or for ``target``; None if none do.

        Values are those seen in training; of a text, words are taken out. Features in ``fixed``
        stay as they are. See :mod:`deciban.explanation.counterfactual`.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> print(m.counterfactual({"x": "S"}))
        2 instead of 1, 22.9% -> 64.0%
        x: S -> L  +7.8
        >>> texts = ["free money now", "free lunch", "see you at lunch", "money for lunch"]
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(texts, ["spam", "spam", "ham", "ham"])
        >>> print(m.counterfactual("lunch is free"))
        ham instead of spam, 27.3% -> 56.5%
        text: without free  +5.4
        """
        model = self._model()
        one = self._read_row(model, row)
        stay = self._fixed(model, fixed)
        words = Removable.of(model, one, stay)
        whole = words.extend(one)
        values = self._trial_values(model, stay) | dict.fromkeys(words.places, (None,))
        problem = Problem(
            whole,
            values,
            lambda rows: self._log_odds([words.restore(some) for some in rows]),
            lambda some: self._answer(words.restore(some)),
        )
        limit = len(whole)
        if max_changes is not None:
            limit = checks.whole_number("max_changes", max_changes, 1, "None is no limit")
        changes = search(problem, position(target, self.classes_), limit)
        return None if not changes else self._counterfactual(whole, changes, words)

    def _fixed(self, model: M, fixed: Iterable[str]) -> set[str]:
        """The features that stay as they are, checked."""
        names = model.schema.names
        stay = {fixed} if isinstance(fixed, str) else set(fixed)
        for name in stay:
            if name not in names:
                raise column_names.unknown(str(name), names)
        return stay

    def _trial_values(self, model: M, stay: set[str]) -> dict[str, Sequence[Value]]:
        """The values to try, by feature."""
        pieces = model.pieces() if model.schema.texts else self._known_pieces()
        return {
            piece.feature: piece.values
            for piece in pieces
            if piece.name == piece.feature and piece.feature not in stay
        }

    def _log_odds(self, rows: Sequence[Row]) -> FloatArray:
        """Decibans of whole rows for every class against the first, (rows, classes)."""
        model = self._model()
        evidence = self._held_evidence(model, self._hold_rows(model, rows), 0)
        with np.errstate(invalid="ignore"):
            total = evidence.sum(axis=1) + decibans(model.log_prior, 0)
        return np.asarray(np.nan_to_num(total, nan=0.0, posinf=1e6, neginf=-1e6))

    def _row_posterior(self, rows: Sequence[Row]) -> FloatArray:
        """``P(c | x)`` of rows by name, (rows, classes)."""
        return self.predict_proba(self._hold_rows(self._model(), rows).X)

    def _answer(self, row: Row) -> int:
        return int(self._row_posterior([row])[0].argmax())

    def _counterfactual(self, row: Row, changes: Changes, words: Removable) -> Counterfactual:
        """What was found, in words: probabilities before and after, and what each change gains."""
        changed = [row, *({**row, name: value} for name, value in changes.items())]
        before, after = self._row_posterior([words.restore(row), words.restore({**row, **changes})])
        a, b = int(before.argmax()), int(after.argmax())
        odds = self._log_odds([words.restore(one) for one in changed])
        ahead = odds[:, b] - odds[:, a]
        gains = tuple(
            _change(name, row[name], value, float(gain))
            for (name, value), gain in zip(changes.items(), ahead[1:] - ahead[0], strict=True)
        )
        labels = self.classes_.tolist()
        return Counterfactual(labels[a], labels[b], gains, float(before[b]), float(after[b]))


def _change(name: str, before: Value, after: Value, gain: float) -> Change:
    """A new value of a feature, or a word that is taken out of a text."""
    if isinstance(name, WordKey):
        return Change(name.column, before, None, gain, removes=True)
    return Change(name, before, after, gain)
