"""BayesClassifier: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np

from deciban import explanation, threads
from deciban import files as storage
from deciban.ensemble import stored as files
from deciban.ensemble.learning import learn, steps
from deciban.ensemble.model import Model
from deciban.ensemble.report import Report
from deciban.ensemble.words import readings
from deciban.errors import ModelFileError, ParameterError
from deciban.explanation import DECIBANS
from deciban.files.document import field
from deciban.models.selection import Wishes
from deciban.naive_bayes import counting, spoken
from deciban.naive_bayes.gathering import gather
from deciban.naive_bayes.model import Model as Counted
from deciban.naive_bayes.parts import Part, joined
from deciban.naive_bayes.pieces import pieces
from deciban.naive_bayes.rows import Rows
from deciban.naive_bayes.sample import Sample
from deciban.naive_bayes.scoring import Answering
from deciban.naive_bayes.texts import BLOCK
from deciban.naive_bayes.wishes import check_columns, tokenizer
from deciban.progress import Progress, wanted
from deciban.schema import Schema
from deciban.stats.counts import Counts
from deciban.text import Tokenizer
from deciban.transaction import all_or_nothing


class _Kept(Sample):
    """All rows of a table."""

    def add(self, part: Part) -> None:
        """See some more rows."""
        self.parts.append(part)


class BayesClassifier(Answering):
    """The best answer that counting and weighing can give, on tables and texts as they are.

    It takes whatever :class:`NaiveBayes` takes. Of tables, its answer is a sum of terms: the
    evidence of the counts, each column weighed; linear terms and products of
    numbers; shallow boosted trees; and what AODE says. How far each is believed
    is fitted on rows that it has not seen: the counts leave a row out, all else
    is learned in five folds. Of texts, phrases of up to three words and pieces of
    words are weighed, each as far as the counts of the classes let it be; what texts
    and other columns know is added. ``report_`` says what was chosen. The answer still
    adds up, column by column, in decibans.

    All rows are held in memory while it learns, and are gone over many times;
    the models of the folds are kept, as their mean.

    Parameters
    ----------
    kinds
        ``{column: kind}`` where inference is to be overruled; see :mod:`deciban.schema`
    max_rows
        weights, trees and linear terms are learned from no more rows than this, evenly
        spaced; the counts are those of all rows
    memory_limit
        the most bytes that the pairs of AODE may need; where they need more, it has no share
    tokenizer
        what a word is: a :class:`deciban.text.Tokenizer`; by default phrases of one to
        three words of any script, and pieces of words where texts are not very long
    random_state
        the seed that deals rows out to folds; the same seed gives the same model
    progress
        ``"auto"`` (a bar on a terminal, after a second), True or False

    >>> rows = [{"x": x, "z": z} for x in range(8) for z in "ab"]
    >>> y = [(row["x"] > 3) != (row["z"] == "a") for row in rows]
    >>> m = BayesClassifier().fit(rows * 4, y * 4)
    >>> m.predict([{"x": 1, "z": "a"}, {"x": 1, "z": "b"}])
    array([ True, False])

    """

    model_: Model  # type: ignore[assignment]

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        max_rows: int = 50_000,
        memory_limit: int = 1 << 28,
        tokenizer: Tokenizer | None = None,
        random_state: int = 0,
        progress: str | bool = "auto",
    ) -> None:
        self.kinds = kinds
        self.max_rows = max_rows
        self.memory_limit = memory_limit
        self.tokenizer = tokenizer
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn a table, with labels ``y`` or in the column ``target``.

        ``sample_weight`` is an array or the name of a column.

        >>> m = BayesClassifier().fit({"x": [1, 2, 8, 9] * 5, "y": list("aabb") * 5}, target="y")
        >>> m.predict({"x": [3]}), m.report_.rows
        (array(['a'], dtype='<U1'), 20)
        """
        with all_or_nothing(self):
            seed = self._check_parameters()
            rows = gather(self, X, y, target, sql, sample_weight, kinds=self.kinds)
            check_columns(rows.schema)
            counted, part = _counted(rows)
            rows.remember(self)
            shown = wanted(self.progress)
            read = readings(part.batch, rows.schema.texts, self.tokenizer)
            n_steps = steps(rows.schema, read)
            limits = int(self.max_rows), int(self.memory_limit)
            # Many small problems: threads of BLAS would only wait for each other.
            with (
                threads.without_blas(),
                Progress("learning", n_steps, shown=shown) as progress,
            ):
                self.model_ = learn(rows.schema, read, counted, part, *limits, seed, progress.add)
            self.classes_ = counted.counts.classes
        return self

    @property
    def report_(self) -> Report:
        """What was chosen, and why.

        >>> m = BayesClassifier().fit({"x": [1, 2, 8, 9] * 5}, list("aabb") * 5)
        >>> [view.name for view in m.report_.views]
        ['linear', 'products', 'trees', 'pairs']
        """
        model: Model = self._model()  # type: ignore[assignment]
        return model.report

    _to_stored = staticmethod(files.to_stored)

    @classmethod
    def from_stored(cls, stored: storage.Stored) -> Self:
        """The estimator in a model file that was read."""
        about = stored.description
        model = files.from_stored(stored)
        try:
            parameters = field(about, "parameters", dict)
            if parameters.get("tokenizer") is not None:
                parameters = {**parameters, "tokenizer": Tokenizer(**parameters["tokenizer"])}
            found = cls(**parameters)
            found._check_parameters()
        except (TypeError, ParameterError) as error:
            raise ModelFileError(
                f"the parameters are not those of BayesClassifier: {error}"
            ) from None
        found._restore(model, about)
        return found

    _additive = False

    def _pieces(self) -> list[explanation.Piece]:
        """What the counts say of each value by itself: it ranks columns, and names values."""
        model: Model = self._model()  # type: ignore[assignment]
        return pieces(model.counted)

    def _importance(self) -> dict[str, Any]:
        model: Model = self._model()  # type: ignore[assignment]
        prior = np.exp(model.counted.log_prior)
        of = explanation.expected_evidence(self._pieces(), prior, self.schema_.names)
        return {**of, **spoken.weighed(model.counted, prior)}

    def _word_evidence(self, column: str, text: str) -> list[tuple[str, int, int, list[float]]]:
        """The words of a text, where they are, and what each says for every class, in decibans."""
        model: Model = self._model()  # type: ignore[assignment]
        heard: dict[tuple[int, int], Any] = {}
        for words in model.texts:
            if words.name == column:
                for _, start, stop, said in words.spoken(text):
                    heard[start, stop] = heard.get((start, stop), 0.0) + said * DECIBANS
        return [(text[a:b], a, b, heard[a, b].tolist()) for a, b in sorted(heard)]

    def _check_parameters(self) -> int:
        """The seed; everything else is checked as well."""
        for name, least in (("max_rows", 1), ("memory_limit", 0), ("random_state", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ParameterError(
                    f"{name} must be a whole number >= {least}, got {value!r}.",
                    hint="the default serves",
                )
        if not (isinstance(self.progress, bool) or self.progress == "auto"):
            raise ParameterError(
                f'progress must be "auto", True or False, got {self.progress!r}.',
                hint='"auto" shows a bar on a terminal',
            )
        if tokenizer(self.tokenizer).buckets is not None:
            raise ParameterError(
                f"phrases are weighed by name, not in buckets, got {self.tokenizer!r}.",
                hint="leave buckets out, or use NaiveBayes",
            )
        return int(self.random_state)


def _counted(rows: Rows) -> tuple[Counted, Part]:
    """The counts of all columns but texts, and the rows that count."""
    kept = _Kept()
    counts = counting.learn(rows, kept)
    tables = {name: table for name, table in counts.tables.items() if name != BLOCK}
    schema = Schema(tuple(column for column in rows.schema.columns if not column.texts))
    parts = [part for part in kept.parts if part.batch.n_rows]
    counted = Counted(schema, Counts(counts.classes, counts.weight, tables), Wishes())
    return counted, joined(parts)
