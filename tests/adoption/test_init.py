"""Call `infx init` as a person and as a script do."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from infx.files import write_file
from infx.policy.load import parse_policy
from tests.adoption.made import (
    ACTIONS,
    ANSWERS,
    APP,
    RENAMED,
    SHA,
    SIGNOFFS,
    init,
    make_repository,
    read_files,
)
from tests.calling import call
from tests.repository import Repository

SWEEP = ".github/workflows/sweep.yml"
POLICY = "configs/policy.yaml"
SHADOW = ".github/workflows/shadow.yml"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    folder = tmp_path / "bench"
    repository = make_repository(folder)
    monkeypatch.chdir(folder)
    return repository


def list_lines(text: str) -> list[str]:
    return [line.partition(": ")[0] for line in text.splitlines()]


def test_all_missing_answers_are_in_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a repository there is no remote, no branch and no runner to find."""
    monkeypatch.chdir(tmp_path)
    called = call("init", "--signoffs", "--yes")
    assert called.code == 2
    assert list_lines(called.err) == [
        f"--{name} is missing" for name in ("actions", "base-branch", "code-owner", "repo", "runner")
    ]
    assert read_files(tmp_path) == {}


def test_all_answers_that_are_not_valid_are_in_one_error(repository: Repository) -> None:
    called = call(
        "init", "--repo", "x", "--runner", "a b", "--runner", "c d", "--models", "perf-changelog.yaml"
    )
    assert called.code == 2
    assert list_lines(called.err) == [
        "--repo", "--runner", "--runner", "--actions is missing",
        "'perf-changelog.yaml' is the answer to two questions, or the policy's own path. Give each file its own path.",
    ]  # fmt: skip


def test_the_name_and_the_branch_come_from_the_clone(repository: Repository, tmp_path: Path) -> None:
    git = repository.git
    git.run("remote", "add", "origin", "git@github.com:acme/far.git")
    git.run("update-ref", "refs/remotes/origin/trunk", "HEAD")
    git.run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert call("init", "--runner", "h200", "--actions", ACTIONS).code == 0
    policy = (repository.path / POLICY).read_text().splitlines()
    assert policy[3:5] == ["repository: acme/far", "base-branch: trunk"]
    assert "branches: [trunk]" in (repository.path / ".github/workflows/changelog.yml").read_text()


@pytest.mark.parametrize(("branch", "found"), [("main", "main"), ("trunk", "trunk")])
def test_files_may_be_made_on_a_branch_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, branch: str, found: str
) -> None:
    repository = make_repository(tmp_path, branch)
    if branch == "main":
        repository.branch("add-infx")
    monkeypatch.chdir(tmp_path)
    assert init().code == 0
    workflow = (tmp_path / ".github/workflows/changelog.yml").read_text()
    assert workflow.count(f"branches: [{found}]") == 3


def test_a_branch_that_is_not_the_default_branch_is_reported(repository: Repository) -> None:
    """Comments, schedules and finished runs start workflows of the default branch only."""
    repository.git.run("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.git.run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert (
        init("--base-branch", "next")
        .json["next"][0]
        .startswith("Make next the default branch on GitHub, or use main:")
    )


def test_an_existing_file_is_never_changed(repository: Repository) -> None:
    """A workflow is compared with infx's; other files belong to the repository after their first version."""
    own = {SWEEP: b"name: mine\n", ".pre-commit-config.yaml": b"repos: []\n", "CODEOWNERS": b"* @noor\n"}
    repository.commit(own)
    called = init("--signoffs")
    assert called.code == 0, called.err
    files = read_files(repository.path)
    assert {path: files[path] for path in own} == own
    states = {file["path"]: file["state"] for file in called.json["files"]}
    assert states.pop(SWEEP) == "different"
    assert states.pop(".pre-commit-config.yaml") == "kept"
    assert ".github/CODEOWNERS" not in states  # GitHub would prefer it to the repository's own
    assert set(states.values()) == {"new"}
    diff = init("--signoffs", "--diff")
    assert diff.code == 1
    assert diff.out.startswith(f"diff --git a/{SWEEP} b/{SWEEP}\n--- a/{SWEEP}\n+++ b/{SWEEP}\n")
    assert "-name: mine\n+# Run a sweep:" in diff.out


def test_git_applies_the_diff_to_the_same_files(repository: Repository, tmp_path: Path) -> None:
    options = (*SIGNOFFS, *APP, *RENAMED)
    diff = init(*options, "--diff")
    assert diff.code == 1
    assert set(read_files(repository.path)) == {"README.md"}
    applied = make_repository(tmp_path / "applied")
    applied.git.run("apply", stdin=diff.out.encode())
    assert init(*options).code == 0
    assert read_files(applied.path) == read_files(repository.path)
    assert init(*options, "--diff").code == 0


