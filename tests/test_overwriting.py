"""No output is written over an input, nor over a file that is not known as deciban's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import deciban
from commands import COMMAND, FRUIT, done, run
from deciban import AODE, LogisticRegression, NaiveBayes
from deciban.errors import DecibanError, ExistingFileError, FileError
from deciban.files.overwriting import PAGE_MARK, is_own
from deciban.naive_bayes import GaussianNB
from deciban.report import pdf, report
from deciban.templates import render

ROWS = {"size": ["S", "L", "M"] * 10, "y": ["a", "b", "a"] * 10}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_bytes(FRUIT.read_bytes())
    Path("some.csv").write_text("".join(FRUIT.read_text().splitlines(keepends=True)[:50]))
    Path("costs.csv").write_text("answer,apple\napple,0\ncherry,1\n")
    done("train", "data.csv", "-t", "fruit", "-o", "m.deciban", "-q")
    done("train", "data.csv", "-t", "fruit", "-o", "other.deciban", "-q")
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refuses(folder, *arguments, code=1):
    """A run that changes nothing; what it says."""
    before = content(folder)
    ended = run(*arguments)
    assert (ended.code, ended.out) == (code, ""), ended
    assert content(folder) == before
    assert " Hint: " in ended.err
    return ended.err


INPUTS = [
    ("train", "data.csv", "-t", "fruit", "-o", "data.csv"),
    ("update", "m.deciban", "data.csv", "-o", "data.csv"),
    ("forget", "m.deciban", "data.csv", "-o", "data.csv"),
    ("merge", "m.deciban", "other.deciban", "-o", "m.deciban"),
    ("merge", "m.deciban", "other.deciban", "-o", "other.deciban"),
    ("predict", "m.deciban", "data.csv", "-o", "data.csv"),
    ("predict", "m.deciban", "data.csv", "-o", "m.deciban", "--format", "csv"),
    ("predict", "m.deciban", "data.csv", "-o", "costs.csv", "--loss", "costs.csv"),
    ("explain", "m.deciban", "data.csv", "--html", "data.csv"),
    ("explain", "m.deciban", "--rows", "data.csv", "--html", "data.csv"),
    ("explain", "m.deciban", "--row", '{"grams": 1}', "--html", "m.deciban"),
    ("report", "m.deciban", "data.csv", "-o", "m.deciban"),
    ("report", "m.deciban", "data.csv", "-o", "data.csv"),
    ("report", "m.deciban", "data.csv", "--pdf", "m.deciban"),
    ("report", "m.deciban", "data.csv", "-o", "costs.csv", "--loss", "costs.csv"),
]


@pytest.mark.parametrize("arguments", INPUTS, ids=" ".join)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_an_input_is_never_an_output(folder, arguments, force):
    assert "is one of the inputs" in refuses(folder, *arguments, *force)


@pytest.mark.parametrize(
    "name", ["./data.csv", "link.csv", "hard.csv", "sub/../data.csv", "sub/link.csv"]
)
@pytest.mark.parametrize("given", ["data.csv", "d*.csv", "[a-d]ata.csv"])
def test_an_input_is_known_by_any_name(folder, name, given):
    Path("sub").mkdir()
    Path("link.csv").symlink_to("data.csv")
    Path("sub/link.csv").symlink_to("../link.csv")
    Path("hard.csv").hardlink_to("data.csv")
    said = refuses(folder, "predict", "m.deciban", given, "-o", name, "--force")
    assert "data.csv is one of the inputs" in said
    assert name in said


def test_the_standard_input_and_output_may_be_files(folder):
    for arguments, stdin, stdout in (
        (["-", "-o", "data.csv", "--force"], "data.csv", os.devnull),
        (["data.csv"], os.devnull, "data.csv"),
        (["-"], "data.csv", "data.csv"),
    ):
        before = content(folder)
        with open(stdin, "rb") as source, open(stdout, "ab") as out:  # noqa: PTH123
            command = [*COMMAND, "predict", "m.deciban", *arguments]
            ended = subprocess.run(
                command, stdin=source, stdout=out, stderr=subprocess.PIPE, check=False
            )
        assert ended.returncode == 1
        assert b"one of the inputs" in ended.stderr
        assert content(folder) == before


OTHERS = [
    ("train", "data.csv", "-t", "fruit", "-o"),
    ("update", "m.deciban", "data.csv", "-o"),
    ("forget", "m.deciban", "some.csv", "-o"),
    ("merge", "m.deciban", "other.deciban", "-o"),
    ("predict", "m.deciban", "data.csv", "-o"),
    ("explain", "m.deciban", "data.csv", "--html"),
    ("report", "m.deciban", "data.csv", "--bootstrap", "0", "-o"),
]


@pytest.mark.parametrize("arguments", OTHERS, ids=lambda a: a[0])
def test_what_is_not_ours_is_replaced_only_by_force(folder, arguments):
    Path("thesis.csv").write_text("years of work")
    Path("forgotten.deciban").write_bytes(b"PK\x03\x04 another zip")
    for name in ("thesis.csv", "forgotten.deciban"):
        if arguments[0] == "predict" and not name.endswith(".csv"):
            continue
        said = refuses(folder, *arguments, name)
        assert f"{name} is there already" in said
        assert "--force" in said
    done(*arguments, "thesis.csv", "--force")
    assert Path("thesis.csv").read_bytes()[:5] != b"years"


@pytest.mark.parametrize("arguments", OTHERS, ids=lambda a: a[0])
def test_models_pages_and_empty_files_are_replaced(folder, arguments):
    Path("empty.csv").touch()
    done(*arguments, "empty.csv")
    again = run(*arguments, "empty.csv")
    assert again.code == (1 if arguments[0] == "predict" else 0)  # a table carries no mark


def test_a_chart_in_the_way_stops_a_report_before_anything_is_written(folder):
    Path("charts").mkdir()
    Path("charts/confusion.png").write_bytes(b"mine")
    arguments = ("report", "m.deciban", "data.csv", "--bootstrap", "0", "--charts", "charts")
    assert "confusion.png is there already" in refuses(folder, *arguments)
    done(*arguments, "--force")
    assert Path("charts/confusion.png").read_bytes()[:4] == b"\x89PNG"


def test_one_file_is_not_written_twice(folder):
    Path("here").symlink_to(".")
    arguments = ("report", "m.deciban", "data.csv", "-o", "a.html", "--pdf")
    for name in ("a.html", "./a.html", "here/a.html"):
        assert "written twice" in refuses(folder, *arguments, name)


def test_it_is_refused_before_the_work(folder, monkeypatch):
    Path("thesis.csv").write_text("years of work")
    monkeypatch.setattr("deciban.cli.reading.Input.scan", lambda *_: pytest.fail("it was read"))
    assert "there already" in refuses(folder, "train", "data.csv", "-t", "y", "-o", "thesis.csv")


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes().fit(ROWS, target="y"),
        AODE().fit(ROWS, target="y"),
        GaussianNB().fit([[1.0], [2.0]], [0, 1]),
        LogisticRegression().fit([[1.0], [2.0]], [0, 1]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_saving_in_python_replaces_models_alone(model, tmp_path):
    path = tmp_path / "m.deciban"
    model.save(path)
    model.save(path)
    path.write_bytes(path.read_bytes()[:200])  # half a model is ours as well
    model.save(path)
    deciban.load(path)
    path.write_text("years of work")
    with pytest.raises(ExistingFileError, match="overwrite=True"):
        model.save(path)
    assert path.read_text() == "years of work"
    model.save(path, overwrite=True)
    deciban.load(path)


def test_reports_in_python_replace_pages_alone(tmp_path):
    page = report(NaiveBayes().fit(ROWS, target="y"), ROWS, target="y", bootstrap=0)
    path = tmp_path / "r.html"
    page.save(path)
    page.save(path)
    path.write_text("<p>mine")
    for write in (page.save, lambda p: pdf.write_pdf("<p>", p)):
        with pytest.raises(ExistingFileError, match="overwrite=True"):
            write(path)
    assert path.read_text() == "<p>mine"
    page.save(path, overwrite=True)
    assert is_own(path)
    charts = page.save_charts(tmp_path / "charts")
    with pytest.raises(ExistingFileError):
        page.save_charts(tmp_path / "charts")
    assert page.save_charts(tmp_path / "charts", overwrite=True) == charts
    with pytest.raises(FileError, match="cannot be written"):
        page.save_charts(path)
    with pytest.raises(FileError, match="cannot be written"):
        page.save(tmp_path / "none" / "r.html")


def test_a_page_that_could_not_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    page = report(NaiveBayes().fit(ROWS, target="y"), ROWS, target="y", bootstrap=0)
    path = tmp_path / "r.html"
    page.save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        page.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_every_page_carries_the_mark():
    assert PAGE_MARK in render("explanations.html.jinja", explanations=[]).encode()[:4096]


def test_the_error_is_one_of_files():
    assert issubclass(ExistingFileError, FileExistsError)
    assert issubclass(ExistingFileError, DecibanError)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such device")
def test_pages_go_to_devices_too(folder):
    done("explain", "m.deciban", "data.csv", "--html", "/dev/null")
    done("report", "m.deciban", "data.csv", "--bootstrap", "0", "-o", "/dev/null", "-q")
