"""infx reconcile and infx comment, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from infx.hub import Fault, FaultKind
from tests.calling import call
from tests.reconcile.world import BASE, LABEL, POLICY, World, entry


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Enter the clone, with the hub's address and a token in the environment."""
    world = World.make(tmp_path)
    (tmp_path / "policy.yaml").write_bytes(POLICY)
    for name, value in world.hub.environ(world.token()).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("INFX_POLICY", str(tmp_path / "policy.yaml"))
    monkeypatch.chdir(tmp_path / "clone")
    yield world
    world.hub.stop()


def test_a_dry_run_prints_changes_and_makes_none(world: World) -> None:
    world.pull(labels=[LABEL, "sweep-enabled"])
    world.hub.clear_log()
    called = call("reconcile", "--pr", "77", "--dry-run")
    assert called.code == 0
    printed = json.loads(called.out)
    assert printed["dry-run"] is True
    assert [action["action"] for action in printed["actions"]] == [
        "create-comment",
        "create-comment",
        "set-status",
    ]
    assert printed["actions"][1]["comment"] == "notice labels"
    assert "PR 77: create the greeting comment" in called.err
    assert world.hub.writes == 0
    assert world.comments() == []


def test_several_pull_requests_and_a_summary_line(world: World) -> None:
    for number in (77, 78):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    called = call("reconcile", "--pr", "77", "--pr", "78", "--format", "table")
    assert called.code == 0
    assert called.out.count("create the greeting comment") == 2
    assert "Pull requests: 2. Changes: 4." in called.err
    called = call("reconcile", "--all", "--format", "table")
    assert called.code == 0
    assert called.out == ""
    assert call("reconcile", "--since", "7d", "--format", "json").code == 0


def test_since_uses_the_clock_of_github(world: World) -> None:
    """The hub's clock differs from this machine's."""
    world.pull()
    world.clock.now += timedelta(hours=1)
    called = call("reconcile", "--since", "2h", "--format", "table")
    assert called.code == 0
    assert "Pull requests: 1." in called.err
    world.clock.now += timedelta(hours=3)
    called = call("reconcile", "--since", "2h", "--format", "table")
    assert called.code == 0
    assert "Pull requests: 0." in called.err


def test_a_write_that_is_refused_is_exit_code_3(world: World) -> None:
    world.pull()
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, method="POST", path="/statuses/"))
    called = call("reconcile", "--pr", "77")
    assert called.code == 3
    assert "refused: PR 77: set" in called.err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--all", "--pr", "77"),
        ("--all", "--since", "2h"),
        ("--since", "soon"),
        ("--since", "0h"),
        ("--pr", "0"),
    ],
)
def test_exactly_one_way_to_choose_pull_requests_is_needed(world: World, arguments: tuple[str, ...]) -> None:
    assert call("reconcile", *arguments).code == 2
    assert world.hub.log == []


def test_an_unknown_number_does_not_stop_the_others(world: World) -> None:
    """The other pull requests are still updated."""
    world.pull()
    called = call("reconcile", "--pr", "9999", "--pr", "77")
    assert called.code == 3
    assert "PR 9999: acme/bench has no pull request 9999." in called.err
    assert json.loads(called.out)["failed"] == [
        {"pull": 9999, "message": "acme/bench has no pull request 9999."}
    ]
    assert len(world.bot_comments()) == 1


def test_after_a_push(world: World) -> None:
    world.pull(labels=[LABEL])
    before = world.hub.git.resolve("main") or ""
    world.hub.push("main", {"perf-changelog.yaml": BASE + entry("other")})
    called = call("reconcile", "--after-push", before, "--format", "table")
    assert called.code == 0
    assert "create the notice conflict comment" in called.out


@pytest.mark.parametrize("before", ["0" * 40, "f" * 40])
def test_after_a_forced_push_all_pull_requests_are_checked(world: World, before: str) -> None:
    world.pull(labels=[LABEL])
    assert call("reconcile", "--after-push", before).code == 0
    assert len(world.bot_comments()) == 1


