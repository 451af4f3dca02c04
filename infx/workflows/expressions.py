"""Expressions of GitHub Actions: found in scalars, parsed, and judged by when they can hold.

Strings compare without case, `>` takes text as a number, and `&&` and `||` give the operand that decides. What is not
known, such as an output of another job, is tried with every value that the expression asks for.
"""

from __future__ import annotations

import itertools
import json
import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = str | float | bool | None
World: TypeAlias = Mapping[str, Value]  # values of names, in lower case, and of status functions: `success()`

_EXPRESSION = re.compile(r"\$\{\{((?:'(?:[^']|'')*'|[^'}]|\}(?!\}))*)\}\}")
_TOKEN = re.compile(
    r"\s*(?:(?P<literal>'(?:[^']|'')*')"
    r"|(?P<number>[-+]?(?:0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\b)"
    r"|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<operator>&&|\|\||[=!<>]=|[<>!(),.*\[\]])|(?P<wrong>\S))"
)
_STATUS = ("success", "failure", "cancelled", "always")
_RESULTS = ("success", "failure", "cancelled", "skipped")
_CONSTANTS: Mapping[str, Value] = {"true": True, "false": False, "null": None}
_ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": operator.contains,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
_COMPARISONS = ("==", "!=", *_ORDERS, *_TEXTS)
_COMPUTED = frozenset(("!", "&&", "||", *_STATUS, *_COMPARISONS))
_DECIDING = frozenset(("!", "hashfiles", *_STATUS, *_COMPARISONS))  # give no part of what they read
# An expression that is longer or deeper may have any value; one that takes more steps of a search may hold.
_MAX_TOKENS, _MAX_DEPTH, _MAX_STEPS = 500, 60, 2_000
OTHER = "\0other"  # a text that no expression spells
_UNKNOWN, _SOME_TRUE, _SOME_FALSE = object(), object(), object()  # what is not known, and of what kind
_TRUTHS: Mapping[object, bool | None] = {_UNKNOWN: None, _SOME_TRUE: True, _SOME_FALSE: False}


@dataclass(frozen=True)
class Literal:
    value: Value


@dataclass(frozen=True)
class Name:
    """A context and its members, in lower case: `needs.plan.outputs.count`; an index that is not a text is `*`."""

    path: str


@dataclass(frozen=True)
class Call:
    """A function, or an operator with its operands: both are named by their text, in lower case."""

    function: str
    arguments: tuple[Node, ...]


Node: TypeAlias = Literal | Name | Call


# A run that goes on: all that comes before was fine, something failed, or something was skipped.
RUNNING: tuple[World, ...] = (
    {"success()": True, "failure()": False, "cancelled()": False},
    {"success()": False, "failure()": True, "cancelled()": False},
    {"success()": False, "failure()": False, "cancelled()": False},
)
FAILED = RUNNING[1]
CANCELLED: World = {"success()": False, "failure()": False, "cancelled()": True}


def find_expressions(scalar: str) -> list[str]:
    """Return the insides of every `${{ }}` of a scalar."""
    return [match[1].strip() for match in _EXPRESSION.finditer(scalar)]


def parse_condition(scalar: str | None) -> Node:
    """Return what an `if` asks; without a status function it asks for success() too, as GitHub has it."""
    text = (scalar or "").strip()
    if not text:
        return Call("success", ())
    match = _EXPRESSION.fullmatch(text)
    found = find_expressions(text)
    if found and not match:  # text around an expression makes one text, which is true
        node: Node = Call("format", (Literal(_EXPRESSION.sub("{0}", text)), *map(parse, found)))
    else:
        node = parse(match[1] if match else text)
    asks_for_status = any(isinstance(one, Call) and one.function in _STATUS for one in walk(node))
    return node if asks_for_status else Call("&&", (Call("success", ()), node))


def parse(expression: str) -> Node:
    """Parse one expression. One that cannot be parsed is a name that may have any value."""
    try:
        return _Parser(expression).parse()
    except _SyntaxError:
        return Name(f"?{expression.strip().lower()}")


def walk(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Call):
        for argument in node.arguments:
            yield from walk(argument)


def names(node: Node) -> list[str]:
    """Return the contexts that a node reads."""
    return [one.path for one in walk(node) if isinstance(one, Name)]


def literals(node: Node) -> list[str]:
    return [one.value for one in walk(node) if isinstance(one, Literal) and isinstance(one.value, str)]


def can_hold(nodes: Collection[tuple[Node, World]]) -> bool:
    """Return whether all nodes can be true together, each in its world, whatever names are that the worlds do not know."""
    domains = _find_domains(nodes)
    steps = itertools.count()

    def search(known: World, unknown: tuple[str, ...]) -> bool:
        truths = [_truth(_evaluate(node, {**known, **world})) for node, world in nodes]
        if False in truths:
            return False
        if not unknown or all(truths) or next(steps) > _MAX_STEPS:
            return True
        return any(search({**known, unknown[0]: value}, unknown[1:]) for value in domains[unknown[0]])

    return search({}, tuple(domains))


