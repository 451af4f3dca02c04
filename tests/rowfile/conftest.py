"""Fixtures: a plan with launches, which is cut once, and a machine for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rowfile.launching import OTHER, RUNNERS, LaunchMachine, write_launch_plan


@pytest.fixture(scope="session")
def launch_plan(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a plan folder and the id of its row."""
    folder, here = tmp_path_factory.mktemp("plan"), Path.cwd()
    os.chdir(folder)
    try:
        return folder / "sweep-plan", write_launch_plan(folder)
    finally:
        os.chdir(here)


@pytest.fixture
def machine(tmp_path: Path, launch_plan: tuple[Path, str]) -> Iterator[LaunchMachine]:
    made = LaunchMachine(tmp_path, *launch_plan)
    yield made
    made.kill_all([*RUNNERS.values(), *OTHER.values()])
