"""One question to the gate: the facts, the policy, and what follows from both by mere reading."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from infx.gate.event import SHA, DispatchInputs, EventAction, EventName
from infx.gate.facts import GateFacts, LabelSet, Marker, Reuse, find_marker, read_labels
from infx.model import MAX_FILES, PullRequest
from infx.phrases import join_words
from infx.policy.identity import is_listed
from infx.policy.model import Effect, Policy

WORKFLOW_ACTOR = "github-actions[bot]"  # what it does starts no workflow, dispatches excepted
COMMANDS = ("full-sweep", "test-config")  # of `infx matrix`
ONCE_PER_HEAD = frozenset({EventAction.OPENED, EventAction.REOPENED, EventAction.READY_FOR_REVIEW})


@dataclass(frozen=True)
class Case:
    facts: GateFacts
    policy: Policy

    @property
    def pull(self) -> PullRequest:
        if self.facts.pull is None:
            raise ValueError("a question about a pull request needs the pull request")
        return self.facts.pull

    @property
    def is_asked(self) -> bool:
        return self.facts.event.name is EventName.ASKED

    @property
    def action(self) -> EventAction:
        return self.facts.event.action

    @property
    def inputs(self) -> DispatchInputs:
        return self.facts.event.inputs or DispatchInputs()

    @cached_property
    def labels(self) -> LabelSet:
        return read_labels(self.pull.labels, self.policy.labels)

    @property
    def known_labels(self) -> tuple[str, ...]:
        """Labels of the pull request that the policy knows, by the policy's spelling and order."""
        if self.facts.pull is None:
            return ()
        on = {name.lower() for name in self.pull.labels}
        labels = self.policy.labels
        known = (*labels.primary, *labels.modifiers, *labels.control)
        return tuple(name for name in known if name.lower() in on)

    @cached_property
    def marker(self) -> Marker:
        return find_marker(self.facts.head_message, self.policy.sweep.skip_marker)

    @property
    def has_primary(self) -> bool:
        return len(self.labels.primary) == 1

    @property
    def head_is_stale(self) -> bool:
        """Whether newer commits only merge the base or make links canonical is known only where `still_stands`."""
        told = self.facts.event.head_sha
        return bool(told) and told != self.pull.head_sha and not self.facts.still_stands

    @property
    def actor_may_start(self) -> bool:
        """A re-run is judged by who pressed the button; an actor nobody vouches for may not."""
        if self.is_asked or self.facts.actor_is_hidden:
            return True
        if is_listed(self.facts.event.actor, self.policy.identities):
            return True
        return self.facts.actor is not None and self.facts.actor.can_write

    @property
    def is_approved(self) -> bool:
        return self.facts.approval is not None and self.facts.approval.sha == self.pull.head_sha

    @property
    def approval_is_stale(self) -> bool:
        return self.facts.approval is not None and not self.is_approved

    @property
    def has_test_merge(self) -> bool:
        """merge-sha of the dispatch merges just this head into the base branch's history, and GitHub made it: it is so
        now, or was when the head was approved.
        """
        merge, approval = self.facts.merge, self.facts.approval
        if merge is None or merge.sha != self.inputs.merge_sha or not merge.is_of(self.pull.head_sha):
            return False
        approved = approval.merge_sha if approval and self.is_approved else None
        return merge.is_github_s or merge.sha == approved

    @property
    def names_foreign_commit(self) -> bool:
        """A branch is the repository's own; of a SHA that must have been seen."""
        return bool(SHA.fullmatch(self.inputs.head_ref)) and self.facts.head_is_ours is not True

    @property
    def run_in_the_way(self) -> bool:
        """Some events start a sweep only for a head that has none; a question is answered by the one there is."""
        once = self.is_asked or self.action in ONCE_PER_HEAD
        return once and any(run.may_sweep for run in self.facts.runs)

    @property
    def reuse(self) -> Reuse | None:
        """A reuse counts on a push, to the pull request or the base, and under no label that rules it out."""
        if self.action not in {EventAction.SYNCHRONIZE, EventAction.OTHER}:
            return None
        fits = self.facts.pull is None or all(label.reusable for _, label in self.labels.modifiers)
        return self.facts.reuse if fits else None

    @property
    def started_by_no_event(self) -> bool:
        """A label that was put on in vain has started nothing, and nothing else has either."""
        in_vain = self.is_labeled_by_token or self.is_labeled_without_access
        return self.is_asked and in_vain and not any(run.may_sweep for run in self.facts.runs)

    @property
    def is_labeled_by_token(self) -> bool:
        return (self.facts.label_actor or "").lower() == WORKFLOW_ACTOR

    @property
    def is_labeled_without_access(self) -> bool:
        """Known only where somebody asks; an event is judged by who caused it."""
        return self.is_asked and self.facts.actor is not None and not self.facts.actor.can_write

    @property
    def changelog_is_unseen(self) -> bool:
        """Whether GitHub's list of files was cut. Where an earlier rule decides, nobody has asked for it."""
        pull = self.facts.pull
        return pull is not None and self.facts.changelog.touched is None and pull.changed_files > MAX_FILES

    @property
    def is_labeled_by_unknown(self) -> bool:
        """Whether nobody could tell if the person who put the label on may start a sweep."""
        login = (self.facts.label_actor or "").lower()
        known = {name.lower() for name in (*self.policy.identities, WORKFLOW_ACTOR)}
        return self.is_asked and bool(login) and login not in known and self.facts.actor is None

    @property
    def labels_at_event(self) -> LabelSet | None:
        """Labels that were on when the event came, if they differ from those that are on now and count."""
        told = self.facts.event.labels
        if told is None or self.facts.pull is None:
            return None
        then = read_labels(told, self.policy.labels)
        return None if then == self.labels else then

    @property
    def pushed_base(self) -> str | None:
        """What a push is compared with: the tip before it, or the parent of its first commit."""
        for sha in (self.facts.event.before, self.facts.base_sha):
            if sha and SHA.fullmatch(sha) and sha.strip("0"):
                return sha
        return None

    def check_inputs(self) -> str | None:
        """What is wrong with the inputs of a dispatch, as a clause."""
        given = self.inputs
        unknown = [name for name in given.modifiers if self._effect(name) is None]
        refs = [name for name in (given.base_ref, given.head_ref) if name]
        if unknown:
            return f"the dispatch names unknown modifiers: {join_words([one_line(name) for name in unknown])}"
        if given.pull is not None:
            return self._check_pull_inputs(given)
        if given.merge_sha:
            return "the dispatch gives merge-sha without pr"
        if given.command:
            return self._check_command(given)
        if len(refs) == 1:
            return "the dispatch gives one of base-ref and head-ref without the other"
        if not refs:
            return "the dispatch must give either a command, or base-ref and head-ref, or pr"
        return self._check_commits(given)

    def _check_commits(self, given: DispatchInputs) -> str | None:
        if given.base_ref and self.facts.base_sha is None:
            return f"there is no commit {one_line(given.base_ref)}"
        if self.facts.head_sha is None:
            return f"there is no commit {one_line(given.head_ref or self.policy.base_branch)}"
        return None

    def _check_command(self, given: DispatchInputs) -> str | None:
        if given.base_ref:
            return "the dispatch must give either a command, or base-ref and head-ref, or pr"
        if given.trim or given.modifiers:
            return "the dispatch gives trim or modifiers beside a command, which says such things by its own options"
        try:
            words = split_command(given.command)
        except ValueError as error:
            return f"the dispatch's command cannot be read ({error})"
        if words[:1] not in ([name] for name in COMMANDS):
            return f"the dispatch's command starts with neither {' nor '.join(COMMANDS)}"
        return self._check_commits(given)

    def _check_pull_inputs(self, given: DispatchInputs) -> str | None:
        if given.pull == 0:
            return "the dispatch's pr is not the number of a pull request"
        if given.command:
            return "the dispatch gives both a command and pr"
        for name, value in (("head-ref", given.head_ref), ("merge-sha", given.merge_sha)):
            if value and not SHA.fullmatch(value):
                return f"with pr, {name} must be a full commit SHA of 40 digits"
        return None

    def dispatched_effects(self) -> tuple[Effect, ...]:
        found = {self._effect(name) for name in self.inputs.modifiers}
        return tuple(effect for effect in Effect if effect in found)

    def _effect(self, name: str) -> Effect | None:
        """An effect by its own name or by that of a label."""
        by_label: Mapping[str, Effect] = {
            label.lower(): value.effect for label, value in self.policy.labels.modifiers.items()
        }
        return by_label.get(name.lower()) or (Effect(name) if name in tuple(Effect) else None)


def split_command(text: str) -> list[str]:
    """The words of a command, with a shell's quotes and nothing else of a shell. Raises ValueError."""
    return shlex.split(text)


def one_line(text: str, room: int = 60) -> str:
    """Foreign text on one line, with nothing in it that a terminal would obey."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return flat if len(flat) <= room else flat[: room - 3] + "..."
