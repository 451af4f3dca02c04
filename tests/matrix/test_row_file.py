"""What a row's machine reads: items that no value can imitate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.errors import InfxError
from infx.matrix.row_file import render_rows
from infx.policy.load import default_policy
from tests.matrix.rows import FIXED, row
from tests.results.made import make_jobs

POLICY = default_policy()


def render(*command: str) -> str:
    policy = replace(POLICY, sweep=replace(POLICY.sweep, row_command=command))
    return "".join(render_rows(make_jobs([row(FIXED, 8)]), policy, {"pull": 77}))


def test_the_items_of_a_plan() -> None:
    shared, group, end = render("bash", "run.sh").split("\0\0")
    assert shared.split("\0") == ["argument=bash", "argument=run.sh", "minutes=770", 'rules={"pull": 77}']
    items = group.split("\0")
    assert [item.partition("=")[0] for item in items[:2]] == ["id", "artifact"]
    assert "set=TP=8" in items
    assert end == ""


def test_a_value_with_a_nul_is_refused() -> None:
    """It would end its item and begin another, such as a second command."""
    with pytest.raises(InfxError, match=r"A NUL cannot be in .*: argument=a\\x00argument=b"):
        render("a\0argument=b")
