"""What to do with a message: spam, ham, or unsure, whichever costs least.

The arithmetic of :mod:`deciban.decision` for two classes and an abstention, without
NumPy, which alone would take as long to import as everything else takes::

    spam    costs  lost * (1 - p)      ham that was called spam
    ham     costs  p                   spam that was let through
    unsure  costs  unsure              somebody has to look
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from deciban.errors import ParameterError
from deciban.mail.model import Score

__all__ = ["Answer", "Costs", "Verdict", "decide"]

Answer: TypeAlias = Literal["spam", "ham", "unsure"]


class Costs(NamedTuple):
    """What mistakes cost, where spam that is let through costs 1."""

    lost: float = 30.0
    unsure: float = 0.3

    def check(self) -> Costs:
        """These costs, if both are numbers >= 0.

        >>> Costs(lost=-1).check()
        Traceback (most recent call last):
        ...
        deciban.errors.ParameterError: the cost of lost ham must be a number >= 0, got ...
        """
        for name, cost in (("lost ham", self.lost), ("unsure", self.unsure)):
            if not 0 <= cost <= 1e100:
                message = f"the cost of {name} must be a number >= 0, got {cost:g}."
                raise ParameterError(message, hint="30 for ham and 0.3 for unsure are usual")
        return self


class Verdict(NamedTuple):
    """The answer, the probability of spam, and the evidence for it in decibans."""

    answer: Answer
    p: float
    evidence: float

    def __str__(self) -> str:
        return f"{self.answer}; p={self.p:.4f}; evidence={self.evidence + 0.0:+.1f}dB"


def decide(score: Score, costs: Costs | None = None) -> Verdict:
    """The answer that costs least.

    >>> str(decide(Score(29.0, 0.0, {})))
    'spam; p=0.9987; evidence=+29.0dB'
    """
    costs, p = costs or Costs(), score.p
    lost = costs.lost * score.q
    answer: Answer = "ham" if p <= lost else "spam"
    return Verdict("unsure" if costs.unsure < min(p, lost) else answer, p, score.evidence)
