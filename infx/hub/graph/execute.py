"""Answer a GraphQL query: a field that cannot be read is null, and `errors` says why."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infx.hub.graph.basis import ConnectionItems, FieldError, Spec, Thing
from infx.hub.graph.parse import Document, FieldNode, Node, QueryError
from infx.hub.graph.price import Price, resolve
from infx.hub.graph.schema import find_fields, is_of_type
from infx.hub.router import Call

Path = tuple[str | int, ...]


def answer(
    call: Call, document: Document, variables: Mapping[str, Any], price: Price, limit: Mapping[str, Any]
) -> dict[str, Any]:
    """Return `data`, and `errors` if there are any. limit: fields of `rateLimit`."""
    execution = _Execution(call, document, {**document.variables, **variables})
    root = Thing(document.root, {"cost": price.points, "nodeCount": price.nodes, **limit})
    data = execution.object(root, document.selection, ())
    return {"data": data, **({"errors": execution.errors} if execution.errors else {})}


@dataclass
class _Execution:
    call: Call
    document: Document
    variables: Mapping[str, Any]
    errors: list[dict[str, Any]] = field(default_factory=list)

    def object(self, thing: Thing, selection: Iterable[Node], path: Path) -> dict[str, Any]:
        known = find_fields(thing.type)
        shown: dict[str, Any] = {}
        for key, nodes in self._collect(thing.type, selection).items():
            if nodes[0].name == "__typename":
                shown[key] = thing.type
            else:
                shown[key] = self._field(known[nodes[0].name], thing, nodes, (*path, key))
        return shown

    def _collect(self, kind: str, selection: Iterable[Node]) -> dict[str, list[FieldNode]]:
        """Return key → the nodes of all fragments that select the field; the field is answered once."""
        by_key: dict[str, list[FieldNode]] = {}
        for node in selection:
            if isinstance(node, FieldNode):
                by_key.setdefault(node.key, []).append(node)
                continue
            fragment = node if node.name is None else self.document.fragments[node.name]
            if is_of_type(kind, fragment.on):
                for key, nodes in self._collect(kind, fragment.selection).items():
                    by_key.setdefault(key, []).extend(nodes)
        return by_key

    def _field(self, spec: Spec, owner: Thing, nodes: Sequence[FieldNode], path: Path) -> Any:
        arguments = resolve(nodes[0].arguments, self.variables)
        try:
            value = spec.read(self.call, owner.value, arguments)
        except FieldError as error:
            return self._null(error, path)
        if spec.of is None:
            return value
        if isinstance(value, ConnectionItems):
            value = Thing(f"{spec.of}Connection", _page(value, arguments))
        return self._shown(value, [part for node in nodes for part in node.selection], path)

    def _shown(self, value: Any, selection: Sequence[Node], path: Path) -> Any:
        if isinstance(value, FieldError):
            return self._null(value, path)
        if isinstance(value, list):
            return [self._shown(item, selection, (*path, index)) for index, item in enumerate(value)]
        return None if value is None else self.object(value, selection, path)

    def _null(self, error: FieldError, path: Path) -> None:
        self.errors.append({"type": error.kind, "path": list(path), "message": str(error)})


def _page(listed: ConnectionItems, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of a connection; the items of the cursors `after` and `before` may have been deleted."""
    items = list(listed.items)
    after, before = (_read_cursor(arguments.get(name)) for name in ("after", "before"))
    window = [
        item for item in items if (after is None or item[0] > after) and (before is None or item[0] < before)
    ]
    first, last = arguments.get("first"), arguments.get("last")
    shown = window[:first] if first is not None else window[max(0, len(window) - last) :] if last else window
    return {
        "totalCount": len(items),
        "nodes": [thing for _, thing in shown],
        "pageInfo": {
            "hasNextPage": bool(shown) and shown[-1][0] != items[-1][0],
            "hasPreviousPage": bool(shown) and shown[0][0] != items[0][0],
            "startCursor": _cursor(shown[0][0]) if shown else None,
            "endCursor": _cursor(shown[-1][0]) if shown else None,
        },
    }


def _cursor(key: int) -> str:
    return base64.b64encode(f"cursor:v2:{key}".encode()).decode()


def _read_cursor(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(base64.b64decode(text, validate=True).decode().removeprefix("cursor:v2:"))
    except ValueError:
        raise QueryError(f"`{text}` does not appear to be a valid cursor.") from None
