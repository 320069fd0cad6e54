"""AODE in a file: its parameters, schema, bins and trust beside its counts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.aode.counting import columns_of
from deciban.aode.model import Model
from deciban.aode.scoring import amounts
from deciban.aode.tally import VALUES, Edges, Tally
from deciban.aode.trust import STRENGTHS, Trust
from deciban.errors import ModelFileError
from deciban.files import Stored
from deciban.files.document import check_keys, field
from deciban.models.calibration import DISCOUNT_GRID
from deciban.naive_bayes.stored import column, plain, stated_prior
from deciban.schema import Schema
from deciban.stats.categories import CATEGORIES, count_of

KIND = "AODE"


def to_stored(model: Model, parameters: dict[str, Any], target: str | None, named: bool) -> Stored:
    """The model as a file holds it."""
    edges = model.tally.edges
    bins = parameters["bins"]
    if isinstance(bins, dict):
        bins = {
            str(name): np.asarray(cuts, dtype=np.float64).tolist() for name, cuts in bins.items()
        }
    description: dict[str, Any] = {
        "parameters": plain({**parameters, "bins": bins}),
        "target": target,
        "named": named,
        "columns": [asdict(entry) for entry in model.schema.columns],
        "prior": None if model.prior is None else model.prior.tolist(),
    }
    arrays = {
        "pairs": model.tally.pairs,
        "edges": np.concatenate([np.empty(0), *(edges[n] for n in model.schema.numbers)]),
        "cuts": np.array([len(edges[n]) for n in model.schema.numbers], dtype=np.int64),
    }
    if model.trust is not None:
        arrays["trust"] = np.append(model.trust.loss.ravel(), model.trust.rows)
    return Stored(KIND, model.counts, description, arrays=arrays)


def from_stored(stored: Stored, smoothing: float | None, settings: dict[str, Any]) -> Model:
    """The model of a file, checked; the settings are those of its parameters."""
    about, arrays = stored.description, dict(stored.arrays)
    schema = Schema(tuple(column(entry) for entry in field(about, "columns", list)))
    edges = _edges(schema, _taken(arrays, "edges"), _taken(arrays, "cuts"))
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    tally = Tally(edges, stored.counts, _taken(arrays, "pairs"))
    strengths = STRENGTHS if smoothing is None else (smoothing,)
    trust = _trust(arrays.pop("trust", None), strengths)
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")
    _check_values(schema, tally)
    _check_pairs(tally)
    prior = stated_prior(about, stored.counts)
    return Model(schema, tally, smoothing, prior=prior, trust=trust, **settings)


def check(stored: Stored) -> None:
    """Refuse a file of something else."""
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    check_keys(stored.description, "parameters", "target", "named", "columns", "prior")
    target = stored.description.get("target")
    if not (target is None or isinstance(target, str)):
        raise ModelFileError("the target must be the name of a column.")


def _taken(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise ModelFileError(f"the array {name!r} is not there.")
    return arrays.pop(name)


def _edges(schema: Schema, edges: NDArray[Any], cuts: NDArray[Any]) -> Edges:
    """The cut points of each numeric column."""
    n = len(schema.numbers)
    if cuts.dtype != np.int64 or cuts.shape != (n,) or np.any(cuts < 0):
        raise ModelFileError("the numbers of cut points are not those of the columns.")
    if edges.dtype != np.float64 or edges.shape != (int(cuts.sum()),):
        raise ModelFileError("the cut points are not as many as they should be.")
    parts = np.split(edges, np.cumsum(cuts)[:-1]) if n else []
    if not all(np.all(np.isfinite(part)) and np.all(np.diff(part) > 0) for part in parts):
        raise ModelFileError("the cut points must be finite, and rise.")
    return dict(zip(schema.numbers, parts, strict=True))


def _trust(table: NDArray[Any] | None, strengths: tuple[float, ...]) -> Trust | None:
    if table is None:
        return None
    size = len(strengths) * len(DISCOUNT_GRID)
    if table.dtype != np.float64 or table.shape != (size + 1,):
        raise ModelFileError(f"the trust must be {size + 1} floats.")
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise ModelFileError("the trust must be finite and not below zero.")
    loss = table[:-1].reshape(len(strengths), len(DISCOUNT_GRID))
    return Trust(strengths, loss, float(table[-1]))


def _check_values(schema: Schema, tally: Tally) -> None:
    """The counts have the columns of the schema, and numbers the bins that are cut."""
    tables = tally.counts.tables
    if set(tables) != {VALUES} or tables[VALUES].statistic is not CATEGORIES:
        raise ModelFileError("the counts must be one block of values.")
    if tuple(tally.cells.columns.tolist()) != columns_of(schema):
        raise ModelFileError("the counts are not those of the columns.")
    for name, values in zip(schema.numbers, tally.cells.values or (), strict=False):
        if values.tolist() != list(range(len(tally.edges[name]) + 1)):
            raise ModelFileError(f"the bins of column {name!r} are not those of its cut points.")


def _check_pairs(tally: Tally) -> None:
    """Every value occurs beside those of another column as often as by itself."""
    pairs, layout = tally.pairs, tally.layout
    shape = (layout.n_pairs, len(tally.counts.classes))
    if pairs.dtype != np.float64 or pairs.shape != shape:
        raise ModelFileError(f"the pairs must be {shape[0]} by {shape[1]} floats.")
    if not np.all(np.isfinite(pairs)) or np.any(pairs < 0):
        raise ModelFileError("the pairs must be finite and not below zero.")
    table = tally.counts.tables[VALUES]
    alone = amounts(count_of(table), table.rows, layout)
    for i, j in layout.columns():
        part = pairs[layout.lines(i, j)]
        for at, axis in ((i, 1), (j, 0)):
            cells = slice(layout.first[at], layout.first[at + 1])
            if not np.allclose(part.sum(axis=axis), alone[cells], rtol=1e-9, atol=1e-9):
                raise ModelFileError("the pairs do not add up to the counts of the values.")
