"""Run the script that installs infx for every action, and the root action, without a network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.workflows.wheels import pack_wheels

BASH = shutil.which("bash") or "bash"
# A Python that makes an environment whose pip only records its arguments.
PYTHON = r"""#!/bin/sh
case "$1" in
  -c) exit "${VERSION_TEST:-0}" ;;
  -m)
    echo "venv $3" >> "$LEDGER"
    mkdir -p "$3/bin"
    printf '#!/bin/sh\necho "pip $* cache=${PIP_NO_CACHE_DIR:-0}" >> "$LEDGER"\nexit "${PIP_RESULT:-0}"\n' > "$3/bin/pip"
    chmod +x "$3/bin/pip"
    ;;
esac
"""


@dataclass(frozen=True)
class Runner:
    """A machine with a folder for temporary files and a Python that the test controls."""

    folder: Path

    def install(self, script: Path = ROOT / ".github/actions/install.sh", **environ: str) -> tuple[int, str]:
        variables = {
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_PATH": str(self.folder / "path"),
            "LEDGER": str(self.folder / "ledger"),
            "INFX_PYTHON": str(self.folder / "python3"),
            **environ,
        }
        done = subprocess.run(
            [BASH, str(script)], env=variables, cwd=self.folder, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def read(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "python3").write_text(PYTHON)
    (tmp_path / "python3").chmod(0o755)
    return Runner(tmp_path)


def test_hashes_are_required_and_only_infx_is_built(runner: Runner) -> None:
    assert runner.install() == (0, "")
    (home,) = {line.removesuffix("/bin") for line in runner.read("path")}
    assert Path(home).parent == runner.folder / "temp"
    environment, locked, own = runner.read("ledger")
    assert environment == f"venv {home}"
    assert locked == (
        f"pip install --quiet --require-hashes --only-binary :all: -r {ROOT}/requirements/run.txt cache=1"
    )
    assert own == f"pip install --quiet --no-deps --no-build-isolation {ROOT} cache=1"


def test_a_job_installs_once(runner: Runner) -> None:
    """Every action of a job calls the script, which adds the command to the path of later steps each time."""
    for _ in range(3):
        assert runner.install()[0] == 0
    assert len(runner.read("ledger")) == 3
    assert len(runner.read("path")) == 3
    assert len(set(runner.read("path"))) == 1


def test_two_commits_of_infx_do_not_share_an_installation(runner: Runner, tmp_path: Path) -> None:
    """Actions of another commit install the infx of that commit."""
    other = tmp_path / "other/.github/actions/install.sh"
    other.parent.mkdir(parents=True)
    shutil.copy(ROOT / ".github/actions/install.sh", other)
    runner.install()
    runner.install(other)
    assert len(set(runner.read("path"))) == 2


def test_a_failed_installation_is_repeated(runner: Runner) -> None:
    code, _ = runner.install(PIP_RESULT="1")
    assert code != 0
    assert runner.read("path") == []
    assert runner.install()[0] == 0  # installs everything again
    assert len(runner.read("ledger")) == 2 + 3


def test_only_machines_that_live_for_one_job_may_use_a_cache(runner: Runner) -> None:
    runner.install(RUNNER_ENVIRONMENT="github-hosted")
    assert all(line.endswith("cache=0") for line in runner.read("ledger")[1:])


@pytest.mark.parametrize("python", ["python3", "no-such-python"])
def test_an_old_python_is_refused_with_a_message(runner: Runner, python: str) -> None:
    code, output = runner.install(VERSION_TEST="1", INFX_PYTHON=str(runner.folder / python))
    assert code == 2
    expected = "::error::infx needs Python 3.11 or newer on this runner; set INFX_PYTHON to its path."
    assert expected in output.splitlines()
    assert runner.read("ledger") == runner.read("path") == []


def test_the_script_requires_the_python_version_of_the_package() -> None:
    script = (ROOT / ".github/actions/install.sh").read_text()
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text()
    assert "sys.version_info < (3, 11)" in script


# The root action

# A Python whose environments use the pip of the current environment, which is faster than installing another pip.
LEAN_PYTHON = """#!/bin/sh
[ "$1" = -m ] || exec {python} "$@"
{python} -m venv --without-pip "$3"
printf '#!/bin/sh\nexec {python} -m pip --python %s/bin/python "$@"\n' "$3" > "$3/bin/pip"
chmod +x "$3/bin/pip"
"""


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a copy of infx that is locked to wheels in a folder, and that folder."""
    folder = tmp_path_factory.mktemp("toolkit")
    root = folder / "toolkit"
    for name in ("infx", ".github/actions", "configs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("action.yml", "pyproject.toml", "README.md", "LICENSE", "perf-changelog.yaml"):
        shutil.copy(ROOT / name, root / name)
    wheels = folder / "wheels"
    (root / "requirements").mkdir()
    locked = pack_wheels((ROOT / "requirements/run.txt").read_text(), wheels)
    (root / "requirements/run.txt").write_text(locked)
    return root, wheels


def run_step(
    root: Path, index: int, folder: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a step of the root action as a runner does: its script, with the inputs in the environment."""
    step = yaml.safe_load((root / "action.yml").read_text())["runs"]["steps"][index]
    assert step["shell"] == "bash"
    command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, env=dict(environ), cwd=folder, capture_output=True, text=True, check=False)


def test_the_root_action_installs_infx_and_runs_a_command(toolkit: tuple[Path, Path], tmp_path: Path) -> None:
    root, wheels = toolkit
    (tmp_path / "temp").mkdir()
    (tmp_path / "venv.py").write_text("raise SystemExit('a file of the checked-out repository was run')\n")
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(root),
        "GITHUB_PATH": str(tmp_path / "path"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "INFX_PYTHON": str(Path(sys.base_prefix) / "bin/python3"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_COMPILE": "1",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
    }
    done = run_step(root, 0, tmp_path, environ)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    environ["PATH"] = f"{(tmp_path / 'path').read_text().strip()}:{environ['PATH']}"
    variables = {"COMMAND": "config check", "INFX_POLICY": "configs/policy.yaml"}
    done = run_step(root, 1, root, {**environ, **variables})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True
    done = run_step(root, 1, root, {**environ, **variables, "INFX_POLICY": ""})
    assert done.returncode == 2  # on Actions the policy must be named
    hostile = f"config check --master-config $(touch {tmp_path}/canary) `touch {tmp_path}/canary` ; touch {tmp_path}/canary *"
    done = run_step(root, 1, root, {**environ, **variables, "COMMAND": hostile})
    assert done.returncode == 2
    assert not (tmp_path / "canary").exists()


def test_a_wheel_with_another_hash_is_refused(toolkit: tuple[Path, Path], tmp_path: Path) -> None:
    root, wheels = toolkit
    (tmp_path / "temp").mkdir()
    tampered = tmp_path / "wheels"
    shutil.copytree(wheels, tampered)
    (wheel,) = tampered.glob("mdurl-*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"x")
    home = tmp_path / "lean"  # the few files that this test needs
    shutil.copytree(root / ".github", home / ".github")
    (home / "requirements").mkdir()
    lines = (root / "requirements/run.txt").read_text().splitlines(keepends=True)
    (home / "requirements/run.txt").write_text(next(line for line in lines if line.startswith("mdurl==")))
    runner = Runner(tmp_path)
    (tmp_path / "python3").write_text(LEAN_PYTHON.format(python=sys.executable))
    (tmp_path / "python3").chmod(0o755)
    code, output = runner.install(
        home / ".github/actions/install.sh",
        PIP_CONFIG_FILE=os.devnull,
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(tampered),
    )
    assert code != 0
    assert "DO NOT MATCH THE HASHES" in output
    assert runner.read("path") == []
