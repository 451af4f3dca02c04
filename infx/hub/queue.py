"""The merge queue: groups on top of each other, their checks, and what leaves the queue and why."""

from __future__ import annotations

import itertools

from infx.hub import render
from infx.hub.merging import MergeActions
from infx.hub.refusal import Refused
from infx.hub.rules import QueueRule
from infx.hub.state import Pull, QueueEntry
from infx.hub.world import locked

QUEUE_LOGIN = "github-merge-queue[bot]"
GROUPS = "refs/heads/gh-readonly-queue"

# reason in the event `dequeued` → reason in the timeline, of which GitHub documents no list
_TIMELINE = {"MERGE": "merged", "CI_FAILURE": "failed_checks"}


class QueueActions(MergeActions):
    """The queue works on its own: at the start of every request, and when `work_queue` is called."""

    @locked
    def enqueue(
        self, number: int, *, by: str = "mia", sha: str | None = None, jump: bool = False
    ) -> QueueEntry:
        """Add a pull request to its base branch's queue. Raises Refused as GitHub does.

        Args:
            sha: the head that is expected.
            jump: put it first.
        """
        pull = self.state.pulls[number]
        self._check_queueing(pull, sha)
        self.account(by)
        entry = QueueEntry(
            id=self.next_id("queue entry", 88001),
            pull=number,
            base=pull.base_ref,
            head_sha=pull.head_sha,
            by=by,
            by_workflow=self.actor_is_workflow,
            enqueued_at=self.now(),
        )
        queue = self.state.queue
        first = next((at for at, known in enumerate(queue) if known.base == entry.base), len(queue))
        queue.insert(first if jump else len(queue), entry)
        self.note(pull, "added_to_merge_queue", by)
        self.touch(pull)
        self.emit_pull(pull, "enqueued", by)
        return entry

    def _check_queueing(self, pull: Pull, sha: str | None) -> None:
        self.compute_merge(pull)
        if self.queue_rule(pull.base_ref) is None:
            raise Refused(422, "Pull request base branch does not have a merge queue")
        if self.find_entry(pull.number) is not None:
            raise Refused(422, "Pull request is already in the queue")
        if not pull.is_open:
            raise Refused(422, "Pull request is not open")
        if sha is not None and sha != pull.head_sha:
            raise Refused(422, "Pull request head branch was modified. Review and try again.")
        if pull.draft:
            raise Refused(422, "Pull request is still a draft")
        if not pull.mergeable:
            raise Refused(422, "Pull request has merge conflicts")
        if (words := self.explain_rules(pull)) is not None:
            raise Refused(422, f"Pull request {words}")

    @locked
    def dequeue(self, number: int, *, by: str = "mia") -> QueueEntry:
        """Remove a pull request from the queue, as a person does. Raises Refused if it is not queued."""
        entry = self.find_entry(number)
        if entry is None:
            raise Refused(422, f"Failed to remove PR #{number} from the queue")
        self._remove(entry, "MANUAL", by=by)
        return entry

    def find_entry(self, number: int) -> QueueEntry | None:
        return next((entry for entry in self.state.queue if entry.pull == number), None)

    def entries_of(self, branch: str) -> list[QueueEntry]:
        """Return a branch's queue, first to last."""
        return [entry for entry in self.state.queue if entry.base == branch]

    @locked
    def close_pull(self, number: int, by: str = "cody") -> None:
        super().close_pull(number, by)
        if (entry := self.find_entry(number)) is not None:
            self._remove(entry, "MANUAL", by=by)

    @locked
    def sync(self) -> None:
        super().sync()
        self.work_queue()

    @locked
    def work_queue(self) -> None:
        """Let every queue work until it waits for checks: build groups, remove entries, merge."""
        for branch in sorted({entry.base for entry in self.state.queue}):
            rule = self.queue_rule(branch)
            if rule is None:
                for entry in self.entries_of(branch):
                    self._remove(entry, "QUEUE_CLEARED")
                continue
            for entry in self.entries_of(branch):
                if self.state.pulls[entry.pull].base_ref != branch:
                    self._remove(entry, "UNKNOWN_REMOVAL_REASON")
            while self._work(branch, rule):
                pass

    def _work(self, branch: str, rule: QueueRule) -> bool:
        """Do the next step of a queue; return whether the queue must be looked at again."""
        return (
            self._build_groups(branch, rule) or self._judge_groups(branch, rule) or self._merge(branch, rule)
        )

    def _build_groups(self, branch: str, rule: QueueRule) -> bool:
        """Build a group for each entry, on top of the entries ahead; remove an entry that conflicts."""
        below = self.tip(branch)
        for at, entry in enumerate(self.entries_of(branch)[: rule.build]):
            if entry.group_base != below:
                self._drop_group(entry, "invalidated")
                self._build(entry, below, rule)
            if entry.group_sha is None and (at == 0 or rule.removes_at_once):
                self._remove(entry, "MERGE_CONFLICT")
                return True
            if entry.state != "UNMERGEABLE" and entry.group_sha is not None:
                below = entry.group_sha
        return False

    def _build(self, entry: QueueEntry, below: str, rule: QueueRule) -> None:
        pull = self.state.pulls[entry.pull]
        entry.group_base, entry.built_at = below, self.seconds()
        entry.group_sha = self.write_merge(pull, below, entry.head_sha, rule.method, by=QUEUE_LOGIN)
        entry.state = "UNMERGEABLE" if entry.group_sha is None else "AWAITING_CHECKS"
        if entry.group_sha is not None:
            self.git.update_ref(self.group_ref(entry), entry.group_sha)
            self._emit_group(entry, "checks_requested")

    def group_ref(self, entry: QueueEntry) -> str:
        return f"{GROUPS}/{entry.base}/pr-{entry.pull}-{entry.group_base}"

    def _judge_groups(self, branch: str, rule: QueueRule) -> bool:
        """Look at the checks of every group; remove an entry whose checks failed or took too long."""
        for at, entry in enumerate(self.entries_of(branch)):
            if entry.group_sha is None:
                continue
            reason, state = self._judge(entry, entry.group_sha, rule)
            if reason is not None and (at == 0 or rule.removes_at_once):
                self._remove(entry, reason)
                return True
            before, entry.state = entry.state, state
            if before != state and "UNMERGEABLE" in {before, state}:
                return True  # the entries behind are built without it, or with it again
        return False

    def _judge(self, entry: QueueEntry, sha: str, rule: QueueRule) -> tuple[str | None, str]:
        """Return why an entry must leave the queue, or None, and its state."""
        missing = self.judge_checks(sha, entry.base)
        if "failure" in missing.values():
            return "CI_FAILURE", "UNMERGEABLE"
        if missing and self.seconds() - entry.built_at > rule.timeout * 60:
            return "CI_TIMEOUT", "UNMERGEABLE"
        return None, "AWAITING_CHECKS" if missing else "MERGEABLE"

    def _merge(self, branch: str, rule: QueueRule) -> bool:
        """Merge the entries at the front whose groups are green."""
        ready = itertools.takewhile(lambda entry: entry.state == "MERGEABLE", self.entries_of(branch))
        chosen = list(itertools.islice(ready, rule.merge))
        for entry in chosen:
            self._merge_entry(entry)
        return bool(chosen)

    def _merge_entry(self, entry: QueueEntry) -> None:
        pull, base, sha = self.state.pulls[entry.pull], self.tip(entry.base), entry.group_sha
        assert sha is not None
        self.git.update_ref(f"refs/heads/{entry.base}", sha)
        self._remove(entry, "MERGE")
        with self.acting(entry.by_workflow):
            self.close_merged(pull, base, sha, QUEUE_LOGIN)
            self.emit_push(self.branch_ref(entry.base), base, sha, QUEUE_LOGIN)

    def _remove(self, entry: QueueEntry, reason: str, *, by: str = QUEUE_LOGIN) -> None:
        pull = self.state.pulls[entry.pull]
        self.state.queue.remove(entry)
        noted = self.note(pull, "removed_from_merge_queue", by)
        noted.reason, noted.group_sha = _TIMELINE.get(reason, reason.lower()), entry.group_sha
        self.touch(pull)
        self._drop_group(entry, "merged" if reason == "MERGE" else "dequeued")
        self.emit_pull(pull, "dequeued", by, reason=reason)

    def _drop_group(self, entry: QueueEntry, reason: str) -> None:
        if entry.group_sha is not None:
            self.git.update_ref(self.group_ref(entry), None)
            self._emit_group(entry, "destroyed", reason=reason)
        entry.group_sha = entry.group_base = None

    def _emit_group(self, entry: QueueEntry, action: str, **more: object) -> None:
        payload = {"merge_group": render.merge_group(self, entry, self.group_ref(entry)), **more}
        self.emit("merge_group", action, QUEUE_LOGIN, payload, starts=not entry.by_workflow)
