"""Options of rows that belong together."""

from __future__ import annotations

from typing import Annotated

import typer

Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COLUMN",
        help="Rows of one value here belong together: what is measured leaves them out together. "
        "auto: rows that are copies or near copies.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="When rows came: what is measured judges a row by those before it.",
    ),
]
