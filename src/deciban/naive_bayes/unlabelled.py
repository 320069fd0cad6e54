"""Rows without labels: encoded for EM, given posteriors to begin with, and counted at the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.families import gaussian, histogram, words
from deciban.families.discrete import pseudo_count
from deciban.families.settings import Settings
from deciban.families.words import Bags
from deciban.labels import Labels
from deciban.models import scores
from deciban.models.selection import Choice
from deciban.naive_bayes import counting, em, texts
from deciban.naive_bayes.em import Block, Chunk, Problem, Run
from deciban.naive_bayes.model import Model, text_block
from deciban.schema import Schema
from deciban.sources.labelled import LabelledBatch
from deciban.stats import sparse
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts, Table, merge
from deciban.stats.exact import ExactSum
from deciban.stats.sparse import SparseSum

FloatArray = NDArray[np.float64]
#: A block as EM estimates it, and how the rows are encoded for it.
Encoding = tuple[Block, Callable[[Any], Any]]

#: Rows that are encoded, scored and counted at once.
CHUNK = 1 << 12
#: A bell curve's prior is worth this many rows at least: without one, J has no maximum.
LEAST = 0.01
#: A column whose variance is less than this share of its mean's square holds one value.
CONSTANT = 1e-20
#: In a random start, a class is this many rows, and as many that look like the whole table.
BEGIN = 5


@dataclass(frozen=True)
class Rounds:
    """When EM stops, and how often it begins where nothing is labelled."""

    most: int
    tolerance: float
    starts: int
    seed: int


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Rows without labels beside a model of those with labels.

    ``model`` has the counts of labelled rows on the cells of all rows, and its
    choices; ``seen`` counts the others under one class. Numbers are cut into bins
    by the labelled rows, or, where there are none, by all.
    """

    model: Model
    seen: Counts
    parts: list[LabelledBatch]
    weight: float

    @classmethod
    def beside(cls, model: Model, parts: Sequence[LabelledBatch], weight: float) -> Unlabelled:
        """Beside labelled rows, whose choices stay."""
        some = _chunks(parts)
        seen = _counted(model, some, model.counts.classes[:1])
        wide = _fixed(model, model.counts + seen * 0, model.choices)
        return cls(wide, seen, some, weight)

    @classmethod
    def alone(cls, model: Model, parts: Sequence[LabelledBatch], n_classes: int) -> Unlabelled:
        """Where nothing is labelled; what is chosen is chosen by the table as a whole."""
        some, classes = _chunks(parts), np.arange(n_classes)
        seen = replace(model, counts=_counted(model, some, classes[:1]))
        empty = counting.nothing(model.schema, classes) + seen.counts * 0
        if model.wishes.smoothing != "auto":
            return cls(_fixed(seen, empty, seen.choices), seen.counts, some, 1.0)
        # Values that are alike in the whole table need not be so in its classes.
        gentle = {n: replace(c, smoothing=min(c.smoothing, 1.0)) for n, c in seen.choices.items()}
        read = [replace(seen, readings={}).reading(name) for name in model.schema.texts]
        readings = {r.column: replace(r, smoothing=min(r.smoothing, 1.0)) for r in read}
        wide = _fixed(replace(seen, readings=readings), empty, gentle)
        return cls(wide, seen.counts, some, 1.0)

    def learned(self, first: Model | None, rounds: Rounds) -> tuple[Counts, Run]:
        """The counts of all rows, the unlabelled ones softly; ``first`` says what to begin with."""
        problem = self.problem()
        starts = (
            (self.drawn(rounds.seed + i) for i in range(rounds.starts))
            if first is None
            else [self.answers(first)]
        )
        tried = [em.run(problem, start, rounds.most, rounds.tolerance) for start in starts]
        found = max(tried, key=lambda run: run.likelihood[-1])
        if not found.converged:
            _warn(found)
        return self.completed(found.posteriors), found

    # ------------------------------------------------------------------ to begin with

    def answers(self, model: Model) -> list[FloatArray]:
        """What a model says of the rows."""

        def work(part: LabelledBatch) -> FloatArray:
            joint = np.empty((part.batch.n_rows, len(model.counts.classes)))
            model.fill_joint(part.batch, joint)
            scores.normalise(joint, model.log_prior)
            return joint

        return list(threads.run(work, self.parts))

    def drawn(self, seed: int) -> list[FloatArray]:
        """A few rows drawn for every class; all others belong a little to each."""
        n_rows = sum(part.batch.n_rows for part in self.parts)
        n_classes = len(self.model.counts.classes)
        each = max(1, min(BEGIN, n_rows // n_classes))
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
        found = {name: self._block(name) for name in model.blocks.tables}

        def work(part: LabelledBatch) -> Chunk:
            matrices = model.matrices(part.batch)
            encoded = {name: encode(matrices[name]) for name, (_, encode) in found.items()}
            return Chunk(encoded, self.weight * part.weights)

        return Problem(
            model.counts.classes,
            model.counts.weight,
            {name: block for name, (block, _) in found.items()},
            list(threads.run(work, self.parts)),
            max(float(pseudo_count(model.method, model.lam)), 0.0),
            self._prior(),
        )

    def _prior(self) -> Any:
        """The prior, if it is not free: that of labelled rows, where texts are believed less.

        Evidence that is discounted would leave a free prior too much to say: it drifts
        towards the classes that are larger already.
        """
        model = self.model
        readings = [model.reading(name) for name in model.schema.texts]
        if (
            model.prior is None
            and model.counts.weight.any()
            and any(r.scale != 1 for r in readings)
        ):
            return np.exp(model.log_prior)
        return model.prior

    def _block(self, name: str) -> Encoding:
        """A block as EM estimates it, and how its rows are encoded."""
        make = {"gaussian": self._bells, "histogram": self._bins, "words": self._words}
        table, how = self.model.blocks.tables[name], self.model.settings[name]
        if table.family in make:
            return make[table.family](name, table, how)
        block = Block("categorical", table.cells, dict(table.sums), _plain(how), table.rows)
        return block, _as_it_is

    def _bins(self, name: str, table: Table, how: Settings) -> Encoding:
        """Bins as they are cut now are categories."""
        alone = not table.rows.any()
        by = self._whole(1.0).blocks.tables[name] if alone else table
        cut = histogram.estimate(dict(by.sums), by.rows, by.cells, how)
        sums = {"count": 0.0 * cut.sums["count"]} if alone else cut.sums
        block = Block("categorical", cut.cells, sums, _plain(how), table.rows)
        return block, lambda X: histogram.codes_of(cut.edges, X)

    def _bells(self, name: str, table: Table, how: Settings) -> Encoding:
        """Bell curves at the mode of their posterior; a column of one value says nothing."""
        whole = gaussian.pooled(dict(self._whole(self.weight).blocks.tables[name].sums))
        keep = np.flatnonzero(whole.var > CONSTANT * whole.mean**2)
        lam = np.maximum(how.per_column(len(table.cells.columns))[keep], LEAST)
        sums = {
            key: ExactSum(np.ascontiguousarray(part.digits[:, keep]), part.base)
            for key, part in table.sums.items()
        }
        prior = gaussian.Prior(whole.mean[keep], whole.var[keep])
        cells = Cells(table.cells.columns[keep])
        block = Block("gaussian", cells, sums, Settings("map", lam), table.rows, prior)
        return block, lambda X: np.ascontiguousarray(X[:, keep])

    def _words(self, name: str, table: Table, how: Settings) -> Encoding:
        """A text of n words is worth as many as it is believed; of labelled ones, the average."""
        extra = max(words.added(how), 0.0)
        sums = {key: sparse.full(part) for key, part in table.sums.items()}
        if how.weighting == "absence":
            plain = Settings("bayes", extra, weighting="absence")
            return Block("words", table.cells, sums, plain, table.rows), _as_it_is
        if self.model.wishes.text == "auto":  # bursts of a word would rule the soft counts
            how = replace(how, weighting="presence")
        amount = words.summed(sums, how)
        size = amount.sum() / max(table.rows.sum(), np.finfo(float).tiny)
        belief = float(words.believed(np.array([size]), how.scale, how.length)[0])
        extra *= _known(amount)
        cells = Cells(table.cells.values[0] if table.cells.values else np.empty(0))
        smoothed = Settings("bayes", belief * extra)
        block = Block("multinomial", cells, {"amount": belief * amount}, smoothed, table.rows)

        def encode(X: Bags) -> Bags:
            bags = X.read(how.weighting)
            worth = words.believed(bags.sums(bags.data), how.scale, how.length)
            return bags.holding(bags.data * worth[bags.rows])

        return block, encode

    def _whole(self, weight: float) -> Model:
        """All rows, wherever the unlabelled ones are counted."""
        return _fixed(self.model, self.model.counts + self.seen * weight, self.model.choices)

    # ------------------------------------------------------------------ at the end

    def completed(self, posteriors: Sequence[FloatArray]) -> Counts:
        """The counts of all rows: the unlabelled ones under every class, by its posterior."""
        model = self.model
        rest = Schema(tuple(c for c in model.schema.columns if not c.texts))
        total = model.counts
        for part, posterior in zip(self.parts, posteriors, strict=True):
            weight = posterior * (self.weight * part.weights)[:, None]
            counted = merge(
                counting.count(rest, LabelledBatch(part.batch, model.counts.classes, codes, share))
                for codes, share in _each(weight)
            )
            tables = {**counted.tables, **self._texts(part, weight)}
            total = total + Counts(counted.classes, counted.weight, tables)
        return total

    def _texts(self, part: LabelledBatch, weight: FloatArray) -> dict[str, Table]:
        """The words of all columns of text."""
        names = self.model.schema.texts
        if not names:
            return {}
        bags = self.model.matrices(part.batch)
        known = tuple(words.known for words in self.model.words)
        cells = Cells(labels.narrowed(names), known)
        parts = [em.soft("words", bags[text_block(name)], weight, cells) for name in names]
        sums = {
            key: SparseSum.of(np.concatenate([p[key] for p in parts], axis=1)) for key in parts[0]
        }
        return {texts.BLOCK: Table("words", cells, weight.sum(axis=0), sums)}


def _known(amount: FloatArray) -> float:
    """The share of words that labelled texts have: smoothing is spread over all, no stronger."""
    return float(np.mean(amount.any(axis=0))) if amount.any() else 1.0


def _each(weight: FloatArray) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
    """Rows under one class after the other: the code and the weight of each."""
    for c, share in enumerate(weight.T):
        yield np.full(len(share), c), np.ascontiguousarray(share)


def _as_it_is(X: Any) -> Any:
    return X


def _plain(how: Settings) -> Settings:
    """The same estimate as ``(N + a) / (n + S a)`` with ``a >= 0``."""
    return Settings("bayes", np.maximum(pseudo_count(how.method, how.lam), 0.0))


def _chunks(parts: Sequence[LabelledBatch]) -> list[LabelledBatch]:
    """No more than ``CHUNK`` rows each, and every one of them counts."""
    some = [part.drop_zero_weights() for part in parts]
    if not some:
        return []
    whole = LabelledBatch.concatenate(some)
    ends = threads.chunks(whole.batch.n_rows, CHUNK)
    return [whole.take(np.arange(rows.start, rows.stop)) for rows in ends]


def _counted(model: Model, parts: Sequence[LabelledBatch], one: Labels) -> Counts:
    """The counts of rows under one class."""
    under = (LabelledBatch(p.batch, one, np.zeros(len(p.codes), np.intp), p.weight) for p in parts)
    found = counting.tally(model.schema, under, model.tokenizer)
    return counting.nothing(model.schema, one) if found is None else found


def _fixed(model: Model, counts: Counts, choices: Mapping[str, Choice]) -> Model:
    """Other counts of the same columns, modelled in the same way."""
    readings = {name: model.reading(name) for name in model.schema.texts}
    other = replace(model, counts=counts, readings=readings)
    other.__dict__["choices"] = dict(choices)
    return other


def _warn(run: Run) -> None:
    from sklearn.exceptions import ConvergenceWarning

    gain = run.likelihood[-1] - run.likelihood[-2] if len(run.likelihood) > 1 else np.inf
    warnings.warn(
        f"EM did not converge in {len(run.likelihood)} rounds: the last gained {gain:.3g} nats. "
        "Hint: raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )
