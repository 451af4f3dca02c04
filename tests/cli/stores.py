"""Publish results into a store, for tests of commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infx.git import Git
from infx.results.series import Publication, make_row
from infx.store.open import open_store
from tests.results.comparisons import FIRST_DAY


def publish(address: str, clone: Path, *rows: Mapping[str, Any]) -> None:
    stored = tuple(
        make_row(row, run=7, attempt=1, row_id=f"r{number}", commit="c" * 40, measured_at=FIRST_DAY)
        for number, row in enumerate(rows)
    )
    store = open_store(address, Git(clone), author="github-actions[bot]")
    store.publish(
        Publication(run=7, attempt=1, commit="c" * 40, origin="merge", published_at=FIRST_DAY, rows=stored)
    )
