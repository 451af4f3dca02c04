"""Run the script that installs infx for every action, and the root action, without a network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.workflows.wheels import pack_wheels

BASH = shutil.which("bash") or "bash"
UV = Path(sys.executable).with_name("uv")
PINNED = (ROOT / "requirements/uv.txt").read_text().split()[0].removeprefix("uv==")
LOCK = ROOT / "requirements/actions.txt"

# A Python that makes empty environments and records its arguments. A real Python imports pip, from the test's library.
PYTHON = r"""#!/bin/sh
case "$1 $2" in
  "-c "*version_info*) exit "${VERSION_TEST:-0}" ;;
  "-c "*) exec %s "$@" ;;
  "-m venv")
    for home; do :; done
    echo "$2 $3" >> "$LEDGER"
    mkdir -p "$home/bin" "$home/lib/python3.11/site-packages"
    cp "$0" "$home/bin/python"
    ;;
  *)
    echo "${0##*/} $* cache=${PIP_NO_CACHE_DIR:-0}" >> "$LEDGER"
    exit "${INSTALL_RESULT:-0}"
    ;;
esac
"""
UV_STAND_IN = r"""#!/bin/sh
if [ "$1" = --version ]; then echo "uv $UV_VERSION (of a platform)"; exit; fi
echo "uv $* cache=${UV_NO_CACHE:-0}" >> "$LEDGER"
exit "${INSTALL_RESULT:-0}"
"""


@dataclass(frozen=True)
class Runner:
    """A machine with a folder for temporary files, and tools that the test controls."""

    folder: Path

    def install(self, script: Path = ROOT / ".github/actions/install.sh", **environ: str) -> tuple[int, str]:
        variables = {
            "PATH": f"{self.folder / 'tools'}:/usr/bin:/bin",
            "PYTHONPATH": str(self.folder / "library"),
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

    def place(self, name: str, text: str) -> None:
        """Write a program of the machine."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def give_pip(self, version: str | None) -> None:
        """Give the machine's Python a pip of a version; None: without pip."""
        source = (
            f"__version__ = {version!r}" if version else "raise ModuleNotFoundError('No module named pip')"
        )
        self.place("library/pip.py", f"{source}\n")

    @property
    def home(self) -> str:
        (home,) = {line.removesuffix("/bin") for line in self.read("path")}
        return home


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Return a machine with a pip that is new enough, and without uv."""
    found = Runner(tmp_path)
    found.place("python3", PYTHON % sys.executable)
    found.give_pip("24.0")
    return found


WITH_HASHES = f"install --quiet --require-hashes --only-binary :all: -r {LOCK}"
LEAN = f"install --no-compile --quiet --require-hashes --only-binary :all: -r {LOCK}"


def find_way(runner: Runner) -> tuple[str, str]:
    """Return the arguments of venv and of the installer."""
    environment, installed = runner.read("ledger")
    return environment, installed.replace(runner.home, "HOME")


def test_the_machines_pip_installs_into_an_environment_without_pip(runner: Runner) -> None:
    assert runner.install() == (0, "")
    assert Path(runner.home).parent == runner.folder / "temp"
    assert find_way(runner) == (
        "venv --without-pip",
        f"python3 -m pip --python HOME/bin/python {LEAN} cache=1",
    )


@pytest.mark.parametrize("version", ["22.3", "22.3.1", "23.0", "100.1"])
def test_pip_installs_for_another_python_since_22_3(runner: Runner, version: str) -> None:
    runner.give_pip(version)
    assert runner.install() == (0, "")
    assert find_way(runner)[0] == "venv --without-pip"


@pytest.mark.parametrize("version", ["22.2.2", "21.3", "9.0.3", "not a version", None])
def test_a_machine_without_such_a_pip_gets_one_in_the_environment(
    runner: Runner, version: str | None
) -> None:
    runner.give_pip(version)
    assert runner.install() == (0, "")
    assert find_way(runner) == (f"venv {runner.home}", f"python -m pip {LEAN} cache=1")


def test_the_pinned_uv_is_used(runner: Runner) -> None:
    runner.place("tools/uv", UV_STAND_IN)
    assert runner.install(UV_VERSION=PINNED) == (0, "")
    assert find_way(runner) == (
        "venv --without-pip",
        f"uv --directory HOME pip install --python HOME/bin/python {WITH_HASHES.removeprefix('install ')} cache=1",
    )


@pytest.mark.parametrize("version", [f"{PINNED}.1", f"{PINNED}0", "0.1.0", ""])
def test_another_uv_is_not_used(runner: Runner, version: str) -> None:
    runner.place("tools/uv", UV_STAND_IN)
    assert runner.install(UV_VERSION=version) == (0, "")
    assert find_way(runner)[1].startswith("python3 -m pip ")


def test_a_uv_that_does_not_run_is_not_used(runner: Runner) -> None:
    """A version manager's shim fails if no version is selected."""
    runner.place("tools/uv", "#!/bin/sh\necho 'uv: no version is set' >&2\nexit 127\n")
    assert runner.install() == (0, "")
    assert find_way(runner)[1].startswith("python3 -m pip ")


