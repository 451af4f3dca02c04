"""Check when a sweep counts for a head: planned rows, unchanged files, and unchanged or settled workflows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from infx.hub.state import Run
from infx.reconcile.actions import SetStatus
from tests.reconcile.world import BASE, LABEL, MASTER, ROWS, World, entry, plan_ids, status

OTHER = MASTER.replace("m1-fp8-h200-vllm", "m2-fp8-h200-vllm").replace("m1", "m2").replace("org/M1", "org/M2")
WORKFLOW = ".github/workflows/run-sweep.yml"
GREEN = ("success", "Swept: 2 of 2 rows done.")


def both(first: str, second: str, entries: str = "") -> dict[str, str]:
    """Return files with two configurations that differ in their names, and an entry that names both."""
    masters = MASTER.replace("CONC", first) + OTHER.replace("CONC", second)
    keys = entry().replace("    - m1-fp8-h200-vllm\n", "    - m1-fp8-h200-vllm\n    - m2-fp8-h200-vllm\n")
    return {"configs/nvidia-master.yaml": masters, "perf-changelog.yaml": BASE + (entries or keys)}


def sweep(world: World, ids: Sequence[str], **more: Any) -> Run:
    """Add a finished run of the sweep workflow with these rows."""
    run = world.hub.add_run("run-sweep.yml", pull=77, **more)
    world.hub.add_job(run.id, "gate")
    for row_id in ids:
        world.hub.add_job(run.id, f"sweep / rows / {row_id} · single-node 1k1k · h200 · m1")
    if not ids:
        world.hub.add_job(run.id, "sweep / plan")
    world.hub.finish_run(run.id)
    return run


def test_all_planned_rows_are_a_success(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world, ROWS)
    world.reconcile()
    assert status(world) == GREEN
    assert world.reconcile().done == []


def test_a_plan_that_a_row_replaced_is_a_failure_that_says_so(world: World) -> None:
    """All rows are green, and `collect` found another plan than the one that was made."""
    world.pull(labels=[LABEL])
    run = sweep(world, ROWS)
    world.hub.add_job(run.id, "sweep / collect", conclusion="failure", failed_step="Check the plan")
    world.hub.finish_run(run.id, "failure")
    world.reconcile()
    assert status(world) == (
        "failure",
        "Failed: another job replaced the plan of this run. 2 of 2 rows done.",
    )


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([], "Swept: no rows, but 2 of 2 planned rows did not succeed in it."),
        (ROWS[:1], "Swept: 1 of 1 row done, but 1 of 2 planned rows did not succeed in it."),
        ([*ROWS, "0" * 12], "Swept: 3 of 3 rows done, but 1 row of it is not planned."),
        (
            ["0" * 12, "1" * 12],
            "Swept: 2 of 2 rows done, but 2 of 2 planned rows did not succeed in it and 2 rows of it are not planned.",
        ),
    ],
    ids=["none", "too few", "one more", "foreign"],
)
def test_rows_that_differ_from_the_plan_are_pending(world: World, ids: list[str], words: str) -> None:
    """The conclusion of the run does not matter: the branch may have changed the list of rows."""
    world.pull(labels=[LABEL])
    sweep(world, ids)
    world.reconcile()
    assert status(world) == ("pending", words)


def test_a_run_without_rows_succeeds_if_no_row_is_planned(world: World) -> None:
    """Accuracy is measured only at 8k1k, so an entry with only accuracy runs plans no row here."""
    only = entry().replace("  description", "  evals-only: true\n  description")
    world.pull({"perf-changelog.yaml": BASE + only}, labels=[LABEL])
    sweep(world, [])
    world.reconcile()
    assert status(world) == ("success", "Swept: nothing to run.")


@pytest.mark.parametrize(
    ("labels", "ids", "state"),
    [
        (["sweep-enabled"], ROWS[:1], "success"),  # the lowest concurrency
        (["sweep-enabled"], ROWS, "success"),  # more than the label asks for
        ([LABEL], ROWS[:1], "pending"),
        ([LABEL, "evals-only"], [], "pending"),  # no accuracy run is planned, and nothing was measured
        ([LABEL, "all-evals"], ROWS, "success"),
        ([], ROWS[:1], "success"),  # the label was removed
        ([], [], "pending"),
    ],
)
def test_the_labels_decide_which_rows_are_needed(
    world: World, labels: list[str], ids: list[str], state: str
) -> None:
    world.pull(labels=labels)
    sweep(world, ids)
    world.reconcile()
    assert status(world)[0] == state


def test_an_edit_that_moves_to_another_configuration_is_not_swept(world: World) -> None:
    """The same lines change at another place, so the second head plans rows that never ran."""
    world.hub.push("main", both("[4, 8]", "[4, 8]") | {"perf-changelog.yaml": BASE})
    world.pull(both("[4, 8, 16]", "[4, 8]"), labels=[LABEL])
    masters = world.hub.git.file("feat-x", "configs/nvidia-master.yaml")
    assert masters is not None
    sweep(world, plan_ids(masters[2].decode()))
    world.reconcile()
    assert status(world) == ("success", "Swept: 5 of 5 rows done.")
    world.hub.push("feat-x", both("[4, 8]", "[4, 8, 16]"), "Move it [skip-sweep]")
    world.reconcile()
    assert status(world)[0] == "pending"
    assert "Swept" not in status(world)[1]


@pytest.mark.parametrize(
    ("path", "content", "is_current"),
    [
        ("README.md", "x\n", True),
        ("docs/a/b.png", "x", True),
        ("configs/amd-master.yaml", OTHER.replace("CONC", "[4]"), True),  # the planned rows are the same
        ("configs/runners.yaml", "labels: {h200: [h200-01, h200-02]}\n", True),
        (".github/CODEOWNERS", "* @mia\n", True),
        ("benchmarks/other.sh", "x\n", False),  # a row may read it
        ("benchmarks/prompt.md", "x\n", False),
        ("configs/eval-thresholds.yaml", "{}\n", False),
        (".github/workflows/x.yml", "{}\n", False),
        ("tools", "x\n", False),
    ],
)
def test_merging_the_base_keeps_a_sweep_unless_rows_may_use_the_files(
    world: World, path: str, content: str, *, is_current: bool
) -> None:
    world.pull(labels=[LABEL])
    sweep(world, ROWS)
    world.hub.push("main", {path: content})
    world.hub.merge_base_branch(77)
    world.reconcile()
    assert status(world)[0] == ("success" if is_current else "pending")


def test_merging_a_change_of_the_measured_configuration_voids_a_sweep(world: World) -> None:
    world.pull(labels=[LABEL])
    sweep(world, ROWS)
    world.hub.push("main", {"configs/nvidia-master.yaml": MASTER.replace("CONC", "[4, 16]")})
    world.hub.merge_base_branch(77)
    world.reconcile()
    assert status(world)[0] == "pending"


def test_a_head_that_cannot_be_planned_is_pending(world: World) -> None:
    world.pull(labels=[LABEL])
    world.hub.push("feat-x", {"configs/runners.yaml": "labels: []\n"})
    sweep(world, ROWS)
    world.reconcile()
    state, words = status(world)
    assert state == "pending"
    assert "the head cannot be planned" in words


@pytest.mark.parametrize("ids", [ROWS, []])
def test_without_a_clone_every_sweep_is_pending(world: World, ids: list[str]) -> None:
    world.pull(labels=[LABEL])
    sweep(world, ids)
    reconciler = world.reconciler()
    reconciler.clone = None
    assert not reconciler.run([77]).failed
    state, words = status(world)
    assert state == "pending"
    assert words.endswith("The plan is unknown without a clone of the repository.")


# Settlements


def edited(world: World, path: str = WORKFLOW) -> Run:
    """Open a pull request that changes a workflow, so its jobs cannot be trusted."""
    world.pull({"perf-changelog.yaml": BASE + entry(), path: "jobs: {}\n"}, labels=[LABEL])
    for login, role in {"mia": "maintain", "cody": "maintain", "noor": "write"}.items():
        world.hub.account(login, role=role)
    return sweep(world, ROWS)


@pytest.mark.parametrize("path", [WORKFLOW, ".github/actions/row/action.yml", "configs/policy.yaml"])
def test_a_head_that_edits_workflows_or_policy_must_be_settled(world: World, path: str) -> None:
    edited(world, path)
    world.reconcile()
    wanted = "Needs `/settle sweep <reason>` by role maintain: changes to"
    assert status(world) == ("pending", f"Swept: 2 of 2 rows done. {wanted} {path}.")


@pytest.mark.parametrize(
    ("by", "words", "is_settled"),
    [
        ("mia", "/settle sweep I have read the workflow", True),
        ("mia", "/settle 1 I have read the workflow", True),
        ("mia", "/settle 2 I have read the workflow", False),  # another check
        ("mia", "/settle sweep ok", False),  # not a reason
        ("mia", "> /settle sweep I have read the workflow", False),
        ("cody", "/settle sweep I have read the workflow", False),  # the author
        ("noor", "/settle sweep I have read the workflow", False),  # another role
        ("eve", "/settle sweep I have read the workflow", False),
        ("bench-bot[bot]", "/settle sweep I have read the workflow", False),
    ],
)
def test_the_settle_command_of_sign_offs_settles_the_edit(
    world: World, by: str, words: str, *, is_settled: bool
) -> None:
    edited(world)
    world.hub.comment(77, words, by=by)
    world.reconcile()
    assert status(world)[0] == ("success" if is_settled else "pending")
    if is_settled:
        assert status(world)[1] == f"{GREEN[1]} mia settled the changes to {WORKFLOW}."
    assert world.reconcile().done == []


def settle(world: World) -> None:
    world.clock.now = world.clock.now.replace(minute=world.clock.now.minute + 1)
    world.hub.comment(77, "/settle sweep I have read the workflow", by="mia")
    world.clock.now = world.clock.now.replace(minute=world.clock.now.minute + 1)


def test_a_settlement_does_not_count_for_a_later_head(world: World) -> None:
    edited(world)
    settle(world)
    world.reconcile()
    assert status(world)[0] == "success"
    world.hub.push("feat-x", {WORKFLOW: "jobs: {evil: {}}\n"})
    sweep(world, ROWS)
    world.reconcile()
    assert status(world)[0] == "pending"


def test_a_head_that_is_pushed_again_needs_a_new_settlement(world: World) -> None:
    """The settlement was about the head in between."""
    run = edited(world)
    first_head = world.hub.state.pulls[77].head_sha
    world.clock.now = world.clock.now.replace(minute=5)
    world.hub.push("feat-x", {WORKFLOW: "jobs: {good: {}}\n"})
    sweep(world, ROWS)
    settle(world)
    world.hub.git.update_ref("refs/heads/feat-x", first_head)
    world.hub.sync()
    assert world.hub.state.pulls[77].head_sha == run.head_sha
    world.clock.now = world.clock.now.replace(minute=30)
    sweep(world, ROWS)
    world.reconcile()
    assert status(world)[0] == "pending"


def test_a_reverted_workflow_edit_still_needs_a_settlement(world: World) -> None:
    """The run used a commit with the edit; the head has the same rows and otherwise the same files."""
    edited(world)
    world.hub.push("feat-x", {WORKFLOW: None})
    world.reconcile()
    assert status(world)[0] == "pending"


def test_the_workflow_of_another_target_is_not_trusted(world: World) -> None:
    """GitHub runs a pull request's workflow from the merge with its target."""
    world.hub.push("dev", {WORKFLOW: "jobs: {}\n"})
    world.pull(labels=[LABEL])
    world.pull(number=78, base="dev")
    sweep(world, ROWS)
    world.hub.close_pull(78)
    world.reconcile()
    state, words = status(world)
    assert state == "pending"
    assert "changes to .github/ of dev" in words
    assert world.reconcile().done == []


