"""Results of git do not depend on the current folder, the user's settings or the environment."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infx.gather.signoff_clone import open_revisions
from infx.git import Git
from infx.policy.load import default_policy
from tests.calling import call
from tests.changelog.samples import BASE, PATH, new
from tests.repository import Repository

MESSAGE = "größer [skip-sweep]\n\nBody without sign-off.\n"
SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n -----END PGP SIGNATURE-----\n"
SETTINGS = [
    ("color.diff", "always"), ("color.ui", "always"), ("commit.gpgSign", "true"), ("core.abbrev", "4"),
    ("core.attributesFile", "{attributes}"), ("core.autocrlf", "true"), ("core.bigFileThreshold", "1"),
    ("core.fsmonitor", "{fails}"), ("core.ignoreCase", "true"), ("core.pager", "false"), ("core.quotePath", "true"),
    ("core.safecrlf", "true"), ("core.splitIndex", "true"), ("core.useReplaceRefs", "true"),
    ("diff.algorithm", "patience"), ("diff.colorMoved", "zebra"), ("diff.context", "0"), ("diff.dirstat", "lines"),
    ("diff.external", "{fails}"), ("diff.ignoreSubmodules", "all"), ("diff.indentHeuristic", "false"),
    ("diff.interHunkContext", "90"), ("diff.mnemonicPrefix", "true"), ("diff.noprefix", "true"),
    ("diff.orderFile", "{order}"), ("diff.relative", "true"), ("diff.renames", "copies"), ("diff.submodule", "log"),
    ("diff.suppressBlankEmpty", "true"), ("diff.wsErrorHighlight", "all"), ("format.pretty", "raw"),
    ("i18n.commitEncoding", "ISO-8859-1"), ("i18n.logOutputEncoding", "UTF-16"), ("log.decorate", "full"),
    ("log.follow", "true"), ("log.showSignature", "true"), ("merge.conflictStyle", "diff3"), ("merge.default", "union"),
    ("merge.directoryRenames", "true"), ("merge.renames", "false"), ("merge.renormalize", "true"),
]  # fmt: skip
VARIABLES = [
    ("GIT_ATTR_SOURCE", "HEAD"), ("GIT_CONFIG", "/dev/null"), ("GIT_DIFF_OPTS", "--unified=0"), ("GIT_EXTERNAL_DIFF", "{fails}"),
    ("GIT_GLOB_PATHSPECS", "1"), ("GIT_ICASE_PATHSPECS", "1"), ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NOGLOB_PATHSPECS", "1"), ("GIT_PAGER", "false"), ("LC_ALL", "de_DE.UTF-8"),
]  # fmt: skip


class Place:
    """A clone with two branches that conflict, and an empty user configuration."""

    def __init__(self, folder: Path) -> None:
        self.clone = Repository.init(folder / "clone")
        self.configuration = folder / "gitconfig"
        self.files = {name: folder / name for name in ("attributes", "order", "fails")}
        self.files["attributes"].write_text("* -diff merge=union\n")
        self.files["order"].write_text("sub/*\n")
        self.files["fails"].write_text("#!/bin/sh\nexit 1\n")
        self.files["fails"].chmod(0o755)
        git = self.clone.git
        git.run("remote", "add", "origin", "https://github.com/acme/bench.git")
        start = self.clone.commit(
            {PATH: BASE, "a.sh": "1\n\n2\n" * 9, "sub/b.sh": "b\n" * 9, "old/c": "c\n" * 9}
        )
        self.clone.branch("feat")
        (self.clone.path / "old").rename(self.clone.path / "moved")
        last = self.clone.commit({PATH: BASE + new(), "a.sh": "1\n\n2\n" * 8 + "1\n\n3\n", "sub/b.sh": "x\n"})
        text = git.run("cat-file", "commit", last).decode().partition("\n\n")[0]
        signed = f"{text}\n{SIGNATURE}\n{MESSAGE}".encode()
        self.head = git.run("hash-object", "-w", "-t", "commit", "--stdin", stdin=signed).decode().strip()
        git.run("update-ref", "refs/heads/feat", self.head)
        self.clone.checkout("main")
        ours: dict[str, str | bytes] = {
            PATH: BASE + new(key="other"),
            "old/d": "d\n",
            "a.sh": "1\n\n2\n" * 9 + "3\n",
        }
        self.base = self.clone.commit(ours)
        self.start = start
        self.clone.checkout("feat")

    def answers(self, folder: str = "") -> dict[str, Any]:
        """Return everything that infx asks git about two commits."""
        git = Git(self.clone.path / folder)
        base, head = self.base, self.head
        revisions = open_revisions(git, default_policy(), base, head)
        merged = git.test_merge(base, head)
        parents, message = (head, base), "Merge größer"
        new_commit = git.commit_file(
            merged.tree, PATH, b"x\n", parents=parents, message=message, author="bot"
        )
        return {
            "message": git.message(head),
            "paths": git.changed_paths(base, head),
            "files": git.list_files(head),
            "read": git.read_many([(head, "a.sh"), (head, "sub/b.sh"), (base, "../b.sh"[3:])]),
            "fork": git.merge_base(base, head),
            "merge": merged,
            "made": re.sub(rb"\d{10} .*", b"", git.run("cat-file", "commit", new_commit)),
            "last": git.last_change(self.start, head, PATH),
            "blobs": git.changed_blobs(self.start, head),
            "lines": revisions.read_added_lines(),
            "print": revisions.make_fingerprint(),
            "origin": git.origin_url(),
            "commits": revisions.list_commits(),
        }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("settings"))


@pytest.fixture(scope="module")
def expected(place: Place) -> dict[str, Any]:
    return place.answers()


@pytest.fixture
def settings(place: Place, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that writes the user's configuration, with the names of the place's files in it."""

    def write(*pairs: tuple[str, str]) -> None:
        place.configuration.write_text("")
        for name, value in pairs:
            text = value.format(**place.files)
            place.clone.git.run("config", "--file", str(place.configuration), name, text)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(place.configuration))

    return write


