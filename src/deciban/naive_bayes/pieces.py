"""What NaiveBayes adds up: a piece for every column that is counted, read off the tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families import family, gaussian, histogram
from deciban.families.discrete import pseudo_count
from deciban.families.piece import (
    Piece,
    bells_drawn,
    density_shares,
    missing_name,
    shares_drawn,
)
from deciban.naive_bayes.model import Model
from deciban.schema import ColumnSchema, Schema
from deciban.sources.columns import Times
from deciban.sources.row import parse_time

FloatArray = NDArray[np.float64]

#: The points of a bell curve, and the share of values beyond each of its ends.
POINTS, BEYOND = 81, 0.001
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def pieces(model: Model) -> list[Piece]:
    """The pieces of all blocks, in the order of the schema's columns."""
    make = {
        "categories": _categories,
        "gaussian": _bells,
        "histogram": _bins,
        "missing": _missing,
    }
    blocks = [block for block in model.blocks.tables if block in make]
    found = [piece for block in blocks for piece in make[block](model)]
    place = {name: j for j, name in enumerate(model.schema.names)}
    return sorted(found, key=lambda piece: place[piece.feature])


def homes(schema: Schema) -> dict[str, ColumnSchema]:
    """The column that each counted name belongs to."""
    return {n: c for c in schema.columns for n in (*c.numbers, *c.categories)}


def _categories(model: Model) -> Iterator[Piece]:
    table, params = model.blocks.tables["categories"], model.params.blocks["categories"][1]
    values = table.cells.values or ()
    for j, name in enumerate(table.cells.columns.tolist()):
        some = slice(table.cells.offsets[j], table.cells.offsets[j + 1])
        log = params.log_prob[params.offsets[j] : params.offsets[j + 1] - 1]
        known, home = tuple(values[j].tolist()), homes(model.schema)[name]
        days = tuple(WEEKDAYS[int(v)] for v in known) if name.endswith(" (weekday)") else ()
        yield _discrete(
            model, "categories", j, log, table.sums["count"][:, some].T,
            feature=home.name, name=name, kind="category", values=known,
            names=days if home.kind == "time" else (),
        )  # fmt: skip


def _missing(model: Model) -> Iterator[Piece]:
    table, params = model.blocks.tables["missing"], model.params.blocks["missing"][1]
    for j, name in enumerate(table.cells.columns.tolist()):
        log = params.log_prob[params.offsets[j] : params.offsets[j + 1] - 1]
        yield _discrete(
            model, "missing", j, log, table.sums["count"][:, 2 * j : 2 * j + 2].T,
            feature=homes(model.schema)[name].name, name=missing_name(name), kind="category",
            values=(False, True), names=("present", "missing"),
        )  # fmt: skip


def _bins(model: Model) -> Iterator[Piece]:
    table, params = model.blocks.tables["histogram"], model.params.blocks["histogram"][1]
    grid = histogram.grid_of(table.cells)
    for j, name in enumerate(table.cells.columns.tolist()):
        some = slice(params.cells.offsets[j], params.cells.offsets[j + 1])
        log = params.bins.log_prob[params.bins.offsets[j] : params.bins.offsets[j + 1] - 1]
        counts = table.sums["count"][:, table.cells.offsets[j] : table.cells.offsets[j + 1]]
        x = _middles(grid.middles(j), counts.sum(axis=0), params.edges[j])
        home = homes(model.schema)[name]
        ends = tuple(map(str, values_of(home, params.edges[j]))) if home.unit else ()
        yield _discrete(
            model, "histogram", j, log, params.sums["count"][:, some].T,
            feature=home.name, name=name, kind="number", values=values_of(home, x),
            edges=tuple(params.edges[j].tolist()), names=_between(ends),
        )  # fmt: skip