@pytest.mark.parametrize("event", ["base_ref_changed", "automatic_base_change_succeeded"])
def test_the_workflow_of_an_earlier_target_is_not_trusted(world: World, event: str) -> None:
    world.pull(labels=[LABEL])
    sweep(world, ROWS)
    world.hub.note(world.hub.state.pulls[77], event, "cody")
    world.reconcile()
    assert "changes to .github/ of an earlier target" in status(world)[1]
    world.clock.now = world.clock.now.replace(minute=1)
    sweep(world, ROWS)  # the same rows, after the change of the target
    world.reconcile()
    assert status(world) == GREEN


# Runs that measured something else


@pytest.mark.parametrize("title", ["PR 77 at {other}", "PR 78 at {head}", "run-sweep", "PR 77 at its head"])
def test_a_dispatch_for_another_head_does_not_count(world: World, title: str) -> None:
    world.pull(labels=[LABEL])
    head = world.hub.state.pulls[77].head_sha
    title = title.format(head=head, other=world.hub.git.resolve("main"))
    run = world.hub.add_run(event="workflow_dispatch", branch="main", title=title)
    for index in range(2):
        world.row(run, index)
    world.hub.finish_run(run.id)
    world.reconcile()
    assert status(world)[0] == "pending"


def test_a_dispatch_for_this_head_counts(world: World) -> None:
    world.pull(labels=[LABEL])
    title = f"PR 77 at {world.hub.state.pulls[77].head_sha}"
    run = world.hub.add_run(event="workflow_dispatch", branch="main", title=title)
    for index in range(2):
        world.row(run, index)
    world.hub.finish_run(run.id)
    world.reconcile()
    assert status(world) == GREEN


