"""Numbers, dates and holes as people write them: recognised by the whole column, kept with it."""

import numpy as np
import pytest

from deciban import NaiveBayes, evaluate, load, scan, schema, sources
from deciban.errors import DataWarning, InputError, ModelFileError, ParameterError
from deciban.kernels.texts import utf8
from deciban.sources import formats
from deciban.sources.columns import Strings
from deciban.sources.formats import Format


def put(tmp_path, fields, name="t.csv", delimiter=";", header=("x",)):
    """A file whose rows are tuples, or single fields, of texts."""
    rows = [(field,) if isinstance(field, str) else field for field in fields]
    lines = [header, *rows]
    path = tmp_path / name
    path.write_text("".join(delimiter.join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def read(path, name="x", **options):
    """The values of a column, and its format."""
    table = scan(path, **options)
    values = [value for batch in table for value in batch.columns[name].tolist()]
    form = table.formats().get(name)
    return values, None if form is None else form.name


@pytest.mark.parametrize(
    ("fields", "form", "out"),
    [
        ("1,5|2|-0,25", "1234,5", [1.5, 2.0, -0.25]),
        ("1.234,5|2|12.345.678,25", "1.234,5", [1234.5, 2.0, 12345678.25]),
        ("1,234.5|2|12,345,678", "1,234.5", [1234.5, 2.0, 12345678.0]),
        ("12,34,567|1.5", "1,234.5", [1234567.0, 1.5]),
        ("1 234,5|2", "1 234,5", [1234.5, 2.0]),
        ("1\u202f234,5|1\u00a0000", "1 234,5", [1234.5, 1000.0]),
        ("1'234.5|2", "1'234.5", [1234.5, 2.0]),
        ("1’234.5|2", "1'234.5", [1234.5, 2.0]),
        ("$5|$1,234.50|-$2", "1,234.5 $", [5.0, 1234.5, -2.0]),
        ("5 €|1.234,5 €|7", "1.234,5 €", [5.0, 1234.5, 7.0]),
        ("CHF 5.50|CHF 7", "1234.5 CHF", [5.5, 7.0]),
        ("5%|12.5 %", "1234.5 %", [5.0, 12.5]),
        ("5 %|12,5 %", "1234,5 %", [5.0, 12.5]),
        ("(1,234.50)|2", "1,234.5", [-1234.5, 2.0]),
        ("−5|3", "1234.5", [-5.0, 3.0]),
        ("1,5E-03|2", "1234,5", [0.0015, 2.0]),
        ("12345678901234567,25|1,5", "1234,5", [12345678901234567.25, 1.5]),
        ("31.12.2024|1.1.2024", "day first", ["2024-12-31", "2024-01-01"]),
        ("01/25/2024|2/3/2024", "month first", ["2024-01-25", "2024-02-03"]),
        ("25/01/2024|2/3/2024", "day first", ["2024-01-25", "2024-03-02"]),
        ("2024/1/25|2024-02-03", "year first", ["2024-01-25", "2024-02-03"]),
        ("2024年1月25日|2024年2月3日", "year first", ["2024-01-25", "2024-02-03"]),
        ("25 Jan 2024|3 March 2024", "day first", ["2024-01-25", "2024-03-03"]),
        ("Jan 25, 2024|March 3, 2024", "month first", ["2024-01-25", "2024-03-03"]),
        ("31.12.99|01.01.24", "day first", ["1999-12-31", "2024-01-01"]),
        (
            "31.12.2024 14:30|1.1.2024",
            "day first with time",
            ["2024-12-31 14:30:00", "2024-01-01 00:00:00"],
        ),
        (
            "1/25/2024 3:45 PM|1/2/2024 12:00 AM",
            "month first with time",
            ["2024-01-25 15:45:00", "2024-01-02 00:00:00"],
        ),
        ("1,5|-|.|#N/A|NULL|?|n/a|", "1234,5", [1.5, *[None] * 7]),
        ("31.12.2024|-|NULL", "day first", ["2024-12-31", None, None]),
    ],
)
def test_what_all_fields_of_a_column_show(fields, form, out, tmp_path):
    # A second column, so that an empty field is not a blank line.
    path = put(tmp_path, [(field, "a") for field in fields.split("|")], header=("x", "y"))
    assert read(path) == (out, form)


@pytest.mark.filterwarnings("ignore:.*is nearly all:deciban.errors.DataWarning")
@pytest.mark.parametrize(
    "fields",
    [
        "007|012",  # codes
        "1,5|1.5.2",
        "5%|0.5",  # a share and a percentage are not the same unit
        "$5|€6",
        "1.2.3|3.11.10",  # versions
        "31.02.2024|1.1.2024",  # no such day
        "192.168.1.1|10.0.0.1",
        "1,2,3|4,5,6",
        "1,23,4|5",
        "+49 30 1234|+49 89 999",
        "x-|-",
    ],
)
def test_what_stays_text(fields, tmp_path):
    texts = fields.split("|")
    assert read(put(tmp_path, texts, delimiter="\t", name="t.tsv")) == (texts, None)


def test_holes_in_text_are_only_what_is_no_word(tmp_path):
    path = put(tmp_path, ["red", "NA", "-", "#N/A", "NULL", "\\N", "?"])
    assert read(path)[0] == ["red", "NA", "-", None, None, None, "?"]
    assert read(path, na=["-", "red"])[0] == [None, "NA", None, "#N/A", "NULL", "\\N", "?"]


# What is ambiguous


def test_thousands_or_decimals_by_the_other_columns(tmp_path):
    rows = [("1.234", "12,5"), ("2.500", "7,25")]
    assert read(put(tmp_path, rows, header=("x", "y"))) == ([1234.0, 2500.0], "1.234,5")
    rows = [("1.234", "12"), ("2.500", "7")]
    path = put(tmp_path, rows, header=("x", "y"))
    assert read(path) == ([1.234, 2.5], "number")
    assert "no field tells decimals from thousands" in scan(path).formats()["x"].describe()
    assert read(path, "y") == ([12, 7], None)


def test_commas_before_three_digits(tmp_path):
    rows = ["1,234", "12,500"]
    assert read(put(tmp_path, rows, delimiter="\t", name="t.tsv"))[0] == [1234.0, 12500.0]
    rows = [("1,234", "a"), ("12,500", "b")]
    semicolons = put(tmp_path, rows, header=("x", "y"))
    assert read(semicolons)[0] == [1.234, 12.5], "where commas are decimal, files have semicolons"
    assert read(semicolons, decimal=".")[0] == [1234.0, 12500.0]
    table = scan(semicolons)
    shown = schema.infer(list(table), None, table.formats())
    assert "no field tells them from thousands: state decimal='.'" in str(shown)


def test_day_or_month_first(tmp_path):
    assert read(put(tmp_path, ["01/02/2024"]))[0] == ["2024-01-02"]
    assert read(put(tmp_path, ["01.02.2024"]))[0] == ["2024-02-01"]
    assert read(put(tmp_path, ["01-02-2024"]))[0] == ["2024-02-01"]
    rows = [("01/02/2024", "31/12/2024")]
    assert read(put(tmp_path, rows, header=("x", "y")))[0] == ["2024-02-01"], "as the others do"
    table = scan(put(tmp_path, ["01/02/2024"]))
    assert "no field tells day from month" in str(schema.infer(list(table), None, table.formats()))
    assert read(put(tmp_path, ["01/02/2024"]), date_format="%d/%m/%Y")[0] == ["2024-02-01"]


# What is stated


def test_stated_signs_overrule(tmp_path):
    path = put(tmp_path, ["1.234", "2.500"])
    assert read(path)[0] == [1.234, 2.5]
    assert read(path, decimal=",")[0] == read(path, thousands=".")[0] == [1234.0, 2500.0]
    path = put(tmp_path, ["1,5", "2,25"], delimiter="\t", name="t.tsv")
    with pytest.warns(DataWarning, match="in different ways, or not as stated"):
        assert read(path, decimal=".")[0] == ["1,5", "2,25"]
    with pytest.warns(DataWarning, match="in different ways, or not as stated"):
        assert read(put(tmp_path, ["1 234", "5"]), thousands="")[0] == ["1 234", "5"]


def test_stated_dates(tmp_path):
    path = put(tmp_path, [("20240125", "7"), ("20240203", "8")], header=("x", "n"))
    assert read(path)[0] == [20240125, 20240203]
    assert read(path, date_format="%Y%m%d") == (["2024-01-25", "2024-02-03"], "%Y%m%d")
    assert read(path, "n", date_format="%Y%m%d")[0] == [7, 8], "only where all fields have it"
    path = put(tmp_path, ["14.05", "08.30"])
    assert read(path, date_format="%H.%M")[0] == ["14:05:00", "08:30:00"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": "x"}, "decimal must be '.' or ',', got 'x'"),
        ({"thousands": "x"}, "thousands must be"),
        ({"decimal": ",", "thousands": ","}, "decimal and thousands are both ','"),
        ({"date_format": "dmy"}, "date_format must be a pattern of strptime, got 'dmy'"),
        ({"encoding": "klingon"}, "encoding 'klingon' is not known"),
        ({"encoding": "zlib"}, "encoding 'zlib' is not known"),
    ],
)
def test_what_cannot_be_stated(options, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        scan(put(tmp_path, ["1"]), **options)


# Nearly all numbers


def test_a_few_texts_among_numbers_are_named(tmp_path):
    fields = [f"{i},5" for i in range(200)]
    fields[150], fields[160] = "ca. 5", "siehe unten"
    path = put(tmp_path, fields)
    with pytest.warns(DataWarning, match=r"'x' is nearly all numbers.*2 of 200.*'ca\. 5', 'siehe"):
        assert read(path)[0] == fields
    assert read(path, na=["ca. 5", "siehe unten"])[0][149:151] == [149.5, None]


def test_a_few_texts_among_dates_are_named(tmp_path):
    fields = [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(99)] + ["00.00.0000"]
    with pytest.warns(DataWarning, match=r"'x' is nearly all dates.*1 of 100.*'00\.00\.0000'"):
        read(put(tmp_path, fields))


def test_numbers_that_are_written_in_two_ways(tmp_path):
    fields = [f"{i}.5" for i in range(50)] + [f"{i},5" for i in range(50)]
    with pytest.warns(DataWarning, match="'x' is nearly all numbers.*in different ways"):
        assert read(put(tmp_path, fields))[0] == fields


def test_a_contradiction_far_down_is_seen(tmp_path):
    fields = [f"{i % 9},5" for i in range(30_000)]
    fields[-1] = "1.234,5"
    assert read(put(tmp_path, fields))[1] == "1.234,5"
    fields[-1] = "31.12.2024"
    with pytest.warns(DataWarning, match="1 of 30,000"):
        assert read(put(tmp_path, fields)) == (fields, None)


def test_plain_words_are_no_matter_of_warning(tmp_path):
    assert read(put(tmp_path, ["red", "green"] * 30))[1] is None


# A model keeps how its columns were written

ROWS = [(f"{i % 40 + 2}.{i:03d},5 €", f"{1 + i % 9}.{1 + i % 12}.2024", "ab"[i % 40 > 19])
        for i in range(200)]  # fmt: skip
HEADER = ("price", "day", "label")


@pytest.fixture
def trained(tmp_path):
    path = put(tmp_path, ROWS, header=HEADER)
    return NaiveBayes().fit(path, target="label"), path


def test_one_row_is_read_as_in_training(trained, tmp_path):
    model, _ = trained
    assert [c.format for c in model.schema_.columns] == ["1.234,5 €", "day first"]
    model.save(tmp_path / "m.deciban")
    row = put(tmp_path, [("23.000 €", "2.3.2024")], "one.csv", header=HEADER[:2])
    plain = {"price": [23_000.0], "day": np.array(["2024-03-02"], "M8[D]")}
    expected = model.predict_proba(plain)
    assert expected[0, 1] > 0.9
    for one in (model, load(tmp_path / "m.deciban")):
        assert np.array_equal(one.predict_proba(row), expected)
        assert np.array_equal(one.predict_proba(scan(row)), expected), "also an opened table"
        assert np.array_equal(one.predict_proba(str(row)), expected)


def test_rows_are_evaluated_forgotten_and_counted_as_in_training(trained, tmp_path):
    model, _ = trained
    some = put(tmp_path, [("23.000 €", "2.3.2024", "b")], "some.csv", header=HEADER)
    before = model.counts_
    model.partial_fit(some, target="label")
    assert model.counts_ != before
    assert evaluate(model, some, target="label", bootstrap=0).accuracy == 1.0
    model.forget(some, target="label")
    assert model.counts_ == before


def test_a_field_of_another_form_is_missing_and_said(trained, tmp_path):
    model, _ = trained
    other = put(tmp_path, [("23,000.5 €", "2.3.2024")], "other.csv", header=HEADER[:2])
    missing = model.predict_proba({"price": [None], "day": np.array(["2024-03-02"], "M8[D]")})
    assert np.array_equal(model.predict_proba(other), missing)
    assert model.unseen_["price"].examples == ("23,000.5 €",)
    labelled = put(tmp_path, [("23,000.5 €", "2.3.2024", "a")], "labelled.csv", header=HEADER)
    with pytest.raises(InputError, match=r"'price' is numeric and has the text '23,000.5 €'"):
        model.partial_fit(labelled)
    stated = scan(other, decimal=".", thousands=",")
    expected = model.predict_proba({"price": [23_000.5], "day": np.array(["2024-03-02"], "M8[D]")})
    assert np.array_equal(model.predict_proba(stated), expected)


def test_values_that_have_a_type_are_read_as_they_are(trained, tmp_path):
    model, _ = trained
    expected = model.predict_proba({"price": [23.5], "day": np.array(["2024-03-02"], "M8[D]")})
    path = tmp_path / "one.jsonl"
    path.write_text('{"price": 23.500, "day": "2024-03-02"}\n')
    assert np.array_equal(model.predict_proba(path), expected)
    path = put(tmp_path, [("23,5 €", "2024-03-02")], "one.csv", header=HEADER[:2])
    assert np.array_equal(model.predict_proba(path), expected), "and ISO dates in any file"


def test_names_that_look_like_numbers_stay_names(tmp_path):
    rows = [(["1", "x"][i % 2], "ab"[i % 2]) for i in range(40)]
    model = NaiveBayes().fit(put(tmp_path, rows, header=("c", "y")), target="y")
    one = put(tmp_path, ["1"], "one.csv", header=("c",))
    assert model.predict(one).tolist() == ["a"]


def test_a_format_that_nobody_knows_is_no_model(trained, tmp_path):
    from deciban.files.description import ColumnEntry
    from deciban.naive_bayes import stored

    column = {"name": "x", "kind": "numeric", "reason": "", "unit": ""}
    assert stored.schema_of([ColumnEntry(**column)]).columns[0].format == "", "files of before"
    with pytest.raises(ModelFileError, match="'weird' is no known format"):
        stored.schema_of([ColumnEntry(**column, format="weird")])


# Formats themselves


@pytest.mark.parametrize("name", ["1234.5 $", "1,234.5", "1.234,5 %", "1 234,5 kr.", "day first",
                                  "year first with time"])  # fmt: skip
def test_a_format_is_its_name(name):
    form = Format(name)
    assert form.is_known
    assert Format.of_kind(form.kind, form.affix).name == name


def test_texts_are_parsed_by_a_format():
    texts = Strings(*utf8(["1.234,5", "x", None]))
    assert formats.parse(texts, Format("1.234,5")).tolist() == [1234.5, None, None]
    written = Strings(*utf8(["1.234,5", "7", "nan"]))
    for column, misfit in ((texts, True), (written, False)):
        parsed = formats.parse(column, Format("1.234,5"))
        assert formats.has_misfits(column, parsed, column.missing) == misfit
    assert formats.parse(texts, formats.TEXT).tolist() == ["1.234,5", "x", None]


def test_codes_with_leading_zeros_are_kept_as_names():
    rows = sources.scan({"zip": [f"{i % 9:05d}" for i in range(90)]})
    assert schema.infer(list(rows)).columns[0].kind == "categorical"
    rows = sources.scan({"zip": [f"{i:05d}" for i in range(90)]})
    (column,) = schema.infer(list(rows)).columns
    assert column.kind == "identifier"
    assert "state its kind to keep it" in column.reason


def test_thousands_that_no_field_of_training_set_apart(trained):
    model, _ = trained
    day = np.array(["2024-03-02"], "M8[D]")
    plain = model.predict_proba({"price": [1395.25], "day": day})
    for text in ("1395,25 €", "1.395,25 €"):
        assert np.array_equal(model.predict_proba({"price": [text], "day": day}), plain)
        assert not model.unseen_
