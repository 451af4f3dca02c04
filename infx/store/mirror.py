"""A temporary repository with the newest commit of a remote branch, to read files from and to write commits to.

The user's clone only names the remote: its objects, refs, settings and working tree are neither read nor changed. The
contents of files are fetched when they are read, if the remote supports it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infx.git import Git, GitError, ObjectReader
from infx.store.port import StoreError

IDS_PER_FETCH = 1000  # on a command line
_TIP, _NEW = "refs/infx/tip", "refs/infx/new"
# With another algorithm of negotiation git refuses to fetch a file's content by its id.
_CONFIG = """\
[core]
	repositoryFormatVersion = 0
	bare = true
[fetch]
	negotiationAlgorithm = noop
"""
_NO_BRANCH = "couldn't find remote ref"


@dataclass(frozen=True)
class Remote:
    """A branch of a remote repository; the branch need not exist.

    Attributes:
        author: a login, the author of commits.
    """

    url: str
    branch: str
    author: str
    token: str | None = None


@dataclass
class Mirror:
    """A repository with a remote branch's newest commit.

    Attributes:
        tip: None if the branch does not exist.
        ids: path → object id of every file.
    """

    git: Git
    remote: Remote
    tip: str | None = None
    ids: dict[str, str] = field(default_factory=dict)

    def fetch(self) -> None:
        """Go to the newest commit of the branch."""
        try:
            ref = f"refs/heads/{self.remote.branch}"
            self.git.fetch("origin", f"{ref}:{_TIP}", token=self.remote.token, only_tip=True)
        except GitError as error:
            if _NO_BRANCH not in error.message:
                raise
            self.tip, self.ids = None, {}
            return
        self.tip = self.git.commit(_TIP)
        self.ids = self.git.list_blobs(self.tip)

    def list(self, folder: str) -> list[str]:
        """Return the paths of all files below a folder, sorted."""
        return sorted(path for path in self.ids if path.startswith(f"{folder}/"))

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Return path and content of each path that exists; one content is in memory at a time."""
        existing = [path for path in paths if path in self.ids]
        if not existing:
            return
        self._fetch_blobs({self.ids[path] for path in existing})
        with closing(ObjectReader(self.git.directory, self.git.variables)) as reader:
            for path in existing:
                found = reader.read(self.ids[path])
                if found is None:
                    raise StoreError(
                        "This file of the store could not be fetched.", hint="Try again.", where=path
                    )
                yield path, found[2]

    def _fetch_blobs(self, ids: set[str]) -> None:
        missing = sorted(ids - self.git.list_objects())
        for start in range(0, len(missing), IDS_PER_FETCH):
            part = missing[start : start + IDS_PER_FETCH]
            self.git.fetch("origin", *part, token=self.remote.token, only_tip=True)

    def select_changes(self, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Return the files whose content differs from the mirror's, and those to delete that exist."""
        return {
            path: content
            for path, content in files.items()
            if (path in self.ids if content is None else self.ids.get(path) != self._find_id(content))
        }

    def _find_id(self, content: bytes) -> str:
        """Return the object id that git gives a file's content."""
        algorithm = "sha256" if self.tip and len(self.tip) == 64 else "sha1"
        header = b"blob %d\0" % len(content)
        return hashlib.new(algorithm, header + content, usedforsecurity=False).hexdigest()

    def commit(self, files: Mapping[str, bytes | None], message: str) -> str:
        """Create a commit on the tip with new contents of files, None for a file to delete, and return its SHA."""
        author = self.remote.author
        who = f"{author} <{author}@users.noreply.github.com> now"
        # Two writers of the same files would else create the same commit, and both would have pushed it.
        message = f"{message}\nWriter: {secrets.token_hex(8)}\n"
        parts = [f"reset {_NEW}\ncommit {_NEW}\nmark :1\nauthor {who}\ncommitter {who}\n".encode()]
        parts += [_data(message.encode()), f"from {self.tip}\n".encode() if self.tip else b""]
        for path, content in sorted(files.items()):
            if content is None:
                parts.append(f"D {path}\n".encode())
            else:
                parts += [f"M 100644 inline {path}\n".encode(), _data(content)]
        stdin = b"".join([*parts, b"get-mark :1\ndone\n"])
        options = ("--quiet", "--force", "--done", "--date-format=now")
        return self.git.run("fast-import", *options, stdin=stdin).decode().strip()

    def push(self, sha: str) -> bool:
        """Move the branch from the tip to a commit; return False if the branch is not at the tip any more."""
        try:
            self.git.push("origin", sha, self.remote.branch, expect=self.tip or "", token=self.remote.token)
        except GitError:
            # The push may have arrived although its answer was lost.
            ref = f"refs/heads/{self.remote.branch}"
            newest = self.git.remote_refs("origin", ref, token=self.remote.token).get(ref)
            if newest == self.tip:
                raise
            return newest == sha
        return True


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


@contextmanager
def open_mirror(remote: Remote) -> Iterator[Mirror]:
    """Create a mirror with the newest commit, and delete it at the end."""
    with tempfile.TemporaryDirectory(prefix="infx-store-") as folder:
        bare = Path(folder)
        for name in ("objects", "refs"):
            (bare / name).mkdir()
        (bare / "HEAD").write_text("ref: refs/heads/none\n")
        (bare / "config").write_text(_CONFIG + f'[remote "origin"]\n\turl = {_quote(remote.url)}\n')
        git = Git(bare, variables={"GIT_DIR": folder})
        mirror = Mirror(git=git, remote=remote)
        mirror.fetch()
        yield mirror


def _quote(value: str) -> str:
    """Return a value as git's settings files write it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def find_url(git: Git) -> str | None:
    """Return the URL of a clone's `origin`, which is also valid in another folder."""
    url = git.origin_url()
    if url and "://" not in url and os.path.lexists(git.top / url):
        return str((git.top / url).resolve())
    return url
