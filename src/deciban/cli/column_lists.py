"""Lists of columns that are stated: those that are kept, dropped, or used alone."""

from __future__ import annotations

import csv
import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

#: What stands for all columns.
ALL_COLUMNS = "*"
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="[COLUMN,...]",
        help="Write the columns of the input as well, as they stand there: all, or some.",
    ),
]


class OptionalKeep(typer.core.TyperCommand):
    """A command whose option ``--keep`` may stand alone.

    What follows it is its value, unless that is another option or a file that is there.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give ``--keep`` its value before the other options and arguments are told apart."""
        rest, given = list(args), list[str]()
        while rest:
            argument = rest.pop(0)
            if argument == "--":
                return super().parse_args(ctx, [*given, argument, *rest])
            if argument == "--keep":
                argument += "=" + (rest.pop(0) if _names_columns(rest[:1]) else ALL_COLUMNS)
            given.append(argument)
        return super().parse_args(ctx, given)


def _names_columns(following: Sequence[str]) -> bool:
    if not following or following[0].startswith("-"):
        return False
    path = following[0]
    return path == ALL_COLUMNS or not (Path(path).expanduser().exists() or any(glob.iglob(path)))  # noqa: PTH207  (absolute ones)


def kept(stated: str | None) -> list[str] | None:
    """The columns that are kept; None is all of them.

    >>> kept(None), kept("*"), kept('id,"last, first"')
    ([], None, ['id', 'last, first'])
    """
    if stated is None or stated == ALL_COLUMNS:
        return [] if stated is None else None
    return columns("--keep", [stated])


def columns(option: str, stated: Sequence[str] | None) -> list[str]:
    """The names in some lists ``COLUMN,...``, each once.

    >>> columns("--drop", ["id,name", "id"]), columns("--drop", None)
    (['id', 'name'], [])
    """
    names = []
    for item in stated or ():
        try:
            some = next(csv.reader([item], strict=True), [])
        except csv.Error:
            some = []
        if not some or not all(some):
            raise typer.BadParameter(
                f"{item!r} is not COLUMN,..., such as id,name", param_hint=option
            )
        names += some
    return list(dict.fromkeys(names))
