"""Read what a sign-off needs to know about a pull request's commits, from git objects alone.

Files of the pull request are read as bytes; none is checked out or run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from infx.codeowners import LOCATIONS
from infx.errors import InfxError
from infx.evidence.fingerprint import make_fingerprint
from infx.evidence.trees import find_rules
from infx.git import Git
from infx.policy.model import Policy
from infx.policy.paths import escape_glob, matches_any
from infx.policy.signoff import SignoffPolicy
from infx.records import record
from infx.signoff.facts import AddedLine, JudgedFile, RecipeFile, TextFile
from infx.signoff.planned import ConfigChange, ConfigState

MAX_TEXT = 1_000_000  # bytes of one file that is judged or scanned
MAX_RECIPES = 200
_HUNK = rb"@@ -[0-9,]+ \+(\d+)[0-9,]* @@"
_UNREADABLE = re.compile(
    rb"Binary files |GIT binary patch|(?:new file mode|index [0-9a-f]+\.\.[0-9a-f]+) 1[26]0000"
)
# These options override the user's configuration and .gitmodules.
_PLAIN_DIFF = (
    "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-indent-heuristic", "--diff-algorithm=myers",
    "--inter-hunk-context=0", "--submodule=short", "--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/",
    "-O/dev/null",
)  # fmt: skip


@record
class Revisions:
    """The revisions of a pull request, as full SHAs."""

    git: Git
    policy: Policy
    base: str  # the target branch's tip
    fork: str  # the merge base
    head: str

    def read_texts(self, wanted: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return files as text, by revision and path; None for a missing, binary or oversized file."""
        return [_as_text(data) for data in self.git.read_many(wanted)]

    def read_judged(self, *paths: str) -> tuple[JudgedFile, ...]:
        """Return files as they are on the target branch and as they would be after the merge."""
        revisions = (self.base, self.fork, self.head)
        texts = self.read_texts([(revision, path) for path in paths for revision in revisions])
        files = []
        for path, base, fork, head in zip(paths, texts[::3], texts[1::3], texts[2::3], strict=True):
            # A file that the pull request does not change is the target branch's.
            files.append(JudgedFile(path=path, base=base, head=base if fork == head else head))
        return tuple(files)

    def read_judged_folder(self, folder: str) -> tuple[JudgedFile, ...]:
        paths = {
            path
            for revision in (self.base, self.head)
            for path in self.git.list_files(revision, folder)
            if path.endswith((".yaml", ".yml"))
        }
        return self.read_judged(*sorted(paths))

    def list_commits(self) -> tuple[str, ...]:
        """Return every commit that the pull request adds, oldest first; GitHub's own list ends at 250."""
        text = self.git.line("rev-list", "--reverse", self.head, f"^{self.base}")
        return tuple(text.split())

    def read_codeowners(self) -> TextFile | None:
        """Return the CODEOWNERS file that GitHub uses on the target branch, or None."""
        contents = self.git.read_many([(self.base, path) for path in LOCATIONS])
        for path, data in zip(LOCATIONS, contents, strict=True):
            if data is not None:
                # Even an oversized file is returned, so that it is refused later.
                return TextFile(path=path, text=data.decode(errors="replace"))
        return None

    def read_checklists(self) -> tuple[TextFile, ...]:
        paths = self.policy.signoff.paths.checklists
        texts = self.read_texts([(self.base, path) for path in paths])
        return tuple(TextFile(path=path, text=text) for path, text in zip(paths, texts, strict=True) if text)

    def read_waivers(self, number: int, body: str) -> tuple[JudgedFile, ...]:
        """Return the waivers of this pull request and those that the sign-off names."""
        folder = self.policy.signoff.paths.waivers
        named = re.findall(rf"{re.escape(folder)}/([\w-]{{1,60}})\.md", body)
        return self.read_judged(*dict.fromkeys(f"{folder}/{name}.md" for name in [str(number), *named[:20]]))

    def make_fingerprint(self) -> str:
        """Return the fingerprint of the changes, which two heads with the same changes share."""
        changelog, masters = self.policy.changelog, self.policy.master_configs
        blobs = self.git.changed_blobs(self.fork, self.head)
        paths = [changelog, *(path for path in masters if path in blobs)]
        contents = self.git.read_many([(sha, path) for path in paths for sha in (self.fork, self.head)])
        versions = dict(zip(paths, zip(contents[::2], contents[1::2], strict=True), strict=True))
        others = {path: ids for path, ids in blobs.items() if path not in versions}
        changed_masters = {path: pair for path, pair in versions.items() if path != changelog}
        return make_fingerprint(others, changed_masters, versions[changelog])

    def read_added_lines(self) -> dict[str, tuple[AddedLine, ...] | None]:
        """Return path → the lines that the pull request adds; None for a file without readable lines."""
        paths = self.git.changed_paths(self.fork, self.head)
        text = self.git.run("diff", *_PLAIN_DIFF, "-U0", self.fork, self.head)
        sections = re.split(rb"(?m)^diff --git ", text)[1:]
        if len(sections) != len(paths):  # for example, a file that became a link has two sections
            return dict.fromkeys(paths, None)
        return dict(zip(paths, map(_read_section, sections), strict=True))

    def find_later_paths(self, commit: str) -> tuple[str, ...] | None:
        """Return the paths that differ between a commit and the head; None if the commit is missing."""
        if not self.git.has_commit(commit):
            return None
        return tuple(sorted(self.git.changed_paths(commit, self.head)))

    def find_edited_rules(self, commit: str, policy_path: str) -> tuple[str, ...] | None:
        """Return the workflows and policy files that a commit changed; None if the commit is missing."""
        if not self.git.has_commit(commit):
            return None
        fork = self.git.merge_base(self.base, commit)
        changed = self.git.changed_paths(fork, commit)
        return find_rules(changed, policy_path)

    def read_recipes(self, changes: tuple[ConfigChange, ...]) -> tuple[RecipeFile, ...]:
        """Return the files at the head that serve the affected configurations."""
        served: dict[str, list[str]] = {}
        files = self.git.list_files(self.head)
        for change in changes:
            if change.after is None:
                continue
            for path in find_serving(files, change.after, self.policy.signoff):
                served.setdefault(path, []).append(change.key)
        paths = sorted(served)[:MAX_RECIPES]
        texts = self.read_texts([(self.head, path) for path in paths])
        return tuple(
            RecipeFile(path=path, text=text, keys=tuple(served[path]))
            for path, text in zip(paths, texts, strict=True)
            if text is not None
        )


