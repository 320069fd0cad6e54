"""Counts and labels come back from a file as they were, or not at all."""

import copy
import datetime
import enum
import fractions
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deciban.errors import InputError, ModelFileError
from deciban.files import document, vocabulary
from deciban.files import tables as count_files
from deciban.files.description import CountsEntry, Vocabulary
from deciban.files.tables import counts_to
from deciban.files.vocabulary import Writer
from deciban.stats.amounts import AMOUNTS
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.exact import MAX_STORED_DIGITS, ExactSum
from deciban.stats.table import DenseSum, Table

KINDS = ("categorical", "gaussian", "bernoulli", "multinomial", "complement")
MIXED = dict(zip("abcde", KINDS, strict=True))
over_all = pytest.mark.parametrize("family", [*KINDS, MIXED], ids=[*KINDS, "mixed"])
law = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

scalars = st.one_of(
    st.text(max_size=3),
    st.integers(-(2**80), 2**80),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.binary(max_size=3),
    st.text(st.characters(min_codepoint=0xD7FF, max_codepoint=0xE000, categories=["Cs", "Co"])),
)
anything = st.recursive(scalars, lambda x: st.lists(x, max_size=3).map(tuple), max_leaves=5)
numbers = st.one_of(st.floats(-1e140, 1e140), st.sampled_from([float("nan"), 1e-140, 1e9, 0.1]))
VALUES = {
    "categorical": st.one_of(st.none(), anything),
    "gaussian": numbers,
    "bernoulli": st.integers(0, 1),
    "multinomial": st.integers(0, 9),
    "complement": st.integers(0, 9),
}


def counts_from(stated, arrays):
    """The counts that a document, as JSON holds it, and arrays stand for."""
    return count_files.counts_from(document.read(stated, CountsEntry), arrays)


def take(arrays, *entries):
    """The labels that entries, as JSON holds them, stand for."""
    return vocabulary.read([document.read(entry, Vocabulary) for entry in entries], arrays)


def objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


@st.composite
def tables(draw, family):
    """Counts of some rows, perhaps decayed, added up or empty."""
    kinds = family if isinstance(family, dict) else dict.fromkeys("ab", family)
    n = draw(st.integers(1, 5))
    y = draw(st.lists(anything.filter(lambda x: x is not None), min_size=n, max_size=n))
    X = {c: draw(st.lists(VALUES[k], min_size=n, max_size=n)) for c, k in kinds.items()}
    weight = draw(st.one_of(st.none(), st.lists(st.floats(0.01, 99), min_size=n, max_size=n)))
    X = {name: objects(values) for name, values in X.items()}
    counts = Counts.of(X, objects(y), family=kinds, weight=weight)
    for factor in draw(st.lists(st.sampled_from([0.9, 0.5, 2, 1 / 3]), max_size=3)):
        counts = counts * factor
    return counts - counts if draw(st.integers(0, 9)) == 0 else counts


def through_json(counts):
    stated, arrays = counts_to(counts)
    return counts_from(document.loads(document.dumps(stated)), arrays)


def same_labels(a, b):
    assert a.dtype.kind == b.dtype.kind
    assert [(type(x), x) for x in a.tolist()] == [(type(x), x) for x in b.tolist()]


def identical(a, b):
    """Not only equal: the same labels in the same order, and the same numbers to the bit."""
    same_labels(a.classes, b.classes)
    assert a.weight.tolist() == b.weight.tolist()
    assert list(a.tables) == list(b.tables)
    for name, table in a.tables.items():
        other = b.tables[name]
        same_labels(table.cells.columns, other.cells.columns)
        assert (table.cells.values is None) == (other.cells.values is None)
        for mine, theirs in zip(table.cells.values or (), other.cells.values or (), strict=True):
            same_labels(mine, theirs)
        assert table.rows.tolist() == other.rows.tolist()
        for key, part in table.sums.items():
            if isinstance(part, ExactSum):
                assert not (part - other.sums[key]).nonzero().any()
            else:
                assert part.values.tolist() == other.sums[key].values.tolist()


@over_all
@law
@given(st.data())
def test_counts_come_back_as_they_were(family, data):
    counts = data.draw(tables(family))
    again = through_json(counts)
    identical(again, counts)
    assert again == counts
    assert again + counts == counts * 2
    first, second = counts_to(counts), counts_to(again)
    assert first[0] == second[0]
    assert {n: a.tobytes() for n, a in first[1].items()} == {
        n: a.tobytes() for n, a in second[1].items()
    }


