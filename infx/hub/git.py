"""The hub's git repository, a real bare one, which provides commits, trees, diffs and test merges."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from infx.git import Git, ObjectReader
from infx.hub.files import read_refs, write_commit, write_ref
from infx.model import FileStatus

Files = Mapping[str, str | bytes | None]  # path → content; None removes it
ZERO = "0" * 40


@dataclass(frozen=True, kw_only=True)
class GitCommit:
    sha: str
    tree: str
    parents: tuple[str, ...]
    name: str
    email: str
    date: str  # ISO 8601
    message: str


@dataclass(frozen=True, kw_only=True)
class FileChange:
    path: str
    previous_path: str | None
    status: FileStatus
    blob: str
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True, kw_only=True)
class TestMerge:
    """The result of a test merge of a head into a base."""

    tree: str | None  # of the merge, None if there are conflicts
    conflicts: tuple[str, ...]  # paths


class BareRepository:
    def __init__(self, path: Path, branch: str) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.git = Git(path)
        self.git.run("init", "--quiet", "--bare", f"--initial-branch={branch}")
        self._reader: ObjectReader | None = None
        self._commits: set[str] = set()  # SHAs that are known to be commits; none is ever removed
        self._merges: dict[tuple[str, str], TestMerge] = {}
        self._bases: dict[tuple[str, str], str | None] = {}
        self._ranges: dict[tuple[str | None, str], list[str]] = {}
        self._diffs: dict[tuple[str, str], tuple[FileChange, ...]] = {}

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def object(self, name: str) -> tuple[str, str, bytes] | None:
        if self._reader is None:
            self._reader = ObjectReader(self.path)
        return self._reader.read(name)

    def resolve(self, name: str) -> str | None:
        """Return the SHA of the commit that a ref or SHA names."""
        # read from git every time, because someone may have pushed with git
        if not _NAME.fullmatch(name) or name.startswith("-") or ".." in name or "@{" in name:
            return None
        sha = self._read_loose(name) or name
        if sha in self._commits:
            return sha
        entry = self.object(f"{name}^{{commit}}")
        if entry is None:
            return None
        self._commits.add(entry[0])
        return entry[0]

    def _read_loose(self, name: str) -> str | None:
        """Return what the file of a ref says, which is faster than git; None for packed refs and other names."""
        if not name.startswith("refs/"):
            return None
        try:
            return (self.path / name).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return None

    def file(self, revision: str, path: str) -> tuple[str, str, bytes] | None:
        return self.object(f"{revision}:{path}")

    def commit(self, sha: str) -> GitCommit:
        entry = self.object(sha)
        if entry is None or entry[1] != "commit":
            raise KeyError(sha)
        return _parse_commit(sha, entry[2])

    def write_commits(
        self, ref: str, changes: Sequence[tuple[Files, str]], *, author: str, seconds: int, start: str | None
    ) -> str:
        """Write a commit for each (files, message) on top of `start` (None: no parent), and move the ref."""
        stream = bytearray()
        for number, (files, message) in enumerate(changes):
            text = message.encode()
            who = f"{author} <{author}@users.noreply.github.com> {seconds + number} +0000"
            stream += f"commit {ref}\nauthor {who}\ncommitter {who}\ndata {len(text)}\n".encode() + text
            parent = (start if number == 0 else None) or ""
            stream += f"\nfrom {parent}\n".encode() if parent else b"\n"
            for path, content in files.items():
                stream += _fast_import_line(path, content)
        reset = f"reset {ref}\n".encode() if start is None else b""
        self.git.run("fast-import", "--quiet", "--force", stdin=reset + bytes(stream) + b"\ndone\n")
        sha = self.resolve(ref)
        assert sha is not None
        return sha

    def update_ref(self, ref: str, sha: str | None) -> None:
        if (sha is None or self.resolve(ref) != sha) and not write_ref(self.path, ref, sha):
            self.git.run("update-ref", *(["-d", ref] if sha is None else [ref, sha]))

    def refuse_workflow_files(self, is_on: bool) -> None:
        """Refuse pushes that change workflow files, as GitHub does for a token without the permission."""
        hook = self.path / "hooks" / "pre-receive"
        if is_on:
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(_REFUSE_WORKFLOWS, encoding="utf-8")
            hook.chmod(0o755)
        else:
            hook.unlink(missing_ok=True)

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        refs = read_refs(self.path)
        if refs is None:
            text = self.git.run("for-each-ref", "--format=%(refname) %(objectname)").decode()
            refs = dict(line.split(" ", 1) for line in text.splitlines())
        return {name: sha for name, sha in refs.items() if name.startswith(prefix)}

    def restore_refs(self, refs: Mapping[str, str]) -> None:
        now = self.refs()
        for name in now.keys() - refs.keys():
            self.update_ref(name, None)
        for name, sha in refs.items():
            self.update_ref(name, sha)

    def merge_base(self, first: str, second: str) -> str | None:
        if (first, second) not in self._bases:
            output = self.git.call("merge-base", first, second)
            self._bases[first, second] = output.stdout.decode().strip() or None
        return self._bases[first, second]

    def test_merge(self, base: str, head: str) -> TestMerge:
        if (base, head) not in self._merges:
            self._merges[base, head] = self._merge_tree(base, head)
        return self._merges[base, head]

    def _merge_tree(self, base: str, head: str) -> TestMerge:
        output = self.git.call("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, head)
        tree, *paths = output.stdout.decode(errors="surrogateescape").split("\0")
        if output.code == 0:
            return TestMerge(tree=tree, conflicts=())
        return TestMerge(tree=None, conflicts=tuple(sorted({path for path in paths if path})))

    def commit_tree(
        self, tree: str, parents: Sequence[str], message: str, *, author: str, seconds: int
    ) -> str:
        who = f"{author} <{author}@users.noreply.github.com> {seconds} +0000"
        return write_commit(self.path, tree, parents, message, who)

    def commits_between(self, base: str | None, head: str) -> list[str]:
        """Return the SHAs that `head` has and `base` lacks, oldest first, or all without a base."""
        if (base, head) not in self._ranges:
            without = [f"^{base}"] if base else []
            text = self.git.run("rev-list", "--reverse", "--topo-order", head, *without)
            self._ranges[base, head] = text.decode().split()
        return self._ranges[base, head]

    def touched(self, shas: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """Return SHA → A, M or D → paths that the commit added, changed or removed (none for a merge)."""
        options = ("-r", "--root", "--name-status", "--no-renames", "-z")
        output = self.git.run(
            "diff-tree", "--stdin", *options, stdin="".join(f"{sha}\n" for sha in shas).encode()
        )
        touched: dict[str, dict[str, list[str]]] = {sha: {"A": [], "M": [], "D": []} for sha in shas}
        parts = iter(output.decode(errors="replace").split("\0"))
        sha = ""
        for part in parts:
            if part in touched:
                sha = part
            elif part:
                touched[sha].get(part, touched[sha]["M"]).append(next(parts))
        return touched

    def changes(self, base: str, head: str) -> tuple[FileChange, ...]:
        """Return what `head` changes since the merge base with `base`, in the order of the paths."""
        start = self.merge_base(base, head) or base
        if (start, head) not in self._diffs:
            self._diffs[start, head] = self._diff(start, head)
        return self._diffs[start, head]

    def _diff(self, start: str, head: str) -> tuple[FileChange, ...]:
        options = ("--find-renames", "--no-ext-diff", "--no-color", "--full-index", start, head)
        raw = self.git.run("diff", "--raw", "--no-abbrev", "-z", *options)
        patches = re.split(rb"(?m)^diff --git .*\n", self.git.run("diff", *options))[1:]
        entries = _parse_raw(raw.decode(errors="surrogateescape"))
        return tuple(
            _file_change(*entry, patch.decode(errors="replace"))
            for entry, patch in zip(entries, patches, strict=True)
        )


# Characters that git allows in a ref's name; with ":", "^" or "~" the name would mean something else.
_NAME = re.compile(r"[^\x00-\x20\x7f~^:?*\[\\]+")


_REFUSE_WORKFLOWS = """\
#!/bin/sh
while read -r old new ref; do
  case "$new" in *[!0]*) ;; *) continue ;; esac
  case "$old" in *[!0]*) ;; *) old=$(git merge-base HEAD "$new") ;; esac
  file=$(git diff --name-only "$old" "$new" -- .github/workflows/ | head -n 1)
  if [ -n "$file" ]; then
    echo "refusing to allow a GitHub App to create or update workflow \\`$file\\` without \\`workflows\\` permission" >&2
    exit 1
  fi
