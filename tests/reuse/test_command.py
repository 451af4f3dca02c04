"""Which comment lines ask for a sweep to be reused, and whose."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from infx.model import CommentKind
from infx.policy.load import default_policy
from infx.reuse.command import find_command, select_command
from tests.signoff.facts import NOW, comment

POLICY = default_policy().reuse


@pytest.mark.parametrize(
    ("body", "run_id"),
    [
        ("/use 42", 42),
        ("  /use 42  ", 42),
        ("/use\t42", 42),
        ("/reuse-sweep-run 42", 42),
        ("/reuse-sweep-run 42\r\nthanks", 42),
        ("/reuse-sweep-run", None),
        ("thanks\n/use 1\n/use 2", 2),
        ("/use 7\n\n/reuse-sweep-run", None),
    ],
)
def test_commands(body: str, run_id: int | None) -> None:
    assert find_command(body, POLICY.commands) == (run_id,)


@pytest.mark.parametrize(
    "body",
    [
        "Usage:\n```\n/reuse-sweep-run 42\n```",
        "<!--\n/reuse-sweep-run 9\n-->",
        "    /reuse-sweep-run 42",
        "> /use 42",
        "- /use 42",
        "`/use 42`",
        "/use",
        "/use latest",
        "/use 42 now",
        "/use\n42",
        "please /use 42",
        "/reuse-sweep-runs 42",
        "/USE 42",
        "/use 9999999999999999999999",
    ],
)
def test_no_commands(body: str) -> None:
    assert find_command(body, POLICY.commands) is None


def test_the_newest_by_creation_counts() -> None:
    """Editing an old comment does not make it the newest."""
    old = comment("/use 1", id=1, created_at=NOW, updated_at=NOW + timedelta(days=1))
    new = comment("/use 2", id=2, created_at=NOW + timedelta(hours=1))
    chosen = select_command([new, old], POLICY)
    assert chosen is not None
    assert (chosen.run_id, chosen.comment.id) == (2, 2)


@pytest.mark.parametrize(("association", "counts"), [("OWNER", True), ("MEMBER", True), ("COLLABORATOR", True), ("CONTRIBUTOR", False), ("NONE", False)])  # fmt: skip
def test_whose_comments_count(association: str, counts: bool) -> None:
    given = comment("/use 1", association=association)
    assert (select_command([given], POLICY) is not None) is counts
    assert select_command([replace(given, kind=CommentKind.REVIEW)], POLICY) is None