def test_two_pull_requests_add_the_same_files_as_one(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second call needs no answers again: the policy and the files of the first one have them."""
    first = init(*SIGNOFFS, *APP, *RENAMED, "--only", "configs")
    assert "Then run infx init --only workflows, unless the workflows exist." in first.json["next"]
    assert not any(path.startswith(".github/workflows") for path in read_files(repository.path))
    second = call("init", "--only", "workflows", "--actions", ACTIONS, "--format", "json")
    assert second.json["next"][0].startswith("Commit the workflows when release/1.0 has the policy")
    in_one = make_repository(tmp_path / "one")
    monkeypatch.chdir(in_one.path)
    assert init(*SIGNOFFS, *APP, *RENAMED).code == 0
    assert read_files(in_one.path) == read_files(repository.path)


def test_a_trial_needs_two_files(repository: Repository) -> None:
    """The files of the trial stay when the others come, which do not contain its workflow."""
    called = call(
        "init", "--only", "shadow", "--repo", "acme/bench", "--actions", ACTIONS, "--format", "json"
    )
    assert called.code == 0
    files = read_files(repository.path)
    assert set(files) == {"README.md", POLICY, SHADOW}
    assert f"your-org/infx/.github/actions/gate@{SHA} # v1.0" in files[SHADOW].decode()
    assert len(called.json["next"]) == 2
    lacks = call("workflows", "check", "--format", "json").json["problems"]
    assert [problem["rule"] for problem in lacks] == ["required-check", "policy-mismatch"]  # no sweep yet
    assert init().code == 0
    assert files.items() <= read_files(repository.path).items()


def test_the_version_of_existing_workflows_stays(repository: Repository) -> None:
    assert init().code == 0
    assert call("init", "--diff").out == ""


@pytest.mark.parametrize("tag", [b"v1\xff", b"v1\x1b[2J"])
def test_a_tag_of_other_characters_is_not_taken_over(repository: Repository, tag: bytes) -> None:
    """A terminal and YAML do not get the characters that a file has behind a commit."""
    line = f"      - uses: your-org/infx/.github/actions/gate@{SHA} # ".encode() + tag
    repository.commit({".github/workflows/run-sweep.yml": b"jobs:\n" + line + b"\n"})
    called = call("init", "--repo", "acme/bench", "--runner", "h200", "--diff")
    assert (called.code, list_lines(called.err)) == (2, ["--actions is missing"])


def test_git_applies_the_diff_of_a_file_with_odd_line_ends(repository: Repository) -> None:
    """Python ends a line at a form feed and at U+2028, git only at a line feed."""
    repository.commit({SWEEP: "a\x0cb\nc\r\nd\u2028e".encode()})
    patch = init("--diff").out
    (repository.path / "made.patch").write_bytes(patch.encode())
    repository.git.run("apply", "made.patch")
    assert b"\x0c" not in (repository.path / SWEEP).read_bytes()


def test_an_option_that_contradicts_the_policy_is_refused(repository: Repository) -> None:
    repository.commit({POLICY: "repository: acme/bench\nchangelog: log.yaml\n"})
    called = init("--base-branch", "next", "--changelog", "perf.yaml", "--repo", "acme/bench")
    assert (called.code, list_lines(called.err)) == (2, [POLICY, POLICY])
    assert "The answer to --base-branch is next, but the policy has main." in called.err
    assert init().code == 0
    assert (repository.path / "log.yaml").exists()


def test_after_a_failure_the_same_command_continues(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_at(path: Path, data: bytes) -> None:
        if path.name == "master.yaml":
            raise OSError(28, "No space left on device")
        write_file(path, data)

    with monkeypatch.context() as patch:
        patch.setattr("infx.apply.adoption.write_file", fail_at)
        called = init()
    written = set(read_files(repository.path)) - {"README.md"}
    assert called.code == 3
    assert called.err.startswith(
        "configs/master.yaml: The file cannot be written: No space left on device. Written before: "
    )
    assert all(path in called.err for path in written)
    assert init().code == 0
    complete = make_repository(tmp_path / "complete")
    monkeypatch.chdir(complete.path)
    assert init().code == 0
    assert read_files(complete.path) == read_files(repository.path)


@pytest.mark.parametrize("kind", ["outside", "dangling", "circle", "file", "folder"])
def test_a_path_that_cannot_be_a_file_is_refused(repository: Repository, tmp_path: Path, kind: str) -> None:
    folder = repository.path / "configs"
    match kind:
        case "outside":
            folder.symlink_to(tmp_path, target_is_directory=True)
        case "file":
            folder.write_text("")
        case "dangling":
            folder.mkdir()
            (folder / "policy.yaml").symlink_to("nowhere.yaml")
        case "circle":
            folder.mkdir()
            (folder / "policy.yaml").symlink_to("policy.yaml")
        case _:
            (folder / "policy.yaml").mkdir(parents=True)
    before = set(read_files(repository.path))
    called = init()
    assert called.code == 1
    assert called.err.startswith(f"{POLICY}: ")
    assert set(read_files(repository.path)) == before


class Terminal(io.StringIO):
    """A standard input that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_asks_and_shows_what_was_found(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers: defaults up to the runners, asked again after a mistake; yes; two owners; no App; a boundary."""
    answers = [
        "acme/bench",
        "",
        "",
        "",
        "",
        "",
        "",
        "a=b=c",
        "h200=h200-a_0 b200",
        "yes",
        "@mia, @noor",
        "",
        "Only benchmark.yml of main gets the runners: group gpu.",
        f"your-org/infx@{SHA}",
    ]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(answers) + "\n"))
    called = call("init", "--format", "json")
    assert called.code == 0, called.err
    assert (
        "--base-branch: the branch that pull requests are merged into; it must be the default branch [main]:"
        in called.err
    )
    assert "expected a runner's label" in called.err
    files = read_files(repository.path)
    assert files["configs/runners.yaml"].decode().endswith("labels:\n  h200: [h200-a_0]\n  b200: [b200_0]\n")
    assert files[".github/CODEOWNERS"].decode().endswith("* @mia @noor\n")
    assert ".github/workflows/merge.yml" not in files
    boundary = parse_policy(files["configs/policy.yaml"], "policy").workflows.runner_boundary
    assert boundary == "Only benchmark.yml of main gets the runners: group gpu."


def test_a_terminal_does_not_ask_what_the_policy_has(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call leaves four questions: sign-offs, an App, what protects the runners, and the version."""
    assert init().code == 0
    monkeypatch.setattr("sys.stdin", Terminal("\n\n\n\n"))
    called = call("init", "--diff")
    assert (called.code, called.out) == (0, "")
    assert called.err.count("--") == 4, called.err


def test_with_yes_a_terminal_asks_nothing(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(""))
    assert call("init", *ANSWERS, "--yes", "--format", "json").code == 0


def test_the_report_names_every_file_and_what_comes_next(repository: Repository) -> None:
    called = init(*SIGNOFFS, *APP)
    made = set(read_files(repository.path)) - {"README.md"}
    assert {file["path"] for file in json.loads(called.out)["files"]} == made
    steps = called.json["next"]
    assert [step.partition(" ")[0] for step in steps] == [
        "Write",
        "Commit",
        "Then",
        "On",
        "Put",
        "Run",
        "Run",
    ]
    assert "the checks changelog, infx/sweep and codeowner-signoff-verify" in steps[3]
    assert called.err.startswith(f"{len(made)} files written.\nNext:\n1. Write benchmarks/")
    table = call("init", *ANSWERS, *SIGNOFFS, *APP, "--format", "table").out
    assert f"{SWEEP}  as infx makes it" in [
        " ".join(line.split(maxsplit=1)).replace(" ", "  ", 1) for line in table.splitlines()
    ]


def test_an_own_script_is_run_by_the_example(repository: Repository) -> None:
    """Clusters would make rows run another script than the one that the repository has."""
    repository.commit({"benchmarks/run.sh": "echo measured\n"})
    called = init()
    states = {file["path"]: file["state"] for file in called.json["files"]}
    assert states["benchmarks/run.sh"] == "kept"
    assert not {"configs/clusters.yaml", "benchmarks/single_node/fixed_seq_len/qwen3_bf16.sh"} & set(states)
    assert called.json["next"][0].startswith("Adapt benchmarks/run.sh, which each row runs")
    assert call("config", "check").code == 0


def test_without_signoffs_a_merge_needs_none(repository: Repository) -> None:
    assert init().code == 0
    shown = call("policy", "show", "--format", "json").json
    assert shown["signoff"]["status"] is None
    steps = init(*SIGNOFFS).json["next"]
    assert (
        "If a merge is to need sign-offs, delete `status: null` of `signoff` in configs/policy.yaml." in steps
    )
    assert repository.path.joinpath("configs/policy.yaml").read_text().count("status: null") == 1


def test_with_signoffs_a_merge_needs_them(repository: Repository) -> None:
    assert not any("status: null" in step for step in init(*SIGNOFFS).json["next"])
    assert call("policy", "show", "--format", "json").json["signoff"]["status"] == "codeowner-signoff-verify"
