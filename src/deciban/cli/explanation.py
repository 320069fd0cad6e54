"""explain: the reasons for the answers to some rows, in decibans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from deciban.cli import models
from deciban.cli.options import class_of
from deciban.cli.reading import Input
from deciban.errors import InputError
from deciban.models.columns import require_columns
from deciban.sources.tabular import Row, Value

if TYPE_CHECKING:
    from deciban.explanation import Explanation
    from deciban.models.protocol import Model


def explain(
    path: str,
    *,
    row: Row | None,
    text: str | None,
    data: Input | None,
    limit: int,
    against: str | None,
    novelty: bool = False,
) -> list[Explanation]:
    """The explanations of one row, of a text, or of the first rows of a table."""
    model = models.load_classifier(path)
    other = class_of(against, model.classes_.tolist())
    if data is None:
        return [model.explain(row if text is None else text, other, novelty)]
    explanations = [
        model.explain(one, other, novelty)
        for one in islice(_rows(model.model_, data, limit), limit)
    ]
    if not explanations:
        raise InputError("there are no rows.", hint="give a table with rows")
    return explanations


def _rows(model: Model, data: Input, limit: int) -> Iterator[dict[str, Value]]:
    """Rows by name; columns that the model does not know are not looked at."""
    table = data.scan(model.caster.field_types(), rows=limit)
    require_columns(model, table)
    names = [name for name in model.schema.names if name in table.names]
    for batch in table:
        for values in batch.tolist():
            yield {name: values[name] for name in names}


def show(explanations: Sequence[Explanation], *, json: bool) -> None:
    """Print tables, in colour on a terminal, or one JSON object a row."""
    if json:
        for why in explanations:
            print(why.to_json())
        return
    from rich.console import Console

    from deciban.explanation import terminal

    console = Console(highlight=False)
    for i, why in enumerate(explanations):
        if i:
            print()
        if console.is_terminal:
            console.print(why)
        else:
            print(terminal.text(why))


def write_html(explanations: Sequence[Explanation], path: str, *, overwrite: bool) -> None:
    """A page that stands alone."""
    from deciban.files.atomic import output
    from deciban.templates import render

    page = render("explanations.html.jinja", explanations=explanations)
    with output(path, overwrite=overwrite) as file:
        file.write(page.encode("utf-8", "replace"))
