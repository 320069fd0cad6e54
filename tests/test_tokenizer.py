"""Tokens: scikit-learn's analyser as the oracle for words, exact cases, laws, bad input."""

import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer as Theirs

from deciban.errors import InputError, ParameterError, ShapeError
from deciban.sources.columns import Strings
from deciban.text import Buckets, Tokenizer, Vocabulary, pack, tokenizer

#: Letters that fold in odd ways, scripts of all kinds, marks, digits, spaces.
ODD = "aAbZ_09 .\t\n\0\u0301\u200dİıΣσςßẞÀéŔÅKℌ℡ǅ٣५한글𐐀𝒜我爱ひらカーไทยที่ខ្មែရမ်"
odd = st.text(st.sampled_from(ODD))
texts = st.one_of(st.text(), odd)
rules = st.builds(
    Tokenizer,
    st.sampled_from(["words", "any-script"]),
    case=st.booleans(),
    accents=st.booleans(),
    one_letter=st.booleans(),
    numbers=st.booleans(),
    signs=st.booleans(),
    stop_words=st.none() | st.just(("ab", "我")),
)


def theirs(text, **settings):
    return Counter(Theirs(**settings).build_analyzer()(text))


@given(texts)
@example("ΑΣ ΑΣ̈ ΣΣ Σ ΑΣ.Β ΑΣΒ")
@example("İstanbul İİ")
def test_words_are_those_of_scikit_learn(text):
    analyse = Theirs().build_analyzer()
    assert Tokenizer("words").tokens(text) == analyse(text)


@given(texts, st.sampled_from([(1, 2), (2, 3), (1, 4)]), st.booleans(), st.booleans())
def test_options_are_those_of_scikit_learn(text, ngrams, lowercase, accents):
    rule = Tokenizer("words", ngrams=ngrams, case=not lowercase, accents=accents)
    wanted = theirs(
        text, ngram_range=ngrams, lowercase=lowercase, strip_accents="unicode" if accents else None
    )
    assert Counter(rule.tokens(text)) == wanted


#: Words and gaps of many lengths, mostly of ASCII: blocks of bytes end anywhere in them.
pieces = st.one_of(
    st.integers(1, 140).map(lambda n: "aB_9z"[n % 5] * n),
    st.sampled_from(
        ["the", "Of", "x", " ", ", ", "\n\n", " " * 63, "é", "Σ", "İ", "\0", "~", "@[`{"]
    ),
)


@given(st.lists(pieces, max_size=40).map("".join), st.sampled_from([(1, 1), (1, 2)]), st.booleans())
@example("a" * 64 + " " + "b" * 63 + " cc", (1, 1), True)
@example("word " * 12 + "toé word", (1, 1), True)
def test_blocks_of_ascii_are_those_of_scikit_learn(text, ngrams, lowercase):
    rule = Tokenizer("words", ngrams=ngrams, case=not lowercase)
    assert Counter(rule.tokens(text)) == theirs(text, ngram_range=ngrams, lowercase=lowercase)


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
@pytest.mark.parametrize("size", [1, 2, 11, 12, 63, 64, 65, 1024, 2047, 2048, 2049, 5000])
def test_words_where_a_chunk_of_ascii_ends(size, ngrams):
    rule = Tokenizer("words", ngrams=ngrams)
    for start in (0, *range(2030, 2052), 4096):
        for end in ("", " ", " Of it", "é", "éa b"):
            text = "Be " * (start // 3) + " " * (start % 3) + "Z" * size + end
            assert Counter(rule.tokens(text)) == theirs(text, ngram_range=ngrams)


@given(texts, st.sampled_from([(1, 1), (1, 3), (2, 5), (7, 9)]), st.booleans(), st.booleans())
def test_characters_are_those_of_scikit_learn(text, sizes, within, accents):
    rule = Tokenizer(characters=sizes, within=within, accents=accents)
    wanted = theirs(
        text,
        analyzer="char_wb" if within else "char",
        ngram_range=sizes,
        strip_accents="unicode" if accents else None,
    )
    assert Counter(rule.tokens(text)) == wanted


@given(st.text(st.characters(max_codepoint=0x0DFF)))
def test_spaced_scripts_are_alike_under_both_rules(text):
    assert Tokenizer().tokens(text) == Tokenizer("words").tokens(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("我爱你", "我 我爱 爱 爱你 你"),
        ("我。你", "我 你"),
        ("iPhone手机 2024年", "iphone 手 手机 机 2024 年"),
        ("カーひ", "カ カー ー ーひ ひ"),
        ("ที่นี่ a ok", "ที่ ที่นี่ นี่ ok"),
        ("ខ្មែ", "ខ្ ខ្មែ មែ"),
        ("한국어 text", "한국어 text"),
        ("\u0301ab\u0301我", "ab 我"),
    ],
)
def test_any_script(text, wanted):
    assert Tokenizer().tokens(text) == wanted.split()


