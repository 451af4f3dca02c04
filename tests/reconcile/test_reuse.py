"""The answer to reuse commands on a pull request: a thumb of infx on the comment that counts, and a notice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infx.hub import FOREVER, Fault, FaultKind
from infx.hub.state import Run
from infx.policy.reuse import CoverageRule
from infx.reconcile.actions import AddReaction, RemoveReaction, render_json
from tests.reconcile.world import BOT, LABEL, VISUALIZER, World, status

NOTICE = "<!-- infx-notice reuse -->"
ASK = "/reuse-sweep-run"
ENDED: dict[str, Any] = {"status": "completed", "conclusion": "success"}


@pytest.fixture(autouse=True)
def mia(world: World) -> None:
    world.hub.account("mia", role="admin")


def sweep(world: World, **more: Any) -> Run:
    """Add a completed sweep with results; by default every planned row succeeded."""
    run = world.sweep(**{**ENDED, **more})
    world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})
    return run


def expire(world: World, run: Run) -> None:
    for artifact in world.hub.state.artifacts.values():
        artifact.expired = artifact.expired or artifact.run == run.id


def answers(world: World) -> list[tuple[str, str]]:
    """Reconcile, and return infx's own reactions: the comment's body and the kind."""
    report = world.reconcile()
    assert (report.failed, report.refused) == ([], [])
    again = world.reconcile()
    assert again.done == [], "the second run has nothing to write"
    return [(body, content) for body, content, author in world.reactions() if author == BOT]


def notice(world: World) -> str:
    return next((body for body in world.comments() if body.startswith(NOTICE)), "")


def test_a_usable_sweep_gets_a_thumb_up_and_no_notice(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world)
    world.hub.comment(77, ASK, by="mia")
    assert answers(world) == [(ASK, "+1")]
    assert notice(world) == ""


def test_a_refusal_names_the_command_that_would_be_accepted(world: World) -> None:
    """R02: the only run is cancelled, so it is reused only if a command names it."""
    world.pull(labels=[LABEL])
    sweep(world, run_id=20, done=1, failed=1, conclusion="cancelled")
    world.hub.comment(77, ASK, by="mia")
    assert answers(world) == [(ASK, "-1")]
    text = notice(world)
    assert "No finished sweep is reused: this pull request has no suitable run." in text
    assert "- run `20`\\: it ended as cancelled, and it covers 1 of 2 rows" in text
    assert "\n```\n/reuse-sweep-run 20\n```\n" in text
    english, chinese = text.split("\n---\n")
    assert "name it in a comment" in english
    assert "没有复用任何已完成的 sweep" in chinese
    assert "指定它" in chinese

    pin = "/reuse-sweep-run 20"
    world.hub.comment(77, pin, by="mia")
    assert answers(world) == [(pin, "+1")]
    english, chinese = notice(world).split("\n---\n")
    assert "Run 20 is reused, but it is incomplete: the coverage is 1 of 2 rows" in english
    assert "将复用运行 20，但结果不完整：合并计划的 2 行中只覆盖了 1 行" in chinese
    assert "```" not in notice(world)


def test_a_policy_that_requires_all_rows_refuses_the_pin_too(world: World) -> None:
    world.policy = replace(world.policy, reuse=replace(world.policy.reuse, coverage=CoverageRule.REQUIRED))
    world.pull(labels=[LABEL])
    run = sweep(world, done=1, failed=1, conclusion="failure")
    world.hub.comment(77, f"/use {run.id}", by="mia")
    assert answers(world) == [(f"/use {run.id}", "-1")]
    assert "No finished sweep is reused: the coverage is 1 of 2 rows" in notice(world)
    assert "Sweep the rows that it does not cover." in notice(world)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("edit to another run", [("/use 999", "-1")]),
        ("edit to no command", [("never mind", "")]),
        ("delete", []),
        ("close", []),
        ("retarget", []),
        ("another person asks", [("/use 300\n", "+1")]),
        ("a stranger asks", [(ASK, "+1")]),
        ("the person loses the role", []),
        ("the results expire", [(ASK, "-1")]),
        ("a modifier rules reuse out", [(ASK, "-1")]),
    ],
)
def test_the_answer_follows_the_state(world: World, change: str, wanted: list[tuple[str, str]]) -> None:
    """A sweep is accepted first; then something changes, and only the new answer is left."""
    hub = world.hub
    world.pull(labels=[LABEL])
    run = sweep(world, run_id=300)
    comment = hub.comment(77, ASK, by="mia")
    assert answers(world) == [(ASK, "+1")]
    hub.react(comment.id, "+1", by="cody")
    match change:
        case "edit to another run":
            hub.edit_comment(comment.id, "/use 999")
        case "edit to no command":
            hub.edit_comment(comment.id, "never mind")
        case "delete":
            hub.delete_comment(comment.id)
        case "close":
            hub.close_pull(77)
        case "retarget":
            hub.push("release", {"x": "y"})
            hub.edit_pull(77, base="release")
        case "another person asks":
            hub.account("noor", role="write")
            hub.comment(77, "/use 300\n", by="noor")
        case "a stranger asks":
            hub.comment(77, "/use 999", by="eve")
        case "the person loses the role":
            hub.account("mia", role="read")
        case "the results expire":
            expire(world, run)
        case "a modifier rules reuse out":
            hub.label(77, "evals-only", by="mia")
    assert answers(world) == [answer for answer in wanted if answer[1]]
    people = [who for _, _, who in world.reactions() if who != BOT]
    assert people == ([] if change == "delete" else ["cody"]), "a person's reaction stays"
    assert (notice(world) != "") is any(content == "-1" for _, content in wanted)


def test_the_writes_remove_before_they_add(world: World) -> None:
    """A process that dies between them leaves no two thumbs."""
    world.pull(labels=[LABEL])
    run = sweep(world)
    comment = world.hub.comment(77, ASK, by="mia")
    answers(world)
    expire(world, run)
    world.hub.clear_log()
    world.reconcile()
    writes = [exchange.method for exchange in world.hub.log if "/reactions" in exchange.path]
    assert writes[-2:] == ["DELETE", "POST"]
    assert [reaction.content for reaction in comment.reactions] == ["-1"]


def test_a_merged_pull_request_keeps_its_answers(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world)
    world.hub.comment(77, ASK, by="mia")
    before = answers(world)
    world.hub.merge_pull(77)
    world.hub.clear_log()
    assert answers(world) == before == [(ASK, "+1")]
    assert not any("/reactions" in exchange.path for exchange in world.hub.log)


def test_without_a_clone_the_answer_stays(world: World) -> None:
    """The coverage would be unknown, so that the answer would change with the place where infx runs."""
    world.pull(labels=[LABEL])
    run = sweep(world, done=1, failed=1, conclusion="failure")
    world.hub.comment(77, f"/use {run.id}", by="mia")
    before, text = answers(world), notice(world)
    assert before == [(f"/use {run.id}", "+1")]
    assert text
    expire(world, run)
    reconciler = world.reconciler()
    reconciler.clone = None
    assert not reconciler.run([77]).failed
    assert ([seen[:2] for seen in world.reactions()], notice(world)) == (before, text)


def test_without_graphql_the_answers_are_the_same(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world)
    removed = world.hub.comment(77, "/use 1", by="mia")
    world.hub.react(removed.id, "-1", by=BOT)
    world.clock.now += timedelta(minutes=1)
    world.hub.edit_comment(removed.id, "never mind")
    world.hub.comment(77, ASK, by="mia")
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/graphql", times=FOREVER))
    assert answers(world) == [(ASK, "+1")]


def test_the_approval_of_a_fork_keeps_its_thumb(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world)
    approval = world.hub.comment(77, "/approve-sweep abc", by="mia")
    world.hub.react(approval.id, "+1", by=BOT)
    world.hub.edit_comment(approval.id, "/approve-sweep abcd")
    world.hub.comment(77, ASK, by="mia")
    assert answers(world) == [("/approve-sweep abcd", "+1"), (ASK, "+1")]


def test_reactions_are_shown_by_a_dry_run(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world)
    comment = world.hub.comment(77, ASK, by="mia")
    world.hub.react(comment.id, "-1", by=BOT)
    report = world.reconcile(dry_run=True)
    shown = [
        render_json(action) for action in report.done if isinstance(action, AddReaction | RemoveReaction)
    ]
    place = {"pull": 77, "comment-id": comment.id}
    assert shown == [
        {"action": "remove-reaction", **place, "id": comment.reactions[0].id, "content": "-1"},
        {"action": "add-reaction", **place, "content": "+1"},
    ]
    assert [reaction.content for reaction in comment.reactions] == ["-1"]


def test_the_status_and_the_visualizer_name_the_reused_run(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world, run_id=20, done=1, failed=1, conclusion="cancelled")
    answers(world)
    assert status(world)[0] == "failure"
    world.hub.comment(77, "/use 20", by="mia")
    answers(world)
    extent = "incomplete: 1 of 2 rows (1 missing)"
    assert status(world) == ("success", f"The results of run 20 are reused, {extent}.")
    (visualizer,) = [body for body in world.comments() if VISUALIZER in body]
    assert "⚠️ **Reused for the merge, incomplete" in visualizer
    assert extent in visualizer
