"""One message: scored, learnt, taken back, moved to the other class.

A message is known by the digest of what does not change while it is filed and
read, so a second lesson of it is noticed, also after the filter has marked it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail.envelope import canonical, digest
from deciban.mail.model import (
    Score,
    level,
    score_counts,
    score_summary,
    summarize,
    summarize_all,
)
from deciban.mail.store import Lesson, Store
from deciban.mail.tokens import tokens

__all__ = ["Outcome", "Read", "learn", "read", "relearn", "score", "score_all", "unlearn"]

#: What became of a lesson; ``"conflict"`` is a message that was learnt as the other class.
Outcome: TypeAlias = Literal["learnt", "moved", "taken", "known", "unknown", "conflict"]


class Read(NamedTuple):
    """A message as the store sees it."""

    digest: bytes
    tokens: Tokens


def read(raw: bytes, lexicon: Lexicon | None = None) -> Read:
    """The digest and the tokens of a message, those of a lexicon of its own unless one is given."""
    message = canonical(raw)
    return Read(digest(message), tokens(message, lexicon))


def score(store: Store, message: Read) -> Score:
    """The evidence that a message is spam, and the part of each token."""
    with store.reading():
        return score_counts(store.counts(message.tokens), store.calibration())


def score_all(store: Store, messages: Sequence[Tokens]) -> list[Score]:
    """The evidence that each of some messages is spam, by one state of the store; without parts.

    They are of one lexicon; that of the store remembers what was looked up before.
    """
    with store.reading():
        store.look_up(messages)
        summaries = summarize_all(store.totals(), messages)
        calibration = store.calibration()
    return [score_summary(summary, calibration) for summary in summaries]


def learn(store: Store, message: Read, spam: bool) -> Outcome:
    """Count a message as spam or as ham, unless it was counted before."""
    with store.writing():
        known = store.lesson(message.digest)
        if known:
            return "known" if known.spam == spam else "conflict"
        _add(store, message, spam)
        return "learnt"


def unlearn(store: Store, message: Read) -> Outcome:
    """Take a lesson back as if it had never been given."""
    with store.writing():
        known = store.lesson(message.digest)
        if not known:
            return "unknown"
        store.take(known, message.tokens)
        return "taken"


def relearn(store: Store, message: Read, spam: bool) -> Outcome:
    """Count a message as this class, and no longer as the other."""
    with store.writing():
        known = store.lesson(message.digest)
        if known and known.spam == spam:
            return "known"
        if known:
            store.take(known, message.tokens)
        _add(store, message, spam)
        return "moved" if known else "learnt"


def _add(store: Store, message: Read, spam: bool) -> None:
    counts, lexicon = store.counts(message.tokens), Lexicon()
    lesson = Lesson(message.digest, spam, level(counts.totals, summarize(counts)))
    lexicon.tokens(message.tokens).count(lesson.unit)
    store.add([lesson], store.rows_of(lexicon))
