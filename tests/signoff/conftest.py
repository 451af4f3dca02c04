"""Provide the hub with one pull request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import infx.gather.signoff_links
from infx.signoff.facts import LinkState
from tests.signoff.world import World, open_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with open_world(tmp_path) as made:
        monkeypatch.setattr(
            infx.gather.signoff_links, "fetch_page", lambda url: LinkState(made.pages.get(url, "missing"))
        )
        yield made
