"""Texts to codes, and written fields to values: the kernels against Python."""

import datetime as dt
import doctest
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.kernels import dictionary, fields, text_order
from deciban.kernels.dictionary import Dictionary
from deciban.text import Vocabulary


def pack(items):
    """Offsets, bytes and mask of byte strings; the data begins somewhere inside."""
    sizes = [len(item or b"") for item in items]
    offsets = np.cumsum([3, *sizes]).astype(np.int64)
    data = np.frombuffer(b"###" + b"".join(item or b"" for item in items) + b"#", np.uint8)
    return offsets, data, np.array([item is None for item in items], dtype=bool)


texts = st.lists(st.none() | st.binary(max_size=40) | st.sampled_from([b"", b"a", b"spam"]))


@given(st.lists(texts))
def test_codes_are_those_of_a_dict(batches):
    words, known = Dictionary(), {}
    for batch in batches:
        wanted = [-1 if t is None else known.setdefault(t, len(known)) for t in batch]
        assert words.encode(*pack(batch)).tolist() == wanted
        assert words.lookup(*pack(batch)).tolist() == wanted
    assert len(words) == len(known)
    assert words.labels() == [t.decode("utf-8", "surrogateescape") for t in known]
    assert len(set(words.labels())) == len(known), "different bytes are different labels"


def test_growth_and_pickling():
    items = [f"word {i} {'x' * (i % 50)}".encode() for i in range(100_000)]
    words = Dictionary()
    assert np.array_equal(words.encode(*pack(items)), np.arange(100_000))
    again = pickle.loads(pickle.dumps(words))
    for table in (words, again):
        assert np.array_equal(table.lookup(*pack(items[::-1])), np.arange(100_000)[::-1])
        assert table.labels() == [item.decode() for item in items]


def test_texts_that_are_nearly_the_same():
    """Of every length about those at which texts are kept in another way; zeros pad none."""
    items = [b"\0" * n for n in range(40)]
    items += [b"a" * n + end for n in range(40) for end in (b"b", b"\0", b"b\0", b"\xff")]
    items = list(dict.fromkeys(items))
    words = Dictionary()
    assert np.array_equal(words.encode(*pack(items)), np.arange(len(items)))
    ends = np.cumsum([0, *map(len, items)])  # nothing may be read after the last
    data = np.frombuffer(b"".join(items), np.uint8)
    none = np.zeros(len(items), dtype=bool)
    assert np.array_equal(words.lookup(ends, data, none), np.arange(len(items)))
    assert [text.encode("utf-8", "surrogateescape") for text in words.labels()] == items


def test_unknown_texts_are_not_added():
    words = Dictionary(["ham", "sp\udcffam"])
    assert words.lookup(*pack([b"ham", b"eggs", None, b"sp\xffam"])).tolist() == [0, -2, -1, 1]
    assert words.labels() == ["ham", "sp\udcffam"]


def test_labels_come_once():
    assert Dictionary(["a", "b", "a", ""]).labels() == ["a", "b", ""]


def test_empty_input():
    words = Dictionary()
    assert (
        words.encode(np.zeros(1, np.int64), np.empty(0, np.uint8), np.zeros(0, bool)).tolist() == []
    )
    assert words.encode(
        np.zeros(3, np.int64), np.empty(0, np.uint8), np.zeros(2, bool)
    ).tolist() == [0, 0]
    assert words.labels() == [""]


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 2], "one more offset"),
        ([0, 3, 2], "must rise"),
        ([-1, 0, 1], "must rise"),
        ([0, 1, 9], "within"),
    ],
)
def test_offsets_are_checked(offsets, message):
    with pytest.raises(ValueError, match=message):
        Dictionary().encode(np.array(offsets), np.zeros(4, np.uint8), np.zeros(2, bool))


# Written fields

ANY = 63


def kinds(*written, json=False):
    packed = pack([w.encode() for w in written])
    return fields.kinds_in_json(*packed, ANY) if json else fields.kinds(*packed, ANY, [])[0]


@given(st.integers(-(2**64), 2**64))
def test_integers(value):
    fits = -(2**63) <= value < 2**63
    assert kinds(str(value)) == (fields.INTEGER | fields.NUMBER if fits else fields.NUMBER)
    if fits:
        assert fields.whole(*pack([str(value).encode()]), fields.INTEGER)[0][0] == value


