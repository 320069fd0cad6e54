"""Mistakes end in one line that says what is wrong; nothing is half written, old files stay."""

import errno
import json
import os
from pathlib import Path
from unittest import mock

import pytest

from commands import FRUIT, done, run

TINY = "size,label\nS,ham\nM,ham\nL,spam\nL,spam\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a table and a model."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(TINY)
    done("train", "data.csv", "-t", "label", "-o", "m.deciban", "-q")
    return tmp_path


def content(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fails(*arguments, code=1, stdin=b""):
    """The one line that a run complains with; it printed and changed nothing."""
    before = content(Path.cwd())
    ended = run(*arguments, stdin=stdin)
    assert (ended.code, ended.out) == (code, "")
    assert content(Path.cwd()) == before
    line, end = ended.err.removesuffix("\n"), ended.err[-1:]
    assert end == "\n"
    assert "\n" not in line
    assert line.startswith("error: ")
    assert "bug" not in line
    return line


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain", "drift", "update", "report"])
def test_data_before_the_model_is_told_from_it(folder, command):
    assert "name the model first" in fails(command, "data.csv", "m.deciban")
    assert "name the model first" not in fails("train", "m.deciban", "-t", "y", "-o", "x.deciban")


TRAIN = ("-t", "label", "-o", "new.deciban")

BAD_FILES = {
    "missing": (None, "does not exist"),
    "empty": (b"", "is empty"),
    "ragged": (b"size,label\nS,ham\nM,ham,3\n", "another number of fields"),
    "broken UTF-8": (
        b"size,label\n" + "groß,ham\n".encode() * 9 + b"gro\xdf,ham\n",
        "but for some",
    ),
    "only a header": (b"size,label\n", "there are no rows"),
    "blank": (b"\n\n", "no header"),
    "twice the same column": (b"label,label\n1,2\n", "same name 'label'"),
    "labels are missing": (b"size,label\nS,ham\nM,\n", "has no value in row 1"),
    "no target": (b"size,lable\nS,ham\n", "perhaps 'lable' was meant"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_tables(name, folder):
    data, said = BAD_FILES[name]
    if data is not None:
        Path("bad.csv").write_bytes(data)
    assert said in fails("train", "bad.csv", *TRAIN)


@pytest.mark.parametrize(
    "content",
    [
        TINY.encode() + b"S,ham,3\n",
        TINY.encode() + b'"S,ham\n',
        b"\n" + TINY.encode(),
        b'{"size": "S", "label": "ham"}\n{"size"\n',
        b"PAR1 and more",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x2b\xce\xac\x4a\xd5",
    ],
)
def test_the_standard_input_is_named_and_not_where_it_was_put(folder, content):
    said = fails("train", "-", *TRAIN, stdin=content)
    assert said.startswith("error: the standard input ")
    assert "deciban-" not in said


def test_a_byte_order_mark_and_other_encodings_are_read(folder):
    Path("bom.csv").write_bytes(b"\xef\xbb\xbf" + TINY.encode())
    Path("latin.csv").write_bytes(TINY.replace("M", "größer").encode("latin-1"))
    assert done("predict", "m.deciban", "bom.csv") == done("predict", "m.deciban", "data.csv")
    done("train", "latin.csv", *TRAIN, "-q", "--encoding", "latin-1")
    assert "größer" in done(
        "predict", "new.deciban", "latin.csv", "--keep", "--encoding", "latin-1"
    )
    assert "is not known" in fails("train", "latin.csv", *TRAIN, "--encoding", "klingon")


def test_other_things_than_tables(folder):
    for url in ("https://example.org/data.csv", "s3://bucket/data.parquet"):
        assert f"{url} is no file" in fails("train", url, *TRAIN)
    Path("sub").mkdir()
    Path("note.doc").write_text("hello")
    assert "is a folder" in fails("train", "sub", *TRAIN)
    assert "no file matches" in fails("train", "*.tsv", *TRAIN)
    assert "ending that is not known" in fails("train", "note.doc", *TRAIN)
    assert "standard input is empty" in fails("train", "-", *TRAIN)
    assert "pass '-' alone" in fails("train", "-", "data.csv", *TRAIN, stdin=TINY.encode())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_no_permission(folder):
    Path("data.csv").chmod(0)
    assert "may not be read" in fails("predict", "m.deciban", "data.csv")


def test_no_permission_as_it_is_told(folder):
    with mock.patch("os.access", return_value=False):
        assert "may not be read" in fails("train", "data.csv", *TRAIN)


def test_wrong_columns_suggest_the_nearest(folder):
    assert "perhaps 'label' was meant" in fails(
        "train", "data.csv", "-t", "lable", "-o", "n.deciban"
    )
    assert "perhaps 'size' was meant" in fails("train", "data.csv", *TRAIN, "--kind", "sise=text")
    Path("other.csv").write_text("sizes\nS\n")
    assert "no column 'size'. Hint: perhaps 'sizes'" in fails("predict", "m.deciban", "other.csv")
    assert "is one of numeric" in fails("train", "data.csv", *TRAIN, "--kind", "size=txet")


def test_one_class_is_a_model_that_can_grow(folder):
    Path("one.csv").write_text("size,label\nS,ham\nM,ham\n")
    done("train", "one.csv", *TRAIN, "-q")
    assert run("predict", "new.deciban", "one.csv", "--evidence").out.splitlines()[1] == (
        "ham,1.0,,0.0,0.0"
    )
    done("update", "new.deciban", "data.csv", "-q")
    assert set(json.loads(done("inspect", "new.deciban", "--json"))["classes"]) == {"ham", "spam"}


BAD_MODELS = {
    "nothing": b"",
    "noise": b"\0" * 100,
    "a cut zip": b"PK\x03\x04",
    "a table": b"a,b\n1,2\n",
}


@pytest.mark.parametrize("name", BAD_MODELS)
@pytest.mark.parametrize("command", ["inspect", "predict", "update", "forget", "merge"])
def test_corrupt_model_files(name, command, folder):
    Path("bad.deciban").write_bytes(BAD_MODELS[name])
    more = {"inspect": [], "merge": ["m.deciban", "-o", "c.deciban"]}.get(command, ["data.csv"])
    assert "bad.deciban" in fails(command, "bad.deciban", *more)


def test_missing_model_files(folder):
    for command, more in (("inspect", []), ("predict", ["data.csv"]), ("update", ["data.csv"])):
        assert "nowhere.deciban: No such file" in fails(command, "nowhere.deciban", *more)


def test_unwritable_outputs(folder):
    Path("sub").mkdir()
    for out in ("sub", "nowhere/m.deciban"):
        assert out in fails("train", "data.csv", "-t", "label", "-o", out)
        assert out in fails("merge", "m.deciban", "m.deciban", "-o", out)
        assert out in fails("predict", "m.deciban", "data.csv", "--format", "csv", "-o", out)


def test_a_full_disk_leaves_the_old_file(folder):
    Path("out.csv").write_text("old")
    full = OSError(errno.ENOSPC, "No space left on device")
    for arguments in (
        ("predict", "m.deciban", "data.csv", "-o", "out.csv", "--force"),
        ("train", "data.csv", "-t", "label", "-o", "m.deciban"),
        ("update", "m.deciban", "data.csv"),
    ):
        with mock.patch("os.fsync", side_effect=full):
            assert "No space left" in fails(*arguments)


def test_data_that_turns_bad_late_leaves_the_old_file(folder):
    Path("out.csv").write_text("old")
    Path("late.csv").write_text("size,n\n" + "S,1\n" * 200_000 + "S\n")
    late = ("predict", "m.deciban", "late.csv", "-o", "out.csv", "--force")
    assert "another number of fields" in fails(*late)


def test_forgetting_what_was_never_there(folder):
    Path("other.csv").write_text("size,label\nXXL,ham\n")
    assert "Hint" in fails("forget", "m.deciban", "other.csv")


def test_merging_what_does_not_fit(folder):
    done("train", FRUIT, "-t", "fruit", "-o", "fruit.deciban", "-q")
    assert "different" in fails("merge", "m.deciban", "fruit.deciban", "-o", "c.deciban")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "data.csv", "-o", "n.deciban"], "--target"),
        (["train", "data.csv", "-t", "label"], "--output"),
        (["train"], "DATA"),
        (["trian", "data.csv"], "Did you mean 'train'?"),
        (["train", "data.csv", *TRAIN, "--frobnicate"], "--frobnicate"),
        (["train", "data.csv", *TRAIN, "--kind", "size"], "COLUMN=KIND"),
        (["train", "data.csv", *TRAIN, "--smoothing", "much"], "--smoothing"),
        (["train", "data.csv", *TRAIN, "--numeric", "magic"], "--numeric"),
        (["predict", "m.deciban", "data.csv", "--priors", "ham"], "CLASS=RATE"),
        (["predict", "m.deciban", "data.csv", "--priors", "ham=x,spam=1"], "CLASS=RATE"),
        (["predict", "m.deciban", "data.csv", "--priors", "ham=1,spam=1,ham=2"],
         "'ham' is stated twice"),
        (["train", "data.csv", *TRAIN, "--kind", "size=text", "--kind", "size=identifier"],
         "'size' is stated twice, as 'text' and 'identifier'"),
        (["train", "data.csv", *TRAIN, "--prior", "ham=0.5,ham=0.5,spam=0.5"], "stated twice"),
        (["train", "data.csv", *TRAIN, "--class-weight", "ham=2,ham=3"], "stated twice"),
        (["train", "data.csv", *TRAIN, "--unlabelled-weight", "2"], "add --em or --unlabelled"),
        (["drift", "m.deciban", "data.csv", "--index", "nan"], "nan is no number"),
        (["threshold", "m.deciban", "data.csv", "--recall", "nan"], "nan is no number"),
        (["predict", "m.deciban", "data.csv", "--digits", "99"], "--digits"),
        (["predict", "m.deciban", "data.csv", "--format", "xml"], "--format"),
        (["predict", "m.deciban", "data.csv", "--json"], "-o"),
        (["merge", "-o", "n.deciban"], "MODEL"),
    ],
)  # fmt: skip
def test_mistakes_in_the_command_line_are_2(arguments, said, folder):
    line = fails(*arguments, code=2)
    assert said in line
    assert line.endswith("--help.")


