"""Pages hold together: links lead somewhere, twins agree, sessions and the picture are real."""

import doctest
import importlib.util
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from commands import COMMAND
from sessions import BLOCK, replayed, steady

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])
CHINESE = [page for page in PAGES if page.name.endswith(".zh.md")]
#: Pages whose sessions are replayed by tests of their own, or are those of their twin.
REPLAYED = {"cli.md", "mail.md", "serve.md", *(page.name for page in CHINESE)}
SESSIONS = [p for p in PAGES if p.name not in REPLAYED and BLOCK.search(p.read_text("utf-8"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
TEXT = re.compile(r">([^<>]+)</text>")


def prose(page):
    """The page without its code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page):
    """The names that GitHub gives to the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", prose(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_anchors_are_those_of_github():
    assert {"6-a-table-as-it-is", "9-why"} <= anchors(DOCS / "tutorial.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in LINK.findall(prose(page)):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(target), link


def test_the_index_lists_every_page():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    missing = [p.name for p in DOCS.glob("*.md") if f"({p.name})" not in index]
    assert missing == ["README.md"]


def figures(page):
    """The numbers that fill a cell in the tables of a page, row by row."""
    rows = re.findall(r"^\|.*$", prose(page), flags=re.M)
    return [re.findall(r"(?<=\| )[\d.,]+ ?[%a-z]*(?= \|)", row) for row in rows]


@pytest.mark.parametrize("chinese", CHINESE, ids=lambda page: page.name)
def test_pages_in_two_languages_are_twins(chinese):
    pages = [chinese.with_name(chinese.name.replace(".zh", "")), chinese]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    code = [[(e.source, e.want) for e in doctest.DocTestParser().get_examples(t)] for t in texts]
    assert code[0] == code[1]
    assert BLOCK.findall(texts[0]) == BLOCK.findall(texts[1])
    levels = [re.findall(r"^(#+) ", prose(page), flags=re.M) for page in pages]
    assert levels[0] == levels[1]
    assert figures(pages[0]) == figures(pages[1])


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_sessions_are_what_the_program_prints(page):
    text = page.read_text(encoding="utf-8")
    assert steady(replayed(text)) == steady(text)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 160


def example(name):
    """A script of the examples, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_what_the_script_draws(tmp_path):
    kept, new = DOCS / "explanation.svg", tmp_path / "new.svg"
    example("picture").draw(new)
    assert kept.stat().st_size < 60_000
    said = TEXT.findall(kept.read_text(encoding="utf-8"))
    assert said == TEXT.findall(new.read_text(encoding="utf-8"))
    assert "plum rather than apple: 61.3 %" in said


def test_the_demonstration_in_python_runs(capsys):
    demo = example("demo")
    for part in (demo.textbook, demo.wine, demo.coin):
        part()
    said = capsys.readouterr().out
    assert "0.0327       0.0610      0.651" in said
    assert "to the bit: True" in said


def test_the_demonstration_in_the_shell_runs(tmp_path):
    program = tmp_path / "deciban"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    ended = subprocess.run(
        ["sh", "examples/demo.sh", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "the model now has 100 rows" in ended.stdout
    assert "X-Deciban: spam" in ended.stdout
