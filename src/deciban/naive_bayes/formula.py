"""The naive Bayes model of a table as a formula: the columns of its blocks, added up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from deciban.encoding.inputs import Inputs
from deciban.errors import InputError
from deciban.formulas.build import ZERO
from deciban.formulas.formula import ByClass, Formula, HasColumnFormula, additive
from deciban.formulas.nodes import Expression, Flag, Missing, Sum

if TYPE_CHECKING:
    from deciban.naive_bayes.blocks import Block
    from deciban.naive_bayes.model import NaiveBayesModel


def formula(model: NaiveBayesModel) -> Formula:
    """``log P(c) + beta * sum_j log P(x_j | c)``."""
    inputs = Inputs(model.caster)
    parts: dict[str, list[ByClass]] = {column.name: [] for column in model.schema.columns}
    homes = {
        name: column.name
        for column in model.schema.columns
        for name in (*column.numbers, *column.categories)
    }
    for name, by_class in column_formulas(model, inputs):
        parts[homes[name]].append(by_class)
    n_classes = len(model.classes)
    columns = {name: _add(some, n_classes) for name, some in parts.items()}
    prior = model.log_prior
    return additive(columns, prior, prior, inputs.refused, model.discount)


def column_formulas(model: NaiveBayesModel, inputs: Inputs) -> Iterator[tuple[str, ByClass]]:
    """The log likelihood of every column of every block, in their order; texts are refused."""
    for block in model.blocks:
        parameters = block.parameters
        if not isinstance(parameters, HasColumnFormula):
            raise _no_formula(block)
        for j, name in enumerate(block.columns):
            x: Expression = inputs.by_name[name]
            x = Flag(Missing(x)) if block.input == "missing" else x
            yield name, parameters.formula(j, x)


def _add(parts: list[ByClass], n_classes: int) -> ByClass:
    if not parts:
        return [ZERO] * n_classes
    return [Sum(terms) if len(terms) > 1 else terms[0] for terms in zip(*parts, strict=True)]


def _no_formula(block: Block) -> InputError:
    """What a database cannot compute."""
    name = block.columns[0]
    if block.input == "text":
        return InputError(
            f"column {name!r} is a text, and words are not cut by a database as they are here.",
            hint="leave the column out of training, or score the rows with predict",
        )
    return InputError(
        f"the family {block.family.name!r} of column {name!r} has no formula.",
        hint="give its parameters a method formula(column, x), see deciban.formulas",
    )
