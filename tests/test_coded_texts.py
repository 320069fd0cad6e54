"""Texts of a dictionary: what is counted by codes is what would be counted of the texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.encoding import matrices
from deciban.engines.local.count import count_batch
from deciban.engines.protocol import Plan
from deciban.kernels import categorical
from deciban.kernels.texts import utf8
from deciban.schema import ColumnSchema, Schema
from deciban.sources.batch import Batch, LabelledBatch
from deciban.sources.columns import CodedTexts, Strings, decode_dictionary

TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=6)
PLAN = Plan(Schema((ColumnSchema("x", "categorical", ""),)))


def columns(texts, codes, dtype=np.int64):
    """The column of a dictionary, which may repeat texts and lack some, and that of its texts."""
    coded = decode_dictionary(Strings(*utf8(texts)), np.array(codes, dtype))
    rows = [None if code < 0 else texts[code] for code in codes]
    return coded, Strings(*utf8(rows)), rows


def drawn_codes(data, texts, low=-1):
    if not texts and low == 0:
        return []
    return data.draw(st.lists(st.integers(low, max(len(texts) - 1, low)), max_size=30))


@given(texts=TEXTS, data=st.data())
def test_a_column_is_that_of_its_texts(texts, data):
    codes = drawn_codes(data, texts)
    coded, plain, rows = columns(texts, codes)
    assert isinstance(coded, CodedTexts)
    assert len(coded) == len(codes)
    assert coded.tolist() == rows
    assert coded.missing.tolist() == plain.missing.tolist()
    assert coded.offsets.tolist() == plain.offsets.tolist()
    assert coded.data.tobytes() == plain.data.tobytes()
    assert coded.slice(1, 3).tolist() == rows[1:3]
    some = np.arange(len(rows))[::-2]
    assert coded.take(some).tolist() == [rows[i] for i in some]
    values, places = matrices.factorise(coded)
    assert sorted(values.tolist()) == sorted({row for row in rows if row is not None})
    assert [None if at < 0 else values[at] for at in places] == rows


def test_bytes_stay_bytes():
    texts = [str(i) for i in range(256)]
    coded, _, rows = columns(texts, [255, 0, 255, 7], np.uint8)
    assert coded.codes.dtype == np.uint8
    values, places = matrices.factorise(coded.take(np.arange(300) % 4))
    assert values[places].tolist() == rows * 75
    assert sorted(values.tolist()) == ["0", "255", "7"]


@given(texts=TEXTS, data=st.data())
def test_labels_by_codes_are_labels_of_texts(texts, data):
    coded, plain, _ = columns(texts, drawn_codes(data, texts))
    one, other = matrices.column_classes(coded), matrices.column_classes(plain)
    assert one.classes.tolist() == other.classes.tolist()
    assert one.classes.dtype == other.classes.dtype
    assert one.codes.tolist() == other.codes.tolist()


def test_labels_by_codes_write_no_text_of_a_row():
    coded, _, _ = columns(["b", "a"], [0, 1, 0, -1])
    assert matrices.column_classes(coded).codes.tolist() == [1, 0, 1, -1]
    assert "_utf8" not in vars(coded)


@given(texts=TEXTS, data=st.data(), weighted=st.booleans())
def test_counts_by_codes_are_counts_of_texts(texts, data, weighted):
    codes = drawn_codes(data, texts, low=0)
    coded, plain, rows = columns(texts, codes, np.uint8)
    n = len(rows)
    y = np.arange(n) % 2
    weight = np.arange(n) * 0.25 if weighted else None
    classes = np.array(["a", "b"])
    one, other = (
        count_batch(PLAN, LabelledBatch(Batch(n, {"x": column}), classes, y, weight))
        for column in (coded, plain)
    )
    assert one == other
    if n:
        a, b = (sorted(c.tables["categories"].cells.values[0].tolist()) for c in (one, other))
        assert a == b


@pytest.mark.parametrize("codes", [[2], [0, 300], [-1, 5]])
def test_a_code_that_stands_for_nothing(codes):
    with pytest.raises(IndexError, match="of a dictionary of 2 values"):
        decode_dictionary(Strings(*utf8(["a", "b"])), np.array(codes))


def test_a_dictionary_of_nothing():
    coded = decode_dictionary(Strings(*utf8([])), np.array([0, -1], np.int8))
    assert coded.tolist() == [None, None]
    assert coded.data.size == 0


def test_rows_of_another_number_are_refused():
    codes, y = np.zeros(3, np.int32), np.zeros(2, np.intp)
    with pytest.raises(ValueError, match="a row"):
        categorical.count_column(codes, y, None, 1, 1)
