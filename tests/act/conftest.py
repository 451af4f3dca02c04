"""A hub with the project's own configurations on main."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.hub.hub import Hub
from tests.conftest import ROOT


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with Hub(tmp_path / "hub") as hub:
        hub.is_limited = False
        hub.account("cody", role="write")
        hub.account("mia", role="maintain")
        paths = [path for path in (ROOT / "configs").rglob("*") if path.is_file()]
        files = {
            str(path.relative_to(ROOT)): path.read_bytes() for path in [*paths, ROOT / "perf-changelog.yaml"]
        }
        hub.push("main", files)
        yield hub
