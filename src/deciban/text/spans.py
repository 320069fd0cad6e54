"""Where the tokens of a text are, for showing them in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Protocol

from deciban.text.characters import MARK, UNSPACED, WORD, classes, folded

__all__ = ["spans"]

Span = tuple[int, int, str]


class Rule(Protocol):
    """What of a rule decides about single words."""

    @property
    def rule(self) -> str: ...
    @property
    def case(self) -> bool: ...
    @property
    def accents(self) -> bool: ...
    @property
    def one_letter(self) -> bool: ...
    @property
    def numbers(self) -> bool: ...


def spans(text: str, rule: Rule) -> list[Span]:
    """The single words of a text, and the characters and pairs of unspaced scripts."""
    whole = folded(text, rule.case, rule.accents)
    places = _places(text, len(whole), rule)
    found = (
        span
        for word in re.finditer(r"\w+" if rule.rule == "words" else r"\S+", whole)
        for span in _tokens(word, rule)
    )
    return [(places[start], places[stop - 1] + 1, token) for start, stop, token in found]


def _places(text: str, length: int, rule: Rule) -> list[int]:
    """The character that each character of the folded text came from."""
    if length == len(text) and not rule.accents:
        return list(range(length))
    return [i for i, c in enumerate(text) for _ in folded(c, rule.case, rule.accents)]


def _tokens(word: re.Match[str], rule: Rule) -> Iterator[Span]:
    if rule.rule == "words":
        yield from _spaced(word.start(), word.group(), rule)
        return
    start, table = word.start(), classes()
    kinds = [int(table[ord(c)]) if ord(c) < len(table) else 0 for c in word.group()]
    i = 0
    while i < len(kinds):
        stop = _run(kinds, i)
        if kinds[i] & UNSPACED and kinds[i] & WORD:
            yield from _unspaced(start, word.group(), kinds, i, stop)
        elif kinds[i] & WORD:
            yield from _spaced(start + i, word.group()[i:stop], rule)
        i = stop


def _run(kinds: list[int], i: int) -> int:
    """Where characters like the one at ``i`` end."""
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


def _unspaced(start: int, text: str, kinds: list[int], i: int, stop: int) -> Iterator[Span]:
    """Characters with their marks, and pairs."""
    cuts = [at for at in range(i, stop) if not kinds[at] & MARK] + [stop]
    for place, (a, b) in enumerate(pairwise(cuts)):
        yield start + a, start + b, text[a:b]
        if place + 2 < len(cuts):
            c = cuts[place + 2]
            yield start + a, start + c, text[a:c]


def _spaced(start: int, word: str, rule: Rule) -> Iterator[Span]:
    if len(word) < (1 if rule.one_letter else 2):
        return
    token = re.sub(r"\d+", "0", word) if rule.numbers else word
    yield start, start + len(word), token
