"""What the commands take: arguments and options that several of them share, and their grammar."""

from __future__ import annotations

import csv
import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deciban.errors import FileError, ParameterError

if TYPE_CHECKING:
    from deciban.sources.tabular import Value

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="CSV, TSV, Parquet, JSON or Excel: files, globs, or - for the standard input.",
        show_default=False,
    ),
]
SomeData = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[DATA]...", help="Files, globs, or - for the standard input.", show_default=False
    ),
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)
]
ModelFiles = Annotated[
    list[str], typer.Argument(metavar="MODEL...", help="Model files.", show_default=False)
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="The column of classes.")
]
SameTarget = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="The column of classes, if not as in training."
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="The model file to write.")
]
OtherOutput = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write here; without it, MODEL is replaced."
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="State what a column is: numeric, categorical, boolean, time, text, identifier, "
        "or cyclic:PERIOD. May be repeated.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace a file that is there, also if deciban did not write it."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and warnings alone.")]
Form = Annotated[
    Literal["csv", "jsonl", "parquet"] | None,
    typer.Option(
        "--format",
        metavar="csv|jsonl|parquet",
        help="The format of the output, if its name does not say it.",
    ),
]


Loss = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Costs, as CSV: rows are answers, columns are truths."),
]
Abstain = Annotated[
    float | None, typer.Option(metavar="COST", help="The cost of giving no answer.")
]
Coverage = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="Sets of classes that hold the true one in this share of rows."
    ),
]
PerClass = Annotated[
    bool, typer.Option("--per-class", help="Sets whose coverage holds for each class by itself.")
]
LeaveOneOut = Annotated[
    bool,
    typer.Option(
        "--leave-one-out",
        help="The rows are those of training: judge each as if it had never been seen.",
    ),
]
Bootstrap = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Resamples that the intervals rest on; 0 makes none."),
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Of the resamples.")]


def not_nan(value: float | None) -> float | None:
    """A number; NaN is below no bound and above none, and Typer takes it.

    >>> not_nan(0.5)
    0.5
    """
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is no number")
    return value


def kinds(stated: Sequence[str] | None) -> dict[str, str]:
    """``COLUMN=KIND`` as a mapping; a name may contain "=".

    >>> kinds(["a=b=text"])
    {'a=b': 'text'}
    """
    return pairs("--kind", stated or (), "is not COLUMN=KIND, such as comment=text")


def pairs(option: str, stated: Iterable[str], otherwise: str) -> dict[str, str]:
    """``NAME=VALUE`` as a mapping, of which each name is stated once; else what is said.

    >>> pairs("--prior", ["spam=0.2", " a=b =0.8"], "is not CLASS=RATE")
    {'spam': '0.2', 'a=b': '0.8'}
    """
    values: dict[str, str] = {}
    for item in stated:
        name, equals, value = item.rpartition("=")
        name = name.strip()
        if not equals or not name:
            raise _bad(option, f"{item!r} {otherwise}")
        if name in values:
            raise _bad(option, f"{name!r} is stated twice, as {values[name]!r} and {value!r}")
        values[name] = value
    return values


def numbers(option: str, stated: str, otherwise: str) -> dict[str, float]:
    """``NAME=NUMBER,...`` as a mapping, of which each name is stated once.

    >>> numbers("--priors", "spam=0.2,ham=0.8", "is not CLASS=RATE")
    {'spam': 0.2, 'ham': 0.8}
    """
    values = {}
    for name, value in pairs(option, stated.split(","), otherwise).items():
        try:
            values[name] = float(value)
        except ValueError:
            raise _bad(option, f"{f'{name}={value}'!r} {otherwise}") from None
    return values


def numeric(stated: str) -> str:
    """How numbers are modelled: ``"auto"``, or what a family of numbers answers to.

    >>> numeric("gaussian")
    'gaussian'
    """
    from deciban.models.options import numeric_options

    allowed = numeric_options()
    if stated not in allowed:
        raise _bad("--numeric", f"{stated!r} is not one of {', '.join(map(repr, allowed))}")
    return stated


def smoothing(stated: str) -> float | str:
    """A number, or "auto".

    >>> smoothing("0.5"), smoothing("auto")
    (0.5, 'auto')
    """
    try:
        return stated if stated == "auto" else float(stated)
    except ValueError:
        raise _bad("--smoothing", f"{stated!r} is neither 'auto' nor a number") from None


