"""Read rules and checks, and send a merge: unusual answers, refusals and lost replies."""

from __future__ import annotations

from typing import Any

import pytest

from infx.github.errors import (
    ConflictError,
    PermissionDeniedError,
    PrimaryLimitError,
    UnexpectedReplyError,
    UnknownOutcomeError,
)
from infx.model import BranchRules, Conclusion, MergeMethod, QueueEvent, RequiredCheck
from tests.builders import user
from tests.github.scripted import LOST, play_github, refusal, reply

CHECKS = {
    "type": "required_status_checks",
    "ruleset_id": 1,
    "parameters": {
        "strict_required_status_checks_policy": True,
        "required_status_checks": [{"context": "ci", "integration_id": 15368}, {"context": "infx/sweep"}],
    },
}
QUEUE = {"type": "merge_queue", "ruleset_id": 1, "parameters": {"merge_method": "SQUASH"}}
METHODS = {
    "type": "pull_request",
    "ruleset_id": 1,
    "parameters": {"required_approving_review_count": 1, "allowed_merge_methods": ["merge", "squash"]},
}
OTHER = {"type": "deletion", "ruleset_id": 1}


def branch(**protection: Any) -> Any:
    return {
        "name": "main",
        "protected": bool(protection),
        "protection": {"required_status_checks": protection},
    }


def test_rulesets_and_classic_protection_are_combined() -> None:
    classic = branch(
        enforcement_level="everyone",
        contexts=["ci", "old"],
        checks=[{"context": "ci", "app_id": None}, {"context": "any", "app_id": -1}],
    )
    github, _, _ = play_github([reply(data=[CHECKS, QUEUE, METHODS, OTHER]), reply(data=classic)])
    rules = github.branch_rules("main")
    assert rules == BranchRules(
        checks=(
            RequiredCheck(context="ci"),
            RequiredCheck(context="any"),
            RequiredCheck(context="old"),
            RequiredCheck(context="ci", app_id=15368),
            RequiredCheck(context="infx/sweep"),
        ),
        is_strict=True,
        methods=(MergeMethod.MERGE, MergeMethod.SQUASH),
        queue=MergeMethod.SQUASH,
    )


@pytest.mark.parametrize(
    "answer",
    [{"name": "main", "protected": False}, branch(enforcement_level="off", contexts=["ci"], checks=[])],
)
def test_a_branch_without_rules_requires_nothing(answer: Any) -> None:
    github, _, _ = play_github([reply(data=[]), reply(data=answer)])
    assert github.branch_rules("main") == BranchRules()


def check(number: int, conclusion: str | None = "success", app: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "name": "ci",
        "status": "completed" if conclusion else "queued",
        "conclusion": conclusion,
        "app": app if app is not None else {"id": 15368},
        "html_url": "",
        **fields,
    }


def test_the_newest_check_of_each_app_counts() -> None:
    """GitHub's filter leaves one check for each suite, so a cancelled run may be listed together with a newer one."""
    found = [check(2), check(1, "cancelled"), check(3, "failure", {"id": 7})]
    github, _, _ = play_github([reply(data={"total_count": 3, "check_runs": found})])
    runs = github.check_runs("a" * 40)
    assert [(run.id, run.app_id) for run in runs] == [(2, 15368), (3, 7)]


def test_an_unknown_conclusion_is_not_green() -> None:
    github, _, _ = play_github([reply(data={"total_count": 1, "check_runs": [check(1, "splendid")]})])
    (run,) = github.check_runs("a" * 40)
    assert run.conclusion is Conclusion.FAILURE


def test_a_merge_names_the_expected_head() -> None:
    github, transport, _ = play_github([reply(data={"sha": "m" * 40, "merged": True})])
    assert github.merge(77, sha="a" * 40, method=MergeMethod.SQUASH) == "m" * 40
    assert transport.sent[0].body == {"sha": "a" * 40, "merge_method": "squash"}


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (refusal(409, "Head branch was modified."), ConflictError),
        (refusal(405, "Pull Request is not mergeable"), ConflictError),
        (refusal(403, "Resource not accessible by integration"), PermissionDeniedError),
        (refusal(502, "Bad gateway"), UnknownOutcomeError),
        (LOST, UnknownOutcomeError),
    ],
)
def test_a_merge_is_sent_once(line: Any, error: type[Exception]) -> None:
    github, transport, _ = play_github([line])
    with pytest.raises(error):
        github.merge(77, sha="a" * 40, method=MergeMethod.SQUASH)
    assert len(transport.sent) == 1


def graphql_error(kind: str, message: str = "Pull request is already in the queue") -> Any:
    shown = {"type": kind, "path": ["enqueuePullRequest"], "message": message}
    return reply(data={"data": {"enqueuePullRequest": None}, "errors": [shown]})


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (graphql_error("UNPROCESSABLE"), ConflictError),
        (graphql_error("FORBIDDEN", "Resource not accessible by integration"), PermissionDeniedError),
        (reply(data={"errors": [{"type": "RATE_LIMITED", "message": "slow down"}]}), PrimaryLimitError),
        (reply(data=None), UnknownOutcomeError),
        (refusal(502, "Bad gateway"), UnknownOutcomeError),
        (LOST, UnknownOutcomeError),
        (reply(data={"data": {"enqueuePullRequest": None}}), UnexpectedReplyError),
    ],
)
def test_a_mutation_is_sent_once_and_counts_as_a_write(line: Any, error: type[Exception]) -> None:
    github, transport, _ = play_github([line])
    with pytest.raises(error):
        github.enqueue("PR_1", sha="a" * 40)
    assert len(transport.sent) == 1
    assert (github.requests.reads, github.requests.writes) == (0, 1)


def test_the_events_of_the_queue_have_reasons_and_actors() -> None:
    events = [
        {
            "__typename": "AddedToMergeQueueEvent",
            "createdAt": "2026-11-30T12:00:00Z",
            "actor": {"__typename": "User", "login": "mia"},
        },
        {
            "__typename": "RemovedFromMergeQueueEvent",
            "createdAt": "2026-11-30T12:05:00Z",
            "reason": "merge_conflict",
            "actor": {"__typename": "Bot", "login": "github-merge-queue"},
        },
    ]
    pull = {"id": "PR_1", "isInMergeQueue": False, "timelineItems": {"nodes": events}}
    github, _, _ = play_github([reply(data={"data": {"repository": {"pullRequest": pull}}})])
    state = github.queue_state(77)
    assert (state.node_id, state.is_queued) == ("PR_1", False)
    assert [(event.added, event.actor, event.reason) for event in state.events] == [
        (True, user("mia"), ""),
        (False, user("github-merge-queue[bot]"), "merge_conflict"),
    ]
    assert all(isinstance(event, QueueEvent) for event in state.events)


def test_an_app_that_github_does_not_show_has_no_id() -> None:
    github, _, _ = play_github([refusal(404, "Not Found"), refusal(404, "Not Found"), reply(data={"id": 7})])
    assert github.app_id("private-app") is None
    assert github.app_id("bench-bot") == 7