def test_ngrams_stay_within_spaced_words():
    rule = Tokenizer(ngrams=(1, 2))
    assert rule.tokens("ab cd 我 ef gh") == ["ab", "ab cd", "cd", "我", "ef", "ef gh", "gh"]


def test_numbers_and_stop_words():
    rule = Tokenizer(numbers=True, stop_words=["the"], ngrams=(1, 2))
    assert rule.tokens("The 2024 a7b8 7 ٣٤") == ["0", "0 a0b0", "a0b0", "a0b0 0", "0"]


@given(texts, rules)
def test_spans_show_the_tokens(text, rule):
    found = rule.spans(text)
    assert [token for _, _, token in found] == rule.tokens(text)
    if not rule.accents and not rule.numbers:
        for start, stop, token in found:
            shown = text[start:stop] if rule.case else text[start:stop].lower()
            assert shown == token or set(text) & set("Σİ")


@given(texts, st.sampled_from([(1, 1), (1, 3), (2, 5), (7, 9)]), st.booleans(), st.booleans())
def test_spans_of_characters(text, sizes, within, accents):
    rule = Tokenizer(characters=sizes, within=within, accents=accents)
    found = rule.spans(text)
    assert Counter(token for _, _, token in found) == Counter(rule.tokens(text))
    if not accents and not set(text) & set("Σİ"):
        assert all(text[a:b].lower().split() == token.split() for a, b, token in found)


def test_signs_are_words():
    rule = Tokenizer(signs=True, ngrams=(1, 2))
    assert rule.tokens("So good!? 我爱。") == [
        *("so", "so good", "good", "good !", "!", "! ?", "?"),
        *("我", "我爱", "爱", "。"),
    ]
    assert Tokenizer(signs=True).tokens("a €5 😀\u0301_\0") == ["€", "😀"]
    assert Tokenizer(signs=True, stop_words=["!"]).tokens("oh!") == ["oh"]


@given(st.text(st.sampled_from(ODD + "!?.,€😀“”—")))
def test_signs_are_those_that_unicode_says(text):
    pattern = "".join(c for c in set(text) if unicodedata.category(c)[0] in "PS" and c != "_")
    wanted = re.findall(rf"\w+|[{re.escape(pattern)}]" if pattern else r"\w+", text)
    assert Tokenizer("words", signs=True, one_letter=True, case=True).tokens(text) == wanted


@given(st.lists(st.none() | texts), rules, st.booleans())
def test_encoding_and_counting_agree(column, rule, binary):
    y = np.arange(len(column)) % 3
    words = Vocabulary()
    strings = pack(column)
    pointers, codes, counts = rule.encode(strings, words, binary=binary)
    wanted = [Counter(rule.tokens(text)) if text is not None else {} for text in column]
    names, table = words.tokens(), np.zeros((3, len(words)), dtype=int)
    for i, row in enumerate(wanted):
        part = slice(pointers[i], pointers[i + 1])
        got = dict(zip([names[c] for c in codes[part]], counts[part].tolist(), strict=True))
        assert got == {token: 1 if binary else n for token, n in row.items()}
        np.add.at(table[y[i]], codes[part], counts[part])
    again = Vocabulary()
    counted = rule.count(strings, again, y, 3, binary=binary, documents=True)
    assert again.tokens() == names
    assert np.array_equal(counted.tokens, table)
    weighed = rule.count(strings, again, y, 3, np.full(len(column), 0.5), binary=binary)
    assert np.array_equal(weighed.tokens, table / 2)
    once = rule.count(strings, again, y, 3, binary=True)
    assert np.array_equal(counted.documents, once.tokens)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("sizes", [[1], [63, 1], [64, 3], [65], [40, 24, 1, 30], [30, 600, 5]])
def test_repeats_are_found_in_texts_of_all_sizes(sizes, binary):
    words = [f"w{i}" for i in range(50)]
    texts = [[words[i * i % 37] for i in range(size)] for size in sizes]
    known = Vocabulary(words)
    pointers, codes, counts = Tokenizer().encode(
        pack([" ".join(text) for text in texts]), known, grow=False, binary=binary
    )
    for text, start, stop in zip(texts, pointers[:-1], pointers[1:], strict=True):
        found = {words[c]: n for c, n in zip(codes[start:stop], counts[start:stop], strict=True)}
        assert found == (dict.fromkeys(text, 1) if binary else Counter(text))


def test_a_segmenter_may_tokenise():
    inner = Tokenizer()
    outer = Tokenizer(segmenter=lambda text: inner.tokens(text) + outer_tokens)
    outer_tokens = inner.tokens("more words")
    assert outer.tokens("a few") == ["few", "more", "words"] == outer.tokens("A few")


def test_unknown_tokens_are_left_out_and_do_not_grow():
    words = Vocabulary(["ham"])
    parts = Tokenizer().encode(pack(["spam ham spam", "eggs"]), words, grow=False)
    assert [part.tolist() for part in parts] == [[0, 1, 1], [0], [1]]
    assert words.tokens() == ["ham"]


