"""From counts to evidence: naive Bayes on the tokens of a message, in decibans.

How often a token was in spam and in ham weighs it; the tokens of a section are averaged, since the
words of a page or of a chain of servers repeat each other, and the body, which changes least
from one day to the next, counts for more than any other; how much of the text was ever seen says
how far all that applies; and how far past evidence was right calibrates it::

    weight       w = ln((spam + a) / (S + 2 a)) - ln((ham + a) / (H + 2 a))
    sum          over sections of the mean w of tokens with |w| >= 1.5, the body's times 3 n ** 0.2
    familiarity  f = t^2 / (t^2 + (1 - t)^2),  t the share of the text that was seen before
    log-odds     z = f * (offset + slope * sum)
    p            d + (1 - 2 d) / (1 + exp(-z)),  d = 1 / (lessons + 2)
    evidence     ln(p / (1 - p))

Offset and slope are a logistic regression of the class on the *level*: ``f * sum`` of every
message learnt, in whole decibans, by counts in which it was not. Levels are counted like tokens, so
they add up and are taken back exactly. However well they were told apart, ``n`` lessons do not
show that fewer than one in ``n + 2`` is mistaken (Laplace's rule of succession): that is ``d``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import exp, log, log1p
from typing import NamedTuple

from deciban.kernels import messages as kernel
from deciban.kernels.lexicon import Lexicon, Tokens

__all__ = [
    "PREFIXES",
    "Calibration",
    "Counts",
    "Pair",
    "Score",
    "Summary",
    "calibrate",
    "familiarity",
    "is_text",
    "level",
    "score_counts",
    "score_summary",
    "summarize",
    "summarize_all",
    "summarize_left",
    "weights",
]

#: Decibans of one unit of natural logarithm.
DECIBANS = 10 / log(10)
#: Messages of each class that a token is thought to have been in before it was seen.
PRIOR_MESSAGES = 0.04
#: Tokens of a smaller weight are left out, in natural logarithms.
MIN_WEIGHT = 1.5
#: The body counts for so many sections, times its number of tokens to this power.
BODY_SECTIONS, BODY_POWER = 3.0, 0.2
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
#: The prefixes of words of the body and of the subject that have one.
TEXT_PREFIXES = tuple(
    f"{prefix}:" for prefix, name in SECTIONS.items() if name in (BODY, "subject")
)
#: The prefixes, those of texts first; the sections of tokens without one, with each, with another.
PREFIXES = tuple(sorted(SECTIONS, key=lambda prefix: f"{prefix}:" not in TEXT_PREFIXES))
_BY_PREFIX = (BODY, *(SECTIONS[prefix] for prefix in PREFIXES), HEAD)
_NAMES = tuple(dict.fromkeys(_BY_PREFIX))
_NUMBERS = tuple(_NAMES.index(name) for name in _BY_PREFIX)
#: A token of the text that was in this share of the messages is half familiar; no more messages
#: than these are asked for.
HALF_FAMILIAR_SHARE, MAX_HALF_FAMILIAR = 0.002, 8.0
#: Familiar words that every text is thought to have besides its own.
PRIOR_WORDS = 3.0
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
    """How many messages were learnt, how many had each token, and the number of unknown words."""

    totals: Pair
    tokens: dict[str, tuple[int, int]]
    unknown: int = 0


class Calibration(NamedTuple):
    """The logistic regression that turns raw evidence into log-odds, and the least probability."""

    offset: float
    slope: float
    doubt: float = 0.0

    def step_back(self, step: Calibration, size: float) -> Calibration:
        """The calibration less ``size`` times a step."""
        offset, slope = self.offset - size * step.offset, self.slope - size * step.slope
        return self._replace(offset=offset, slope=slope)

    def evidence(self, log_odds: float) -> float:
        """Log-odds, as far as the number of lessons bears them out.

        >>> round(Calibration(0.0, 1.0, doubt=0.01).evidence(99.0), 2)  # ln(0.99 / 0.01)
        4.6
        """
        if not self.doubt:
            return log_odds
        believed = 1 - 2 * self.doubt
        p = self.doubt + believed * _sigmoid(log_odds)
        q = self.doubt + believed * _sigmoid(-log_odds)
        return log(p / q)


class Score(NamedTuple):
    """A message's evidence in decibans: in all, the part of the base rate, and that of tokens.

    ``familiar`` is how far its text is of a kind that was seen before, from 0 to 1.
    """

    evidence: float
    base: float
    tokens: dict[str, float]
    familiar: float = 1.0

    @property
    def p(self) -> float:
        """The probability that it is spam."""
        return _sigmoid(self.evidence / DECIBANS)

    @property
    def q(self) -> float:
        """The probability that it is ham, with all digits also where ``p`` is almost 1."""
        return _sigmoid(-self.evidence / DECIBANS)


def is_text(token: str) -> bool:
    """Whether a token is a word of the body or of the subject.

    >>> is_text("free"), is_text("subject:free"), is_text("received:example.org")
    (True, True, False)
    """
    return ":" not in token or token.startswith(TEXT_PREFIXES)


def weights(counts: Counts) -> dict[str, float]:
    """The discounted weight of every token that is heavy enough, in natural logarithms.

    >>> weights(Counts(Pair(9, 9), {"subject:free": Pair(0, 9), "the": Pair(9, 9)}))
    {'subject:free': 5.4...}
    """
    ham, spam = counts.totals
    if not ham or not spam:
        return {}
    strong = kernel.strong(
        counts.tokens, ham, spam, PRIOR_MESSAGES, MIN_WEIGHT, SECTIONS, BODY, HEAD
    )
    out: dict[str, float] = {}
    for name, tokens in strong.items():
        kernel.scaled(out, tokens, _section_weight(name, len(tokens)), len(tokens))
    return out


def _section_weight(name: str, tokens: int) -> float:
    """What the mean of a section counts for."""
    return BODY_SECTIONS * tokens**BODY_POWER if name == BODY else 1.0


def familiarity(counts: Counts) -> float:
    """How far the text of a message is of a kind that was seen before, from 0 to 1.

    A word that was in ``n`` messages is seen to ``n / (n + half)``. Of the share ``t`` of a text
    that was seen, the odds count twice: half a text is a half, a tenth of it is next to nothing.

    >>> round(familiarity(Counts(Pair(1, 1), {"a": Pair(1, 1)}, unknown=96)), 3)  # t = 4 / 100
    0.002
    """
    words, seen = kernel.familiar(counts.tokens, _half_familiar(counts.totals), TEXT_PREFIXES)
    return _familiarity(words + counts.unknown, seen)


def _half_familiar(totals: Pair) -> float:
    """How many messages a word was in that is half familiar."""
    return min(HALF_FAMILIAR_SHARE * sum(totals), MAX_HALF_FAMILIAR)


def _familiarity(words: int, seen: float) -> float:
    share = (seen + PRIOR_WORDS) / (words + PRIOR_WORDS)
    return share**2 / (share**2 + (1 - share) ** 2)


class Summary(NamedTuple):
    """What the tokens of a message weigh in all, in nats, and how familiar its text is."""

    weight: float
    familiar: float


def summarize(counts: Counts) -> Summary:
    """The sum of the weights of a message's tokens, and its familiarity, in one pass.

    >>> counts = Counts(Pair(9, 9), {"subject:free": Pair(0, 9), "the": Pair(9, 9)})
    >>> summarize(counts).weight == sum(weights(counts).values())
    True
    """
    lexicon = Lexicon(PREFIXES)
    tokens = lexicon.tokens(counts.tokens)
    lexicon.merge_rows([(token, *pair) for token, pair in counts.tokens.items()])
    return _summary(_kernel_summary(counts.totals).of_tokens(tokens), counts.unknown)


def summarize_all(totals: Pair, messages: Iterable[Tokens]) -> list[Summary]:
    """What the tokens of each of some messages say in all, by the counts of their lexicon."""
    sums = _kernel_summary(totals)
    return [_summary(sums.of_tokens(tokens)) for tokens in messages]


def summarize_left(totals: Pair, tokens: Tokens, counts: array[int]) -> Summary:
    """What the tokens of a message say in all by counts of their own."""
    return _summary(_kernel_summary(totals).of_tokens(tokens, counts))


def _kernel_summary(totals: Pair) -> kernel.Summary:
    half = _half_familiar(totals)
    return kernel.Summary(*totals, PRIOR_MESSAGES, MIN_WEIGHT, half, _NUMBERS, len(TEXT_PREFIXES))


def _summary(sums: tuple[list[int], list[float], int, float], unknown: int = 0) -> Summary:
    """By the sums of each section, and a number of words besides."""
    counts, weights, words, seen = sums
    sections = zip(_NAMES, counts, weights, strict=True)
    total = sum([_section_weight(name, n) * weight / n for name, n, weight in sections if n])
    return Summary(total, _familiarity(words + unknown, seen))


def level(totals: Pair, summary: Summary) -> int | None:
    """The raw evidence in whole decibans; none as long as a class was never seen."""
    if not totals.ham or not totals.spam:
        return None
    raw = summary.familiar * summary.weight
    return max(-MAX_LEVEL, min(MAX_LEVEL, round(raw * DECIBANS)))


def calibrate(levels: Mapping[int, Pair]) -> Calibration:
    """Offset and slope under which the classes of past lessons are likeliest, by Newton's method.

    A normal prior on both keeps them finite while there are few lessons. As long as lessons of only
    one class have levels, which is so if the other was learnt first and by itself, they stay there.

    >>> calibrate({})
    Calibration(offset=0.0, slope=0.25, doubt=0.5)
    """
    return _fit(tuple((at, *pair) for at, pair in levels.items()))


@lru_cache(1)  # most messages are judged by the lessons that the one before was judged by
def _fit(levels: tuple[tuple[int, int, int], ...]) -> Calibration:
    """The calibration by how many lessons of ham and of spam came at each level."""
    rows = [(at / DECIBANS, ham, spam) for at, ham, spam in levels]
    lessons = sum(ham + spam for _, ham, spam in rows)
    calibration = Calibration(0.0, PRIOR_SLOPE, 1 / (lessons + 2))
    if not any(ham for _, ham, _ in rows) or not any(spam for _, _, spam in rows):
        return calibration
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


def score_summary(summary: Summary, calibration: Calibration) -> Score:
    """The evidence for spam, without the parts of tokens."""
    evidence, factor = _evidence(summary, calibration)
    return Score(evidence, calibration.offset * factor, {}, summary.familiar)


def score_counts(counts: Counts, calibration: Calibration) -> Score:
    """The evidence for spam; the parts add up to the whole."""
    summary = summarize(counts)
    evidence, factor = _evidence(summary, calibration)
    parts = kernel.scaled({}, weights(counts), calibration.slope * factor, 1.0)
    return Score(evidence, calibration.offset * factor, parts, summary.familiar)


def _evidence(summary: Summary, calibration: Calibration) -> tuple[float, float]:
    """The evidence in decibans, and how many of them a unit of calibrated weight makes."""
    log_odds = summary.familiar * (calibration.offset + calibration.slope * summary.weight)
    evidence = calibration.evidence(log_odds)
    share = evidence / log_odds if log_odds else 1 - 2 * calibration.doubt
    return evidence * DECIBANS, summary.familiar * share * DECIBANS


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
