"""Merge pull requests against a hub, through the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from infx.hub.rules import ACTIONS_APP, QueueRule
from tests.calling import Called
from tests.merge.world import APP, OTHER, OWN, World
from tests.reconcile.world import BASE, LABEL

SWEEP, SIGNOFF = "infx/sweep", "codeowner-signoff-verify"


def reason(called: Called) -> str:
    assert called.code == 1, called.err
    return str(called.json["reason"])


def ready(world: World) -> None:
    """Open a pull request whose branch needs no commit."""
    world.pull(files={"perf-changelog.yaml": BASE + OWN})


def comment_event(world: World, body: str, by: str = "mia") -> tuple[str, Any]:
    world.hub.comment(77, body, by=by)
    event = [event for event in world.hub.state.events if event.name == "issue_comment"][-1]
    return event.name, event.payload


def test_a_changelog_conflict_is_resolved_and_the_pull_request_merged(world: World) -> None:
    world.pull()
    base = world.conflict()
    before = world.head()
    assert not world.statuses()
    called = world.merge()
    assert called.code == 0, called.err
    assert [step["step"] for step in called.json["steps"]] == [
        "publish-statuses",
        "update-branch",
        "publish-statuses",
        "done",
    ]
    pushed = world.hub.git.commit(world.head())
    assert pushed.parents == (before, base)
    assert pushed.message == "Merge main, with its changelog entries first [skip-sweep]"
    assert world.statuses() == {SWEEP: "success", SIGNOFF: "success"}
    assert world.file() == BASE + OTHER + OWN
    merged = world.hub.git.commit(world.hub.git.resolve("main") or "")
    assert merged.parents == (base,)  # squashed
    assert world.hub.state.pulls[77].merged_by == APP
    assert not [c for c in world.hub.comments_of(77) if "/use" in (c.body or "") and c.author == APP]
    assert len(world.hub.log) <= 70

    world.hub.clear_log()
    again = world.merge()
    assert again.code == 0
    assert again.json["outcome"] == "merged"
    assert world.hub.writes == 0


def test_a_dry_run_names_the_steps_and_writes_nothing(world: World) -> None:
    world.pull()
    called = world.merge("77", "--dry-run")
    assert called.code == 0, called.err
    assert called.json["outcome"] == "planned"
    names = [step["step"] for step in called.json["steps"]]
    assert names == ["publish-statuses", "update-branch", "wait", "merge"]
    assert world.hub.writes == 0
    assert world.hub.state.pulls[77].merged_at is None


def test_the_workflow_token_alone_names_the_command_for_a_person(world: World) -> None:
    """What it pushes or merges starts nothing, so the merge would have no run."""
    ready(world)
    called = world.merge(app=False)
    assert reason(called) == "no-app-token"
    assert f"infx merge 77 --head {world.head()}" in called.summary
    assert world.hub.state.pulls[77].merged_at is None


def test_a_person_merges_from_a_laptop(world: World, on_wait: list[Callable[[], None]]) -> None:
    """The statuses come from a workflow, because infx trusts only its publisher's."""
    ready(world)

    def reconcile() -> None:
        for context in (SWEEP, SIGNOFF):
            world.hub.set_status(world.head(), context, "success", description="Done.")

    on_wait.append(reconcile)
    called = world.merge(by="mia")
    assert called.code == 0, called.err
    assert world.hub.state.pulls[77].merged_by == "mia"
    assert [status.creator for status in world.hub.state.statuses] == ["github-actions[bot]"] * 2


def test_required_checks_must_be_green_on_the_head(world: World, on_wait: list[Callable[[], None]]) -> None:
    ready(world)
    world.hub.add_ruleset(("ci", ACTIONS_APP))
    world.hub.set_status(world.head(), "ci", "success", by="noor")  # not from the app that the rule names
    called = world.merge("77", "--wait", "0")
    assert reason(called) == "timeout"
    assert "by the app that the rule names" in called.err

    def succeed() -> None:
        run = world.hub.add_run("ci.yml", pull=77)
        world.hub.add_job(run.id, "ci", conclusion="success")

    on_wait.append(succeed)
    assert world.merge().code == 0
    assert world.hub.state.pulls[77].merged_at


def test_a_queue_gets_the_pull_request_with_canonical_links(world: World) -> None:
    world.pull()
    world.hub.add_ruleset(("ci", ACTIONS_APP), queue=QueueRule())
    run = world.hub.add_run("ci.yml", pull=77)
    world.hub.add_job(run.id, "ci", conclusion="success")
    called = world.merge("77", "--wait", "0")
    assert reason(called) == "timeout"  # the pushed head has no check yet
    run = world.hub.add_run("ci.yml", pull=77)
    world.hub.add_job(run.id, "ci", conclusion="success")
    called = world.merge("77", "--head", called.json["head"])
    assert called.code == 0, called.err
    assert called.json["outcome"] == "queued"
    assert [(entry.pull, entry.head_sha) for entry in world.hub.state.queue] == [(77, world.head())]
    assert world.file("feat-77") == BASE + OWN
    assert world.merge().json["outcome"] == "queued"
    assert len(world.hub.state.queue) == 1


def test_a_branch_that_must_be_up_to_date_gets_the_base_branch(world: World) -> None:
    ready(world)
    world.hub.add_ruleset(SWEEP, strict=True)
    tip = world.hub.push("main", {"README.md": "newer\n"})
    assert world.merge().code == 0
    assert tip in world.hub.git.commit(world.head()).parents
    assert world.file() == BASE + OWN


