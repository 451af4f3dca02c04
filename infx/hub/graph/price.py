"""Check a query against the schema, and compute its cost by GitHub's documented formula.

Each connection counts as one request for each object that has it. The `first` or `last` of the enclosing
connections say how many objects there may be. The sum divided by 100, rounded, is the price in points, at
least 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infx.hub.graph.parse import Document, FieldNode, Node, QueryError, Variable
from infx.hub.graph.schema import MEMBERS, SCHEMA, find_fields

MOST_NODES = 500_000
LONGEST_PAGE = 100


@dataclass(kw_only=True)
class Price:
    """The cost of a query."""

    requests: int = 0  # of connections
    nodes: int = 0  # the most that the answer may have

    @property
    def points(self) -> int:
        return max(1, (self.requests + 50) // 100)


def resolve(arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the values of their variables, also inside input objects."""
    return {name: _resolve(value, variables) for name, value in arguments.items()}


def _resolve(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, Variable):
        return variables.get(value.name)
    return resolve(value, variables) if isinstance(value, dict) else value


def check(document: Document, variables: Mapping[str, Any]) -> Price:
    """Return a query's price. Raises QueryError for a query that GitHub refuses to execute."""
    price = Price()
    _Checker(document, variables, price).selection(document.selection, document.root, 1)
    if price.nodes > MOST_NODES:
        raise QueryError(
            f"This query requests up to {price.nodes:,} possible nodes which exceeds the maximum limit of {MOST_NODES:,}.",
            type="MAX_NODE_LIMIT_EXCEEDED",
        )
    return price


@dataclass(frozen=True)
class _Checker:
    document: Document
    variables: Mapping[str, Any]
    price: Price

    def selection(self, nodes: tuple[Node, ...], kind: str, times: int) -> None:
        for node in nodes:
            if isinstance(node, FieldNode):
                self._field(node, kind, times)
                continue
            fragment = node if node.name is None else self.document.fragments.get(node.name)
            if fragment is None:
                raise QueryError(f"Fragment {node.name} was used, but not defined")
            on = fragment.on or kind
            if on.removesuffix("Connection") not in {*SCHEMA, *MEMBERS}:
                raise QueryError(f"No such type {on}, so it can't be a fragment condition")
            self.selection(fragment.selection, on, times)

    def _field(self, node: FieldNode, kind: str, times: int) -> None:
        if node.name == "__typename":
            return
        spec = find_fields(kind).get(node.name)
        if spec is None:
            code = {"code": "undefinedField", "typeName": kind, "fieldName": node.name}
            raise QueryError(f"Field '{node.name}' doesn't exist on type '{kind}'", extensions=code)
        if (spec.of is None) != (not node.selection):
            raise QueryError(f"Field {node.name!r} must{' not' if spec.of is None else ''} have selections")
        if spec.of is None:
            return
        if not spec.pages:
            self.selection(node.selection, spec.of, times)
            return
        size = self._size(node)
        self.price.requests += times
        self.price.nodes += times * size
        self.selection(node.selection, f"{spec.of}Connection", times * size)

    def _size(self, node: FieldNode) -> int:
        arguments = resolve(node.arguments, self.variables)
        size = arguments.get("first", arguments.get("last"))
        if size is None:
            raise QueryError(
                f"You must provide a `first` or `last` value to properly paginate the `{node.name}` connection.",
                type="MISSING_PAGINATION_BOUNDARIES",
            )
        if not 1 <= size <= LONGEST_PAGE:
            raise QueryError(
                f"Requesting {size} records on the `{node.name}` connection exceeds the limit of {LONGEST_PAGE} records.",
                type="EXCESSIVE_PAGINATION",
            )
        return int(size)
