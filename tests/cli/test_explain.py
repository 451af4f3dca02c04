"""`infx explain --pr N` for all readers of a pull request: inside and outside a clone, with and without a token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infx.hub.faults import FOREVER, Fault, FaultKind
from tests.calling import call
from tests.reconcile.world import LABEL, World

UNKNOWN = "GitHub does not show this token whether mia, who added the label, has write access."


@dataclass
class Asker:
    world: World

    def explain(self, *options: str) -> Any:
        """Return the explanation of pull request 77, as JSON."""
        about = () if "--event" in options else ("--pr", "77")
        called = call("explain", *about, "--format", "json", *options)
        assert called.code == 0, called.err
        return called.json


@pytest.fixture(params=["in a clone", "outside of one"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    return tmp_path / "clone" if request.param == "in a clone" else elsewhere


@pytest.fixture(params=["without a token", "with a token that may only read", "with a token that may push"])
def token(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def asker(
    place: Path,
    token: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Asker]:
    world = World.make(tmp_path)
    hub = world.hub
    hub.account("mia", role="maintain")
    hub.account("ria", role="read")
    secret = {
        "without a token": None,
        "with a token that may only read": hub.user_token("ria"),
        "with a token that may push": hub.user_token("mia"),
    }[token]
    monkeypatch.setenv("GITHUB_API_URL", hub.api)
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    if secret:
        monkeypatch.setenv("GH_TOKEN", secret)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.chdir(place)
    yield Asker(world)
    hub.stop()


def test_a_label_that_has_not_started_a_sweep_yet(asker: Asker, token: str) -> None:
    """Only one fact needs a permission: whether the account that set the label may start a sweep."""
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    answer = asker.explain("--repo", "acme/bench")
    assert (answer["verdict"], answer["reason"]) == ("run", "ready")
    assert answer["looked-at"]["labels"] == LABEL
    may_ask = token == "with a token that may push"
    assert (UNKNOWN in answer["notes"]) is not may_ask
    shown = "permission write, role maintain" if may_ask else "permission unknown"
    assert answer["looked-at"]["label added by"] == f"mia ({shown})"


def test_a_label_from_an_account_without_write_access(asker: Asker, token: str) -> None:
    """Without the permission to ask, the answer must not be that the sweep starts normally."""
    asker.world.pull()
    asker.world.hub.account("tria", role="triage")
    asker.world.hub.label(77, LABEL, by="tria")
    answer = asker.explain("--repo", "acme/bench")
    if token == "with a token that may push":
        assert answer["reason"] == "label-started-nothing"
        assert "was added by tria, who has no write access" in answer["sentence"]
    else:
        assert answer["reason"] == "ready"
        assert any("whether tria, who added the label, has write access" in note for note in answer["notes"])


def test_other_facts_are_the_same_for_every_token(asker: Asker) -> None:
    asker.world.pull(labels=[LABEL, "sweep-enabled"])
    answer = asker.explain("--repo", "acme/bench")
    assert answer["reason"] == "conflicting-labels"
    assert answer["notes"] == []


def test_an_existing_sweep_is_found(asker: Asker) -> None:
    """The permission is not asked for if a run exists."""
    asker.world.pull(labels=[LABEL])
    run_of_it = asker.world.sweep(done=2)
    answer = asker.explain("--repo", "acme/bench")
    assert answer["reason"] == "run-exists"
    assert str(run_of_it.id) in answer["sentence"]
    assert not [exchange for exchange in asker.world.hub.log if exchange.path.endswith("/permission")]


@pytest.mark.parametrize("name", ["pull_request", "workflow_dispatch"])
def test_explain_answers_facts_of_an_event_that_gate_refuses(
    asker: Asker, token: str, name: str, tmp_path: Path
) -> None:
    """Most tokens cannot see whether mia may start a sweep, and the gate must know it."""
    head = asker.world.pull().head_sha
    asker.world.hub.label(77, LABEL, by="mia")
    pull = {"number": 77, "head": {"sha": head}, "base": {"ref": "main"}}
    payloads: dict[str, dict[str, Any]] = {
        "pull_request": {"action": "labeled", "label": {"name": LABEL}, "pull_request": pull},
        "workflow_dispatch": {"inputs": {"pr": "77"}, "ref": "refs/heads/main", "workflow": "x"},
    }
    event, facts = tmp_path / "event.json", tmp_path / "facts.json"
    event.write_text(json.dumps({**payloads[name], "sender": {"login": "mia"}}))
    answer = asker.explain("--repo", "acme/bench", "--event", str(event), "--save-facts", str(facts))
    assert answer["verdict"] == "run"
    may_ask = token == "with a token that may push"
    shown = "permission write, role maintain" if may_ask else "permission unknown"
    assert answer["looked-at"]["caused by"] == f"mia ({shown})"
    note = "GitHub does not show this token whether mia has write access."
    assert (note in answer["notes"]) is not may_ask
    for source in (["--event", str(event)], ["--facts", str(facts)]):
        called = call("gate", "--repo", "acme/bench", *source)
        assert called.code == (0 if may_ask else 3)
        assert bool(called.out) is may_ask


def test_a_changelog_that_was_not_judged_is_mentioned(asker: Asker, place: Path) -> None:
    """The changelog is not judged outside a clone and without infx's status on the head."""
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    note = "perf-changelog.yaml was not validated: ask in a clone."
    assert (note in asker.explain("--repo", "acme/bench")["notes"]) is (place.name != "clone")


def test_the_text_for_people_says_the_same(asker: Asker, token: str) -> None:
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    called = call("explain", "--pr", "77", "--repo", "acme/bench", "--format", "table")
    assert called.code == 0
    assert (UNKNOWN in called.out) is (token != "with a token that may push")
    assert "infx merge 77 --dry-run" in called.out


def test_no_answer_from_github_is_not_an_unknown_permission(asker: Asker) -> None:
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    fault = Fault(kind=FaultKind.BAD_GATEWAY, path="/permission", times=FOREVER)
    asker.world.hub.faults.add(fault)
    called = call("explain", "--pr", "77", "--repo", "acme/bench")
    assert called.code == 3
    assert called.out == ""
