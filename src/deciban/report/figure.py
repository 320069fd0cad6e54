"""A figure of a report: a chart, what it shows in words, and its files.

A drawing that stands in a page has names of its own for its parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from deciban.charts import Chart
from deciban.charts.svg import to_png, to_svg

_INNER_NAMES = re.compile(r'(\bid="|url\(#|href="#)((?:clip|gradient_)\w*)')


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with a name for files, its section, a title, and what it shows in words."""

    name: str
    section: str
    title: str
    shows: str
    chart: Chart = field(repr=False)

    @cached_property
    def svg(self) -> str:
        """The picture."""
        return to_svg(self.chart)

    @cached_property
    def png(self) -> bytes:
        """The picture in pixels."""
        return to_png(self.svg)

    @property
    def width(self) -> float:
        """In pixels."""
        match = re.search(r'width="([\d.]+)"', self.svg)
        return float(match[1]) if match else 0.0

    @property
    def svg_parts(self) -> tuple[str, str]:
        """The opening tag without its end, and the rest; names inside are those of this figure."""
        opening, content = _INNER_NAMES.sub(rf"\g<1>{self.name}-\g<2>", self.svg).split(">", 1)
        return opening, content

    @property
    def files(self) -> dict[str, bytes]:
        """What its files are called, and what they hold."""
        return {f"{self.name}.svg": self.svg.encode(), f"{self.name}.png": self.png}
