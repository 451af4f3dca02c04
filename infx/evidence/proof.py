"""What speaks for a sweep that ended well, and whose word is needed where its own commit could have made it up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from infx.evidence.settle import Settlement, parse_settlements, select_settlements
from infx.markdown import MAX_UNTRUSTED
from infx.model import Collaborator, Comment, CommentKind, PullRequest, PullSummary, Run
from infx.policy.checks import find_check
from infx.policy.model import Policy

CHECK = "sweep"  # whose settlement counts for the status, too
MAX_PEOPLE = 3  # whose role is asked for, the last who wrote the command first


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What was seen of a sweep beside its conclusion.

    Attributes:
        gap: why its rows are not those that are planned, as a clause; None if they are.
        edits: workflows and policy files that the pull request, or the commit that ran, has changed.
        settled_by: the login of the person who settled these edits.
    """

    gap: str | None = None
    edits: tuple[str, ...] = ()
    settled_by: str | None = None

    @property
    def is_good(self) -> bool:
        return self.gap is None and (not self.edits or self.settled_by is not None)


def find_other_targets(pulls: Iterable[PullSummary], pull: PullRequest, run: Run) -> tuple[str, ...]:
    """Return what other pull requests of the same branch may have brought into a run, in the place of paths.

    GitHub runs the workflow as a merge with the target has it, and does not tell with which one. pulls: those of the
    branch, closed ones too.
    """
    return tuple(
        dict.fromkeys(
            f".github/ of {other.base_ref}"
            for other in pulls
            if not other.is_fork
            and other.head_ref == pull.head_ref
            and other.base_ref != pull.base_ref
            and _was_open(other, run.created_at)
        )
    )


def _was_open(pull: PullSummary, moment: datetime) -> bool:
    return pull.created_at <= moment and (pull.closed_at is None or moment <= pull.closed_at)


def find_arrival(runs: Iterable[Run], head_sha: str) -> datetime | None:
    """Return when the first run began that shows the head, since it last was another commit; None if none does.

    Every push starts a run, and so does every label. runs: those that may be evidence for the pull request.
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
    """Return who has written the command that settles the check of the sweep, the last first."""
    found = (
        comment.author.login
        for comment in reversed(_readable(comments, policy))
        if any(
            isinstance(one, Settlement) and one.check == _number()
            for one in parse_settlements(comment, policy.signoff.settle_command)
        )
    )
    return list(dict.fromkeys(found))[:MAX_PEOPLE]


def find_settler(
    comments: Sequence[Comment],
    policy: Policy,
    *,
    author: str,
    since: datetime | None,
    people: Mapping[str, Collaborator],
) -> str | None:
    """Return who has settled the check of the sweep for a head, by the rules of sign-offs; None if nobody has.

    since: when the head came; what was written before was about another one. people: by lower-case login.
    """
    settled, _ = select_settlements(
        _readable(comments, policy), policy.signoff, author=author, since=since, people=people
    )
    found = settled.get(_number())
    return found.comment.author.login if found else None


def _readable(comments: Sequence[Comment], policy: Policy) -> list[Comment]:
    command = policy.signoff.settle_command
    return [
        comment
        for comment in comments
        if comment.kind is CommentKind.ISSUE
        and command in comment.body
        and len(comment.body) <= MAX_UNTRUSTED
    ]


def _number() -> int:
    check = find_check(CHECK)
    assert check is not None, "the table of checks has it"
    return check.number
