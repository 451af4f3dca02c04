"""The one script that every action installs infx with, against a stand-in for Python that writes down its calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from infx import yaml12

ROOT = Path(__file__).parents[2]

# `python3 -m venv DIR` makes a pip that notes its arguments, `python3 -c …` succeeds.
PYTHON = """#!/usr/bin/env bash
set -eu
if [ "$1" = -m ]; then
  mkdir -p "$3/bin"
  printf '#!/usr/bin/env bash\\necho "${PIP_NO_CACHE_DIR:-cache} $*" >> "%s"\\n' "$CALLS" > "$3/bin/pip"
  printf '#!/usr/bin/env bash\\necho "$*"\\n' > "$3/bin/infx"
  chmod +x "$3/bin/pip" "$3/bin/infx"
fi
"""


@dataclass(frozen=True)
class Runner:
    path: Path
    environ: dict[str, str]

    def run(self, script: str, **environ: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(
            command,
            env={**self.environ, **environ},
            cwd=self.path,
            text=True,
            capture_output=True,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        file = self.path / "calls"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner on which the action lies where GitHub puts it: outside the workspace."""
    action = tmp_path / "_actions/acme/infx"
    (action / "requirements").mkdir(parents=True)
    shutil.copytree(ROOT / ".github/actions", action / ".github/actions")
    shutil.copy(ROOT / "action.yml", action)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    (tmp_path / "temp").mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "CALLS": str(tmp_path / "calls"),
        "INFX_PYTHON": str(python),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_PATH": str(tmp_path / "path"),
        "GITHUB_ACTION_PATH": str(action),
    }
    return Runner(tmp_path, environ)


def steps(action: str) -> list[str]:
    file = ROOT / action
    return [step["run"] for step in yaml12.load(file.read_bytes(), str(file)).value["runs"]["steps"]]


INSTALL, COMMAND = steps("action.yml")


def test_everything_downloaded_has_a_hash_and_nothing_is_built_but_infx(runner: Runner) -> None:
    assert runner.run(INSTALL).returncode == 0
    action = runner.environ["GITHUB_ACTION_PATH"]
    locked, own = runner.calls
    assert (
        locked == f"1 install --quiet --require-hashes --only-binary :all: -r {action}/requirements/run.txt"
    )
    assert own == f"1 install --quiet --no-deps --no-build-isolation {action}"


def test_it_goes_to_the_runners_temporary_folder_and_on_the_path(runner: Runner) -> None:
    runner.run(INSTALL)
    (line,) = (runner.path / "path").read_text().splitlines()
    assert Path(line).is_relative_to(runner.path / "temp")
    assert (Path(line) / "infx").exists()


def test_a_job_installs_once(runner: Runner) -> None:
    runner.run(INSTALL)
    assert runner.run(INSTALL).returncode == 0
    assert len(runner.calls) == 2
    assert len((runner.path / "path").read_text().splitlines()) == 2


@pytest.mark.parametrize(("kind", "cached"), [("github-hosted", "cache"), ("self-hosted", "1"), ("", "1")])
def test_downloads_are_kept_only_on_hosted_runners(runner: Runner, kind: str, cached: str) -> None:
    runner.run(INSTALL, RUNNER_ENVIRONMENT=kind)
    assert [call.split()[0] for call in runner.calls] == [cached, cached]


def test_an_installation_that_broke_off_is_begun_anew(runner: Runner) -> None:
    failing = PYTHON.replace("echo", "exit 1; echo", 1)
    (runner.path / "python").write_text(failing)
    assert runner.run(INSTALL).returncode != 0
    (runner.path / "python").write_text(PYTHON)
    assert runner.run(INSTALL).returncode == 0
    assert len(runner.calls) == 2


def test_an_old_python_is_said(runner: Runner) -> None:
    (runner.path / "python").write_text("#!/usr/bin/env bash\nexit 1\n")
    done = runner.run(INSTALL)
    assert done.returncode == 2
    assert "::error::infx needs Python 3.11 or newer" in done.stdout


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in (ROOT / ".github/actions").glob("*/action.yml"))
)
def test_a_sub_action_runs_the_same_script(runner: Runner, name: str) -> None:
    path = f"{runner.environ['GITHUB_ACTION_PATH']}/.github/actions/{name}"
    assert runner.run(steps(f".github/actions/{name}/action.yml")[0], GITHUB_ACTION_PATH=path).returncode == 0
    assert len(runner.calls) == 2


def test_the_root_action_runs_one_command_and_expands_nothing(runner: Runner) -> None:
    runner.run(INSTALL)
    path = f"{(runner.path / 'path').read_text().strip()}:{runner.environ['PATH']}"
    done = runner.run(COMMAND, PATH=path, COMMAND="config check $HOME $(touch x) *; ls", INFX_POLICY="")
    assert done.stdout == "config check $HOME $(touch x) *; ls\n"
    assert not (runner.path / "x").exists()


@pytest.mark.parametrize(
    ("environ", "arguments"),
    [
        ({}, "--event event.json"),
        ({"BASE": "b", "HEAD": "h", "PR": "77"}, "--base-ref b --head-ref h --pr 77"),
        (
            {"BASE": "b; ls", "HEAD": "$(ls)", "STAGE": "merge"},
            "--base-ref b; ls --head-ref $(ls) --stage merge",
        ),
    ],
)
def test_what_the_changelog_action_asks(runner: Runner, environ: dict[str, str], arguments: str) -> None:
    runner.run(INSTALL)
    path = f"{(runner.path / 'path').read_text().strip()}:{runner.environ['PATH']}"
    empty = {"BASE": "", "HEAD": "", "PR": "", "STAGE": "", "GITHUB_EVENT_PATH": "event.json"}
    script = steps(".github/actions/changelog/action.yml")[1]
    done = runner.run(script, **{**empty, **environ, "PATH": path})
    assert done.stdout == f"changelog validate --format table {arguments}\n"


def test_the_changelog_workflow_can_be_required() -> None:
    """It runs whatever a pull request touches and whatever labels it has, in the queue and after the merge."""
    file = ROOT / ".github/workflows/changelog.yml"
    workflow = yaml12.load(file.read_bytes(), str(file)).value
    assert set(workflow["on"]) == {"pull_request", "merge_group", "push"}
    for event in workflow["on"].values():
        assert "paths" not in event
        assert "paths-ignore" not in event
    assert {"opened", "reopened", "synchronize"} <= set(workflow["on"]["pull_request"]["types"])
    assert workflow["permissions"] == {}
    (job,) = workflow["jobs"].values()
    assert "if" not in job
    assert job["permissions"] == {"contents": "read"}