# One commit, several pull requests


def shared(world: World, **more: Any) -> None:
    """Open two pull requests with the same head: 77 is labeled and swept, 78 is not."""
    world.pull(labels=[LABEL])
    sweep(world, ROWS)
    world.hub.push("feat-y", {}, start="feat-x")
    world.hub.git.update_ref("refs/heads/feat-y", world.hub.state.pulls[77].head_sha)
    world.hub.open_pull("feat-y", number=78, **more)
    assert world.hub.state.pulls[78].head_sha == world.hub.state.pulls[77].head_sha


@pytest.mark.parametrize("order", [(77, 78), (78, 77)])
@pytest.mark.parametrize("has_clone", [True, False])
def test_one_commit_has_one_status(world: World, order: tuple[int, ...], *, has_clone: bool) -> None:
    shared(world)

    def reconcile() -> list[object]:
        reconciler = world.reconciler()
        reconciler.clone = reconciler.clone if has_clone else None
        report = reconciler.run(order)
        assert not report.failed
        return list(report.done)

    statuses = [action for action in reconcile() if isinstance(action, SetStatus)]
    assert len(statuses) == 1
    assert status(world)[0] == "pending"
    if has_clone:
        assert status(world)[1] == "PR 78: The PR has no label that starts a sweep."
    assert reconcile() == []


def test_a_shared_head_gets_the_least_favorable_status(world: World) -> None:
    shared(world, labels=[LABEL, "full-sweep-enabled"])
    world.reconcile(77, 78)
    state, words = status(world)
    assert (state, words[:7]) == ("failure", "PR 78: ")


@pytest.mark.parametrize("how", ["closed", "elsewhere", "pushed"])
def test_pull_requests_that_no_longer_share_the_head_do_not_count(world: World, how: str) -> None:
    world.hub.push("dev", {"x": "y"})
    shared(world, base="dev" if how == "elsewhere" else "main")
    if how == "closed":
        world.hub.close_pull(78)
    if how == "pushed":
        world.hub.push("feat-y", {"x": "y"})
    world.reconcile()
    assert status(world) == GREEN
