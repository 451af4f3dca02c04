"""A real Slurm cluster for the session, and a machine whose launches use it; only pyxis and enroot are stand-ins."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rowfile.launching import OTHER, RUNNERS, LaunchMachine
from tests.slurm.cluster import find_obstacle, run_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[dict[str, str]]:
    """Return the variables by which clients find the cluster."""
    if obstacle := find_obstacle():
        pytest.skip(obstacle)
    # A socket's path has at most 107 characters, and pytest's folders are deep.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, run_cluster(Path(folder)) as variables:
        yield variables


@pytest.fixture
def machine(
    cluster: dict[str, str], machine: LaunchMachine, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LaunchMachine]:
    for name, value in cluster.items():
        monkeypatch.setenv(name, value)
    machine.use_real_slurm()
    yield machine
    for runner in (*RUNNERS.values(), *OTHER.values()):
        machine.ask_slurm("scancel", f"--name=infx-{runner}")
