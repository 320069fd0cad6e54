"""Training: base learners fitted in folds, stacked, and joined with what texts tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban import threads
from deciban.ensemble import base_learners, stacking, text_learner
from deciban.ensemble.base_learners import (
    BaseLearner,
    Unfitted,
    zero_terms,
)
from deciban.ensemble.evidence_weights import evidence_columns
from deciban.ensemble.held_out import HeldOutRows
from deciban.ensemble.logits import FloatArray, centre, mean_log_loss
from deciban.ensemble.model import AdditiveTerms, EnsembleModel
from deciban.ensemble.phrases import PhraseModel
from deciban.ensemble.summary import EnsembleSummary, LearnerSummary
from deciban.ensemble.text_learner import TextLearner
from deciban.ensemble.training_table import N_FOLDS, TrainingTable
from deciban.ensemble.useful_learners import fit_useful, learner_fits
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.schema import Schema
from deciban.sources.labelled import LabelledBatch
from deciban.sources.unit_folds import some_rows
from deciban.text import Tokenizer

#: Weights, linear terms and texts are learned from no more rows than this; trees from all.
MAX_WEIGHED_ROWS = 50_000
#: Rows times columns times classes are no more than this: beyond it, fewer rows are weighed,
MAX_SCORES = 100_000_000
#: but no fewer than this.
MIN_WEIGHED_ROWS = 1000

#: The evidence of columns is measured on no more rows than this.
MAX_MEASURED_ROWS = 2_000
#: Columns of text, each with a tokenizer by which it is read; one column may be read twice.
Tokenizers = Sequence[tuple[str, Tokenizer]]


@dataclass(frozen=True)
class TrainingOptions:
    """What the user asks for.

    Rows to fit base learners to, bytes of AODE, the seed of folds, and which base learners; the
    usual ones if None.
    """

    max_rows: int
    memory_limit: int
    seed: int
    learners: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Stack:
    """The base learners of all columns but texts, together.

    ``evidence`` are the weights of the evidence within the first of them, and
    ``held_out`` the combined logits of held-out rows, (rows, classes).
    """

    terms: AdditiveTerms
    summaries: tuple[LearnerSummary, ...]
    evidence: FloatArray
    held_out: FloatArray


def n_steps(schema: Schema, tokenizers: Tokenizers) -> int:
    """How many times ``train`` calls ``advance``."""
    return 2 * len(tokenizers) + (4 + N_FOLDS if _has_plain_columns(schema) else 0)


def _has_plain_columns(schema: Schema) -> bool:
    """Whether there are columns other than texts."""
    return bool(schema.numbers or schema.categories)


def train(
    schema: Schema,
    tokenizers: Tokenizers,
    counted: NaiveBayesModel,
    words: NaiveBayesModel | None,
    whole: LabelledBatch,
    options: TrainingOptions,
    advance: Callable[[], None],
) -> EnsembleModel:
    """The model of rows that are counted; ``advance`` is called after each step.

    ``counted`` is the naive Bayes model of all columns but texts, ``words`` that of the texts.
    """
    n_rows, most = whole.batch.n_rows, _max_weighed_rows(counted)
    # Texts, groups and times are not for trees alone, which can do with all rows.
    all_weighed = tokenizers or whole.units is not None
    learned = min(most, options.max_rows) if all_weighed else options.max_rows
    part = whole if n_rows <= learned else some_rows(whole, learned, schema.used)
    table = TrainingTable.of(counted, part, options.seed, words)
    if table.n_classes == 1:
        return _with_sample(_of_one_class(schema, tokenizers, table, n_rows), table)
    table = table.in_enough_folds()
    stack, rows = None, table.spaced_rows(most)
    if _has_plain_columns(schema):
        fits = learner_fits(whole, options.memory_limit, advance)
        names = options.learners or base_learners.usual_learners(table)
        learners = fit_useful(table, rows, {name: fits[name] for name in names})
        stack = _weigh(table.take(rows), list(learners.values()))
        for _ in range(4 + N_FOLDS - len(table.splits)):
            advance()
    table = table.take(rows)
    texts = list(threads.run(lambda column: text_learner.fit(*column, table, advance), tokenizers))
    return _with_sample(_combine(schema, table, n_rows, stack, texts), table)


def _with_sample(model: EnsembleModel, table: TrainingTable) -> EnsembleModel:
    """The model, with rows of the table, which are in no order, to measure its evidence on."""
    n_rows = table.part.batch.n_rows
    some = np.arange(0, n_rows, -(-n_rows // MAX_MEASURED_ROWS))
    return replace(model, sample=replace(table.part.take(some), units=None))


def _max_weighed_rows(counted: NaiveBayesModel) -> int:
    """How many rows are weighed at most: fewer where columns and classes are many."""
    size = max(1, len(evidence_columns(counted))) * max(1, len(counted.classes))
    return min(MAX_WEIGHED_ROWS, max(MIN_WEIGHED_ROWS, MAX_SCORES // size))


def _of_one_class(
    schema: Schema, tokenizers: Tokenizers, table: TrainingTable, n_rows: int
) -> EnsembleModel:
    summary = EnsembleSummary(n_rows, table.n_rows, 0.0, 0.0)
    texts = tuple(PhraseModel.empty(name, rule) for name, rule in tokenizers)
    about = schema, table.counted, table.features, zero_terms(table), summary, texts, table.words
    held_out = HeldOutRows.of(table, np.zeros((len(table.y), 1)))
    return EnsembleModel(*about, held_out=held_out)


# ---------------------------------------------------------------------- all columns but texts


def _weigh(table: TrainingTable, learners: Sequence[BaseLearner | Unfitted]) -> Stack:
    """The weighted sum of base learners; those that were not fitted have no weight.

    Where none was fitted, the class frequencies answer.
    """
    fitted = [learner for learner in learners if isinstance(learner, BaseLearner)]
    if not fitted:
        terms = replace(zero_terms(table), constants=table.prior_logits)
        return Stack(terms, _summaries(table, learners, ()), terms.evidence, table.offset)
    held_out = [learner.held_out for learner in fitted]
    usual = base_learners.usual_weights(fitted, float(table.weight.sum()))
    weights = stacking.simplex_weights(held_out, table.y, table.held_weight, usual).tolist()
    weighted = list(zip(fitted, weights, strict=True))
    evidence = next((f.terms.evidence for f in fitted if f.name == "linear"), None)
    return Stack(
        sum((learner.terms * weight for learner, weight in weighted), zero_terms(table)),
        _summaries(table, learners, weights),
        zero_terms(table).evidence if evidence is None else evidence,
        sum((weight * learner.held_out for learner, weight in weighted), np.zeros(1)),
    )


def _summaries(
    table: TrainingTable, learners: Sequence[BaseLearner | Unfitted], weights: Sequence[float]
) -> tuple[LearnerSummary, ...]:
    """One for each base learner; ``weights`` are those of the fitted ones, in their order."""
    each, remaining = [], iter(weights)
    for learner in learners:
        weight, loss = 0.0, None
        if isinstance(learner, BaseLearner):
            weight, loss = next(remaining), _loss(table, learner.held_out)
        each.append(LearnerSummary(learner.name, weight, loss, learner.note))
    return tuple(each)


def _loss(table: TrainingTable, logits: FloatArray) -> float:
    return mean_log_loss(logits, table.y, table.held_weight)


# ---------------------------------------------------------------------- table and texts


def _combine(
    schema: Schema,
    table: TrainingTable,
    n_rows: int,
    stack: Stack | None,
    texts: Sequence[TextLearner],
) -> EnsembleModel:
    """Table and texts together: what each adds to the class frequencies is added up."""
    held_out = [*([] if stack is None else [stack.held_out]), *(text.held_out for text in texts)]
    weights, combined = _component_weights(table, held_out)
    terms, of_texts = zero_terms(table), weights.tolist()
    if stack is not None:
        terms = stack.terms * of_texts.pop(0)
    weighted = list(zip(texts, of_texts, strict=True))
    constants = terms.constants + (1.0 - weights.sum()) * table.prior_logits
    for text, weight in weighted:
        constants = constants + weight * text.constants
    return EnsembleModel(
        schema,
        table.counted,
        table.features,
        replace(terms, constants=constants),
        _summary(table, n_rows, combined, stack, weighted),
        tuple(text.phrases * weight for text, weight in weighted),
        table.words,
        held_out=HeldOutRows.of(table, combined),
    )


def _component_weights(
    table: TrainingTable, held_out: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """The weight of what each component adds to the class frequencies, and the combined logits."""
    added = np.stack([centre(logits) for logits in held_out]) - table.offset
    weights = np.ones(1)
    if len(held_out) > 1:
        weights = stacking.nonnegative_weights(added, table.offset, table.y, table.held_weight)
    return weights, table.offset + np.tensordot(weights, added, 1)


def _summary(
    table: TrainingTable,
    n_rows: int,
    held_out: FloatArray,
    stack: Stack | None,
    weighted: Sequence[tuple[TextLearner, float]],
) -> EnsembleSummary:
    learners = () if stack is None else stack.summaries
    learners += tuple(
        LearnerSummary(text.phrases.title, weight, _loss(table, text.held_out), text.note)
        for text, weight in weighted
    )
    evidence: dict[str, float] = {}
    if stack is not None:
        columns = evidence_columns(table.counted)
        for name, weight in zip(columns, stack.evidence.tolist(), strict=True):
            evidence.setdefault(name, weight)
    losses = _loss(table, held_out), _loss(table, table.offset)
    return EnsembleSummary(n_rows, table.n_rows, *losses, learners, evidence)
