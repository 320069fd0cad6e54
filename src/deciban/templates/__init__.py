"""Jinja2 templates of everything that is shown as HTML, and the function that fills them in.

Python hands over data, templates hold the markup. Every value is escaped; only what a template
marks as ``safe`` is not: drawings made by vl-convert, the style sheet, and HTML of other templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["html_tables", "render"]

#: Longer tables are cut in a notebook, with the number of rows that are left out.
MAX_NOTEBOOK_ROWS = 60


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("deciban", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **values: object) -> str:
    r"""The template of that name with its values filled in.

    >>> render("some_explanations.html.jinja", explanations=[], n=1200)
    '<p>and 1,200 more</p>\n'
    """
    return _environment().get_template(template).render(values)


def html_tables(
    *tables: tuple[str, Sequence[Sequence[str]]], limit: int = MAX_NOTEBOOK_ROWS
) -> str:
    """Tables for a notebook, each with its title; the first row is the head, long ones are cut.

    >>> html_tables(("<i>", [("class", "rows"), ("a", "2")]))
    '<p>&lt;i&gt;</p><table><tr><th>class</th><th>rows</th></tr><tr><th>a</th><td>2</td></tr></table>'
    >>> html_tables(("", [("class",), ("a",), ("b",), ("c",)]), limit=1)[-25:]
    '</table><p>and 2 more</p>'
    """
    return render("tables.html.jinja", tables=tables, limit=limit)
