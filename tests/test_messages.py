"""Check all messages in the source: numbers agree with their nouns, and shortened lists say how much they leave out.

`infx.phrases` has helpers for both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import pytest

from tests.conftest import ROOT
from tests.sources import find_in_files, walk

PACKAGE = sorted(
    path
    for path in (ROOT / "infx").rglob("*.py")
    # The hub speaks GitHub's words, and the row file is a program without the helpers.
    if path.name != "phrases.py" and not {"hub", "rowfile"} & set(path.parts)
)
NOUNS = (
    "artifact|comment|commit|config|configuration|conflict|entrie|error|fact|file|finding|item|job|key|label|line|link|"
    "list|node|option|problem|pull request|read|request|result|row|shard|sign-off|sweep|task item|value|warning|write"
)
TEXTS = {  # values in these files are texts, or appear only in messages for programmers
    "infx/cli/options.py", "infx/cli/reconcile.py", "infx/github/convert.py",
}  # fmt: skip
COUNTED = re.compile(rf" (?:more |new |other |accuracy |earlier )?(?:{NOUNS})s\b")


def is_fixed(expression: ast.expr) -> bool:
    """Return whether an expression is a constant of the module, which is greater than 1, or a name."""
    is_constant = isinstance(expression, ast.Name) and expression.id.isupper()
    return is_constant or (
        isinstance(expression, ast.Attribute) and expression.attr in {"framework", "id", "name"}
    )


def find_plurals(source: str) -> Iterator[str]:
    """Yield numbers in braces before a noun that is always a plural."""
    for node in walk(source):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if (
                isinstance(value, ast.FormattedValue)
                and not is_fixed(value.value)
                and isinstance(after, ast.Constant)
                and COUNTED.match(str(after.value))
            ):
                yield f"{node.lineno}: {ast.unparse(value.value)}{after.value!r}"


def find_cut_lists(source: str) -> Iterator[str]:
    """Yield slices from the start of a list that are joined without the number of the remaining items."""
    for node in walk(source):
        if not (isinstance(node, ast.Call) and node.args and joins_words(node.func)):
            continue
        joined: ast.expr = node.args[0]
        if isinstance(joined, ast.GeneratorExp | ast.ListComp):
            joined = joined.generators[0].iter
        if isinstance(joined, ast.Subscript) and isinstance(joined.slice, ast.Slice):
            cut = joined.slice
            if cut.lower is None and cut.upper is not None and not isinstance(cut.upper, ast.UnaryOp):
                yield f"{node.lineno}: {ast.unparse(node)}"


def joins_words(function: ast.expr) -> bool:
    """Return whether a function joins words: `", ".join`, `"; ".join` or `join_words`."""
    if isinstance(function, ast.Name):
        return function.id == "join_words"
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "join"
        and isinstance(function.value, ast.Constant)
        and str(function.value.value).strip() in {",", ";", "and", "or"}
    )


def find_reprs(source: str) -> Iterator[str]:
    """Yield `{value!r}` of values that may not be text: Python does not spell true, null and lists like YAML."""
    for node in walk(source):
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
            expression = ast.unparse(node.value)
            is_text = expression.startswith("str(")
            if (isinstance(node.value, ast.Call) and not is_text) or expression in {
                "value",
                "error",
                "found",
                "item",
            }:
                yield f"{node.lineno}: {expression}!r"


def test_numbers_agree_with_their_nouns() -> None:
    assert find_in_files(PACKAGE, lambda source: [*find_plurals(source)]) == {}, "use infx.phrases.count"


def test_a_shortened_list_says_how_many_items_are_missing() -> None:
    assert find_in_files(PACKAGE, lambda source: [*find_cut_lists(source)]) == {}, (
        "use infx.phrases.join_some"
    )


def test_values_are_spelled_as_in_yaml() -> None:
    paths = [path for path in PACKAGE if path.relative_to(ROOT).as_posix() not in TEXTS]
    assert find_in_files(paths, lambda source: [*find_reprs(source)]) == {}, (
        "use json.dumps(value, ensure_ascii=False)"
    )


@pytest.mark.parametrize(
    ("code", "find"),
    [
        ("f'{len(x)} links made'", find_plurals),
        ("f'{n:,} more problems'", find_plurals),
        ("', '.join(names[:4])", find_cut_lists),
        ("', '.join(str(n) for n in names[:4])", find_cut_lists),
        ("join_words(names[:4])", find_cut_lists),
        ("f'it is {value!r}'", find_reprs),
        ("f'it is {getattr(a, b)!r}'", find_reprs),
    ],
)
def test_mistakes_are_found(code: str, find: Callable[[str], Iterator[str]]) -> None:
    assert list(find(code))


def test_correct_messages_are_not_reported() -> None:
    code = "f'{count(n, \"link\")} made'; f'at most {MAX} links'; ', '.join(names); join_some(names, 4); f'{name!r}'"
    assert [*find_plurals(code), *find_cut_lists(code), *find_reprs(code)] == []


def test_the_files_of_the_package_are_found() -> None:
    assert ROOT / "infx/errors.py" in PACKAGE
