"""Training: base learners fitted in folds, stacked, and joined with what texts tell.

Where rows are many, one fold is fitted first, and says which base learners the others
need not fit. Trees gain from every row and are fitted to all; the others, which have few
coefficients, are judged by some rows and fitted to no more than are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban import threads
from deciban.ensemble import base_learners, stacking, text_learner
from deciban.ensemble.base_learners import (
    NOTHING_FITTED,
    BaseLearner,
    FoldFits,
    Unfitted,
    zero_terms,
)
from deciban.ensemble.evidence_weights import evidence_columns
from deciban.ensemble.logits import FloatArray, centre, mean_log_loss
from deciban.ensemble.model import AdditiveTerms, EnsembleModel
from deciban.ensemble.phrases import PhraseModel
from deciban.ensemble.summary import EnsembleSummary, LearnerSummary
from deciban.ensemble.text_learner import TextLearner
from deciban.ensemble.training_table import N_FOLDS, HeldOutRows, RowIndices, TrainingTable
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
#: Which base learners are of use is asked of no more rows than this.
MAX_JUDGING_ROWS = 10_000

#: The evidence of columns is measured on no more rows than this.
MAX_MEASURED_ROWS = 2_000
#: Columns of text, each with a tokenizer by which it is read; one column may be read twice.
Tokenizers = Sequence[tuple[str, Tokenizer]]
#: Fits a base learner to a table, going on from what is fitted already.
Fit = Callable[[TrainingTable, FoldFits], BaseLearner | Unfitted]


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
        fits = _learner_fits(whole, options.memory_limit, advance)
        names = options.learners or base_learners.usual_learners(table)
        learners = _fit_useful(table, rows, {name: fits[name] for name in names})
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


def _learner_fits(
    whole: LabelledBatch, memory_limit: int, advance: Callable[[], None]
) -> dict[str, Fit]:
    """How each base learner is fitted; ``whole`` are the rows that AODE counts."""
    return {
        "linear": base_learners.fit_linear,
        "products": base_learners.fit_products,
        "trees": lambda table, begun: base_learners.fit_trees(table, advance, begun),
        "logistic": base_learners.fit_logistic,
        "radial": base_learners.fit_radial,
        "pairs": lambda table, begun: base_learners.fit_aode(table, whole, memory_limit, begun),
    }


def _fit_useful(
    table: TrainingTable, rows: RowIndices, fits: Mapping[str, Fit]
) -> dict[str, BaseLearner | Unfitted]:
    """The base learners; their logits are those of some ``rows``, which all but trees see alone.

    Those that rows held out by the first fold hardly miss are left out.
    """
    first, nothing = table.in_first_fold(), dict.fromkeys(fits, NOTHING_FITTED)
    if first is table:
        return _of_rows(_fit(table, table.take(rows), fits, nothing), rows)
    some = first.spaced_rows(MAX_JUDGING_ROWS)
    sample = first.take(some)
    # Trees, which are hardly ever useless, go on with the other folds where a thread is free.
    ahead = table if threads.n_threads() > 1 or len(table.splits) == 1 else first
    judged = _fit(ahead, sample, fits, nothing)
    useful = _useful(sample, _of_rows(judged, some))
    if len(some) < len(rows):
        useful = {name: _nearby(begun) for name, begun in useful.items()}
    if ahead is table:  # nothing is left to fit
        fits = {**fits, "trees": lambda *_: judged["trees"]}
    return _left_out(judged) | _of_rows(_fit(table, table.take(rows), fits, useful), rows)


def _fit(
    table: TrainingTable,
    sample: TrainingTable,
    fits: Mapping[str, Fit],
    begun: Mapping[str, FoldFits],
) -> dict[str, BaseLearner | Unfitted]:
    """The base learners that are begun, all at once: trees fitted to all rows, others to some."""

    def fit(name: str) -> BaseLearner | Unfitted:
        return fits[name](table if name == "trees" else sample, begun[name])

    names = sorted(begun, key=lambda name: name != "trees")  # which take the longest
    fitted = dict(zip(names, threads.run(fit, names, ahead=len(names)), strict=True))
    return {name: fitted[name] for name in begun}


def _of_rows(
    learners: Mapping[str, BaseLearner | Unfitted], rows: RowIndices
) -> dict[str, BaseLearner | Unfitted]:
    """The base learners, trees with the logits of some rows alone, as the others have."""
    out = dict(learners)
    trees = out.get("trees")
    if isinstance(trees, BaseLearner):
        out["trees"] = replace(trees, held_out=trees.held_out[rows])
    return out


def _useful(
    sample: TrainingTable, judged: Mapping[str, BaseLearner | Unfitted]
) -> dict[str, FoldFits]:
    """The base learners that rows held out by the one fold miss, with what others go on from."""
    ((_, held),) = sample.splits
    fitted = {name: each for name, each in judged.items() if isinstance(each, BaseLearner)}
    logits = {name: learner.held_out[held] for name, learner in fitted.items()}
    useful = stacking.useful(logits, sample.y[held], sample.weight[held]) if logits else ()
    return {name: fitted[name].by_fold for name in useful}


def _nearby(begun: FoldFits) -> FoldFits:
    """What more rows go on from: the forest, or the counts of pairs, which are those of all rows.

    Regressions saw but some of the rows, and are near to what all rows will say.
    """
    return begun._replace(
        rows=None, evidence=(), regression=None, radial=None, nearby=begun.regression
    )


def _left_out(judged: Mapping[str, BaseLearner | Unfitted]) -> dict[str, BaseLearner | Unfitted]:
    """Every base learner as one that is not fitted, with the reason."""
    return {
        name: Unfitted(name, "the first fold has no use for it")
        if isinstance(learner, BaseLearner)
        else learner
        for name, learner in judged.items()
    }
