"""Conditions of Actions, evaluated as GitHub documents it: for the question which jobs run after which results.

Strings compare without case; `>` takes text as a number, nothing as zero; a condition without a status function
has `success() &&` in front, and `success()` asks all ancestors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infx.workflows.expressions import Token, condition, tokens

Value = str | bool | float
_STATUS = {"success", "failure", "cancelled", "always"}


@dataclass(frozen=True, kw_only=True)
class Situation:
    """values: by lower-case name, such as `needs.plan.result`; what is not there is empty text."""

    values: Mapping[str, Value]
    results: tuple[str, ...]  # of all ancestors
    cancelled: bool = False


def holds(text: str | None, situation: Situation) -> bool:
    found = condition(text or "success()")
    if not any(token.text.lower() in _STATUS for token in tokens(found)):
        found = f"success() && ({found})"
    return _truth(_Parser(tokens(found), situation).either())


class _Parser:
    def __init__(self, found: list[Token], situation: Situation) -> None:
        self.found = found
        self.situation = situation
        self.index = 0

    def peek(self) -> str:
        return self.found[self.index].text if self.index < len(self.found) else ""

    def take(self) -> Token:
        self.index += 1
        return self.found[self.index - 1]

    def either(self) -> Value:
        value = self.both()
        while self.peek() == "||":
            self.take()
            other = self.both()
            value = value if _truth(value) else other
        return value

    def both(self) -> Value:
        value = self.compared()
        while self.peek() == "&&":
            self.take()
            other = self.compared()
            value = other if _truth(value) else value
        return value

    def compared(self) -> Value:
        value = self.single()
        match self.peek():
            case "==":
                self.take()
                return _key(value) == _key(self.single())
            case "!=":
                self.take()
                return _key(value) != _key(self.single())
            case ">":
                self.take()
                return _number(value) > _number(self.single())
            case _:
                return value

    def single(self) -> Value:
        token = self.take()
        if token.text == "!" and token.kind == "operator":
            return not _truth(self.single())
        if token.text == "(" and token.kind == "operator":
            value = self.either()
            self.take()
            return value
        if token.kind == "literal":
            return token.text
        if token.kind == "number":
            return float(token.text)
        if self.peek() == "(":
            self.index += 2  # the status functions have no arguments
            return self.status(token.text.lower())
        return self.situation.values.get(token.text.lower(), "")

    def status(self, name: str) -> bool:
        results = self.situation.results
        match name:
            case "always":
                return True
            case "cancelled":
                return self.situation.cancelled
            case "failure":
                return not self.situation.cancelled and "failure" in results
            case "success":
                return not self.situation.cancelled and all(result == "success" for result in results)
            case _:
                raise ValueError(f"no status function: {name}")


def _truth(value: Value) -> bool:
    return bool(value)


def _key(value: Value) -> object:
    return value.lower() if isinstance(value, str) else value


def _number(value: Value) -> float:
    return float(value) if value != "" else 0.0
