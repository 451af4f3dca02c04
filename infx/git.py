"""Run git: bytes in, bytes out, and a separate error class for each thing that may be missing.

The output depends only on the repository: git runs at the top of the working tree, and infx overrides every setting
and variable that changes git's output or files. git never starts a pager or asks for credentials, and a revision that
looks like an option is refused.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from infx.errors import UnavailableError
from infx.records import record

_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
}
# User variables that change git's output. Variables for the place of the repository and for access to it are kept.
_UNSET = (
    "GIT_ATTR_SOURCE", "GIT_CONFIG", "GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
    "GIT_LITERAL_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
)  # fmt: skip
# User settings that change how git prints, merges, writes or pushes, each with git's own default. Hooks do not run,
# because infx checks its own work.
_SETTINGS = {
    "color.diff": "false",
    "color.ui": "false",
    "core.abbrev": "auto",
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.bigFileThreshold": "512m",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.splitIndex": "false",
    "diff.algorithm": "default",
    "diff.colorMoved": "no",
    "diff.context": "3",
    "diff.dstPrefix": "b/",
    "diff.ignoreSubmodules": "none",
    "diff.indentHeuristic": "true",
    "diff.interHunkContext": "0",
    "diff.mnemonicPrefix": "false",
    "diff.noprefix": "false",
    "diff.orderFile": os.devnull,
    "diff.relative": "false",
    "diff.renameLimit": "1000",
    "diff.renames": "true",
    "diff.srcPrefix": "a/",
    "diff.submodule": "short",
    "diff.suppressBlankEmpty": "false",
    "gc.auto": "0",
    "i18n.commitEncoding": "UTF-8",
    "i18n.logOutputEncoding": "UTF-8",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "merge.conflictStyle": "merge",
    "merge.default": "text",
    "merge.directoryRenames": "conflict",
    "merge.renameLimit": "7000",
    "merge.renames": "true",
    "merge.renormalize": "false",
    "push.pushOption": "",
}
_OPTIONS = tuple(word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}"))
_CORRUPT = re.compile(r"corrupt|loose object|packfile \S|index file \S|invalid sha1|inflate")
# git's messages for a missing object; the reason depends on the kind of clone.
_MISSING = re.compile(
    r"promisor remote|bad object|unable to read (?!askpass)|(unable to find|could not read) [0-9a-f]{40}",
    re.IGNORECASE,
)
_FSCK = "Run git fsck, or clone again."
_DEEP = "Fetch with full history (fetch-depth: 0)."
_WHOLE = "Let git reach the remote (network, credentials), or clone without --filter."
_NEW_REPOSITORY = {"clone", "init"}  # run in `directory` itself, because the repository does not exist yet


class GitError(UnavailableError):
    """Raised when git fails or is not installed."""


class MissingRevisionError(GitError):
    """Raised when the repository does not contain a revision."""


class ShallowHistoryError(GitError):
    """Raised when the clone is too shallow to contain the merge base."""


class PartialCloneError(GitError):
    """Raised when git cannot fetch an object that a partial clone left out."""


class UnsafeRepositoryError(GitError):
    """Raised when git refuses a repository whose files belong to another user."""


class CorruptRepositoryError(GitError):
    """Raised when objects are missing or damaged."""


@record
class Output:
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def message(self) -> str:
        return self.stderr.decode(errors="replace").strip() or f"exit code {self.code}"


@record
class TestMerge:
    """The result of merging two commits without writing it anywhere."""

    __test__ = False  # pytest collects classes named Test…

    tree: str  # contains conflict markers in the files that conflict
    conflicts: tuple[str, ...]  # paths of those files


@dataclass(frozen=True)
class Git:
    """A repository, identified by any folder inside it."""

    directory: Path
    # environment variables of every call; `GIT_DIR` names a repository whatever the caller's environment says
    variables: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    # SHAs of commits that the repository is known to contain
    _known: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    @cached_property
    def top(self) -> Path:
        """The top of the working tree that contains `directory`; else `directory` itself.

        It is `directory` itself in a bare repository, and if the environment names the repository.
        """
        # Found without git, to save a process.
        start = self.directory.absolute()
        if "GIT_DIR" not in os.environ and start.is_dir():
            for folder in (start, *start.parents):
                if os.path.lexists(folder / ".git"):
                    return folder
                if all(os.path.lexists(folder / name) for name in ("HEAD", "objects", "refs")):
                    break
        return self.directory

    def call(
        self, *arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> Output:
        """Run git at the top of the working tree and return its output, also if it fails."""
        try:
            done = subprocess.run(
                ["git", *_OPTIONS, *arguments],
                cwd=self.directory if arguments[0] in _NEW_REPOSITORY else self.top,
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                env={**_environment(), **self.variables, **(env or {})},
                check=False,
            )
        except OSError as error:
            if not self.directory.is_dir():
                raise GitError(
                    "This folder does not exist.", hint="Check the path.", where=str(self.directory)
                ) from None
            raise GitError(
                f"git cannot be started: {error.strerror}.", hint="Install git, or add it to PATH."
            ) from None
        return Output(code=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def run(self, *arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        """Run git and return its standard output. Raises GitError with git's message if it fails."""
        output = self.call(*arguments, stdin=stdin, env=env)
        if output.code:
            command = next(word for word in arguments if not word.startswith("-"))
            raise self._explain(output, command)
        return output.stdout

    def line(self, *arguments: str) -> str:
        return os.fsdecode(self.run(*arguments)).strip()

    def root(self) -> Path:
        return Path(self.line("rev-parse", "--show-toplevel"))

    def origin_url(self) -> str | None:
        """Return the URL of the remote `origin`; None if there is none, and outside a repository.

        Raises GitError for a repository that git refuses to read.
        """
        output = self.call("config", "--get", "remote.origin.url")
        if url := os.fsdecode(output.stdout).strip():
            return url
        # `git config` treats a repository that git refuses to read as missing.
        probe = self.call("rev-parse", "--git-dir")
        if probe.code and (os.path.lexists(self.top / ".git") or "not a git repository" not in probe.message):
            raise self._explain(probe, "rev-parse")
        return None

    def remotes(self) -> dict[str, str]:
        """Return name → URL of every remote."""
        text = self.call("config", "--null", "--get-regexp", r"^remote\..*\.url$").stdout
        pairs = (os.fsdecode(item).partition("\n") for item in text.split(b"\0") if item)
        return {key.removeprefix("remote.").removesuffix(".url"): url for key, _, url in pairs}

    def commit(self, revision: str) -> str:
        """Return the full SHA of the commit that `revision` names. A full SHA is looked up only once."""
        if revision in self._known:
            return revision
        if not revision.strip("0"):
            raise MissingRevisionError(
                f"The revision {revision or '(empty)'} names no commit.",
                hint="An all-zero SHA means that a branch was just created or deleted; name another base.",
            )
        if revision.startswith("-"):
            raise MissingRevisionError(
                f"{revision!r} is an option, not a revision.", hint="Name a branch, a tag or a SHA."
            )
        output = self.call("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if output.code:
            # For git, a missing revision is not an error. In a partial clone git asks the remote first; but a partial
            # clone never leaves out commits, so that a missing commit was not fetched.
            asked_remote = re.search(rb"promisor remote|not our ref", output.stderr) and self.is_partial()
            if not asked_remote and (output.code != 1 or re.search(rb"(?m)^error:", output.stderr)):
                raise self._explain(output, "rev-parse")
            shallow = " The clone is shallow." if self.is_shallow() else ""
            raise MissingRevisionError(
                f"The revision {revision!r} is not in this repository.{shallow}",
                hint="Fetch it first, or check its spelling.",
            )
        sha = output.stdout.decode().strip()
        self._known.add(sha)
        return sha

    def commits(self, *revisions: str) -> list[str]:
        """Return what `commit` returns for each revision, with one process if all commits exist."""
        if all(revision.strip("0") and revision.isprintable() for revision in revisions):
            names = "".join(f"{revision}^{{commit}}\n" for revision in revisions)
            output = self.call("cat-file", "--batch-check=%(objectname)", stdin=os.fsencode(names))
            lines = output.stdout.decode(errors="replace").splitlines()
            self._known.update(line for line in lines if re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", line))
            if len(lines) == len(revisions) and self._known.issuperset(lines):
                return lines
        return [self.commit(revision) for revision in revisions]

    def merging(self) -> list[str]:
        """Return the commit that is being merged in the working tree; an empty list if there is no merge."""
        output = self.call("rev-parse", "--verify", "--quiet", "MERGE_HEAD")
        return output.stdout.decode().split()

    def is_shallow(self) -> bool:
        return self.call("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def is_partial(self) -> bool:
        """Return whether the clone left out objects (`--filter`), which git fetches when needed."""
        names = r"^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$"
        return self.call("config", "--get-regexp", names).code == 0

    def merge_base(self, one: str, other: str, *merging: str) -> str:
        """Return the newest common ancestor. Raises ShallowHistoryError if the clone does not contain it.

        merging: commits that are being merged into `other`, as if that merge were committed.
        """
        one, other = self.commit(one), self.commit(other)
        output = self.call("merge-base", one, other, *map(self.commit, merging))
        if output.code == 0:
            ancestor = output.stdout.decode().split()[0]
            self._known.add(ancestor)
            return ancestor
        if self.is_shallow():
            raise ShallowHistoryError(
                f"History too shallow: no merge base of {one[:12]} and {other[:12]} in this clone.",
                hint=_DEEP,
            )
        if output.code == 1:
            raise GitError(f"{one[:12]} and {other[:12]} have no common history.")
        raise self._explain(output, "merge-base")

    def read(self, revision: str, path: str) -> bytes | None:
        """Read a file's bytes at a revision; None if the file does not exist there."""
        return self.read_many([(revision, path)])[0]

    def read_many(self, wanted: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """Read files at their revisions with one process; None for each file that does not exist."""
        commits = {revision: self.commit(revision) for revision in dict.fromkeys(r for r, _ in wanted)}
        files = [(commits[revision], _clean_path(path)) for revision, path in wanted]
        if not files:
            return []
        names = [f"{commit}:{path}" for commit, path in files]
        stdin = os.fsencode("".join(f"{name}\n" for name in names))
        contents = _split_batch(self.run("cat-file", "--batch", stdin=stdin), names)
        for (commit, path), content in zip(files, contents, strict=True):
            if content is None:
                self._refuse_lost(commit, path)
        return contents

    def list_blobs(self, revision: str) -> dict[str, str]:
        """Return path → object id of every file at a revision."""
        text = self.run("ls-tree", "-r", "-z", "--full-tree", self.commit(revision))
        entries = (os.fsdecode(entry).split("\t", 1) for entry in text.split(b"\0") if entry)
        return {path: about.split(" ")[2] for about, path in entries}

    def list_objects(self) -> set[str]:
        """Return the ids of all objects in the repository, without those that a partial clone left out."""
        check = ("--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
        return set(self.run("cat-file", *check).decode().split())

    def read_skipped(self, path: str) -> bytes | None:
        """Read a file that a sparse checkout leaves out, from the index; None for any other file."""
        listed = self.run("--literal-pathspecs", "ls-files", "-t", "-z", "--", path)
        return self.run("cat-file", "blob", f":{_clean_path(path)}") if listed.startswith(b"S ") else None

    def _refuse_lost(self, commit: str, path: str) -> None:
        """Raise an error if a file that git reports as missing is in the tree, so that only its content is missing."""
        entry = self.run("ls-tree", "-z", "--full-tree", commit, "--", path)
        if entry.split(b" ", 2)[1:2] == [b"blob"]:
            fault = f"the content of {path} at {commit[:12]} is missing"
            if self.is_partial():
                raise PartialCloneError(f"The clone is partial: {fault}.", hint=_WHOLE)
            raise CorruptRepositoryError(f"The repository is damaged: {fault}.", hint=_FSCK)

    def fetch(
        self,
        remote: str,
        *refspecs: str,
        token: str | None = None,
        deepens: bool = False,
        only_tip: bool = False,
    ) -> None:
        """Fetch refs of a remote, overwriting local refs; delete local refs of a pattern that the remote lacks.

        Args:
            token: for GitHub over https, passed only through the environment.
            deepens: fetch the history that this shallow clone lacks; git refuses it in a clone that is not shallow.
            only_tip: fetch a single commit without the contents of its files. It makes the clone shallow and partial.
        """
        options = (
            "--quiet",
            "--force",
            "--prune",
            "--no-prune-tags",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
        )
        depth = ("--unshallow",) if deepens else ("--depth=1", "--filter=blob:none") if only_tip else ()
        self.run("fetch", *options, *depth, "--end-of-options", remote, *refspecs, env=_credentials(token))

    def remote_refs(self, remote: str, pattern: str, *, token: str | None = None) -> dict[str, str]:
        """Return name → SHA of a remote's refs that match a pattern such as `refs/pull/*/head`, without fetching."""
        text = self.run("ls-remote", "--refs", "--end-of-options", remote, pattern, env=_credentials(token))
        pairs = (line.split("\t", 1) for line in text.decode(errors="surrogateescape").splitlines())
        return {name: sha for sha, name in pairs}

    def push(self, remote: str, sha: str, branch: str, *, expect: str, token: str | None = None) -> None:
        """Move a remote's branch to a commit, if it still points to `expect`."""
        ref = f"refs/heads/{branch}"
        lease = f"--force-with-lease={ref}:{expect}"
        only_branch = ("--no-follow-tags", "--no-signed", "--recurse-submodules=no", "--no-verify")
        self.run("push", "--quiet", *only_branch, lease, remote, f"{sha}:{ref}", env=_credentials(token))

    def commit_file(
        self, tree: str, path: str, data: bytes, *, parents: Sequence[str], message: str, author: str
    ) -> str:
        """Create a commit from a tree (or another commit's tree) with new bytes for one file, and return its SHA.

        No branch and no working tree changes. author: a GitHub login.
        """
        blob = self.run("hash-object", "-w", "--stdin", stdin=data).decode().strip()
        mode = self.run("ls-tree", "--full-tree", tree, "--", path).decode().split(" ", 1)[0] or "100644"
        email = f"{author}@users.noreply.github.com"
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            for role in ("AUTHOR", "COMMITTER"):
                env |= {f"GIT_{role}_NAME": author, f"GIT_{role}_EMAIL": email}
            self.run("read-tree", tree, env=env)
            self.run("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}", env=env)
            new_tree = self.run("write-tree", "--missing-ok", env=env).decode().strip()
            options = [word for parent in parents for word in ("-p", parent)]
            return (
                self.run("commit-tree", new_tree, *options, stdin=message.encode(), env=env).decode().strip()
            )

    def refs(self, prefix: str) -> dict[str, str]:
        """Return name without the prefix → SHA of the refs below `prefix`."""
        text = self.run("for-each-ref", "--format=%(objectname) %(refname)", prefix).decode()
        pairs = (line.split(" ", 1) for line in text.splitlines())
        return {name.removeprefix(f"{prefix}/"): sha for sha, name in pairs}

    def has_commit(self, sha: str) -> bool:
        try:
            return bool(self.commit(sha))
        except MissingRevisionError:
            return False

    def is_ancestor(self, one: str, of: str) -> bool:
        """Return whether the history of `of`, as far as this clone goes back, contains `one`."""
        if not self.has_commit(one):
            return False
        output = self.call("merge-base", "--is-ancestor", one, self.commit(of))
        if output.code > 1:
            raise self._explain(output, "merge-base")
        return output.code == 0

    def message(self, revision: str) -> str:
        """Return the message of a commit as its author wrote it, without notes or other text from git."""
        header, _, text = self.run("cat-file", "commit", self.commit(revision)).partition(b"\n\n")
        encoding = re.search(rb"(?m)^encoding (\S+)$", header)
        try:
            return text.decode(encoding[1].decode() if encoding else "utf-8")
        except (
            LookupError,
            ValueError,
        ):  # the author chose the encoding; some of Python's codecs raise ValueError
            return text.decode(errors="replace")

    def first_parent(self, revision: str) -> str | None:
        """Return the first parent of a commit, even if the clone lacks it; None for a history's first commit."""
        header = self.run("cat-file", "commit", self.commit(revision)).partition(b"\n\n")[0]
        parent = re.search(rb"(?m)^parent ([0-9a-f]+)$", header)
        return parent[1].decode() if parent else None

    def last_change(self, since: str, head: str, path: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the newest commit after `since`, along first parents, that changed a file, and its parents."""
        options = ("--max-count=1", "--first-parent", self.commit(head), f"^{self.commit(since)}")
        newest = self.line("--literal-pathspecs", "rev-list", *options, "--", path)
        if not newest:
            return None
        sha, *parents = self.line("rev-list", "--parents", "--no-walk", newest).split()
        return sha, tuple(parents)

    def recent_changes(self, revision: str, path: str, since: datetime) -> list[tuple[str, datetime]]:
        """Return the commits along first parents that changed a file since a time, newest first, and their times.

        The first commit of a history is left out.
        """
        options = (
            "--first-parent",
            "--timestamp",
            f"--since={int(since.timestamp())}",
            self.commit(revision),
        )
        lines = self.line("--literal-pathspecs", "rev-list", *options, "--", path).splitlines()
        pairs = (line.split() for line in lines)
        return [(sha, datetime.fromtimestamp(int(seconds), UTC)) for seconds, sha in pairs]

    def changed_paths(self, base: str, head: str) -> list[str]:
        """Return the paths that differ between two revisions, with both sides of a rename."""
        options = ("-r", "--name-only", "--no-renames", "--ignore-submodules=none", "-z")
        text = self.run("diff-tree", *options, self.commit(base), self.commit(head))
        return [name.decode(errors="surrogateescape") for name in text.split(b"\0") if name]

    def changed_blobs(self, base: str, head: str) -> dict[str, tuple[str, ...]]:
        """Return path → modes and object ids of both sides, for every path that differs between two revisions."""
        options = (
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--ignore-submodules=none",
            "-O/dev/null",
        )
        text = self.run("diff-tree", *options, self.commit(base), self.commit(head))
        fields = text.decode(errors="surrogateescape").split("\0")
        return {
            path: tuple(raw[1:].split(" ")[:4]) for raw, path in zip(fields[::2], fields[1::2], strict=False)
        }

    def test_merge(self, base: str, head: str) -> TestMerge:
        """Merge two commits as GitHub does: without this clone's merge drivers and attributes."""
        base, head = self.commit(base), self.commit(head)
        output = self._merge_tree(base, head)
        if not _is_merge(output) and self.is_partial():
            # The merge runs in a separate repository, which has no remote to fetch from. git's diff, run here, fetches
            # all objects that it compares at once.
            fork = self.merge_base(base, head)
            for side in (base, head):
                self.run("diff-tree", "-r", "--numstat", "--no-renames", fork, side)
            output = self._merge_tree(base, head)
        if not _is_merge(output):
            raise self._explain(output, "merge-tree")
        tree, *files = [part.decode(errors="surrogateescape") for part in output.stdout.split(b"\0") if part]
        return TestMerge(tree=tree, conflicts=tuple(dict.fromkeys(files)) if output.code else ())

    def _merge_tree(self, base: str, head: str) -> Output:
        """Run the merge in an empty repository that uses the objects of this one."""
        paths = self.line("rev-parse", "--git-path", "objects", "--git-path", "shallow").splitlines()
        objects, shallow = ((self.top / path).resolve() for path in paths)
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            bare = Path(folder)
            for name in ("objects", "refs"):
                (bare / name).mkdir()
            (bare / "HEAD").write_text("ref: refs/heads/none\n")
            if shallow.exists():
                (bare / "shallow").write_bytes(shallow.read_bytes())
            env = {
                "GIT_DIR": folder,
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_ATTR_NOSYSTEM": "1",
            }
            options = ("--write-tree", "-z", "--name-only", "--no-messages")
            # In that folder, because git reads the .gitattributes of the folder that it is called in.
            return Git(bare).call("merge-tree", *options, base, head, env=env)

    def _explain(self, output: Output, command: str) -> GitError:
        """Return the error for a failure: no repository, another owner, a partial or shallow clone, or damage."""
        text = output.message
        is_missing, is_corrupt = _MISSING.search(text), _CORRUPT.search(text)
        if is_missing and not is_corrupt and self.is_partial():
            return PartialCloneError(
                f"The clone is partial, and git cannot fetch the rest: {text}.", hint=_WHOLE
            )
        if "not a git repository" in text:
            return GitError(
                f"{self.directory} is not inside a git repository.", hint="Run the command inside a clone."
            )
        if "dubious ownership" in text:
            first = text.splitlines()[0].removeprefix("fatal: ")
            remedy = f"If you trust its files: git config --global --add safe.directory {self.top.absolute()}"
            return UnsafeRepositoryError(f"git does not read this repository: {first}.", hint=remedy)
        if (is_missing or "unrelated histories" in text) and self.is_shallow():
            return ShallowHistoryError(f"History too shallow: {text}.", hint=_DEEP)
        if is_missing or is_corrupt:
            return CorruptRepositoryError(f"The repository is damaged: {text}.", hint=_FSCK)
        return GitError(f"git {command} failed: {' '.join(text.split())}.")  # an error is one line

    def list_files(self, revision: str, *paths: str) -> list[str]:
        """Return the paths of the files below `paths` at a revision; of all files if no path is given."""
        text = self.run(
            "ls-tree", "-r", "-z", "--name-only", "--full-tree", self.commit(revision), "--", *paths
        )
        return [os.fsdecode(name) for name in text.split(b"\0") if name]


def _is_merge(output: Output) -> bool:
    """Return whether git made a merge."""
    # git treats a folder that it cannot read as empty and reports a successful merge, with an error on stderr.
    return output.code in {0, 1} and not re.search(rb"(?m)^error: ", output.stderr)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _UNSET} | _ENVIRONMENT


def _clean_path(path: str) -> str:
    """Return a path relative to the root, without `./` and `../`. Raises GitError for a path outside."""
    clean = posixpath.normpath(path)
    if clean == "." or clean.startswith(("/", "../")) or "\n" in path or "\0" in path:
        raise GitError(f"{path!r} is not a path inside the repository.")
    return clean


def _credentials(token: str | None) -> dict[str, str]:
    """Return variables that pass a token to one git call, so that no process list and no file shows it."""
    if token is None:
        return {}
    import base64

    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    callers_count = os.environ.get("GIT_CONFIG_COUNT", "")
    count = int(callers_count) if callers_count.isdecimal() else 0  # keeps settings that the caller passed
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": "http.extraHeader",
        f"GIT_CONFIG_VALUE_{count}": f"Authorization: Basic {basic}",
    }


def _split_batch(text: bytes, names: Sequence[str]) -> list[bytes | None]:
    result: list[bytes | None] = []
    position = 0
    for name in names:
        end = text.find(b"\n", position)
        header = text[position:end].rsplit(b" ", 2)
        if text[position:end].endswith((b" missing", b" ambiguous")):
            result.append(None)
            position = end + 1
            continue
        if len(header) != 3 or not header[2].isdigit():
            raise CorruptRepositoryError(f"Unexpected git output about {name}.", hint=_FSCK)
        size = int(header[2])
        result.append(text[end + 1 : end + 1 + size] if header[1] == b"blob" else None)
        position = end + 1 + size + 1
    return result


class ObjectReader:
    """One `git cat-file --batch` process that reads many objects; it looks up refs again for each."""

    def __init__(self, directory: Path, variables: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            ["git", *_OPTIONS, "cat-file", "--batch"],
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**_environment(), **(variables or {})},
        )

    def read(self, name: str) -> tuple[str, str, bytes] | None:
        """Return SHA, type and bytes of the object that `main` or `main:README.md` names; None if it is missing."""
        if "\n" in name or self._process.stdin is None or self._process.stdout is None:
            return None
        self._process.stdin.write(f"{name}\n".encode())
        self._process.stdin.flush()
        header = self._process.stdout.readline().decode().rsplit(" ", 2)
        if len(header) != 3 or not header[2].strip().isdigit():
            return None
        sha, kind, size = header
        data = self._process.stdout.read(int(size) + 1)
        return sha, kind, data[:-1]

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()
