from __future__ import annotations

from typing import Any

import pytest

from infx.errors import (
    InfxError,
    Level,
    Problem,
    ProblemsError,
    UnavailableError,
    UsageError,
    has_errors,
    sort_problems,
    suggest,
)
from infx.git import GitError, MissingRevisionError


def problem(message: str = "Wrong.", **fields: Any) -> Problem:
    return Problem(**{"rule": "r", "message": message, **fields})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Wrong."),
        ({"path": "a.yaml"}, "a.yaml: Wrong."),
        ({"path": "a.yaml", "line": 3}, "a.yaml:3: Wrong."),
        ({"path": "a.yaml", "line": 3, "hint": "Fix it."}, "a.yaml:3: Wrong. Fix it."),
        ({"hint": "Fix it."}, "Wrong. Fix it."),
    ],
)
def test_a_problem_is_shown_as_place_fault_and_hint(fields: dict[str, Any], text: str) -> None:
    assert str(problem(**fields)) == text


def test_problems_are_sorted_by_place_without_duplicates() -> None:
    wanted = [
        problem("no place"),
        problem(path="a"),
        problem(path="a", line=2, rule="b"),
        problem(path="a", line=2, rule="c"),
        problem(path="a", line=10),
        problem(path="b", line=1),
    ]
    assert sort_problems([*reversed(wanted), *wanted]) == wanted


def test_only_errors_count_as_errors() -> None:
    warning = problem(level=Level.WARNING)
    assert not has_errors([])
    assert not has_errors([warning])
    assert has_errors([warning, problem()])


@pytest.mark.parametrize(
    ("word", "choices", "hint"),
    [
        ("b200-nsacle", ["b200-nscale", "b300-nv", "h100"], "Did you mean b200-nscale?"),
        ("cluster:b200-nsacle", ["b200-nscale", "cluster:b200-nscale"], "Did you mean cluster:b200-nscale or b200-nscale?"),
        ("B200-NSCALE", ["b200-nscale"], "Did you mean b200-nscale?"),
        ("zzz", ["b200-nscale"], None),
        ("b200", [], None),
    ],
)  # fmt: skip
def test_suggests_the_nearest_names(word: str, choices: list[str], hint: str | None) -> None:
    assert suggest(word, choices) == hint


@pytest.mark.parametrize(
    ("error", "code", "rule"),
    [
        (InfxError("No."), 1, "infx"),
        (UsageError("No."), 2, "usage"),
        (UnavailableError("No."), 3, "unavailable"),
        (GitError("No."), 3, "git"),
        (MissingRevisionError("No."), 3, "missing-revision"),
    ],
)
def test_exit_code_and_rule_follow_from_the_class(error: InfxError, code: int, rule: str) -> None:
    assert error.exit_code == code
    assert [p.rule for p in error.problems] == [rule]


def test_an_error_is_a_problem_with_place_and_hint() -> None:
    error = UsageError("No such file.", hint="Look again.", where="a.yaml")
    assert error.problems == [
        Problem(rule="usage", message="No such file.", path="a.yaml", hint="Look again.")
    ]
    assert str(error) == "a.yaml: No such file. Look again."


def test_problems_error_contains_all_problems_sorted() -> None:
    first, second = problem(path="a", line=1), problem(path="a", line=2)
    error = ProblemsError([second, first, second])
    assert error.problems == [first, second]
    assert str(error) == "a:1: Wrong.\na:2: Wrong."
    assert error.exit_code == 1
