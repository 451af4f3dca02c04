"""Check that actions and workflows which a file uses by a path exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from infx.gather.workflow_files import read_sources
from infx.policy.load import default_policy
from infx.workflows.check import check_files
from infx.workflows.local import find_local_paths
from tests.conftest import ROOT

POLICY = replace(default_policy(), repository="acme/bench", former_names=("acme/old",))
SHA = "9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"
FILE = """\
on: push
jobs:
  one:
    runs-on: ubuntu-24.04
    steps:
      {steps}
"""
EXISTING_FILES = ("action.yml", ".github/actions/gate/action.yml", "tools/x/action.yaml", "image/Dockerfile")


def checkout(values: str) -> str:
    return f"- {{uses: actions/checkout@{SHA}, with: {{{values}}}}}"


@pytest.mark.parametrize(
    ("steps", "count"),
    [
        (["- uses: ./.github/actions/gate"], 0),
        (["- uses: ./.github/actions/gate/"], 0),
        (["- uses: ./tools/x"], 0),
        (["- uses: ./image"], 0),
        (["- uses: ./"], 0),
        (["- uses: $/tools/x"], 0),
        (["- uses: ./tools/y"], 1),
        (["- uses: $/tools/y"], 1),
        (["- uses: ./.infx/.github/actions/gate"], 1),  # no checkout into .infx
        ([checkout("path: .infx"), "- uses: ./.infx/.github/actions/gate"], 0),
        ([checkout("path: ./.infx/"), "- uses: ./.infx/.github/actions/gate"], 0),
        ([checkout("path: .infx"), "- uses: ./.infx/.github/actions/plan"], 1),
        ([checkout("path: .infx"), "- uses: ./.infx"], 0),
        ([checkout("path: .infx"), "- uses: ./.infx2/.github/actions/gate"], 1),
        ([checkout("path: a/b"), "- uses: ./a/b/tools/x"], 0),
        ([checkout("path: a/b"), "- uses: ./a/b/tools/y"], 1),
        ([checkout("path: ."), "- uses: ./tools/y"], 1),
        ([checkout("path: .infx, repository: acme/bench"), "- uses: ./.infx/tools/y"], 1),
        ([checkout("path: .infx, repository: acme/old"), "- uses: ./.infx/tools/y"], 1),
        ([checkout("path: .infx, repository: '${{ github.repository }}'"), "- uses: ./.infx/tools/y"], 1),
        (
            [checkout("path: .infx, repository: other/infx"), "- uses: ./.infx/tools/y"],
            0,
        ),  # the files of the other repository are unknown
        ([checkout("repository: other/infx"), "- uses: ./tools/y"], 0),
        ([checkout("path: .infx"), "- run: git -C .infx log", "- uses: ./.infx/tools/y"], 1),
        (
            ["- run: git clone https://x/y .tools", "- uses: ./.tools/y"],
            0,
        ),  # the script may have created the action
        (["- uses: ./.tools/y", "- run: git clone https://x/y .tools"], 1),
        (["- uses: acme/bench/tools/y@main"], 0),
    ],
)
def test_a_local_action_must_exist_when_the_step_runs(steps: list[str], count: int) -> None:
    files = {".github/workflows/x.yml": FILE.format(steps="\n      ".join(steps)).encode()}
    files |= dict.fromkeys(EXISTING_FILES, b"name: x\n")
    problems = check_files(files, POLICY)
    assert [problem.rule for problem in problems] == ["missing-action"] * count
    assert [problem.line for problem in problems] == [5 + len(steps) if "run" not in steps[-1] else 6] * count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("uses: ./tools/x", {"tools/x", "x", ""}),
        ('- "uses": "./tools/x"', {"tools/x", "x", ""}),
        ("- {uses: './x/', with: {}}", {"x", ""}),
        ("uses: $/x # yes", {"x", ""}),
        ("uses: ./../x", set()),
        ("uses: actions/x@v1", set()),
    ],
)
def test_the_paths_at_which_an_action_may_be(text: str, expected: set[str]) -> None:
    names = ("action.yml", "action.yaml", "Dockerfile")
    assert find_local_paths(text.encode()) == {
        f"{folder}/{name}".lstrip("/") for folder in expected for name in names
    }


def test_actions_outside_the_github_folder_are_read_if_used(tmp_path: Path) -> None:
    """Actions that these use are read too, but nothing outside the repository."""
    repository = tmp_path / "repository"
    nested = "runs: {using: composite, steps: [{uses: ./deep/z}]}\n"
    for name, text in {
        ".github/workflows/x.yml": FILE.format(steps="- uses: ./tools/x\n      - uses: ./link"),
        "tools/x/action.yml": nested,
        "deep/z/action.yml": "name: z\n",
        "unused/action.yml": "name: u\n",
    }.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/action.yml").write_text("name: o\n")
    (repository / "link").symlink_to(tmp_path / "outside")
    files = read_sources(repository)
    assert set(files) == {".github/workflows/x.yml", "tools/x/action.yml", "deep/z/action.yml"}
    problems = check_files(files, POLICY)
    assert [problem.message for problem in problems] == ["./link does not exist in this repository."]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a repository with infx's workflows but without its actions, as in docs/adopting.md."""
    shutil.copytree(ROOT / ".github/workflows", tmp_path / ".github/workflows")
    (tmp_path / ".github/workflows/ci.yml").unlink()
    return tmp_path


def test_copied_workflows_that_still_name_local_actions_are_found(copied: Path) -> None:
    problems = check_files(read_sources(copied), POLICY)
    used = sum(
        len(re.findall(r"uses: \./\.infx/", path.read_text()))
        for path in (copied / ".github/workflows").iterdir()
    )
    missing = [problem for problem in problems if problem.rule == "missing-action"]
    assert len(missing) == used > 8
    assert all("has a command that replaces" in str(problem.hint) for problem in missing)


def test_the_command_of_the_page_replaces_all_local_actions(copied: Path) -> None:
    page = (ROOT / "docs/workflows.md").read_text()
    match = re.search(r"```console\n\$ (sed [^`]*?)```", page)
    assert match is not None
    command = match[1].replace("<owner>", "acme").replace("<commit>", SHA)
    subprocess.run(["sh", "-ec", command], cwd=copied, check=True)
    assert "missing-action" not in {problem.rule for problem in check_files(read_sources(copied), POLICY)}
    texts = [path.read_text() for path in (copied / ".github/workflows").iterdir()]
    names = {
        name for text in texts for name in re.findall(rf"uses: acme/infx/\.github/actions/(\w+)@{SHA}", text)
    }
    assert names == {path.parent.name for path in (ROOT / ".github/actions").glob("*/action.yml")}
    assert not any("./.infx/.github/actions" in text for text in texts)
