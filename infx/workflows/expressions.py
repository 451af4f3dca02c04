"""Find and parse expressions of GitHub Actions, and find out whether they can hold.

As on GitHub, strings compare without case, `>` converts text to a number, and `&&` and `||` return an operand. An
unknown value, such as an output of another job, is tried with every value that the expression compares it with.
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
World: TypeAlias = Mapping[
    str, Value
]  # known values, by lower-case name or by status function such as `success()`

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
_DECIDING = frozenset(
    ("!", "hashfiles", *_STATUS, *_COMPARISONS)
)  # their result contains no part of their operands
# A longer or deeper expression counts as unknown; if a search needs more steps, the expression counts as true.
_MAX_TOKENS, _MAX_DEPTH, _MAX_STEPS = 500, 60, 2_000
OTHER = "\0other"  # a text that no expression spells
_UNKNOWN, _SOME_TRUE, _SOME_FALSE = (
    object(),
    object(),
    object(),
)  # unknown values; the last two have a known truth
_TRUTHS: Mapping[object, bool | None] = {_UNKNOWN: None, _SOME_TRUE: True, _SOME_FALSE: False}


@dataclass(frozen=True)
class Literal:
    """A constant of an expression."""

    value: Value


@dataclass(frozen=True)
class Name:
    """A context with its members, in lower case, such as `needs.plan.outputs.count`; an unknown index is `*`."""

    path: str


@dataclass(frozen=True)
class Call:
    """A function or an operator, with its arguments."""

    function: str  # the function's name in lower case, or the operator
    arguments: tuple[Node, ...]


Node: TypeAlias = Literal | Name | Call


# States of a run that continues: all earlier jobs succeeded, one failed, or one was skipped.
RUNNING: tuple[World, ...] = (
    {"success()": True, "failure()": False, "cancelled()": False},
    {"success()": False, "failure()": True, "cancelled()": False},
    {"success()": False, "failure()": False, "cancelled()": False},
)
FAILED = RUNNING[1]
CANCELLED: World = {"success()": False, "failure()": False, "cancelled()": True}


def find_expressions(scalar: str) -> list[str]:
    """Return the text inside every `${{ }}` of a scalar."""
    return [match[1].strip() for match in _EXPRESSION.finditer(scalar)]


def parse_condition(scalar: str | None) -> Node:
    """Parse an `if`; as GitHub does, add success() if it has no status function."""
    text = (scalar or "").strip()
    if not text:
        return Call("success", ())
    match = _EXPRESSION.fullmatch(text)
    embedded = find_expressions(text)
    if embedded and not match:  # with text around it, an expression becomes a text, which is true
        node: Node = Call("format", (Literal(_EXPRESSION.sub("{0}", text)), *map(parse, embedded)))
    else:
        node = parse(match[1] if match else text)
    has_status = any(isinstance(part, Call) and part.function in _STATUS for part in walk(node))
    return node if has_status else Call("&&", (Call("success", ()), node))


def parse(expression: str) -> Node:
    """Parse an expression; if that fails, return a name that may have any value."""
    try:
        return _Parser(expression).parse()
    except _SyntaxError:
        return Name(f"?{expression.strip().lower()}")


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it."""
    yield node
    if isinstance(node, Call):
        for argument in node.arguments:
            yield from walk(argument)


def find_names(node: Node) -> list[str]:
    """Return the contexts that a node reads."""
    return [part.path for part in walk(node) if isinstance(part, Name)]


def find_literals(node: Node) -> list[str]:
    """Return the constant texts in a node."""
    return [part.value for part in walk(node) if isinstance(part, Literal) and isinstance(part.value, str)]


def can_hold(nodes: Collection[tuple[Node, World]]) -> bool:
    """Return whether all nodes can be true together, each in its world, for some values of the unknown names."""
    domains = _find_domains(nodes)
    steps = itertools.count()

    def search(known: World, unknown: tuple[str, ...]) -> bool:
        truths = [_find_truth(_evaluate(node, {**known, **world})) for node, world in nodes]
        if False in truths:
            return False
        if not unknown or all(truths) or next(steps) > _MAX_STEPS:
            return True
        return any(search({**known, unknown[0]: value}, unknown[1:]) for value in domains[unknown[0]])

    return search({}, tuple(domains))


