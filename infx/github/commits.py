"""Requests about the repository and its commits: files, refs, statuses, permissions and teams."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from infx.github import convert
from infx.github.endpoints import Endpoints
from infx.github.errors import NotFoundError, PermissionDeniedError, ValidationError
from infx.github.paging import Listing, read_list
from infx.model import Collaborator, Commit, CommitStatus, StatusState


class Commits(Endpoints):
    def read_file(self, path: str, ref: str) -> bytes | None:
        """Return a file's bytes at a ref, or None if the ref has no such file."""
        file = self._find(_parse_file, "contents", *path.split("/"), ref=ref)
        if file is None:
            return None
        if file.data is not None:
            return file.data
        return self._get(_parse_file, "git", "blobs", file.sha).data  # larger than 1 MB

    def ref(self, name: str) -> str | None:
        """Return the SHA of `heads/main`, `pull/77/head`, `pull/77/merge`, …, or None without such a ref."""
        return self._find(_parse_ref_sha, "git", "ref", *name.split("/"))

    def matching_refs(self, prefix: str) -> dict[str, str]:
        """Return full name (`refs/heads/…`) → SHA of refs with a prefix such as `heads/feat`."""
        return self._get(
            lambda data: {item["ref"]: _parse_ref_sha(item) for item in data},
            "git",
            "matching-refs",
            *prefix.split("/"),
        )  # GitHub does not page this list

    def commit(self, sha: str) -> Commit:
        """Return a commit of the git database, by its full SHA."""
        return self._insist(lambda: self._get(convert.parse_git_commit, "git", "commits", sha))

    def find_commit(self, sha: str) -> Commit | None:
        """Return a commit of the git database, or None if GitHub answers twice that it has no such commit."""
        return self._find(convert.parse_git_commit, "git", "commits", sha)

    def is_ancestor(self, sha: str, of: str) -> bool:
        """Return whether `sha` is `of` or one of its ancestors, also beyond the 250 commits of a list."""
        state = self._find(_parse_comparison, "compare", f"{sha}...{of}", per_page=1)
        return state in {"ahead", "identical"}

    def statuses(self, sha: str, *, is_hearsay: bool = False) -> list[CommitStatus]:
        """Return the newest status of each context, newest first.

        With is_hearsay, a comment names the commit, so it may not exist: it has no statuses if GitHub answers
        twice that it does not.
        """
        statuses: list[CommitStatus] = []
        for _ in range(2):
            try:
                statuses = self.status_log(sha)
                break
            except (NotFoundError, ValidationError):
                if not is_hearsay:
                    raise
        newest: dict[str, CommitStatus] = {}
        for status in statuses:
            newest.setdefault(status.context, status)
        return list(newest.values())

    def status_log(self, sha: str) -> list[CommitStatus]:
        """Return every status that was ever set on a commit, newest first."""
        return self._list(convert.parse_commit_status, "commits", sha, "statuses")

    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus:
        body = {
            "state": state.value,
            "context": context,
            "description": description,
            "target_url": target_url or None,
        }
        return convert.convert(convert.parse_commit_status, self._write("POST", "statuses", sha, body=body))

    def permission(self, login: str) -> Collaborator:
        """Return a person's permission and role here; an account that GitHub does not know has `none`."""
        data = self._find(convert.parse_collaborator, "collaborators", login, "permission")
        return data or Collaborator(login=login, permission="none", role="none", is_known=False)

    def team_members(self, organization: str, team: str) -> frozenset[str] | None:
        """Return the lower-case logins in a team and its child teams, or None if the token cannot see it."""
        path = f"/orgs/{quote(organization, safe='')}/teams/{quote(team, safe='')}/members"
        try:
            members = read_list(self.connection, Listing(path=path, parameters={}))
        except (NotFoundError, PermissionDeniedError):
            return None
        return frozenset(convert.convert(convert.parse_user, member).login.lower() for member in members)


@dataclass(frozen=True)
class _File:
    sha: str
    data: bytes | None  # None: GitHub left it out because of its size


def _parse_file(data: Any) -> _File:
    """Convert an answer of `contents` or a blob. Raises ValueError for a submodule and other non-files."""
    if data.get("type", "file") != "file":
        raise ValueError(f"it is a {data['type']}")
    is_whole = data["encoding"] == "base64"
    return _File(data["sha"], base64.b64decode(data["content"]) if is_whole else None)


def _parse_ref_sha(data: Any) -> str:
    return convert.require_text(data["object"]["sha"])


def _parse_comparison(data: Any) -> str:
    return convert.require_text(data["status"])
