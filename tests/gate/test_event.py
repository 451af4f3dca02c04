"""Parsing a webhook payload into an event; a payload may have any content."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.gate.event import DispatchInputs, Event, EventAction, EventName, parse_event
from tests.builders import BASE, HEAD, OLD

SENDER = {"sender": {"login": "cody"}}


def pull_payload(action: str, **more: Any) -> dict[str, Any]:
    return {"action": action, "number": 77, "pull_request": {"head": {"sha": HEAD}}, **SENDER, **more}


@pytest.mark.parametrize("action", [action for action in EventAction if action is not EventAction.OTHER])
def test_a_pull_request(action: EventAction) -> None:
    event = parse_event("pull_request", pull_payload(action.value), run_id=5)
    assert event == Event(
        name=EventName.PULL_REQUEST, actor="cody", action=action, pull=77, head_sha=HEAD, run_id=5
    )


def test_the_label_of_a_label_event() -> None:
    event = parse_event("pull_request", pull_payload("labeled", label={"name": "x\ny"}))
    assert event.label == "x\ny"


@pytest.mark.parametrize("action", ["edited", "converted_to_draft", "", None, 3, ["opened"]])
def test_other_actions_are_not_known(action: object) -> None:
    payload = {**pull_payload("opened"), "action": action}
    assert parse_event("pull_request", payload).action is EventAction.OTHER


def test_the_actor_of_a_rerun_is_the_person_who_started_it() -> None:
    payload = pull_payload("labeled")
    assert parse_event("pull_request", payload, attempt=1, triggering_actor="mia").actor == "cody"
    assert parse_event("pull_request", payload, attempt=2, triggering_actor="mia").actor == "mia"
    assert parse_event("pull_request", payload, attempt=2).actor == "cody"


def test_a_push() -> None:
    event = parse_event("push", {"ref": "refs/heads/main", "before": BASE, "after": HEAD, **SENDER})
    assert (event.name, event.ref, event.head_sha, event.before) == (
        EventName.PUSH,
        "refs/heads/main",
        HEAD,
        BASE,
    )


ZERO = "0" * 40


@pytest.mark.parametrize(
    ("before", "commits", "oldest"),
    [
        (ZERO, [{"id": OLD}, {"id": HEAD}], OLD),
        (None, [{"id": OLD}], OLD),
        (BASE, [{"id": OLD}], None),
        (ZERO, [], None),
        (ZERO, None, None),
        (ZERO, "x", None),
        (ZERO, [OLD], None),
        (ZERO, [{"id": "main"}], None),
        (ZERO, [{"id": 3}], None),
        (ZERO, [{"id": OLD}] * 2047, OLD),
        (ZERO, [{"id": OLD}] * 2048, None),
    ],
)
def test_the_first_commit_of_a_push_that_created_the_branch(
    before: object, commits: object, oldest: str | None
) -> None:
    """GitHub lists at most 2048 commits, oldest first. A list of that length may have been cut."""
    payload = {"ref": "refs/heads/main", "before": before, "after": HEAD, "commits": commits, **SENDER}
    assert parse_event("push", payload).oldest == oldest
    assert parse_event("pull_request", payload).oldest is None


def test_a_merge_group() -> None:
    event = parse_event("merge_group", {"merge_group": {"head_sha": HEAD, "base_sha": BASE}, **SENDER})
    assert (event.name, event.head_sha) == (EventName.MERGE_GROUP, HEAD)


def test_a_comment() -> None:
    event = parse_event("issue_comment", {"action": "created", "issue": {"number": 77}, **SENDER})
    assert (event.name, event.pull, event.action) == (EventName.COMMENT, 77, EventAction.OTHER)


@pytest.mark.parametrize("name", ["asked", "other", "schedule", "", "PULL_REQUEST"])
def test_other_names(name: str) -> None:
    """`asked` is not an event: an event of that name must not be mistaken for a question."""
    assert parse_event(name, pull_payload("labeled")).name is EventName.OTHER


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (None, DispatchInputs()),
        (
            {"pr": "77", "head-ref": HEAD, "merge-sha": OLD},
            DispatchInputs(pull=77, head_ref=HEAD, merge_sha=OLD),
        ),
        ({"pr": 77}, DispatchInputs(pull=77)),
        ({"pr": " 77 "}, DispatchInputs(pull=77)),
        ({"pr": ""}, DispatchInputs()),
        ({"pr": "77; rm -rf /"}, DispatchInputs(pull=0)),
        ({"pr": "٧٧"}, DispatchInputs(pull=0)),  # not ASCII digits
        ({"pr": "-1"}, DispatchInputs(pull=0)),
        ({"trim": "true", "fail-fast": "false"}, DispatchInputs(trim=True)),
        ({"trim": True, "fail-fast": True}, DispatchInputs(trim=True, fail_fast=True)),
        (
            {"modifiers": "all-evals, evals-only fast"},
            DispatchInputs(modifiers=("all-evals", "evals-only", "fast")),
        ),
        ({"modifiers": None, "command": None}, DispatchInputs()),
        (
            {"only": f"{'a' * 12}, {'b' * 12}-2\n{'a' * 12}", "complete": " 42 "},
            DispatchInputs(only=("a" * 12, "b" * 12 + "-2"), complete=42),
        ),
        ({"only": "", "complete": ""}, DispatchInputs()),
        ({"complete": "42; rm -rf /"}, DispatchInputs(complete=0)),
        ({"complete": "9" * 19}, DispatchInputs(complete=0)),
        ("pr=77", DispatchInputs()),
    ],
)
def test_inputs_of_a_dispatch(inputs: object, expected: DispatchInputs) -> None:
    event = parse_event("workflow_dispatch", {"inputs": inputs, **SENDER})
    assert event.inputs == expected
    assert event.pull == expected.pull


_KEYS = st.sampled_from(
    ["action", "number", "pull_request", "head", "sha", "label", "name", "sender", "login", "inputs", "pr"]
) | st.text(max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(name=st.sampled_from([*EventName, "review"]), payload=st.dictionaries(_KEYS, JSON, max_size=6))
def test_properties_any_payload_is_read(name: str, payload: dict[str, Any]) -> None:
    event = parse_event(name, payload)
    assert event.pull is None or isinstance(event.pull, int)
    for value in (event.head_sha, event.label, event.ref, event.before):
        assert value is None or isinstance(value, str)
