"""Expressions of GitHub Actions: found in scalars, parsed, and judged by when they can hold.

Strings compare without case, `>` takes text as a number, and `&&` and `||` give the operand that decides. What is not
known, such as an output of another job, is tried with every value that the expression asks for.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = str | float | bool | None
World: TypeAlias = Mapping[str, Value]  # values of names, in lower case, and of status functions: `success()`

_EXPRESSION = re.compile(r"\$\{\{((?:'(?:[^']|'')*'|[^'}]|\}(?!\}))*)\}\}")
_TOKEN = re.compile(
    r"\s*(?:(?P<literal>'(?:[^']|'')*')"
    r"|(?P<number>[-+]?(?:0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\b)"
    r"|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<operator>&&|\|\||[=!<>]=|[<>!(),.*\[\]]))"
)
_STATUS = ("success", "failure", "cancelled", "always")
_RESULTS = ("success", "failure", "cancelled", "skipped")
_TEXT_TESTS = ("contains", "startswith", "endswith")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_DECIDING = frozenset(
    ("!", "hashfiles", *_STATUS, *_TEXT_TESTS, *_COMPARISONS)
)  # give no part of what they read
_CONSTANTS: Mapping[str, Value] = {"true": True, "false": False, "null": None}
# An expression that is longer or deeper may have any value; one that takes more steps of a search may hold.
_MAX_TOKENS, _MAX_DEPTH, _MAX_STEPS = 500, 60, 2_000
OTHER = "\0other"  # a text that no expression spells


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
    return node if asks_for_status(node) else Call("&&", (Call("success", ()), node))


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


def asks_for_status(node: Node) -> bool:
    return any(isinstance(one, Call) and one.function in _STATUS for one in walk(node))


def holds_in(node: Node, state: World) -> Node:
    """Return the node with its status functions as they are in a state, which another job need not share."""
    if not isinstance(node, Call):
        return node
    if node.function in _STATUS:
        return Literal(state.get(f"{node.function}()", True))
    return Call(node.function, tuple(holds_in(argument, state) for argument in node.arguments))


def can_hold(nodes: Collection[Node], world: World) -> bool:
    """Return whether all nodes can be true together, whatever those names are that the world does not know."""
    domains = {name: values for name, values in _find_domains(nodes).items() if name not in world}
    steps = itertools.count()

    def search(known: World, unknown: tuple[str, ...]) -> bool:
        truths = [_truth(node, known) for node in nodes]
        if False in truths:
            return False
        if not unknown or all(truths) or next(steps) > _MAX_STEPS:
            return True
        name, *rest = unknown
        return any(search({**known, name: value}, tuple(rest)) for value in domains[name])

    return search(world, tuple(domains))


def always_holds(node: Node, world: World, prefix: str) -> bool:
    """Return whether a node can be true for each value of the names that start with the prefix."""
    domains = {name: values for name, values in _find_domains([node]).items() if name.startswith(prefix)}
    worlds = itertools.islice(itertools.product(*domains.values()), _MAX_STEPS)
    return all(can_hold([node], {**world, **dict(zip(domains, values, strict=True))}) for values in worlds)


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
            return {re.sub(r"\{(\d+)\}", "", template).replace("{{", "{").replace("}}", "}")}
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

    _LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="))

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None or len(self.tokens) == _MAX_TOKENS:
                raise _SyntaxError
            kind = str(match.lastgroup)
            self.tokens.append((kind, match[kind]))
            position = match.end()
        self.index = self.depth = 0

    def parse(self) -> Node:
        node = self.binary(0)
        if self.index < len(self.tokens):
            raise _SyntaxError
        return node

    def peek(self) -> str:
        """Return the operator that comes next."""
        kind, text = self.tokens[self.index] if self.index < len(self.tokens) else ("end", "")
        return text if kind == "operator" else ""

    def take(self, *expected: str) -> tuple[str, str]:
        if self.index >= len(self.tokens) or (expected and self.peek() not in expected):
            raise _SyntaxError
        self.index += 1
        return self.tokens[self.index - 1]

    def binary(self, level: int) -> Node:
        if level == len(self._LEVELS):
            return self.unary()
        node = self.binary(level + 1)
        while (operator := self.peek()) and operator in self._LEVELS[level]:
            self.take()
            node = Call(operator, (node, self.binary(level + 1)))
        return node

    def unary(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _SyntaxError
        if self.peek() == "!":
            self.take()
            node: Node = Call("!", (self.unary(),))
        else:
            node = self.members(self.single())
        self.depth -= 1
        return node

    def single(self) -> Node:
        kind, text = self.take()
        if kind == "literal":
            return Literal(text[1:-1].replace("''", "'"))
        if kind == "number":
            return Literal(float(int(text, 16)) if "x" in text.lower() else float(text))
        if kind == "operator":
            if text != "(":
                raise _SyntaxError
            node = self.binary(0)
            self.take(")")
            return node
        if self.peek() == "(":
            return Call(text.lower(), self.arguments())
        lower = text.lower()
        return Literal(_CONSTANTS[lower]) if lower in _CONSTANTS else Name(lower)

    def arguments(self) -> tuple[Node, ...]:
        self.take("(")
        found: list[Node] = []
        while self.peek() != ")":
            if found:
                self.take(",")
            found.append(self.binary(0))
        self.take(")")
        return tuple(found)

    def members(self, node: Node) -> Node:
        while self.peek() in {".", "["}:
            _, opened = self.take()
            if opened == ".":
                _, member = self.take()
            else:
                index = self.binary(0)
                self.take("]")
                member = index.value if isinstance(index, Literal) and isinstance(index.value, str) else "*"
            if isinstance(node, Name):
                node = Name(f"{node.path}.{member.lower()}")
            else:
                node = Call(".", (node, Literal(member)))
        return node


_UNKNOWN = object()


def _truth(node: Node, world: World) -> bool | None:
    """Return whether a node is true, or None if the world does not tell."""
    if isinstance(node, Call):
        match node.function:
            case "!":
                inner = _truth(node.arguments[0], world) if node.arguments else None
                return None if inner is None else not inner
            case "&&" | "||":
                decisive = node.function == "||"
                truths = [_truth(argument, world) for argument in node.arguments]
                return decisive if decisive in truths else None if None in truths else not decisive
            case "format" if node.arguments and (literal := possible_texts(node)) and all(literal):
                return True
    value = _evaluate(node, world)
    return None if value is _UNKNOWN else bool(value) and value == value  # NaN is false


def _evaluate(node: Node, world: World) -> object:
    """Return the value of a node, or `_UNKNOWN`."""
    match node:
        case Literal(value):
            return value
        case Name(path):
            return world.get(path, _UNKNOWN)
        case Call("always", ()):
            return True
        case Call(function, ()) if function in _STATUS:
            return world.get(f"{function}()", _UNKNOWN)
        case Call("&&" | "||", (left, right)):
            truth = _truth(left, world)
            if truth is None:
                return _UNKNOWN
            return _evaluate(left if truth == (node.function == "||") else right, world)
        case Call("!", _):
            truth = _truth(node, world)
            return _UNKNOWN if truth is None else truth
        case Call(function, (left, right)) if function in _COMPARISONS or function in _TEXT_TESTS:
            values = _evaluate(left, world), _evaluate(right, world)
            return _UNKNOWN if _UNKNOWN in values else _compare(function, *values)
    return world.get(_render(node), _UNKNOWN)


def _compare(operator: str, one: object, other: object) -> bool:
    if operator in _TEXT_TESTS:
        whole, part = _as_text(one), _as_text(other)
        return {"contains": part in whole, "startswith": whole.startswith(part)}.get(
            operator, whole.endswith(part)
        )
    if operator in {"==", "!="}:
        if isinstance(one, str) and isinstance(other, str):
            equal = one.lower() == other.lower()
        else:
            equal = one is other or _as_number(one) == _as_number(other)
        return equal is (operator == "==")
    first, second = _as_number(one), _as_number(other)
    return {"<": first < second, "<=": first <= second, ">": first > second}.get(operator, first >= second)


def _as_text(value: object) -> str:
    return "" if value is None else str(value).lower()


def _as_number(value: object) -> float:
    if isinstance(value, str):
        try:
            return float(value) if value.strip() else 0.0
        except ValueError:
            return math.nan
    return float(value) if isinstance(value, (bool, float)) else 0.0


def _find_domains(nodes: Iterable[Node]) -> dict[str, list[Value]]:
    """Return the values to try for each name, and for each function whose result nobody knows."""
    domains: dict[str, dict[Value, None]] = {}
    for node in nodes:
        for one in walk(node):
            if name := _unknown(one):
                results = _RESULTS if name.endswith(".result") else ()
                domains.setdefault(name, dict.fromkeys((*results, "", OTHER)))
        for one in walk(node):
            if isinstance(one, Call) and len(one.arguments) == 2:
                for operand, other in itertools.permutations(one.arguments):
                    if (name := _unknown(operand)) and isinstance(other, Literal):
                        domains[name] |= dict.fromkeys(_neighbors(one.function, other.value))
    for name, values in domains.items():
        texts = [value for value in values if isinstance(value, str) and value not in {"", OTHER}]
        if len(texts) > 1 and not name.endswith(".result"):
            values[" ".join(texts)] = None  # a text in which all of them can be found
    return {name: list(values) for name, values in domains.items()}


def _neighbors(operator: str, value: Value) -> tuple[Value, ...]:
    if isinstance(value, float) and not isinstance(value, bool) and operator in _COMPARISONS:
        return (value, value - 1, value + 1)
    return (value,)


def _unknown(node: Node) -> str | None:
    """Return the name by which a world knows the value of a node that is not computed here."""
    if isinstance(node, Name):
        return node.path
    if isinstance(node, Call):
        is_computed = node.function in {"&&", "||"} or (
            node.function in _DECIDING and node.function != "hashfiles"
        )
        return None if is_computed else _render(node)
    return None


def _render(node: Node) -> str:
    match node:
        case Literal(value):
            return json.dumps(value)
        case Name(path):
            return path
        case Call(function, arguments):
            return f"{function}({', '.join(map(_render, arguments))})"
