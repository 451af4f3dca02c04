"""Facts for the gate, made by hand: PR 77 of acme/bench, ready for a sweep unless a test changes a field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from infx.gate.event import Event, EventAction, EventName
from infx.gate.facts import Changelog, GateFacts
from tests.builders import HEAD, person, pull

MERGE = "d" * 40

PULL = pull(title="Faster", labels=("full-sweep-fail-fast",), changed_files=1, commits=1)


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
    """Return the facts with some fields of the pull request changed."""
    assert facts.pull is not None
    return replace(facts, pull=replace(facts.pull, **fields))


def with_event(facts: GateFacts = READY, **fields: Any) -> GateFacts:
    return replace(facts, event=replace(facts.event, **fields))
