from __future__ import annotations

from collections.abc import Iterator

from infx.errors import Level, Problem
from infx.rules import Finding, Rule, find_all


def _find_odd(numbers: list[int]) -> Iterator[Finding[int]]:
    for index, number in enumerate(numbers):
        if number % 2:
            level = Level.WARNING if number == 1 else None
            yield Finding(at=index, message=f"{number} is odd.", hint="Add one.", level=level)


def test_findings_carry_the_id_and_the_level_of_their_rule() -> None:
    rules = (Rule(id="odd", check=_find_odd), Rule(id="hint", check=_find_odd, level=Level.WARNING))
    findings = [(finding.rule, finding.at, finding.level) for finding in find_all(rules, [2, 3, 1])]
    assert findings == [
        ("odd", 1, Level.ERROR),
        ("odd", 2, Level.WARNING),  # its own level wins
        ("hint", 1, Level.WARNING),
        ("hint", 2, Level.WARNING),
    ]


def test_a_finding_becomes_a_problem_of_a_file() -> None:
    (finding,) = Rule(id="odd", check=_find_odd).find([3])
    assert finding.as_problem("a.yaml", 4) == Problem(
        rule="odd", message="3 is odd.", path="a.yaml", line=4, hint="Add one."
    )
