"""Charts drawn without a browser: Vega-Lite to SVG and PNG, by vl-convert.

A browser may have other letters than those a chart was laid out with. So every text of a drawing
states its width, and a drawing is as large as its texts need.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from types import ModuleType
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from deciban.charts import INK, LABEL_SIZE, PAPER, RULE, SOFT, Chart
from deciban.charts.letters import FONT_FAMILIES, text_width
from deciban.errors import MissingPackageError
from deciban.plain import PlainDict

#: Large letters, since a phone shows a chart somewhat smaller.
CHART_CONFIG: PlainDict = {
    "background": PAPER,
    "font": FONT_FAMILIES,
    "axis": {"labelFontSize": LABEL_SIZE, "titleFontSize": LABEL_SIZE, "titleFontWeight": "normal",
             "labelColor": INK, "titleColor": INK, "gridColor": RULE, "labelOverlap": "greedy",
             "labelSeparation": 6},
    "axisQuantitative": {"tickCount": 6},
    "legend": {"labelFontSize": LABEL_SIZE, "titleFontSize": LABEL_SIZE,
               "titleFontWeight": "normal", "titleLimit": 400, "labelColor": INK,
               "titleColor": INK},
    "title": {"fontSize": 15, "subtitleFontSize": 12, "anchor": "start", "color": INK,
              "subtitleColor": SOFT},
    "text": {"fontSize": 12, "color": INK},
    "view": {"stroke": RULE},
}  # fmt: skip
#: Twice the size, for screens and print.
PNG_SCALE = 2.0
#: Pixels that are left free around texts; letters reach so far above and below their baseline.
MARGIN_PIXELS, ASCENT, DESCENT = 5.0, 0.93, 0.25

_SVG = "http://www.w3.org/2000/svg"
_TRANSFORM = re.compile(r"(translate|rotate)\(([^)]*)\)")
#: An affine map (a, b, c, d, e, f), as SVG writes it.
_Map = tuple[float, float, float, float, float, float]
_Box = tuple[float, float, float, float]


def to_svg(chart: Chart) -> str:
    """The chart as a drawing whose texts are as wide as they were laid out, and all inside."""
    spec = chart.to_dict(validate=False)  # its parts were checked as they were made
    own = spec.get("config", {})
    spec["config"] = {
        **own,
        **CHART_CONFIG,
        "view": {**CHART_CONFIG["view"], **own.get("view", {})},
    }
    return fit_texts(_vl_convert().vegalite_to_svg(spec))


def to_png(drawing: str) -> bytes:
    """A drawing in pixels."""
    pixels: bytes = _vl_convert().svg_to_png(drawing, scale=PNG_SCALE)
    return pixels


def fit_texts(drawing: str) -> str:
    """State the width of every text, and widen the drawing to where its texts reach.

    >>> text = '<text font-size="10px" text-anchor="end" transform="translate(9,9)">age</text>'
    >>> box = 'width="20" height="30" viewBox="0 0 20 30"'
    >>> fit_texts(f'<svg xmlns="{_SVG}" {box}>{text}</svg>')[40:79]
    'width="33" height="36" viewBox="-13 -6 '
    """
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(drawing)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    right, bottom = left + width, top + height
    for x0, y0, x1, y1 in _fit(root, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)):
        left, right = min(left, math.floor(x0)), max(right, math.ceil(x1))
        top, bottom = min(top, math.floor(y0)), max(bottom, math.ceil(y1))
    root.set("width", f"{right - left:g}")
    root.set("height", f"{bottom - top:g}")
    root.set("viewBox", f"{left:g} {top:g} {right - left:g} {bottom - top:g}")
    paper = root.find(f"{{{_SVG}}}rect")
    if paper is not None:
        for name, value in (("x", left), ("y", top)):
            paper.set(name, f"{value:g}")
    return ElementTree.tostring(root, encoding="unicode")


def _fit(element: Element, outer: _Map) -> Iterator[_Box]:
    """The boxes of all texts below an element, each of which is given its width."""
    inner = _compose(outer, element.get("transform", ""))
    if element.tag == f"{{{_SVG}}}text":
        yield from _fit_text(element, inner)
    else:
        for child in element:
            yield from _fit(child, inner)


def _fit_text(text: Element, at: _Map) -> Iterator[_Box]:
    """The box of one text, or of each of its lines."""
    size = float(text.get("font-size", "11px").removesuffix("px"))
    bold = text.get("font-weight") in ("bold", "600", "700")
    down = 0.0
    for line in list(text) or [text]:
        down += float(line.get("dy", 0.0))
        words = line.text or ""
        if words.strip() and text.get("opacity") != "0":
            width = text_width(words, size, bold=bold)
            line.set("textLength", f"{width:.1f}")
            line.set("lengthAdjust", "spacingAndGlyphs")
            start = {"middle": -width / 2, "end": -width}.get(text.get("text-anchor", ""), 0.0)
            yield _box(at, start, down, width, size)


def _box(at: _Map, start: float, down: float, width: float, size: float) -> _Box:
    """Where a text stands in the drawing, with its margin."""
    a, b, c, d, e, f = at
    corners = [
        (a * x + c * y + e, b * x + d * y + f)
        for x in (start, start + width)
        for y in (down - ASCENT * size, down + DESCENT * size)
    ]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return (min(xs) - MARGIN_PIXELS, min(ys) - MARGIN_PIXELS,
            max(xs) + MARGIN_PIXELS, max(ys) + MARGIN_PIXELS)  # fmt: skip


def _compose(outer: _Map, transform: str) -> _Map:
    """A map after the translations and rotations of an attribute."""
    a, b, c, d, e, f = outer
    for name, numbers in _TRANSFORM.findall(transform):
        values = [float(number) for number in re.split(r"[\s,]+", numbers.strip())]
        if name == "translate":
            x, y = values[0], values[1] if len(values) > 1 else 0.0
            e, f = a * x + c * y + e, b * x + d * y + f
        else:
            cos, sin = math.cos(math.radians(values[0])), math.sin(math.radians(values[0]))
            a, b, c, d = a * cos + c * sin, b * cos + d * sin, c * cos - a * sin, d * cos - b * sin
    return a, b, c, d, e, f


def _vl_convert() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise MissingPackageError(
            "charts are drawn by vl-convert, which is not installed.",
            hint="pip install 'deciban[charts]'",
        ) from None
    return vl_convert
