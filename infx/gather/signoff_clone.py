"""What a pull request's commits say that a sign-off must know, read from git objects alone.

Nothing of the pull request is checked out or run; its files are bytes to read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from infx.codeowners import LOCATIONS
from infx.errors import InfxError
from infx.evidence.fingerprint import make_fingerprint
from infx.evidence.trees import find_rules
from infx.git import Git
from infx.policy.model import Policy
from infx.policy.paths import escape_glob, matches_any
from infx.policy.signoff import SignoffPolicy
from infx.signoff.facts import AddedLine, JudgedFile, RecipeFile, TextFile
from infx.signoff.planned import ConfigChange, ConfigState

MAX_TEXT = 1_000_000  # bytes of one file that is judged or scanned
MAX_RECIPES = 200
_HUNK = re.compile(rb"@@ -[0-9,]+ \+(\d+)[0-9,]* @@")
_UNREADABLE = re.compile(
    rb"Binary files |GIT binary patch|(?:new file mode|index [0-9a-f]+\.\.[0-9a-f]+) 1[26]0000"
)
# Whatever the user's configuration or a .gitmodules says.
_PLAIN_DIFF = (
    "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-indent-heuristic", "--diff-algorithm=myers",
    "--inter-hunk-context=0", "--submodule=short", "--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/",
    "-O/dev/null",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Revisions:
    """base: the target branch's tip. fork: where the pull request left it. head: its head. Full SHAs."""

    git: Git
    policy: Policy
    base: str
    fork: str
    head: str

    def texts(self, wanted: Sequence[tuple[str, str]]) -> list[str | None]:
        """Files as text, by revision and path; None for what is not there or no text that anybody could judge."""
        return [_as_text(data) for data in self.git.read_many(wanted)]

    def judged(self, *paths: str) -> tuple[JudgedFile, ...]:
        """As the target branch has them, and as they would be after the merge: only a change of its own counts."""
        revisions = (self.base, self.fork, self.head)
        texts = self.texts([(revision, path) for path in paths for revision in revisions])
        found = []
        for path, base, fork, head in zip(paths, texts[::3], texts[1::3], texts[2::3], strict=True):
            found.append(JudgedFile(path=path, base=base, head=base if fork == head else head))
        return tuple(found)

    def judged_folder(self, folder: str) -> tuple[JudgedFile, ...]:
        paths = {
            path
            for revision in (self.base, self.head)
            for path in self.git.list_files(revision, folder)
            if path.endswith((".yaml", ".yml"))
        }
        return self.judged(*sorted(paths))

    def commits(self) -> tuple[str, ...]:
        """Every commit that the pull request brings, oldest first; GitHub's own list ends at 250."""
        text = self.git.line("rev-list", "--reverse", self.head, f"^{self.base}")
        return tuple(text.split())

    def codeowners(self) -> TextFile | None:
        """GitHub's choice among the three places, on the target branch. An oversized file is kept, to be refused."""
        contents = self.git.read_many([(self.base, path) for path in LOCATIONS])
        for path, data in zip(LOCATIONS, contents, strict=True):
            if data is not None:
                return TextFile(path=path, text=data.decode(errors="replace"))
        return None

    def checklists(self) -> tuple[TextFile, ...]:
        paths = self.policy.signoff.paths.checklists
        texts = self.texts([(self.base, path) for path in paths])
        return tuple(TextFile(path=path, text=text) for path, text in zip(paths, texts, strict=True) if text)

    def waivers(self, number: int, body: str) -> tuple[JudgedFile, ...]:
        """This pull request's own, and those that the sign-off names."""
        folder = self.policy.signoff.paths.waivers
        named = re.findall(rf"{re.escape(folder)}/([\w-]{{1,60}})\.md", body)
        return self.judged(*dict.fromkeys(f"{folder}/{name}.md" for name in [str(number), *named[:20]]))

    def fingerprint(self) -> str:
        """Return the name of what the pull request changes; equal for two heads that bring the same."""
        changelog, masters = self.policy.changelog, self.policy.master_configs
        blobs = self.git.changed_blobs(self.fork, self.head)
        named = [changelog, *(path for path in masters if path in blobs)]
        found = self.git.read_many([(sha, path) for path in named for sha in (self.fork, self.head)])
        versions = dict(zip(named, zip(found[::2], found[1::2], strict=True), strict=True))
        others = {path: ids for path, ids in blobs.items() if path not in versions}
        return make_fingerprint(
            others, {p: v for p, v in versions.items() if p != changelog}, versions[changelog]
        )

    def added_lines(self) -> dict[str, tuple[AddedLine, ...] | None]:
        """Path → the lines that the pull request adds, None where they cannot be read as lines."""
        paths = self.git.changed_paths(self.fork, self.head)
        text = self.git.run("diff", *_PLAIN_DIFF, "-U0", self.fork, self.head)
        sections = re.split(rb"(?m)^diff --git ", text)[1:]
        if len(sections) != len(paths):  # a file that became a link, or the like, has two
            return dict.fromkeys(paths, None)
        return dict(zip(paths, map(_read_section, sections), strict=True))

    def later_paths(self, commit: str) -> tuple[str, ...] | None:
        """What differs between a commit and the head; None if the commit is not here."""
        if not self.git.has_commit(commit):
            return None
        return tuple(sorted(self.git.changed_paths(commit, self.head)))

    def edited_rules(self, commit: str, policy_path: str) -> tuple[str, ...] | None:
        """Workflows and the policy, where a commit has another state than the target branch ever had there."""
        if not self.git.has_commit(commit):
            return None
        fork = self.git.merge_base(self.base, commit)
        changed = self.git.changed_paths(fork, commit)
        return find_rules(changed, policy_path)

    def recipes(self, changes: tuple[ConfigChange, ...]) -> tuple[RecipeFile, ...]:
        """Files at the head that serve the affected configurations: named by them, or by the policy's globs."""
        served: dict[str, list[str]] = {}
        files = self.git.list_files(self.head)
        for change in changes:
            if change.after is None:
                continue
            for path in find_serving(files, change.after, self.policy.signoff):
                served.setdefault(path, []).append(change.key)
        paths = sorted(served)[:MAX_RECIPES]
        texts = self.texts([(self.head, path) for path in paths])
        return tuple(
            RecipeFile(path=path, text=text, keys=tuple(served[path]))
            for path, text in zip(paths, texts, strict=True)
            if text is not None
        )