@given(
    st.floats(allow_nan=False) | st.decimals(allow_nan=False, allow_infinity=False),
    st.integers(0, 25),
)
def test_numbers_are_rounded_as_python_does(value, places):
    for text in (str(value), f"{value:.{places}e}", f"{value:+.{places}E}"):
        (found,) = fields.numbers(*pack([text.encode()]))
        assert float(found).hex() == float(text).hex()
        assert kinds(text) & fields.NUMBER


@given(st.text("0123456789+-.eE_x ", max_size=12))
def test_what_is_a_number_is_one_for_python(text):
    if kinds(text) & fields.NUMBER:
        assert float(text) == fields.numbers(*pack([text.encode()]))[0]


@given(st.datetimes(), st.sampled_from("T "), st.sampled_from(["", "Z", "+02:00", "-0930", "+05"]))
def test_moments(moment, mark, zone):
    text = moment.isoformat(mark) + zone
    (found,), (missing,) = fields.whole(*pack([text.encode()]), fields.MOMENT)
    aware = dt.datetime.fromisoformat(text.replace(" ", "T"))
    east = aware.utcoffset() or dt.timedelta()
    wanted = (moment - dt.datetime(1970, 1, 1) - east) // dt.timedelta(microseconds=1)
    assert (found, missing) == (wanted, False)


@given(st.text("0123456789-:T. Z+", max_size=20))
def test_what_is_a_time_is_one_for_python(text):
    if kinds(text) & (fields.DATE | fields.MOMENT):
        dt.datetime.fromisoformat(text.strip().replace("0000-", "0004-"))


def test_the_kind_of_a_column_is_that_of_all_fields():
    assert kinds("1", "2.5") == fields.NUMBER
    assert kinds("2024-01-01", "2024-01-01 10:00") == fields.MOMENT
    assert kinds("1", "true") == 0
    assert kinds() == ANY


def test_json():
    assert kinds('"5"', json=True) == 0
    assert kinds('"2024-01-01"', json=True) == fields.DATE | fields.MOMENT
    assert kinds("2024-01-01", json=True) == 0
    assert kinds("5", '{"a": 1}', json=True) & fields.NESTED
    assert kinds("true", "false", json=True) == fields.BOOLEAN


def test_markers():
    items = [b"NA", b" ? ", b"NAN", b"", None, b"N"]
    assert fields.mark_missing(*pack(items), [b"NA", b"?"]).tolist() == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]
    assert fields.mark_missing(*pack(items), []).tolist() == [
        False,
        False,
        False,
        False,
        True,
        False,
    ]


def test_doctests():
    assert doctest.testmod(dictionary).failed == 0
    assert doctest.testmod(text_order).failed == 0


# ---------------------------------------------------------------------- order


def shared_prefixes():
    """Texts of which many are alike for more or less than the bytes that the kernel looks at."""
    ends = st.text("ab\0é\U0001f600", max_size=12)
    return st.builds(lambda n, end: "x" * n + end, st.sampled_from([0, 5, 8, 60, 64, 90]), ends)


@given(st.lists(shared_prefixes(), max_size=80, unique=True), st.randoms())
def test_order_is_that_of_the_characters(texts, random):
    words = Vocabulary(texts)
    assert words.tokens(words.order()) == sorted(texts)
    some = np.array(random.sample(range(len(texts)), len(texts) // 2), dtype=np.int64)
    assert words.tokens(words.order(some)) == sorted(texts[code] for code in some)


def test_many_texts_are_sorted_as_few_are():
    texts = [f"{word}{number * 7919 % 5000}" for number in range(5000) for word in ("", "é", "zz")]
    words = Vocabulary(dict.fromkeys(texts))
    assert words.tokens(words.order()) == sorted(set(texts))


def test_codes_and_texts_that_are_not_there_are_refused():
    with pytest.raises(IndexError, match="code 3 of 1"):
        Dictionary(["spam"]).labels(np.array([3]))
    one, data = np.array([0]), np.zeros(4, np.uint8)
    with pytest.raises(ValueError, match="within the data"):
        text_order.order(one, np.array([5]), data)
    with pytest.raises(ValueError, match="a start and an end"):
        text_order.order(one, np.array([1, 2]), data)
