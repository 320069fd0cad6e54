"""The formula of a model: log joints, and what each column adds to them, as trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from deciban.formulas.nodes import Condition, Expression, FloatArray, Number, Product, Sum

__all__ = ["Formula", "HasColumnFormula", "HasFormula", "additive"]

#: An expression for each class.
ByClass = Sequence[Expression]


@dataclass(frozen=True, eq=False)
class Formula:
    """What a model computes of a row, for each of K classes.

    ``log_joint`` is up to a constant a row, ``log_prior`` the part of it that no column adds, and
    ``columns`` what each column of the schema adds. ``fallback`` is the log posterior of a row
    that no class can have produced. A row of which a condition of ``refused`` holds is one that
    the model does not answer. ``additive`` says that the log joint is the log prior and what the
    columns add.
    """

    log_joint: ByClass
    columns: Mapping[str, ByClass]
    log_prior: FloatArray
    fallback: FloatArray
    refused: tuple[Condition, ...] = ()
    additive: bool = False


def additive(
    columns: Mapping[str, ByClass],
    log_prior: FloatArray,
    fallback: FloatArray,
    refused: tuple[Condition, ...] = (),
    factor: float = 1.0,
) -> Formula:
    """The formula of a model that adds a factor times what its columns say to its log prior."""
    joint = []
    for k, offset in enumerate(log_prior.tolist()):
        evidence: Expression = Sum(tuple(by_class[k] for by_class in columns.values()))
        joint.append(Sum((Number(offset), _times(factor, evidence))))
    scaled = {
        name: [_times(factor, term) for term in by_class] for name, by_class in columns.items()
    }
    return Formula(joint, scaled, log_prior, fallback, refused, additive=True)


def _times(factor: float, x: Expression) -> Expression:
    return x if factor == 1.0 else Product(Number(factor), x)


@runtime_checkable
class HasColumnFormula(Protocol):
    """Parameters of a family that can be written down as a formula."""

    def formula(self, column: int, x: Expression) -> Sequence[Expression]:
        """``log P(x | c)`` of a column under each class, where x is what a row has in it.

        x is an input or shared: it may be used many times. It may be missing.
        """


@runtime_checkable
class HasFormula(Protocol):
    """A model that can be written down as a formula."""

    def formula(self) -> Formula:
        """The formula of the model."""
