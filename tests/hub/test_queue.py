"""The merge queue: stacked groups, their events, and every way out of the queue."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from infx.hub import Hub
from infx.hub.refusal import Refused
from infx.hub.rules import QueueRule
from tests.hub.conftest import ask

CHECK = "changelog"
APP = "bench-bot[bot]"
GROUP = "refs/heads/gh-readonly-queue/main/pr-{}-{}"


def open_pull(hub: Hub, number: int, path: str, text: str = "x\n") -> None:
    """Open a pull request that changes one file, with a green head."""
    hub.push(f"p{number}", {path: text})
    pull = hub.open_pull(f"p{number}", number=number, title=f"Pull {number}")
    hub.set_status(pull.head_sha, CHECK, "success")


def start(hub: Hub, *paths: str, rule: QueueRule | None = None, text: str = "{}\n") -> None:
    """Queue pull requests 1, 2, … that each change one of the paths."""
    hub.close_pull(77)
    hub.add_ruleset(CHECK, queue=rule or QueueRule())
    for number, path in enumerate(paths, 1):
        open_pull(hub, number, path, text.format(number))
    for number in range(1, len(paths) + 1):
        hub.enqueue(number)
    hub.work_queue()


def groups(hub: Hub) -> dict[int, tuple[str, str | None, str | None]]:
    """Return the queue as number → state, base and commit of the group, in order."""
    return {entry.pull: (entry.state, entry.group_base, entry.group_sha) for entry in hub.entries_of("main")}


def judge(hub: Hub, number: int, state: str = "success") -> None:
    """Report the check of a group, and let the queue work."""
    entry = hub.find_entry(number)
    assert entry is not None
    assert entry.group_sha is not None
    hub.set_status(entry.group_sha, CHECK, state)
    hub.work_queue()


def tip(hub: Hub) -> str:
    sha = hub.git.resolve("refs/heads/main")
    assert sha is not None
    return sha


def happened(hub: Hub, name: str) -> list[tuple[Any, ...]]:
    """Return (action, pull request's number or group's ref, reason) of the events of a kind."""
    return [
        (
            event.action,
            event.payload.get("number") or event.payload["merge_group"]["head_ref"],
            event.payload.get("reason"),
        )
        for event in hub.state.events
        if event.name == name and event.action in {"enqueued", "dequeued", "checks_requested", "destroyed"}
    ]


def test_each_group_contains_those_ahead(hub: Hub) -> None:
    start(hub, "a", "b", "c")
    base = tip(hub)
    shown = groups(hub)
    assert [state for state, _, _ in shown.values()] == ["AWAITING_CHECKS"] * 3
    assert [below for _, below, _ in shown.values()] == [base, shown[1][2], shown[2][2]]
    for number, (_, below, sha) in shown.items():
        assert below is not None
        assert sha is not None
        assert hub.git.resolve(GROUP.format(number, below)) == sha
        assert hub.git.commit(sha).parents == (below,)
        assert hub.git.commit(sha).message == f"Pull {number} (#{number})"
    last = shown[3][2]
    assert last is not None
    assert {change.path for change in hub.git.changes(base, last)} == {"a", "b", "c"}


def test_green_groups_merge_in_order_and_those_behind_stay(hub: Hub) -> None:
    start(hub, "a", "b", "c")
    before = groups(hub)
    judge(hub, 2)
    assert hub.find_entry(2) is not None  # the first is not green yet
    judge(hub, 1)
    assert tip(hub) == before[2][2]
    assert [hub.state.pulls[number].merge_sha for number in (1, 2)] == [before[1][2], before[2][2]]
    assert groups(hub) == {3: before[3]}  # its group is already built on what was merged
    assert list(hub.git.refs("refs/heads/gh-").values()) == [before[3][2]]


def test_the_events_of_a_merge(hub: Hub) -> None:
    start(hub, "a")
    base, (_, _, sha) = tip(hub), groups(hub)[1]
    ref = GROUP.format(1, base)
    (requested,) = [event for event in hub.state.events if event.action == "checks_requested"]
    group = requested.payload["merge_group"]
    assert (group["base_ref"], group["base_sha"], group["head_sha"]) == ("refs/heads/main", base, sha)
    judge(hub, 1)
    assert happened(hub, "merge_group") == [("checks_requested", ref, None), ("destroyed", ref, "merged")]
    assert happened(hub, "pull_request") == [("enqueued", 1, None), ("dequeued", 1, "MERGE")]
    push = next(event for event in reversed(hub.state.events) if event.name == "push")
    assert (push.payload["before"], push.payload["after"]) == (base, sha)
    assert [entry.event for entry in hub.state.timeline if entry.pull == 1] == [
        "added_to_merge_queue",
        "removed_from_merge_queue",
        "merged",
        "closed",
    ]


@pytest.mark.parametrize("method", ["merge", "rebase"])
def test_the_queue_merges_by_its_own_method(hub: Hub, method: str) -> None:
    start(hub, "a", rule=QueueRule(method=method))
    judge(hub, 1)
    commit = hub.git.commit(tip(hub))
    assert len(commit.parents) == (2 if method == "merge" else 1)
    assert commit.message.startswith("Merge pull request #1" if method == "merge" else "change")


def test_a_conflict_with_an_entry_ahead_stays_until_it_is_first(hub: Hub) -> None:
    start(hub, "a", "a", "c")
    first = groups(hub)[1][2]
    assert groups(hub)[2] == ("UNMERGEABLE", first, None)
    assert groups(hub)[3][:2] == ("AWAITING_CHECKS", first)  # built without the second
    judge(hub, 1)
    assert list(groups(hub)) == [3]
    assert happened(hub, "pull_request")[-1] == ("dequeued", 2, "MERGE_CONFLICT")
    assert hub.state.pulls[2].is_open


def test_a_conflict_disappears_with_the_entry_ahead(hub: Hub) -> None:
    start(hub, "a", "a")
    hub.dequeue(1, by="mia")
    hub.work_queue()
    assert groups(hub)[2][:2] == ("AWAITING_CHECKS", tip(hub))
    assert happened(hub, "pull_request")[-1] == ("dequeued", 1, "MANUAL")


def test_a_queue_may_remove_a_conflict_at_once(hub: Hub) -> None:
    start(hub, "a", "a", "c", rule=QueueRule(removes_at_once=True))
    assert list(groups(hub)) == [1, 3]
    assert happened(hub, "pull_request")[-1] == ("dequeued", 2, "MERGE_CONFLICT")


def test_a_failed_check_removes_the_first_and_rebuilds_the_others(hub: Hub) -> None:
    start(hub, "a", "b", "c")
    old = groups(hub)
    judge(hub, 1, "failure")
    new = groups(hub)
    assert list(new) == [2, 3]
    assert new[2][1] == tip(hub)
    assert {old[2][2], old[3][2]} & {new[2][2], new[3][2]} == set()
    assert happened(hub, "pull_request")[-1] == ("dequeued", 1, "CI_FAILURE")
    reasons = [reason for action, _, reason in happened(hub, "merge_group") if action == "destroyed"]
    assert reasons == ["dequeued", "invalidated", "invalidated"]


def test_a_failure_behind_the_first_may_be_the_firsts_fault(hub: Hub) -> None:
    start(hub, "a", "b", "c")
    judge(hub, 2, "failure")
    assert groups(hub)[2][0] == "UNMERGEABLE"
    assert groups(hub)[3][1] == groups(hub)[1][2]  # built without it
    judge(hub, 1, "failure")
    assert groups(hub)[2][:2] == ("AWAITING_CHECKS", tip(hub))  # built again, without the first
    judge(hub, 2)
    judge(hub, 3)
    assert [hub.state.pulls[number].merged_at is not None for number in (1, 2, 3)] == [False, True, True]


def test_a_failure_behind_a_merged_entry_counts(hub: Hub) -> None:
    start(hub, "a", "b")
    judge(hub, 2, "failure")
    judge(hub, 1)
    assert groups(hub) == {}
    assert happened(hub, "pull_request")[-1] == ("dequeued", 2, "CI_FAILURE")


def test_a_push_to_the_base_branch_rebuilds_every_group(hub: Hub) -> None:
    start(hub, "a", "b")
    old = groups(hub)
    moved = hub.push("main", {"late": "x"}, by="mia")
    hub.work_queue()
    assert groups(hub)[1][1] == moved
    assert groups(hub)[2][1] == groups(hub)[1][2] != old[1][2]


def test_a_push_to_a_queued_pull_request_is_lost(hub: Hub) -> None:
    """GitHub merges the head of the time of queueing."""
    start(hub, "a")
    hub.push("p1", {"late": "x"})
    judge(hub, 1)
    assert hub.git.file("main", "a") is not None
    assert hub.git.file("main", "late") is None
    assert hub.state.pulls[1].merged_at is not None


def test_a_closed_pull_request_leaves_the_queue(hub: Hub) -> None:
    start(hub, "a", "b")
    hub.close_pull(1)
    hub.delete_branch("p2")
    assert groups(hub) == {}
    assert hub.git.refs("refs/heads/gh-") == {}


def test_a_queue_without_its_rule_is_cleared(hub: Hub) -> None:
    start(hub, "a")
    hub.state.rulesets.clear()
    hub.work_queue()
    assert happened(hub, "pull_request")[-1] == ("dequeued", 1, "QUEUE_CLEARED")


def test_only_so_many_groups_are_built_and_merged_at_once(hub: Hub) -> None:
    start(hub, "a", "b", "c", rule=QueueRule(build=2, merge=1))
    assert [state for state, _, _ in groups(hub).values()] == ["AWAITING_CHECKS", "AWAITING_CHECKS", "QUEUED"]
    judge(hub, 1)
    assert groups(hub)[3][0] == "AWAITING_CHECKS"


@pytest.fixture
def late_hub(tmp_path: Any) -> Iterator[tuple[Hub, list[datetime]]]:
    now = [datetime(2026, 11, 30, 12, tzinfo=UTC)]
    with Hub(tmp_path / "hub", clock=lambda: now[0]) as made:
        made.push("main", {"README.md": "one\n"}, by="mia")
        made.push("feat-x", {"README.md": "two\n"})
        made.open_pull("feat-x", number=77)
        yield made, now


def test_a_check_that_never_comes_removes_the_entry(late_hub: tuple[Hub, list[datetime]]) -> None:
    hub, now = late_hub
    start(hub, "a", rule=QueueRule(timeout=60))
    now[0] += timedelta(minutes=60)
    hub.work_queue()
    assert list(groups(hub)) == [1]
    now[0] += timedelta(seconds=1)
    hub.work_queue()
    assert happened(hub, "pull_request")[-1] == ("dequeued", 1, "CI_TIMEOUT")


def test_what_github_does_not_queue(hub: Hub) -> None:
    head = hub.state.pulls[77].head_sha
    with pytest.raises(Refused, match="does not have a merge queue"):
        hub.enqueue(77)
    hub.add_ruleset(CHECK, queue=QueueRule())
    with pytest.raises(Refused, match='Required status check "changelog" is expected'):
        hub.enqueue(77)
    hub.set_draft(77, True)
    with pytest.raises(Refused, match="is still a draft"):
        hub.enqueue(77)
    hub.set_draft(77, False)
    hub.set_status(head, CHECK, "success")
    with pytest.raises(Refused, match="head branch was modified"):
        hub.enqueue(77, sha="0" * 40)
    hub.enqueue(77, sha=head)
    with pytest.raises(Refused, match="already in the queue"):
        hub.enqueue(77)
    hub.dequeue(77)
    with pytest.raises(Refused, match="Failed to remove PR #77"):
        hub.dequeue(77)
    hub.push("main", {"README.md": "zero\n"}, by="mia")
    with pytest.raises(Refused, match="merge conflicts"):
        hub.enqueue(77)
    hub.close_pull(77)
    with pytest.raises(Refused, match="not open"):
        hub.enqueue(77)


# GraphQL

ENQUEUE = """
mutation Queue($id: ID!, $sha: GitObjectID) {
  enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $sha, clientMutationId: "a"}) {
    clientMutationId mergeQueueEntry { id position state enqueuer { login } pullRequest { number } }
  }
}
"""
DEQUEUE = 'mutation { dequeuePullRequest(input: {id: "PR_50002"}) { mergeQueueEntry { position } } }'
SHOW = """
query($number: Int!) { repository(owner: "acme", name: "bench") {
  mergeQueue(branch: "main") { entries(first: 10) { totalCount nodes { position state baseCommit { oid } headCommit { oid } } } }
  pullRequest(number: $number) {
    isInMergeQueue isMergeQueueEnabled merged mergeCommit { oid } mergeQueueEntry { position }
    timelineItems(last: 9, itemTypes: [ADDED_TO_MERGE_QUEUE_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT]) { nodes {
      __typename ... on RemovedFromMergeQueueEvent { reason actor { login } beforeCommit { oid } }
    } }
  }
} }
"""


def test_queueing_over_graphql(hub: Hub) -> None:
    hub.close_pull(77)
    hub.add_ruleset(CHECK, queue=QueueRule())
    open_pull(hub, 1, "a")
    pull = hub.state.pulls[1]
    token = hub.app_token(APP, contents="write", pull_requests="write")
    moved = ask(hub, ENQUEUE, token, id=f"PR_{pull.id}", sha="0" * 40)
    assert (moved["data"], moved["errors"][0]["type"]) == ({"enqueuePullRequest": None}, "UNPROCESSABLE")
    made = ask(hub, ENQUEUE, token, id=f"PR_{pull.id}", sha=pull.head_sha)["data"]["enqueuePullRequest"]
    assert made["clientMutationId"] == "a"
    entry = made["mergeQueueEntry"]
    assert (entry["position"], entry["state"], entry["enqueuer"]["login"]) == (1, "QUEUED", "bench-bot")
    again = ask(hub, ENQUEUE, token, id=f"PR_{pull.id}")
    assert again["errors"][0]["message"] == "Pull request is already in the queue"
    shown = ask(hub, SHOW, token, number=1)["data"]["repository"]
    (node,) = shown["mergeQueue"]["entries"]["nodes"]
    assert (node["state"], node["baseCommit"]["oid"]) == ("AWAITING_CHECKS", tip(hub))
    judge(hub, 1)
    shown = ask(hub, SHOW, token, number=1)["data"]["repository"]["pullRequest"]
    assert (shown["isInMergeQueue"], shown["isMergeQueueEnabled"], shown["merged"]) == (False, True, True)
    assert shown["mergeCommit"]["oid"] == tip(hub)
    assert shown["mergeQueueEntry"] is None
    added, removed = shown["timelineItems"]["nodes"]
    assert added == {"__typename": "AddedToMergeQueueEvent"}
    assert (removed["reason"], removed["beforeCommit"]["oid"]) == ("merged", tip(hub))


def test_dequeueing_over_graphql(hub: Hub) -> None:
    start(hub, "a")
    assert hub.state.pulls[1].id == 50002
    token = hub.app_token(APP, contents="write", pull_requests="write")
    assert ask(hub, DEQUEUE, token)["data"]["dequeuePullRequest"]["mergeQueueEntry"]["position"] == 0
    failed = ask(hub, DEQUEUE, token)
    assert failed["errors"][0]["type"] == "UNPROCESSABLE"
    assert "Failed to remove PR #1" in failed["errors"][0]["message"]
    removed = ask(hub, SHOW, token, number=1)["data"]["repository"]["pullRequest"]["timelineItems"]["nodes"][
        -1
    ]
    assert (removed["reason"], removed["actor"]["login"]) == ("manual", "bench-bot")


def test_who_may_queue(hub: Hub) -> None:
    start(hub, "a")
    hub.account("eve", role="triage")
    tokens = (
        hub.user_token("eve"),
        hub.app_token(APP, pull_requests="write"),
        hub.workflow_token(contents="write"),
    )
    for token in tokens:
        assert ask(hub, DEQUEUE, token)["errors"][0]["type"] == "FORBIDDEN"
    missing = ask(hub, ENQUEUE, hub.user_token("mia"), id="PR_1")
    assert missing["errors"][0]["type"] == "NOT_FOUND"
    assert list(groups(hub)) == [1]


def test_a_mutation_counts_as_a_write_and_a_query_does_not(hub: Hub) -> None:
    hub.clear_log()
    ask(hub, ENQUEUE, hub.user_token("mia"), id="PR_1")
    ask(hub, SHOW, hub.user_token("mia"), number=77)
    assert (hub.reads, hub.writes, hub.queries) == (0, 1, 1)


def test_a_workflow_token_queues_without_starting_checks(hub: Hub) -> None:
    """The group waits for checks that no run will make."""
    hub.close_pull(77)
    hub.add_ruleset(CHECK, queue=QueueRule())
    open_pull(hub, 1, "a")
    open_pull(hub, 2, "b")
    permissions = {"contents": "write", "pull_requests": "write"}
    starts = {}
    for number, token in ((1, hub.workflow_token(permissions)), (2, hub.app_token(APP, permissions))):
        ask(hub, ENQUEUE, token, id=f"PR_{hub.state.pulls[number].id}")
        hub.work_queue()
        starts[number] = [event.starts_runs for event in hub.state.events if event.name == "merge_group"][-1]
    assert starts == {1: False, 2: True}
