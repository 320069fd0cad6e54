"""From counts to evidence: naive Bayes on the tokens of a message, in decibans.

How often a token was in spam and in ham weighs it; how many tokens a section
has discounts it, since the words of a page or of a chain of servers say much
the same thing again and again; and how far past evidence was right says how far it is believed::

    weight      w = ln((spam + a) / (S + 2 a)) - ln((ham + a) / (H + 2 a))
    raw         sum over sections of  sum of w / n ** 0.7,  over its n tokens with |w| >= 2
    evidence    offset + slope * raw, the log-odds of spam
    p           1 / (1 + exp(-evidence))

Offset and slope are a logistic regression of the class on the *level*: the raw evidence
of every message learnt, in whole decibans, as it was before the message was counted. Levels are
counted like tokens, so they add up and are taken back exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, log1p
from typing import NamedTuple

__all__ = ["Belief", "Counts", "Pair", "Scored", "believed", "level", "raw", "scored", "weights"]

#: Decibans of one unit of natural logarithm.
DECIBANS = 10 / log(10)
#: Messages of each class that a token is thought to have been in before it was seen.
PRIOR = 0.02
#: Weights below this say too little to count, in natural logarithms.
LEAST = 2.0
#: How the tokens of a section discount each other: 0 not at all, 1 to their mean.
SHARED = 0.7
#: The sections that tokens belong to by their prefixes; a token without one is a word of the body.
SECTIONS = {
    "subject": "subject",
    "html": "html",
    "url": "url",
    "received": "received",
    "from": "address",
    "to": "address",
    "hidden": "body",
}
BODY, HEAD = "body", "head"
#: Levels end here, on both sides.
HIGHEST = 150
#: What the slope is before anything was learnt, and how strongly that is held.
SLOPE, PENALTY = 0.25, 1.0


class Pair(NamedTuple):
    """A number of messages of each class."""

    ham: int
    spam: int

    def plus(self, other: Pair) -> Pair:
        """Both together.

        >>> Pair(1, 2).plus(Pair(0, 3))
        Pair(ham=1, spam=5)
        """
        return Pair(self.ham + other.ham, self.spam + other.spam)

    def minus(self, other: Pair) -> Pair:
        """The first without the second."""
        return Pair(self.ham - other.ham, self.spam - other.spam)


class Counts(NamedTuple):
    """How many messages were learnt, and how many of them had each token."""

    totals: Pair
    tokens: Mapping[str, tuple[int, int]]


class Belief(NamedTuple):
    """How raw evidence becomes log-odds."""

    offset: float
    slope: float

    def moved(self, step: Belief, size: float) -> Belief:
        """The belief after a step back, of which only a part is taken."""
        return Belief(self.offset - size * step.offset, self.slope - size * step.slope)


class Scored(NamedTuple):
    """A message's evidence in decibans: in all, the part of the base rate, and that of tokens."""

    evidence: float
    base: float
    tokens: dict[str, float]

    @property
    def p(self) -> float:
        """The probability that it is spam."""
        return _sigmoid(self.evidence / DECIBANS)


def section(token: str) -> str:
    """The section that a token belongs to.

    >>> section("free"), section("subject:free"), section("x:y")
    ('body', 'subject', 'head')
    """
    prefix, colon, _ = token.partition(":")
    return SECTIONS.get(prefix, HEAD) if colon else BODY


def weights(counts: Counts) -> dict[str, float]:
    """The discounted weight of every token that says enough, in natural logarithms.

    >>> weights(Counts(Pair(9, 9), {"free": Pair(0, 9), "the": Pair(9, 9)}))
    {'free': 6.1...}
    """
    ham, spam = counts.totals
    if not ham or not spam:
        return {}
    base = log((ham + 2 * PRIOR) / (spam + 2 * PRIOR))
    strong: dict[str, dict[str, float]] = {}
    for token, (hams, spams) in counts.tokens.items():
        weight = log((spams + PRIOR) / (hams + PRIOR)) + base
        if weight >= LEAST or weight <= -LEAST:
            strong.setdefault(section(token), {})[token] = weight
    return {
        token: weight * len(tokens) ** -SHARED
        for tokens in strong.values()
        for token, weight in tokens.items()
    }


def raw(counts: Counts) -> float:
    """The evidence of a message's tokens before it is calibrated, in natural logarithms."""
    return sum(weights(counts).values())


def level(counts: Counts) -> int | None:
    """The raw evidence in whole decibans; none as long as a class was never seen."""
    if not counts.totals.ham or not counts.totals.spam:
        return None
    return max(-HIGHEST, min(HIGHEST, round(raw(counts) * DECIBANS)))


def believed(levels: Mapping[int, Pair]) -> Belief:
    """Offset and slope under which the classes of past lessons are likeliest, by Newton's method.

    A normal prior on both keeps them finite while there are few lessons.

    >>> believed({})
    Belief(offset=0.0, slope=0.25)
    """
    rows = [(at / DECIBANS, ham, spam) for at, (ham, spam) in levels.items()]
    belief = Belief(0.0, SLOPE)
    loss = _loss(rows, belief)
    for _ in range(50):
        step = _step(rows, belief)
        size = 1.0
        while (less := _loss(rows, moved := belief.moved(step, size))) > loss + 1e-9:
            size /= 2  # a full step may lead too far, and from there further and further
        belief, loss = moved, less
        if abs(step.offset) + abs(step.slope) < 1e-9:
            break
    return belief


def _loss(rows: list[tuple[float, int, int]], belief: Belief) -> float:
    """What Newton's method makes small: minus the logarithm of likelihood and prior."""
    loss = PENALTY * (belief.offset**2 + (belief.slope - SLOPE) ** 2) / 2
    for x, ham, spam in rows:
        odds = belief.offset + belief.slope * x
        rest = log1p(exp(-abs(odds)))
        loss += ham * (max(odds, 0.0) + rest) + spam * (max(-odds, 0.0) + rest)
    return loss


def _step(rows: list[tuple[float, int, int]], belief: Belief) -> Belief:
    """The gradient times the inverse of the matrix of second derivatives."""
    g0, g1 = PENALTY * belief.offset, PENALTY * (belief.slope - SLOPE)
    h00, h01, h11 = PENALTY, 0.0, PENALTY
    for x, ham, spam in rows:
        p = _sigmoid(belief.offset + belief.slope * x)
        error = (ham + spam) * p - spam
        curve = (ham + spam) * p * (1 - p)
        g0, g1 = g0 + error, g1 + error * x
        h00, h01, h11 = h00 + curve, h01 + curve * x, h11 + curve * x * x
    scale = h00 * h11 - h01 * h01
    return Belief((h11 * g0 - h01 * g1) / scale, (h00 * g1 - h01 * g0) / scale)


def scored(counts: Counts, belief: Belief) -> Scored:
    """The evidence for spam; the parts add up to the whole."""
    base = belief.offset * DECIBANS
    factor = belief.slope * DECIBANS
    tokens = {token: weight * factor for token, weight in weights(counts).items()}
    return Scored(base + sum(tokens.values()), base, tokens)


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
