"""The gate and `infx explain` against a hub: they follow the decision about reuse, and ask for it only if it matters."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from infx.git import Git
from infx.hub.faults import FOREVER, Fault, FaultKind
from infx.hub.state import Run
from tests.calling import Called
from tests.reuse.world import M1_RECIPE, World, masters

LABEL = "full-sweep-fail-fast"


@pytest.fixture(autouse=True)
def labeled(world: World) -> None:
    world.hub.label(77, LABEL, by="mia")


def push(world: World, **files: str) -> Called:
    """Push to the pull request, and call the gate for this event."""
    world.hub.push("feat-x", files or {"README.md": f"Words {world.now}\n"}, "more", by="mia")
    return gate(world, last_event(world, "pull_request"))


def last_event(world: World, name: str) -> tuple[str, Any]:
    event = [event for event in world.hub.state.events if event.name == name][-1]
    return event.name, event.payload


def gate(world: World, event: tuple[str, Any], **more: Any) -> Called:
    world.hub.clear_log()
    return world.call("gate", event=event, **more)


def explain(world: World, *arguments: str, **more: Any) -> Called:
    return world.call("explain", "--format", "json", *arguments, **more)


def verdict(called: Called) -> tuple[str, str, bool]:
    assert called.code == 0, called.err
    return called.json["verdict"], called.json["reason"], called.json["refused"]


def partial_sweep(world: World) -> Run:
    return world.sweep("failure", failing=[0, 1, 2])


# A push to the pull request


def test_a_push_starts_no_sweep_if_a_finished_one_covers_it(world: World) -> None:
    run = world.sweep()
    world.ask()
    called = push(world)
    assert verdict(called) == ("ignore", "reused", False)
    assert called.json["sentence"] == f"No sweep: the results of run {run.id} are reused: 4 of 4 rows."
    assert called.outputs["reuse-source-run-id"] == str(run.id)
    assert called.outputs["reuse-source-pr-number"] == "77"
    assert called.outputs["reuse-source-head-sha"] == world.hub.state.runs[run.id].head_sha
    assert called.outputs["reuse-source-run-url"].endswith(f"/actions/runs/{run.id}")


def test_a_push_after_an_unusable_request_is_red(world: World) -> None:
    """The sweep is not skipped silently, and none starts for someone who asked for the opposite."""
    run = partial_sweep(world)
    world.ask()
    called = push(world)
    assert verdict(called) == ("ignore", "reuse-refused", True)
    assert f"pin it: /reuse-sweep-run {run.id}" in called.json["sentence"]
    assert called.outputs["reuse-enabled"] == "false"
    world.ask(f"/use {run.id}")
    pinned = push(world)
    assert verdict(pinned) == ("ignore", "reused", False)
    gap = "incomplete: 1 of 4 rows (3 missing)"
    assert pinned.json["words"] == f"the results of run {run.id} are reused, {gap}"
    assert gap in pinned.summary
    assert pinned.outputs["reuse-incomplete"] == "true"


def test_a_push_that_makes_the_sweep_stale_is_red(world: World) -> None:
    world.sweep()
    world.ask()
    called = push(world, **{M1_RECIPE: "vllm serve m1 --fast\n"})
    assert verdict(called) == ("ignore", "reuse-refused", True)
    assert "2 of 4 rows (2 stale)" in called.json["sentence"]


@pytest.mark.parametrize("by", ["eve", None])
def test_a_push_without_an_authorized_request_sweeps(world: World, by: str | None) -> None:
    world.sweep()
    if by is not None:
        world.ask(by=by)
    assert verdict(push(world)) == ("run", "ready", False)


@pytest.mark.parametrize("label", ["evals-only", "agentx-fast"])
def test_a_label_that_excludes_reuse_starts_its_own_sweep(world: World, label: str) -> None:
    world.sweep()
    world.ask()
    world.hub.label(77, label, by="mia")
    called = push(world)
    assert verdict(called) == ("run", "ready", False)
    assert not [one for one in world.hub.log if one.path.endswith("/comments")]


def test_a_label_after_the_request_starts_a_sweep(world: World) -> None:
    world.sweep()
    world.ask()
    world.hub.unlabel(77, LABEL, by="mia")
    world.hub.label(77, LABEL, by="mia")
    assert verdict(gate(world, last_event(world, "pull_request"))) == ("run", "ready", False)


def test_a_reuse_that_cannot_be_decided_is_no_silent_skip(world: World) -> None:
    """A gateway error while runs are listed: exit code 3, without outputs that a job could follow."""
    world.sweep()
    world.ask()
    world.hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/actions/", times=FOREVER))
    called = push(world)
    assert called.code == 3
    assert called.outputs == {}


def test_a_shallow_checkout_elsewhere_is_enough(world: World) -> None:
    """The gate's job checks out one commit into a folder; only a request needs the history."""
    run = world.sweep()
    world.ask()
    folder = world.folder / "clone"
    shutil.rmtree(folder)
    Git(world.folder).run("clone", "--quiet", "--depth", "1", f"file://{world.hub.git.path}", str(folder))
    world.hub.push("feat-x", {"README.md": "x\n"}, by="mia")
    event = last_event(world, "pull_request")
    called = world.call("gate", "--clone", str(folder), event=event, inside=False)
    assert verdict(called) == ("ignore", "reused", False)
    assert called.outputs["reuse-source-run-id"] == str(run.id)
    assert not Git(folder).is_shallow()


