"""The page about the spam filter: every command and option is on it, and its sessions run."""

from pathlib import Path

import pytest
import typer

from deciban.cli import delivery
from deciban.cli.mail import app
from sessions import replayed, steady

PAGE = (Path(__file__).parents[1] / "docs" / "mail.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands


def test_the_sessions_are_what_the_program_prints():
    assert steady(replayed(PAGE)) == steady(PAGE)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_options_are_documented(name):
    assert f"| `{name}` |" in PAGE
    assert f"$ deciban mail {name}" in PAGE
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            if option.startswith("--") and option != "--help":
                assert option in PAGE, option


def test_exit_codes_are_documented():
    for code in (*delivery.CODES.values(), delivery.ERROR, delivery.TRY_LATER):
        assert f"\n| {code} |" in PAGE
