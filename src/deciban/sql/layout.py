"""Stages put together: one SELECT, or a view.

PostgreSQL joins every row to the stages computed from it, one after the other (``LATERAL``), so
that a condition on a column that is kept reaches the table itself, and ``OFFSET 0`` keeps it from
computing a stage again for each of its uses. In others, and where joins have too many columns,
a stage selects from the one before, which SQLite is told to keep as a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deciban.errors import InputError
from deciban.formulas.nodes import Cell, Expression, parts
from deciban.sql.dialects import Dialect
from deciban.sql.lookups import write_lookup
from deciban.sql.stages import Stage, Stages
from deciban.sql.writer import Writer

__all__ = ["Query", "write_query"]


#: Joins have no more columns than this, together.
MAX_JOINED_COLUMNS = 1000


@dataclass(frozen=True)
class Query:
    """What is selected: columns of the table that are kept, and expressions, by name."""

    table: Sequence[str]
    keep: Sequence[str]
    outputs: Mapping[str, Expression]


def write_query(query: Query, dialect: Dialect) -> str:
    """The query as one SELECT."""
    stages = Stages(dialect.max_joins, dialect.max_case_lines)
    for node in query.outputs.values():
        stages.add(node)
    joined = sum(len(stage.columns) for stage in stages.all) + sum(
        cell.table.numbers.shape[1] + len(cell.keys)
        for stage in stages.all
        for cell in stage.joins.values()
    )
    lateral = dialect.lateral and joined <= MAX_JOINED_COLUMNS
    return (_Lateral if lateral else _Nested)(query, dialect, stages).write()


class _Layout:
    """What both layouts share."""

    def __init__(self, query: Query, dialect: Dialect, stages: Stages) -> None:
        self.query, self.dialect, self.stages = query, dialect, stages
        self.writer = Writer(dialect, self.column, self.source)
        self.table = ".".join(map(dialect.name_of, query.table))

    #: What the names of the table's columns start with where they are read.
    source = ""

    def column(self, node: Expression) -> str | None:
        """The column of a node that is computed in an earlier stage."""
        return self.stages.names.get(id(node))

    def lookups(self) -> Iterator[str]:
        """The tables that are joined, as common tables."""
        for name, table in self.stages.tables.values():
            yield f"{name} AS {self.dialect.lookup}({write_lookup(table, self.writer)})"

    def joins(self, stage: Stage) -> Iterator[str]:
        """The joins of a stage."""
        for alias, cell in stage.joins.items():
            table = self.stages.tables[id(cell.table)][0]
            on = " AND ".join(
                f"{alias}.k{i} = {self.writer.write(key)}" for i, key in enumerate(cell.keys)
            )
            yield f"LEFT JOIN {table} AS {alias} ON {on}"

    def expressions(self, stage: Stage) -> Iterator[str]:
        """The columns of a stage, each with its name."""
        for name, node in stage.columns.items():
            yield f"{self._define(node)} AS {name}"

    def _define(self, node: Expression) -> str:
        if not isinstance(node, Cell) or id(node) not in self.stages.names:
            return self.writer.define(node)
        alias, other = self.stages.alias(node), self.writer.write(node.otherwise)
        return f"(CASE WHEN {alias}.k0 IS NULL THEN {other} ELSE {alias}.n{node.column} END)"

    def selected(self) -> Iterator[str]:
        """What the query gives."""
        name_of = self.dialect.name_of
        for i, name in enumerate(self.query.keep):
            yield f"{self.kept(i, name)} AS {name_of(name)}"
        for name, node in self.query.outputs.items():
            yield f"{self.writer.write(node)} AS {name_of(name)}"

    def kept(self, number: int, name: str) -> str:
        """A column of the table that is kept."""
        raise NotImplementedError


class _Lateral(_Layout):
    """Every stage is a join to one row; names say of which, as the table may have them too."""

    source = "t."

    def column(self, node: Expression) -> str | None:
        """The column of a node that is computed in an earlier stage."""
        name = self.stages.names.get(id(node))
        return None if name is None else f"q{self.stages.stage_of[name]}.{name}"

    def write(self) -> str:
        """The query."""
        tables = list(self.lookups())
        head = f"WITH {', '.join(tables)}\n" if tables else ""
        source = [f"FROM {self.table} AS t"]
        for number, stage in enumerate(self.stages.all):
            source += self.joins(stage)
            columns = ",\n  ".join(self.expressions(stage))
            if columns:
                source.append(f"CROSS JOIN LATERAL (SELECT\n  {columns}\n  OFFSET 0) AS q{number}")
        columns = ",\n  ".join(self.selected())
        return f"{head}SELECT\n  {columns}\n" + "\n".join(source)

    def kept(self, number: int, name: str) -> str:
        """A column of the table itself."""
        return f"t.{self.dialect.name_of(name)}"


class _Nested(_Layout):
    """Every stage selects from the one before, and carries on what later ones need."""

    def write(self) -> str:
        """The query."""
        tables = list(self.lookups())
        needed, source = self._needed(), self.table
        keep = [f"keep{i}" for i in range(len(self.query.keep))]
        before: list[str] = []
        for number, stage in enumerate(self.stages.all):
            kept = keep
            if not number:
                pairs = zip(keep, self.query.keep, strict=True)
                kept = [f"{self.dialect.name_of(name)} AS {alias}" for alias, name in pairs]
            carried = [name for name in before if name in needed[number]]
            columns = ",\n  ".join([*kept, *carried, *self.expressions(stage)]) or "1 AS none"
            joins = "".join(f"\n{join}" for join in self.joins(stage))
            source = f"SELECT\n  {columns}\nFROM {source}{joins}{self.dialect.fence}"
            if self.dialect.stage:
                tables.append(f"q{number} AS {self.dialect.stage}({source})")
                source = f"q{number}"
            else:
                source = f"({source}) AS q{number}"
            before = [*carried, *stage.columns]
            self._check_width(len(keep) + len(before))
        head = f"WITH {', '.join(tables)}\n" if tables else ""
        columns = ",\n  ".join(self.selected())
        return f"{head}SELECT\n  {columns}\nFROM {source}"

    def _check_width(self, n_columns: int) -> None:
        """Refuse a stage of more columns than the database takes."""
        limit = self.dialect.max_columns
        if limit is not None and n_columns > limit:
            raise InputError(
                f"the query would have {n_columns:,} columns side by side, and the database takes "
                f"{limit:,}.",
                hint="leave evidence out, or fit with fewer learners, such as "
                "learners=['linear', 'trees']",
            )

    def _needed(self) -> list[set[str]]:
        """By stage, the columns of earlier ones that later stages or the query need."""
        needed = self.stages.used(self.query.outputs.values())
        out: list[set[str]] = []
        for stage in reversed(self.stages.all):
            out.append(set(needed))
            for node in stage.columns.values():
                inner = (node.otherwise, *node.keys) if isinstance(node, Cell) else (node,)
                needed |= self._inside(inner)
        return out[::-1]

    def _inside(self, nodes: Sequence[Expression]) -> set[str]:
        out: set[str] = set()
        for node in nodes:
            name = self.stages.names.get(id(node))
            out |= {name} if name else self.stages.used(parts(node))
        return out

    def kept(self, number: int, name: str) -> str:
        """A column of the last stage."""
        return f"keep{number}"
