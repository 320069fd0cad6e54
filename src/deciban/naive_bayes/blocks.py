"""Blocks: columns that one family estimates and scores together.

The counted columns of a table are dealt out to blocks by what was selected for each: all columns
of categories of one family, all numbers of one family, one category "missing or not" for every
column whose missing values say something, and the words of each column of text by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deciban import families
from deciban.families.alone import empirical_smoothing
from deciban.families.categorical import CATEGORICAL, CategoricalSettings
from deciban.families.protocol import Family, Parameters
from deciban.families.settings import Settings
from deciban.families.words import WORD_FAMILY
from deciban.models.options import Options
from deciban.models.selection import Choice
from deciban.models.text_selection import TEXT_MODELS, TextChoice, plain_choice
from deciban.naive_bayes.texts import column_table, limit_words
from deciban.schema import Schema
from deciban.stats.categories import CATEGORIES, rows_with_value
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.statistic import FloatArray
from deciban.stats.table import DenseSum, Table
from deciban.stats.words import WORDS, sum_of

#: What a block reads of encoded rows.
Input = Literal["categories", "numbers", "missing", "text"]


@dataclass(frozen=True, eq=False)
class Block:
    """Columns of one family: their table, how it is estimated, and where the columns stand.

    ``positions`` are those of the columns in the block's ``input``: among all categories, all
    numbers, numbers and then categories for ``"missing"``, or all texts.
    """

    name: str
    input: Input
    family: Family
    table: Table
    settings: Settings
    positions: NDArray[np.intp]

    @property
    def columns(self) -> list[str]:
        """The names of the counted columns."""
        names: list[str] = self.table.cells.columns.tolist()
        return names

    @cached_property
    def parameters(self) -> Parameters:
        """The likelihood, estimated when it is first asked for."""
        return self.family.estimate(self.table, self.settings)


def blocks_of(
    counts: Counts,
    schema: Schema,
    options: Options,
    choices: Mapping[str, Choice],
    text_choices: Mapping[str, TextChoice],
) -> list[Block]:
    """The blocks of all columns: categories, numbers, missing values and texts."""
    columns = column_blocks(counts, schema, options, choices)
    return columns + text_blocks(counts, schema, options, text_choices) if schema.texts else columns


def column_blocks(
    counts: Counts, schema: Schema, options: Options, choices: Mapping[str, Choice]
) -> list[Block]:
    """The blocks of categories and numbers, and of missing values."""
    blocks = []
    places: dict[Input, tuple[str, ...]] = {
        "categories": schema.categories,
        "numbers": schema.numbers,
    }
    for source, names in places.items():
        place = {name: at for at, name in enumerate(names)}
        for family in families.FAMILIES.values():
            chosen = [name for name in names if choices[name].family == family.name]
            if chosen:
                table = counts.tables[family.statistic.name].select_columns(chosen)
                order = table.cells.columns.tolist()
                how = family.settings(options.method, [choices[name] for name in order])
                at = np.array([place[name] for name in order], dtype=np.intp)
                blocks.append(Block(f"{source}: {family.name}", source, family, table, how, at))
    missing = [n for n in (*schema.numbers, *schema.categories) if choices[n].missing]
    return [*blocks, _missing_block(counts, schema, options, missing)] if missing else blocks


def block_table(block: Block, counts: Counts, schema: Schema, options: Options) -> Table:
    """What other counts of the same columns hold for a block."""
    if block.input == "missing":
        return _missing_block(counts, schema, options, block.columns).table
    if block.input == "text":
        words = column_table(counts.tables[WORDS.name], block.columns[0])
        return limit_words(words, options.min_df, options.max_words)
    return counts.tables[block.family.statistic.name].select_columns(block.columns)


def _missing_block(counts: Counts, schema: Schema, options: Options, names: list[str]) -> Block:
    """One category "missing or not" for some columns."""
    sides: dict[str, list[FloatArray]] = {}
    for key in (CATEGORIES.name, HISTOGRAM.name):
        table = counts.tables.get(key)
        if table is not None and not set(names).isdisjoint(table.cells.columns.tolist()):
            sides |= _with_and_without(table)
    cells = Cells.of_values(list(names), (np.array([False, True]),) * len(names))
    parts = [part for name in names for part in sides[name]]
    sums = {"count": DenseSum(np.stack(parts, axis=1))}
    order = (*schema.numbers, *schema.categories)
    at = np.array([order.index(name) for name in names], dtype=np.intp)
    how = CategoricalSettings(options.method, options.prior_smoothing, unseen="smooth")
    gaps = Table(CATEGORIES, cells, counts.weight, sums)
    return Block("missing", "missing", CATEGORICAL, gaps, how, at)


def _with_and_without(table: Table) -> dict[str, list[FloatArray]]:
    """The weight of each class's rows in which each column has a value, and of the others."""
    known = rows_with_value(table)
    missing = np.maximum(table.rows[:, None] - known, 0.0)
    names = map(str, table.cells.columns)
    return {name: [here, gone] for name, here, gone in zip(names, known.T, missing.T, strict=True)}


def text_blocks(
    counts: Counts, schema: Schema, options: Options, text_choices: Mapping[str, TextChoice]
) -> list[Block]:
    """A block for the words of each column of text."""
    blocks = []
    for j, name in enumerate(schema.texts):
        table = column_table(counts.tables[WORDS.name], name)
        table = limit_words(table, options.min_df, options.max_words)
        choice = text_choices.get(name) or default_text_choice(name, table, options)
        how = choice.settings(options.method)
        at = np.array([j])
        blocks.append(Block(text_block_name(name), "text", WORD_FAMILY, table, how, at))
    return blocks


def default_text_choice(name: str, table: Table, options: Options) -> TextChoice:
    """The pure model of a text column: nothing is corrected."""
    (stated,) = options.smoothing_of([name])
    if stated is None:
        stated = empirical_smoothing(sum_of(table, TEXT_MODELS[options.text][0][0]))
    return plain_choice(name, options.text, stated)


def text_block_name(name: str) -> str:
    """The name of the block of a column of text."""
    return f"words of {name}"


def estimate(blocks: Iterable[Block]) -> None:
    """Estimate the parameters of all blocks: what cannot be is an error now."""
    for block in blocks:
        _ = block.parameters
