"""Where the tokens of a text stand, to show them in it.

The compiled pass of :mod:`deciban.text.tokenizer` counts tokens and forgets their places; here
the rule is followed again in Python, for one text at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Protocol

from deciban.text.characters import MARK, SIGN, UNSPACED, WORD, class_table, fold

__all__ = ["Span", "spans"]

Span = tuple[int, int, str]
_UNITS = re.compile(r"\s+|\S").finditer


class Rule(Protocol):
    """The fields of a :class:`~deciban.text.Tokenizer` that decide about words and characters."""

    @property
    def rule(self) -> str: ...
    @property
    def characters(self) -> tuple[int, int] | None: ...
    @property
    def within(self) -> bool: ...
    @property
    def case(self) -> bool: ...
    @property
    def accents(self) -> bool: ...
    @property
    def one_letter(self) -> bool: ...
    @property
    def numbers(self) -> bool: ...
    @property
    def signs(self) -> bool: ...


def spans(text: str, rule: Rule) -> list[Span]:
    """The single words of a text, and the characters and pairs of unspaced scripts.

    Under a rule of characters, its tokens; the edges of a word have no place.
    """
    folded = fold(text, rule.case, rule.accents)
    if rule.characters is not None:
        tokens = _character_spans(folded, rule.characters, rule.within)
    else:
        words = re.finditer(r"\S+", folded)
        tokens = (span for word in words for span in _word_spans(word, rule))
    origins = [*_origins(text, len(folded), rule), len(text)]
    return [
        (origins[start], origins[stop - 1] + 1 if stop > start else origins[start], token)
        for start, stop, token in tokens
    ]


def _origins(text: str, length: int, rule: Rule) -> list[int]:
    """For each character of the folded text, the position of the one it came from."""
    if length == len(text) and not rule.accents:
        return list(range(length))
    return [i for i, c in enumerate(text) for _ in fold(c, rule.case, rule.accents)]


def _character_spans(text: str, sizes: tuple[int, int], within: bool) -> Iterator[Span]:
    """N-grams of characters: within words, or anywhere, a run of white space being one."""
    if not within:
        units = [(*m.span(), " " if len(m.group()) > 1 else m.group()) for m in _UNITS(text)]
        yield from _ngrams(units, *sizes)
        return
    for word in re.finditer(r"\S+", text):
        start, stop = word.span()
        inner = [(at, at + 1, text[at]) for at in range(start, stop)]
        units = [(start, start, " "), *inner, (stop, stop, " ")]
        short = len(units) < sizes[0]
        yield from _ngrams(units, *((len(units),) * 2 if short else sizes))


def _ngrams(units: list[Span], low: int, high: int) -> Iterator[Span]:
    """Every run of ``low`` to ``high`` units, as one span."""
    for at in range(len(units)):
        for run in (units[at : at + size] for size in range(low, min(high, len(units) - at) + 1)):
            yield run[0][0], run[-1][1], "".join(unit for _, _, unit in run)


def _word_spans(word: re.Match[str], rule: Rule) -> Iterator[Span]:
    """The tokens of a text without white space, run by run of characters of one class."""
    start, table = word.start(), class_table(rule.signs)
    mask = ~UNSPACED if rule.rule == "words" else -1
    kinds = [int(table[ord(c)]) & mask if ord(c) < len(table) else 0 for c in word.group()]
    i = 0
    while i < len(kinds):
        stop = _run_end(kinds, i)
        if kinds[i] & UNSPACED and kinds[i] & WORD:
            yield from _unspaced_spans(start, word.group(), kinds, i, stop)
        elif kinds[i] & WORD:
            yield from _spaced_span(start + i, word.group()[i:stop], rule)
        elif kinds[i] & SIGN:
            yield start + i, stop + start, word.group()[i:stop]
        i = stop


def _run_end(kinds: list[int], i: int) -> int:
    """Where the run of characters of the class of the one at ``i`` ends."""
    stop = i + 1
    if not kinds[i] & WORD:
        return stop
    unspaced = kinds[i] & UNSPACED
    while stop < len(kinds) and (
        (kinds[stop] & WORD and kinds[stop] & UNSPACED == unspaced)
        or (unspaced and kinds[stop] & MARK)
    ):
        stop += 1
    return stop


def _unspaced_spans(start: int, text: str, kinds: list[int], i: int, stop: int) -> Iterator[Span]:
    """Characters of an unspaced script with their marks, and overlapping pairs of them."""
    cuts = [at for at in range(i, stop) if not kinds[at] & MARK] + [stop]
    for place, (a, b) in enumerate(pairwise(cuts)):
        yield start + a, start + b, text[a:b]
        if place + 2 < len(cuts):
            c = cuts[place + 2]
            yield start + a, start + c, text[a:c]


def _spaced_span(start: int, word: str, rule: Rule) -> Iterator[Span]:
    """A word of a spaced script, unless it is too short; its digits as one "0" if asked for."""
    if len(word) < (1 if rule.one_letter else 2):
        return
    token = re.sub(r"\d+", "0", word) if rule.numbers else word
    yield start, start + len(word), token