def always_holds(node: Node, world: World, prefix: str) -> bool:
    """Return whether a node can be true for each value of the names that start with the prefix."""
    domains = {
        name: values for name, values in _find_domains([(node, {})]).items() if name.startswith(prefix)
    }
    worlds = itertools.islice(itertools.product(*domains.values()), _MAX_STEPS)
    return all(can_hold([(node, {**world, **dict(zip(domains, values, strict=True))})]) for values in worlds)


def compared_texts(node: Node, name: str) -> list[str]:
    """Return the texts that a name is compared with, or that are looked for in it."""
    return [
        value
        for one in walk(node)
        if isinstance(one, Call) and len(one.arguments) == 2
        for operand, other in itertools.permutations(one.arguments)
        if operand == Name(name) and isinstance(other, Literal) and isinstance(value := other.value, str)
    ]


def possible_texts(node: Node) -> set[str] | None:
    """Return every text that a node can be, or None if nobody knows. A value that is not true is an empty text.

    Of a template whose gaps are not known, the text with empty gaps stands for all.
    """
    match node:
        case Literal(str(value)):
            return {value}
        case Call("&&", (_, right)):
            texts = possible_texts(right)
            return None if texts is None else texts | {""}
        case Call("||", (left, right)):
            first, second = possible_texts(left), possible_texts(right)
            return None if first is None or second is None else (first - {""}) | second
        case Call("format", (Literal(str(template)), *_)):
            return {re.sub(r"\{\d+\}", "", template).replace("{{", "{").replace("}}", "}")}
    return None


def carried_names(node: Node) -> Iterator[str]:
    """Yield the contexts whose value becomes a part of the node's, and does not only decide it."""
    match node:
        case Name(path):
            yield path
        case Call("&&", (_, right)):
            yield from carried_names(right)
        case Call(function, arguments) if function not in _DECIDING:
            for argument in arguments:
                yield from carried_names(argument)


class _SyntaxError(Exception):
    pass


