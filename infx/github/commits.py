"""What stands in the repository and on its commits: files, refs, statuses, and who may do what."""

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
        """A file's bytes at a ref; None if there is no such file there."""
        found = self._find(_file, "contents", *path.split("/"), ref=ref)
        if found is None:
            return None
        if found.data is not None:
            return found.data
        return self._get(_file, "git", "blobs", found.sha).data  # larger than 1 MB

    def ref(self, name: str) -> str | None:
        """The SHA of `heads/main`, `pull/77/head`, `pull/77/merge`, …; None if there is no such ref."""
        return self._find(_ref_sha, "git", "ref", *name.split("/"))

    def matching_refs(self, prefix: str) -> dict[str, str]:
        """Full names (`refs/heads/…`) and SHAs of the refs that start with `heads/feat` or the like."""
        return self._get(
            lambda data: {item["ref"]: _ref_sha(item) for item in data},
            "git",
            "matching-refs",
            *prefix.split("/"),
        )  # all at once, without pages

    def commit(self, sha: str) -> Commit:
        """A commit of the git database, by its full SHA; its author's account is not known there."""
        return self._insist(lambda: self._get(convert.git_commit, "git", "commits", sha))

    def find_commit(self, sha: str) -> Commit | None:
        """Return a commit of the git database, None if GitHub says twice that it has none of that SHA."""
        return self._find(convert.git_commit, "git", "commits", sha)

    def is_ancestor(self, sha: str, of: str) -> bool:
        """Whether `sha` is `of` or one of its ancestors; works beyond the 250 commits that a list shows."""
        state = self._find(_comparison, "compare", f"{sha}...{of}", per_page=1)
        return state in {"ahead", "identical"}

    def statuses(self, sha: str, *, is_hearsay: bool = False) -> list[CommitStatus]:
        """The newest status of each context, newest first, with who set it. is_hearsay: a comment names the commit, which
        need not exist; one that does not, as GitHub says twice, has none.
        """
        found: list[CommitStatus] = []
        for _ in range(2):
            try:
                found = self.status_log(sha)
                break
            except (NotFoundError, ValidationError):
                if not is_hearsay:
                    raise
        newest: dict[str, CommitStatus] = {}
        for status in found:
            newest.setdefault(status.context, status)
        return list(newest.values())

    def status_log(self, sha: str) -> list[CommitStatus]:
        """Every status that was ever set on a commit, newest first."""
        return self._list(convert.commit_status, "commits", sha, "statuses")

    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus:
        body = {
            "state": state.value,
            "context": context,
            "description": description,
            "target_url": target_url or None,
        }
        return convert.convert(convert.commit_status, self._write("POST", "statuses", sha, body=body))

    def permission(self, login: str) -> Collaborator:
        """What a person may do here; `none`, and not known, for an account that GitHub says it does not know."""
        data = self._find(convert.collaborator, "collaborators", login, "permission")
        return data or Collaborator(login=login, permission="none", role="none", is_known=False)

    def team_members(self, organization: str, team: str) -> frozenset[str] | None:
        """Logins in lower case, those of teams below it too. None: unknown; a repository's token sees no team."""
        path = f"/orgs/{quote(organization, safe='')}/teams/{quote(team, safe='')}/members"
        try:
            found = read_list(self.connection, Listing(path=path, parameters={}))
        except (NotFoundError, PermissionDeniedError):
            return None
        return frozenset(convert.convert(convert.user, member).login.lower() for member in found)


@dataclass(frozen=True)
class _File:
    sha: str
    data: bytes | None  # None: GitHub left it out because of its size


def _file(data: Any) -> _File:
    """Of `contents` or of a blob; a folder is a list, and anything but a file is refused."""
    if data.get("type", "file") != "file":
        raise ValueError(f"it is a {data['type']}")
    is_whole = data["encoding"] == "base64"
    return _File(data["sha"], base64.b64decode(data["content"]) if is_whole else None)


def _ref_sha(data: Any) -> str:
    return convert.text(data["object"]["sha"])


def _comparison(data: Any) -> str:
    return convert.text(data["status"])
