"""Charts by Altair: each module draws one kind of object, which a protocol in it describes.

Altair is imported when a chart is made, and only here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, TypeAlias

from deciban.charts.letters import text_width
from deciban.errors import MissingPackageError

#: A chart, or a part of one, as Altair makes it; Altair is imported when one is made.
Chart: TypeAlias = Any
#: A row of a chart's data.
Row: TypeAlias = dict[str, Any]

#: Colours that people who do not tell red from green can tell apart.
FOR, AGAINST, PLAIN, TOTAL = "#2a7fb8", "#d1603d", "#5b7083", "#33434f"
#: Letters, small print, faint lines, and what is behind them all; pages replace them in the dark.
INK, SOFT, RULE, PAPER = "#1d2730", "#667085", "#dde3e8", "white"
#: The width of most charts, in pixels.
CHART_WIDTH = 460
#: The font size of the labels of axes, and the gap between them and their axis, in pixels.
LABEL_SIZE, LABEL_GAP = 13, 9


def altair() -> ModuleType:
    """The library, or an error that says how to get it."""
    try:
        import altair as library
    except ImportError:
        raise MissingPackageError(
            "charts need Altair, which is not installed.", hint="pip install 'deciban[charts]'"
        ) from None
    return library


def data(rows: Iterable[Mapping[str, object]]) -> Chart:
    """Rows as the data of a chart; no frame library is needed."""
    return altair().Data(values=[dict(row) for row in rows])


def label_axis(labels: Iterable[str], limit: float, **options: Any) -> Chart:
    """An axis of names with room for the widest of them, cut at so many pixels."""
    widest = max((text_width(label, LABEL_SIZE) for label in labels), default=0.0)
    room = min(widest, limit) + LABEL_GAP
    return altair().Axis(labelLimit=limit, minExtent=room, **options)


def finite(value: float, limit: float) -> float:
    """A number that can be drawn: infinity ends at the limit.

    >>> finite(float("inf"), 9.0), finite(2.0, 9.0)
    (9.0, 2.0)
    """
    return max(-limit, min(limit, float(value)))