@over_all
@law
@given(st.data())
def test_many_labels_go_into_arrays(family, data):
    counts = data.draw(tables(family))
    few = vocabulary.MAX_LABELS_IN_DOCUMENT
    try:
        vocabulary.MAX_LABELS_IN_DOCUMENT = 0
        identical(through_json(counts), counts)
        assert "labels.ends" in counts_to(counts)[1] or not len(counts.classes)
    finally:
        vocabulary.MAX_LABELS_IN_DOCUMENT = few


def test_equal_sums_give_equal_bytes():
    """However they came about: added, taken away, or never there."""
    a, b = ({"x": [0.1, 3.0]}, [0, 1]), ({"x": [1e200, -7.0]}, [1, 0])
    one, other = (Counts.of(X, y, family="gaussian") for X, y in (a, b))
    left, right = counts_to((one + other) - other), counts_to(one)
    assert left[0] == right[0]
    assert all(np.array_equal(left[1][name], right[1][name]) for name in right[1])


def test_digits_that_are_not_needed_are_not_written():
    counts = Counts.of({"x": [0.1, 3.0]}, [0, 1], family="gaussian")

    def longer(part):
        return ExactSum(np.pad(part.digits, [(0, 0), (0, 0), (2, 0)]), part.base - 2)

    tables = {
        name: replace(table, sums={key: longer(part) for key, part in table.sums.items()})
        for name, table in counts.tables.items()
    }
    left, right = counts_to(Counts(counts.classes, counts.weight, tables)), counts_to(counts)
    assert left[0] == right[0]
    assert all(np.array_equal(left[1][name], right[1][name]) for name in right[1])


@pytest.mark.parametrize("factor", [0.9, 0.999, 1 / 3])
@pytest.mark.parametrize("family", KINDS)
def test_decayed_counts_can_be_saved(family, factor):
    """Rounding leaves constant columns a variance a little below zero."""
    for x in (0.1, 1.1, 5.3):
        X = [int(x)] * 7 if family != "gaussian" else [x] * 7
        X = [min(v, 1) for v in X]
        counts = Counts.of({"x": X}, [0, 0, 0, 1, 1, 1, 1], family=family)
        for _ in range(60):
            counts = counts * factor
        identical(through_json(counts), counts)


def test_counts_that_have_all_but_faded_away():
    counts = Counts.of({"x": ["a", "b", "b"], "z": ["p", "q", "r"]}, [0, 0, 0])
    numeric = Counts.of({"y": [0.3, 0.5, 9.0]}, [0, 0, 0], family="gaussian")
    for _ in range(1100):
        counts, numeric = counts * 0.51, numeric * 0.51
        if counts.weight.sum() < 1e-300:
            identical(through_json(counts), counts)
            identical(through_json(numeric), numeric)


# Labels of every kind

KIND_OF_LABELS = {
    "text": np.array(["b", "a", ""]),
    "wide text": np.array(["x" * 100, "a"]).astype(object),
    "text with zeros": objects(["a\0", "a", "\0"]),
    "not Unicode": np.array(["\ud83d\ude00", "😀", "\udc80"]),
    "small integers": np.array([3, -1], dtype=np.int8),
    "large integers": np.array([2**64 - 1, 0], dtype=np.uint64),
    "integers": np.array([-(2**63), 2**63 - 1]),
    "floats": np.array([0.1, np.inf, -np.inf, 5e-324, 1e308]),
    "half floats": np.array([0.5, 65504], dtype=np.float16),
    "truth": np.array([True, False]),
    "days": np.array(["2024-02-29", "1969-01-01"], dtype="datetime64[D]"),
    "quarters of hours": np.array([1, 2], dtype="timedelta64[15m]"),
    "bytes": np.array([b"a", b"\xff"]),
    "numpy in objects": objects([np.int64(3), np.str_("a"), np.float32(0.5), np.bool_(True)]),
    "mixed": objects([1, 2.5, "1", None, ("a", (1, b"")), b"", True and "t", 2**200]),
    "none": np.empty(0),
    "no objects": objects([]),
    "no text": np.empty(0, dtype=str),
}


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("case", KIND_OF_LABELS)
def test_labels_come_back_with_their_types(case, few, monkeypatch):
    monkeypatch.setattr(vocabulary, "MAX_LABELS_IN_DOCUMENT", few)
    labels, writer = KIND_OF_LABELS[case], Writer()
    entry, second = writer.put(labels), writer.put(labels)
    entry, second = document.loads(document.dumps({"x": [entry, second]}))["x"]
    for again in take(writer.arrays(), entry, second):
        assert again.tolist() == labels.tolist()
        if case != "numpy in objects":
            same_labels(again, labels)
        if labels.dtype.kind not in "US":
            assert again.dtype == labels.dtype