def always_holds(node: Node, world: World, prefix: str) -> bool:
    """Return whether a node can be true for every value of the names that start with the prefix."""
    domains = {
        name: values for name, values in _find_domains([(node, {})]).items() if name.startswith(prefix)
    }
    worlds = itertools.islice(itertools.product(*domains.values()), _MAX_STEPS)
    return all(can_hold([(node, {**world, **dict(zip(domains, values, strict=True))})]) for values in worlds)


def find_compared_texts(node: Node, name: str) -> list[str]:
    """Return the texts that a node compares a name with, or searches in the name's value."""
    return [
        value
        for part in walk(node)
        if isinstance(part, Call) and len(part.arguments) == 2
        for operand, other in itertools.permutations(part.arguments)
        if operand == Name(name) and isinstance(other, Literal) and isinstance(value := other.value, str)
    ]


def find_possible_texts(node: Node) -> set[str] | None:
    """Return every text that a node's value can be, or None if that is unknown.

    A value that is not true counts as an empty text. A template counts as the text with empty gaps.
    """
    match node:
        case Literal(str(value)):
            return {value}
        case Call("&&", (_, right)):
            texts = find_possible_texts(right)
            return None if texts is None else texts | {""}
        case Call("||", (left, right)):
            first, second = find_possible_texts(left), find_possible_texts(right)
            return None if first is None or second is None else (first - {""}) | second
        case Call("format", (Literal(str(template)), *_)):
            return {re.sub(r"\{\d+\}", "", template).replace("{{", "{").replace("}}", "}")}
    return None


def find_carried_names(node: Node) -> Iterator[str]:
    """Yield the contexts whose value becomes part of the node's value, not those that are only compared."""
    match node:
        case Name(path):
            yield path
        case Call("&&", (_, right)):
            yield from find_carried_names(right)
        case Call(function, arguments) if function not in _DECIDING:
            for argument in arguments:
                yield from find_carried_names(argument)


class _SyntaxError(Exception):
    """Raised for an expression that cannot be parsed."""


