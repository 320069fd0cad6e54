"""``deciban explain``: one row, a text, rows of a file; as a table, JSON or HTML."""

import json

import pytest

from commands import FRUIT, done, run

ROW = '{"grams": 103.3, "colour": "red", "ripe": true, "picked": "2025-08-02"}'


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "fruit.deciban"
    done("train", FRUIT, "--target", "fruit", "-o", path, "--quiet")
    return path


def test_a_row(model):
    lines = done("explain", model, "--row", ROW).splitlines()
    assert lines[0] == "plum rather than apple: 61.3 %"
    found = json.loads(done("explain", model, "--row", ROW, "--json"))
    total = found["prior"] + sum(term["decibans"] for term in found["terms"])
    assert total == pytest.approx(found["total"], abs=1e-9)
    assert lines[-1].startswith(f"total                    {found['total']:+.1f}")


def test_rows_of_files_say_what_predict_says(model):
    lines = done("explain", model, FRUIT, "--limit", "3", "--json").splitlines()
    answers = done("predict", model, FRUIT).splitlines()[1:4]
    assert [json.loads(line)["answer"] for line in lines] == [a.split(",")[0] for a in answers]
    assert done("explain", model, "--rows", FRUIT, "--limit", "3", "--json").splitlines() == lines
    piped = done("explain", model, "-", "--limit", "3", "--json", stdin=FRUIT.read_bytes())
    assert piped.splitlines() == lines


def test_a_page(model, tmp_path):
    page = tmp_path / "why.html"
    assert done("explain", model, FRUIT, "--limit", "2", "--html", page) == ""
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.count("<table") == 2
    assert "http" not in text


def test_another_class(model):
    found = json.loads(done("explain", model, "--row", ROW, "--against", "cherry", "--json"))
    assert found["runner_up"] == "cherry"


def test_a_text(tmp_path):
    data, path = tmp_path / "sizes.csv", tmp_path / "sizes.deciban"
    data.write_text("size,class\n" + "S,a\nL,b\n" * 30)
    done("train", data, "--target", "class", "-o", path, "--quiet")
    assert done("explain", path, "--text", "S").startswith("a rather than b")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--row", '{"gram": 1}'], 1, "no column 'gram'. Hint: perhaps 'grams' was meant."),
        (["--row", "{grams}"], 2, "is not JSON"),
        (["--row", '{"grams": ' + "9" * 5000 + "}"], 2, "has a number too long"),
        (["--row", "[" * 20_000], 2, "lists too deep"),
        (["--row", "[1]"], 2, "is not a JSON object"),
        (["--row", ROW, "--against", "aple"], 1, "no class 'aple'. Hint: perhaps 'apple'"),
        (["--row", ROW, "--text", "x"], 2, "got --row and --text"),
        (["--row", ROW, "--html", "/nowhere/why.html"], 1, "cannot be written"),
        (["--text", "hello"], 1, "does not say which"),
        ([], 2, "give DATA, --row or --text"),
        (["nothing.csv"], 1, "nothing.csv"),
        (["--row", ROW, "--limit", "0"], 2, "--limit"),
    ],
)
def test_mistakes(model, arguments, code, message):
    ended = run("explain", model, *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
