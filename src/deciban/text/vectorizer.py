"""scikit-learn's CountVectorizer, with its loop over tokens compiled.

Parameters, checks and everything else are inherited; only texts to counts, and
the order of the columns, are done anew. An analyzer, tokenizer or pattern of
the caller's own is run by scikit-learn as ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import sklearn.utils
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer as Base

from deciban.errors import InputError
from deciban.kernels.texts import utf8
from deciban.sources.columns import Strings
from deciban.sources.tabular import Value
from deciban.sources.texts import text_column, text_list
from deciban.text import parallel
from deciban.text.tokenizer import MAX_NGRAM, Tokenizer, TokenRows
from deciban.text.vocabulary import Vocabulary

__all__ = ["CountVectorizer"]

Matrix: TypeAlias = sp.csr_matrix | sp.csr_array

#: Patterns that the rule "words" stands for, and whether they keep one letter.
_PATTERNS = {r"(?u)\b\w\w+\b": False, r"(?u)\b\w+\b": True}
#: Methods that a subclass may replace, and that the compiled pass does not call.
_STEPS = ("build_analyzer", "build_preprocessor", "build_tokenizer", "decode")


class CountVectorizer(Base):
    """Texts to a sparse matrix of counts: scikit-learn's, several times as fast.

    Takes all of scikit-learn's parameters, and gives equal vocabularies and
    counts. Texts may also be a column of Polars or Arrow, read in place.

    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(["Spam, spam", "eggs and spam"]).toarray()
    array([[0, 0, 2],
           [1, 1, 1]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['and', 'eggs', 'spam']
    """

    def _count_vocab(
        self, raw_documents: Iterable[Value], fixed_vocab: bool
    ) -> tuple[dict[str, int], Matrix]:
        """The vocabulary and the matrix of counts; a new vocabulary is in order."""
        rule = self._rule()
        words = self._fixed_words() if fixed_vocab else Vocabulary()
        if rule is None or words is None:
            return super()._count_vocab(raw_documents, fixed_vocab)  # type: ignore[no-any-return]
        self.build_analyzer()  # refuses and warns as scikit-learn does
        documents = self._documents(raw_documents)
        texts = documents if isinstance(documents, Strings) else self._texts(documents)
        if texts is None:
            return super()._count_vocab(documents, fixed_vocab)  # type: ignore[no-any-return]
        rows = parallel.encode(rule, texts, words, grow=not fixed_vocab)
        if fixed_vocab:
            ranks = np.arange(len(self.vocabulary_), dtype=np.int32)
            return self.vocabulary_, self._matrix(rows, ranks)
        vocabulary, ranks = _sort_tokens(words.tokens())
        return vocabulary, self._matrix(rows, ranks)

    def _sort_features(self, X: Matrix, vocabulary: dict[str, int]) -> Matrix:
        """Columns in the order of their names, as ours are from the start."""
        if all(a < b for a, b in pairwise(vocabulary)):
            return X
        return super()._sort_features(X, vocabulary)

    def _limit_features(
        self, X: Matrix, vocabulary: dict[str, int], high: float, low: float, limit: int | None
    ) -> Matrix:
        """The matrix without columns that are too rare or too common."""
        df = np.bincount(X.indices, minlength=X.shape[1])
        if (limit is None or X.shape[1] <= limit) and low <= df.min() <= df.max() <= high:
            return X
        return super()._limit_features(X, vocabulary, high, low, limit)

    def __getstate__(self) -> dict[str, Value]:
        state: dict[str, Value] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_table"}

    def _rule(self) -> Tokenizer | None:
        """The tokens that the parameters ask for, if the compiled pass can find them."""
        own = any(getattr(type(self), step) is not getattr(Base, step) for step in _STEPS)
        if own or self.ngram_range[1] > MAX_NGRAM:
            return None
        fold = {"case": True} if self._own_preprocessing() else {
            "case": not self.lowercase, "accents": self.strip_accents == "unicode"
        }  # fmt: skip
        low, high = self.ngram_range
        if self.analyzer in ("char", "char_wb"):
            within = self.analyzer == "char_wb"
            return Tokenizer("words", characters=(low, high), within=within, **fold)
        if self.analyzer != "word" or self.tokenizer or self.token_pattern not in _PATTERNS:
            return None
        return Tokenizer(
            "words",
            ngrams=(low, high),
            one_letter=_PATTERNS[self.token_pattern],
            stop_words=self.get_stop_words(),
            **fold,
        )

    def _own_preprocessing(self) -> bool:
        return self.preprocessor is not None or self.strip_accents not in (None, "unicode")

    def _fixed_words(self) -> Vocabulary | None:
        """The fixed vocabulary as a table, made anew when it is another; None if not of text."""
        known: dict[str, int] | None
        table: Vocabulary
        known, table = self.__dict__.get("_table", (None, Vocabulary()))
        if known is not self.vocabulary_ or len(table) != len(known):
            if not all(isinstance(term, str) for term in self.vocabulary_):
                return None
            table = Vocabulary(sorted(self.vocabulary_, key=self.vocabulary_.__getitem__))
            self._table = (self.vocabulary_, table)
        return table

    def _documents(self, raw: Iterable[Value]) -> Strings | list[Value]:
        """A column in place where there is one, else a list."""
        if self.input == "content" and not self._own_preprocessing():
            column = text_column(raw)
            if column is not None:
                return column
        return text_list(raw)

    def _texts(self, documents: list[Value]) -> Strings | None:
        """The texts as bytes; None where some are no texts, which scikit-learn refuses."""
        own = self._own_preprocessing()
        texts = _utf8(documents) if self.input == "content" and not own else None
        if texts is not None:
            return texts
        decoded = map(self.decode, documents)
        return _utf8(list(map(self.build_preprocessor(), decoded) if own else decoded))

    def _matrix(self, rows: TokenRows, ranks: NDArray[np.int32]) -> Matrix:
        """The matrix whose column ``ranks[code]`` counts the token of that code."""
        pointers, codes, counts = parallel.reorder(rows, ranks)
        narrow = pointers[-1] <= np.iinfo(np.int32).max
        new = hasattr(sklearn.utils, "_align_api_if_sparse")
        X = (sp.csr_array if new else sp.csr_matrix)(
            (counts.astype(self.dtype), codes, pointers.astype(np.int32) if narrow else pointers),
            shape=(len(pointers) - 1, len(ranks)),
        )
        X.has_canonical_format = True
        return X


def _sort_tokens(tokens: list[str]) -> tuple[dict[str, int], NDArray[np.int32]]:
    """A vocabulary in the order of the tokens' names, and the rank in it of each token."""
    if not tokens:
        raise InputError("empty vocabulary; perhaps the documents only contain stop words")
    vocabulary = dict(zip(sorted(tokens), range(len(tokens)), strict=True))
    return vocabulary, np.fromiter(map(vocabulary.__getitem__, tokens), np.int32, len(tokens))


def _utf8(texts: list[Value]) -> Strings | None:
    """A list as a column of texts; None where some are none."""
    try:
        column = Strings(*utf8(texts))
    except TypeError:
        return None
    return None if column.missing.any() else column