# Requests


def test_the_comments_are_the_only_list_that_a_gate_adds(world: World) -> None:
    push(world)
    plain = len(world.hub.log)
    world.hub.comment(77, "Nice.", by="mia")
    push(world)
    assert len(world.hub.log) == plain + 1
    world.sweep()
    world.ask()
    push(world)
    # + comments, permission, branch, runs, dispatches, artifacts, jobs, timeline
    assert len(world.hub.log) == plain + 8


@pytest.mark.parametrize("event", ["labeled", "unlabeled", "closed", "merge", "unlabeled push"])
def test_other_events_do_not_read_the_comments(world: World, event: str) -> None:
    world.sweep()
    world.ask()
    match event:
        case "labeled":
            world.hub.label(77, "all-evals", by="mia")
        case "unlabeled" | "unlabeled push":
            world.hub.unlabel(77, LABEL, by="mia")
        case "closed":
            world.hub.close_pull(77, by="mia")
    if event == "merge":  # the policy says `on-merge: nothing`
        called = gate(world, world.merge())
    elif event == "unlabeled push":
        called = push(world)
    else:
        called = gate(world, last_event(world, "pull_request"))
    assert called.code == 0
    assert not [one for one in world.hub.log if one.path.endswith(("/comments", "/artifacts"))]


# A merge