def test_without_a_pin_no_uv_is_used(runner: Runner) -> None:
    script = copy_script(runner.folder / "toolkit")
    (runner.folder / "toolkit/requirements/uv.txt").unlink()
    assert runner.install(script)[0] == 0
    assert find_way(runner)[1].startswith("python3 -m pip ")


def copy_script(root: Path) -> Path:
    """Lay out the script, the locks and a package with nothing in it; returns the script."""
    script = root / ".github/actions/install.sh"
    script.parent.mkdir(parents=True)
    shutil.copy(ROOT / ".github/actions/install.sh", script)
    shutil.copytree(ROOT / "requirements", root / "requirements")
    (root / "infx").mkdir()
    return script


@pytest.mark.parametrize("store", ["sqlite:results.db", "postgresql://user@host/results"])
def test_a_job_with_a_store_in_sql_installs_its_packages(runner: Runner, store: str) -> None:
    assert runner.install(INFX_STORE=store) == (0, "")
    assert find_way(runner)[1].endswith(f"-r {ROOT / 'requirements/sql.txt'} cache=1")
    # A step without the variable gets an environment of its own.
    assert runner.install() == (0, "")
    assert len(set(runner.read("path"))) == 2


@pytest.mark.parametrize("uv", [False, True], ids=["pip", "uv"])
def test_an_extra_is_added_once_to_the_environment_of_the_job(runner: Runner, uv: bool) -> None:
    if uv:
        runner.place("tools/uv", UV_STAND_IN)
    for extra in ("", "page", "page", ""):
        assert runner.install(UV_VERSION=PINNED, INFX_EXTRA=extra)[0] == 0
    assert len(set(runner.read("path"))) == 1
    installed = [line.partition(" -r ")[2].split()[0] for line in runner.read("ledger") if " -r " in line]
    assert [Path(lock).stem for lock in installed] == ["actions", "page"]


def test_another_extra_is_not_read_as_the_name_of_a_lock(runner: Runner) -> None:
    assert runner.install(INFX_EXTRA="../../dev") == (0, "")
    assert len(runner.read("ledger")) == 2


@pytest.mark.parametrize("uv", [False, True], ids=["pip", "uv"])
def test_a_job_installs_once(runner: Runner, uv: bool) -> None:
    """Every action of a job calls the script, which adds the command to the path of later steps each time."""
    if uv:
        runner.place("tools/uv", UV_STAND_IN)
    for _ in range(3):
        assert runner.install(UV_VERSION=PINNED)[0] == 0
    assert len(runner.read("ledger")) == 2
    assert len(runner.read("path")) == 3
    assert len(set(runner.read("path"))) == 1


def test_two_commits_of_infx_do_not_share_an_installation(runner: Runner, tmp_path: Path) -> None:
    """Actions of another commit install the infx of that commit."""
    runner.install()
    runner.install(copy_script(tmp_path / "other"))
    assert len(set(runner.read("path"))) == 2


@pytest.mark.parametrize("uv", [False, True], ids=["pip", "uv"])
def test_a_failed_installation_is_repeated(runner: Runner, uv: bool) -> None:
    if uv:
        runner.place("tools/uv", UV_STAND_IN)
    code, _ = runner.install(INSTALL_RESULT="1", UV_VERSION=PINNED)
    assert code != 0
    assert runner.read("path") == []
    assert runner.install(UV_VERSION=PINNED)[0] == 0  # installs everything again
    assert len(runner.read("ledger")) == 2 + 2


@pytest.mark.parametrize("uv", [False, True], ids=["pip", "uv"])
def test_only_machines_that_live_for_one_job_may_use_a_cache(runner: Runner, uv: bool) -> None:
    if uv:
        runner.place("tools/uv", UV_STAND_IN)
    runner.install(RUNNER_ENVIRONMENT="github-hosted", UV_VERSION=PINNED)
    assert find_way(runner)[1].endswith(" cache=0")


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


# The root action, with the tools of this machine


