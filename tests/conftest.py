"""Fixtures and settings of all tests: the real data, the environment, signals, profiles of hypothesis."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.rowfile.launching import LaunchMachine

settings.register_profile(
    "default", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "nightly", max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
BUILT_ON_GIT = {
    "apply",
    "cli",
    "evidence",
    "gather",
    "merge",
    "publish",
    "reconcile",
    "reuse",
    "security",
    "signoff",
}  # folders of tests


def pytest_configure() -> None:
    """Make sure that processes which tests start can be interrupted, and collect garbage less often."""
    # nohup and a shell's `&` make pytest ignore signals, and its children inherit that. They do not inherit a handler,
    # so a handler that does nothing keeps pytest as it is and gives children the default.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)

    # Rows, plans and nodes are many values without circles: the collector's usual rounds would take a tenth of the time.
    gc.set_threshold(100_000, 50, 100)


def pytest_collection_finish() -> None:
    """Keep the collected tests, of which there are many, out of the collector's later rounds."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with real configurations, history and expected outputs."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs the data folder next to the checkout")
    return SHARED / "data"


@pytest.fixture(scope="session", autouse=True)
def _neutral_session() -> Iterator[None]:
    """Neutralize the environment for fixtures that live longer than a test."""
    from tests.direct import registered_hubs

    with pytest.MonkeyPatch.context() as patch, registered_hubs():
        _neutralize(patch)
        yield


@pytest.fixture(scope="session")
def launch_plan(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a plan folder with launches, and the id of its row. It is cut once, because many tests use it."""
    from tests.rowfile.launching import write_launch_plan

    folder, here = tmp_path_factory.mktemp("launches"), Path.cwd()
    os.chdir(folder)
    try:
        return folder / "sweep-plan", write_launch_plan(folder)
    finally:
        os.chdir(here)


@pytest.fixture
def machine(tmp_path: Path, launch_plan: tuple[Path, str]) -> Iterator[LaunchMachine]:
    """Return a machine that can launch the row, with stand-ins for Slurm, docker and enroot."""
    from tests.rowfile.launching import OTHER, RUNNERS, LaunchMachine

    made = LaunchMachine(tmp_path, *launch_plan)
    yield made
    made.kill_all([*RUNNERS.values(), *OTHER.values()])


@pytest.fixture(autouse=True)
def _direct_calls(request: pytest.FixtureRequest) -> Iterator[None]:
    """Answer requests to hubs without HTTP, except in the tests of both of its ends."""
    if request.path.parent.name in {"github", "hub"}:
        yield
        return
    from tests.direct import direct_calls

    with direct_calls():
        yield


@pytest.fixture(autouse=True)
def _git_memory(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let git remember answers within a test of what is built on it."""
    if request.path.parent.name not in BUILT_ON_GIT:
        yield
        return
    from tests.git_memory import remembering

    with remembering():
        yield


@pytest.fixture(autouse=True)
def _neutral_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    _neutralize(monkeypatch)


def _neutralize(patch: pytest.MonkeyPatch) -> None:
    """Make tests independent of Actions and of a user's git settings; tests about Actions set its variables."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "INFX_", "RUNNER_", "ACTIONS_")):
            patch.delenv(name)
    for who in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{who}_NAME", "cody")
        patch.setenv(f"GIT_{who}_EMAIL", "cody@example.com")
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
