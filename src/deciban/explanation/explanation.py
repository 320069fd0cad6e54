"""One row explained: the evidence of the prior and of every feature for the answer, in decibans.

``prior + sum(term.decibans) == total == 10 log10(P(answer) / P(runner_up))``: the
classes compared are the answer and the runner-up. With two classes that alone
gives ``probability = 1 / (1 + 10**(-total / 10))``; with more, the probability
of the answer also depends on the other classes, whose evidence is kept too:
:meth:`Explanation.posterior` rebuilds all probabilities from it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from deciban.charts import Chart
from deciban.plain import PlainDict, plain
from deciban.sources.tabular import Value

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Part:
    """A word of a text, ``text[start:stop]`` in the value, and its decibans."""

    text: str
    start: int
    stop: int
    decibans: float


@dataclass(frozen=True)
class Term:
    """The evidence of one feature for the answer against the runner-up, in decibans.

    ``by_class`` has the decibans of every class against the runner-up; ``parts`` are
    the words of a text in their places. ``unseen`` is the reason why training did not have the
    value, such as "never seen", and empty where it had.
    """

    feature: str
    value: Value
    decibans: float
    by_class: tuple[float, ...] = field(default=(), repr=False)
    parts: tuple[Part, ...] = field(default=(), repr=False)
    unseen: str = field(default="", repr=False)


@dataclass(frozen=True)
class Explanation:
    """Why a model answers as it does for one row.

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
    >>> why = m.explain({"x": "L"})
    >>> why.answer, why.runner_up, round(why.prior, 2), round(why.total, 2)
    ('b', 'a', -1.76, 2.5)
    >>> [(term.feature, term.value, round(term.decibans, 2)) for term in why.terms]
    [('x', 'L', 4.26)]
    """

    answer: Hashable
    runner_up: Hashable
    prior: float
    terms: tuple[Term, ...]
    total: float
    probability: float
    classes: tuple[Hashable, ...] = field(default=(), repr=False)
    probabilities: tuple[float, ...] = field(default=(), repr=False)
    prior_by_class: tuple[float, ...] = field(default=(), repr=False)
    novelty: float | None = None

    @property
    def unlike(self) -> str:
        """In words, how much of what was learned the row is unlike; nothing if not asked for."""
        if self.novelty is None:
            return ""
        return f"unlike {100 * (1 - self.novelty):.1f} % of what was learned"

    def posterior(self) -> dict[Hashable, float]:
        """The probability of every class, from the evidence alone."""
        table = np.array([self.prior_by_class, *(term.by_class for term in self.terms)])
        with np.errstate(invalid="ignore"):
            log = table.sum(axis=0) * (math.log(10.0) / 10.0)
        if np.isnan(log).any() or np.isposinf(log).any():  # some class is impossible
            return dict(zip(self.classes, self.probabilities, strict=True))
        odds = np.exp(log - log.max())
        return dict(zip(self.classes, (odds / odds.sum()).tolist(), strict=True))

    def strongest(self) -> list[Term]:
        """The terms, those that say most first."""
        return sorted(self.terms, key=lambda term: -abs(term.decibans))

    def to_dict(self) -> PlainDict:
        """Plain values; what JSON does not know is written as text, infinity as None.

        A term has ``unseen`` only where training did not have its value.
        """
        values: PlainDict = plain(asdict(self))
        for term in values["terms"]:
            if not term["unseen"]:
                del term["unseen"]
        if self.novelty is None:
            del values["novelty"]
        return values

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def chart(self) -> Chart:
        """An Altair chart: a bar for the prior, for every feature, and for their sum."""
        from deciban.charts import row
        from deciban.charts.notebook import offline

        return offline(row.chart(self))

    def __rich__(self) -> RenderableType:
        from deciban.explanation import terminal

        return terminal.explanation(self)

    def __str__(self) -> str:
        from deciban.explanation import terminal

        return terminal.text(self.__rich__())

    def _repr_html_(self) -> str:
        from deciban.explanation import html

        return html.explanation(self)
