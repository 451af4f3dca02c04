"""The hub with one pull request and a target, for every test that takes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publish.world import Publishing, prepare


@pytest.fixture
def publishing(tmp_path: Path) -> Iterator[Publishing]:
    with prepare(tmp_path) as made:
        yield made
