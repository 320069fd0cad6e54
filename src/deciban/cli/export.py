"""sql and scorecard: a model written down for databases, people and other languages."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from deciban.cli import options as o
from deciban.cli.column_lists import kept

TableName = Annotated[
    str, typer.Option(metavar="NAME", help="The table of rows; schema.table in a schema.")
]
View = Annotated[
    str | None,
    typer.Option("--create-view", metavar="NAME", help="Make a view of this name of the query."),
]


def sql(
    model: o.ModelFile,
    dialect: Annotated[
        Literal["duckdb", "postgres", "sqlite", "spark"],
        typer.Option(help="The database that it is written for."),
    ] = "duckdb",
    table: TableName = "new",
    create_view: View = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,...", help="Columns of the table that are given as well."),
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Give decibans of every column for the answer.")
    ] = False,
    loss: o.Loss = None,
    abstain: o.Abstain = None,
    priors: Annotated[
        str | None,
        typer.Option(metavar="CLASS=RATE,...", help="Base rates that differ from training's."),
    ] = None,
) -> None:
    """Write a model as one SELECT, which a database answers as predict does."""
    from deciban import files
    from deciban.sql.export import to_sql

    of = files.open(model).model
    classes = of.classes.tolist()
    columns = kept(keep)
    if columns is None:
        raise typer.BadParameter("name the columns: a query has no *", param_hint="--keep")
    query = to_sql(
        of,
        table,
        dialect,
        keep=columns,
        evidence=evidence,
        loss=o.loss(loss, classes),
        abstain=abstain,
        priors=o.priors(priors, classes),
        view=create_view,
    )
    print(f"{query};")
