"""The names of all schemas."""

from __future__ import annotations

from tests.conftest import ROOT

NAMES = sorted(path.stem for path in (ROOT / "infx/schemas").glob("*.json"))
