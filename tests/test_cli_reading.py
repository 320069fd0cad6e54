"""The command reads real files: options, warnings on one line, one row as in training."""

import pytest

from commands import run

ROWS = "".join(f"{i % 40 + 2},5 €;{1 + i % 28}.{1 + i % 12}.2024; {'ab'[i % 40 > 19]}\n"
               for i in range(100))  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(f"price;day;label\n{ROWS}", encoding="cp1252")
    return tmp_path


def test_a_guess_is_said_once(folder):
    trained = run("train", "t.csv", "-t", "label", "-o", "m.deciban")
    assert trained.code == 0
    (line,) = trained.err.splitlines()
    assert line.startswith("warning: t.csv is not in UTF-8; it is read as cp1252. Hint: ")
    assert run("train", "t.csv", "-t", "label", "-o", "m.deciban", "-q").err == trained.err
    stated = run("train", "t.csv", "-t", "label", "-o", "m.deciban", "--encoding", "cp1252")
    assert stated.err == ""


def test_what_was_recognised_is_inspected_and_used_for_one_row(folder):
    run("train", "t.csv", "-t", "label", "-o", "m.deciban", "-q")
    shown = run("inspect", "m.deciban").out
    assert "price   numeric  numbers with decimal comma, in €" in shown
    assert "day     time     a date, the day first" in shown
    (folder / "one.csv").write_text("price;day\n3,5 €;1.2.2024\n")
    (folder / "plain.jsonl").write_text('{"price": 3.5, "day": "2024-02-01"}\n')
    one, plain = (run("predict", "m.deciban", name) for name in ("one.csv", "plain.jsonl"))
    assert (one.code, one.err) == (0, "")
    assert one.out == plain.out
    assert one.out.splitlines()[1].startswith("a,"), "classes are trimmed as well"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--decimal", "."], "numeric  numbers with thousands separated by commas"),
        (["--decimal", ","], "numeric  numbers with decimal comma"),
        (["--na", "1,234"], "numeric  no value at all"),
        (["--date-format", "%m,%d%H"], "time  a timestamp, %m,%d%H"),
    ],
)
def test_options_overrule(options, said, folder):
    (folder / "x.tsv").write_text("x\n1,234\n")
    shown = run("inspect", "x.tsv", *options)
    assert said in shown.out


def test_a_stated_sign_that_is_none_is_an_error(folder):
    ended = run("inspect", "t.csv", "--decimal", "x")
    assert (ended.code, ended.out) == (1, "")
    assert "decimal must be '.' or ',', got 'x'" in ended.err
