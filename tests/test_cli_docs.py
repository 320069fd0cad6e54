"""The page about the command: every command and option is on it, and it shows what is printed."""

from pathlib import Path

import pytest
import typer

from deciban.cli import exits
from deciban.cli.app import build
from sessions import replayed, steady

DOCS = Path(__file__).parents[1] / "docs"
PAGE, CHINESE = ((DOCS / name).read_text(encoding="utf-8") for name in ("cli.md", "cli.zh.md"))
LANGUAGES = pytest.mark.parametrize("page", [PAGE, CHINESE], ids=["en", "zh"])
COMMANDS = typer.main.get_command(build()).commands


def test_the_sessions_are_what_the_program_prints():
    assert steady(replayed(PAGE)) == steady(PAGE)


@LANGUAGES
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_options_are_documented(name, page):
    assert f"| `{name}` |" in page
    assert f"$ deciban {name}" in page
    for parameter in COMMANDS[name].params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("-") and option not in ("--help", "-h"):
                assert f"`{option}" in page, option


@LANGUAGES
@pytest.mark.parametrize("code", ["OK", "WRONG", "USAGE", "BUG", "DRIFTED", "INTERRUPTED", "PIPE"])
def test_exit_codes_are_documented(code, page):
    assert f"| {getattr(exits, code)} |" in page
