"""Formulas: what a model computes of a row, as a small tree, to be written in other languages.

``nodes``
    the nodes of a tree: columns, numbers, arithmetic, conditions, tables
``build``
    trees that several families and models need: lookups, steps, logarithms of gamma functions
``formula``
    the formula of a whole model: log joints, and what each column adds to them

A family states its likelihood, and a model its log joints, in these nodes; :mod:`deciban.sql`
and :mod:`deciban.scorecard` write them down, and know neither.
"""

from __future__ import annotations

from deciban.formulas.formula import Formula
from deciban.formulas.nodes import Condition, Expression

__all__ = ["Condition", "Expression", "Formula"]
