"""docs/reuse.md against what it describes: its table of answers is complete, its numbers are those of the code."""

from __future__ import annotations

import re

from infx.gather.reuse_runs import MAX_LOOKED, MAX_SWEPT
from infx.policy.load import default_policy
from infx.policy.reuse import CoverageRule
from infx.reuse.command import find_command
from infx.reuse.decision import ReuseReason, ReuseVerdict
from tests.pages import read

PAGE = read("docs/reuse.md")


def find_rows(head: str) -> list[list[str]]:
    """Return the cells of the table whose first head is this."""
    table = PAGE.partition(f"| {head} |")[2].partition("\n\n")[0]
    return [row.strip("| ").split(" | ") for row in table.splitlines()[2:] if row.startswith("|")]


def test_every_reason_is_explained_once() -> None:
    rows = find_rows("reason")
    assert sorted(code.strip("`") for code, *_ in rows) == sorted(ReuseReason)
    for _, verdicts, _ in rows:
        assert set(verdicts.split(", ")) <= set(ReuseVerdict)


def test_every_command_of_the_page_is_one() -> None:
    commands = default_policy().reuse.commands
    shown = [code.strip("`") for code, _ in find_rows("command")]
    assert {word.partition(" ")[0] for word in shown} == set(commands)
    for word in shown:
        assert find_command(word, commands) is not None


def test_both_rules_of_coverage_are_explained() -> None:
    rules = [re.findall(r"`(\w+)`", cell)[0] for cell, *_ in find_rows("`reuse.coverage`")]
    assert rules == list(CoverageRule)
    assert rules[0] == default_policy().reuse.coverage


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    assert f"at most {MAX_LOOKED} lists of artifacts of green runs and {MAX_SWEPT} of others" in PAGE
    assert f"the rows of {2 * MAX_SWEPT} runs" in PAGE