class _Parser:
    """A recursive-descent parser, in which `!a == b && c || d` means `((!a) == b && c) || d`."""

    _LEVELS = (("||",), ("&&",), ("==", "!="), tuple(_ORDERS))

    def __init__(self, text: str) -> None:
        self.tokens = [(str(match.lastgroup), match[str(match.lastgroup)]) for match in _TOKEN.finditer(text)]
        self.tokens.append(("end", ""))
        self.index = self.depth = 0
        if len(self.tokens) > _MAX_TOKENS:
            raise _SyntaxError

    def parse(self) -> Node:
        node = self.parse_binary(0)
        self.expect("end")
        return node

    def peek(self) -> str:
        """Return the next token if it is an operator, `end` at the end, or an empty text."""
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

    def parse_binary(self, level: int) -> Node:
        if level == len(self._LEVELS):
            return self.parse_unary()
        node = self.parse_binary(level + 1)
        while self.peek() in self._LEVELS[level]:
            node = Call(self.take()[1], (node, self.parse_binary(level + 1)))
        return node

    def parse_unary(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _SyntaxError
        if self.peek() == "!":
            node: Node = Call(self.take()[1], (self.parse_unary(),))
        else:
            node = self.parse_members(self.parse_operand())
        self.depth -= 1
        return node

    def parse_operand(self) -> Node:
        match self.take():
            case "literal", text:
                return Literal(text[1:-1].replace("''", "'"))
            case "number", text:
                return Literal(float(int(text, 16)) if "x" in text.lower() else float(text))
            case "operator", "(":
                node = self.parse_binary(0)
                self.expect(")")
                return node
            case "name", text if self.peek() == "(":
                return Call(text.lower(), tuple(self.parse_arguments()))
            case "name", text:
                return Literal(_CONSTANTS[lower]) if (lower := text.lower()) in _CONSTANTS else Name(lower)
        raise _SyntaxError

    def parse_arguments(self) -> Iterator[Node]:
        self.expect("(")
        while self.peek() != ")":
            yield self.parse_binary(0)
            if self.peek() != ")":
                self.expect(",")
        self.expect(")")

    def parse_members(self, node: Node) -> Node:
        while (opening := self.peek()) in {".", "["}:
            self.take()
            member = self.take()[1] if opening == "." else self.parse_subscript()
            node = (
                Name(f"{node.path}.{member.lower()}")
                if isinstance(node, Name)
                else Call(".", (node, Literal(member)))
            )
        return node

    def parse_subscript(self) -> str:
        index = self.parse_binary(0)
        self.expect("]")
        return index.value if isinstance(index, Literal) and isinstance(index.value, str) else "*"


def _evaluate(node: Node, world: World) -> object:
    """Return the value of a node, or `_UNKNOWN`, `_SOME_TRUE` or `_SOME_FALSE` if the world does not determine it."""
    match node:
        case Literal(value):
            return value
        case Call("!", (inner,)):
            truth = _find_truth(_evaluate(inner, world))
            return _UNKNOWN if truth is None else not truth
        case Call("&&" | "||" as function, (left, right)):
            decisive = function == "||"
            first, second = _evaluate(left, world), _evaluate(right, world)
            if (truth := _find_truth(first)) is not None:
                return first if truth is decisive else second
            return (_SOME_TRUE if decisive else _SOME_FALSE) if _find_truth(second) is decisive else _UNKNOWN
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
            value_from_json = _evaluate_json(node, world)
            if isinstance(value_from_json, str | float | bool | None):
                return value_from_json
    return world.get(_render(node), _UNKNOWN)


class _Unread:
    """A value that no known JSON determines."""


def _evaluate_json(node: Node, world: World) -> object:
    """Return the value that a node reads from a known JSON text, which may also be a list or a mapping."""
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


def _find_truth(value: object) -> bool | None:
    """Return whether a value counts as true, or None if that is unknown."""
    return _TRUTHS[value] if value in _TRUTHS else bool(value)


def _compare(function: str, left: object, right: object) -> bool:
    if function in _TEXTS:
        return _TEXTS[function](_as_text(left), _as_text(right))
    if function in _ORDERS:
        return _ORDERS[function](_as_number(left), _as_number(right))
    both_texts = isinstance(left, str) and isinstance(right, str)
    equal = _as_text(left) == _as_text(right) if both_texts else _as_number(left) == _as_number(right)
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
    """Return the values to try for each unknown name and function: the values that the condition compares it with."""
    domains: dict[str, dict[Value, None]] = {}
    for node, world in nodes:
        for part in walk(node):
            if (
                not isinstance(part, Literal)
                and (name := _render(part)) not in world
                and not _is_computed(part)
            ):
                domains.setdefault(
                    name, dict.fromkeys(("", OTHER, *(_RESULTS if name.endswith(".result") else ())))
                )
            if isinstance(part, Call) and part.function in _COMPARISONS and len(part.arguments) == 2:
                for operand, other in itertools.permutations(part.arguments):
                    if isinstance(other, Literal) and (name := _render(operand)) not in world:
                        value = other.value
                        near = (value - 1, value + 1) if isinstance(value, float) else ()
                        domains.setdefault(name, {}).update(dict.fromkeys((value, *near, "", OTHER)))
    for name, values in domains.items():
        texts = [value for value in values if isinstance(value, str) and value not in {"", OTHER}]
        if not name.endswith(".result"):
            values[" ".join(texts)] = None  # a text that contains all of them
    return {name: list(values) for name, values in domains.items()}


def _is_computed(node: Node) -> bool:
    return isinstance(node, Call) and node.function in _COMPUTED


def _render(node: Node) -> str:
    """Return the name of a node in a world."""
    match node:
        case Call(function, arguments):
            return f"{function}({', '.join(map(_render, arguments))})"
        case Name(path):
            return path
    return json.dumps(node.value)
