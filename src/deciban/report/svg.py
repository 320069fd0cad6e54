"""Charts drawn without a browser: Vega-Lite to SVG and PNG, by vl-convert.

An SVG that stands in a page has names of its own for its parts, and says what it
shows to those who do not see it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from deciban.charts import Chart
from deciban.errors import MissingPackageError

#: Larger letters than usual: a phone shows a chart at two thirds of its size.
CHART_CONFIG: dict[str, Any] = {
    "background": "white",
    "font": "sans-serif",
    "axis": {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal",
             "gridColor": "#e6e9ec"},
    "legend": {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal"},
    "title": {"fontSize": 15, "subtitleFontSize": 12, "anchor": "start"},
    "text": {"fontSize": 12},
}  # fmt: skip
#: Twice the size, for screens and print.
PNG_SCALE = 2.0
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
        spec = self.chart.to_dict(validate=False)  # its parts were checked as they were made
        spec["config"] = {**spec.get("config", {}), **CHART_CONFIG}
        drawing: str = _vl_convert().vegalite_to_svg(spec)
        return drawing

    @cached_property
    def png(self) -> bytes:
        """The picture in pixels."""
        pixels: bytes = _vl_convert().svg_to_png(self.svg, scale=PNG_SCALE)
        return pixels

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


def _vl_convert() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise MissingPackageError(
            "charts are drawn by vl-convert, which is not installed.",
            hint="pip install deciban[charts]",
        ) from None
    return vl_convert
