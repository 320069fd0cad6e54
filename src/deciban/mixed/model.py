"""The model of a mixed table: counts, what they choose, and what follows from both.

The columns of the counts are dealt out to four blocks that are estimated and
scored by the families: ``categories``; numbers as a bell curve, ``gaussian``,
or in bins, ``histogram``; and ``missing``, one category "missing or not" for
every column whose holes say something.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import params, scores, tabular
from deciban.calibration import Calibration
from deciban.cells import Cells
from deciban.choices import Choice, Wishes, choose
from deciban.counts import Counts, Table
from deciban.errors import InputError
from deciban.families import family
from deciban.schema import Schema
from deciban.settings import Settings
from deciban.source.columns import Batch

FloatArray = NDArray[np.float64]
Matrices = dict[str, Any]

#: The smoothing of the class prior where it is not stated.
PRIOR = 1.0


@dataclass(frozen=True, eq=False)
class Model:
    """All that training leaves behind; everything else is derived when it is asked for."""

    schema: Schema
    counts: Counts
    wishes: Wishes
    prior: Any = None
    calibration: Calibration | None = None

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
        stated = self.wishes.smoothing
        lam = float(stated) if isinstance(stated, int | float) else PRIOR
        return params.class_prior(self.counts, lam, fixed=self.prior)

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
                tables[block] = _select(self.counts.tables[source], names)
        if self.missing_columns:
            tables["missing"] = self._missing_table()
        return Counts(self.counts.classes, self.counts.weight, tables)

    def _missing_table(self) -> Table:
        parts = []
        for name in self.missing_columns:
            block = "histogram" if name in self.schema.numbers else "categories"
            table = self.counts.tables[block]
            present = _select(table, [name]).sums["count"].sum(axis=1)
            parts += [present, np.maximum(table.rows - present, 0.0)]
        values = (np.array([False, True]),) * len(self.missing_columns)
        cells = Cells.of_values(list(self.missing_columns), values)
        return Table("categorical", cells, self.counts.weight, {"count": np.stack(parts, axis=1)})

    @cached_property
    def settings(self) -> dict[str, Settings]:
        """How each block is estimated."""
        out = {}
        for block, table in self.blocks.tables.items():
            names = table.cells.columns.tolist()
            lam = [PRIOR if block == "missing" else self.choices[n].smoothing for n in names]
            bins = [self.choices[n].bins for n in names] if block == "histogram" else 10
            out[block] = Settings(self.wishes.method, np.array(lam), bins=np.asarray(bins))  # type: ignore[arg-type]
        return out

    @cached_property
    def params(self) -> params.Params:
        """The prior and the parameters of every block."""
        return params.estimate(self.blocks, self.settings, self.log_prior)

    # ------------------------------------------------------------------ scoring

    @cached_property
    def _lookups(self) -> list[tabular.Lookup]:
        table = self.counts.tables.get("categories")
        return [] if table is None else [tabular.Lookup(v) for v in table.cells.values or ()]

    def matrices(self, batch: Batch) -> Matrices:
        """What every block scores of some rows."""
        numbers = tabular.numbers(self.schema, batch)
        columns = tabular.category_columns(self.schema, batch)
        codes = tabular.codes(self._lookups, columns, batch.n_rows)
        at = {name: j for j, name in enumerate(self.schema.numbers)}
        out: Matrices = {}
        for block in self.blocks.tables:
            if block == "categories":
                out[block] = codes
            elif block == "missing":
                out[block] = self._missing_codes(numbers, codes)
            else:
                some = [at[name] for name in self._chosen(block)]
                out[block] = np.ascontiguousarray(numbers[:, some])
        return out

    def _missing_codes(self, numbers: FloatArray, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        gaps = np.column_stack([np.isnan(numbers), codes < 0])
        names = [*self.schema.numbers, *self.schema.categories]
        return np.ascontiguousarray(
            gaps[:, [names.index(name) for name in self.missing_columns]].astype(np.int64)
        )

    def fill_joint(self, batch: Batch, out: FloatArray) -> None:
        """Write ``log P(c) + beta * log P(x | c)`` of every row and class."""
        scores.fill_log_joint(self.params, self.matrices(batch), out)
        self._discounted(out)

    def _discounted(self, joint: FloatArray) -> None:
        beta = self.discount
        if beta != 1.0:
            with np.errstate(invalid="ignore"):
                joint -= self.log_prior
                joint *= beta
                joint += self.log_prior
            joint[np.isnan(joint)] = -np.inf

    def explain(self, batch: Batch) -> FloatArray:
        """``beta * log P(x_j | c)`` of every column of the schema, (rows, columns, classes)."""
        out = np.zeros((batch.n_rows, len(self.schema.names), len(self.counts.classes)))
        home = {
            n: j for j, c in enumerate(self.schema.columns) for n in (*c.numbers, *c.categories)
        }
        for block, X in self.matrices(batch).items():
            kind, parts = self.params.blocks[block]
            said = family(kind).explain(parts, X)
            for j, name in enumerate(self.blocks.tables[block].cells.columns.tolist()):
                out[:, home[name]] += said[:, j]
        return out * self.discount

    # ------------------------------------------------------------------ leaving one out

    def left_out(
        self, batch: Batch, y: NDArray[np.intp], weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log prior and log-likelihood, (rows, classes), of counted rows as if each never was."""
        evidence = np.zeros((batch.n_rows, len(self.counts.classes)))
        for block, X in self.matrices(batch).items():
            table = self.blocks.tables[block]
            how = family(table.family).left_out
            evidence += how(
                dict(table.sums), table.rows, table.cells, self.settings[block], X, y, weight
            )
        return self._prior_left_out(y, weight), evidence

    def _prior_left_out(self, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
        if self.prior is not None:
            return np.broadcast_to(self.log_prior, (len(y), len(self.log_prior)))
        rows = np.arange(len(y))
        stated = self.wishes.smoothing
        lam = float(stated) if isinstance(stated, int | float) else PRIOR
        amount = np.repeat((self.counts.weight + lam)[None], len(y), axis=0)
        amount[rows, y] = np.maximum(amount[rows, y] - weight, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(amount) - np.log(amount.sum(axis=1, keepdims=True)))

    def calibrated(self, calibration: Calibration | None) -> Model:
        """The same model with another calibration."""
        new = replace(self, calibration=calibration)
        for name in (
            "choices",
            "blocks",
            "settings",
            "params",
            "_lookups",
            "missing_columns",
            "log_prior",
        ):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new


def _select(table: Table, names: list[str]) -> Table:
    """The cells of some columns of a table, in the order of the table."""
    columns = table.cells.columns.tolist()
    unknown = set(names) - set(columns)
    if unknown:
        raise InputError(f"the counts have no column {unknown.pop()!r}.")
    wanted = np.array([name in set(names) for name in columns], dtype=bool)
    keep = np.repeat(wanted, np.diff(table.cells.offsets))
    chosen = table.selected(np.ones(len(table.rows), dtype=bool), keep)
    return replace(chosen, cells=chosen.cells.only(wanted))
