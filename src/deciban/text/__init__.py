"""Texts to tokens to counts.

:class:`Tokenizer` says what a token is, and counts; :class:`CountVectorizer`
is scikit-learn's, by the same compiled pass.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deciban.text.blocks import block
    from deciban.text.packing import packed
    from deciban.text.tally import Tally
    from deciban.text.tokenizer import Tokenizer
    from deciban.text.vectorizer import CountVectorizer
    from deciban.text.vocabulary import Buckets, Vocabulary

__all__ = ["Buckets", "CountVectorizer", "Tally", "Tokenizer", "Vocabulary", "block", "packed"]

_MODULES = {
    "Buckets": "vocabulary",
    "CountVectorizer": "vectorizer",
    "Tally": "tally",
    "Tokenizer": "tokenizer",
    "Vocabulary": "vocabulary",
    "block": "blocks",
    "packed": "packing",
}


def __getattr__(name: str) -> Any:
    """Names are imported when they are asked for: ``scripts`` needs neither NumPy nor the rest."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found
