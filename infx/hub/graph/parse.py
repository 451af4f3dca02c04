"""Parse a GraphQL query or mutation: one operation, fragments, variables, aliases and arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r'\.\.\.|[!$():=@\[\]{}]|"(?:\\.|[^"\\\n])*"|-?[0-9]+|[_A-Za-z][_0-9A-Za-z]*')
_BLANK = re.compile(r"(?:[\s,\ufeff]|#[^\n]*)*")


class QueryError(Exception):
    """Raised for a query that GitHub answers with `errors` and no `data`."""

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message)
        self.shown = {"message": message, **more}


@dataclass(frozen=True)
class Variable:
    name: str


@dataclass(frozen=True, kw_only=True)
class FieldNode:
    """A selected field."""

    name: str
    key: str  # the field's name in the answer
    arguments: Mapping[str, Any]
    selection: tuple[Node, ...]


@dataclass(frozen=True, kw_only=True)
class FragmentNode:
    """An inline fragment, or the spread of a named fragment."""

    name: str | None = None
    on: str | None = None  # a type; None: the type that the fragment is in
    selection: tuple[Node, ...] = ()


Node = FieldNode | FragmentNode


@dataclass(kw_only=True)
class Document:
    root: str = "Query"  # or Mutation
    selection: tuple[Node, ...] = ()
    variables: dict[str, Any] = field(default_factory=dict)  # with their defaults
    fragments: dict[str, FragmentNode] = field(default_factory=dict)


def parse(text: str) -> Document:
    """Parse a query. Raises QueryError."""
    return _Parser(_tokens(text)).document()


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if at == len(text):
            return tokens
        token = _TOKEN.match(text, at)
        if token is None:
            raise QueryError(f"Parse error on {text[at : at + 10]!r}")
        tokens.append(token[0])
        at = token.end()


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def document(self) -> Document:
        document = Document()
        while self._next:
            if self._skip("fragment"):
                name = self._take()
                self._expect("on")
                document.fragments[name] = FragmentNode(
                    name=name, on=self._take(), selection=self._selection()
                )
            else:
                if self._next in {"query", "mutation"}:
                    document.root = self._take().capitalize()
                    self._operation(document)
                document.selection = self._selection()
        if not document.selection:
            raise QueryError("The document contains no operations.")
        return document

    def _operation(self, document: Document) -> None:
        if self._next not in {"(", "{"}:
            self._take()  # a name
        if not self._skip("("):
            return
        while not self._skip(")"):
            self._expect("$")
            name = self._take()
            self._expect(":")
            while self._next not in {"", "$", ")", "="}:
                self._at += 1  # a type
            document.variables[name] = self._value() if self._skip("=") else None

    def _selection(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        self._expect("{")
        while not self._skip("}"):
            nodes.append(self._fragment() if self._skip("...") else self._field())
        return tuple(nodes)

    def _fragment(self) -> FragmentNode:
        if self._skip("on"):
            return FragmentNode(on=self._take(), selection=self._selection())
        if self._next == "{":
            return FragmentNode(selection=self._selection())
        return FragmentNode(name=self._take())

    def _field(self) -> FieldNode:
        key = name = self._take()
        if self._skip(":"):
            name = self._take()
        arguments = {}
        if self._skip("("):
            while not self._skip(")"):
                argument = self._take()
                self._expect(":")
                arguments[argument] = self._value()
        selection = self._selection() if self._next == "{" else ()
        return FieldNode(name=name, key=key, arguments=arguments, selection=selection)

    def _value(self) -> Any:
        if self._skip("$"):
            return Variable(self._take())
        if self._skip("["):
            items = []
            while not self._skip("]"):
                items.append(self._value())
            return items
        if self._skip("{"):
            fields = {}
            while not self._skip("}"):
                name = self._take()
                self._expect(":")
                fields[name] = self._value()
            return fields
        token = self._take()
        if token.startswith('"') or token.lstrip("-").isdecimal() or token in {"true", "false", "null"}:
            return json.loads(token)
        return token  # a value of an enumeration

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next
        if token in {"", "}", ")", "]"}:
            raise QueryError(f"Parse error on {token or 'the end of the query'!r}")
        self._at += 1
        return token

    def _skip(self, token: str) -> bool:
        matches = self._next == token
        self._at += matches
        return matches

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            raise QueryError(f"Parse error on {self._next!r}, expected {token!r}")
