"""Requests about pull requests, their files, commits and labels."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from infx.github import convert
from infx.github.endpoints import Endpoints
from infx.github.errors import IncompleteListError, NotFoundError
from infx.model import MAX_FILES, ChangedFile, Commit, LabelEvent, PullRequest, PullSummary

_TARGET_CHANGES = {"base_ref_changed", "automatic_base_change_succeeded"}
MAX_COMMITS = 250  # GitHub lists no more commits of a pull request, and does not say so


class Pulls(Endpoints):
    def pull(self, number: int) -> PullRequest:
        """Read a pull request; `mergeable` is None while GitHub computes it (see `settled_pull`)."""
        try:
            return self._get(convert.parse_pull_request, "pulls", number)
        except NotFoundError as error:
            error.message = f"{self.repository} has no pull request {number}."
            error.hint = (
                "Check that it is not an issue's number, and whether the token may see the repository."
            )
            raise

    def settled_pull(self, number: int, *, waits: tuple[float, ...] = (1, 2, 4, 8)) -> PullRequest:
        """Read an open pull request again after each of `waits` seconds until `mergeable` is known.

        `mergeable` is still None if GitHub needed longer. A closed pull request is read once.
        """
        pull = self.pull(number)
        for seconds in waits:
            if pull.mergeable is not None or not pull.is_open:
                break
            self.connection.pause(seconds)
            pull = self.pull(number)
        return pull

    def pulls(
        self,
        *,
        state: str = "open",
        base: str | None = None,
        head: str | None = None,
        updated_since: datetime | None = None,
    ) -> list[PullSummary]:
        """Read pull requests, the last updated first. state: open, closed or all. head: `owner:branch`."""
        parameters = {"state": state, "base": base, "head": head, "sort": "updated", "direction": "desc"}
        if updated_since is None:
            return self._list(convert.parse_pull_summary, "pulls", parameters=parameters)

        def is_older(item: Any) -> bool:
            return convert.parse_moment(item["updated_at"]) < updated_since

        summaries = self._list(convert.parse_pull_summary, "pulls", parameters=parameters, until=is_older)
        return [pull for pull in summaries if pull.updated_at >= updated_since]

    def pulls_of_commit(self, sha: str) -> list[PullSummary]:
        """Read the pull requests that brought a commit to the default branch, else those that contain it."""
        return self._list(convert.parse_pull_summary, "commits", sha, "pulls")

    def files(self, pull: PullRequest) -> list[ChangedFile]:
        """Read the changed files. Raises IncompleteListError unless all `pull.changed_files` came."""
        _check_cap(pull, "files", pull.changed_files, MAX_FILES)
        return self._list(
            convert.parse_changed_file,
            "pulls",
            pull.number,
            "files",
            identity=lambda item: item["filename"],
            total=pull.changed_files,
        )

    def commits(self, pull: PullRequest) -> list[Commit]:
        """Read the commits, oldest first. Raises IncompleteListError unless all `pull.commits` came."""
        _check_cap(pull, "commits", pull.commits, MAX_COMMITS)
        return self._list(
            convert.parse_listed_commit,
            "pulls",
            pull.number,
            "commits",
            identity=lambda item: item["sha"],
            total=pull.commits,
        )

    def labels(self, number: int) -> tuple[str, ...]:
        """Read the current labels; the payload of an event has the labels at the time of the event."""
        return tuple(self._list(lambda item: str(item["name"]), "issues", number, "labels"))

    def label_events(self, number: int) -> list[LabelEvent]:
        """Read who added or removed which label, oldest first."""
        events = self._list(
            lambda item: item, "issues", number, "timeline", identity=_identify_event, twice=True
        )
        return [
            convert.convert(convert.parse_label_event, event)
            for event in events
            if event.get("event") in {"labeled", "unlabeled"}
        ]

    def target_changes(self, number: int) -> list[datetime]:
        """Read the times at which a person or GitHub changed the base branch, oldest first."""
        events = self._list(
            lambda item: item, "issues", number, "timeline", identity=_identify_event, twice=True
        )
        return [
            convert.convert(lambda event: convert.parse_moment(event["created_at"]), event)
            for event in events
            if event.get("event") in _TARGET_CHANGES
        ]


def _check_cap(pull: PullRequest, noun: str, count: int, cap: int) -> None:
    if count > cap:
        raise IncompleteListError(
            f"Pull request {pull.number} has {count:,} {noun}; GitHub lists only {cap:,}.",
            hint="Read them from the git history in a clone.",
        )


def _identify_event(item: Any) -> object:
    """Return the identity of an event; in the timeline, commits have a SHA instead of an id."""
    return item.get("event"), item.get("id") or item.get("sha") or item.get("node_id")
