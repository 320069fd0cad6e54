"""Where the tokens of a text are, for showing them in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Protocol

from deciban.text.characters import MARK, SIGN, UNSPACED, WORD, classes, folded

__all__ = ["Span", "spans"]

Span = tuple[int, int, str]
_UNITS = re.compile(r"\s+|\S").finditer


class Rule(Protocol):
    """What of a rule decides about single words, and about characters."""

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
    whole = folded(text, rule.case, rule.accents)
    places = _places(text, len(whole), rule)
    if rule.characters is not None:
        found = _characters(whole, rule.characters, rule.within)
    else:
        words = re.finditer(r"\S+", whole)
        found = (span for word in words for span in _tokens(word, rule))
    places.append(len(text))
    return [
        (places[start], places[stop - 1] + 1 if stop > start else places[start], token)
        for start, stop, token in found
    ]


def _places(text: str, length: int, rule: Rule) -> list[int]:
    """The character that each character of the folded text came from."""
    if length == len(text) and not rule.accents:
        return list(range(length))
    return [i for i, c in enumerate(text) for _ in folded(c, rule.case, rule.accents)]


def _characters(text: str, sizes: tuple[int, int], within: bool) -> Iterator[Span]:
    """Runs of characters: within words, or anywhere, where much white space is one."""
    if not within:
        units = [(*m.span(), " " if len(m.group()) > 1 else m.group()) for m in _UNITS(text)]
        yield from _runs(units, *sizes)
        return
    for word in re.finditer(r"\S+", text):
        start, stop = word.span()
        inner = [(at, at + 1, text[at]) for at in range(start, stop)]
        units = [(start, start, " "), *inner, (stop, stop, " ")]
        few = len(units) < sizes[0]
        yield from _runs(units, *((len(units),) * 2 if few else sizes))


def _runs(units: list[Span], low: int, high: int) -> Iterator[Span]:
    for at in range(len(units)):
        for run in (units[at : at + size] for size in range(low, min(high, len(units) - at) + 1)):
            yield run[0][0], run[-1][1], "".join(unit for _, _, unit in run)


def _tokens(word: re.Match[str], rule: Rule) -> Iterator[Span]:
    start, table = word.start(), classes(rule.signs)
    told = ~UNSPACED if rule.rule == "words" else -1
    kinds = [int(table[ord(c)]) & told if ord(c) < len(table) else 0 for c in word.group()]
    i = 0
    while i < len(kinds):
        stop = _run(kinds, i)
        if kinds[i] & UNSPACED and kinds[i] & WORD:
            yield from _unspaced(start, word.group(), kinds, i, stop)
        elif kinds[i] & WORD:
            yield from _spaced(start + i, word.group()[i:stop], rule)
        elif kinds[i] & SIGN:
            yield start + i, stop + start, word.group()[i:stop]
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