class _Parser:
    """Recursive descent; operators bind as in `!a == b && c || d`: ((!a) == b && c) || d."""

    _LEVELS = (("||",), ("&&",), ("==", "!="), tuple(_ORDERS))

    def __init__(self, text: str) -> None:
        self.tokens = [(str(match.lastgroup), match[str(match.lastgroup)]) for match in _TOKEN.finditer(text)]
        self.tokens.append(("end", ""))
        self.index = self.depth = 0
        if len(self.tokens) > _MAX_TOKENS:
            raise _SyntaxError

    def parse(self) -> Node:
        node = self.binary(0)
        self.expect("end")
        return node

    def peek(self) -> str:
        """Return the operator that comes next, or `end`."""
        kind, text = self.tokens[self.index]
        return text if kind == "operator" else "end" if kind == "end" else ""

    def take(self) -> tuple[str, str]:
        self.index += 1
        if self.index == len(self.tokens):
            raise _SyntaxError
        return self.tokens[self.index - 1]

    def expect(self, text: str) -> None:
        if self.peek() != text:
            raise _SyntaxError
        self.index += text != "end"

    def binary(self, level: int) -> Node:
        if level == len(self._LEVELS):
            return self.unary()
        node = self.binary(level + 1)
        while self.peek() in self._LEVELS[level]:
            node = Call(self.take()[1], (node, self.binary(level + 1)))
        return node

    def unary(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _SyntaxError
        if self.peek() == "!":
            node: Node = Call(self.take()[1], (self.unary(),))
        else:
            node = self.members(self.single())
        self.depth -= 1
        return node

    def single(self) -> Node:
        match self.take():
            case "literal", text:
                return Literal(text[1:-1].replace("''", "'"))
            case "number", text:
                return Literal(float(int(text, 16)) if "x" in text.lower() else float(text))
            case "operator", "(":
                node = self.binary(0)
                self.expect(")")
                return node
            case "name", text if self.peek() == "(":
                return Call(text.lower(), tuple(self.arguments()))
            case "name", text:
                return Literal(_CONSTANTS[lower]) if (lower := text.lower()) in _CONSTANTS else Name(lower)
        raise _SyntaxError

    def arguments(self) -> Iterator[Node]:
        self.expect("(")
        while self.peek() != ")":
            yield self.binary(0)
            if self.peek() != ")":
                self.expect(",")
        self.expect(")")

    def members(self, node: Node) -> Node:
        while (opened := self.peek()) in {".", "["}:
            self.take()
            member = self.take()[1] if opened == "." else self.subscript()
            node = (
                Name(f"{node.path}.{member.lower()}")
                if isinstance(node, Name)
                else Call(".", (node, Literal(member)))
            )
        return node

    def subscript(self) -> str:
        index = self.binary(0)
        self.expect("]")
        return index.value if isinstance(index, Literal) and isinstance(index.value, str) else "*"


def _evaluate(node: Node, world: World) -> object:
    """Return the value of a node; one of the three objects above where the world does not tell it."""
    match node:
        case Literal(value):
            return value
        case Call("!", (inner,)):
            truth = _truth(_evaluate(inner, world))
            return _UNKNOWN if truth is None else not truth
        case Call("&&" | "||" as function, (left, right)):
            decisive = function == "||"
            first, second = _evaluate(left, world), _evaluate(right, world)
            if (truth := _truth(first)) is not None:
                return first if truth is decisive else second
            return (_SOME_TRUE if decisive else _SOME_FALSE) if _truth(second) is decisive else _UNKNOWN
        case Call("always", _):
            return True
        case Call(function, _) if function in _STATUS:
            return world.get(f"{function}()", _UNKNOWN)
        case Call(function, (left, right)) if function in _COMPARISONS:
            first, second = _evaluate(left, world), _evaluate(right, world)
            return _UNKNOWN if first in _TRUTHS or second in _TRUTHS else _compare(function, first, second)
        case Call("format", (Literal(str(template)), *_)) if re.sub(r"\{\d+\}", "", template):
            return _SOME_TRUE
        case Call("fromjson" | "tojson" | ".", _):
            read = _evaluate_json(node, world)
            if isinstance(read, str | float | bool | None):
                return read
    return world.get(_render(node), _UNKNOWN)


class _Unread:
    """Stands for what no JSON that the world knows tells."""


def _evaluate_json(node: Node, world: World) -> object:
    """Return what a node finds in a text of the world: lists and mappings too, which are no values elsewhere."""
    match node:
        case Call("fromjson", (text,)) if isinstance(known := _evaluate(text, world), str):
            try:
                return json.loads(known, parse_int=float)
            except (ValueError, RecursionError):
                return _Unread()
        case Call(".", (holder, _)) if _evaluate_json(holder, world) == []:
            return None
        case Call("tojson", (holder,)) if isinstance(value := _evaluate_json(holder, world), list | dict):
            return json.dumps(value, indent=2)
    return _Unread()


def _truth(value: object) -> bool | None:
    """Return whether a value counts as true, or None if nobody knows."""
    return _TRUTHS[value] if value in _TRUTHS else bool(value)


def _compare(function: str, one: object, other: object) -> bool:
    if function in _TEXTS:
        return _TEXTS[function](_as_text(one), _as_text(other))
    if function in _ORDERS:
        return _ORDERS[function](_as_number(one), _as_number(other))
    both_texts = isinstance(one, str) and isinstance(other, str)
    equal = _as_text(one) == _as_text(other) if both_texts else _as_number(one) == _as_number(other)
    return equal is (function == "==")


def _as_text(value: object) -> str:
    return "" if value is None else str(value).lower()


def _as_number(value: object) -> float:
    if isinstance(value, (bool, float)):
        return float(value)
    try:
        return float(str(value or "0").strip() or 0)
    except ValueError:
        return math.nan


def _find_domains(nodes: Iterable[tuple[Node, World]]) -> dict[str, list[Value]]:
    """Return the values to try for each name, and each function, that nobody knows: those that it is compared with."""
    domains: dict[str, dict[Value, None]] = {}
    for node, world in nodes:
        for one in walk(node):
            if not isinstance(one, Literal) and (name := _render(one)) not in world and not _is_computed(one):
                domains.setdefault(
                    name, dict.fromkeys(("", OTHER, *(_RESULTS if name.endswith(".result") else ())))
                )
            if isinstance(one, Call) and one.function in _COMPARISONS and len(one.arguments) == 2:
                for operand, other in itertools.permutations(one.arguments):
                    if isinstance(other, Literal) and (name := _render(operand)) not in world:
                        value = other.value
                        near = (value - 1, value + 1) if isinstance(value, float) else ()
                        domains.setdefault(name, {}).update(dict.fromkeys((value, *near, "", OTHER)))
    for name, values in domains.items():
        texts = [value for value in values if isinstance(value, str) and value not in {"", OTHER}]
        if not name.endswith(".result"):
            values[" ".join(texts)] = None  # a text in which all of them can be found
    return {name: list(values) for name, values in domains.items()}


def _is_computed(node: Node) -> bool:
    return isinstance(node, Call) and node.function in _COMPUTED


def _render(node: Node) -> str:
    """Return the name by which a world knows the value of a node."""
    match node:
        case Call(function, arguments):
            return f"{function}({', '.join(map(_render, arguments))})"
        case Name(path):
            return path
    return json.dumps(node.value)
