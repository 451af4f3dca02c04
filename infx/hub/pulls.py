"""Actions on branches and pull requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infx.hub import render
from infx.hub.events import EventSource
from infx.hub.git import Files
from infx.hub.refusal import Refused, refuse_pull
from infx.hub.state import Pull, TimelineEntry
from infx.hub.world import locked

LONGEST_TITLE = 256


class PullActions(EventSource):
    @locked
    def push(
        self,
        branch: str,
        files: Files,
        message: str = "change",
        *,
        by: str = "cody",
        start: str | None = None,
        repository: str | None = None,
        force: bool = False,
    ) -> str:
        """Commit files to a branch, push it, and return the new SHA.

        Args:
            start: the new branch's first parent; the default branch if it is None.
            repository: a fork's `owner/name`.
            force: replace the branch, starting at `start`.
        """
        return self.push_commits(
            branch, [(files, message)], by=by, start=start, repository=repository, force=force
        )

    @locked
    def push_commits(
        self,
        branch: str,
        commits: Sequence[tuple[Files, str]],
        *,
        by: str = "cody",
        start: str | None = None,
        repository: str | None = None,
        force: bool = False,
    ) -> str:
        """Push several commits at once, each as (files, message)."""
        ref = self.branch_ref(branch, repository)
        before = self.git.resolve(ref)
        tip = None if force else before
        parent = tip or self.git.resolve(start or self.branch_ref(self.branch))
        self.account(by)
        after = self.git.write_commits(ref, commits, author=by, seconds=self.seconds(), start=parent)
        self._pushed(ref, before, after, by)
        return after

    @locked
    def merge_base_branch(self, number: int, *, by: str = "cody") -> str:
        """Merge the base branch into a pull request's branch and push it, as its author would."""
        pull = self.state.pulls[number]
        ref = self.branch_ref(pull.head_ref, pull.head_repository)
        base = self.tip(pull.base_ref)
        merge = self.git.test_merge(base, pull.head_sha)
        if merge.tree is None:
            raise Refused(409, f"Conflicts in {', '.join(merge.conflicts)}.")
        message = f"Merge branch '{pull.base_ref}' into {pull.head_ref}"
        after = self.git.commit_tree(
            merge.tree, (pull.head_sha, base), message, author=by, seconds=self.seconds()
        )
        before = pull.head_sha
        self.git.update_ref(ref, after)
        self._pushed(ref, before, after, by)
        return after

    def branch_ref(self, branch: str, repository: str | None = None) -> str:
        """Return a branch's ref; branches of forks are in the same git repository, below `refs/forks`."""
        if repository is None or repository.lower() == self.repository.lower():
            return f"refs/heads/{branch}"
        return f"refs/forks/{repository}/{branch}"

    def tip(self, branch: str) -> str:
        sha = self.git.resolve(f"refs/heads/{branch}")
        if sha is None:
            raise Refused(422, f"There is no branch {branch}.")
        return sha

    @locked
    def delete_branch(self, branch: str, *, by: str = "cody", repository: str | None = None) -> None:
        """Delete a branch, which closes every open pull request from it and into it."""
        ref = self.branch_ref(branch, repository)
        before = self.git.resolve(ref)
        if before is None:
            raise Refused(422, "Reference does not exist")
        if ref == self.branch_ref(self.branch):
            raise Refused(422, "Cannot delete the default branch")
        self.git.update_ref(ref, None)
        self.emit_push(ref, before, None, by)
        for pull in self._find_pulls(ref):
            self._close_without(pull, by)

    def _find_pulls(self, ref: str) -> list[Pull]:
        """Find the open pull requests with this head or base."""
        return [
            pull
            for pull in self.state.pulls.values()
            if pull.is_open and ref in {self.head_ref(pull), self.branch_ref(pull.base_ref)}
        ]

    def head_ref(self, pull: Pull) -> str:
        """Return the ref of a pull request's head, or "" if its fork was deleted."""
        is_deleted = pull.head_repository is None
        return "" if is_deleted else self.branch_ref(pull.head_ref, pull.head_repository)

    def _close_without(self, pull: Pull, by: str) -> None:
        """Close a pull request whose head branch or base branch was deleted."""
        if self.git.resolve(self.head_ref(pull)) is None:
            self.note(pull, "head_ref_deleted", by)
        self.close_pull(pull.number, by)

    def _pushed(self, ref: str, before: str | None, after: str, by: str) -> None:
        self.emit_push(ref, before, after, by)
        for pull in self._find_pulls(ref):
            if self.head_ref(pull) == ref:
                self._move_head(pull, after, by)

    def emit_push(self, ref: str, before: str | None, after: str | None, by: str) -> None:
        if not ref.startswith("refs/heads/"):
            return  # GitHub emits a fork's event in the fork
        default = self.branch_ref(self.branch)
        known = before or (self.git.resolve(default) if ref != default else None)
        new = [] if after is None else self.git.commits_between(known, after)
        forced = bool(before and after and self.git.merge_base(before, after) != before)
        self.emit("push", None, by, render.push(self, ref, (before, after), new, by=by, forced=forced))

    def _move_head(self, pull: Pull, sha: str, by: str) -> None:
        before, pull.head_sha = pull.head_sha, sha
        pull.base_sha = self.tip(pull.base_ref)
        self.git.update_ref(f"refs/pull/{pull.number}/head", sha)
        if self.git.merge_base(before, sha) != before:
            self.note(pull, "head_ref_force_pushed", by)
        self.touch(pull)
        self.emit_pull(pull, "synchronize", by, before=before, after=sha)

    @locked
    def sync(self) -> None:
        """Update the pull requests after pushes that were made with git."""
        for pull in list(self.state.pulls.values()):
            if not pull.is_open or pull.head_repository is None:
                continue
            tip = self.git.resolve(self.head_ref(pull))
            if tip is None or self.git.resolve(self.branch_ref(pull.base_ref)) is None:
                self._close_without(pull, pull.author or "ghost")
            elif tip != pull.head_sha:
                self._notice_push(pull, tip)

    def _notice_push(self, pull: Pull, tip: str) -> None:
        """Move the head after a push with git; emit `push` too if it is known who pushed."""
        if self.pusher is None:
            self._move_head(pull, tip, pull.author or "ghost")
            return
        before = pull.head_sha
        with self.acting(self.pusher.is_workflow):
            self.emit_push(self.head_ref(pull), before, tip, self.pusher.login)
            self._move_head(pull, tip, self.pusher.login)

    @locked
    def open_pull(
        self,
        head: str,
        *,
        title: str = "Add a benchmark",
        body: str | None = "",
        by: str = "cody",
        base: str | None = None,
        repository: str | None = None,
        draft: bool = False,
        number: int | None = None,
        labels: Sequence[str] = (),
    ) -> Pull:
        """Open a pull request from a pushed branch, of the fork `repository` or of this repository.

        Raises Refused if a branch or commits are missing, or if the branches have an open pull request.
        """
        base = base or self.branch
        sha = self.git.resolve(self.branch_ref(head, repository))
        if sha is None:
            raise refuse_pull(field="head", code="invalid")
        _check_title(title)
        owner = (repository or self.repository).split("/")[0]
        self._check_sides(f"{owner}:{head}", self.branch_ref(head, repository), sha, base)
        if number is not None:
            self.state.ids["number"] = number - 1
        self.account(by)
        now = self.now()
        pull = Pull(
            id=self.next_id("pull", 50001),
            number=self.next_id("number"),
            title=title,
            body=body,
            author=by,
            head_ref=head,
            head_owner=owner,
            head_repository=repository or self.repository,
            head_sha=sha,
            base_ref=base,
            base_sha=self.tip(base),
            created_at=now,
            updated_at=now,
            draft=draft,
        )
        return self._announce(pull, labels, by)

    def _announce(self, pull: Pull, labels: Sequence[str], by: str) -> Pull:
        self.state.pulls[pull.number] = pull
        self.git.update_ref(f"refs/pull/{pull.number}/head", pull.head_sha)
        for name in labels:
            pull.labels.append(self.get_or_make_label(name))
            self.note(pull, "labeled", by, label=name)
        self.emit_pull(pull, "opened", by)
        for name in labels:
            self.emit_pull(pull, "labeled", by, label=render.label(self, self.get_or_make_label(name)))
        return pull

    def _check_sides(self, label: str, ref: str, sha: str, base: str, *, but: Pull | None = None) -> None:
        """Raise Refused if no pull request of these two branches may be open.

        Args:
            label: `owner:branch` of the head.
            but: the pull request that changes.
        """
        tip = self.git.resolve(self.branch_ref(base))
        if tip is None:
            raise refuse_pull(f"Proposed base branch '{base}' was not found", code="invalid")
        if self.git.merge_base(tip, sha) is None:
            raise refuse_pull(f"The {label} branch has no history in common with {base}", field="")
        if not self.git.commits_between(tip, sha):
            head = label.removeprefix(f"{self.repository.split('/')[0]}:")
            raise refuse_pull(f"No commits between {base} and {head}", field="")
        for pull in self._find_pulls(ref):
            if pull is not but and (self.head_ref(pull), pull.base_ref) == (ref, base):
                raise refuse_pull(f"A pull request already exists for {label}.", field="")

    @locked
    def edit_pull(
        self,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        base: str | None = None,
        state: str | None = None,
        by: str = "cody",
    ) -> None:
        """Change the given fields. Raises Refused as GitHub does, before anything changes."""
        pull = self.state.pulls[number]
        if title is not None:
            _check_title(title)
        if state not in {None, "open", "closed"}:
            raise refuse_pull(f"state {state} is neither open nor closed", field="state", code="invalid")
        if base is not None and base != pull.base_ref:
            if not pull.is_open:
                raise refuse_pull("Cannot change the base branch of a closed pull request.")
            self._check_sides(self._label(pull), self.head_ref(pull), pull.head_sha, base, but=pull)
        if state == "open" and not pull.is_open:
            self._check_reopening(pull)
        changes = self._edit(pull, {"title": title, "body": body, "base_ref": base})
        if changes:
            self.touch(pull)
            self.emit_pull(pull, "edited", by, changes=changes)
        if base is not None and "base" in changes:
            self.note(pull, "base_ref_changed", by)
        if state == "closed" and pull.is_open:
            self.close_pull(number, by)
        elif state == "open" and not pull.is_open:
            self.reopen_pull(number, by)

    def _edit(self, pull: Pull, wanted: Mapping[str, str | None]) -> dict[str, object]:
        """Set the attributes that differ; return the event's `changes`."""
        changes: dict[str, object] = {}
        for name, value in wanted.items():
            before = getattr(pull, name)
            if value is None or value == before:
                continue
            setattr(pull, name, value)
            if name == "base_ref":
                changes["base"] = {"ref": {"from": before}, "sha": {"from": pull.base_sha}}
                pull.base_sha, pull.merge_of = self.tip(value), None
            else:
                changes[name] = {"from": before or ""}
        return changes

    def _label(self, pull: Pull) -> str:
        return f"{pull.head_owner}:{pull.head_ref}"

    def _check_reopening(self, pull: Pull) -> str:
        """Return the head of the reopened pull request. Raises Refused if it cannot be reopened."""
        if pull.merged_at is not None:
            raise refuse_pull(
                "state cannot be changed. The pull request is merged.", field="state", code="invalid"
            )
        tip = self.git.resolve(self.head_ref(pull))
        if tip is None:
            words = f"state cannot be changed. The {pull.head_ref} branch has been deleted."
            raise refuse_pull(words, field="state", code="invalid")
        if self.git.merge_base(pull.head_sha, tip) != pull.head_sha:
            words = f"state cannot be changed. The {pull.head_ref} branch was force-pushed or recreated."
            raise refuse_pull(words, field="state", code="invalid")
        self._check_sides(self._label(pull), self.head_ref(pull), tip, pull.base_ref, but=pull)
        return tip

    @locked
    def label(self, number: int, *names: str, by: str = "cody") -> None:
        """Add labels, with an event for each new label."""
        pull = self.state.pulls[number]
        for name in names:
            label = self.get_or_make_label(name)
            if label not in pull.labels:
                pull.labels.append(label)
                self.note(pull, "labeled", by, label=label.name)
                self.touch(pull)
                self.emit_pull(pull, "labeled", by, label=render.label(self, label))

    @locked
    def unlabel(self, number: int, name: str, by: str = "cody") -> bool:
        """Remove a label; return False if the pull request did not have it."""
        pull = self.state.pulls[number]
        label = self.get_or_make_label(name)
        if label not in pull.labels:
            return False
        pull.labels.remove(label)
        self.note(pull, "unlabeled", by, label=label.name)
        self.touch(pull)
        self.emit_pull(pull, "unlabeled", by, label=render.label(self, label))
        return True

    @locked
    def set_draft(self, number: int, draft: bool, by: str = "cody") -> None:
        pull = self.state.pulls[number]
        pull.draft = draft
        action = "converted_to_draft" if draft else "ready_for_review"
        self.note(pull, "convert_to_draft" if draft else action, by)
        self.touch(pull)
        self.emit_pull(pull, action, by)

    @locked
    def close_pull(self, number: int, by: str = "cody") -> None:
        pull = self.state.pulls[number]
        pull.closed_at = self.now()
        self.note(pull, "closed", by)
        self.touch(pull)
        self.emit_pull(pull, "closed", by)

    @locked
    def reopen_pull(self, number: int, by: str = "cody") -> None:
        """Reopen a closed pull request at the branch's current head. Raises Refused as GitHub does."""
        pull = self.state.pulls[number]
        tip = self._check_reopening(pull)
        if tip != pull.head_sha:
            pull.head_sha, pull.base_sha = tip, self.tip(pull.base_ref)
            self.git.update_ref(f"refs/pull/{pull.number}/head", tip)
        pull.closed_at = None
        self.note(pull, "reopened", by)
        self.touch(pull)
        self.emit_pull(pull, "reopened", by)

    @locked
    def compute_merge(self, pull: Pull) -> None:
        """Compute the test merge, as GitHub does when a client asks for a pull request.

        After a conflict, `merge_sha` and `refs/pull/N/merge` keep the last successful merge.
        """
        if not pull.is_open:
            return
        sides = (self.tip(pull.base_ref), pull.head_sha)
        if pull.merge_of == sides:
            return
        merge = self.git.test_merge(*sides)
        pull.merge_of, pull.mergeable = sides, merge.tree is not None
        if merge.tree is not None:
            message = f"Merge {pull.head_sha} into {sides[0]}"
            pull.merge_sha = self.git.commit_tree(
                merge.tree, sides, message, author="GitHub", seconds=self.seconds()
            )
            self.git.update_ref(f"refs/pull/{pull.number}/merge", pull.merge_sha)

    def touch(self, pull: Pull) -> None:
        pull.updated_at = self.now()

    def note(self, pull: Pull, event: str, actor: str, *, label: str | None = None) -> TimelineEntry:
        self.account(actor)
        entry = TimelineEntry(
            id=self.next_id("event", 90001),
            pull=pull.number,
            event=event,
            actor=actor,
            created_at=self.now(),
            label=label,
        )
        self.state.timeline.append(entry)
        return entry

    def emit_pull(self, pull: Pull, action: str, by: str, **more: object) -> None:
        payload = {"number": pull.number, "pull_request": render.pull(self, pull), **more}
        self.emit("pull_request", action, by, payload)


def _check_title(title: str) -> None:
    if not title.strip():
        raise refuse_pull("title can't be blank", field="title", code="missing_field")
    if len(title) > LONGEST_TITLE:
        words = f"title is too long (maximum is {LONGEST_TITLE} characters)"
        raise refuse_pull(words, field="title")
