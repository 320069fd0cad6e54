"""Tokens by number: counted as by a dictionary, found as in a set."""

from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.kernels import letters
from deciban.kernels.lexicon import Lexicon, Tokens

WORDS = ["a", "ab", "é", "我", "我爱", "慢", "\0", "", "abcdefg", "abcdefgh", "a:b", "to:b", "𠮷"]
TEXTS = st.lists(st.text(max_size=9) | st.sampled_from(WORDS), max_size=200)
COUNTS = st.integers(0, 2**31 - 1)


@given(st.lists(st.tuples(TEXTS, st.integers(0, 1 << 40)), max_size=5))
def test_counts_are_those_of_a_dictionary(batches):
    lexicon, expected, order = Lexicon(), Counter(), {}
    for texts, count in batches:
        tokens = lexicon.tokens(texts)
        assert list(tokens) == list(dict.fromkeys(texts))
        assert len(tokens) == len(set(texts))
        tokens.count(count)
        order |= dict.fromkeys(texts)
        for text in set(texts):
            expected[text] += count
        assert list(tokens.counts()) == [expected[text] for text in tokens]
    assert lexicon.texts == list(order)
    assert list(lexicon.counts()) == [expected[text] for text in order]
    assert lexicon.counts(lexicon.texts) == lexicon.counts()
    assert (len(lexicon), lexicon.characters) == (len(order), sum(map(len, order)))


@given(st.dictionaries(st.text(max_size=9), st.tuples(COUNTS, COUNTS)))
def test_rows_go_in_and_out(pairs):
    lexicon, other = Lexicon(), Lexicon()
    rows = [(token, *pair) for token, pair in pairs.items()]
    lexicon.merge_rows(rows)
    assert list(lexicon.counts(list(pairs))) == [ham + (spam << 32) for ham, spam in pairs.values()]
    numbers = other.merge(lexicon.texts[::-1], lexicon.counts()[::-1])
    assert other.counts(lexicon.texts) == lexicon.counts()
    assert [other.texts[number] for number in numbers] == lexicon.texts[::-1]
    other.forget()
    assert (list(other.counts()), other.forgotten) == ([0] * len(pairs), 1)


def test_many_pieces_come_in_the_order_of_the_text():
    for script in ("ab", "é我", "𠮷我"):
        words = [f"{script}{number}" for number in range(10, 100)]
        out = Tokens(Lexicon())
        letters.words(" ".join(words), letters.Unspaced([], ""), "", 30, True, out)
        assert list(out) == words


@given(st.text(st.sampled_from("ab7é我爱𠮷 "), max_size=40), st.sampled_from(["", "to:"]))
def test_a_piece_of_a_text_is_the_token_that_it_spells(text, prefix):
    lexicon = Lexicon()
    out = Tokens(lexicon)
    letters.words(text, letters.Unspaced([(0x4E00, 0x9FFF)], ""), prefix, 30, True, out)
    spelled = list(out)
    assert list(lexicon.tokens([*spelled, *spelled])) == spelled == lexicon.texts
    out = Tokens(lexicon)
    letters.words(text, letters.Unspaced([(0x4E00, 0x9FFF)], ""), prefix, 30, True, out)
    assert list(out) == spelled == lexicon.texts


@given(TEXTS, TEXTS, st.randoms())
def test_a_message_by_the_numbers_of_another_lexicon(before, texts, random):
    own, other = Lexicon(), Lexicon()
    other.tokens(before)
    tokens = own.tokens(texts)
    places = tokens.numbers_of()
    assert [own.texts[place] for place in places] == list(tokens)
    numbers = other.merge(own.texts, own.counts())
    random.shuffle(places)
    message = other.message(places, numbers)
    assert list(message) == [own.texts[place] for place in places]
    with pytest.raises(ValueError, match="another of its lexicon was begun"):
        message.add("a")
    for wrong in (-1, len(numbers)):
        with pytest.raises(IndexError, match="a place of"):
            other.message(array("i", [wrong]), numbers)
    with pytest.raises(IndexError, match="a place of"):
        other.message(array("i", [0]), array("i", [len(other)]))


def test_many_tokens_and_strangers():
    lexicon = Lexicon()
    texts = [f"{'x' * (i % 9)}{i}" for i in range(50_000)]
    lexicon.tokens(texts).count(2)
    lexicon.tokens(["".join(text) for text in texts]).count(1)  # equal, but not the same
    assert set(lexicon.counts(texts)) == {3}
    assert list(lexicon.counts(["never", "0"])) == [0, 3]
    for wrong in ([b"0"], [None]):
        with pytest.raises(TypeError):
            lexicon.tokens(wrong)
        with pytest.raises(TypeError):
            lexicon.counts(wrong)
    with pytest.raises(ValueError, match="one count a token is needed, got 1 for 2"):
        lexicon.merge(["a", "b"], array("q", [1]))


@pytest.mark.parametrize(
    "row", [("a", 1), ("a", 1.0, 2), (b"a", 1, 2), (None, 1, 2), ("a", 1, -1), ("a", 2**31, 0),
            ("a", 2**70, 0), ("a", True, 0)]
)  # fmt: skip
def test_rows_that_nobody_wrote_are_refused_as_a_whole(row):
    lexicon = Lexicon()
    with pytest.raises((TypeError, ValueError, OverflowError)):
        lexicon.merge_rows([("b", 1, 2), row])
    assert len(lexicon) == 0


def test_a_message_is_read_before_the_next():
    lexicon = Lexicon()
    first = lexicon.tokens(["a"])
    second = lexicon.tokens(["a", "b"])
    with pytest.raises(ValueError, match="another of its lexicon was begun"):
        first.add("a")
    with pytest.raises(ValueError, match="another of its lexicon was begun"):
        letters.hosts("a.b", "", first)
    second.add("a")
    assert (list(first), list(second)) == (["a"], ["a", "b"])
