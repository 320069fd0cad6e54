"""Draw the picture of the README: why the model of docs/fruit.csv takes a fruit for a plum.

``python examples/picture.py`` writes ``docs/explanation.svg``, with ``deciban[charts]`` installed.
"""

from __future__ import annotations

from pathlib import Path

from deciban import NaiveBayes

DOCS = Path(__file__).parents[1] / "docs"
ROW = {"grams": 103.3, "colour": "red", "ripe": True, "picked": "2025-08-02"}


def draw(path: Path) -> None:
    """Train, explain one row, and write the chart to a file."""
    model = NaiveBayes().fit(DOCS / "fruit.csv", target="fruit")
    model.explain(ROW).chart().save(str(path))


if __name__ == "__main__":
    draw(DOCS / "explanation.svg")