@given(st.lists(texts), rules)
def test_buckets_hold_all_tokens(column, rule):
    strings, y = pack(column), np.zeros(len(column), dtype=int)
    words = Vocabulary()
    exact = rule.count(strings, words, y, 1).tokens
    hashed = rule.count(strings, Buckets(1 << 10), y, 1).tokens
    assert hashed.shape == (1, 1 << 10)
    assert hashed.sum() == exact.sum()
    assert np.count_nonzero(hashed) <= len(words)


def test_buckets_are_the_same_in_every_process():
    _, codes, _ = Tokenizer().encode(pack(["spam ham"]), Buckets(1 << 20))
    assert codes.tolist() == [231718, 724158]


@given(st.binary())
def test_bytes_that_are_not_utf8_are_no_words(data):
    strings = Strings(np.array([0, len(data)]), np.frombuffer(data, np.uint8), np.array([False]))
    words = Vocabulary()
    _, codes, counts = Tokenizer("words").encode(strings, words)
    wanted = Counter(re.findall(r"(?u)\b\w\w+\b", data.decode("utf-8", "replace").lower()))
    names = words.tokens()
    got = zip([names[c] for c in codes], counts.tolist(), strict=True)
    assert dict(got) == wanted


@pytest.mark.parametrize("unit", ["spam Ham ", "x", "我", "Σa "])
@pytest.mark.parametrize("rule", [Tokenizer(), Tokenizer(ngrams=(1, 3))])
def test_a_huge_document(unit, rule):
    times = 2_000_000 // len(unit.encode())
    words = Vocabulary()
    pointers, codes, counts = rule.encode(pack([unit * times]), words)
    assert pointers[1] == len(codes) == len(words)
    if unit == "spam Ham " and rule.ngrams == (1, 1):
        assert dict(zip(words.tokens(), counts.tolist(), strict=True)) == {
            "spam": times,
            "ham": times,
        }
    if unit == "我":
        assert dict(zip(words.tokens(), counts.tolist(), strict=True)) == {
            "我": times,
            "我我": times - 1,
        }


def test_a_million_empty_documents():
    n = 1_000_000
    nothing = Strings(np.zeros(n + 1, dtype=np.int64), np.zeros(0, np.uint8), np.zeros(n, bool))
    words = Vocabulary()
    pointers, codes, _ = Tokenizer().encode(nothing, words)
    assert len(pointers) == n + 1
    assert len(codes) == len(words) == 0
    assert Tokenizer().count(nothing, words, np.zeros(n, int), 2).tokens.shape == (2, 0)


def test_a_segmenter_is_plugged_in():
    rule = Tokenizer(segmenter=lambda text: text.split("/"), ngrams=(1, 2), stop_words=["x"])
    assert rule.tokens("我爱/x/New York") == ["我爱", "我爱 New York", "New York"]
    with pytest.raises(ParameterError, match="cannot be written down"):
        rule.describe()
    with pytest.raises(InputError, match="must give words, got 3"):
        Tokenizer(segmenter=lambda text: [3]).tokens("a")


@given(rules)
def test_a_rule_is_described_and_compared(rule):
    again = Tokenizer(**rule.describe())
    assert again == rule
    assert hash(again) == hash(rule)


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "word"},
        {"ngrams": (0, 1)},
        {"ngrams": (2, 1)},
        {"ngrams": (1, 2.0)},
        {"ngrams": 2},
        {"characters": (1, 1000)},
        {"stop_words": "the"},
        {"stop_words": [1]},
        {"segmenter": "jieba"},
    ],
)
def test_bad_settings(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        Tokenizer(**settings)


def test_bad_input():
    column = pack(["a", "b"])
    with pytest.raises(ShapeError):
        Tokenizer().count(column, Vocabulary(), np.zeros(3, int), 1)
    with pytest.raises(ShapeError):
        Tokenizer().count(column, Vocabulary(), np.zeros(2, int), 1, np.ones(3))
    with pytest.raises(InputError):
        Tokenizer().count(column, Vocabulary(), np.array([0, 2]), 2)
    for bad in (0, -1, 2**31, True, 2.0):
        with pytest.raises(ParameterError, match="buckets"):
            Buckets(bad)


def test_nothing_beyond_the_tables_is_a_word_or_has_a_lower_case():
    points = np.arange(0x20000, 0x110000, dtype="<u4").tobytes()
    far = points.decode("utf-32-le")
    assert re.search(r"[\w\s]", far[0x20000:]) is None
    assert far.lower() == far


def test_words_that_are_too_short_are_none_however_many(monkeypatch):
    """The scanner notes words of more than eleven bytes; it must not note those it drops."""
    make = tokenizer.Scanner
    monkeypatch.setattr(tokenizer, "Scanner", lambda *how: make(*how[:6], 30, *how[7:]))
    long, words = "a" * 30, Vocabulary()
    text = " ".join([long, *["fourteenletters"] * 4000, long])
    rows = Tokenizer().encode(pack([text]), words)
    assert [part.tolist() for part in rows] == [[0, 1], [0], [2]]