def test_a_comment_that_could_not_be_posted_is_in_the_summary(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GH_TOKEN", world.hub.fork_token())
    world.pull(labels=[LABEL, "sweep-enabled"])
    world.hub.clear_log()
    called = call("reconcile", "--pr", "77")
    assert called.code == 3
    assert world.hub.writes == 2  # one comment and one status were tried, each once
    assert "Thank you for the contribution!" in called.summary
    assert "2 conflicting sweep labels" in called.summary
    assert "warning: refused: PR 77: create the greeting comment" in called.err


def test_an_unreachable_github_is_exit_3_and_does_not_stop_the_others(world: World) -> None:
    for number in (77, 78):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    world.hub.faults.add(Fault(kind=FaultKind.DROP, method="POST", path="/issues/77/"))
    called = call("reconcile", "--pr", "77", "--pr", "78")
    assert called.code == 3
    assert "The outcome of POST /repos/acme/bench/issues/77/comments is unknown" in called.err
    assert len(json.loads(called.out)["actions"]) == 2
    assert world.bot_comments(78)


def test_a_comment_by_an_unknown_identity_is_deleted_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise every run would post again, because it could not recognize the comment of the run before."""
    may = {"pull_requests": "write", "statuses": "write", "actions": "read"}
    monkeypatch.setenv("GH_TOKEN", world.hub.app_token("other-bot[bot]", may))
    world.pull()
    called = call("reconcile", "--pr", "77")
    assert called.code == 1
    assert "The token writes as other-bot[bot]" in called.err
    assert world.comments() == []


def test_outside_a_clone_it_uses_the_api_only(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    world.pull({"perf-changelog.yaml": BASE + entry(link="TBD")}, labels=[LABEL])
    world.hub.push("main", {"perf-changelog.yaml": BASE + entry("other")})
    assert call("reconcile", "--pr", "77").code == 0
    assert call("reconcile", "--pr", "77").code == 0  # mergeable is known now
    assert [line for line in world.bot_comments() if "conflict" in line]
    assert call("reconcile", "--after-push", "f" * 40).code == 2


def test_hostile_text_starts_no_workflow_command(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    name = "benchmarks/::error::x ##[error]y"
    world.pull({name: "mine"}, labels=[LABEL])
    world.hub.push("main", {name: "theirs"})
    called = call("reconcile", "--pr", "77", "--format", "table")
    assert called.code == 0
    assert not [
        line
        for line in (called.out + called.err).splitlines()
        if line.lstrip().startswith("::") or "##[" in line
    ]


def test_comments_can_be_printed_without_posting_them(world: World) -> None:
    called = call("comment", "greeting")
    assert called.code == 0
    assert called.out.startswith("<!-- infx-greeting -->\nThank you")
    world.pull(labels=[LABEL, "sweep-enabled"])
    called = call("comment", "visualizer", "--pr", "77")
    assert called.code == 0
    assert called.out == ""
    world.sweep(done=1)
    called = call("comment", "visualizer", "--pr", "77")
    assert called.code == 0
    assert "unofficialRun=300" in called.out
    called = call("comment", "notice", "--pr", "77")
    assert called.code == 0
    assert "2 conflicting sweep labels" in called.out
    assert world.hub.writes == 0


@pytest.mark.parametrize("has_clone", [True, False], ids=["clone", "no clone"])
def test_explain_reports_a_broken_changelog(
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    has_clone: bool,
) -> None:
    """A clone is needed to judge it; elsewhere the red status that reconcile has set is used."""
    world.pull({"perf-changelog.yaml": BASE + entry(link="TBD")}, labels=[LABEL])
    if not has_clone:
        assert call("reconcile", "--pr", "77").code == 0
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("GITHUB_REPOSITORY", "acme/bench")
    called = call("explain", "--pr", "77", "--format", "table")
    assert called.code == 0
    assert called.out.startswith(
        "No sweep: the changelog perf-changelog.yaml has 1 problem: perf-changelog.yaml:11:"
    )
    assert "`infx changelog validate` lists them all." in called.out


def test_explain_answers_in_a_clone_that_cannot_fetch(world: World) -> None:
    world.hub.account("cody", role="write")
    world.pull(labels=[LABEL])
    world.clone.run("remote", "set-url", "origin", "/nowhere/acme/bench")
    called = call("explain", "--pr", "77", "--format", "table")
    assert called.code == 0
    assert called.out.startswith("Sweep: full")
    assert "The changelog could not be judged in this clone: git fetch failed" in called.err
