"""Read who asks for a merge: a person at a terminal, a comment, or a person who started the workflow."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from infx import actions
from infx.cli.approve import read_reference
from infx.cli.report import print_text
from infx.errors import InfxError, UsageError
from infx.payload import Payload
from infx.policy.model import Policy
from infx.records import record

if TYPE_CHECKING:
    from infx.gather.local import Receive
    from infx.github.api import GitHub
    from infx.merge.facts import MergeRequest


@record
class Asked:
    """A merge that a person with the right to it asks for.

    Attributes:
        sha: the head that the comment names.
        comment: the id of the comment, which gets the answer.
    """

    pull: int
    sha: str | None = None
    comment: int | None = None

    def make_request(self, options: dict[str, Any], github: GitHub) -> MergeRequest:
        """Return the request; without a named head, it is for the current head."""
        from infx.merge.facts import MergeRequest
        from infx.model import MergeMethod

        sha = self.sha or options["head"] or github.pull(self.pull).head_sha
        method = MergeMethod(options["method"]) if options["method"] else None
        return MergeRequest(pull=self.pull, sha=sha, run_id=options["run_id"], method=method)


def read_request(number: int | None, options: dict[str, Any], policy: Policy, github: GitHub) -> Asked | None:
    """Return who asks for which merge; None if the comment does not ask. Raise InfxError if the request does not count."""
    from infx.gather.merge_request import gather_request
    from infx.merge.command import RequestAnswer, decide_request

    receive: Receive = options["receive"]
    if number is not None and not actions.is_actions(os.environ):
        return Asked(pull=number)  # GitHub checks what the person's own token may do
    reference = None if number is not None else read_reference(receive, None, github.repository)
    facts = gather_request(reference, _find_logins(receive), policy, github)
    decision = decide_request(facts, policy)
    print_text(decision.words, os.environ)
    if decision.answer is RequestAnswer.NOTHING:
        return None
    asked = Asked(
        pull=number if number is not None else (reference.pull_number if reference else 0),
        sha=decision.sha,
        comment=reference.id if reference else None,
    )
    if decision.answer is RequestAnswer.REFUSED:
        actions.write_summary(os.environ, f"### Merge: refused\n\n{decision.words}\n")
        answer(asked, github, is_done=False)
        raise InfxError(decision.words)
    return asked


def _find_logins(receive: Receive) -> tuple[str, ...]:
    """Return the sender of the event, and whoever started this attempt of the run."""
    received = receive()
    if received is None:
        raise UsageError("No event is given.", hint="Give the number of a pull request.")
    sender = Payload(received.payload).text("sender", "login") or ""
    # A re-run keeps the payload of the first attempt, whose sender may be another person.
    again = os.environ.get("GITHUB_TRIGGERING_ACTOR", "") if received.is_own else ""
    return (sender, again)


def answer(asked: Asked, github: GitHub, *, is_done: bool) -> None:
    """React to the comment that asked."""
    if asked.comment is not None:
        github.add_reaction(asked.comment, "+1" if is_done else "-1")
