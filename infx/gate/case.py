"""A question to the gate: the facts, the policy, and properties that the rules read from both."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cached_property

from infx.bench.job_names import is_row_id
from infx.gate.event import SHA, DispatchInputs, EventAction, EventName
from infx.gate.facts import GateFacts, LabelSet, Marker, Reuse, find_marker, read_labels
from infx.model import MAX_FILES, PullRequest
from infx.phrases import join_words
from infx.policy.identity import is_listed
from infx.policy.model import Effect, Policy
from infx.records import record

MAX_SHOWN = 5  # wrong ids that a sentence names
WORKFLOW_ACTOR = "github-actions[bot]"  # its events start no workflow, except dispatches
COMMANDS = ("full-sweep", "test-config")  # of `infx matrix`
ONCE_PER_HEAD = frozenset({EventAction.OPENED, EventAction.REOPENED, EventAction.READY_FOR_REVIEW})


@record
class Case:
    """The facts and the policy of one question to the gate."""

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
        """Return the labels of the pull request that the policy knows, in its spelling and order."""
        if self.facts.pull is None:
            return ()
        pull_labels = {name.lower() for name in self.pull.labels}
        labels = self.policy.labels
        known = (*labels.primary, *labels.modifiers, *labels.control)
        return tuple(name for name in known if name.lower() in pull_labels)

    @cached_property
    def marker(self) -> Marker:
        return find_marker(self.facts.head_message, self.policy.sweep.skip_marker)

    @property
    def has_primary(self) -> bool:
        return len(self.labels.primary) == 1

    @property
    def head_is_stale(self) -> bool:
        """Return whether the event is about a commit that is no longer the head."""
        event_head = self.facts.event.head_sha
        return bool(event_head) and event_head != self.pull.head_sha

    @property
    def actor_may_start(self) -> bool:
        """Return whether the actor may start a sweep. An actor whose permission was not asked for may not."""
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
        """Return whether merge-sha merges exactly this head into the base branch's history and GitHub made it.

        GitHub's test merge of now counts, and the one that was approved together with the head.
        """
        merge, approval = self.facts.merge, self.facts.approval
        if merge is None or merge.sha != self.inputs.merge_sha or not merge.is_of(self.pull.head_sha):
            return False
        approved_merge = approval.merge_sha if approval and self.is_approved else None
        return merge.is_from_github or merge.sha == approved_merge

    @property
    def names_foreign_commit(self) -> bool:
        """Return whether head-ref is a SHA that was not seen on a branch. A branch name is always the repository's."""
        return bool(re.fullmatch(SHA, self.inputs.head_ref)) and self.facts.head_is_in_repository is not True

    @property
    def has_run_already(self) -> bool:
        """Return whether an existing run of the head keeps this event, or a question, from starting a sweep."""
        is_once_per_head = self.is_asked or self.action in ONCE_PER_HEAD
        return is_once_per_head and any(run.may_sweep for run in self.facts.runs)

    @property
    def reuse(self) -> Reuse | None:
        """Return the reuse that someone with authority asked for, if it counts for this event.

        A label asks for a sweep of its own. A request that fails does not hide the sweep that a head already has.
        """
        reuse = self.facts.reuse
        if reuse is None or reuse.absence is not None or not self.may_reuse:
            return None
        if self.is_asked and self.has_run_already and not reuse.is_accepted:
            return None
        return reuse

    @property
    def may_reuse(self) -> bool:
        """Return whether a finished sweep may take the place of the one that this event would start."""
        if self.action not in {EventAction.SYNCHRONIZE, EventAction.OTHER}:
            return False
        return self.facts.pull is None or all(label.reusable for _, label in self.labels.modifiers)

    @property
    def label_started_nothing(self) -> bool:
        """Return whether no run exists and the label could not start one."""
        starts_nothing = self.is_labeled_by_token or self.is_labeled_without_access
        return self.is_asked and starts_nothing and not any(run.may_sweep for run in self.facts.runs)

    @property
    def is_labeled_by_token(self) -> bool:
        return (self.facts.label_actor or "").lower() == WORKFLOW_ACTOR

    @property
    def is_labeled_without_access(self) -> bool:
        """Return whether a question's facts show that the person who added the label has no write access."""
        return self.is_asked and self.facts.actor is not None and not self.facts.actor.can_write

    @property
    def changelog_is_unseen(self) -> bool:
        """Return whether GitHub cut the list of files. False if an earlier rule decided without that list."""
        pull = self.facts.pull
        return pull is not None and self.facts.changelog.touched is None and pull.changed_files > MAX_FILES

    @property
    def is_labeled_by_unknown(self) -> bool:
        """Return whether it is unknown if the person who added the label may start a sweep."""
        login = (self.facts.label_actor or "").lower()
        known = {name.lower() for name in (*self.policy.identities, WORKFLOW_ACTOR)}
        return self.is_asked and bool(login) and login not in known and self.facts.actor is None

    @property
    def labels_at_event(self) -> LabelSet | None:
        """Return the labels at the time of the event if they differ from the current ones, which count."""
        names = self.facts.event.labels
        if names is None or self.facts.pull is None:
            return None
        labels = read_labels(names, self.policy.labels)
        return None if labels == self.labels else labels

    @property
    def pushed_base(self) -> str | None:
        """Return the commit that a push is compared with: the tip before it, or its first commit's parent."""
        for sha in (self.facts.event.before, self.facts.base_sha):
            if sha and re.fullmatch(SHA, sha) and sha.strip("0"):
                return sha
        return None

    def check_inputs(self) -> str | None:
        """Return the problem of a dispatch's inputs as a clause, or None."""
        inputs = self.inputs
        unknown = [name for name in inputs.modifiers if self._effect(name) is None]
        refs = [name for name in (inputs.base_ref, inputs.head_ref) if name]
        if unknown:
            return f"the dispatch names unknown modifiers: {join_words([one_line(name) for name in unknown])}"
        if fault := _check_follow_up(inputs):
            return fault
        if inputs.pull is not None:
            return self._check_pull_inputs(inputs)
        if inputs.merge_sha:
            return "the dispatch gives merge-sha without pr"
        if inputs.command:
            return self._check_command(inputs)
        if len(refs) == 1:
            return "the dispatch gives one of base-ref and head-ref without the other"
        if not refs:
            return "the dispatch must give either a command, or base-ref and head-ref, or pr"
        return self._check_commits(inputs)

    def _check_commits(self, inputs: DispatchInputs) -> str | None:
        if inputs.base_ref and self.facts.base_sha is None:
            return f"there is no commit {one_line(inputs.base_ref)}"
        if self.facts.head_sha is None:
            return f"there is no commit {one_line(inputs.head_ref or self.policy.base_branch)}"
        return None

    def _check_command(self, inputs: DispatchInputs) -> str | None:
        if inputs.base_ref:
            return "the dispatch must give either a command, or base-ref and head-ref, or pr"
        if inputs.trim or inputs.modifiers:
            return "the dispatch gives trim or modifiers together with a command; use the command's own options instead"
        try:
            words = split_command(inputs.command)
        except ValueError as error:
            return f"the command of the dispatch cannot be read ({error})"
        if words[:1] not in ([name] for name in COMMANDS):
            return f"the command of the dispatch must start with {' or '.join(COMMANDS)}"
        return self._check_commits(inputs)

    def _check_pull_inputs(self, inputs: DispatchInputs) -> str | None:
        if inputs.pull == 0:
            return "the input pr is not the number of a pull request"
        if inputs.command:
            return "the dispatch gives both a command and pr"
        for name, value in (("head-ref", inputs.head_ref), ("merge-sha", inputs.merge_sha)):
            if value and not re.fullmatch(SHA, value):
                return f"with pr, {name} must be a full commit SHA of 40 digits"
        return None

    def dispatched_effects(self) -> tuple[Effect, ...]:
        chosen = {self._effect(name) for name in self.inputs.modifiers}
        return tuple(effect for effect in Effect if effect in chosen)

    def _effect(self, name: str) -> Effect | None:
        """Return the effect with this name, or of the label with this name."""
        by_label: Mapping[str, Effect] = {
            label.lower(): value.effect for label, value in self.policy.labels.modifiers.items()
        }
        return by_label.get(name.lower()) or (Effect(name) if name in tuple(Effect) else None)


def _check_follow_up(inputs: DispatchInputs) -> str | None:
    """Return the problem of the inputs that select rows, as a clause, or None."""
    if unknown := [one_line(name) for name in inputs.only if not is_row_id(name)]:
        return f"the input only names {join_words(unknown, limit=MAX_SHOWN)}, and ids of rows have 12 digits from 0 to f"
    if inputs.complete is None:
        return None
    if inputs.complete == 0:
        return "the input complete is not the number of a run"
    if inputs.pull is None or not inputs.head_ref:
        return "the dispatch gives complete without pr and head-ref"
    return None


def split_command(text: str) -> list[str]:
    """Split a command into words. Only a shell's quotes have a meaning. Raises ValueError."""
    return shlex.split(text)


def one_line(text: str, room: int = 60) -> str:
    """Return foreign text on one line, without control characters that a terminal would obey."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return flat if len(flat) <= room else flat[: room - 3] + "..."
