"""What the gate looks at before it decides, gathered once and then frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from infx.gate.event import Event
from infx.model import Collaborator, Conclusion, LabelEvent, PullRequest, read_run_id
from infx.policy.model import Effect, Labels, ModifierLabel, PrimaryLabel


@dataclass(frozen=True, kw_only=True)
class GateRun:
    """A run of the sweep workflow for the head, other than the one that asks.

    swept: whether it got as far as its sweep; None while its own gate has not decided.
    """

    id: int
    url: str
    conclusion: Conclusion | None
    swept: bool | None

    @property
    def may_sweep(self) -> bool:
        return self.swept is not False


@dataclass(frozen=True, kw_only=True)
class Changelog:
    """touched: None where it could not be seen (the list of files was cut). problems: messages of the validator,
    None where it has not been asked.
    """

    touched: bool | None
    problems: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Approval:
    """The newest approval of a fork's revision: the commit that carries the status, the run that it links, and the
    test merge that was approved with it.
    """

    sha: str
    url: str = ""
    merge_sha: str | None = None

    @property
    def run_id(self) -> int | None:
        return read_run_id(self.url)


@dataclass(frozen=True, kw_only=True)
class MergeCheck:
    """The commit that is said to be the test merge of a fork's head.

    Attributes:
        parents: in order.
        base_is_current: whether the first parent is an ancestor of the base branch's tip.
        is_github_s: whether it is `refs/pull/<number>/merge`, which only GitHub writes; anybody can make a commit with
            the right parents and any files.
    """

    sha: str
    parents: tuple[str, ...]
    base_is_current: bool
    is_github_s: bool = False

    def is_of(self, head_sha: str) -> bool:
        return len(self.parents) == 2 and self.parents[1] == head_sha and self.base_is_current


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """Results that stand in for a sweep; `problem` says why an authorized source cannot be used."""

    run_id: int
    url: str = ""
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class GateFacts:
    """Everything `decide` goes by, besides the policy.

    actor: permission and role of `event.actor`, and where there is no event, of `label_actor`; None where nobody
    asked GitHub, because the actor is one of the policy's identities or the event needs no permission.
    actor_is_hidden: GitHub does not tell this token what `event.actor` may do; good for an explanation, never to act on.
    pull: the pull request as it is now, not as the event tells it.
    head_message: full message of the head commit. head_sha, base_sha: what a dispatch without a pull request names,
    as commits; of a push that names no tip before it, base_sha is the parent of its first commit. head_is_ours:
    whether a branch of the repository has the commit that a dispatch names by its SHA, or its approval; None where
    nobody asked: GitHub shows commits of forks as if they were the repository's.
    label_actor: who put the primary label on. conflicts: files in conflict with the base, where git was asked.
    edits_rules: the pull request changes `.github/` or the policy. still_stands: our own status on the head says that
    the run that asks is the sweep that stands for it, although it measured an earlier commit.
    """

    event: Event
    actor: Collaborator | None = None
    actor_is_hidden: bool = False
    pull: PullRequest | None = None
    head_message: str = ""
    head_sha: str | None = None
    base_sha: str | None = None
    head_is_ours: bool | None = None
    changelog: Changelog = Changelog(touched=None)
    runs: tuple[GateRun, ...] = ()
    approval: Approval | None = None
    merge: MergeCheck | None = None
    reuse: Reuse | None = None
    label_actor: str | None = None
    conflicts: tuple[str, ...] = ()
    edits_rules: bool = False
    still_stands: bool = False


@dataclass(frozen=True, kw_only=True)
class LabelSet:
    """Those labels of a pull request that the policy knows, by the policy's spelling and order."""

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
        found = {label.effect for _, label in self.modifiers}
        return tuple(effect for effect in Effect if effect in found)


def read_labels(names: Iterable[str], labels: Labels) -> LabelSet:
    """Whole names, in upper or lower case alike, as GitHub compares them; never a part of a name."""
    on = {name.lower() for name in names}
    return LabelSet(
        primary=tuple((name, label) for name, label in labels.primary.items() if name.lower() in on),
        modifiers=tuple((name, label) for name, label in labels.modifiers.items() if name.lower() in on),
    )


def find_label_actor(on: LabelSet, events: Sequence[LabelEvent]) -> str | None:
    """Who put the primary label on. events: oldest first."""
    names = {name.lower() for name in on.primary_names}
    found = (event for event in reversed(events) if event.added and event.label.lower() in names)
    return next((event.actor.login for event in found), None)


def starts_or_changes(name: str, labels: Labels) -> bool:
    """Whether putting this label on, or taking it off, can matter to a sweep."""
    return name.lower() in {known.lower() for known in (*labels.primary, *labels.modifiers)}


class Marker(StrEnum):
    """How a commit message holds the marker that skips a sweep."""

    ABSENT = "absent"
    SUBJECT = "in the subject"
    OWN_LINE = "on a line of its own"
    QUOTED = "quoted in the body"  # does not count: a revert quotes the message that it reverts

    @property
    def counts(self) -> bool:
        return self in {Marker.SUBJECT, Marker.OWN_LINE}


def find_marker(message: str, marker: str) -> Marker:
    subject, *body = re.split(r"\r\n|\n|\r", message.strip("\r\n"))
    if marker in subject:
        return Marker.SUBJECT
    if any(line.strip() == marker for line in body):
        return Marker.OWN_LINE
    return Marker.QUOTED if marker in message else Marker.ABSENT
