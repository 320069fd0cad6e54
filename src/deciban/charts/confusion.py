"""The confusion matrix: rows are truths, columns are answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.charts import LABEL_GAP, LABEL_SIZE, Chart, altair, data, label_axis
from deciban.charts.letters import text_width

#: Cells are so wide at most, and a matrix is about so wide, in pixels.
MAX_CELL_WIDTH, MATRIX_WIDTH = 96, 480


def chart(confusion: NDArray[np.float64], classes: Sequence[Hashable]) -> Chart:
    """Shaded by the share of the truth; written is the number of rows."""
    alt = altair()
    names = [str(label) for label in classes]
    size = min(MAX_CELL_WIDTH, MATRIX_WIDTH // len(names))
    level = max(text_width(name, LABEL_SIZE) for name in names) < size - LABEL_GAP
    axis = alt.Axis(labelLimit=140, labelAngle=0 if level else -40, orient="top")
    base = alt.Chart(data(_cells(confusion, names))).encode(
        x=alt.X("answer:N", sort=names, title="answer", axis=axis),
        y=alt.Y("truth:N", sort=names, title="truth", axis=label_axis(names, 140)),
    )
    dark = alt.condition("datum.share > 0.55", alt.value("white"), alt.value("#222"))
    return alt.layer(
        base.mark_rect().encode(
            color=alt.Color(
                "share:Q",
                title="share of the truth",
                scale=alt.Scale(domain=[0, 1], scheme="blues"),
                legend=alt.Legend(format=".0%", orient="right"),
            )
        ),
        base.mark_text(fontSize=13 if size > 50 else 9).encode(
            text=alt.Text("rows:Q", format=",.0f" if size > 40 else ".2~s"), color=dark
        ),
    ).properties(width=size * len(names), height=min(size, 64) * len(names),
                 title="Answers, by truth")  # fmt: skip


def _cells(confusion: NDArray[np.float64], names: Sequence[str]) -> list[dict[str, str | float]]:
    """The rows of each truth and answer, and their share of the truth."""
    share = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1e-300)
    return [
        {"truth": truth, "answer": answer, "rows": float(rows), "share": float(part)}
        for truth, *of_truth in zip(names, confusion, share, strict=True)
        for answer, rows, part in zip(names, *of_truth, strict=True)
    ]
