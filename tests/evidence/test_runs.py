"""Check which runs may be evidence for a pull request."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infx.evidence.runs import find_refusal
from tests.builders import HEAD, NOW, OLD, pull, run
from tests.signoff.facts import POLICY

DISPATCH: dict[str, Any] = {
    "event": "workflow_dispatch",
    "head_branch": "main",
    "head_sha": "b" * 40,
    "title": f"PR 77 at {HEAD}",
}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, None),
        ({"head_sha": OLD}, None),  # rows and files decide whether it still counts
        ({"path": ".github/workflows/run-sweep.yml@refs/heads/main"}, None),
        ({"path": ".github/workflows/other.yml"}, "a run of the workflow .github/workflows/other.yml"),
        ({"head_repository": "eve/bench"}, "the repository eve/bench"),
        ({"head_repository": None}, "the repository None"),
        ({"head_branch": "feat-y"}, "the branch feat-y"),
        ({"created_at": NOW - timedelta(days=2)}, "before the pull request was opened"),
        ({"pull_numbers": (77, 78)}, None),
        ({"pull_numbers": (78,)}, "another pull request"),
        ({"event": "push"}, "the event push"),
        ({"event": "schedule"}, "the event schedule"),
        ({"event": "workflow_run"}, "the event workflow_run"),
        (DISPATCH, None),
        ({**DISPATCH, "head_branch": "feat-x"}, None),
        ({**DISPATCH, "head_branch": "mine"}, "dispatched on the branch mine"),
        ({**DISPATCH, "head_repository": "eve/bench"}, "the repository eve/bench"),
        ({**DISPATCH, "title": f"PR 78 at {HEAD}"}, "does not name this pull request"),
        ({**DISPATCH, "title": f"PR 77 at {OLD}"}, "does not name this pull request"),
        ({**DISPATCH, "title": f"PR 77 at {HEAD} and more"}, "does not name this pull request"),
        ({**DISPATCH, "title": "PR 77 at its head"}, "does not name this pull request"),
        ({**DISPATCH, "title": "full-sweep"}, "does not name this pull request"),
        ({"title": f"PR 77 at {HEAD}", "head_branch": "main"}, "the branch main"),  # not a dispatch
    ],
)
def test_a_run_is_refused_with_the_reason(fields: dict[str, Any], words: str | None) -> None:
    refusal = find_refusal(run(**fields), pull(), POLICY)
    assert (refusal is None) if words is None else (words in (refusal or ""))


@pytest.mark.parametrize("fields", [{}, DISPATCH])
def test_only_the_approved_run_counts_for_a_fork(fields: dict[str, Any]) -> None:
    fork = pull(head_repository="eve/bench")
    sweep = run(**fields)
    assert find_refusal(sweep, fork, POLICY) is not None
    assert find_refusal(sweep, fork, POLICY, approved_run=sweep.id + 1) is not None
    assert find_refusal(sweep, fork, POLICY, approved_run=sweep.id) is None
    assert find_refusal(sweep, replace(fork, head_repository=None), POLICY) is not None  # the fork is deleted


def test_a_run_after_the_pull_request_was_closed_is_refused() -> None:
    closed = pull(is_open=False, closed_at=NOW - timedelta(hours=6))
    assert "after it was closed" in (find_refusal(run(), closed, POLICY) or "")


def test_a_dispatched_run_measures_the_commit_in_its_title() -> None:
    assert run(**DISPATCH).commit == HEAD
    assert run(**{**DISPATCH, "title": "PR 77 at main"}).commit == "b" * 40
    assert run(title=f"PR 77 at {OLD}").commit == HEAD  # a pull request may have any title
