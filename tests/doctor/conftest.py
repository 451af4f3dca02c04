"""A repository with everything: its clone, its facts, and its hub, which is restored for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.doctor.facts import CheckoutFacts
from infx.gather.doctor_checkout import gather_checkout
from infx.gather.local import load_policy
from infx.hub import Hub
from infx.hub.faults import Faults
from infx.hub.service import Snapshot
from infx.policy.model import Policy
from tests.doctor.adopter import COMMIT, make_adopter
from tests.doctor.world import equip
from tests.repository import Repository

INSTALLED = "infx.gather.doctor_checkout.read_installed"


@pytest.fixture
def adopter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a clone of its own, in which the test runs."""
    repository = make_adopter(tmp_path / "bench")
    monkeypatch.chdir(repository.path)
    monkeypatch.setattr(INSTALLED, lambda: COMMIT)
    return repository


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> tuple[CheckoutFacts, Policy]:
    """Return the facts of a clone that has everything, read once, and its policy."""
    folder = tmp_path_factory.mktemp("healthy") / "bench"
    make_adopter(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(INSTALLED, lambda: COMMIT)
        policy = load_policy(None)
        return gather_checkout(folder, policy, source=None, repo=None), policy


@pytest.fixture(scope="session")
def equipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hub, Snapshot]]:
    with Hub(tmp_path_factory.mktemp("hub")) as hub:
        equip(hub)
        yield hub, hub.snapshot()
        assert hub.errors == []


@pytest.fixture
def hub(equipped: tuple[Hub, Snapshot]) -> Hub:
    hub, start = equipped
    hub.restore(start)
    hub.faults = Faults()
    hub.clear_log()
    hub.refill()
    return hub
