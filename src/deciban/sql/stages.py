"""Stages: which parts of some expressions are computed first, so that none is computed twice.

A stage is a line of named expressions that need only those of earlier stages. In stage 0 are the
columns of the table. A shared expression is in the first stage after all that it needs, and so
is a cell of a table that is joined rather than written as a CASE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from deciban.formulas.nodes import Cell, Condition, Expression, Input, Shared, Table, parts

Node = Expression | Condition


@dataclass
class Stage:
    """Named expressions, and the joins that they need: a table and its keys, by alias."""

    columns: dict[str, Expression] = field(default_factory=dict)
    joins: dict[str, Cell] = field(default_factory=dict)


class Stages:
    """The stages of some expressions, by what is used in them.

    ``names`` are the names of the nodes that have a column, by identity; ``levels`` their stages.
    """

    def __init__(self, max_joins: int, max_case_lines: int) -> None:
        self._max_joins, self._max_case_lines = max_joins, max_case_lines
        self.all: list[Stage] = [Stage()]
        self.names: dict[int, str] = {}
        self.stage_of: dict[str, int] = {}
        self.tables: dict[int, tuple[str, Table]] = {}
        self._inputs: dict[tuple[str, str, bool], str] = {}
        self._levels: dict[int, int] = {}
        self._nodes: list[Node] = []  # so that identities stay those of these nodes

    def add(self, node: Node) -> int:
        """The last stage that a node needs: 0 for the columns of the table."""
        known = self._levels.get(id(node))
        if known is not None:
            return known
        self._nodes.append(node)
        level = self._place(node)
        self._levels[id(node)] = level
        return level

    def _place(self, node: Node) -> int:
        if isinstance(node, Input):
            key = node.name, node.type, node.empty
            name = self._inputs.setdefault(key, f"c{len(self._inputs)}")
            self.all[0].columns.setdefault(name, node)
            self.stage_of[name] = 0
            self.names[id(node)] = name
            return 0
        needed = max(map(self.add, parts(node)), default=0)
        if isinstance(node, Cell) and self._is_joined(node.table):
            return self._join(node, needed + 1)
        if isinstance(node, Shared):
            if id(node.of) in self.names:
                self.names[id(node)] = self.names[id(node.of)]
                return needed
            return self._hoist(node, node.of, needed + 1)
        return needed

    def _hoist(self, node: Expression, of: Expression, level: int) -> int:
        while len(self.all) <= level:
            self.all.append(Stage())
        name = f"s{len(self.names)}"
        self.names[id(node)] = name
        self.all[level].columns[name] = of
        self.stage_of[name] = level
        return level

    def _join(self, cell: Cell, level: int) -> int:
        self.tables.setdefault(id(cell.table), (f"lookup_{len(self.tables)}", cell.table))
        alias = self.alias(cell)
        while level < len(self.all) and alias not in self.all[level].joins:
            if len(self.all[level].joins) < self._max_joins:
                break
            level += 1
        self._hoist(cell, cell, level)
        self.all[level].joins.setdefault(alias, cell)
        return level

    def alias(self, cell: Cell) -> str:
        """The name of a join: that of its table, and of the keys that it is joined by."""
        keys = "_".join(self.names[id(key)] for key in cell.keys)
        return f"{self.tables[id(cell.table)][0]}_{keys}"

    def used(self, nodes: Iterable[Node]) -> set[str]:
        """The columns of stages that some nodes refer to."""
        out: set[str] = set()
        seen: set[int] = set()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            name = self.names.get(id(node))
            if name is not None:
                out.add(name)
            else:
                waiting.extend(parts(node))
        return out

    def _is_joined(self, table: Table) -> bool:
        """Whether a table is joined: it is long, or has keys of several parts."""
        return len(table.keys) > 1 or len(table.numbers) > self._max_case_lines
