"""The facts that the gate decides from, gathered once and then frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from infx.gate.event import Event
from infx.model import Collaborator, Conclusion, LabelEvent, PullRequest, read_run_id
from infx.policy.model import Effect, Labels, ModifierLabel, PrimaryLabel
from infx.records import record


@record
class GateRun:
    """A run of the sweep workflow for the head, except the run that asks."""

    id: int
    url: str
    conclusion: Conclusion | None
    swept: bool | None  # whether its sweep started; None while its own gate has not decided

    @property
    def may_sweep(self) -> bool:
        return self.swept is not False


@record
class Changelog:
    """The changes of the pull request to the changelog."""

    touched: bool | None  # None: unknown, because GitHub cut the list of files
    problems: tuple[str, ...] | None = None  # messages of the validator; None if it did not run


@record
class Approval:
    """The newest approval of a fork's revision."""

    sha: str  # the commit with the approval status
    url: str = ""  # the run that the status links
    merge_sha: str | None = None  # the test merge that was approved together with the commit

    @property
    def run_id(self) -> int | None:
        return read_run_id(self.url)


@record
class MergeCheck:
    """A commit that claims to be the test merge of a fork's head.

    Attributes:
        base_is_current: whether the first parent is an ancestor of the base branch's tip.
        is_from_github: whether it is `refs/pull/<number>/merge`, which only GitHub writes. Anyone can create a commit
            with the right parents and any files.
    """

    sha: str
    parents: tuple[str, ...]
    base_is_current: bool
    is_from_github: bool = False

    def is_of(self, head_sha: str) -> bool:
        return len(self.parents) == 2 and self.parents[1] == head_sha and self.base_is_current


@record
class Reuse:
    """The decision about the reuse of a finished sweep, as far as the gate needs it.

    Attributes:
        run_id: the run whose results are reused; None if no run's are.
        head_sha: the commit that the run measured.
        pull: number of the pull request.
        coverage: how many of the planned rows the run covers, as a noun phrase; empty if no run is reused.
        is_incomplete: the run does not, or may not, cover all rows.
        doubt: why the results are not evidence for the head, as a clause; None if they are.
        reason: `ReuseReason` of the decision.
        problem: why no run can be used although someone with authority asked for reuse, as a clause.
        fix: what to do about the problem, as a sentence.
        absence: why no one with authority asked for reuse, or why there is nothing to reuse, as a clause.
    """

    run_id: int | None = None
    attempt: int = 1
    url: str = ""
    head_sha: str = ""
    pull: int | None = None
    coverage: str = ""
    is_incomplete: bool = False
    doubt: str | None = None
    reason: str = ""
    problem: str | None = None
    fix: str = ""
    absence: str | None = None

    @property
    def is_accepted(self) -> bool:
        return self.run_id is not None and self.problem is None and self.absence is None

    @property
    def extent(self) -> str:
        """Return how complete the reused results are, such as `incomplete: 12 of 40 rows (28 missing)`."""
        return f"incomplete: {self.coverage}" if self.is_incomplete else self.coverage


@record
class GateFacts:
    """Everything that `decide` needs, except the policy.

    Attributes:
        actor: permission and role of `event.actor`, or of `label_actor` if there is no event; None if GitHub was not
            asked, because the actor is one of the policy's identities or the event needs no permission.
        actor_is_hidden: GitHub does not show this token the permission of `event.actor`. Good enough for an
            explanation, never to act on.
        pull: the pull request as it is now, not as the event describes it.
        head_message: full message of the head commit.
        head_sha, base_sha: the commits that a dispatch without a pull request names. For a push without a tip before
            it, base_sha is the parent of its first commit.
        reuse: None if the decision does not depend on it.
        head_is_in_repository: whether the SHA that a dispatch names is on a branch of the repository or approved; None
            if that was not checked. GitHub shows commits of forks as if they were in the repository.
        label_actor: the account that added the primary label.
        conflicts: files in conflict with the base branch, if git was asked.
        edits_rules: the pull request changes `.github/` or the policy.
    """

    event: Event
    actor: Collaborator | None = None
    actor_is_hidden: bool = False
    pull: PullRequest | None = None
    head_message: str = ""
    head_sha: str | None = None
    base_sha: str | None = None
    head_is_in_repository: bool | None = None
    changelog: Changelog = Changelog(touched=None)
    runs: tuple[GateRun, ...] = ()
    approval: Approval | None = None
    merge: MergeCheck | None = None
    reuse: Reuse | None = None
    label_actor: str | None = None
    conflicts: tuple[str, ...] = ()
    edits_rules: bool = False


@record
class LabelSet:
    """The primary labels and modifiers of a pull request, in the policy's spelling and order."""

    primary: tuple[tuple[str, PrimaryLabel], ...]
    modifiers: tuple[tuple[str, ModifierLabel], ...]

    @property
    def primary_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.primary)

    @property
    def modifier_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.modifiers)

    @property
    def effects(self) -> tuple[Effect, ...]:
        chosen = {label.effect for _, label in self.modifiers}
        return tuple(effect for effect in Effect if effect in chosen)


def read_labels(names: Iterable[str], labels: Labels) -> LabelSet:
    """Select the labels that the policy knows. Like GitHub, compare whole names and ignore case."""
    lower_names = {name.lower() for name in names}
    return LabelSet(
        primary=tuple((name, label) for name, label in labels.primary.items() if name.lower() in lower_names),
        modifiers=tuple(
            (name, label) for name, label in labels.modifiers.items() if name.lower() in lower_names
        ),
    )


def find_label_actor(labels: LabelSet, events: Sequence[LabelEvent]) -> str | None:
    """Return the login of the account that added the primary label. events: oldest first."""
    names = {name.lower() for name in labels.primary_names}
    newest_first = (event for event in reversed(events) if event.added and event.label.lower() in names)
    return next((event.actor.login for event in newest_first), None)


def starts_or_changes(name: str, labels: Labels) -> bool:
    """Return whether adding or removing this label can start or change a sweep."""
    return name.lower() in {known.lower() for known in (*labels.primary, *labels.modifiers)}


class Marker(StrEnum):
    """The place of the skip marker in a commit message."""

    ABSENT = "absent"
    SUBJECT = "in the subject"
    OWN_LINE = "on its own line"
    QUOTED = "quoted in the body"  # does not count: a revert quotes the message that it reverts

    @property
    def counts(self) -> bool:
        return self in {Marker.SUBJECT, Marker.OWN_LINE}


def find_marker(message: str, marker: str) -> Marker:
    """Return where the commit message has the skip marker."""
    subject, *body = re.split(r"\r\n|\n|\r", message.strip("\r\n"))
    if marker in subject:
        return Marker.SUBJECT
    if any(line.strip() == marker for line in body):
        return Marker.OWN_LINE
    return Marker.QUOTED if marker in message else Marker.ABSENT
