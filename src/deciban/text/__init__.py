"""Texts to tokens to counts.

Read in the order that a text takes; no module imports a later one:

``packing``
    Python strings as one column of UTF-8 bytes
``scripts``, ``characters``
    which characters make words, and what each becomes in lower case or without accents
``stop_words``
    words that say little, by language
``vocabulary``
    the code of a token: a :class:`Vocabulary` that grows, or :class:`Buckets` by hash
``spans``
    where in a text its tokens stand, to show them
``tokenizer``
    the rule of what a token is: :class:`Tokenizer` scans texts into codes, rows or counts
``parallel``
    a long column, cut and tokenised by several threads
``tally``
    counts of tokens by class, batch after batch: what a model learns from
``blocks``
    columns of text as one block of a table of counts
``near_copies``
    texts that are almost equal, as groups
``vectorizer``
    scikit-learn's :class:`CountVectorizer`, by the same compiled pass
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
