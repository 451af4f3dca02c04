"""The hub with one pull request and a target, for every test that takes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publish.world import Publishing, open_publishing


@pytest.fixture
def publishing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publishing]:
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    with open_publishing(tmp_path) as made:
        monkeypatch.setattr("infx.cli.publish_jobs.open_results", lambda policy: made.store)
        yield made
