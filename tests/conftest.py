"""What all tests share: where the real data is, git repositories in temporary folders, profiles of hypothesis."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "nightly", max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real configurations, history and expected outputs."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs the data folder beside the checkout")
    return SHARED / "data"


@pytest.fixture(autouse=True)
def _outside_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests mean the same on a laptop and on Actions; those about Actions set what they need."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "INFX_", "RUNNER_", "ACTIONS_")):
            monkeypatch.delenv(name)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "cody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "cody@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
