"""Provide a hub with the project's own configurations and workflows on main."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.hub.hub import Hub
from tests.act.bench import make_policy
from tests.conftest import ROOT


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with Hub(tmp_path / "hub") as hub:
        hub.is_limited = False
        hub.account("cody", role="write")
        hub.account("mia", role="maintain")
        paths = [
            path for name in ("configs", ".github") for path in (ROOT / name).rglob("*") if path.is_file()
        ]
        paths += [ROOT / "perf-changelog.yaml", *(ROOT / "docs").glob("PR_REVIEW_CHECKLIST*")]
        files = {str(path.relative_to(ROOT)): path.read_bytes() for path in paths}
        del files[
            "configs/clusters.yaml"
        ]  # these runners have neither Slurm nor docker: rows run the row command
        hub.push("main", {**files, "configs/policy.yaml": make_policy()})
        yield hub