def _discrete(
    model: Model, block: str, column: int, log: FloatArray, counts: FloatArray, **about: Any
) -> Piece:
    """A piece whose values have shares."""
    how = model.settings[block]
    lam = how.per_column(len(model.blocks.tables[block].cells.columns))[column]
    extra = float(pseudo_count(how.method, lam))
    return Piece(
        said=model.discount * log,
        share=np.exp(log),
        rows=counts,
        draws=shares_drawn(counts, extra, model.discount),
        **about,
    )


def _bells(model: Model) -> Iterator[Piece]:
    table, params = model.blocks.tables["gaussian"], model.params.blocks["gaussian"][1]
    counted = model.counts.tables["histogram"]
    grid, at = histogram.grid_of(counted.cells), counted.cells.columns.tolist()
    n, mean, spread = gaussian.moments(dict(table.sums))
    for j, name in enumerate(table.cells.columns.tolist()):
        keys = slice(*list(pairwise(counted.cells.offsets))[at.index(name)])
        x, rows = _points(grid.middles(at.index(name)), counted.sums["count"][:, keys])
        wide = np.full((len(x), params.n_columns), np.nan)
        wide[:, j] = x
        said = family("gaussian").explain(params, wide)[:, j]
        home = homes(model.schema)[name]
        yield Piece(
            home.name, name, "number", values_of(home, x), model.discount * said,
            density_shares(said, x), rows,
            bells_drawn(x, n[:, j], mean[:, j], spread[:, j], model.discount),
        )  # fmt: skip


def _points(keys: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Evenly spaced values, each the nearest that was seen, and the rows nearest to each."""
    if not len(keys):
        return np.zeros(1), np.zeros((1, len(counts)))
    reached = np.cumsum(counts.sum(axis=0)) / max(counts.sum(), 1e-300)
    low, high = np.searchsorted(reached, [BEYOND, 1.0 - BEYOND])
    high = min(high, len(keys) - 1)
    even = np.linspace(keys[low], keys[high], POINTS)
    x = np.unique(keys[_nearest(even, keys)])
    rows = np.zeros((len(x), len(counts)))
    np.add.at(rows, _nearest(keys, x), counts.T)
    return x, rows


def _nearest(values: FloatArray, among: FloatArray) -> NDArray[np.intp]:
    """The position of the nearest of ``among``, which is in order."""
    if len(among) < 2:
        return np.zeros(len(values), dtype=np.intp)
    return np.asarray(np.searchsorted((among[1:] + among[:-1]) / 2, values))


def _middles(keys: FloatArray, rows: FloatArray, edges: FloatArray) -> FloatArray:
    """The median of the values in every bin."""
    if not len(keys):
        return np.zeros(len(edges) + 1)
    bins = np.searchsorted(edges, keys, side="right")
    found = np.empty(len(edges) + 1)
    for b in range(len(found)):
        inside = np.flatnonzero(bins == b)
        if not len(inside):  # all its rows were taken away
            found[b] = edges[b - 1] if b else edges[0]
            continue
        half = np.cumsum(rows[inside])
        found[b] = keys[inside[np.searchsorted(half, half[-1] / 2)]]
    return found


def values_of(column: ColumnSchema, x: FloatArray) -> tuple[Any, ...]:
    """Numbers as a row would hold them: whole, or times."""
    if column.unit:
        micro = np.round(x * 1e6).astype(np.int64)
        written = Times(micro, np.zeros(len(x), dtype=bool), column.unit).tolist()
        return tuple(parse_time(column.unit, text) for text in written if text)
    whole = bool(np.all(x == np.round(x))) and bool(np.all(np.abs(x) < 2**53))
    return tuple(x.astype(np.int64).tolist() if whole else x.tolist())


def _between(ends: tuple[str, ...]) -> tuple[str, ...]:
    """Bins of times in words."""
    if not ends:
        return ()
    middle = [f"{low} – {high}" for low, high in pairwise(ends)]
    return (f"before {ends[0]}", *middle, f"from {ends[-1]}")
