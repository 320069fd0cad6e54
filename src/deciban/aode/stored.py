"""AODE in a file: its parameters, schema, cut points and calibration beside its counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from deciban.aode.calibration import AODEOptions, StrengthCalibration
from deciban.aode.cut_points import CutPoints
from deciban.aode.model import KIND, AODEModel
from deciban.aode.one_dependence import cell_weights
from deciban.aode.pair_counts import VALUES, PairCounts, counted_columns
from deciban.checks import MAX_FLOAT
from deciban.errors import ModelFileError, ParameterError
from deciban.explanation import stored as evidence_files
from deciban.files import Stored, document
from deciban.files.arrays import ArrayReader, left_out_from, left_out_to
from deciban.files.description import AODEEntry, CurveEntry
from deciban.labels import Array
from deciban.models.calibration import DISCOUNT_GRID
from deciban.naive_bayes.stored import check_texts, schema_of, stated_prior
from deciban.plain import PlainDict, plain
from deciban.schema import Schema
from deciban.stats.categories import CATEGORIES, count_of
from deciban.stats.cells import MAX_GRID_KEYS
from deciban.stats.counts import Counts
from deciban.stats.statistic import FloatArray


def to_stored(model: AODEModel, parameters: PlainDict, target: str | None, named: bool) -> Stored:
    """The model as a file holds it."""
    bins = parameters["bins"]
    if isinstance(bins, dict):
        bins = {
            str(name): np.asarray(cuts, dtype=np.float64).tolist() for name, cuts in bins.items()
        }
    description: PlainDict = {
        "parameters": plain({**parameters, "bins": bins}, strict=True),
        "target": target,
        "named": named,
        "columns": [asdict(entry) for entry in model.schema.columns],
        "prior": None if model.prior is None else model.prior.tolist(),
    }
    said, arrays = evidence_files.to_stored(model.measured_evidence, model.classes)
    return Stored(KIND, model.counts, description | said, arrays=_arrays(model) | arrays)


def _arrays(model: AODEModel) -> dict[str, Array]:
    cuts = [model.pair_counts.cut_points[name] for name in model.schema.numbers]
    arrays: dict[str, Array] = {
        "pairs": model.pair_counts.pairs,
        "edges": np.concatenate([np.empty(0), *cuts]),
        "cuts": np.array([len(each) for each in cuts], dtype=np.int64),
    }
    if model.calibration is not None:
        arrays["trust"] = np.append(model.calibration.loss.ravel(), model.calibration.rows)
        arrays |= left_out_to(model.calibration.left_out, model.classes)
    return arrays


def from_stored(stored: Stored) -> AODEModel:
    """The model of a file, checked."""
    about = read(stored)
    stated = about.parameters
    names = ("smoothing", "missing", "support", "calibrate")
    try:
        options = AODEOptions.of(**{name: stated[name] for name in names if name in stated})
    except ParameterError as error:
        raise ModelFileError(f"the parameters are not those of {KIND}: {error}") from None
    return model_of(about, stored, options)


def read(stored: Stored) -> AODEEntry:
    """What a file says of its model, checked."""
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    return document.read(stored.description, AODEEntry)


def model_of(about: AODEEntry, stored: Stored, options: AODEOptions) -> AODEModel:
    """The model that a description, counts and arrays make, with all parameters estimated."""
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    prior = stated_prior(about.prior, stored.counts)
    arrays, schema = ArrayReader(stored.arrays), schema_of(about.columns)
    model = _model(schema, stored.counts, arrays, options, prior, about.curves)
    arrays.done()
    return model


def pairs_model(schema: Schema, counts: Counts, arrays: ArrayReader) -> AODEModel:
    """An AODE of defaults, inside another model."""
    return _model(schema, counts, arrays, AODEOptions())


def _model(
    schema: Schema,
    counts: Counts,
    arrays: ArrayReader,
    options: AODEOptions,
    prior: FloatArray | None = None,
    curves: Sequence[CurveEntry] | None = None,
) -> AODEModel:
    cuts = _cut_points(schema, arrays)
    _check_values(schema, counts, cuts)
    shape = arrays.shape("pairs", 2)
    pair_counts = PairCounts(cuts, counts, arrays.floats("pairs", shape, least=0.0))
    _check_pairs(pair_counts)
    calibration = _calibration(arrays, options.strengths)
    if calibration is not None:
        calibration = calibration.with_left_out(left_out_from(arrays, counts.classes))
    evidence = evidence_files.from_stored(curves, arrays, schema, counts.classes)
    model = AODEModel(schema, pair_counts, options, prior, calibration, evidence)
    _ = model.params  # what cannot be estimated is noticed now
    return model


def _cut_points(schema: Schema, arrays: ArrayReader) -> CutPoints:
    """The cut points of each numeric column."""
    n = len(schema.numbers)
    sizes = arrays.whole("cuts", (n,), 0, MAX_GRID_KEYS)
    cuts = arrays.floats("edges", (int(sizes.sum()),), -MAX_FLOAT, MAX_FLOAT)
    by_column = np.split(cuts, np.cumsum(sizes)[:-1]) if n else []
    if any(np.any(each[1:] <= each[:-1]) for each in by_column):
        raise ModelFileError("the cut points must rise.")
    return dict(zip(schema.numbers, by_column, strict=True))


def _calibration(arrays: ArrayReader, strengths: tuple[float, ...]) -> StrengthCalibration | None:
    if "trust" not in arrays:
        return None
    shape = len(strengths), len(DISCOUNT_GRID)
    table = arrays.floats("trust", (shape[0] * shape[1] + 1,), least=0.0)
    return StrengthCalibration(strengths, table[:-1].reshape(shape), float(table[-1]))


def _check_values(schema: Schema, counts: Counts, cut_points: CutPoints) -> None:
    """The counts have the columns of the schema, and numbers the bins of their cut points."""
    tables = counts.tables
    if set(tables) != {VALUES} or tables[VALUES].statistic is not CATEGORIES:
        raise ModelFileError("the counts must be one block of values.")
    cells = tables[VALUES].cells
    if tuple(cells.columns.tolist()) != counted_columns(schema):
        raise ModelFileError("the counts are not those of the columns.")
    check_texts(counts)
    for name, values in zip(schema.numbers, cells.values or (), strict=False):
        if values.tolist() != list(range(len(cut_points[name]) + 1)):
            raise ModelFileError(f"the bins of column {name!r} are not those of its cut points.")


def _check_pairs(pair_counts: PairCounts) -> None:
    """Every value occurs beside those of another column as often as by itself."""
    pairs, layout = pair_counts.pairs, pair_counts.layout
    shape = (layout.n_pairs, len(pair_counts.counts.classes))
    if pairs.shape != shape:
        raise ModelFileError(f"the pairs must be {shape[0]} by {shape[1]} floats.")
    table = pair_counts.counts.tables[VALUES]
    weights = cell_weights(count_of(table), table.rows, layout)
    for i, j in layout.column_pairs():
        block = pairs[layout.lines(i, j)]
        for at, axis in ((i, 1), (j, 0)):
            cells = slice(layout.first[at], layout.first[at + 1])
            if not np.allclose(block.sum(axis=axis), weights[cells], rtol=1e-9, atol=1e-9):
                raise ModelFileError("the pairs do not add up to the counts of the values.")