def priors(stated: str | None, classes: Sequence[Hashable]) -> dict[Hashable, float] | None:
    """``a=0.2,b=0.8`` as a mapping from classes to rates, which are made to sum to 1.

    >>> priors("0=0.2,1=0.8", [0, 1]), priors("0=20,1=80", [0, 1])
    ({0: 0.2, 1: 0.8}, {0: 0.2, 1: 0.8})
    """
    if stated is None:
        return None
    rates = {
        _class(name, classes): rate
        for name, rate in numbers("--priors", stated, "is not CLASS=RATE, such as spam=0.8").items()
    }
    for label in classes:
        if label not in rates:
            hint = "name every class; 0 rules a class out"
            raise ParameterError(f"--priors has no rate for {label!r}.", hint=hint)
    total = sum(rates.values())
    if min(rates.values()) < 0 or not 0 < total < math.inf:
        raise ParameterError(
            f"--priors {stated} has a rate that is no number >= 0, or none above 0.",
            hint="rates are shares such as spam=0.2,ham=0.8; 20 and 80 mean the same",
        )
    return rates if abs(total - 1) < 1e-9 else {label: r / total for label, r in rates.items()}


def loss(
    path: str | None, classes: Sequence[Hashable]
) -> dict[tuple[Hashable, Hashable], float] | None:
    """A CSV file of costs: a column for each truth, a row for each answer."""
    if path is None:
        return None
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise FileError(f"{path} is not a CSV file in UTF-8.") from None
    if len(rows) < 2 or len({len(row) for row in rows}) > 1:
        raise FileError(
            f"{path} is not a table of costs.",
            hint="give a header with the truths, and a row with the costs of each answer",
        )
    truths = [_class(cell.strip(), classes) for cell in rows[0][1:]]
    answers = [_class(row[0].strip(), classes) for row in rows[1:]]
    for what, named in (("column", truths), ("row", answers)):
        twice = next((label for label in named if named.count(label) > 1), None)
        if twice is not None:
            raise FileError(f"{path} has more than one {what} for {twice!r}.", hint="leave one")
    return {
        (answer, truth): _cost(path, cell)
        for answer, row in zip(answers, rows[1:], strict=True)
        for truth, cell in zip(truths, row[1:], strict=True)
    }


def threshold(stated: str | None, classes: Sequence[Hashable]) -> tuple[Hashable, float] | None:
    """``CLASS=P``, or of two classes ``P`` for the second.

    >>> threshold("0.8", ["ham", "spam"]), threshold("ham=0.3", ["ham", "spam"])
    (('spam', 0.8), ('ham', 0.3))
    """
    if stated is None:
        return None
    name, equals, number = stated.rpartition("=")
    try:
        at = float(number)
    except ValueError:
        at = math.nan
    if not 0 <= at <= 1:
        raise _bad("--threshold", f"{stated!r} is not CLASS=P with P between 0 and 1")
    if equals:
        return _class(name.strip(), classes), at
    if len(classes) != 2:
        raise _bad("--threshold", f"there are {len(classes)} classes: name one, as in CLASS={at:g}")
    return classes[1], at


def row(stated: str | None) -> dict[str, Value] | None:
    """A JSON object as a row.

    >>> row('{"age": 41}')
    {'age': 41}
    """
    if stated is None:
        return None
    import json

    try:
        entries = json.loads(stated)
    except json.JSONDecodeError as error:
        raise _bad("--row", f"{stated!r:.60} is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise _bad("--row", f"{stated!r:.60} has a number too long, or lists too deep") from None
    if not isinstance(entries, dict):
        raise _bad("--row", f'{stated!r:.60} is not a JSON object, such as {{"age": 41}}')
    return entries


def class_of(name: str | None, classes: Sequence[Hashable]) -> Hashable:
    """The class that is written like this, or None.

    >>> class_of("1", [0, 1])
    1
    """
    return None if name is None else _class(name, classes)


def models_and_data(files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Model files, which come first, and data.

    >>> models_and_data(["a.deciban", "b.deciban", "rows.csv"])
    (['a.deciban', 'b.deciban'], ['rows.csv'])
    """
    from deciban.cli.inspection import is_model

    models = list(takewhile(is_model, files))
    if len(models) < 2 or len(models) == len(files):
        given = "no data" if len(models) == len(files) else f"{len(models)} model files"
        raise _bad("MODEL MODEL... DATA...", f"two or more models, then data, are needed: {given}")
    return models, list(files[len(models) :])


def _cost(path: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise FileError(f"{path} has a cost that is no number: {cell!r}.") from None


def _class(name: str, classes: Sequence[Hashable]) -> Hashable:
    """The class that is written like this."""
    known = {str(label): label for label in classes}
    if name in known:
        return known[name]
    from deciban.sources.column_names import nearest

    close = nearest(name, list(known))
    hint = f"perhaps {close!r} was meant" if close else f"one is {next(iter(known))!r}"
    raise ParameterError(f"there is no class {name!r}.", hint=hint)


def _bad(option: str, message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint=option)
