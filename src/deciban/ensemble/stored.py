"""BayesClassifier in a file: the models that it pools, its columns and its terms.

The counts of naive Bayes and of AODE are of the same rows and so stand in one
table; everything is checked by those whose it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.aode import stored as pairs_files
from deciban.aode.model import AODEModel as Pairs
from deciban.aode.model import AODEOptions
from deciban.aode.pair_counts import VALUES
from deciban.ensemble import evidence
from deciban.ensemble.columns import MOST_CELLS, Columns, values_of
from deciban.ensemble.margins import FloatArray
from deciban.ensemble.model import Model
from deciban.ensemble.report import Report, View
from deciban.ensemble.terms import Terms
from deciban.ensemble.trees import DEPTHS, Forest
from deciban.ensemble.words import Words
from deciban.errors import ModelFileError, ParameterError
from deciban.files import Stored
from deciban.files.document import field, only
from deciban.labels import Labels
from deciban.naive_bayes import stored as counted_files
from deciban.naive_bayes.model import Model as Counted
from deciban.schema import Schema
from deciban.stats.counts import Counts
from deciban.text import Tokenizer

KIND = "BayesClassifier"
_SCALES = ("low", "high", "middle", "spread", "product_middle", "product_spread")
_TERMS = ("constants", "weights", "linear", "products")


def to_stored(model: Model, parameters: dict[str, Any], target: str | None, named: bool) -> Stored:
    """The model as a file holds it."""
    counted = counted_files.to_stored(model.counted, {}, target, named)
    tables, arrays = dict(model.counts.tables), dict[str, NDArray[Any]]()
    if model.pairs is not None:
        pairs = pairs_files.to_stored(model.pairs, {"bins": "auto"}, target, named)
        tables[VALUES] = model.pairs.counts.tables[VALUES]
        arrays |= {f"pairs_{name}": array for name, array in pairs.arrays.items()}
    arrays |= {name: getattr(model.columns, name) for name in _SCALES}
    arrays["edges"] = np.concatenate([np.empty(0), *model.columns.edges])
    arrays["n_edges"] = np.array([len(cuts) for cuts in model.columns.edges], dtype=np.int64)
    arrays |= {name: getattr(model.terms, name) for name in _TERMS}
    forest = model.terms.forest
    arrays |= {"trees": forest.column, "tree_values": forest.value}
    arrays["tree_sets"] = forest.left.view(np.int64)
    description = {
        "parameters": counted_files.plain(parameters),
        "target": target,
        "named": named,
        "counted": dict(counted.description),
        "columns": [asdict(column) for column in model.schema.columns],
        "texts": [{"column": w.name, "tokenizer": w.tokenizer.describe()} for w in model.texts],
        "share_of_pairs": None if model.pairs is None else model.terms.pairs,
        "report": {
            **asdict(model.report),
            "views": [asdict(view) for view in model.report.views],
            "weights": dict(model.report.weights),
        },
    }
    counts = Counts(model.counts.classes, model.counts.weight, tables)
    phrases = {f"phrases_{j}": words.phrases for j, words in enumerate(model.texts)}
    arrays |= {f"phrases_{j}": words.weights for j, words in enumerate(model.texts)}
    arrays |= {f"rarity_{j}": words.rarity for j, words in enumerate(model.texts)}
    return Stored(KIND, counts, description, phrases, arrays)


def from_stored(stored: Stored) -> Model:
    """The model of a file, checked."""
    about = stored.description
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    only(
        about,
        "parameters",
        "target",
        "named",
        "counted",
        "columns",
        "texts",
        "share_of_pairs",
        "report",
    )
    if not (about.get("target") is None or isinstance(about["target"], str)):
        raise ModelFileError("the target must be the name of a column.")
    arrays = dict(stored.arrays)
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    own, values = _apart(stored.counts)
    counted = counted_files.from_stored(
        Stored("NaiveBayes", own, field(about, "counted", dict), arrays={})
    )
    pairs, share = _pairs(about, counted, values, arrays)
    columns = _columns(counted, arrays)
    terms = _terms(counted, columns, share, arrays)
    schema = _schema(about, counted)
    texts = _texts(about, schema, dict(stored.labels), arrays, len(counted.counts.classes))
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")
    _ = counted.params  # what cannot be estimated is noticed now
    report = _report(field(about, "report", dict))
    return Model(schema, counted, pairs, columns, terms, report, texts)


def _schema(about: Mapping[str, Any], counted: Counted) -> Schema:
    """All columns: those of the counts, and texts."""
    schema = Schema(tuple(map(counted_files.column, field(about, "columns", list))))
    plain = tuple(column for column in schema.columns if not column.texts)
    if plain != counted.schema.columns or len(set(schema.names)) != len(schema.names):
        raise ModelFileError("the columns are not those of the counts.")
    return schema


def _texts(
    about: Mapping[str, Any],
    schema: Schema,
    phrases: dict[str, Labels],
    arrays: dict[str, Any],
    n_classes: int,
) -> tuple[Words, ...]:
    """The phrases of every column of text, with what each says."""
    stated = [_read(entry) for entry in field(about, "texts", list)]
    if {name for name, _ in stated} != set(schema.texts) or len(phrases) != len(stated):
        raise ModelFileError("every column of text needs its tokenizer and its phrases.")
    out = []
    for j, (name, rule) in enumerate(stated):
        known = phrases.get(f"phrases_{j}")
        if known is None or not all(isinstance(phrase, str) for phrase in known.tolist()):
            raise ModelFileError(f"the phrases of {name!r} are not there, or are no texts.")
        if len(set(known.tolist())) != len(known):
            raise ModelFileError(f"a phrase of {name!r} is there twice.")
        weights = _floats(arrays, f"phrases_{j}", (len(known), n_classes))
        rarity = _floats(arrays, f"rarity_{j}", (len(known),))
        if np.any(rarity < 1.0):
            raise ModelFileError(f"a phrase of {name!r} is in more texts than there are.")
        out.append(Words(name, rule, labels.objects(known.tolist()), weights, rarity))
    return tuple(out)


def _read(entry: Any) -> tuple[str, Tokenizer]:
    """A column of text, and how it is read."""
    if not isinstance(entry, dict):
        raise ModelFileError("how a text is read must be a record.")
    only(entry, "column", "tokenizer")
    try:
        return field(entry, "column", str), Tokenizer(**field(entry, "tokenizer", dict))
    except (TypeError, ParameterError) as error:
        raise ModelFileError(f"the tokenizer is not known: {error}") from None


def _apart(counts: Counts) -> tuple[Counts, Counts | None]:
    """The counts of naive Bayes, and those of AODE."""
    tables = dict(counts.tables)
    values = tables.pop(VALUES, None)
    own = Counts(counts.classes, counts.weight, tables)
    return own, None if values is None else Counts(counts.classes, counts.weight, {VALUES: values})


def _pairs(
    about: Mapping[str, Any], counted: Counted, values: Counts | None, arrays: dict[str, Any]
) -> tuple[Pairs | None, float]:
    mine = [name for name in arrays if name.startswith("pairs_")]
    given = {name.removeprefix("pairs_"): arrays.pop(name) for name in mine}
    if values is None and about.get("share_of_pairs") is None and not given:
        return None, 0.0
    share = field(about, "share_of_pairs", float)
    if values is None or not 0.0 <= share <= 1.0:
        raise ModelFileError("the pairs have no counts, or a share that is none.")
    said = {
        "columns": [asdict(column) for column in counted.schema.columns],
        "prior": None,
    }
    model = pairs_files.from_stored(Stored("AODE", values, said, arrays=given), AODEOptions())
    _ = model.params
    return model, share


def _columns(counted: Counted, arrays: dict[str, Any]) -> Columns:
    n = len(counted.schema.numbers)
    cells = _edges(arrays, n), *values_of(counted.counts)
    empty = np.empty(0)
    n_products = Columns(
        empty, empty, np.zeros(n), empty, *cells, empty, empty
    ).product_columns.shape[1]
    sizes = (n, n, n, n, n_products, n_products)
    scales = {
        name: _floats(arrays, name, (size,)) for name, size in zip(_SCALES, sizes, strict=True)
    }
    if np.any(scales["spread"] <= 0) or np.any(scales["product_spread"] <= 0):
        raise ModelFileError("every spread must be above zero.")
    edges, rank, share = cells
    return Columns(edges=edges, rank=rank, share=share, **scales)


def _edges(arrays: dict[str, Any], n_numbers: int) -> tuple[FloatArray, ...]:
    """Where each number is cut into cells."""
    sizes = _taken(arrays, "n_edges")
    if sizes.dtype != np.int64 or sizes.shape != (n_numbers,):
        raise ModelFileError(f"there must be numbers of edges of {n_numbers} columns.")
    if np.any(sizes < 0) or np.any(sizes >= MOST_CELLS):
        raise ModelFileError(f"a column must have fewer than {MOST_CELLS} edges.")
    edges = np.split(_floats(arrays, "edges", (int(sizes.sum()),)), np.cumsum(sizes)[:-1])
    if any(np.any(np.diff(cuts) <= 0) for cuts in edges):
        raise ModelFileError("the edges of a column must rise.")
    return tuple(edges[:n_numbers])


def _terms(counted: Counted, columns: Columns, share: float, arrays: dict[str, Any]) -> Terms:
    n_classes = len(counted.counts.classes)
    n_parts, n_linear = len(evidence.names(counted)), len(columns.linear_columns)
    n_products = columns.product_columns.shape[1]
    return Terms(
        _floats(arrays, "constants", (n_classes,)),
        _floats(arrays, "weights", (n_parts,)),
        _floats(arrays, "linear", (n_linear, n_classes)),
        _floats(arrays, "products", (n_products, n_classes)),
        _forest(arrays, len(columns.sizes), n_classes),
        share,
    )


def _forest(arrays: dict[str, Any], n_columns: int, n_classes: int) -> Forest:
    """The trees, whose nodes split columns that there are."""
    column, left = _taken(arrays, "trees"), _taken(arrays, "tree_sets")
    n_trees, inner = column.shape if column.ndim == 2 else (0, 0)
    if column.dtype != np.int32 or inner not in {(1 << depth) - 1 for depth in DEPTHS.values()}:
        raise ModelFileError(f"the trees must have 7, 15 or 31 inner nodes, not {inner}.")
    if left.dtype != np.int64 or left.shape != (n_trees, inner, 4):
        raise ModelFileError("every inner node of a tree needs 256 bits.")
    a_round = 1 if n_classes == 2 else n_classes
    if np.any(column < -1) or np.any(column >= n_columns) or n_trees % a_round:
        raise ModelFileError("the trees are not those of the columns and classes.")
    value = _floats(arrays, "tree_values", (n_trees, 2 * inner + 1))
    return Forest(column, left.view(np.uint64), value)


def _report(entry: dict[str, Any]) -> Report:
    only(entry, "rows", "learned_rows", "loss", "prior_loss", "views", "weights")
    views = []
    for view in field(entry, "views", list):
        if not isinstance(view, dict):
            raise ModelFileError("a view must be a record.")
        only(view, "name", "share", "loss", "note")
        loss = None if view.get("loss") is None else field(view, "loss", float)
        share, note = field(view, "share", float), field(view, "note", str)
        views.append(View(field(view, "name", str), share, loss, note))
    weights = field(entry, "weights", dict)
    if not all(type(value) is float for value in weights.values()):
        raise ModelFileError("the weights of the report must be numbers.")
    return Report(
        field(entry, "rows", int),
        field(entry, "learned_rows", int),
        field(entry, "loss", float),
        field(entry, "prior_loss", float),
        tuple(views),
        weights,
    )


def _taken(arrays: dict[str, Any], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise ModelFileError(f"the array {name!r} is not there.")
    found: NDArray[Any] = arrays.pop(name)
    return found


def _floats(arrays: dict[str, Any], name: str, shape: tuple[int, ...]) -> FloatArray:
    found = _taken(arrays, name)
    if found.dtype != np.float64 or found.shape != shape or not np.all(np.isfinite(found)):
        raise ModelFileError(f"{name!r} must be finite floats of shape {shape}.")
    return found