def test_a_comment_merges_the_head_that_it_names(world: World) -> None:
    ready(world)
    event = comment_event(world, f"/merge {world.head()}")
    called = world.merge(event=event, GITHUB_ACTIONS="true", GITHUB_TRIGGERING_ACTOR="mia")
    assert called.code == 0, called.err
    assert world.hub.state.pulls[77].merged_at
    (reaction,) = [r for c in world.hub.comments_of(77) if c.author == "mia" for r in c.reactions]
    assert reaction.content == "+1"


@pytest.mark.parametrize(
    ("by", "body", "words"),
    [
        ("tia", "/merge {head}", "does not have the role"),
        ("mia", "/merge {other}", "other changes"),
        ("mia", "/merge", "full head SHA"),
    ],
)
def test_a_comment_that_does_not_count_gets_a_thumb_down(
    world: World, by: str, body: str, words: str
) -> None:
    ready(world)
    event = comment_event(world, body.format(head=world.head(), other="d" * 40), by)
    called = world.merge(event=event, GITHUB_ACTIONS="true", GITHUB_TRIGGERING_ACTOR=by)
    assert called.code == 1
    assert words in called.err
    assert world.hub.state.pulls[77].merged_at is None
    (reaction,) = [r for c in world.hub.comments_of(77) if c.author == by for r in c.reactions]
    assert reaction.content == "-1"


def test_a_comment_about_something_else_starts_nothing(world: World) -> None:
    ready(world)
    event = comment_event(world, "see src/merge")
    world.hub.clear_log()
    called = world.merge(event=event, GITHUB_ACTIONS="true")
    assert (called.code, len(world.hub.log)) == (0, 1)


def test_a_fork_is_merged_as_it_is(world: World) -> None:
    """Only the branch update is impossible; its reason names the author's commands."""
    world.pull(repository="eve/bench", by="eve")
    run = world.sweep(pull=None, event="workflow_dispatch", branch="main", title=f"PR 77 at {world.head()}")
    url = f"https://github.com/acme/bench/actions/runs/{run}"
    world.hub.set_status(world.head(), "infx/approval", "success", target_url=url)
    called = world.merge()
    assert reason(called) == "fork"
    assert "infx changelog canonicalize --pr 77 --write" in called.json["fix"]


def test_two_merges_at_once_end_in_one(world: World, on_wait: list[Callable[[], None]]) -> None:
    """The second one starts when the first has pushed and waits for a check."""
    world.pull()
    world.conflict()
    world.hub.add_ruleset("ci")
    ends: list[Called] = []

    def start_another() -> None:
        run = world.hub.add_run("ci.yml", pull=77)
        world.hub.add_job(run.id, "ci", conclusion="success")
        ends.append(world.merge())

    on_wait.append(start_another)
    ends.append(world.merge())
    assert [(called.code, called.json["outcome"]) for called in ends] == [(0, "merged"), (0, "merged")]
    assert world.file() == BASE + OTHER + OWN


def test_a_push_during_the_merge_is_not_merged(world: World, on_wait: list[Callable[[], None]]) -> None:
    ready(world)
    world.hub.add_ruleset("ci")

    def push() -> None:
        world.hub.push("feat-77", {"benchmarks/run.sh": "false\n"})

    on_wait.append(push)
    called = world.merge()
    assert reason(called) == "head-moved"
    assert world.hub.state.pulls[77].merged_at is None


def test_a_merge_that_github_refuses_is_not_forced(world: World) -> None:
    ready(world)
    world.hub.allow_methods("merge")
    called = world.merge()
    assert reason(called) == "github"
    assert "Squash merges are not allowed" in called.err


def test_an_unready_pull_request_is_left_alone(world: World) -> None:
    """It gets no commit as long as a person owes something."""
    world.pull(labels=[LABEL, "evals-only"])
    before = world.head()
    called = world.merge()
    assert reason(called) == "excluding-label"
    assert called.err.count(called.json["fix"]) == 1  # the steps before the error do not repeat it
    assert world.head() == before


def test_the_words_of_git_about_a_refused_push_have_no_escapes(world: World) -> None:
    """git answers with several lines, and an error is one line."""
    world.pull()
    world.conflict()
    hook = world.hub.git.path / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho first >&2\necho second >&2\nexit 1\n")
    hook.chmod(0o755)
    called = world.merge()
    assert reason(called) == "push"
    assert re.search("first.*second", called.err)
    assert "\\n" not in called.err


def test_a_wait_is_bounded_in_time_and_in_requests(world: World) -> None:
    ready(world)
    world.hub.add_ruleset("ci")
    called = world.merge("77", "--wait", "600")
    assert reason(called) == "timeout"
    assert "ci was not reported" in called.err
    assert sum(world.waited) == 600
    assert len(world.hub.log) <= 40 + 3 * len(world.waited)
    assert len(world.waited) <= 30


def test_an_update_that_git_refuses_names_the_command_for_a_person(world: World) -> None:
    """An App without the permission `workflows` cannot push a merge of a base branch that changed workflows."""
    world.pull()
    world.conflict(".github/workflows/other.yml", "on: push\n")
    world.hub.push_as(world.hub.app_token(APP, contents="write"))
    before = world.head()
    called = world.merge()
    assert reason(called) == "push"
    assert f"infx merge 77 --head {before}" in called.summary
    assert world.head() == before
