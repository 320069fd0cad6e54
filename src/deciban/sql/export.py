"""The query of a model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from deciban import decision
from deciban.decision import Loss
from deciban.errors import InputError, ParameterError
from deciban.formulas.formula import Formula, HasFormula
from deciban.formulas.nodes import Expression, FloatArray, Label, Shared
from deciban.models.prior import prior_probabilities
from deciban.models.protocol import Model
from deciban.sql import posterior
from deciban.sql.dialects import Dialect, dialect_of
from deciban.sql.layout import Query, write_query

__all__ = ["formula_of", "to_sql"]


def to_sql(
    model: Model,
    table: str | Sequence[str] = "new",
    dialect: str = "duckdb",
    *,
    keep: Sequence[str] = (),
    evidence: bool = False,
    loss: Loss = None,
    abstain: float | None = None,
    priors: Mapping[Hashable, float] | None = None,
    view: str | Sequence[str] | None = None,
) -> str:
    """One SELECT of a table: see :meth:`Portable.to_sql`."""
    of = dialect_of(dialect)
    formula = formula_of(model)
    classes = model.classes.tolist()
    columns = None
    if evidence:
        columns = {n: [Shared(one) for one in some] for n, some in formula.columns.items()}
    joint = posterior.log_joints(formula, columns)
    of_row = posterior.posteriors(formula, joint, _shift(model, priors))
    costs = None if loss is None else decision.loss_matrix(loss, model.classes)
    cost = None if abstain is None else decision.abstention_cost(abstain)
    answer = posterior.least_risk(of_row, costs, cost)
    best = posterior.likeliest(of_row)
    outputs: list[tuple[str, Expression]] = [
        ("prediction", answer.choose(list(map(Label, classes))))
    ]
    outputs += [(f"p_{label}", p) for label, p in zip(classes, of_row.probability, strict=True)]
    ignored = {column.name for column in model.schema.columns if not column.used}
    for name, by_class in (columns or {}).items():
        if name not in ignored:
            outputs.append((f"db_{name}", best.choose(posterior.evidence(by_class))))
    named = dict(
        zip(_names([n for n, _ in outputs], keep, of), (e for _, e in outputs), strict=True)
    )
    written = write_query(Query(_name_parts("table", table), tuple(keep), named), of)
    if view is None:
        return written
    name = ".".join(map(of.name_of, _name_parts("view", view)))
    return f"CREATE VIEW {name} AS\n{written}"


def formula_of(model: Model) -> Formula:
    """The formula of a model; one that has none is refused."""
    if isinstance(model, HasFormula):
        return model.formula()
    raise InputError(f"a {model.kind} has no formula.", hint="score the rows with predict instead")


def _shift(model: Model, priors: Mapping[Hashable, float] | None) -> FloatArray:
    """What other base rates add to the log joints."""
    if priors is None:
        return np.zeros(len(model.classes))
    old = prior_probabilities(model)
    if old is None:
        raise ParameterError(
            f"a {model.kind} starts from logits, so other base rates cannot take the place of "
            "its own.",
            hint="leave priors out, or train it on rows with these rates",
        )
    one = np.zeros((1, len(old)))
    moved: FloatArray = decision.rebase_log(one, old, priors, model.classes, called="priors")[0]
    return moved


def _name_parts(what: str, name: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a name: those between dots, unless they are stated one by one."""
    parts = tuple(name.split(".")) if isinstance(name, str) else tuple(name)
    if parts and all(isinstance(part, str) and part for part in parts):
        return parts
    raise ParameterError(
        f"{what} must be a name, got {name!r}.",
        hint='write "schema.table", or ("schema", "table") for names with dots in them',
    )


def _names(names: Sequence[str], keep: Sequence[str], dialect: Dialect) -> list[str]:
    """Names that differ in any case of letters, no longer than the database has them."""
    taken = {name.casefold() for name in keep}
    if len(taken) < len(keep):
        raise ParameterError(f"keep names a column twice: {', '.join(keep)}.")
    out = []
    for number, name in enumerate(names):
        if not number and name in taken:
            raise ParameterError(
                f"keep has {name!r}, which is what the answer is called.",
                hint="give the column another name in a view",
            )
        short = _cut(name.replace("\0", ""), dialect.max_name_bytes)
        other, again = short, 2
        while other.casefold() in taken:
            ending = f"_{again}"
            other = _cut(short, dialect.max_name_bytes - len(ending)) + ending
            again += 1
        taken.add(other.casefold())
        out.append(other)
    return out


def _cut(name: str, size: int) -> str:
    return name.encode()[:size].decode(errors="ignore")
