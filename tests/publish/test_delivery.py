"""What the statuses of a merge tell, and the events that are made from it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from infx.model import CommitStatus, StatusState
from infx.policy.load import default_policy
from infx.publish.decide import PublishReason, PublishVerdict
from infx.publish.delivery import DeliveryState, read_delivery, render_not_sent, render_sending
from infx.publish.events import make_merge_event, make_stage_event
from infx.publish.handover import ValidatedMerge
from tests.builders import EVE, comment, run, status

POLICY = default_policy()
KEY, OTHER = "a" * 16, "b" * 16
PENDING, FAILURE, SUCCESS = StatusState.PENDING, StatusState.FAILURE, StatusState.SUCCESS


def own(state: StatusState, description: str, **more: Any) -> CommitStatus:
    return status("infx/published", state=state, description=description, **more)


SENDING = own(PENDING, render_sending(KEY), target_url="run#1")
SENT = own(SUCCESS, "Published 4 results")
NOT_SENT = own(FAILURE, render_not_sent(KEY, "no"))
WAITING, REFUSED = own(PENDING, "the merge has no sweep"), own(FAILURE, "the results cannot be used")


@pytest.mark.parametrize(
    ("oldest_first", "state"),
    [
        ([], DeliveryState.NONE),
        ([WAITING], DeliveryState.WAITING),
        ([WAITING, REFUSED], DeliveryState.FAILED),
        ([SENDING], DeliveryState.SENDING),
        ([SENDING, SENT], DeliveryState.DONE),
        ([SENT, REFUSED, SENDING], DeliveryState.DONE),  # what is published stays published
        ([SENDING, NOT_SENT], DeliveryState.FAILED),
        ([SENDING, NOT_SENT, SENDING], DeliveryState.SENDING),
        # A run that read the statuses before the announcement, and writes after it, knows nothing about the event.
        ([SENDING, WAITING], DeliveryState.SENDING),
        ([SENDING, REFUSED], DeliveryState.SENDING),
        ([SENDING, own(FAILURE, render_not_sent(OTHER, "no"))], DeliveryState.SENDING),
        ([SENDING, own(PENDING, render_sending(OTHER))], DeliveryState.SENDING),
        ([own(SUCCESS, "done", creator=EVE)], DeliveryState.NONE),
        ([SENDING, own(FAILURE, render_not_sent(KEY, "no"), creator=EVE)], DeliveryState.SENDING),
        ([status("infx/sweep", description=render_sending(KEY))], DeliveryState.NONE),
        ([own(PENDING, f"sending {KEY} now")], DeliveryState.WAITING),
    ],
)
def test_the_state_follows_from_own_statuses(oldest_first: list[CommitStatus], state: DeliveryState) -> None:
    delivery = read_delivery(oldest_first[::-1], POLICY)
    assert delivery.state is state
    if state is DeliveryState.SENDING:
        assert (delivery.key, delivery.claim) == (KEY, "run#1")


def make_merge(**fields: Any) -> ValidatedMerge:
    values: dict[str, Any] = {
        "sha": "c" * 40, "verdict": PublishVerdict.PUBLISH, "reason": PublishReason.REUSED, "words": "reused",
        "run": 42, "attempt": 1,
    }  # fmt: skip
    return ValidatedMerge(**{**values, **fields})


def publish_policy(**fields: Any) -> Any:
    return replace(POLICY.publish, target="acme/app", **fields)


def test_exactly_one_event_tells_about_a_merge() -> None:
    """The existing target has an event of its own for AgentX merges, which names the database."""
    plain = make_merge_event(make_merge(), publish_policy(), "acme/bench", 7)
    agentic = make_merge_event(make_merge(is_agentic=True), publish_policy(), "acme/bench", 7)
    assert plain is not None
    assert agentic is not None
    base = {"source-run-id": "42", "merge-run-id": "7", "key": plain.key}
    assert (plain.name, plain.payload) == ("ingest-results", base)
    assert agentic.name == "ingest-agentic-results"
    assert agentic.payload == {**base, "database-target": "production"}
    assert make_merge_event(make_merge(), POLICY.publish, "acme/bench", 7) is None


def test_a_key_is_the_same_only_for_the_same_delivery() -> None:
    def key(repository: str = "acme/bench", run_id: int | None = 7, **fields: Any) -> str:
        event = make_merge_event(make_merge(**fields), publish_policy(), repository, run_id)
        assert event is not None
        return event.key

    assert key() == key(run_id=8) == key("Acme/Bench"), "a later run sends the same event"
    assert len({key(), key(run=43), key(attempt=2), key(sha="d" * 40), key("acme/other")}) == 5


def test_a_staging_event_names_who_asked() -> None:
    stage = replace(POLICY.publish.stage, target="acme/site")
    policy = replace(POLICY.publish, stage=stage)
    made = run(id=42, attempt=2, created_at=datetime(2026, 11, 29, 23, 59, tzinfo=UTC))
    event = make_stage_event(comment("/stage-results", id=5), made, policy, "acme/bench")
    assert (event.target, event.name) == ("acme/site", "stage-results")
    assert event.payload == {
        "source-repository": "acme/bench", "pr-number": "77", "run-id": "42", "run-attempt": "2",
        "run-date": "2026-11-29", "requested-by": "noor", "comment-id": "5", "key": event.key,
    }  # fmt: skip