@pytest.mark.parametrize("arguments", [[], ["mail"]])
def test_nothing_asked_for_shows_the_help_and_nothing_else(arguments):
    ended = run(*arguments)
    assert (ended.code, ended.err) == (2, "")
    assert "Usage: deciban" in ended.out


def test_bad_values(folder):
    predict = ("predict", "m.deciban", "data.csv")
    assert "0 is maximum likelihood" in fails("train", "data.csv", *TRAIN, "--smoothing", "-1")
    assert "perhaps 'spam' was meant" in fails(*predict, "--priors", "ham=0.5,spma=0.5")
    assert "--priors has no rate for 'spam'" in fails(*predict, "--priors", "ham=1")
    for rates in ("ham=-1,spam=2", "ham=0,spam=0", "ham=nan,spam=1", "ham=inf,spam=1"):
        said = fails(*predict, "--priors", rates)
        assert f"--priors {rates}" in said
        assert "`new`" not in said
    assert "abstain must be" in fails(*predict, "--abstain", "-1")
    assert "says no format" in fails(*predict, "-o", "out.txt")
    assert "- is the standard input" in fails(*predict, "-o", "-", "--format", "csv")
    assert "- is the standard input" in fails("train", "data.csv", "-t", "label", "-o", "-")
    for command in ("evaluate", "compare m.deciban", "report", "threshold --recall 0.5", "update"):
        name, *more = command.split()
        Path("other.deciban").write_bytes(Path("m.deciban").read_bytes())
        said = fails(name, "other.deciban", *more, "data.csv", "--target", "size")
        assert "--target size is a column that other.deciban answers by" in said
    Path("same.csv").write_text("size,prediction\nS,1\n")
    assert "same name 'prediction'" in fails("predict", "m.deciban", "same.csv", "--keep")


