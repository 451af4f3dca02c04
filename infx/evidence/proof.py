"""Judge a successful sweep: its rows, the workflows that it ran, and who settled changes of these workflows.

A commit that changes workflows or the policy could fake its own results, so a person must settle such a
change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from infx.evidence.settle import Settlement, parse_settlements, select_settlements
from infx.markdown import MAX_UNTRUSTED
from infx.model import Collaborator, Comment, CommentKind, PullRequest, PullSummary, Run
from infx.policy.checks import find_check
from infx.policy.model import Policy
from infx.records import record

CHECK = "sweep"  # the check whose settlement also counts for the status
MAX_PEOPLE = 3  # the number of commenters whose role is requested, newest command first


@record
class Proof:
    """The facts about a successful sweep that its conclusion does not show.

    Attributes:
        gap: how its rows differ from the planned rows, as a clause; None if they are the same.
        edits: workflows and policy files changed by the pull request or by the commit that ran.
        settled_by: the login of the person who settled these edits.
    """

    gap: str | None = None
    edits: tuple[str, ...] = ()
    settled_by: str | None = None

    @property
    def is_good(self) -> bool:
        return self.gap is None and (not self.edits or self.settled_by is not None)


def find_other_targets(pulls: Iterable[PullSummary], pull: PullRequest, run: Run) -> tuple[str, ...]:
    """Return the `.github/` folders of other targets that a run may have used, in the form of paths.

    GitHub runs the workflow file of the branch merged into the target, and does not report the target. If the
    branch has several pull requests, the run may have used the workflows of any of their targets.

    Args:
        pulls: the pull requests of the branch, including closed ones.
    """
    return tuple(
        dict.fromkeys(
            f".github/ of {other.base_ref}"
            for other in pulls
            if not other.is_fork
            and other.head_ref == pull.head_ref
            and other.base_ref != pull.base_ref
            and was_open(other, run.created_at)
        )
    )


def was_open(pull: PullSummary, moment: datetime) -> bool:
    """Return whether a pull request was open at a moment, as far as its first opening and last closing tell."""
    return pull.created_at <= moment and (pull.closed_at is None or moment <= pull.closed_at)


def find_arrival(runs: Iterable[Run], head_sha: str) -> datetime | None:
    """Return the time of the first run for the head since the branch last had a different head, or None.

    Every push and every label starts a run.

    Args:
        runs: those that may be evidence for the pull request.
    """
    newest_first = sorted(runs, key=lambda run: (run.created_at, run.id), reverse=True)
    arrival = None
    for run in newest_first:
        if run.commit == head_sha:
            arrival = run.created_at
        elif arrival is not None:
            break
    return arrival


def list_settlers(comments: Sequence[Comment], policy: Policy) -> list[str]:
    """Return the logins of people who wrote the command that settles the sweep check, newest first."""
    logins = (
        comment.author.login
        for comment in reversed(_select_commands(comments, policy))
        if any(
            isinstance(command, Settlement) and command.check == _check_number()
            for command in parse_settlements(comment, policy.signoff.settle_command)
        )
    )
    return list(dict.fromkeys(logins))[:MAX_PEOPLE]


def find_settler(
    comments: Sequence[Comment],
    policy: Policy,
    *,
    author: str,
    since: datetime | None,
    people: Mapping[str, Collaborator],
) -> str | None:
    """Return the login of the person who settled the sweep check for a head, or None.

    Args:
        since: when the head was first seen; earlier comments are about other heads.
        people: by lower-case login.
    """
    settled, _ = select_settlements(
        _select_commands(comments, policy), policy.signoff, author=author, since=since, people=people
    )
    settlement = settled.get(_check_number())
    return settlement.comment.author.login if settlement else None


def _select_commands(comments: Sequence[Comment], policy: Policy) -> list[Comment]:
    command = policy.signoff.settle_command
    return [
        comment
        for comment in comments
        if comment.kind is CommentKind.ISSUE
        and command in comment.body
        and len(comment.body) <= MAX_UNTRUSTED
    ]


def _check_number() -> int:
    check = find_check(CHECK)
    assert check is not None, "the sweep check is in the table of checks"
    return check.number
