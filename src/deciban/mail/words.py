"""The words and hosts of a text, each once, by the rule of :class:`deciban.text.Tokenizer`.

A program that reads one message has to start at once, and NumPy alone would take longer
to import than all else: so words are found by loops of their own.
"""

from __future__ import annotations

from functools import cache

from deciban.kernels import letters
from deciban.kernels.lexicon import Tokens
from deciban.text import scripts

__all__ = ["MAX_WORD_LENGTH", "add_hosts", "add_link", "add_text", "add_words"]

#: In characters; longer words are debris of encodings.
MAX_WORD_LENGTH = 30
#: What the hosts and words of links begin with.
LINK_PREFIX = "url:"


def add_words(out: Tokens, text: str, prefix: str = "", *, numbers: bool = True) -> None:
    """Add the words of a text in lower case; characters and pairs of scripts that have no spaces.

    Without ``numbers``, none that begins with a digit.

    >>> from deciban.kernels.lexicon import Lexicon
    >>> out = Tokens(Lexicon())
    >>> add_words(out, "Win a Prize!"), add_words(out, "我爱", "subject:"), sorted(out)
    (None, None, ['prize', 'subject:我', 'subject:我爱', 'subject:爱', 'win'])
    """
    letters.words(text.lower(), _unspaced(), prefix, MAX_WORD_LENGTH, numbers, out)


def add_hosts(out: Tokens, text: str, prefix: str = "") -> None:
    """Add the hosts in a text, with the domains above each; addresses with their networks.

    >>> from deciban.kernels.lexicon import Lexicon
    >>> out = Tokens(Lexicon())
    >>> add_hosts(out, "by mx.example.org [192.0.2.1]")
    >>> sorted(out)
    ['192.0', '192.0.2', '192.0.2.1', 'example.org', 'mx.example.org']
    """
    letters.hosts(text.lower(), prefix, out)


def add_text(out: Tokens, text: str, prefix: str = "", *, links: bool = False) -> None:
    """Add words, sums of money, and exclamation and question marks that follow each other.

    With ``links``, also where links go: hosts with their domains, and the words of the paths.

    >>> from deciban.kernels.lexicon import Lexicon
    >>> out = Tokens(Lexicon())
    >>> add_text(out, "Now! $ 9.99?! http://x.example/a", links=True), sorted(out)
    (None, ['$ 9.99', '99', '?!', 'example', 'http', 'now', 'url:x.example'])
    """
    lower = text.lower()
    letters.words(lower, _unspaced(), prefix, MAX_WORD_LENGTH, True, out)
    letters.signs(lower, prefix, out)
    if links:
        letters.links(lower, _unspaced(), LINK_PREFIX, MAX_WORD_LENGTH, out)


def add_link(out: Tokens, target: str) -> None:
    """Add where one link goes.

    >>> from deciban.kernels.lexicon import Lexicon
    >>> out = Tokens(Lexicon())
    >>> add_link(out, "HTTP://x.example"), add_link(out, "mailto:me"), sorted(out)
    (None, None, ['url:mailto', 'url:x.example'])
    """
    target = target.lower()
    linked = letters.link(target, _unspaced(), LINK_PREFIX, MAX_WORD_LENGTH, out)
    if not linked and target.startswith("mailto:"):
        out.add(f"{LINK_PREFIX}mailto")


@cache
def _unspaced() -> letters.Unspaced:
    return letters.Unspaced(scripts.UNSPACED, scripts.marks())