@dataclass(frozen=True)
class Toolkit:
    """A copy of infx that is locked to wheels in a folder."""

    root: Path
    wheels: Path

    def environ(self, folder: Path, tool: str) -> dict[str, str]:
        """Return the environment of a step on a machine whose installer is pip or uv, without an index."""
        tools = folder / "tools"
        tools.mkdir()
        if tool == "uv":
            (tools / "uv").symlink_to(UV)
        (folder / "temp").mkdir()
        return {
            "PATH": f"{tools}:/usr/bin:/bin",
            "HOME": str(folder),
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.root),
            "GITHUB_PATH": str(folder / "path"),
            "RUNNER_TEMP": str(folder / "temp"),
            "INFX_PYTHON": str(Path(sys.base_prefix) / "bin/python3"),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "UV_OFFLINE": "1",
            "UV_FIND_LINKS": str(self.wheels),
        }


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Toolkit:
    folder = tmp_path_factory.mktemp("toolkit")
    root = folder / "toolkit"
    for name in ("infx", ".github/actions", "configs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("action.yml", "perf-changelog.yaml"):
        shutil.copy(ROOT / name, root / name)
    (root / "requirements").mkdir()
    shutil.copy(ROOT / "requirements/uv.txt", root / "requirements/uv.txt")
    (root / "requirements/actions.txt").write_text(pack_wheels(LOCK.read_text(), folder / "wheels"))
    return Toolkit(root, folder / "wheels")


def run_step(
    root: Path, index: int, folder: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a step of the root action as a runner does: its script, with the inputs in the environment."""
    step = yaml.safe_load((root / "action.yml").read_text())["runs"]["steps"][index]
    assert step["shell"] == "bash"
    command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, env=dict(environ), cwd=folder, capture_output=True, text=True, check=False)


def find_commands() -> set[str]:
    """Return the commands that the actions run, as words without options."""
    actions = [yaml.safe_load(path.read_text()) for path in (ROOT / ".github/actions").glob("*/action.yml")]
    scripts = [step["run"] for action in actions for step in action["runs"]["steps"]]
    found = {
        words for script in scripts for words in re.findall(r"\binfx ([a-z-]+(?: [a-z][a-z-]*)*)", script)
    }
    assert {"approve", "gate", "plan", "changelog validate", "signoff retry"} <= found
    return found


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_the_root_action_installs_infx_and_runs_a_command(
    toolkit: Toolkit, tool: str, tmp_path: Path
) -> None:
    root = toolkit.root
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("venv.py", "pip.py", "infx.py", "uv.toml"):
        (workspace / name).write_text("raise SystemExit('a file of the checked-out repository was used')\n")
    environ = toolkit.environ(tmp_path, tool)
    done = run_step(root, 0, workspace, environ)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    bin_ = (tmp_path / "path").read_text().strip()
    (installer,) = Path(bin_).parent.glob("lib/*/site-packages/click-*.dist-info/INSTALLER")
    assert installer.read_text().strip() == tool
    environ["PATH"] = f"{bin_}:{environ['PATH']}"
    variables = {"COMMAND": "config check", "INFX_POLICY": str(root / "configs/policy.yaml")}
    done = run_step(root, 1, workspace, {**environ, "COMMAND": "--version"})
    assert (done.returncode, done.stderr) == (0, "")
    for command in find_commands():
        done = run_step(root, 1, workspace, {**environ, "COMMAND": f"{command} --help"})
        assert (done.returncode, done.stderr) == (0, ""), command
    done = run_step(root, 1, root, {**environ, **variables})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True
    done = run_step(root, 1, root, {**environ, **variables, "INFX_POLICY": ""})
    assert done.returncode == 2  # on Actions the policy must be named
    done = run_step(root, 1, root, {**environ, "COMMAND": "demo"})
    assert (done.returncode, "needs the package rich" in done.stderr) == (2, True)
    hostile = f"config check --master-config $(touch {tmp_path}/canary) `touch {tmp_path}/canary` ; touch {tmp_path}/canary *"
    done = run_step(root, 1, root, {**environ, **variables, "COMMAND": hostile})
    assert done.returncode == 2
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_a_wheel_with_another_hash_is_refused(toolkit: Toolkit, tool: str, tmp_path: Path) -> None:
    tampered = Toolkit(tmp_path / "toolkit", tmp_path / "wheels")
    script = copy_script(tampered.root)
    tampered.wheels.mkdir()
    (wheel,) = toolkit.wheels.glob("mdurl-*.whl")
    shutil.copy(wheel, tampered.wheels)
    with zipfile.ZipFile(tampered.wheels / wheel.name, "a") as archive:
        archive.writestr("mdurl/more.py", "print('not what was locked')\n")
    lines = (toolkit.root / "requirements/actions.txt").read_text().splitlines(keepends=True)
    (tampered.root / "requirements/actions.txt").write_text(
        next(line for line in lines if line.startswith("mdurl=="))  # the one package that this test needs
    )
    code, output = Runner(tmp_path).install(script, **tampered.environ(tmp_path, tool))
    assert code != 0
    assert {"pip": "DO NOT MATCH THE HASHES", "uv": "Hash mismatch for `mdurl==0.1.2`"}[tool] in output
    assert not (tmp_path / "path").exists()
