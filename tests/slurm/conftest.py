"""A real Slurm cluster for the session, and a machine whose launches use it; only pyxis and enroot are stand-ins."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rowfile.launching import OTHER, RUNNERS, LaunchMachine, write_launch_plan
from tests.slurm.cluster import find_obstacle, run_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[dict[str, str]]:
    """Return the variables by which clients find the cluster."""
    if obstacle := find_obstacle():
        pytest.skip(obstacle)
    # A socket's path has at most 107 characters, and pytest's folders are deep.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, run_cluster(Path(folder)) as variables:
        yield variables


@pytest.fixture(scope="session")
def slurm_plan(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder, here = tmp_path_factory.mktemp("plan"), Path.cwd()
    os.chdir(folder)
    try:
        return folder / "sweep-plan", write_launch_plan(folder)
    finally:
        os.chdir(here)


@pytest.fixture
def machine(
    tmp_path: Path, slurm_plan: tuple[Path, str], cluster: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[LaunchMachine]:
    for name, value in cluster.items():
        monkeypatch.setenv(name, value)
    made = LaunchMachine(tmp_path, *slurm_plan)
    made.use_real_slurm()
    yield made
    for runner in (*RUNNERS.values(), *OTHER.values()):
        made.ask_slurm("scancel", f"--name=infx-{runner}")
    made.kill_all([*RUNNERS.values(), *OTHER.values()])