def test_one_long_label_does_not_widen_all():
    labels = np.array(["a" * 100_000, *map(str, range(200))])
    writer = Writer()
    entry = writer.put(labels)
    assert entry["dtype"] == "object"
    assert take(writer.arrays(), entry)[0].tolist() == labels.tolist()


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize(
    "label",
    [
        fractions.Fraction(1, 2),
        datetime.date(2024, 1, 1),
        Colour.RED,
        frozenset([1]),
        ("a", object),
        float("nan"),
        1 << 5000,
        (((((((((1,),),),),),),),),),
    ],
    ids=str,
)
def test_a_label_that_cannot_be_stored_is_named(label, few, monkeypatch):
    monkeypatch.setattr(vocabulary, "MAX_LABELS_IN_DOCUMENT", few)
    named = "NaN" if label != label else type(label[-1] if label == ("a", object) else label)
    with pytest.raises(InputError, match=rf"(?s){getattr(named, '__name__', named)}.* Hint: "):
        Writer().put(objects(["x", label]))


@pytest.mark.parametrize("labels", [np.array([1j]), np.array([1], np.longdouble)], ids=str)
def test_types_that_cannot_be_stored_are_named(labels):
    with pytest.raises(InputError, match=rf"{labels.dtype.name} cannot be saved.* Hint: "):
        Writer().put(labels)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"dtype": "str"},
        {"dtype": "str", "labels": ["a", 1]},
        {"dtype": "str", "labels": ["a", "a"]},
        {"dtype": "str", "labels": ["a\0"]},
        {"dtype": "str", "labels": ["a" * 65]},
        {"dtype": "str", "labels": ["a"], "size": 1},
        {"dtype": "str", "size": 1},
        {"dtype": "str", "size": -1},
        {"dtype": "str", "size": 10**30},
        {"dtype": "int64", "size": 10**9},
        {"dtype": "int64", "labels": [2**63]},
        {"dtype": "int64", "labels": [True]},
        {"dtype": "int8", "labels": [300]},
        {"dtype": "uint64", "labels": [-1]},
        {"dtype": "float16", "labels": [0.1]},
        {"dtype": "float32", "labels": [1e300]},
        {"dtype": "float64", "labels": [1]},
        {"dtype": "bool", "labels": [1]},
        {"dtype": "datetime64[D]", "labels": [2**70]},
        {"dtype": "datetime64[D]", "labels": [-(2**63)]},
        {"dtype": "datetime64[no]", "labels": [1]},
        {"dtype": "O", "labels": [1]},
        {"dtype": "V1000000000", "labels": [1]},
        {"dtype": "object", "labels": [1, True]},
        {"dtype": "object", "labels": [1, 1.0]},
        {"dtype": "object", "labels": [[1]]},
        {"dtype": "object", "labels": [{"tuple": 1}]},
        {"dtype": "object", "labels": [{"tuple": [], "bytes": ""}]},
        {"dtype": "object", "labels": [{"float": "nan"}]},
        {"dtype": "object", "labels": [{"float": []}]},
        {"dtype": "object", "labels": [{"bytes": "0"}]},
        {"dtype": "object", "labels": [{"text": "ff"}]},
        {"dtype": "object", "labels": [{"eval": "1"}]},
        {"dtype": "object", "labels": [{}]},
        {"dtype": "object", "labels": [1 << 5000]},
        {"dtype": "object", "labels": [i * (2**61 - 1) for i in range(1, 300)]},
        {"dtype": 1, "labels": []},
        {"dtype": "str", "labels": {}},
    ],
    ids=lambda entry: str(entry)[:40],
)
def test_labels_that_are_none(entry):
    with pytest.raises(ModelFileError):
        take({}, entry)


