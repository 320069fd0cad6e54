"""Texts to tokens to counts.

:class:`Tokenizer` says what a token is, and counts; :class:`CountVectorizer`
is scikit-learn's, by the same compiled pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deciban.text.packing import packed
from deciban.text.tokenizer import Tokenizer
from deciban.text.vocabulary import Buckets, Vocabulary

if TYPE_CHECKING:
    from deciban.text.vectorizer import CountVectorizer

__all__ = ["Buckets", "CountVectorizer", "Tokenizer", "Vocabulary", "packed"]


def __getattr__(name: str) -> Any:
    if name == "CountVectorizer":  # imports scikit-learn
        from deciban.text.vectorizer import CountVectorizer

        return CountVectorizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