@pytest.mark.parametrize(
    ("on_merge", "case", "expected"),
    [
        ("nothing", "usable", ("ignore", "on-merge-nothing", False)),
        ("reuse", "usable", ("ignore", "reused", False)),
        ("reuse", "pinned part", ("ignore", "reused", False)),
        ("reuse", "part", ("ignore", "reuse-refused", True)),
        ("reuse", "no authority", ("ignore", "on-merge-not-reused", True)),
        ("reuse", "no request", ("ignore", "on-merge-not-reused", True)),
        ("reuse", "no pull request", ("ignore", "on-merge-not-reused", True)),
        ("reuse-or-sweep", "usable", ("ignore", "reused", False)),
        ("reuse-or-sweep", "part", ("ignore", "reuse-refused", True)),
        ("reuse-or-sweep", "no authority", ("run", "ready", False)),
        ("reuse-or-sweep", "no request", ("run", "ready", False)),
        ("reuse-or-sweep", "no pull request", ("run", "ready", False)),
        ("reuse", "excluding label", ("ignore", "reuse-refused", True)),
        ("reuse-or-sweep", "excluding label", ("ignore", "reuse-refused", True)),
    ],
)
def test_the_policy_decides_what_a_merge_does(
    world: World, on_merge: str, case: str, expected: tuple[str, str, bool]
) -> None:
    """An authorized request that fails is red under every policy that reuses; a missing one only under `reuse`."""
    world.follow(on_merge)
    run = partial_sweep(world) if "part" in case else world.sweep()
    if case == "no pull request":
        world.hub.push("main", {"perf-changelog.yaml": "[]\n"}, by="mia")
        event = world.last_push()
    else:
        if case == "excluding label":
            world.hub.label(77, "agentx-fast", by="mia")
        if case != "no request":
            body = f"/use {run.id}" if case == "pinned part" else "/reuse-sweep-run"
            world.ask(body, by="eve" if case == "no authority" else "mia")
        event = world.merge()
    called = gate(world, event)
    assert verdict(called) == expected
    assert called.outputs["reuse-enabled"] == ("true" if expected[1] == "reused" else "false")
    if case == "pinned part":
        assert "incomplete: 1 of 4 rows (3 missing)" in called.json["sentence"]


def test_a_merge_without_a_request_takes_four_requests(world: World) -> None:
    world.follow("reuse-or-sweep")
    world.hub.comment(77, "Nice.", by="mia")
    gate(world, world.merge())
    # the pushed commit, its pull requests, the pull request, and its comments
    assert len(world.hub.log) == 4


# Questions


def test_explain_shows_what_would_be_reused(world: World) -> None:
    run = partial_sweep(world)
    world.ask(f"/use {run.id}")
    called = explain(world)
    assert verdict(called) == ("ignore", "reused", False)
    assert "incomplete: 1 of 4 rows (3 missing)" in called.json["sentence"]
    assert called.json["looked-at"]["reuse"].startswith(f"run {run.id}, attempt 1, ")
    table = world.call("explain", "--format", "table").out
    assert "incomplete: 1 of 4 rows (3 missing)" in table


def test_explain_shows_it_without_a_sweep_label_too(world: World) -> None:
    run = world.sweep()
    world.ask()
    world.hub.unlabel(77, LABEL, by="mia")
    called = explain(world)
    assert called.json["reason"] == "no-primary-label"
    assert called.json["looked-at"]["reuse"].startswith(f"run {run.id}, ")


def test_a_request_during_the_sweep_does_not_hide_the_sweep(world: World) -> None:
    run = world.hub.add_run(pull=77)
    world.ask()
    called = explain(world)
    assert called.json["reason"] == "run-exists"
    assert f"run {run.id}: it has not completed" in called.json["looked-at"]["reuse"]


def test_explain_without_permission_to_ask_says_what_is_unknown(world: World) -> None:
    """GitHub shows permissions only to tokens that can push."""
    world.sweep()
    world.ask()
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/permission", times=FOREVER))
    called = explain(world)
    assert called.code == 0, called.err
    assert "GitHub does not show this token" in called.json["looked-at"]["reuse"]


def test_saved_facts_decide_the_same(world: World) -> None:
    run = partial_sweep(world)
    world.ask(f"/use {run.id}")
    saved = world.folder / "saved.json"
    asked = explain(world, "--save-facts", str(saved))
    again = explain(world, "--facts", str(saved))
    assert again.json == asked.json
    assert again.json["reuse"]["run-id"] == run.id


def test_points_that_a_later_push_adds_are_missing(world: World) -> None:
    run = world.sweep()
    world.ask(f"/use {run.id}")
    called = push(world, **{"configs/nvidia.yaml": masters((4, 8, 16), (4, 8))})
    assert verdict(called) == ("ignore", "reused", False)
    assert "incomplete: " in called.json["sentence"]
    assert "1 missing" in called.json["sentence"]