def take_two(arrays):
    take(arrays, {"dtype": "str", "size": 2})


@pytest.mark.parametrize(
    "arrays",
    [
        {"text": b"ab", "ends": [2, 1]},
        {"text": b"ab", "ends": [1, 3]},
        {"text": b"ab", "ends": [-1, 2]},
        {"text": b"ab", "ends": [0, 1]},
        {"text": b"ab", "ends": [1]},
        {"text": b"\xff\xff", "ends": [1, 2]},
        {"text": b"ab", "ends": [1.0, 2.0]},
        {"text": b"ab", "ends": [[1, 2]]},
        {"text": b"abc", "ends": [1, 2, 3]},
    ],
    ids=str,
)
def test_text_that_is_none(arrays):
    arrays = {n: np.array(list(a) if n == "text" else a) for n, a in arrays.items()}
    arrays["text"] = arrays["text"].astype(np.uint8)
    with pytest.raises(ModelFileError):
        take_two(arrays)


# Counts that no data have

GOOD = Counts.of({"x": ["S", "M", "S"]}, ["a", "b", "b"]) + Counts.of(
    {"z": [1.0, 2.0, 4.0]}, ["a", "b", "b"], family="gaussian"
)


def changed(**arrays):
    """The good counts with an entry of an array replaced."""
    stated, found = counts_to(GOOD)
    found = {name: array.copy() for name, array in found.items()}
    for name, change in arrays.items():
        name = name.replace("__", ".")
        found[name] = change(found[name])
    return stated, found


def entry(index, value):
    def change(array):
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "arrays",
    [
        {"weight": entry(0, np.nan)},
        {"weight": entry(0, np.inf)},
        {"weight": entry(0, -1)},
        {"weight": entry(0, 0)},
        {"weight": lambda a: a[:1]},
        {"weight": lambda a: a.astype(np.int64)},
        {"weight": lambda a: a[:, None]},
        {"table0__rows": entry(1, 9)},
        {"table0__rows": entry(1, np.nan)},
        {"table0__sum.count": entry((0, 0), -1)},
        {"table0__sum.count": entry((0, 0), np.nan)},
        {"table0__sum.count": entry((1, 0), 3)},
        {"table0__sum.count": lambda a: a.reshape(4, 1)},
        {"table0__sum.count": lambda a: np.concatenate([a, a], axis=1)},
        {"table1__sum.n": entry((0, 0, 0), -1)},
        {"table1__sum.n": entry((0, 0, 0), 5)},
        {"table1__sum.n": entry((0, 0, 0), 0)},
        {"table1__sum.n": entry((0, 0, 0), -(2**63))},
        {"table1__sum.squares": entry((0, 0, -1), -1)},
        {"table1__sum.squares": entry((1, 0, 0), 1)},
        {"table1__sum.total": entry((1, 0, 0), 2**40)},
        {"table1__sum.total": entry((1, 0, 0), -(2**40))},
        {"table1__sum.total": entry((1, 0, 0), 900)},
        {"table1__sum.total": lambda a: a[..., :0]},
        {"table1__sum.total": lambda a: np.zeros((*a.shape[:2], MAX_STORED_DIGITS + 1), np.int64)},
        {"table1__sum.total": lambda a: a[..., 0]},
        {"table1__sum.total": lambda a: np.array(3)},
        {"table1__sum.total.base": entry(0, MAX_STORED_DIGITS + 1)},
        {"table1__sum.total.base": entry(0, -(2**63))},
        {"table1__sum.total.base": lambda a: a.astype(np.float64)},
        {"table1__sum.total.base": lambda a: np.array(0)},
    ],
)
def test_numbers_that_no_data_have(arrays):
    stated, found = changed(**arrays)
    with pytest.raises(ModelFileError):
        counts_from(stated, found)


@pytest.mark.parametrize(
    ("message", "name", "digit"),
    [
        ("is below zero", "n", -1),
        ("is below zero", "squares", -1),
        ("a digit that no sum has", "total", 2**33),
        ("a digit that no sum has", "total", -(2**63)),
    ],
)
def test_digits_are_checked_before_anything_is_computed(message, name, digit):
    stated, found = changed(**{f"table1__sum.{name}": entry((0, 0, -1), digit)})
    with pytest.raises(ModelFileError, match=message):
        counts_from(stated, found)


