"""Rows without labels: encoded for EM, given posteriors to begin with, and counted at the end."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.engines import Plan
from deciban.engines.local.count import count_batch, count_batches
from deciban.families.settings import Settings, pseudo_count
from deciban.families.words import WordSettings, count_softly
from deciban.labels import Labels
from deciban.models import scores
from deciban.models.prior import StatedPrior
from deciban.models.selection import Choice
from deciban.models.text_selection import TextChoice
from deciban.naive_bayes import em
from deciban.naive_bayes.blocks import Block, default_text_choice
from deciban.naive_bayes.em import EncodedRows, Problem, Run
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.schema import Schema
from deciban.sources.labelled import LabelledBatch
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts, merge
from deciban.stats.sparse import SparseSum, concatenate
from deciban.stats.table import Table
from deciban.stats.words import WORDS

FloatArray = NDArray[np.float64]

#: Rows that are encoded, scored and counted at once.
BATCH_ROWS = 1 << 12
#: In a random start, a class is this many rows, and as many that look like the whole table.
START_ROWS = 5


@dataclass(frozen=True)
class Rounds:
    """When EM stops, and how often it begins where nothing is labelled."""

    max_rounds: int
    tol: float
    starts: int
    seed: int


@dataclass(frozen=True, eq=False)
class UnlabelledRows:
    """Rows without labels beside a model of those with labels.

    ``model`` has the counts of labelled rows on the cells of all rows, and its
    choices; ``seen`` counts the others under one class. Numbers are cut into bins
    by the labelled rows, or, where there are none, by all.
    """

    model: NaiveBayesModel
    seen: Counts
    parts: list[LabelledBatch]
    weight: float

    @classmethod
    def beside(
        cls, model: NaiveBayesModel, parts: Sequence[LabelledBatch], weight: float
    ) -> UnlabelledRows:
        """Beside labelled rows, whose choices stay."""
        some = _batches(parts)
        seen = _count_as(model, some, model.classes[:1])
        wide = _with_counts(model, model.counts + seen * 0)
        return cls(wide, seen, some, weight)

    @classmethod
    def alone(
        cls, model: NaiveBayesModel, parts: Sequence[LabelledBatch], n_classes: int
    ) -> UnlabelledRows:
        """Where nothing is labelled; what is chosen is chosen by the table as a whole."""
        some, classes = _batches(parts), np.arange(n_classes)
        counts = _count_as(model, some, classes[:1])
        seen = model.with_counts(counts)
        empty = Plan(model.schema).empty(classes) + counts * 0
        if model.options.smoothing != "auto":
            return cls(_with_counts(seen, empty), counts, some, 1.0)
        # Values that are alike in the whole table need not be so in its classes.
        choices = {n: replace(c, smoothing=min(c.smoothing, 1.0)) for n, c in seen.choices.items()}
        texts = {
            name: replace(choice, smoothing=min(choice.smoothing, 1.0))
            for name, choice in _text_choices(seen).items()
        }
        return cls(_with_counts(seen, empty, choices, texts), counts, some, 1.0)

    def learn(self, first: NaiveBayesModel | None, rounds: Rounds) -> tuple[Counts, Run]:
        """The counts of all rows, the unlabelled ones softly; ``first`` says what to begin with."""
        problem = self.problem()
        starts = (
            (self.random_posteriors(rounds.seed + i) for i in range(rounds.starts))
            if first is None
            else [self.posteriors(first)]
        )
        tried = [em.run(problem, start, rounds.max_rounds, rounds.tol) for start in starts]
        best = max(tried, key=lambda run: run.likelihood[-1])
        if not best.converged:
            _warn(best)
        return self.count(best.posteriors), best

    # ------------------------------------------------------------------ to begin with

    def posteriors(self, model: NaiveBayesModel) -> list[FloatArray]:
        """``P(c | x)`` of the rows under a model."""

        def work(part: LabelledBatch) -> FloatArray:
            joint = np.empty((part.batch.n_rows, len(model.classes)))
            model.log_joint(part.batch, joint)
            scores.normalise(joint, model.log_prior)
            return joint

        return list(threads.run(work, self.parts))

    def random_posteriors(self, seed: int) -> list[FloatArray]:
        """A few rows drawn for every class; all others belong a little to each."""
        n_rows = sum(part.batch.n_rows for part in self.parts)
        n_classes = len(self.model.classes)
        each = max(1, min(START_ROWS, n_rows // n_classes))
        chosen = np.random.default_rng(seed).permutation(n_rows)[: each * n_classes]
        share = np.full((n_rows, n_classes), each / n_rows)
        share[chosen] = 0.0
        share[chosen, np.arange(len(chosen)) % n_classes] = 1.0
        ends = np.cumsum([part.batch.n_rows for part in self.parts])[:-1]
        return np.split(share, ends)

    # ------------------------------------------------------------------ the problem

    def problem(self) -> Problem:
        """The rows encoded."""
        model = self.model
        whole = _with_counts(model, model.counts + self.seen * self.weight)
        blocks = {
            block.name: block.family.soften(block.table, all_rows.table, self._settings(block))
            for block, all_rows in zip(model.blocks, whole.blocks, strict=True)
        }

        def work(part: LabelledBatch) -> EncodedRows:
            matrices = model.encode(part.batch)
            encoded = {name: block.encode(matrices[name]) for name, block in blocks.items()}
            return EncodedRows(encoded, self.weight * part.weights)

        lam = float(pseudo_count(model.options.method, model.options.prior_smoothing))
        return Problem(
            model.counts.weight,
            blocks,
            list(threads.run(work, self.parts)),
            max(lam, 0.0),
            self._prior(),
        )

    def _settings(self, block: Block) -> Settings:
        """How a block is estimated: words count once a text, or bursts would rule soft counts."""
        how = block.settings
        if isinstance(how, WordSettings) and how.weighting == "amount":
            return replace(how, weighting="presence") if self.model.options.text == "auto" else how
        return how

    def _prior(self) -> StatedPrior:
        """The prior, if it is not free: that of labelled rows, where texts are discounted.

        Evidence that is discounted would leave a free prior too much to say: it drifts
        towards the classes that are larger already. What texts take back of it is not in it.
        """
        model, choices = self.model, _text_choices(self.model).values()
        discounted = any(choice.scale != 1 for choice in choices)
        if model.prior is None and model.counts.weight.any() and discounted:
            uniformity = sum(choice.uniformity for choice in choices)
            shares = np.exp((1.0 - min(uniformity, 1.0)) * model.log_prior)
            return np.asarray(shares / shares.sum())
        return model.prior

    # ------------------------------------------------------------------ at the end

    def count(self, posteriors: Sequence[FloatArray]) -> Counts:
        """The counts of all rows: the unlabelled ones under every class, by its posterior."""
        model = self.model
        rest = Plan(Schema(tuple(c for c in model.schema.columns if not c.texts)))
        total = model.counts
        for part, posterior in zip(self.parts, posteriors, strict=True):
            weight = posterior * (self.weight * part.weights)[:, None]
            counted = merge(
                count_batch(rest, LabelledBatch(part.batch, model.classes, codes, share))
                for codes, share in _by_class(weight)
            )
            tables = {**counted.tables, **self._count_texts(part, weight)}
            total = total + Counts(counted.classes, counted.weight, tables)
        return total

    def _count_texts(self, part: LabelledBatch, weight: FloatArray) -> dict[str, Table]:
        """The words of all columns of text."""
        encoders = self.model.text_encoders
        if not encoders:
            return {}
        names = labels.label_array(self.model.schema.texts)
        cells = Cells(names, tuple(encoder.known for encoder in encoders.values()))
        parts = [count_softly(e.encode(part.batch), weight) for e in encoders.values()]
        sums = {
            key: concatenate([cast("SparseSum", p[key]) for p in parts]) for key in WORDS.sum_names
        }
        return {WORDS.name: Table(WORDS, cells, weight.sum(axis=0), sums)}


def _text_choices(model: NaiveBayesModel) -> dict[str, TextChoice]:
    """How each text column is modelled, selected on rows or purely."""
    return {
        block.columns[0]: model.text_choices.get(block.columns[0])
        or default_text_choice(block.columns[0], block.table, model.options)
        for block in model.blocks
        if block.input == "text"
    }


def _by_class(weight: FloatArray) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
    """Rows under one class after the other: the code and the weight of each."""
    for c, share in enumerate(weight.T):
        yield np.full(len(share), c), np.ascontiguousarray(share)


def _batches(parts: Sequence[LabelledBatch]) -> list[LabelledBatch]:
    """No more than ``BATCH_ROWS`` rows each, and every one of them counts."""
    some = [part.drop_zero_weights() for part in parts]
    if not some:
        return []
    whole = LabelledBatch.concatenate(some)
    ends = threads.chunks(whole.batch.n_rows, BATCH_ROWS)
    return [whole.take(np.arange(rows.start, rows.stop)) for rows in ends]


def _count_as(model: NaiveBayesModel, parts: Sequence[LabelledBatch], one: Labels) -> Counts:
    """The counts of rows under one class."""
    under = (LabelledBatch(p.batch, one, np.zeros(len(p.codes), np.intp), p.weight) for p in parts)
    plan = Plan(model.schema, model.tokenizer)
    counts = count_batches(plan, under)
    return plan.empty(one) if counts is None else counts


def _with_counts(
    model: NaiveBayesModel,
    counts: Counts,
    choices: Mapping[str, Choice] | None = None,
    text_choices: Mapping[str, TextChoice] | None = None,
) -> NaiveBayesModel:
    """Other counts of the same columns, modelled as they were or as it is said."""
    return NaiveBayesModel.of(
        model.schema,
        counts,
        model.options,
        prior=model.prior,
        calibration=model.whole_calibration,
        tokenizer=model.tokenizer,
        choices=model.choices if choices is None else choices,
        text_choices=_text_choices(model) if text_choices is None else text_choices,
    )


def _warn(run: Run) -> None:
    from sklearn.exceptions import ConvergenceWarning

    gain = run.likelihood[-1] - run.likelihood[-2] if len(run.likelihood) > 1 else np.inf
    warnings.warn(
        f"EM did not converge in {len(run.likelihood)} rounds: the last gained {gain:.3g} nats. "
        "Hint: raise max_rounds or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )
