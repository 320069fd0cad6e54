"""The rule of what a token is, and one compiled pass that turns texts into codes of tokens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import InputError, ParameterError, ShapeError
from deciban.kernels.dictionary import Dictionary
from deciban.kernels.sinks import Rows, Sink, Table
from deciban.kernels.tokens import CHARACTERS, EDGES, WORDS, Scanner
from deciban.sources.columns import Strings
from deciban.text.characters import class_table, fold, fold_table
from deciban.text.packing import pack
from deciban.text.spans import spans
from deciban.text.stop_words import stop_words
from deciban.text.vocabulary import Buckets, Vocabulary

__all__ = ["TokenCounts", "TokenRows", "Tokenizer", "check_rows", "check_tokenizer"]

Segmenter: TypeAlias = Callable[[str], Iterable[str]]
Sums: TypeAlias = NDArray[np.int64 | np.float64]
#: The most words or characters in one token.
MAX_NGRAM = 256


class TokenCounts(NamedTuple):
    """Sums per class, (classes, tokens): of tokens, and of the rows that have them if asked for."""

    tokens: Sums
    documents: Sums | None = None


class TokenRows(NamedTuple):
    """A sparse matrix (texts, tokens): row i lies at ``pointers[i] .. pointers[i + 1]``."""

    pointers: NDArray[np.int64]
    codes: NDArray[np.int32]
    counts: NDArray[np.int32]


class _Idle(threading.local):
    """The scanner that a thread used last, and whose it is: to make one takes as long as to use it.

    It is taken out while it is used, so that nobody else can.
    """

    last: tuple[Tokenizer | None, Scanner | None] = None, None


_idle = _Idle()


@dataclass(frozen=True)
class Tokenizer:
    """A rule of tokens.

    ``"words"`` are runs of two or more word characters (letters, digits and
    the underscore of any script), in lower case, exactly as scikit-learn's
    CountVectorizer finds them. ``"any-script"`` does the same, but cuts runs
    of Chinese, Japanese, Thai, Lao, Khmer and Burmese, which put no spaces
    between words, into characters and overlapping pairs of them.

    >>> Tokenizer().tokens("I love you, 我爱你")
    ['love', 'you', '我', '我爱', '爱', '爱你', '你']
    >>> Tokenizer("words").tokens("I love you, 我爱你")
    ['love', 'you', '我爱你']

    Parameters
    ----------
    rule : "any-script" or "words"
    ngrams : fewest and most words in a token; words are joined by a space.
        Characters of unspaced scripts stay characters and pairs.
    characters : fewest and most characters in a token; instead of words.
    within : characters of words only, each with a space at both ends.
    case : keep upper case.
    accents : strip accents and other marks (NFKD), "café" to "cafe".
    one_letter : keep words of one letter.
    numbers : write every run of digits as one "0", so that all numbers of two
        or more digits are one token.
    signs : keep punctuation, symbols and emoji, each a word of its own.
    stop_words : words to leave out, as they are after folding; or ``"english"`` or
        ``"chinese"`` for a short list.
    buckets : count tokens in so many buckets, by their hash, instead of one by
        one: a bound on memory for streams without an end. Tokens that share a
        bucket count as one, and no bucket has a name.
    segmenter : a function from a text to its words, instead of the rule;
        everything but ``ngrams`` and ``stop_words`` is then its own affair.

    """

    rule: Literal["any-script", "words"] = "any-script"
    ngrams: tuple[int, int] = (1, 1)
    characters: tuple[int, int] | None = None
    within: bool = False
    case: bool = False
    accents: bool = False
    one_letter: bool = False
    numbers: bool = False
    signs: bool = False
    stop_words: tuple[str, ...] | str | None = None
    segmenter: Segmenter | None = None
    buckets: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in ("any-script", "words"):
            raise ParameterError(
                f'rule must be "any-script" or "words", got {self.rule!r}.',
                hint='"words" is what scikit-learn\'s CountVectorizer counts',
            )
        object.__setattr__(self, "ngrams", _range("ngrams", self.ngrams))
        if self.characters is not None:
            object.__setattr__(self, "characters", _range("characters", self.characters))
        if self.stop_words is not None:
            object.__setattr__(self, "stop_words", stop_words(self.stop_words))
        if self.buckets is not None:
            Buckets(self.buckets)
        if self.segmenter is not None and not callable(self.segmenter):
            raise ParameterError(
                f"segmenter must be a function from a text to its words, got {self.segmenter!r}.",
                hint="for instance jieba.lcut",
            )

    def describe(self) -> dict[str, object]:
        """The rule as JSON can hold it; ``Tokenizer(**description)`` is an equal rule.

        >>> Tokenizer(**Tokenizer("words", ngrams=(1, 2)).describe()).ngrams
        (1, 2)
        """
        if self.segmenter is not None:
            raise ParameterError(
                f"a segmenter is code and cannot be written down: {self.segmenter!r}.",
                hint="segment the texts first, and join the words by spaces",
            )
        names = (field.name for field in fields(self) if field.name != "segmenter")
        values = {name: getattr(self, name) for name in names}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    def vocabulary(self) -> Vocabulary | Buckets:
        """What gives codes to tokens: an empty vocabulary, or the buckets.

        >>> Tokenizer().vocabulary(), Tokenizer(buckets=1024).vocabulary()
        (Vocabulary of 0 tokens, Buckets(1024))
        """
        return Vocabulary() if self.buckets is None else Buckets(self.buckets)

    def bucket_of(self, tokens: Iterable[str]) -> NDArray[np.int64]:
        """The bucket of each token.

        >>> spam, ham, again = Tokenizer(buckets=2**20).bucket_of(["spam", "ham", "spam"])
        >>> bool(spam == again), bool(spam == ham)
        (True, False)
        """
        if self.buckets is None:
            raise ParameterError(f"{self} has no buckets.", hint="Tokenizer(buckets=2**20) has")
        column = pack(tokens)
        rows, each = Rows(len(column), False, False), np.arange(len(column) + 1, dtype=np.int64)
        Tokenizer()._scanner().gather(
            each, column.offsets, column.data, None, self.buckets, False, rows
        )
        return rows.result()[1].astype(np.int64)

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text as they are counted, in order.

        >>> Tokenizer(ngrams=(1, 2)).tokens("Such is life")
        ['such', 'such is', 'is', 'is life', 'life']
        """
        words, rows = Vocabulary(), Rows(1, False, False)
        self.scan(pack([text]), words, True, rows)
        names = words.tokens()
        return [names[code] for code in rows.result()[1]]

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where the tokens of a text are: ``text[start:stop]`` became the token.

        Only single words, characters, and pairs of unspaced scripts have a place;
        rules with n-grams or a segmenter show their words.

        >>> Tokenizer().spans("No Spam!")
        [(0, 2, 'no'), (3, 7, 'spam')]
        """
        every = spans(text, self)
        if not self.stop_words:
            return every
        # A pair of characters goes with either of them; it is no stop word itself.
        starts = [-1, *(start for start, _, _ in every)]
        stopped = [
            (start, stop)
            for before, (start, stop, token) in zip(starts, every, strict=False)
            if token in self._stop_set and start != before
        ]
        return [s for s in every if not any(s[0] <= a and b <= s[1] for a, b in stopped)]

    def count(
        self,
        strings: Strings,
        vocabulary: Vocabulary | Buckets,
        y: NDArray[np.int64],
        n_classes: int,
        weight: NDArray[np.float64] | None = None,
        *,
        binary: bool = False,
        documents: bool = False,
    ) -> TokenCounts:
        """Sums of tokens per class; new tokens are added to ``vocabulary``.

        Integers without ``weight``. ``binary`` counts a token once a row,
        ``documents`` also sums the rows that have it.

        >>> words = Vocabulary()
        >>> texts = pack(["good good film", "bad film"])
        >>> Tokenizer().count(texts, words, np.array([1, 0]), 2).tokens, words.tokens()
        (array([[0, 1, 1],
               [2, 1, 0]]), ['good', 'film', 'bad'])
        """
        y, weight = check_rows(y, weight, len(strings), n_classes)
        table = Table(y, n_classes, weight, binary, documents)
        self.scan(strings, vocabulary, True, table)
        return TokenCounts(*table.result(len(vocabulary)))

    def encode(
        self,
        strings: Strings,
        vocabulary: Vocabulary | Buckets,
        *,
        grow: bool = True,
        binary: bool = False,
    ) -> TokenRows:
        """A sparse matrix of counts: pointers to rows, codes and how often each occurs.

        A code occurs once a row, in the order in which it is met. Without
        ``grow`` unknown tokens are left out, and several threads may use one
        vocabulary at a time.

        >>> words = Vocabulary(["film", "good"])
        >>> [part.tolist() for part in Tokenizer().encode(pack(["good good film!"]), words)]
        [[0, 2], [1, 0], [2, 1]]
        """
        rows = Rows(len(strings), True, binary)
        self.scan(strings, vocabulary, grow, rows)
        return TokenRows(*rows.result())

    @cached_property
    def _stops(self) -> Dictionary:
        return Dictionary(self.stop_words or ())

    @cached_property
    def _stop_set(self) -> frozenset[str]:
        return frozenset(self.stop_words or ())

    def scan(self, strings: Strings, words: Vocabulary | Buckets, grow: bool, sink: Sink) -> None:
        """Hand the codes of the tokens of every row to a sink."""
        (owner, scanner), _idle.last = _idle.last, (None, None)
        if owner is not self or scanner is None:
            scanner = self._scanner()
        target = (words.table, words.buckets, grow, sink)
        if self.segmenter is None:
            scanner.scan(strings.offsets, strings.data, strings.missing, *target)
        else:
            pointers, units = _segment(strings, self.segmenter)
            scanner.gather(pointers, units.offsets, units.data, *target)
        _idle.last = self, scanner

    def _scanner(self) -> Scanner:
        mode = WORDS if self.characters is None else EDGES if self.within else CHARACTERS
        return Scanner(
            class_table(self.signs),
            fold_table(self.case, self.accents),
            self._fold_bytes,
            mode,
            self.rule == "any-script",
            self.numbers,
            1 if self.one_letter else 2,
            *(self.characters or self.ngrams),
            self._stops,
        )

    def _fold_bytes(self, text: bytes) -> bytes:
        out = fold(text.decode("utf-8", "replace"), self.case, self.accents)
        return out.encode("utf-8", "surrogatepass")


def _range(name: str, value: object) -> tuple[int, int]:
    """The fewest and the most units in a token, checked."""
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    whole = all(isinstance(n, int) and not isinstance(n, bool) for n in pair)
    if len(pair) == 2 and whole and 1 <= pair[0] <= pair[1] <= MAX_NGRAM:
        return pair
    raise ParameterError(
        f"{name} must be two whole numbers, 1 <= fewest <= most <= {MAX_NGRAM}, got {value!r}.",
        hint="(1, 2) is single ones and pairs",
    )


#: The rule of whoever states none.
#: The rule for any script.
DEFAULT_TOKENIZER = Tokenizer()


def check_tokenizer(stated: object, stops: str | Iterable[str] | None = None) -> Tokenizer:
    """The rule of words, or that for any script, without these stop words as well.

    >>> check_tokenizer(None) == Tokenizer(), check_tokenizer(None, ["the"]).stop_words
    (True, ('the',))
    """
    if stated is not None and not isinstance(stated, Tokenizer):
        raise ParameterError(
            f"tokenizer must be a deciban.text.Tokenizer, got {stated!r}.",
            hint="Tokenizer(segmenter=function) takes a function from a text to its words",
        )
    rule = stated or DEFAULT_TOKENIZER
    if stops is None:
        return rule
    return replace(rule, stop_words=(*(rule.stop_words or ()), *stop_words(stops)))


def check_same_words(one: Tokenizer, other: Tokenizer) -> None:
    """Refuse to put counts of words together that were read in different ways."""
    if one != other:
        raise InputError(
            f"words are {one} in one model and {other} in the other.",
            hint="train both with the same tokenizer",
        )


def check_rows(
    y: ArrayLike, weight: ArrayLike | None, n_rows: int, n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Class codes and weights as the kernels take them, one per row."""
    y = np.ascontiguousarray(y, dtype=np.int64)
    if y.shape != (n_rows,):
        raise ShapeError(f"one class per row is needed, got {y.shape} for {n_rows} rows.")
    if n_rows and not 0 <= y.min() <= y.max() < n_classes:
        raise InputError(f"codes of classes must be from 0 to {n_classes - 1}.")
    if weight is None:
        return y, None
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    if weight.shape != y.shape:
        raise ShapeError(f"one weight per row is needed, got {weight.shape} for {n_rows} rows.")
    return y, weight


def _segment(strings: Strings, segmenter: Segmenter) -> tuple[NDArray[np.int64], Strings]:
    """The words of all rows; those of row i are at ``pointers[i] .. pointers[i + 1]``."""
    pointers: list[int] = [0]
    words: list[str] = []
    for text in strings.tolist():
        words += [] if text is None else _check_words(segmenter(text))
        pointers.append(len(words))
    return np.array(pointers, dtype=np.int64), pack(words)


def _check_words(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if not isinstance(word, str):
            raise InputError(
                f"the segmenter must give words, got {word!r}.", hint="a list of str is needed"
            )
        yield word
