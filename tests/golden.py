"""Cases that were made by running existing tools: where they are, and how a test reads a folder of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED

# Read when the module is imported: tests run without variables of infx.
ROOT = Path(os.environ.get("INFX_GOLDEN") or SHARED / "data" / "inferencex")


def read_cases(folder: str, pattern: str = "*.json") -> list[dict[str, Any]]:
    """Return the cases of a folder below `results`, by name; none where the data is not there."""
    return [json.loads(path.read_bytes()) for path in sorted((ROOT / "results" / folder).glob(pattern))]


def require_data() -> None:
    """Skip the test, with a reason, where the data is not there."""
    if not ROOT.is_dir():
        pytest.skip("needs the data folder next to the checkout, or INFX_GOLDEN")
