"""`infx reuse check` against a hub and real git: plans are recomputed, and what has changed since is seen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from infx.evidence.rows import SweepKind
from infx.git import Git
from infx.hub.state import Run
from tests.calling import Called
from tests.reuse.world import BASE, CHANGE, ENTRY, LIBRARY, M1_RECIPE, OLD, OTHER_RECIPE, World, masters


def answer(called: Called) -> tuple[str, str, int | None]:
    """Return verdict, reason and source of a decision; every decision ends with 0."""
    assert called.code == 0, called.err
    source = called.json["source"]
    return called.json["verdict"], called.json["reason"], source and source["run"]


def counts(called: Called) -> tuple[int, int, int]:
    """Return how many rows are covered, stale and missing."""
    coverage = called.json["coverage"]
    return len(coverage["covered"]), len(coverage["stale"]), len(coverage["missing"])


def test_a_green_sweep_of_the_head_is_reused(world: World) -> None:
    run = world.sweep()
    world.ask()
    called = world.check()
    assert answer(called) == ("reuse", "newest", run.id)
    assert counts(called) == (4, 0, 0)
    assert called.json["asked-by"] == "mia"
    assert called.json["source"]["head-sha"] == world.head()
    assert not called.json["incomplete"]
    assert called.outputs["run-id"] == str(run.id)
    assert called.outputs["run-attempt"] == "1"
    assert called.outputs["head-sha"] == world.head()


@pytest.mark.parametrize("method", ["squash", "merge"])
def test_the_push_of_a_merge_reuses_it(world: World, method: str) -> None:
    run = world.sweep()
    world.ask()
    event = world.merge(method)
    world.hub.delete_branch("feat-x")
    called = world.check(event=event)
    assert answer(called) == ("reuse", "newest", run.id)
    assert counts(called) == (4, 0, 0)


def test_a_merge_is_asked_about_by_its_number_too(world: World) -> None:
    run = world.sweep()
    world.ask()
    world.merge("merge")
    assert answer(world.check()) == ("reuse", "newest", run.id)


def test_a_pushed_commit_without_a_pull_request_reuses_nothing(world: World) -> None:
    world.hub.push("main", {"README.md": "Other words\n"}, by="mia")
    assert answer(world.check(event=world.last_push())) == ("nothing", "no-pull-request", None)


def test_github_links_a_merge_with_its_pull_request_a_moment_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = world.sweep()
    world.ask()
    event = world.merge()
    pull = world.hub.state.pulls[77]
    merge, pull.merge_sha = pull.merge_sha, None

    def link(seconds: float) -> None:
        pull.merge_sha = merge

    monkeypatch.setattr("infx.cli.github.wait", link)
    assert answer(world.check(event=event)) == ("reuse", "newest", run.id)


def test_only_the_own_commits_of_one_push_are_compared(world: World) -> None:
    """A queue merges several pull requests by one push: each of them plans its own entries."""
    before = world.hub.git.resolve("refs/heads/main")
    third = OLD.replace("old one", "third").replace("pull/10", "pull/78")
    world.hub.push("feat-y", {"perf-changelog.yaml": OLD + "\n" + third}, by="noor")
    world.hub.open_pull("feat-y", number=78, by="noor")
    world.hub.merge_pull(78)
    both = {**CHANGE, "perf-changelog.yaml": OLD + "\n" + third + ENTRY}
    world.hub.push("feat-x", both, "rebased", start="main", force=True)
    world.sweep()
    world.ask()
    name, payload = world.merge()
    called = world.check(event=(name, {**payload, "before": before}))
    assert called.json["verdict"] == "reuse"
    assert called.json["coverage"]["rows"] == 4


def change_recipe(world: World) -> None:
    world.hub.push("feat-x", {M1_RECIPE: "vllm serve m1 --fast\n"}, "recipe")


def change_library(world: World) -> None:
    world.hub.push("feat-x", {LIBRARY: "start() { false; }\n"}, "library")


def change_other_recipe(world: World) -> None:
    world.hub.push("feat-x", {OTHER_RECIPE: "vllm serve m3 --fast\n"}, "other recipe")


def change_prose(world: World) -> None:
    world.hub.push("feat-x", {"README.md": "Words\n", "benchmarks/notes.md": "Words\n"}, "words")


def add_point(world: World) -> None:
    world.hub.push("feat-x", {"configs/nvidia.yaml": masters((4, 8, 16), (4, 8))}, "point")


def change_image(world: World) -> None:
    text = masters((4, 8), (4, 8)).replace("v0.9.1", "v0.9.2", 1)
    world.hub.push("feat-x", {"configs/nvidia.yaml": text}, "image")


def change_recipe_on_main(world: World) -> None:
    world.hub.push("main", {M1_RECIPE: "vllm serve m1 --main\n"}, by="mia")


def merge_recipe_from_main(world: World) -> None:
    change_recipe_on_main(world)
    world.hub.merge_base_branch(77)


def change_other_configuration_on_main(world: World) -> None:
    world.hub.push("main", {"configs/nvidia.yaml": BASE["configs/nvidia.yaml"] + "# more\n"}, by="mia")


def force_push(world: World) -> None:
    world.hub.push("feat-x", {**CHANGE, "README.md": "x\n"}, "again", start="main", force=True)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (change_recipe, (2, 2, 0)),
        (change_library, (0, 4, 0)),
        (change_other_recipe, (4, 0, 0)),
        (change_prose, (4, 0, 0)),
        (add_point, (2, 2, 1)),
        (change_image, (2, 0, 2)),
        (change_recipe_on_main, (2, 2, 0)),
        (merge_recipe_from_main, (2, 2, 0)),
        (change_other_configuration_on_main, (4, 0, 0)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_has_changed_since_is_seen_before_and_after_the_merge(
    world: World, change: Callable[[World], None], expected: tuple[int, int, int]
) -> None:
    run = world.sweep()
    change(world)
    world.ask(f"/use {run.id}")
    first = world.check()
    assert answer(first) == ("reuse", "pinned", run.id)
    assert counts(first) == expected
    assert first.json["incomplete"] == (expected[1:] != (0, 0))
    if change is not change_other_configuration_on_main:  # which is in conflict
        second = world.check(event=world.merge())
        assert (answer(second), counts(second)) == (answer(first), expected)


def test_without_a_pin_a_stale_sweep_is_refused_with_the_count(world: World) -> None:
    run = world.sweep()
    change_recipe(world)
    world.ask()
    called = world.check()
    assert answer(called) == ("refused", "coverage-partial", None)
    assert called.json["sentence"] == (
        f"No finished sweep is reused: the pull request has no suitable run (run {run.id}: it covers 2 of 4 rows "
        f"(2 stale)). Sweep the rows that run {run.id} does not cover: `gh workflow run run-sweep.yml -f pr=77 "
        f"-f head-ref={world.head()} -f complete={run.id}`. To reuse run {run.id} all the same, pin it: /reuse-sweep-run {run.id}"
    )


def test_the_policy_may_require_all_rows(world: World) -> None:
    run = world.sweep(failing=[1], conclusion="failure")
    world.ask(f"/use {run.id}")
    assert counts(world.check()) == (3, 0, 1)
    policy = world.folder / "strict.yaml"
    policy.write_text(
        (world.folder / "policy.yaml").read_text() + "reuse: {coverage: required}\n", encoding="utf-8"
    )
    called = world.check(environ={"INFX_POLICY": str(policy)})
    assert answer(called) == ("refused", "coverage-partial", None)
    assert counts(called) == (3, 0, 1)
    change = world.sweep()
    world.ask(f"/use {change.id}")
    assert answer(world.check(environ={"INFX_POLICY": str(policy)})) == ("reuse", "pinned", change.id)


def test_a_row_that_a_later_attempt_repaired_is_covered(world: World) -> None:
    run = world.sweep(failing=[1], conclusion="failure")
    name = [job.name for job in world.hub.state.jobs.values() if job.run == run.id][1]
    world.hub.rerun(run.id)
    world.hub.add_job(run.id, name, conclusion="success")
    world.hub.finish_run(run.id)
    world.ask()
    called = world.check()
    assert answer(called) == ("reuse", "newest", run.id)
    assert called.json["source"]["attempt"] == 2


# Which runs


def test_a_trimmed_sweep_takes_a_pin(world: World) -> None:
    run = world.sweep(kind=SweepKind(trim=True))
    world.ask()
    refused = world.check()
    assert answer(refused) == ("refused", "no-suitable-run", None)
    assert "it is a trimmed sweep, and it covers 2 of 4 rows (2 missing)" in refused.json["sentence"]
    world.ask(f"/use {run.id}")
    assert answer(world.check()) == ("reuse", "pinned", run.id)


def test_a_commit_that_edits_workflows_takes_a_pin(world: World) -> None:
    world.hub.push("feat-x", {".github/workflows/run-sweep.yml": "on: push\n"}, "workflow")
    run = world.sweep()
    world.ask()
    refused = world.check()
    assert answer(refused) == ("refused", "no-suitable-run", None)
    assert "its commit changed .github/workflows/run-sweep.yml" in refused.json["sentence"]
    world.ask(f"/use {run.id}")
    assert answer(world.check()) == ("reuse", "pinned", run.id)


def test_a_run_on_an_earlier_base_branch_takes_a_pin(world: World) -> None:
    world.hub.push("next", {"README.md": "next\n"}, by="mia")
    world.hub.edit_pull(77, base="next")
    world.sweep()
    world.hub.edit_pull(77, base="main")
    world.ask()
    refused = world.check()
    assert answer(refused) == ("refused", "no-suitable-run", None)
    assert "an earlier base branch" in refused.json["sentence"]


def test_rows_that_its_own_commit_does_not_plan_are_refused(world: World) -> None:
    rows = world.rows()
    run = world.sweep(rows=[*rows, *(type(row)(id="f" * 12, row=row.row) for row in rows[:1])])
    world.ask(f"/use {run.id}")
    assert answer(world.check()) == ("refused", "other-plan", None)


def test_a_force_pushed_commit_is_refused(world: World) -> None:
    run = world.sweep()
    force_push(world)
    world.ask(f"/use {run.id}")
    assert answer(world.check()) == ("refused", "not-in-pull-request", None)


def test_a_commit_beyond_the_list_of_github_is_proven_by_git(world: World) -> None:
    """The pull request has 260 commits, and the run measured number 255."""
    world.hub.push_commits("feat-x", [({"README.md": f"{place}\n"}, "more") for place in range(254)])
    run = world.sweep()
    world.hub.push_commits("feat-x", [({"README.md": f"+{place}\n"}, "more") for place in range(5)])
    world.ask(f"/use {run.id}")
    assert answer(world.check()) == ("reuse", "pinned", run.id)
    assert answer(world.check(inside=False)) == ("refused", "commits-unknown", None)


def test_a_shallow_clone_is_deepened(world: World) -> None:
    """A workflow checks out one commit; only a request for reuse needs the history."""
    run = world.sweep()
    world.ask()
    world.hub.push("main", {"README.md": "Other words\n"}, by="mia")
    event = world.merge()
    shutil.rmtree(world.folder / "clone")
    origin = f"file://{world.hub.git.path}"
    Git(world.folder).run("clone", "--quiet", "--depth", "1", origin, str(world.folder / "clone"))
    assert world.clone.is_shallow()
    for called in (world.check(), world.check(event=event)):
        assert answer(called) == ("reuse", "newest", run.id)
        assert counts(called) == (4, 0, 0)
    assert not world.clone.is_shallow()


def test_without_a_clone_the_coverage_is_unknown(world: World) -> None:
    run = world.sweep()
    world.ask()
    refused = world.check(inside=False)
    assert answer(refused) == ("refused", "coverage-unknown", None)
    assert "no clone of the repository" in refused.json["sentence"]
    world.ask(f"/use {run.id}")
    accepted = world.check(inside=False)
    assert answer(accepted) == ("reuse", "pinned", run.id)
    assert accepted.json["incomplete"]


def test_a_run_of_another_pull_request_of_the_branch_is_refused(world: World) -> None:
    world.hub.push("next", {"README.md": "next\n"}, by="mia")
    world.hub.open_pull("feat-x", base="next", number=78)
    run = world.sweep()
    for body in ("/reuse-sweep-run", f"/use {run.id}"):
        world.ask(body)
        called = world.check()
        assert called.json["verdict"] == "refused"
        assert "it may be of #78" in called.json["sentence"]


def fork(world: World) -> Run:
    """Pull request 79 comes from a fork, and its head was approved and swept by a dispatch."""
    world.hub.push("feat-f", CHANGE, "fork", repository="eve/bench", by="eve")
    world.hub.open_pull("feat-f", number=79, repository="eve/bench", by="eve")
    head = world.head(79)
    run = world.sweep(
        rows=world.rows(number=79),
        pull=None,
        branch="main",
        event="workflow_dispatch",
        title=f"PR 79 at {head}",
    )
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(head, "infx/approval", "success", target_url=url)
    return run


@pytest.mark.parametrize("body", ["/reuse-sweep-run", "/use {}"])
def test_of_a_fork_the_approved_dispatch_is_reused(world: World, body: str) -> None:
    run = fork(world)
    world.ask(body.format(run.id), number=79)
    called = world.check("--pr", "79")
    assert called.json["verdict"] == "reuse"
    assert called.json["source"] == {
        "run": run.id,
        "attempt": 1,
        "url": f"https://github.com/acme/bench/actions/runs/{run.id}",
        "head-sha": world.head(79),
    }
    assert counts(called) == (4, 0, 0)


def test_of_a_fork_an_approval_by_another_account_does_not_count(world: World) -> None:
    run = fork(world)
    world.hub.state.statuses.clear()
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(world.head(79), "infx/approval", "success", target_url=url, by="noor")
    world.ask(f"/use {run.id}", number=79)
    assert answer(world.check("--pr", "79")) == ("refused", "other-pull-request", None)


# Who asks, and how


def test_authority_is_that_of_now(world: World) -> None:
    world.sweep()
    world.ask(by="noor")
    assert world.check().json["verdict"] == "reuse"
    world.hub.account("noor", role="read")
    called = world.check()
    assert answer(called) == ("nothing", "not-authorized", None)
    assert "noor asked for it without write access" in called.json["sentence"]


def test_a_run_that_does_not_exist_is_refused(world: World) -> None:
    world.ask("/use 4711")
    assert answer(world.check()) == ("refused", "run-not-found", None)


def test_saved_facts_give_the_same_decision(world: World) -> None:
    world.sweep(failing=[1], conclusion="failure")
    change_recipe(world)
    world.ask()
    file = world.folder / "facts.json"
    first = world.check("--save-facts", str(file))
    world.hub.clear_log()
    second = world.check("--facts", str(file))
    assert second.json == first.json
    assert world.hub.log == []


def test_a_push_to_the_pull_request_is_decided_by_its_event(world: World) -> None:
    run = world.sweep()
    world.ask()
    world.hub.push("feat-x", {"README.md": "words\n"}, "words")
    events = [event for event in world.hub.state.events if event.name == "pull_request"]
    called = world.check(event=("pull_request", events[-1].payload))
    assert events[-1].action == "synchronize"
    assert answer(called) == ("reuse", "newest", run.id)


@pytest.mark.parametrize(
    ("name", "payload", "reason"),
    [
        ("pull_request", {"action": "labeled", "number": 77, "pull_request": {}}, "other-action"),
        ("push", {"ref": "refs/heads/feat-x", "after": "a" * 40}, "other-event"),
        ("push", {"ref": "refs/heads/main", "after": "0" * 40}, "no-pull-request"),
        ("workflow_dispatch", {"ref": "refs/heads/main", "inputs": {}}, "other-event"),
    ],
)
def test_an_event_without_reuse_takes_no_request(
    world: World, name: str, payload: dict[str, Any], reason: str
) -> None:
    world.hub.clear_log()
    assert answer(world.check(event=(name, payload))) == ("nothing", reason, None)
    assert world.hub.log == []


def test_options_that_contradict_each_other_are_refused(world: World) -> None:
    file = world.folder / "facts.json"
    file.write_text("{}", encoding="utf-8")
    assert world.check("--pr", "77", "--facts", str(file)).code == 2


def test_on_actions_a_refusal_is_annotated_and_summarized(world: World) -> None:
    world.ask("/use 4711")
    called = world.check(environ={"GITHUB_ACTIONS": "true"})
    assert called.code == 0
    assert "::error title=reuse-run-not-found::No finished sweep is reused" in called.err
    assert called.summary.startswith("### No finished sweep is reused\n")
    assert called.outputs["verdict"] == "refused"


def test_a_table_shows_the_rows_that_are_not_covered(world: World) -> None:
    run = world.sweep(failing=[1], conclusion="failure")
    world.ask(f"/use {run.id}")
    missing = world.check().json["coverage"]["missing"]
    text = world.check("--format", "table").out
    assert "coverage" in text
    assert "3 of 4 rows (1 missing)" in text
    assert [line.split() for line in text.splitlines() if "missing" in line][-1] == [*missing, "missing"]
    assert json.dumps(missing)


# Requests


def requests(world: World, *arguments: str, **more: Any) -> int:
    world.hub.clear_log()
    assert world.check(*arguments, **more).code == 0
    return len(world.hub.log)


def test_requests_are_counted(world: World) -> None:
    """A question takes the pull request and its comments; with authority come permission, branch, run, and rows."""
    assert requests(world) == 1  # the pull request says that it has no comments
    world.hub.comment(77, "Nice.", by="mia")
    assert requests(world) == 2
    run = world.sweep()
    world.ask()
    assert requests(world) == 9  # + permission, branch, runs, dispatches, artifacts, jobs, timeline
    world.ask(f"/use {run.id}")
    assert requests(world) == 8  # the run instead of both lists
    world.ask("/use 4711")
    assert requests(world) == 6  # a 404 is asked about twice
    world.ask()
    assert requests(world, event=world.merge()) == 10  # and the commit's pull requests


def test_requests_stay_bounded_however_many_runs_there_are(world: World) -> None:
    for _ in range(30):
        world.sweep("failure", rows=(), artifacts=("results_bmk",))
    for _ in range(30):
        world.sweep(rows=(), artifacts=("run-stats",))
    for place in range(8):
        world.hub.account(f"old{place}", role="read")
        world.ask(by=f"old{place}")
    world.ask()
    # 2 + permission + branch + runs; artifacts of 10 green runs, of 3 others with their jobs; and the timeline
    assert requests(world) <= 6 + 10 + 2 * 3 + 1
    assert "older runs were not looked at" in world.check().json["sentence"]


def test_a_green_run_behind_many_failed_ones_is_found(world: World) -> None:
    run = world.sweep()
    rows = world.rows()
    for _ in range(110):
        world.sweep("failure", rows=rows[:0], artifacts=("results_bmk",))
    world.ask()
    assert requests(world) == 10  # the second page of runs
    assert answer(world.check()) == ("reuse", "newest", run.id)