def open_revisions(git: Git, policy: Policy, base: str, head: str) -> Revisions:
    """Return the revisions of a pull request. Raise InfxError if a commit must be fetched first."""
    try:
        base, head = git.commit(base), git.commit(head)
    except InfxError as error:
        error.hint = "Fetch the target branch and the pull request's head first."
        raise
    return Revisions(git=git, policy=policy, base=base, fork=git.merge_base(base, head), head=head)


def _as_text(data: bytes | None) -> str | None:
    if data is None or len(data) > MAX_TEXT or b"\0" in data:
        return None
    return data.decode(errors="replace")


def find_serving(paths: Sequence[str], state: ConfigState, policy: SignoffPolicy) -> list[str]:
    """Return the files that serve a configuration: named by it, or matched by the policy's globs."""
    globs = [_fill(glob, state) for glob in policy.paths.recipes]
    return [path for path in paths if path in state.recipes or matches_any(path, globs)]


def may_serve(path: str, masters: bytes, policy: SignoffPolicy) -> bool:
    """Return whether a file may serve a configuration; a quick check before the master files are parsed."""
    wildcards = [re.sub(r"\{[a-z-]+\}", "**", glob) for glob in policy.paths.recipes]
    globs = [glob.replace("**/**", "**") for glob in wildcards]  # two in a row would be slow on a long path
    name = path.rpartition("/")[2]
    return name.encode() in masters or matches_any(path, globs)


def _fill(glob: str, state: ConfigState) -> str:
    fields = {
        "model-prefix": state.model_prefix,
        "precision": state.precision,
        "hardware": state.hardware,
        "framework": state.framework,
    }
    return re.sub(r"\{([a-z-]+)\}", lambda match: escape_glob(fields.get(match[1], "")), glob)


def _read_section(section: bytes) -> tuple[AddedLine, ...] | None:
    """Return the added lines of one file's diff; None for binary files, links and submodules."""
    added: list[AddedLine] = []
    number = 0
    in_hunk = False
    for line in section.split(b"\n"):
        if match := re.match(_HUNK, line):
            number, in_hunk = int(match[1]), True
        elif in_hunk and line.startswith(b"+"):
            added.append(AddedLine(number=number, text=line[1:].decode(errors="replace")))
            number += 1
        elif not in_hunk and _UNREADABLE.match(line):
            return None
    return tuple(added)
