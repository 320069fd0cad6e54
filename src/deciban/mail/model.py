"""From counts to evidence: naive Bayes on the tokens of a message, in decibans.

How often a token was in spam and in ham weighs it; how many tokens a section has discounts
it, since the words of a page or of a chain of servers repeat each other; and how far past
evidence was right calibrates it::

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

__all__ = [
    "Calibration",
    "Counts",
    "Pair",
    "Score",
    "calibrate",
    "level",
    "raw",
    "score_counts",
    "weights",
]

#: Decibans of one unit of natural logarithm.
DECIBANS = 10 / log(10)
#: Messages of each class that a token is thought to have been in before it was seen.
PRIOR_MESSAGES = 0.02
#: Tokens of a smaller weight are left out, in natural logarithms.
MIN_WEIGHT = 2.0
#: The power of the number of tokens that a section is divided by: 0 is their sum, 1 their mean.
SECTION_DISCOUNT = 0.7
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
#: The highest level, and minus the lowest, in decibans.
MAX_LEVEL = 150
#: The slope before anything was learnt, and the strength of the penalty that holds it there.
PRIOR_SLOPE, SLOPE_PENALTY = 0.25, 1.0


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
        """The difference of both."""
        return Pair(self.ham - other.ham, self.spam - other.spam)


class Counts(NamedTuple):
    """How many messages were learnt, and how many of them had each token."""

    totals: Pair
    tokens: Mapping[str, tuple[int, int]]


class Calibration(NamedTuple):
    """The logistic regression that turns raw evidence into log-odds."""

    offset: float
    slope: float

    def step_back(self, step: Calibration, size: float) -> Calibration:
        """The calibration less ``size`` times a step."""
        return Calibration(self.offset - size * step.offset, self.slope - size * step.slope)


class Score(NamedTuple):
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
    """The discounted weight of every token that is heavy enough, in natural logarithms.

    >>> weights(Counts(Pair(9, 9), {"free": Pair(0, 9), "the": Pair(9, 9)}))
    {'free': 6.1...}
    """
    ham, spam = counts.totals
    if not ham or not spam:
        return {}
    base = log((ham + 2 * PRIOR_MESSAGES) / (spam + 2 * PRIOR_MESSAGES))
    strong: dict[str, dict[str, float]] = {}
    for token, (hams, spams) in counts.tokens.items():
        weight = log((spams + PRIOR_MESSAGES) / (hams + PRIOR_MESSAGES)) + base
        if weight >= MIN_WEIGHT or weight <= -MIN_WEIGHT:
            strong.setdefault(section(token), {})[token] = weight
    return {
        token: weight * len(tokens) ** -SECTION_DISCOUNT
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
    return max(-MAX_LEVEL, min(MAX_LEVEL, round(raw(counts) * DECIBANS)))


def calibrate(levels: Mapping[int, Pair]) -> Calibration:
    """Offset and slope under which the classes of past lessons are likeliest, by Newton's method.

    A normal prior on both keeps them finite while there are few lessons.

    >>> calibrate({})
    Calibration(offset=0.0, slope=0.25)
    """
    rows = [(at / DECIBANS, ham, spam) for at, (ham, spam) in levels.items()]
    calibration = Calibration(0.0, PRIOR_SLOPE)
    loss = _loss(rows, calibration)
    for _ in range(50):
        step = _newton_step(rows, calibration)
        size = 1.0
        while (new_loss := _loss(rows, new := calibration.step_back(step, size))) > loss + 1e-9:
            size /= 2  # a full step may lead too far, and from there further and further
        calibration, loss = new, new_loss
        if abs(step.offset) + abs(step.slope) < 1e-9:
            break
    return calibration


def _loss(rows: list[tuple[float, int, int]], calibration: Calibration) -> float:
    """Minus the log posterior of the calibration, but for a constant."""
    loss = SLOPE_PENALTY * (calibration.offset**2 + (calibration.slope - PRIOR_SLOPE) ** 2) / 2
    for x, ham, spam in rows:
        log_odds = calibration.offset + calibration.slope * x
        softplus = log1p(exp(-abs(log_odds)))
        loss += ham * (max(log_odds, 0.0) + softplus) + spam * (max(-log_odds, 0.0) + softplus)
    return loss


def _newton_step(rows: list[tuple[float, int, int]], calibration: Calibration) -> Calibration:
    """The inverse of the Hessian times the gradient."""
    g0, g1 = SLOPE_PENALTY * calibration.offset, SLOPE_PENALTY * (calibration.slope - PRIOR_SLOPE)
    h00, h01, h11 = SLOPE_PENALTY, 0.0, SLOPE_PENALTY
    for x, ham, spam in rows:
        p = _sigmoid(calibration.offset + calibration.slope * x)
        residual = (ham + spam) * p - spam
        variance = (ham + spam) * p * (1 - p)
        g0, g1 = g0 + residual, g1 + residual * x
        h00, h01, h11 = h00 + variance, h01 + variance * x, h11 + variance * x * x
    determinant = h00 * h11 - h01 * h01
    return Calibration((h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant)


def score_counts(counts: Counts, calibration: Calibration) -> Score:
    """The evidence for spam; the parts add up to the whole."""
    base = calibration.offset * DECIBANS
    factor = calibration.slope * DECIBANS
    tokens = {token: weight * factor for token, weight in weights(counts).items()}
    return Score(base + sum(tokens.values()), base, tokens)


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