def open_revisions(git: Git, policy: Policy, base: str, head: str) -> Revisions:
    """Raises an InfxError that says what to fetch where a commit is missing."""
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
    """Those of the files that a configuration names, or the policy's globs do for it."""
    globs = [_fill(glob, state) for glob in policy.paths.recipes]
    return [path for path in paths if path in state.recipes or matches_any(path, globs)]


def may_serve(path: str, masters: bytes, policy: SignoffPolicy) -> bool:
    """Whether a configuration in these bytes may name a file, or the globs do: quick, before any is parsed."""
    anything = [re.sub(r"\{[a-z-]+\}", "**", glob) for glob in policy.paths.recipes]
    globs = [glob.replace("**/**", "**") for glob in anything]  # two in a row try every folder of a long path
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
    """None for what no line tells: binary files, links, and submodules, of which only the commit's id is there."""
    added: list[AddedLine] = []
    number = 0
    in_hunk = False
    for line in section.split(b"\n"):
        if match := _HUNK.match(line):
            number, in_hunk = int(match[1]), True
        elif in_hunk and line.startswith(b"+"):
            added.append(AddedLine(number=number, text=line[1:].decode(errors="replace")))
            number += 1
        elif not in_hunk and _UNREADABLE.match(line):
            return None
    return tuple(added)
