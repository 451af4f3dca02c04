"""Expressions of GitHub Actions inside the scalars of a workflow file: found and taken apart, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_EXPRESSION = re.compile(r"\$\{\{((?:'(?:[^']|'')*'|[^'}]|\}(?!\}))*)\}\}")
_TOKEN = re.compile(
    r"(?P<literal>'(?:[^']|'')*')"
    r"|(?P<number>-?\d[\w.]*)"
    r"|(?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_*][\w-]*|\[[^\]]*\])*)"
    r"|(?P<operator>&&|\|\||[=!<>]=|[<>!(),])"
)
_LABELS = re.compile(r"labels\.\*\.name$|event\.label\.name$", re.IGNORECASE)


@dataclass(frozen=True)
class Token:
    kind: str  # literal, number, name or operator
    text: str  # of a literal: its value


def find_expressions(scalar: str) -> list[str]:
    """The insides of every `${{ }}` of a scalar."""
    return [match[1].strip() for match in _EXPRESSION.finditer(scalar)]


def condition(scalar: object) -> str:
    """An `if` as one expression, whether or not it is written with `${{ }}`."""
    text = str(scalar).strip()
    match = _EXPRESSION.fullmatch(text)
    return match[1].strip() if match else text


def tokens(expression: str) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(expression):
        kind = str(match.lastgroup)
        text = match[0]
        found.append(Token(kind, text[1:-1].replace("''", "'") if kind == "literal" else text))
    return found


def names(expression: str) -> list[str]:
    """Contexts, their members and functions, lower case: Actions does not tell cases apart."""
    return [token.text.lower() for token in tokens(expression) if token.kind == "name"]


def variables(expression: str) -> list[str]:
    """Names without those of functions."""
    found = [*tokens(expression), Token("end", "")]
    return [one.text.lower() for one, other in pairwise(found) if one.kind == "name" and other.text != "("]


def literals(expression: str) -> list[str]:
    return [token.text for token in tokens(expression) if token.kind == "literal"]


def label_texts(expression: str) -> Iterator[str]:
    """Texts that are compared with a pull request's labels, or looked for among them."""
    found = tokens(expression)
    for name, operator, text in zip(found, found[1:], found[2:], strict=False):
        if text.kind == "literal" and _LABELS.search(name.text) and operator.text in {",", "==", "!="}:
            yield text.text


def calls(expression: str, function: str) -> bool:
    found = tokens(expression)
    return any(one.text.lower() == function and other.text == "(" for one, other in pairwise(found))


def is_called_plainly(expression: str, function: str) -> bool:
    """Called, and not turned round by an `!` before it."""
    found = [Token("start", ""), *tokens(expression)]
    return any(
        one.text.lower() == function and before.text != "!" and other.text == "("
        for before, one, other in zip(found, found[1:], found[2:], strict=False)
    )


def comparisons(expression: str) -> Iterator[tuple[str, str]]:
    """(name, text) of every `name == 'text'` and `name != 'text'`, whichever side the text is on."""
    found = tokens(expression)
    for one, operator, other in zip(found, found[1:], found[2:], strict=False):
        if operator.text in {"==", "!="} and {one.kind, other.kind} == {"name", "literal"}:
            name, text = (one, other) if one.kind == "name" else (other, one)
            yield name.text.lower(), text.text


def is_bare_text(expression: str) -> bool:
    """Only an output, a text input, a variable or an environment value: a string whatever it spells."""
    found = tokens(expression)
    return len(found) == 1 and bool(
        re.fullmatch(
            r"(needs|steps)\.[\w-]+\.outputs\.[\w-]+|(env|vars|inputs|matrix)\.[\w-]+",
            found[0].text,
            re.IGNORECASE,
        )
    )


def bare_text_operands(expression: str, texts: frozenset[str] = frozenset()) -> Iterator[str]:
    """Outputs of jobs and steps, and what else is known to be text, that stand as a truth value, although the text
    'false' is true.
    """
    found = tokens(expression)
    comparisons = {"==", "!=", "<", ">", "<=", ">="}
    depth_in_call = _inside_call(found)
    for index, token in enumerate(found):
        if token.kind != "name":
            continue
        is_output = re.fullmatch(r"(needs|steps)\.[\w-]+\.outputs\.[\w-]+", token.text, re.IGNORECASE)
        if not is_output and token.text.lower() not in texts:
            continue
        before = found[index - 1].text if index else ""
        after = found[index + 1].text if index + 1 < len(found) else ""
        if before not in comparisons and after not in comparisons and not depth_in_call[index]:
            yield token.text


def _inside_call(found: list[Token]) -> list[bool]:
    """For each token: whether it is an argument of a function such as fromJSON or contains."""
    stack: list[bool] = []
    inside = []
    for index, token in enumerate(found):
        if token.text == "(" and token.kind == "operator":
            stack.append(bool(index) and found[index - 1].kind == "name")
        elif token.text == ")" and token.kind == "operator" and stack:
            stack.pop()
        inside.append(any(stack))
    return inside


def excludes(one: str, other: str) -> bool:
    """Whether two conditions cannot hold together, because both compare one value with different texts."""
    wanted = _required_texts(one)
    return any(name in wanted and wanted[name] != text for name, text in _required_texts(other).items())


def _required_texts(expression: str) -> dict[str, str]:
    """`name == 'text'` of every part joined by && at the top."""
    found = tokens(expression)
    if any(token.text == "||" for token in found):
        return {}
    texts = {}
    for one, operator, other in zip(found, found[1:], found[2:], strict=False):
        if (one.kind, operator.text, other.kind) == ("name", "==", "literal"):
            texts[one.text.lower()] = other.text
    return texts
