"""infx results publications and withdraw, with a store in a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from infx.git import Git
from infx.store.open import open_store
from infx.store.port import ResultStore
from tests.calling import call
from tests.store.made import make_publication, make_stored

WITHDRAW = ("results", "withdraw", "--run", "2", "--reason", "wrong power limit")


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    monkeypatch.chdir(tmp_path)
    return {
        "INFX_STORE": f"sqlite:{tmp_path / 'results.db'}",
        "GITHUB_ACTOR": "octocat",
        "GITHUB_TRIGGERING_ACTOR": "",
    }


@pytest.fixture
def store(environ: Mapping[str, str], tmp_path: Path) -> ResultStore:
    store = open_store(environ["INFX_STORE"], Git(tmp_path), author="octocat")
    for run in (1, 2):
        store.publish(make_publication(run, make_stored(run, day=run)))
    return store


def test_a_run_is_withdrawn_by_the_account_that_started_the_job(
    store: ResultStore, environ: Mapping[str, str]
) -> None:
    called = call(*WITHDRAW, environ=environ)
    assert (called.code, called.err) == (0, "Run 2 is withdrawn.\n")
    assert store.read_newest(["s"])["s"][64].run == 1
    newest = store.list_publications()[0].withdrawal
    assert newest is not None
    assert (newest.by, newest.reason) == ("octocat", "wrong power limit")


def test_a_second_withdrawal_says_so(store: ResultStore, environ: Mapping[str, str]) -> None:
    call(*WITHDRAW, environ=environ)
    called = call(*WITHDRAW, "--by", "hubot", environ=environ)
    assert (called.code, called.err) == (0, "Run 2 was withdrawn before.\n")


def test_an_unknown_run_is_refused(store: ResultStore, environ: Mapping[str, str]) -> None:
    called = call("results", "withdraw", "--run", "9", "--reason", "x", environ=environ)
    assert called.code == 1
    assert "infx results publications" in called.err


@pytest.mark.parametrize("reason", ["", " \n"])
def test_a_withdrawal_needs_a_reason(reason: str, environ: Mapping[str, str]) -> None:
    assert call("results", "withdraw", "--run", "2", "--reason", reason, environ=environ).code == 2


def test_a_withdrawal_needs_a_person(environ: Mapping[str, str], tmp_path: Path) -> None:
    variables = {**environ, "GITHUB_ACTOR": "", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    called = call(*WITHDRAW, environ=variables)
    assert called.code == 2
    assert "--by" in called.err


def test_publications_are_listed(store: ResultStore, environ: Mapping[str, str]) -> None:
    call(*WITHDRAW, environ=environ)
    listed = call("results", "publications", "--format", "json", environ=environ).json
    assert [(item["run"], item["row-count"], bool(item["withdrawal"])) for item in listed] == [
        (2, 1, True),
        (1, 1, False),
    ]
    table = call("results", "publications", "--format", "table", environ=environ).out
    assert "by octocat: wrong power limit" in table


def test_a_policy_that_leaves_the_address_to_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text("results: {store: environment}\n")
    called = call("results", "publications", "--policy", "policy.yaml", environ={"INFX_STORE": ""})
    assert called.code == 2
    assert "INFX_STORE" in called.err


@pytest.mark.parametrize("store", ["postgresql://user:secret@host/db", "branch:-x", "sqlite:", "x"])
def test_a_policy_has_no_password(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(f"results: {{store: '{store}'}}\n")
    called = call("results", "publications", "--policy", "policy.yaml")
    assert called.code != 0
    assert "results.store" in called.err
