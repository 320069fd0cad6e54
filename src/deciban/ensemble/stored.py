"""BayesClassifier in a file: its base models, its features and its terms.

The counts of naive Bayes and of AODE are of the same rows and so stand in one
table; everything is checked by those whose it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.aode import stored as aode_files
from deciban.aode.model import KIND as AODE_KIND
from deciban.aode.model import AODEModel, AODEOptions
from deciban.aode.pair_counts import VALUES
from deciban.ensemble.additive_terms import AdditiveTerms
from deciban.ensemble.evidence_weights import evidence_columns
from deciban.ensemble.features import MAX_CATEGORY_CELLS, Features, category_ranks, product_columns
from deciban.ensemble.logits import FloatArray
from deciban.ensemble.model import KIND, EnsembleModel
from deciban.ensemble.phrases import PhraseModel
from deciban.ensemble.summary import EnsembleSummary, LearnerSummary
from deciban.ensemble.trees import DEPTH_BY_MIN_ROWS, Forest
from deciban.errors import ModelFileError, ParameterError
from deciban.explanation import stored as evidence_files
from deciban.files import Stored
from deciban.files.document import check_keys, field
from deciban.labels import Labels
from deciban.naive_bayes import stored as counted_files
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.schema import Schema
from deciban.stats.counts import Counts
from deciban.text import Tokenizer

Arrays = dict[str, NDArray[Any]]

#: The arrays of the scales of numbers and of products.
_NUMBER_SCALES = ("low", "high", "middle", "spread")
_PRODUCT_SCALES = ("product_middle", "product_spread")
_KEYS = (
    "parameters",
    "target",
    "named",
    "counted",
    "columns",
    "texts",
    "share_of_pairs",
    "report",
    evidence_files.KEY,
)


def to_stored(
    model: EnsembleModel, parameters: dict[str, Any], target: str | None, named: bool
) -> Stored:
    """The model as a file holds it."""
    counted = counted_files.to_stored(model.counted, {}, target, named)
    tables, arrays = dict(model.counts.tables), _arrays(model)
    aode = model.terms.aode
    if aode is not None:
        inner = aode_files.to_stored(aode, {"bins": "auto"}, target, named)
        tables[VALUES] = aode.counts.tables[VALUES]
        arrays |= {f"pairs_{name}": array for name, array in inner.arrays.items()}
    description = {
        "parameters": counted_files.plain(parameters),
        "target": target,
        "named": named,
        "counted": dict(counted.description),
        **_describe(model),
    }
    said, of_columns = evidence_files.to_stored(model.measured_evidence, model.classes)
    counts = Counts(model.classes, model.counts.weight, tables)
    phrases = {f"phrases_{j}": text.phrases for j, text in enumerate(model.texts)}
    return Stored(KIND, counts, description | said, phrases, arrays | of_columns)


def _describe(model: EnsembleModel) -> dict[str, Any]:
    """What is no array: columns, tokenizers, the weight of AODE, and the summary."""
    return {
        "columns": [asdict(column) for column in model.schema.columns],
        "texts": [{"column": w.name, "tokenizer": w.tokenizer.describe()} for w in model.texts],
        "share_of_pairs": None if model.terms.aode is None else model.terms.aode_weight,
        "report": {
            **asdict(model.summary),
            "views": [asdict(view) for view in model.summary.views],
            "weights": dict(model.summary.weights),
        },
    }


def _arrays(model: EnsembleModel) -> Arrays:
    """All arrays but those of AODE."""
    of, terms = model.features, model.terms
    arrays: Arrays = {
        **dict(zip(_NUMBER_SCALES, (of.low, of.high, of.mean, of.sd), strict=True)),
        **dict(zip(_PRODUCT_SCALES, (of.product_mean, of.product_sd), strict=True)),
        "edges": np.concatenate([np.empty(0), *of.edges]),
        "n_edges": np.array([len(cuts) for cuts in of.edges], dtype=np.int64),
        "constants": terms.constants,
        "weights": terms.evidence,
        "linear": terms.linear,
        "products": terms.products,
        "trees": terms.forest.column,
        "tree_values": terms.forest.value,
        "tree_sets": terms.forest.left.view(np.int64),
    }
    for j, text in enumerate(model.texts):
        arrays |= {f"phrases_{j}": text.weights, f"rarity_{j}": text.idf}
    return arrays


def from_stored(stored: Stored) -> EnsembleModel:
    """The model of a file, checked."""
    own, values = _split_counts(_check(stored))
    about, arrays = stored.description, dict(stored.arrays)
    counted = counted_files.from_stored(
        Stored("NaiveBayes", own, field(about, "counted", dict), arrays={})
    )
    aode, aode_weight = _aode(about, counted, values, arrays)
    features = _features(counted, arrays)
    terms = replace(_terms(counted, features, arrays), aode=aode, aode_weight=aode_weight)
    schema = _schema(about, counted)
    texts = _texts(about, schema, dict(stored.labels), arrays, len(counted.counts.classes))
    said = evidence_files.from_stored(about, arrays, schema, counted.counts.classes)
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")
    counted.estimate()  # what cannot be estimated is noticed now
    summary = _summary(field(about, "report", dict))
    return EnsembleModel(schema, counted, features, terms, summary, texts, said)


def _check(stored: Stored) -> Counts:
    """Refuse a file of something else; its counts."""
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    check_keys(stored.description, *_KEYS)
    target = stored.description.get("target")
    if not (target is None or isinstance(target, str)):
        raise ModelFileError("the target must be the name of a column.")
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    return stored.counts


def _schema(about: Mapping[str, Any], counted: NaiveBayesModel) -> Schema:
    """All columns: those of the counts, and texts."""
    schema = counted_files.read_schema(about)
    plain = tuple(column for column in schema.columns if not column.texts)
    if plain != counted.schema.columns or len(set(schema.names)) != len(schema.names):
        raise ModelFileError("the columns are not those of the counts.")
    return schema


def _texts(
    about: Mapping[str, Any],
    schema: Schema,
    phrases: dict[str, Labels],
    arrays: Arrays,
    n_classes: int,
) -> tuple[PhraseModel, ...]:
    """The phrases of every column of text, with their weights."""
    columns = [_text_column(entry) for entry in field(about, "texts", list)]
    if {name for name, _ in columns} != set(schema.texts) or len(phrases) != len(columns):
        raise ModelFileError("every column of text needs its tokenizer and its phrases.")
    out = []
    for j, (name, rule) in enumerate(columns):
        known = _phrases(name, phrases.get(f"phrases_{j}"))
        weights = _pop_floats(arrays, f"phrases_{j}", (len(known), n_classes))
        idf = _pop_floats(arrays, f"rarity_{j}", (len(known),))
        if np.any(idf < 1.0):
            raise ModelFileError(f"a phrase of {name!r} is in more texts than there are.")
        out.append(PhraseModel(name, rule, labels.object_array(known), weights, idf))
    return tuple(out)


def _phrases(name: str, phrases: Labels | None) -> list[str]:
    """The phrases of a column, all different."""
    if phrases is None or not all(isinstance(phrase, str) for phrase in phrases.tolist()):
        raise ModelFileError(f"the phrases of {name!r} are not there, or are no texts.")
    if len(set(phrases.tolist())) != len(phrases):
        raise ModelFileError(f"a phrase of {name!r} is there twice.")
    return list(phrases.tolist())


def _text_column(entry: Any) -> tuple[str, Tokenizer]:
    """A column of text, and its tokenizer."""
    if not isinstance(entry, dict):
        raise ModelFileError("how a text is read must be a record.")
    check_keys(entry, "column", "tokenizer")
    try:
        return field(entry, "column", str), Tokenizer(**field(entry, "tokenizer", dict))
    except (TypeError, ParameterError) as error:
        raise ModelFileError(f"the tokenizer is not known: {error}") from None


def _split_counts(counts: Counts) -> tuple[Counts, Counts | None]:
    """The counts of naive Bayes, and those of AODE."""
    tables = dict(counts.tables)
    values = tables.pop(VALUES, None)
    own = Counts(counts.classes, counts.weight, tables)
    return own, None if values is None else Counts(counts.classes, counts.weight, {VALUES: values})


def _aode(
    about: Mapping[str, Any], counted: NaiveBayesModel, values: Counts | None, arrays: Arrays
) -> tuple[AODEModel | None, float]:
    """AODE and its weight, where the ensemble has it."""
    names = [name for name in arrays if name.startswith("pairs_")]
    inner = {name.removeprefix("pairs_"): arrays.pop(name) for name in names}
    if values is None and about.get("share_of_pairs") is None and not inner:
        return None, 0.0
    weight = field(about, "share_of_pairs", float)
    if values is None or not 0.0 <= weight < math.inf:
        raise ModelFileError("the pairs have no counts, or a share below zero.")
    columns = [asdict(column) for column in counted.schema.columns]
    description = {"columns": columns, "prior": None}
    stored = Stored(AODE_KIND, values, description, arrays=inner)
    model = aode_files.from_stored(stored, AODEOptions())
    _ = model.params
    return model, weight


def _features(counted: NaiveBayesModel, arrays: Arrays) -> Features:
    """The features, of as many numbers and products as there are columns."""
    n = len(counted.schema.numbers)
    edges = _edges(arrays, n)
    low, high, mean, sd = (_pop_floats(arrays, name, (n,)) for name in _NUMBER_SCALES)
    n_products = product_columns(n).shape[1]
    product_mean, product_sd = (
        _pop_floats(arrays, name, (n_products,)) for name in _PRODUCT_SCALES
    )
    if np.any(sd <= 0) or np.any(product_sd <= 0):
        raise ModelFileError("every spread must be above zero.")
    ranks = category_ranks(counted.counts)
    return Features(low, high, mean, sd, edges, *ranks, product_mean, product_sd)


def _edges(arrays: Arrays, n_numbers: int) -> tuple[FloatArray, ...]:
    """The cut points of each number, for trees."""
    sizes = _pop(arrays, "n_edges")
    if sizes.dtype != np.int64 or sizes.shape != (n_numbers,):
        raise ModelFileError(f"there must be numbers of edges of {n_numbers} columns.")
    if np.any(sizes < 0) or np.any(sizes >= MAX_CATEGORY_CELLS):
        raise ModelFileError(f"a column must have fewer than {MAX_CATEGORY_CELLS} edges.")
    edges = np.split(_pop_floats(arrays, "edges", (int(sizes.sum()),)), np.cumsum(sizes)[:-1])
    if any(np.any(np.diff(cuts) <= 0) for cuts in edges):
        raise ModelFileError("the edges of a column must rise.")
    return tuple(edges[:n_numbers])


def _terms(counted: NaiveBayesModel, features: Features, arrays: Arrays) -> AdditiveTerms:
    """All terms but AODE."""
    n_classes, n_parts = len(counted.counts.classes), len(evidence_columns(counted))
    n_linear, n_products = len(features.linear_columns), features.product_columns.shape[1]
    return AdditiveTerms(
        _pop_floats(arrays, "constants", (n_classes,)),
        _pop_floats(arrays, "weights", (n_parts,)),
        _pop_floats(arrays, "linear", (n_linear, n_classes)),
        _pop_floats(arrays, "products", (n_products, n_classes)),
        _forest(arrays, len(features.n_cells), n_classes),
    )


def _forest(arrays: Arrays, n_columns: int, n_classes: int) -> Forest:
    """The trees, whose nodes split columns that there are."""
    column, left = _pop(arrays, "trees"), _pop(arrays, "tree_sets")
    n_trees, inner = column.shape if column.ndim == 2 else (0, 0)
    sizes = {(1 << depth) - 1 for depth in DEPTH_BY_MIN_ROWS.values()}
    if column.dtype != np.int32 or inner not in sizes:
        raise ModelFileError(f"the trees must have 7, 15 or 31 inner nodes, not {inner}.")
    if left.dtype != np.int64 or left.shape != (n_trees, inner, 4):
        raise ModelFileError("every inner node of a tree needs 256 bits.")
    trees_per_round = 1 if n_classes == 2 else n_classes
    if np.any(column < -1) or np.any(column >= n_columns) or n_trees % trees_per_round:
        raise ModelFileError("the trees are not those of the columns and classes.")
    value = _pop_floats(arrays, "tree_values", (n_trees, 2 * inner + 1))
    return Forest(column, left.view(np.uint64), value)


def _summary(entry: dict[str, Any]) -> EnsembleSummary:
    check_keys(entry, "rows", "learned_rows", "loss", "prior_loss", "views", "weights")
    views = tuple(_learner_summary(view) for view in field(entry, "views", list))
    weights = field(entry, "weights", dict)
    if not all(type(value) is float for value in weights.values()):
        raise ModelFileError("the weights of the report must be numbers.")
    return EnsembleSummary(
        field(entry, "rows", int),
        field(entry, "learned_rows", int),
        field(entry, "loss", float),
        field(entry, "prior_loss", float),
        views,
        weights,
    )


def _learner_summary(entry: Any) -> LearnerSummary:
    if not isinstance(entry, dict):
        raise ModelFileError("a view must be a record.")
    check_keys(entry, "name", "share", "loss", "note")
    loss = None if entry.get("loss") is None else field(entry, "loss", float)
    name, share = field(entry, "name", str), field(entry, "share", float)
    return LearnerSummary(name, share, loss, field(entry, "note", str))


def _pop(arrays: Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise ModelFileError(f"the array {name!r} is not there.")
    return arrays.pop(name)


def _pop_floats(arrays: Arrays, name: str, shape: tuple[int, ...]) -> FloatArray:
    array = _pop(arrays, name)
    if array.dtype != np.float64 or array.shape != shape or not np.all(np.isfinite(array)):
        raise ModelFileError(f"{name!r} must be finite floats of shape {shape}.")
    return array
