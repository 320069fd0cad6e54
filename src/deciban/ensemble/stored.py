"""BayesClassifier in a file: its base models, its features and its terms.

The counts of naive Bayes and of AODE are of the same rows and so stand in one
table; everything is checked by those whose it is.
"""

from __future__ import annotations

from dataclasses import asdict as fields_of
from dataclasses import replace

import numpy as np
from msgspec.structs import asdict

from deciban import labels
from deciban.aode import stored as aode_files
from deciban.aode.model import AODEModel
from deciban.aode.pair_counts import VALUES
from deciban.checks import MAX_FLOAT, MAX_NUMBER
from deciban.ensemble.evidence_weights import evidence_columns
from deciban.ensemble.features import (
    MAX_CATEGORY_CELLS,
    Features,
    category_ranks,
    missing_columns,
    product_columns,
)
from deciban.ensemble.logits import FloatArray
from deciban.ensemble.model import KIND, AdditiveTerms, EnsembleModel
from deciban.ensemble.phrases import PhraseModel
from deciban.ensemble.radial import RadialBasis
from deciban.ensemble.summary import EnsembleSummary, LearnerSummary
from deciban.ensemble.trees import MAX_DEPTH, Forest
from deciban.errors import ModelFileError
from deciban.explanation import stored as evidence_files
from deciban.files import Stored, document
from deciban.files.arrays import ArrayReader, left_out_from, left_out_to
from deciban.files.description import EnsembleEntry, SummaryEntry
from deciban.labels import Array, Labels
from deciban.naive_bayes import stored as counted_files
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.plain import PlainDict
from deciban.schema import Schema
from deciban.stats.counts import Counts
from deciban.stats.words import WORDS

Arrays = dict[str, Array]

#: The arrays of the scales of numbers and of products.
_NUMBER_SCALES = ("low", "high", "middle", "spread")
_PRODUCT_SCALES = ("product_middle", "product_spread")
#: Those of radial basis functions, where there are any.
_RADIAL = ("radial_scale", "radial_centres", "radial")
#: Scales and centres beyond this come of no table: what hardly varies is left out.
MAX_RADIAL_SCALE = 1e9


def to_stored(
    model: EnsembleModel, parameters: PlainDict, target: str | None, named: bool
) -> Stored:
    """The model as a file holds it."""
    counted = counted_files.to_stored(model.counted, {}, target, named)
    tables, arrays = dict(model.counts.tables), _arrays(model)
    if model.words is not None:
        tables |= model.words.counts.tables
    aode = model.terms.aode
    if aode is not None:
        inner = aode_files.to_stored(aode, {"bins": "auto"}, target, named)
        tables[VALUES] = aode.counts.tables[VALUES]
        arrays |= {f"pairs_{name}": array for name, array in inner.arrays.items()}
    description = {
        "parameters": counted_files.stored_parameters(parameters),
        "target": target,
        "named": named,
        "counted": dict(counted.description),
        **_describe(model),
    }
    if model.words is not None:
        words = counted_files.to_stored(model.words, {}, target, named)
        description["words"] = dict(words.description)
    arrays |= left_out_to(model.left_out, model.classes)
    said, of_columns = evidence_files.to_stored(model.measured_evidence, model.classes)
    counts = Counts(model.classes, model.counts.weight, tables)
    phrases = {f"phrases_{j}": text.phrases for j, text in enumerate(model.texts)}
    return Stored(KIND, counts, description | said, phrases, arrays | of_columns)


