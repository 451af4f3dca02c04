"""What the statuses of a merge tell about its delivery.

An event is sent at most once. Before it is sent, a status says `sending <key>`; afterwards another one says that it was
sent. A run that finds the first without the second cannot know whether the event arrived.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from infx.model import CommitStatus, StatusState
from infx.policy.identity import is_identity
from infx.policy.model import Policy
from infx.records import record

KEY_DIGITS = 16
_SENDING = re.compile(r"sending ([0-9a-f]{16})")
_NOT_SENT = re.compile(r"not sent ([0-9a-f]{16})\b.*", re.DOTALL)


class DeliveryState(StrEnum):
    """What happened to the results of a merge."""

    NONE = "none"
    WAITING = "waiting"  # for the merge's own sweep
    FAILED = "failed"  # nothing was sent; another try may succeed
    SENDING = "sending"  # the event may have been sent
    DONE = "done"


@record
class Delivery:
    """The state of a delivery.

    Attributes:
        key: of the event that may have been sent.
        claim: the link of the status that announced it, which differs between two attempts to send.
        status: infx's newest status.
    """

    state: DeliveryState = DeliveryState.NONE
    key: str = ""
    claim: str = ""
    status: CommitStatus | None = None


def read_delivery(statuses: Iterable[CommitStatus], policy: Policy) -> Delivery:
    """Return the state of a delivery by every status that was set on a merge, newest first.

    Only statuses of the identity that publishes count: others neither mark a merge as published nor hide a delivery.
    """
    own = [
        status
        for status in statuses
        if status.context == policy.publish.context and is_identity(status.creator, policy.publisher)
    ]
    delivery = Delivery()
    for status in reversed(own):
        delivery = _advance(delivery, status)
    return delivery


def _advance(before: Delivery, status: CommitStatus) -> Delivery:
    """Return the state after a later status."""
    text = status.description
    if before.state is DeliveryState.DONE:
        return before
    if status.state is StatusState.SUCCESS:
        return Delivery(state=DeliveryState.DONE, status=status)
    if status.state is StatusState.PENDING and (match := _SENDING.fullmatch(text)):
        if before.state is DeliveryState.SENDING:  # the first claim counts, also while another run claims
            return before
        return Delivery(state=DeliveryState.SENDING, key=match[1], claim=status.target_url, status=status)
    refusal = _NOT_SENT.fullmatch(text) if status.state is StatusState.FAILURE else None
    if before.state is DeliveryState.SENDING and (refusal is None or refusal[1] != before.key):
        return before  # a run that had looked before the claim, and that knows nothing about the event
    is_waiting = status.state is StatusState.PENDING
    return Delivery(state=DeliveryState.WAITING if is_waiting else DeliveryState.FAILED, status=status)


def render_sending(key: str) -> str:
    return f"sending {key}"


def render_not_sent(key: str, why: str) -> str:
    """Return the description of a status that says that an announced event was surely not sent."""
    return f"not sent {key}: {why}"


def make_key(repository: str, target: str, parts: Sequence[object]) -> str:
    """Return the key of an event, which is the same in every attempt to send the event."""
    text = "\n".join(map(str, (repository.lower(), target.lower(), *parts)))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]
