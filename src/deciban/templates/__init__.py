"""Jinja2 templates of everything that is shown as HTML, and the function that fills them in.

Python hands over data, templates hold the markup. Every value is escaped; only what a template
marks as ``safe`` is not: drawings made by vl-convert, the style sheet, and HTML of other templates.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["render"]


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
    """The template of that name with its values filled in.

    >>> render("tables.html.jinja", tables=[("<i>", [("class", "rows"), ("a", "2")])])
    '<p>&lt;i&gt;</p><table><tr><th>class</th><th>rows</th></tr><tr><th>a</th><td>2</td></tr></table>'
    """
    return _environment().get_template(template).render(values)
