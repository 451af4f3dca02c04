"""Check how expressions of GitHub Actions are parsed, and when they can hold."""

from __future__ import annotations

import time

import pytest

from infx.workflows.expressions import (
    CANCELLED,
    FAILED,
    RUNNING,
    can_hold,
    find_expressions,
    find_names,
    parse,
    parse_condition,
)
from tests.workflows.evaluate import Situation, holds


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        ("a ${{ b }} c ${{d}}", ["b", "d"]),
        ("${{ 'a }} b' }}", ["'a }} b'"]),
        ("${{ format('{0}}', x) }}", ["format('{0}}', x)"]),
        ("${{ a", []),
        ("$ {{ a }}", []),
    ],
)
def test_expressions_are_found(scalar: str, expected: list[str]) -> None:
    assert find_expressions(scalar) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("needs.Plan.outputs['Count']", ["needs.plan.outputs.count"]),
        ("github.event.pull_request.labels.*.name", ["github.event.pull_request.labels.*.name"]),
        ("matrix[inputs.key].a", ["matrix.*.a"]),
        ("fromJSON(needs.a.outputs.b)[0].c", ["needs.a.outputs.b"]),
        ("a && 'it''s b' || c", ["a", "c"]),
        ("(a", ["?(a"]),
        ("a b", ["?a b"]),
        ("a &", ["?a &"]),
    ],
)
def test_contexts_of_an_expression_are_found(expression: str, expected: list[str]) -> None:
    assert find_names(parse(expression)) == expected


# From GitHub's documentation: ! binds more strongly than comparisons, then && and then ||. Texts compare without case.
# A text that is compared with a number is converted to a number, and null to 0.
TRUE = [
    "true",
    "'false'",  # a text
    "1",
    "'A' == 'a'",
    "'1' == 1",
    "'' == 0",
    "null == ''",
    "null == false",
    "true == 1",
    "'0x1' != 1",  # two texts are not converted
    "'x' != 0",
    "!('x' > 0) && !('x' <= 0)",  # not a number, so every comparison is false
    "2 > 1 && 1 >= 1 && 1 <= 1 && 0 < 1",
    "'10' > 9",
    "0x10 == 16",
    "-1 < 0",
    "1e3 == 1000",
    "!false == true",
    "false && false || true",
    "true || false && false",
    "(true || false) && !(false)",
    "contains('Hello', 'ELL')",
    "startsWith('Hello', 'he') && endsWith('Hello', 'LO')",
    "contains('a', '')",
    "('' || 'b') == 'b'",
    "('a' && 'b') == 'b'",
    "format('{0} x', github.ref)",
]
FALSE = ["false", "0", "''", "null", "!1", "'a' == 'b'", "contains('a', 'b')", "('a' && '') != ''", "1 > 1"]


@pytest.mark.parametrize("expression", TRUE)
def test_an_expression_that_always_holds(expression: str) -> None:
    assert can_hold([(parse(expression), {})])
    assert not can_hold([(parse(f"!({expression})"), {})])


@pytest.mark.parametrize("expression", FALSE)
def test_an_expression_that_never_holds(expression: str) -> None:
    assert not can_hold([(parse(expression), {})])
    assert can_hold([(parse(f"!({expression})"), {})])


@pytest.mark.parametrize(
    ("expressions", "together"),
    [
        (["github.ref == 'a'"], True),
        (["github.ref == 'a'", "github.ref != 'A'"], False),
        (["needs.a.result == 'success'", "needs.a.result == 'skipped'"], False),
        (["needs.a.result != 'success'", "needs.a.result != 'failure'"], True),
        (["vars.n > 3", "vars.n < 3"], False),
        (["vars.n > 3", "vars.n <= 4"], True),
        (["contains(vars.x, 'a')", "contains(vars.x, 'b')", "vars.x != 'a'"], True),
        (["startsWith(vars.x, 'a')", "!startsWith(vars.x, 'a')"], False),
        (["hashFiles('a') == 'x'", "hashFiles('a') == 'y'"], False),
        (["hashFiles('a') == 'x'", "hashFiles('b') == 'y'"], True),
        (["vars.x", "!vars.x"], False),
        (["fromJSON(vars.x).a", "!fromJSON(vars.x).b"], True),
        (["what is this", "1 +"], True),  # expressions with syntax errors may hold
    ],
)
def test_expressions_that_can_hold_together(expressions: list[str], together: bool) -> None:
    assert can_hold([(parse(expression), {}) for expression in expressions]) is together


@pytest.mark.parametrize(
    ("condition", "running", "failed", "cancelled"),
    [
        (None, True, False, False),
        ("", True, False, False),
        ("github.ref == 'x'", True, False, False),
        ("failure()", False, True, False),
        ("cancelled()", False, False, True),
        ("always()", True, True, True),
        ("!cancelled()", True, True, False),
        ("${{ failure() || success() }}", True, True, False),
        ("False", False, False, False),
    ],
)
def test_the_states_in_which_a_condition_holds(
    condition: str | None, running: bool, failed: bool, cancelled: bool
) -> None:
    node = parse_condition(condition)
    assert [can_hold([(node, state)]) for state in (RUNNING[0], FAILED, CANCELLED)] == [
        running,
        failed,
        cancelled,
    ]


def test_a_condition_has_one_value_when_all_values_are_known() -> None:
    situation = Situation(values={"needs.a.outputs.n": "2"}, results=("success",))
    assert holds("needs.a.outputs.n > 1", situation)
    assert not holds("needs.a.outputs.n > 2", situation)
    assert not holds("needs.a.outputs.other", situation)  # a missing output is an empty text


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 50_000,
        "!" * 50_000 + "a",
        " || ".join(f"a{number} == 'x'" for number in range(5_000)),
        " && ".join(f"a{number} != b{number}" for number in range(100)),
        " && ".join(f"(a{number} == 'x' || b{number} == 'y')" for number in range(60)) + " && a1 == 'z'",
        "a[" * 5_000,
        "f(" * 5_000,
    ],
)
def test_an_expression_of_any_size_is_evaluated_in_time(expression: str) -> None:
    """Pull requests can contain any workflow file. An expression that is too large counts as true."""
    started = time.perf_counter()
    assert can_hold([(parse_condition(expression), RUNNING[0])])
    assert time.perf_counter() - started < 5
