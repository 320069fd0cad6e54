"""AODE in a file: its parameters, schema, cut points and calibration beside its counts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.aode.calibration import StrengthCalibration
from deciban.aode.cut_points import CutPoints
from deciban.aode.model import KIND, AODEModel, AODEOptions
from deciban.aode.one_dependence import cell_weights
from deciban.aode.pair_counts import VALUES, PairCounts, counted_columns
from deciban.errors import ModelFileError, ParameterError
from deciban.explanation import stored as evidence_files
from deciban.explanation.stored import KEY
from deciban.files import Stored
from deciban.files.document import check_keys, field
from deciban.models.calibration import DISCOUNT_GRID
from deciban.naive_bayes.stored import plain, read_schema, stated_prior
from deciban.schema import Schema
from deciban.stats.categories import CATEGORIES, count_of


def to_stored(
    model: AODEModel, parameters: dict[str, Any], target: str | None, named: bool
) -> Stored:
    """The model as a file holds it."""
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
    said, arrays = evidence_files.to_stored(model.measured_evidence, model.classes)
    return Stored(KIND, model.counts, description | said, arrays=_arrays(model) | arrays)


def _arrays(model: AODEModel) -> dict[str, NDArray[Any]]:
    cuts = [model.pair_counts.cut_points[name] for name in model.schema.numbers]
    arrays: dict[str, NDArray[Any]] = {
        "pairs": model.pair_counts.pairs,
        "edges": np.concatenate([np.empty(0), *cuts]),
        "cuts": np.array([len(each) for each in cuts], dtype=np.int64),
    }
    if model.calibration is not None:
        arrays["trust"] = np.append(model.calibration.loss.ravel(), model.calibration.rows)
    return arrays


def from_stored(stored: Stored, options: AODEOptions | None = None) -> AODEModel:
    """The model of a file, checked; without options, they are those of its parameters."""
    about, arrays = stored.description, dict(stored.arrays)
    options = options or _options(stored)
    schema = read_schema(about)
    cuts = _cut_points(schema, _pop(arrays, "edges"), _pop(arrays, "cuts"))
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    pair_counts = PairCounts(cuts, stored.counts, _pop(arrays, "pairs"))
    _check_values(schema, pair_counts)
    calibration = _calibration(arrays.pop("trust", None), options.strengths)
    said = evidence_files.from_stored(about, arrays, schema, stored.counts.classes)
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")
    _check_pairs(pair_counts)
    prior = stated_prior(about, stored.counts)
    return AODEModel(schema, pair_counts, options, prior, calibration, said)


def _options(stored: Stored) -> AODEOptions:
    check(stored)
    stated = field(stored.description, "parameters", dict)
    try:
        names = ("smoothing", "missing", "support", "calibrate")
        return AODEOptions.of(**{name: stated[name] for name in names if name in stated})
    except ParameterError as error:
        raise ModelFileError(f"the parameters are not those of {KIND}: {error}") from None


def check(stored: Stored) -> None:
    """Refuse a file of something else."""
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    check_keys(stored.description, "parameters", "target", "named", "columns", "prior", KEY)
    target = stored.description.get("target")
    if not (target is None or isinstance(target, str)):
        raise ModelFileError("the target must be the name of a column.")


def _pop(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise ModelFileError(f"the array {name!r} is not there.")
    return arrays.pop(name)


def _cut_points(schema: Schema, cuts: NDArray[Any], sizes: NDArray[Any]) -> CutPoints:
    """The cut points of each numeric column."""
    n = len(schema.numbers)
    if sizes.dtype != np.int64 or sizes.shape != (n,) or np.any(sizes < 0):
        raise ModelFileError("the numbers of cut points are not those of the columns.")
    if cuts.dtype != np.float64 or cuts.shape != (int(sizes.sum()),):
        raise ModelFileError("the cut points are not as many as they should be.")
    by_column = np.split(cuts, np.cumsum(sizes)[:-1]) if n else []
    if not all(np.all(np.isfinite(each)) and np.all(np.diff(each) > 0) for each in by_column):
        raise ModelFileError("the cut points must be finite, and rise.")
    return dict(zip(schema.numbers, by_column, strict=True))


def _calibration(
    table: NDArray[Any] | None, strengths: tuple[float, ...]
) -> StrengthCalibration | None:
    if table is None:
        return None
    shape = len(strengths), len(DISCOUNT_GRID)
    size = shape[0] * shape[1] + 1
    if table.dtype != np.float64 or table.shape != (size,):
        raise ModelFileError(f"the trust must be {size} floats.")
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise ModelFileError("the trust must be finite and not below zero.")
    return StrengthCalibration(strengths, table[:-1].reshape(shape), float(table[-1]))


def _check_values(schema: Schema, pair_counts: PairCounts) -> None:
    """The counts have the columns of the schema, and numbers the bins of their cut points."""
    tables = pair_counts.counts.tables
    if set(tables) != {VALUES} or tables[VALUES].statistic is not CATEGORIES:
        raise ModelFileError("the counts must be one block of values.")
    if tuple(pair_counts.cells.columns.tolist()) != counted_columns(schema):
        raise ModelFileError("the counts are not those of the columns.")
    for name, values in zip(schema.numbers, pair_counts.cells.values or (), strict=False):
        if values.tolist() != list(range(len(pair_counts.cut_points[name]) + 1)):
            raise ModelFileError(f"the bins of column {name!r} are not those of its cut points.")


def _check_pairs(pair_counts: PairCounts) -> None:
    """Every value occurs beside those of another column as often as by itself."""
    pairs, layout = pair_counts.pairs, pair_counts.layout
    shape = (layout.n_pairs, len(pair_counts.counts.classes))
    if pairs.dtype != np.float64 or pairs.shape != shape:
        raise ModelFileError(f"the pairs must be {shape[0]} by {shape[1]} floats.")
    if not np.all(np.isfinite(pairs)) or np.any(pairs < 0):
        raise ModelFileError("the pairs must be finite and not below zero.")
    table = pair_counts.counts.tables[VALUES]
    weights = cell_weights(count_of(table), table.rows, layout)
    for i, j in layout.column_pairs():
        block = pairs[layout.lines(i, j)]
        for at, axis in ((i, 1), (j, 0)):
            cells = slice(layout.first[at], layout.first[at + 1])
            if not np.allclose(block.sum(axis=axis), weights[cells], rtol=1e-9, atol=1e-9):
                raise ModelFileError("the pairs do not add up to the counts of the values.")
