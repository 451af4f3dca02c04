"""The policy's section `merge`."""

from __future__ import annotations

from enum import StrEnum

from infx.model import MergeMethod
from infx.policy.signoff import Role
from infx.records import record


class LabelRule(StrEnum):
    """Whether a pull request with new entries needs the label of a full sweep."""

    OPTIONAL = "optional"  # a reused sweep, or a sweep whose label was removed, is enough
    REQUIRED = "required"


@record
class MergePolicy:
    """How pull requests are merged.

    Attributes:
        command: the first word of the comment that asks for a merge; the full head SHA follows.
        role: the lowest role whose comment, or start of the workflow, counts.
        method: the method without a merge queue, which has its own.
        requeue: how often infx queues a pull request again that left the queue because of an entry ahead.
    """

    command: str
    role: Role
    method: MergeMethod
    label: LabelRule
    requeue: int
