"""How files are read: options that all commands have which read any, and the order of files."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from deciban.cli.options import ModelFile
from deciban.errors import ParameterError

#: How the names of model files end, if they are named as usual.
MODEL_ENDING = ".deciban"
#: How files are read: what the options of :func:`reads_files` state.
How = Mapping[str, Any]

#: The options of all commands that read files, by the names of ``ReadOptions``.
READING = {
    "sql": Annotated[
        str | None,
        typer.Option("--sql", metavar="QUERY", help="A query, where DATA is a URL of a database."),
    ],
    "table": Annotated[
        str | None,
        typer.Option("--table", metavar="NAME", help="A table, where DATA is such a URL."),
    ],
    "engine": Annotated[
        Literal["spark"] | None,
        typer.Option(
            "--engine",
            metavar="spark",
            help="Who has the rows: DATA is a table of Spark's catalogue.",
        ),
    ],
    "encoding": Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="Of text files, such as gb18030 or cp1252; guessed where UTF-8 fails.",
        ),
    ],
    "na": Annotated[
        list[str] | None,
        typer.Option(
            "--na", metavar="TEXT", help="A field that means 'no value'. May be repeated."
        ),
    ],
    "decimal": Annotated[
        str | None,
        typer.Option("--decimal", metavar="SIGN", help="The decimal sign of numbers, . or ,"),
    ],
    "thousands": Annotated[
        str | None,
        typer.Option("--thousands", metavar="SIGN", help="What sets thousands apart."),
    ],
    "date_format": Annotated[
        str | None,
        typer.Option("--date-format", metavar="PATTERN", help="How dates are written: %d.%m.%Y"),
    ],
    "no_trim": Annotated[
        bool, typer.Option("--no-trim", help="Leave blanks around fields as they are.")
    ],
    "sheet": Annotated[
        str | None,
        typer.Option("--sheet", metavar="NAME", help="Of a workbook: its name, or its number."),
    ],
}


def file_paths(data: Sequence[str], how: Mapping[str, Any]) -> list[str]:
    """The files among the data: URLs of databases and tables of Spark are none.

    >>> file_paths(["a.csv", "sqlite:///b.db"], {"engine": None})
    ['a.csv']
    """
    from deciban.sources.databases import is_url

    return [] if how["engine"] is not None else [path for path in data if not is_url(path)]


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of how files are read, which it takes together as ``how``."""
    signature = inspect.signature(command, eval_str=True)
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "no_trim" else None,
            annotation=annotation,
        )
        for name, annotation in READING.items()
    ]
    takes_model = any(p.annotation == ModelFile for p in signature.parameters.values())
    others = [p.replace(kind=p.KEYWORD_ONLY) for n, p in signature.parameters.items() if n != "how"]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        how = {name: given.pop(name) for name in READING}
        if takes_model:
            _check_order(given["model"], given.get("data") or ())
        command(how={"trim": not how.pop("no_trim"), **how}, **given)

    last = [parameter for parameter in others if parameter.name in ("json", "quiet")]
    first = [parameter for parameter in others if parameter not in last]
    signature = signature.replace(parameters=[*first, *options, *last])
    vars(run)["__signature__"] = signature
    run.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return run


def _check_order(model: str, data: Sequence[str]) -> None:
    """Refuse data before the model, where the names of the files tell."""
    swapped = [path for path in data if path.endswith(MODEL_ENDING)]
    if swapped and not model.endswith(MODEL_ENDING):
        raise ParameterError(
            f"{model} stands where the model does, and {swapped[0]} where data does.",
            hint="name the model first, then the data",
        )
