"""What a fitted model has learned, in a few lines: how an estimator shows itself in a notebook."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from deciban.explanation.importance import importance_of
from deciban.models.protocol import CountedModel, HasCounts, Model
from deciban.templates import html_tables

#: So many classes and columns are named.
MAX_NAMED = 6


def learned_html(model: Model) -> str:
    """A table of rows, classes and columns, and the columns that say most."""
    return html_tables((model.kind, [("learned", ""), *_lines(model)]))


def _lines(model: Model) -> list[tuple[str, str]]:
    classes = [str(label) for label in model.classes.tolist()]
    lines = []
    if isinstance(model, HasCounts):
        weight = model.counts.weight
        total = float(weight.sum())
        lines.append(("rows", f"{total:,.12g}"))
        shares = weight / total if total else weight
        classes = [f"{c} ({100 * share:.1f} %)" for c, share in zip(classes, shares, strict=True)]
    lines.append((f"{len(classes):,} classes", _some(classes)))
    kinds = Counter(column.kind for column in model.schema.columns)
    columns = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
    lines.append((f"{len(model.schema.columns):,} columns", columns))
    if isinstance(model, CountedModel):
        lines.append(("temperature", f"{model.temperature:.2f}"))
    if model.additive and (weights := importance_of(model)):
        strongest = [f"{w.feature} {w.decibans:.1f}" for w in islice(weights, MAX_NAMED)]
        lines.append(("decibans a row", _some(strongest, len(weights))))
    return lines


def _some(names: list[str], n: int | None = None) -> str:
    """Some names, and how many more there are."""
    shown = ", ".join(name if len(name) <= 60 else name[:59] + "…" for name in names[:MAX_NAMED])
    more = (len(names) if n is None else n) - MAX_NAMED
    return shown + (f" and {more:,} more" if more > 0 else "")
