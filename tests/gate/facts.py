"""Facts for the gate made by hand: PR 77 of acme/bench, ready in every respect unless a test says otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from infx.gate.event import Event, EventAction, EventName
from infx.gate.facts import Changelog, GateFacts
from infx.model import Collaborator, PullRequest, User

HEAD, OLD, BASE, MERGE = "a" * 40, "b" * 40, "c" * 40, "d" * 40
MOMENT = datetime(2026, 11, 1, 12, tzinfo=UTC)

PULL = PullRequest(
    number=77,
    title="Faster",
    body="",
    author=User(login="cody"),
    labels=("full-sweep-fail-fast",),
    is_open=True,
    is_merged=False,
    is_draft=False,
    mergeable=True,
    base_ref="main",
    base_sha=BASE,
    head_ref="feat-x",
    head_sha=HEAD,
    head_repository="acme/bench",
    base_repository="acme/bench",
    changed_files=1,
    commits=1,
    updated_at=MOMENT,
    created_at=MOMENT,
)


def person(login: str, role: str = "write") -> Collaborator:
    """permission as GitHub tells it: maintain shows as write, triage as read."""
    permission = {"maintain": "write", "triage": "read"}.get(role, role)
    return Collaborator(login=login, permission=permission, role=role)


def pull_event(action: EventAction, label: str | None = None, **fields: Any) -> Event:
    values = {"actor": "cody", "pull": 77, "head_sha": HEAD, "run_id": 501, **fields}
    return Event(name=EventName.PULL_REQUEST, action=action, label=label, **values)


LABELED = pull_event(EventAction.LABELED, "full-sweep-fail-fast")
READY = GateFacts(
    event=LABELED,
    actor=person("cody"),
    pull=PULL,
    head_message="Faster\n",
    changelog=Changelog(touched=True),
)


def with_pull(facts: GateFacts = READY, **fields: Any) -> GateFacts:
    """The same facts about a pull request that differs in some fields."""
    assert facts.pull is not None
    return replace(facts, pull=replace(facts.pull, **fields))


def with_event(facts: GateFacts = READY, **fields: Any) -> GateFacts:
    return replace(facts, event=replace(facts.event, **fields))