@pytest.mark.parametrize("digit", [-1, 2**32])
def test_all_digits_but_the_last_have_32_bits(digit):
    wide = Counts.of({"x": [1e100, 1e-100]}, [0, 0], family="gaussian")
    stated, found = counts_to(wide)
    found["table0.sum.total"][0, 0, 0] = digit
    with pytest.raises(ModelFileError, match="a digit that no sum has"):
        counts_from(stated, found)


def test_integers_that_do_not_fit_their_type():
    for dtype, value in (("int8", 300), ("bool", 2), ("uint16", -1)):
        with pytest.raises(ModelFileError, match=f"is no {dtype}"):
            take({"integers": np.array([value])}, {"dtype": dtype, "size": 1})


@pytest.mark.parametrize("gone", sorted(counts_to(GOOD)[1]))
def test_every_array_is_needed_and_no_other(gone):
    stated, found = counts_to(GOOD)
    with pytest.raises(ModelFileError, match="is missing"):
        counts_from(stated, {name: array for name, array in found.items() if name != gone})
    for other in ("other", "table2.rows", "table0.sum.other", "labels.floats"):
        with pytest.raises(ModelFileError):
            counts_from(stated, found | {other: np.ones(2)})


def places(value, path=()):
    """Every place in nested dicts and lists."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


STRANGE = [None, True, -1, 0, 2, 10**9, 10**40, 0.5, "", "X", "moments", [], [1], {}, {"a": 1}]


def test_a_changed_document_is_an_error_or_other_counts():
    """Whatever stands in its place: an error about the file, or counts that hold together."""
    stated, arrays = counts_to(GOOD)
    loaded = 0
    for path in list(places(stated))[1:]:
        for strange in [*STRANGE, "gone", "twice"]:
            other = copy.deepcopy(stated)
            *way, last = path
            where = other
            for key in way:
                where = where[key]
            if strange == "gone":
                del where[last]
            elif strange == "twice":
                where[last] = [where[last], where[last]]
            else:
                where[last] = strange
            try:
                counts = counts_from(other, arrays)
            except ModelFileError:
                continue
            loaded += 1
            identical(through_json(counts), counts)
            assert counts + counts == counts * 2
    assert loaded < 300


def test_changed_arrays_are_an_error_or_other_counts():
    rng = random.Random(0)
    stated, arrays = counts_to(GOOD)
    for _ in range(400):
        found = {name: array.copy() for name, array in arrays.items()}
        array = found[rng.choice(sorted(found))].view(np.uint8).reshape(-1)
        array[rng.randrange(len(array))] ^= 1 << rng.randrange(8)
        try:
            counts = counts_from(stated, found)
        except ModelFileError:
            continue
        identical(through_json(counts), counts)


def test_counts_that_do_not_hold_together_are_not_saved():
    cells = Cells.of_columns(2)
    table = Table(AMOUNTS, cells, np.ones(1), {"amount": DenseSum(np.ones((1, 3)))})
    with pytest.raises(InputError, match=r"cannot be saved: array 'sum.amount' must be float64"):
        counts_to(Counts(np.array(["a"]), np.ones(1), {"X": table}))


def test_documents_are_readable():
    stated, _ = counts_to(GOOD)
    assert json.loads(document.dumps(stated)) == stated
    assert stated["tables"][0]["columns"]["labels"] == ["x"]
    with pytest.raises(InputError, match=r"cannot be saved.* Hint: "):
        document.dumps({"x": np.ones(2)})
    with pytest.raises(InputError, match=r"cannot be saved.* Hint: "):
        document.dumps({"x": float("nan")})
    with pytest.raises(InputError, match=r"too long.* Hint: "):
        document.dumps({"x": "a" * document.MAX_JSON_BYTES})


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"[]", b"{", b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1e999}', b'{"a":1,"a":1}'),
        *(b"\xff", b"[" * 10**6, b'{"a":' * 10**5, b'{"a":' + b"9" * 9999 + b"}"),
        b" " * (17 << 20),
    ],
    ids=lambda data: str(data[:12]),
)
def test_json_that_is_refused(data):
    with pytest.raises(ModelFileError):
        document.loads(data)
