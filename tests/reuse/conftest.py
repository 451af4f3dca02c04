"""The hub with one pull request, for every test that takes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reuse.world import World, open_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with open_world(tmp_path) as made:
        yield made


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the seconds that commands would have waited, instead of waiting."""
    seconds: list[float] = []
    monkeypatch.setattr("infx.cli.github.wait", seconds.append)
    return seconds
