"""`infx explain --pr N` for everybody who can see the pull request: in a clone and outside, with a token and without."""

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
        """What it says about pull request 77, as JSON."""
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


def test_a_label_that_has_started_nothing_yet(asker: Asker, token: str) -> None:
    """The one question that needs a permission: may the person who put the label on start anything?"""
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    said = asker.explain("--repo", "acme/bench")
    assert (said["verdict"], said["reason"]) == ("run", "ready")
    assert said["looked-at"]["labels"] == LABEL
    may_ask = token == "with a token that may push"
    assert (UNKNOWN in said["notes"]) is not may_ask
    told = "permission write, role maintain" if may_ask else "permission unknown"
    assert said["looked-at"]["label added by"] == f"mia ({told})"


def test_a_label_put_on_by_somebody_without_write_access(asker: Asker, token: str) -> None:
    """Who may not ask cannot be told, and must not be told that all is well."""
    asker.world.pull()
    asker.world.hub.account("tria", role="triage")
    asker.world.hub.label(77, LABEL, by="tria")
    said = asker.explain("--repo", "acme/bench")
    if token == "with a token that may push":
        assert said["reason"] == "label-started-nothing"
        assert "was added by tria, who has no write access" in said["sentence"]
    else:
        assert said["reason"] == "ready"
        assert any("tria, who added the label," in note for note in said["notes"])


def test_what_needs_no_permission_is_answered_alike(asker: Asker) -> None:
    asker.world.pull(labels=[LABEL, "sweep-enabled"])
    said = asker.explain("--repo", "acme/bench")
    assert said["reason"] == "conflicting-labels"
    assert said["notes"] == []


def test_a_sweep_that_is_there_is_seen(asker: Asker) -> None:
    """Neither is the permission asked for then."""
    asker.world.pull(labels=[LABEL])
    run_of_it = asker.world.sweep(done=2)
    said = asker.explain("--repo", "acme/bench")
    assert said["reason"] == "run-exists"
    assert str(run_of_it.id) in said["sentence"]
    assert not [exchange for exchange in asker.world.hub.log if exchange.path.endswith("/permission")]


@pytest.mark.parametrize("name", ["pull_request", "workflow_dispatch"])
def test_an_event_is_explained_and_nothing_is_done_by_it(
    asker: Asker, token: str, name: str, tmp_path: Path
) -> None:
    """Whether mia may start a sweep is hidden from most tokens; what acts on the answer must know it."""
    head = asker.world.pull().head_sha
    asker.world.hub.label(77, LABEL, by="mia")
    pull = {"number": 77, "head": {"sha": head}, "base": {"ref": "main"}}
    payloads: dict[str, dict[str, Any]] = {
        "pull_request": {"action": "labeled", "label": {"name": LABEL}, "pull_request": pull},
        "workflow_dispatch": {"inputs": {"pr": "77"}, "ref": "refs/heads/main", "workflow": "x"},
    }
    event, facts = tmp_path / "event.json", tmp_path / "facts.json"
    event.write_text(json.dumps({**payloads[name], "sender": {"login": "mia"}}))
    said = asker.explain("--repo", "acme/bench", "--event", str(event), "--save-facts", str(facts))
    assert said["verdict"] == "run"
    may_ask = token == "with a token that may push"
    told = "permission write, role maintain" if may_ask else "permission unknown"
    assert said["looked-at"]["caused by"] == f"mia ({told})"
    note = "GitHub does not show this token whether mia has write access."
    assert (note in said["notes"]) is not may_ask
    for source in (["--event", str(event)], ["--facts", str(facts)]):
        called = call("gate", "--repo", "acme/bench", *source)
        assert called.code == (0 if may_ask else 3)
        assert bool(called.out) is may_ask


def test_a_changelog_that_nobody_judged_is_not_passed_over(asker: Asker, place: Path) -> None:
    """Outside of a clone, and without our status on the head, nobody can tell."""
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    note = "perf-changelog.yaml was not validated: ask in a clone."
    assert (note in asker.explain("--repo", "acme/bench")["notes"]) is (place.name != "clone")


def test_the_words_for_people_say_it_too(asker: Asker, token: str) -> None:
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    called = call("explain", "--pr", "77", "--repo", "acme/bench", "--format", "table")
    assert called.code == 0
    assert (UNKNOWN in called.out) is (token != "with a token that may push")


def test_a_github_that_does_not_answer_is_not_an_unknown_permission(asker: Asker) -> None:
    asker.world.pull()
    asker.world.hub.label(77, LABEL, by="mia")
    fault = Fault(kind=FaultKind.BAD_GATEWAY, path="/permission", times=FOREVER)
    asker.world.hub.faults.add(fault)
    called = call("explain", "--pr", "77", "--repo", "acme/bench")
    assert called.code == 3
    assert called.out == ""