BAD_COSTS = {
    ",ham,spam\nham,0,1\nspam,1,0\nham,5,5\n": "more than one row for 'ham'",
    ",ham,spam,ham\nham,0,1,1\nspam,1,0,0\n": "more than one column for 'ham'",
    ",ham\nham,0\nspam,x\n": "no number",
    ",ham,spma\nham,0,1\nspam,1,0\n": "perhaps 'spam'",
    ",ham,spam\nham,0\n": "not a table of costs",
    "": "not a table of costs",
}


@pytest.mark.parametrize("costs", BAD_COSTS)
def test_bad_costs(costs, folder):
    Path("costs.csv").write_text(costs)
    assert BAD_COSTS[costs] in fails("predict", "m.deciban", "data.csv", "--loss", "costs.csv")
    assert "cannot be read" in fails("predict", "m.deciban", "data.csv", "--loss", "nowhere.csv")
    Path("costs.csv").write_bytes(b"\xff\xfe\xfa")
    assert "not a CSV file" in fails("predict", "m.deciban", "data.csv", "--loss", "costs.csv")


def test_what_nobody_foresaw_is_called_a_bug(folder, monkeypatch):
    monkeypatch.delenv("DECIBAN_DEBUG", raising=False)
    with mock.patch("deciban.cli.prediction.predict", side_effect=ZeroDivisionError("oh\nno")):
        quiet = run("predict", "m.deciban", "data.csv")
        monkeypatch.setenv("DECIBAN_DEBUG", "1")
        loud = run("predict", "m.deciban", "data.csv")
    assert quiet.code == loud.code == 3
    assert quiet.err.startswith("error: this is a bug of deciban: ZeroDivisionError: oh no.")
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err


def test_too_little_memory(folder):
    with mock.patch("deciban.cli.prediction.predict", side_effect=MemoryError):
        assert "not enough memory" in fails("predict", "m.deciban", "data.csv")


def test_interrupting_writes_nothing(folder):
    before = content(folder)
    for place in ("deciban.prediction.scored.ScoredBatch.columns", "os.fsync"):
        with mock.patch(place, side_effect=KeyboardInterrupt):
            ended = run("predict", "m.deciban", "data.csv", "-o", "out.csv")
        assert (ended.code, ended.err) == (130, "interrupted: no file was written.\n")
        assert content(folder) == before


def test_a_model_is_not_compared_with_itself(folder):
    assert "m.deciban is named twice" in fails("compare", "m.deciban", "m.deciban", "data.csv")
