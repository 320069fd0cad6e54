"""The model of a mixed table: counts, what they choose, and what follows from both.

The columns of the counts are dealt out to blocks that are estimated and scored
by the families: ``categories``; numbers as a bell curve, ``gaussian``, or in
bins, ``histogram``; ``missing``, one category "missing or not" for every column
whose holes say something; and a block for the words of each column of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.errors import InputError
from deciban.families import family
from deciban.families.settings import Method, Settings
from deciban.models import params, readings, scores
from deciban.models.calibration import Calibration
from deciban.models.readings import Reading, Trial
from deciban.models.selection import Choice, Wishes, choose, empirical_smoothing
from deciban.naive_bayes import texts
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch
from deciban.sources.sample import Sample
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts, Table
from deciban.text import Tokenizer

FloatArray = NDArray[np.float64]
Matrices = dict[str, Any]

#: The smoothing of the class prior where it is not stated.
PRIOR = 1.0


#: What is derived from the counts alone, however texts are read.
_WITHOUT_READINGS = ("choices", "log_prior", "missing_columns", "blocks", "words")


@dataclass(frozen=True, eq=False)
class Model:
    """All that training leaves behind; everything else is derived when it is asked for."""

    schema: Schema
    counts: Counts
    wishes: Wishes
    prior: Any = None
    calibration: Calibration | None = None
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    readings: Mapping[str, Reading] = field(default_factory=dict)

    @cached_property
    def choices(self) -> dict[str, Choice]:
        """How each counted column is modelled."""
        return choose(self.counts, self.wishes)

    @property
    def discount(self) -> float:
        """How far the evidence is believed."""
        return 1.0 if self.calibration is None else self.calibration.discount

    @cached_property
    def log_prior(self) -> FloatArray:
        """``log P(c)``."""
        return params.class_prior(self.counts, self.lam, method=self.method, fixed=self.prior)

    @property
    def method(self) -> Method:
        """How parameters are estimated."""
        return cast("Method", self.wishes.method)

    @property
    def lam(self) -> float:
        """The smoothing of what belongs to no column, or to the holes of one."""
        stated = self.wishes.smoothing
        return PRIOR if isinstance(stated, str | Mapping) else float(stated)

    # ------------------------------------------------------------------ blocks

    def _chosen(self, shape: str) -> list[str]:
        return [name for name in self.schema.numbers if self.choices[name].shape == shape]

    @cached_property
    def missing_columns(self) -> list[str]:
        """The columns whose holes say something."""
        names = (*self.schema.numbers, *self.schema.categories)
        return [name for name in names if self.choices[name].missing]

    @cached_property
    def blocks(self) -> Counts:
        """The counts, dealt out to the blocks that are scored."""
        tables = {}
        if "categories" in self.counts.tables:
            tables["categories"] = self.counts.tables["categories"]
        for block, source in (("gaussian", "moments"), ("histogram", "histogram")):
            names = self._chosen(block)
            if names:
                tables[block] = select(self.counts.tables[source], names)
        if self.missing_columns:
            tables["missing"] = self._missing_table()
        for name in self.schema.texts:
            tables[text_block(name)] = texts.limited(
                texts.some(self.counts.tables[texts.BLOCK], name),
                self.wishes.min_df,
                self.wishes.max_words,
            )
        return Counts(self.counts.classes, self.counts.weight, tables)

    def _missing_table(self) -> Table:
        places = {
            name: (table, j)
            for table in (self.counts.tables.get(b) for b in ("histogram", "categories"))
            if table is not None
            for j, name in enumerate(table.cells.columns.tolist())
        }
        parts = []
        for name in self.missing_columns:
            table, j = places[name]
            present = table.column(j).sums["count"].sum(axis=1)
            parts += [present, np.maximum(table.rows - present, 0.0)]
        values = (np.array([False, True]),) * len(self.missing_columns)
        cells = Cells.of_values(list(self.missing_columns), values)
        return Table("categorical", cells, self.counts.weight, {"count": np.stack(parts, axis=1)})

    @cached_property
    def settings(self) -> dict[str, Settings]:
        """How each block is estimated."""
        out = {
            text_block(name): self.reading(name).settings(self.method) for name in self.schema.texts
        }
        for block, table in self.blocks.tables.items():
            if block in out:
                continue
            names = table.cells.columns.tolist()
            lam = [self.lam if block == "missing" else self.choices[n].smoothing for n in names]
            bins = [self.choices[n].bins for n in names] if block == "histogram" else 10
            out[block] = Settings(self.method, np.array(lam), bins=np.asarray(bins))
        return out

    def reading(self, name: str) -> Reading:
        """How a column of text is read: as leave-one-out has chosen, or purely."""
        if name in self.readings:
            return self.readings[name]
        stated = self.wishes.smoothing_of(name)
        if stated is None:
            table = self.blocks.tables[text_block(name)]
            key = (
                "amount"
                if self.wishes.text in ("auto", "multinomial", "complement")
                else "documents"
            )
            stated = empirical_smoothing(table.sums[key])
        return readings.plain(name, self.wishes.text, stated)

    @cached_property
    def params(self) -> params.Params:
        """The prior and the parameters of every block."""
        return params.estimate(self.blocks, self.settings, self.log_prior)

    # ------------------------------------------------------------------ scoring

    @cached_property
    def _lookups(self) -> list[matrices.Lookup]:
        table = self.counts.tables.get("categories")
        return [] if table is None else [matrices.Lookup(v) for v in table.cells.values or ()]

    def columns(self, batch: Batch) -> tuple[FloatArray, NDArray[np.int64]]:
        """The numbers of some rows, NaN where missing, and the codes of their categories."""
        return matrices.encode(self.schema, self._lookups, batch)

    def matrices(self, batch: Batch) -> Matrices:
        """What every block scores of some rows."""
        out: Matrices = {text_block(words.name): words.bags(batch) for words in self.words}
        if len(out) == len(self.blocks.tables):
            return out
        numbers, codes = self.columns(batch)
        for block in self.blocks.tables:
            if block in out:
                continue
            if block == "categories":
                out[block] = codes
            elif block == "missing":
                out[block] = self._missing_codes(numbers, codes)
            else:
                out[block] = np.ascontiguousarray(numbers[:, self._places[block]])
        return out

    @cached_property
    def words(self) -> list[texts.Words]:
        """The known words of every column of text."""
        return [
            texts.Words.of(self.blocks.tables[text_block(name)], name, self.tokenizer)
            for name in self.schema.texts
        ]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where the columns of each block of numbers stand among the numbers."""
        at = {name: j for j, name in enumerate(self.schema.numbers)}
        return {block: [at[n] for n in self._chosen(block)] for block in ("gaussian", "histogram")}

    def _missing_codes(self, numbers: FloatArray, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        names = [*self.schema.numbers, *self.schema.categories]
        gaps = np.column_stack([np.isnan(numbers), codes < 0])
        some = [names.index(name) for name in self.missing_columns]
        return np.ascontiguousarray(gaps[:, some].astype(np.int64))

    def fill_joint(self, batch: Batch, out: FloatArray) -> None:
        """Write ``log P(c) + beta * log P(x | c)`` of every row and class."""
        scores.fill_log_joint(self.params, self.matrices(batch), out)
        self._discounted(out)

    def _discounted(self, joint: FloatArray) -> None:
        if self.discount != 1.0:
            with np.errstate(invalid="ignore"):
                joint[:] = self.believed(self.log_prior, joint - self.log_prior)

    def believed(self, prior: FloatArray, said: FloatArray) -> FloatArray:
        """``prior + beta * said``; what is impossible stays so."""
        joint = prior + self.discount * said
        joint[np.isnan(joint)] = -np.inf
        return joint

    def explain(self, batch: Batch) -> FloatArray:
        """``beta * log P(x_j | c)`` of every column of the schema, (rows, columns, classes)."""
        out = np.zeros((batch.n_rows, len(self.schema.names), len(self.counts.classes)))
        home = {
            n: j
            for j, c in enumerate(self.schema.columns)
            for n in (*c.numbers, *c.categories, *c.texts)
        }
        for block, X in self.matrices(batch).items():
            kind, parts = self.params.blocks[block]
            names = self.blocks.tables[block].cells.columns.tolist()
            at = np.array([home[name] for name in names], dtype=np.intp)
            family(kind).add_each(parts, X, at, out)
        if self.discount != 1.0:
            out *= self.discount
        return out

    # ------------------------------------------------------------------ leaving one out

    def left_out(
        self, batch: Batch, y: NDArray[np.intp], weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log prior and log-likelihood, (rows, classes), of counted rows as if each never was."""
        evidence = np.zeros((batch.n_rows, len(self.counts.classes)))
        for block, X in self.matrices(batch).items():
            table, how = self.blocks.tables[block], self.settings[block]
            kind, parts = self.params.blocks[block]
            evidence += family(kind).left_out(
                parts, dict(table.sums), table.cells, how, X, y, weight
            )
        return self._prior_left_out(y, weight), evidence

    def _prior_left_out(self, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        return params.prior_left_out(
            self.counts, y, weight, self.lam, method=self.method, fixed=self.prior
        )

    # ------------------------------------------------------------------ reading texts

    def read(self, found: Mapping[str, Reading]) -> Model:
        """The same model with texts read another way, where more rows say so."""
        better = {
            name: reading
            for name, reading in found.items()
            if name not in self.readings or reading.rows >= self.readings[name].rows
        }
        if not better:
            return self
        new = replace(self, readings={**self.readings, **better})
        kept = {name: value for name, value in self.__dict__.items() if name in _WITHOUT_READINGS}
        new.__dict__.update(kept)
        return new

    def chosen(self, sample: Sample[LabelledBatch]) -> dict[str, Reading]:
        """How counted rows want the columns of text to be read."""
        if not self.schema.texts or not sample.batches:
            return {}
        tables = [self.blocks.tables[text_block(words.name)] for words in self.words]
        part = LabelledBatch.concatenate(list(sample.every(Trial.stride(tables, sample.n_rows))))
        y, one = part.codes_among(self.counts.classes), np.minimum(part.weights, 1.0)
        found = {}
        for words, table in zip(self.words, tables, strict=True):
            trial = Trial(
                table,
                words.bags(part.batch),
                y,
                one,
                part.weights,
                self._prior_left_out(y, one),
                self.method,
            )
            stated = self.wishes.smoothing_of(words.name)
            smoothings = readings.SMOOTHINGS if stated is None else (stated,)
            found[words.name] = trial.best(words.name, self.wishes.text, smoothings)
        return found

    def with_all_words(self) -> Model:
        """The same model without limits on words: how many texts have them is not known yet."""
        return replace(self, wishes=replace(self.wishes, min_df=1, max_words=None))

    def calibrated(self, calibration: Calibration | None) -> Model:
        """The same model with another calibration; what was derived does not depend on it."""
        new = replace(self, calibration=calibration)
        new.__dict__.update({**self.__dict__, "calibration": calibration})
        return new


def text_block(name: str) -> str:
    """The block of a column of text."""
    return f"words of {name}"


def select(table: Table, names: list[str]) -> Table:
    """The cells of some columns of a table, in the order of the table."""
    columns = table.cells.columns.tolist()
    unknown = set(names) - set(columns)
    if unknown:
        raise InputError(f"the counts have no column {unknown.pop()!r}.")
    wanted = np.array([name in set(names) for name in columns], dtype=bool)
    keep = np.repeat(wanted, np.diff(table.cells.offsets))
    chosen = table.selected(np.ones(len(table.rows), dtype=bool), keep)
    return replace(chosen, cells=chosen.cells.only(wanted))
