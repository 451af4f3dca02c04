"""What all tests share: where the real data is, git repositories in temporary folders, profiles of hypothesis."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
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


def pytest_configure() -> None:
    """Let processes that tests start be interrupted.

    Whoever starts us may ignore signals, as nohup does and a shell's `&`, and what is ignored is inherited. What is
    handled is not: a handler that does nothing leaves us as deaf and the children as they are by default.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real configurations, history and expected outputs."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs the data folder beside the checkout")
    return SHARED / "data"


@pytest.fixture(scope="session", autouse=True)
def _plain_surroundings() -> Iterator[None]:
    """For fixtures that live longer than a test."""
    with pytest.MonkeyPatch.context() as patch:
        _leave(patch)
        yield


@pytest.fixture(autouse=True)
def _outside_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    _leave(monkeypatch)


def _leave(patch: pytest.MonkeyPatch) -> None:
    """Tests mean the same on Actions and on a laptop, whoever git thinks it belongs to; those about Actions set what
    they need.
    """
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "INFX_", "RUNNER_", "ACTIONS_")):
            patch.delenv(name)
    for who in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{who}_NAME", "cody")
        patch.setenv(f"GIT_{who}_EMAIL", "cody@example.com")
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