def test_the_expected_answers_are_correct(place: Place, expected: dict[str, Any]) -> None:
    """Check the values that the tests below compare with against values found by reasoning."""
    assert expected["message"] == MESSAGE
    assert expected["paths"] == [
        "a.sh", "moved/c", "old/c", "old/d", PATH, "sub/b.sh",
    ]  # fmt: skip
    assert expected["fork"] == place.start
    assert PATH in expected["merge"].conflicts
    assert expected["last"] == (place.head, (place.start,))
    assert list(expected["blobs"]) == ["a.sh", "moved/c", "old/c", PATH, "sub/b.sh"]
    assert {path: len(lines or ()) for path, lines in expected["lines"].items()} == {
        "a.sh": 1, "moved/c": 9, "old/c": 0, PATH: new().count(b"\n"), "sub/b.sh": 1,
    }  # fmt: skip


@pytest.mark.parametrize("folder", ["sub", "moved", ".git", ".git/refs"])
def test_every_folder_has_the_same_answers(place: Place, expected: dict[str, Any], folder: str) -> None:
    assert place.answers(folder) == expected


@pytest.mark.parametrize(("name", "value"), SETTINGS, ids=[name for name, _ in SETTINGS])
def test_no_setting_changes_an_answer(
    place: Place, expected: dict[str, Any], settings: Callable[..., None], name: str, value: str
) -> None:
    settings((name, value))
    assert place.answers("sub") == expected


def test_all_settings_together_change_no_answer(
    place: Place, expected: dict[str, Any], settings: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Include the repository's own settings, which override the user's."""
    settings(*SETTINGS)
    assert place.answers("sub") == expected
    local = place.clone.path / ".git/config"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    before = local.read_text()
    try:
        local.write_text(before + place.configuration.read_text())
        assert place.answers("sub") == expected
    finally:
        local.write_text(before)


@pytest.mark.parametrize(("name", "value"), VARIABLES, ids=[name for name, _ in VARIABLES])
def test_no_variable_changes_an_answer(
    place: Place, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value.format(**place.files))
    assert place.answers("sub") == expected


@pytest.mark.parametrize("folder", ["", "sub"])
def test_commands_report_the_same_everywhere(
    place: Place,
    settings: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
) -> None:
    """Report only the unknown key, with both commands."""
    settings(*SETTINGS)
    monkeypatch.chdir(place.clone.path / folder)
    options = ["--base-ref", "main", "--head-ref", "feat", "--format", "json"]
    called = call("changelog", "validate", *options)
    assert called.code == 1
    assert '"config-unexpanded"' in called.out
    called = call("plan", *options)
    assert called.code == 2
    assert "configs/runners.yaml does not exist" in called.err


def test_a_push_runs_no_hook_and_pushes_nothing_else(
    place: Place, tmp_path: Path, settings: Callable[..., None]
) -> None:
    bare = tmp_path / "bare.git"
    git = place.clone.git
    git.run("init", "--quiet", "--bare", str(bare))
    git.run("tag", "--annotate", "--message", "x", "v1", place.head)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-push").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-push").chmod(0o755)
    settings(("core.hooksPath", str(hooks)), ("push.followTags", "true"), ("push.pushOption", "ci.skip"))
    git.push(str(bare), place.head, "feat", expect="")
    assert Git(bare).refs("refs") == {"heads/feat": place.head}
    git.run("tag", "--delete", "v1")


def test_a_fetch_deletes_no_tag_of_the_user(
    place: Place, tmp_path: Path, settings: Callable[..., None]
) -> None:
    clone = Repository(tmp_path / "clone")
    place.clone.git.run("clone", "--quiet", str(place.clone.path), str(clone.path))
    clone.git.run("tag", "mine", "HEAD")
    settings(("fetch.prune", "true"), ("fetch.pruneTags", "true"))
    clone.git.fetch("origin", "refs/heads/feat:refs/infx/pull/77")
    assert "tags/mine" in clone.git.refs("refs")


@pytest.mark.parametrize("name", ["latin", "unknown", "undefined", "nul"])
def test_a_message_in_another_encoding_is_read(place: Place, name: str) -> None:
    git = place.clone.git
    header = git.run("cat-file", "commit", place.base).decode().partition("\n\n")[0]
    encoding = {"latin": "ISO-8859-1", "unknown": "x-none", "nul": "latin1\0"}.get(name, name)
    text = f"{header}\nencoding {encoding}\n\ngrößer\n".encode("latin-1")
    sha = git.run("hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=text).decode().strip()
    assert git.message(sha) == ("größer\n" if name == "latin" else "gr\ufffd\ufffder\n")


def test_credentials_are_added_to_settings_of_the_environment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep settings that a caller passes the same way, such as `safe.directory`."""
    from infx.git import _credentials

    for name, value in (("COUNT", "1"), ("KEY_0", "infx.given"), ("VALUE_0", "yes")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    names = (
        place.clone.git.run("config", "--list", "--name-only", env=_credentials("secret")).decode().split()
    )
    assert {"infx.given", "http.extraheader"} <= set(names)


def test_commits_are_read_as_objects_only() -> None:
    """Use no porcelain command: its output is for people, and new git versions add settings to it."""
    source = (Path(__file__).parents[1] / "infx").rglob("*.py")
    porcelain = r"""\.(?:run|call|line)\(\s*"(show|log|status|branch|describe|blame|shortlog)\""""
    assert not [
        path for path in source if "demo" not in path.parts and re.search(porcelain, path.read_text())
    ]