def _describe(model: EnsembleModel) -> PlainDict:
    """What is no array: columns, tokenizers, the weight of AODE, and the summary."""
    return {
        "columns": [fields_of(column) for column in model.schema.columns],
        "texts": [{"column": w.name, "tokenizer": w.tokenizer.describe()} for w in model.texts],
        "share_of_pairs": None if model.terms.aode is None else model.terms.aode_weight,
        "report": {
            **fields_of(model.summary),
            "views": [fields_of(view) for view in model.summary.views],
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
    if len(terms.radial):
        of_radial = terms.radial.scale, terms.radial.centres, terms.radial.coef
        arrays |= dict(zip(_RADIAL, of_radial, strict=True))
    for j, text in enumerate(model.texts):
        arrays |= {f"phrases_{j}": text.weights, f"rarity_{j}": text.idf}
    return arrays


def from_stored(stored: Stored) -> EnsembleModel:
    """The model of a file, checked."""
    return read(stored)[0]


def read(stored: Stored) -> tuple[EnsembleModel, EnsembleEntry]:
    """The model of a file, checked, and what the file says of it."""
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    about = document.read(stored.description, EnsembleEntry)
    arrays = ArrayReader(stored.arrays)
    own, words, values = _split_counts(stored.counts)
    counted = counted_files.model_of(about.counted, own)
    aode = _aode(about, counted, values, arrays.starting("pairs_"))
    features = _features(counted, arrays)
    terms = replace(
        _terms(counted, features, arrays), aode=aode, aode_weight=about.share_of_pairs or 0.0
    )
    schema = _schema(about, counted)
    texts = _texts(about, schema, dict(stored.labels), arrays, len(own.classes))
    scores, summary = left_out_from(arrays, own.classes), _summary(about.report)
    said = evidence_files.from_stored(about.curves, arrays, schema, own.classes)
    arrays.done()
    likely = _words(about, schema, words)
    model = EnsembleModel(schema, counted, features, terms, summary, texts, likely, scores, said)
    return model, about


def _schema(about: EnsembleEntry, counted: NaiveBayesModel) -> Schema:
    """All columns: those of the counts, and texts."""
    schema = counted_files.schema_of(about.columns)
    plain = tuple(column for column in schema.columns if not column.texts)
    if plain != counted.schema.columns or len(set(schema.names)) != len(schema.names):
        raise ModelFileError("the columns are not those of the counts.")
    return schema


def _texts(
    about: EnsembleEntry,
    schema: Schema,
    phrases: dict[str, Labels],
    arrays: ArrayReader,
    n_classes: int,
) -> tuple[PhraseModel, ...]:
    """The phrases of every column of text, with their weights."""
    names = [entry.column for entry in about.texts]
    if set(names) != set(schema.texts) or len(phrases) != len(names):
        raise ModelFileError("every column of text needs its tokenizer and its phrases.")
    out = []
    for j, entry in enumerate(about.texts):
        known = _phrases(entry.column, phrases.get(f"phrases_{j}"))
        weights = arrays.floats(f"phrases_{j}", (len(known), n_classes))
        idf = arrays.floats(f"rarity_{j}", (len(known),), least=1.0)
        rule = counted_files.tokenizer_of(entry.tokenizer)
        out.append(PhraseModel(entry.column, rule, labels.object_array(known), weights, idf))
    return tuple(out)


def _phrases(name: str, phrases: Labels | None) -> list[str]:
    """The phrases of a column, all different."""
    if phrases is None or not all(isinstance(phrase, str) for phrase in phrases.tolist()):
        raise ModelFileError(f"the phrases of {name!r} are not there, or are no texts.")
    if len(set(phrases.tolist())) != len(phrases):
        raise ModelFileError(f"a phrase of {name!r} is there twice.")
    return list(phrases.tolist())


def _split_counts(counts: Counts) -> tuple[Counts, Counts | None, Counts | None]:
    """The counts of naive Bayes, those of words, and those of AODE."""
    tables = dict(counts.tables)
    taken = [(name, tables.pop(name, None)) for name in (WORDS.name, VALUES)]
    words, values = (
        None if table is None else Counts(counts.classes, counts.weight, {name: table})
        for name, table in taken
    )
    return Counts(counts.classes, counts.weight, tables), words, values


def _words(about: EnsembleEntry, schema: Schema, words: Counts | None) -> NaiveBayesModel | None:
    """The naive Bayes model of the texts; files of earlier versions have none."""
    if about.words is None and words is None:
        return None
    if about.words is None or words is None:
        raise ModelFileError("the words have no counts, or no description.")
    model = counted_files.model_of(about.words, words)
    if model.schema.columns != tuple(column for column in schema.columns if column.texts):
        raise ModelFileError("the columns of words are not the texts.")
    return model


def _aode(
    about: EnsembleEntry, counted: NaiveBayesModel, values: Counts | None, inner: Arrays
) -> AODEModel | None:
    """AODE, where the ensemble has it."""
    if values is None and about.share_of_pairs is None and not inner:
        return None
    if values is None or about.share_of_pairs is None:
        raise ModelFileError("the pairs have no counts, or no weight.")
    arrays = ArrayReader(inner)
    model = aode_files.pairs_model(counted.schema, values, arrays)
    arrays.done()
    return model


def _features(counted: NaiveBayesModel, arrays: ArrayReader) -> Features:
    """The features, of as many numbers and products as there are columns."""
    n = len(counted.schema.numbers)
    n_products = product_columns(n).shape[1]
    low, high, mean, sd = (
        arrays.floats(name, (n,), -MAX_FLOAT, MAX_FLOAT) for name in _NUMBER_SCALES
    )
    with np.errstate(over="ignore"):
        ends = (
            (low / sd - mean / sd, high / sd - mean / sd) if np.all(sd > 0) else (np.array(np.inf),)
        )
    if not all(np.all(np.abs(end) <= MAX_NUMBER) for end in ends):
        raise ModelFileError("a number has a spread of nothing, or a range beyond its spread.")
    return Features(
        low,
        high,
        mean,
        sd,
        _edges(arrays, n),
        *category_ranks(counted.counts),
        missing_columns(counted.counts),
        arrays.floats("product_middle", (n_products,)),
        arrays.floats("product_spread", (n_products,), least=1 / MAX_NUMBER),
    )


def _edges(arrays: ArrayReader, n_numbers: int) -> tuple[FloatArray, ...]:
    """The cut points of each number, for trees."""
    sizes = arrays.whole("n_edges", (n_numbers,), 0, MAX_CATEGORY_CELLS - 1)
    cuts = arrays.floats("edges", (int(sizes.sum()),), -MAX_FLOAT, MAX_FLOAT)
    edges = np.split(cuts, np.cumsum(sizes)[:-1])
    if any(np.any(each[1:] <= each[:-1]) for each in edges):
        raise ModelFileError("the edges of a column must rise.")
    return tuple(edges[:n_numbers])


def _terms(counted: NaiveBayesModel, features: Features, arrays: ArrayReader) -> AdditiveTerms:
    """All terms but AODE."""
    n_classes, n_parts = len(counted.counts.classes), len(evidence_columns(counted))
    n_linear, n_products = len(features.linear_columns), features.product_columns.shape[1]
    return AdditiveTerms(
        arrays.floats("constants", (n_classes,)),
        arrays.floats("weights", (n_parts,)),
        arrays.floats("linear", (n_linear, n_classes)),
        arrays.floats("products", (n_products, n_classes)),
        _forest(arrays, len(features.n_cells), n_classes),
        _radial(arrays, features.n_numbers, n_classes),
    )


def _radial(arrays: ArrayReader, n_numbers: int, n_classes: int) -> RadialBasis:
    """The radial basis functions; none where the file has no array of them."""
    if not any(name in arrays for name in _RADIAL):
        return RadialBasis.empty(n_numbers, n_classes)
    scale, centres, coef = _RADIAL
    n_centres, _ = arrays.shape(centres, 2)
    return RadialBasis(
        arrays.floats(scale, (n_numbers,), 0.0, MAX_RADIAL_SCALE),
        arrays.floats(centres, (n_centres, n_numbers), -MAX_RADIAL_SCALE, MAX_RADIAL_SCALE),
        arrays.floats(coef, (n_centres, n_classes)),
    )


def _forest(arrays: ArrayReader, n_columns: int, n_classes: int) -> Forest:
    """The trees, whose nodes split columns that there are."""
    n_trees, inner = arrays.shape("trees", 2)
    complete = [(1 << depth) - 1 for depth in range(1, MAX_DEPTH + 1)]
    if inner not in complete:
        raise ModelFileError(f"a tree must have one of {complete} inner nodes, not {inner}.")
    if n_trees % (1 if n_classes == 2 else n_classes):
        raise ModelFileError("the trees are not those of the classes.")
    column = arrays.whole("trees", (n_trees, inner), -1, n_columns - 1, np.int32)
    left = arrays.whole("tree_sets", (n_trees, inner, 4), -(1 << 63), (1 << 63) - 1)
    value = arrays.floats("tree_values", (n_trees, 2 * inner + 1))
    return Forest(column, left.view(np.uint64), value)


def _summary(entry: SummaryEntry) -> EnsembleSummary:
    views = tuple(LearnerSummary(**asdict(view)) for view in entry.views)
    return EnsembleSummary(**{**asdict(entry), "views": views})