done
"""


def _fast_import_line(path: str, content: str | bytes | None) -> bytes:
    name = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if content is None:
        return f"D {name}\n".encode()
    data = content.encode() if isinstance(content, str) else content
    return f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n"


def _parse_commit(sha: str, data: bytes) -> GitCommit:
    head, _, message = data.decode(errors="replace").partition("\n\n")
    lines = [line.partition(" ") for line in head.split("\n")]
    fields = {key: value for key, _, value in reversed(lines)}
    match = re.fullmatch(r"(.*) <(.*)> (\d+) [+-]\d{4}", fields["committer"])
    assert match is not None
    date = datetime.fromtimestamp(int(match[3]), UTC).isoformat().replace("+00:00", "Z")
    parents = tuple(value for key, _, value in lines if key == "parent")
    return GitCommit(
        sha=sha,
        tree=fields["tree"],
        parents=parents,
        name=match[1],
        email=match[2],
        date=date,
        message=message.rstrip("\n"),
    )


_STATUS = {
    "A": FileStatus.ADDED,
    "D": FileStatus.REMOVED,
    "M": FileStatus.MODIFIED,
    "R": FileStatus.RENAMED,
    "C": FileStatus.COPIED,
    "T": FileStatus.CHANGED,
}


def _parse_raw(text: str) -> list[tuple[FileStatus, str, str, str | None]]:
    """Parse the output of `git diff --raw -z` into (status, blob, path, previous path)."""
    parts = iter(text.split("\0"))
    entries = []
    for header in parts:
        if not header.startswith(":"):
            continue
        _, _, before, after, letter = header[1:].split(" ")
        status = _STATUS[letter[0]]
        first = next(parts)
        moved = status in {FileStatus.RENAMED, FileStatus.COPIED}
        path, previous = (next(parts), first) if moved else (first, None)
        entries.append((status, before if after == ZERO else after, path, previous))
    return entries


def _file_change(status: FileStatus, blob: str, path: str, previous: str | None, patch: str) -> FileChange:
    start = patch.find("@@ ")
    hunks = patch[start:].rstrip("\n") if start >= 0 else None
    lines = hunks.split("\n") if hunks else []
    return FileChange(
        path=path,
        previous_path=previous,
        status=status,
        blob=blob,
        additions=sum(line.startswith("+") for line in lines),
        deletions=sum(line.startswith("-") for line in lines),
        patch=hunks,
    )
