"""The program: its commands, of which only the one that is asked for is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer


class Command(NamedTuple):
    """Where a command is: a module of this package, a function, and what Typer is told of it."""

    module: str
    function: str
    settings: Mapping[str, Any] = {}


#: All commands, in the order in which they are listed.
COMMANDS: Mapping[str, Command] = {
    "train": Command("train", "train"),
    "update": Command("commands", "change", {"help": "Count more labelled rows into a model."}),
    "forget": Command(
        "commands",
        "change",
        {"help": "Take labelled rows back that were counted before, exactly."},
    ),
    "merge": Command("commands", "merge"),
    "predict": Command("predict", "predict"),
    "explain": Command("commands", "explain"),
    "words": Command("words", "words"),
    "evaluate": Command("commands", "evaluate"),
    "compare": Command("commands", "compare"),
    "threshold": Command("threshold", "threshold"),
    "drift": Command("drift", "drift"),
    "report": Command("commands", "report"),
    "inspect": Command("commands", "inspect"),
    "serve": Command("serving", "serve"),
    "export": Command("serving", "export"),
    "sql": Command("export", "sql"),
    "version": Command("commands", "version"),
    "help": Command("commands", "show_help"),
}
MAIL = "mail"


def build(names: Iterable[str] = (*COMMANDS, MAIL)) -> typer.Typer:
    """The program with some of its commands."""
    program = typer.Typer(
        name="deciban",
        help="Bayesian classification on one exact table of counts.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    program.callback()(main)
    for name in names:
        if name == MAIL:
            program.add_typer(import_module("deciban.cli.mail").app)
            continue
        command = COMMANDS[name]
        module = import_module(f"deciban.cli.{command.module}")
        settings = {**getattr(module, "SETTINGS", {}), **command.settings}
        program.command(name, **settings)(getattr(module, command.function))
    return program


def build_for(arguments: Iterable[str]) -> typer.Typer:
    """The program for a command line: with the one command that it begins with, or with all."""
    first = next(iter(arguments), "")
    return build([first]) if first in COMMANDS or first == MAIL else build()


def _print_version(asked: bool) -> None:
    if asked:
        from deciban.version import __version__

        print(__version__)
        raise typer.Exit


def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version, and end."
        ),
    ] = False,
) -> None:
    """Bayesian classification on one exact table of counts."""
