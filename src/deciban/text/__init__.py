"""Texts to tokens to counts.

:class:`Tokenizer` says what a token is, and counts; :class:`CountVectorizer`
is scikit-learn's, by the same compiled pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.text.blocks import block
    from deciban.text.packing import pack
    from deciban.text.tally import Tally
    from deciban.text.tokenizer import Tokenizer
    from deciban.text.vectorizer import CountVectorizer
    from deciban.text.vocabulary import Buckets, Vocabulary

__all__ = ["Buckets", "CountVectorizer", "Tally", "Tokenizer", "Vocabulary", "block", "pack"]

__getattr__ = lazy.attributes(
    __name__,
    {
        "Buckets": "deciban.text.vocabulary",
        "CountVectorizer": "deciban.text.vectorizer",
        "Tally": "deciban.text.tally",
        "Tokenizer": "deciban.text.tokenizer",
        "Vocabulary": "deciban.text.vocabulary",
        "block": "deciban.text.blocks",
        "pack": "deciban.text.packing",
    },
)
