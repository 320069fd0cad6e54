"""Charts in notebooks that need no network: drawn here, not by scripts from elsewhere.

A chart of Altair shows itself by scripts that it loads from the network, unless the user has
chosen a renderer. The charts of this package are drawn as SVG instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from deciban.charts import Chart, altair
from deciban.charts.svg import to_svg
from deciban.errors import MissingPackageError
from deciban.templates import html_tables


def offline(chart: Chart) -> Chart:
    """The chart, which shows itself as SVG unless the user has chosen a renderer of Altair's."""
    # Not a field of the specification, which is what setting an attribute would make of it.
    object.__setattr__(chart, "_repr_mimebundle_", partial(_bundle, chart))
    return chart


def _bundle(chart: Chart, *arguments: Any, **options: Any) -> Any:
    """What a notebook shows of a chart."""
    if altair().renderers.active == "default":
        try:
            return {"text/plain": repr(type(chart)), "text/html": to_svg(chart)}
        except MissingPackageError:
            pass
    return type(chart)._repr_mimebundle_(chart, *arguments, **options)


def chart_html(draw: Callable[[], Chart], title: str, table: Sequence[Sequence[str]]) -> str:
    """A chart for a notebook, or a table where charts cannot be drawn."""
    try:
        return to_svg(draw())
    except MissingPackageError:
        return html_tables((title, table))
