"""Comments and statuses on a pull request, case by case, on the hub and with a real clone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from infx.hub.state import Run
from infx.reconcile.actions import CancelRun
from tests.reconcile.world import BASE, BOT, LABEL, VISUALIZER, World, entry, status

GREETING = "<!-- infx-greeting -->"
OWN_LINK = "https://github.com/acme/bench/pull/77"


def notice(cause: str) -> str:
    return f"<!-- infx-notice {cause} -->"


def notices(world: World) -> list[str]:
    return [line for line in world.bot_comments() if line.startswith("<!-- infx-notice")]


def text(world: World, marker: str) -> str:
    return next(body for body in world.comments() if body.startswith(marker))


# Greeting


@pytest.mark.parametrize(
    ("path", "is_greeted"),
    [
        ("perf-changelog.yaml", True),
        ("configs/nvidia-master.yaml", True),
        ("benchmarks/deep/run.sh", True),
        ("README.md", False),
        ("docs/benchmarks/x", False),
    ],
)
def test_only_changes_of_benchmarks_get_a_greeting(world: World, path: str, is_greeted: bool) -> None:
    world.pull({path: BASE + entry() if path.endswith("changelog.yaml") else "x: 1\n"})
    world.reconcile()
    assert (GREETING in world.bot_comments()) is is_greeted


def test_a_pull_request_gets_only_one_greeting(world: World) -> None:
    world.pull()
    world.reconcile()
    world.hub.set_draft(77, draft=True)
    world.hub.set_draft(77, draft=False)
    world.reconcile()
    world.hub.close_pull(77)
    world.reconcile()
    world.hub.reopen_pull(77)
    world.reconcile()
    world.hub.push("feat-x", {"benchmarks/a.sh": "x"})
    world.reconcile()
    assert world.bot_comments() == [GREETING]


def test_a_closed_pull_request_gets_no_greeting(world: World) -> None:
    world.pull()
    world.hub.close_pull(77)
    world.reconcile()
    assert world.bot_comments() == []


def test_the_greeting_of_an_older_system_is_replaced(world: World) -> None:
    world.pull()
    old = world.hub.comment(77, "<!-- recipe-reminder -->\nPlease ask your CODEOWNER.", by=BOT)
    world.reconcile()
    assert world.bot_comments() == [GREETING]
    assert [comment.id for comment in world.hub.comments_of(77)] == [old.id]


def test_a_pull_request_into_another_branch_is_ignored(world: World) -> None:
    world.hub.push("trunk", {})
    world.hub.push("feat-x", {"benchmarks/x": "y"})
    world.hub.open_pull("feat-x", number=77, base="trunk", labels=[LABEL])
    assert world.reconcile().done == []


# Forged comments


@pytest.mark.parametrize("forger", ["eve", "coverage[bot]"])
def test_a_comment_with_a_forged_marker_is_left_alone(world: World, forger: str) -> None:
    world.pull(labels=[LABEL])
    forged = f"{GREETING}\n**Verdict: PASS**"
    world.hub.comment(77, forged, by=forger)
    world.hub.comment(77, f"{notice('conflict')}\nforged", by=forger)
    world.reconcile()
    assert world.comments()[:2] == [forged, f"{notice('conflict')}\nforged"]
    assert world.bot_comments().count(GREETING) == (2 if forger.endswith("[bot]") else 1)


@pytest.mark.parametrize("editor", ["eve", "ghost", "coverage[bot]"])
def test_a_bot_comment_edited_by_another_account_is_restored(world: World, editor: str) -> None:
    """The edited comment claims a huge run number, which would block every later text."""
    world.pull(labels=[LABEL])
    world.sweep(done=1, status="completed", conclusion="success")
    world.reconcile()
    wanted = text(world, VISUALIZER)
    comment = next(c for c in world.hub.comments_of(77) if (c.body or "").startswith(VISUALIZER))
    forged = f"{VISUALIZER}\n<!-- order 99999999999.1.1.1 -->\nAll is well."
    world.hub.edit_comment(comment.id, forged, by=editor)
    world.reconcile()
    assert text(world, VISUALIZER) == wanted
    assert world.reconcile().done == []


# Notices


def conflicting(world: World, path: str = "perf-changelog.yaml") -> None:
    files = {"perf-changelog.yaml": BASE + entry(), "benchmarks/run.sh": "mine\n"}
    world.pull(files, labels=[LABEL])
    other = entry("other", "https://github.com/acme/bench/pull/70")
    world.hub.push("main", {path: BASE + other if path.endswith("changelog.yaml") else "theirs\n"})


@pytest.mark.parametrize("line", ["/reuse-sweep-run 42 please", "/use ４２"])
def test_a_malformed_reuse_command_gets_one_notice(world: World, line: str) -> None:
    world.pull()
    first = world.hub.comment(77, line, by="noor")
    for _ in range(2):
        world.reconcile()
        assert notices(world) == [notice("reuse-command")]
    body = text(world, notice("reuse-command"))
    assert f"- `{line}`" in body
    assert "/use RUN-NUMBER\n/reuse-sweep-run [RUN-NUMBER]" in body
    world.hub.comment(77, "/use forty-two", by="noor")
    world.reconcile()
    assert notices(world) == [notice("reuse-command")]  # the same comment, with the newer line
    assert "- `/use forty-two`" in text(world, notice("reuse-command"))
    world.hub.comment(77, "/use 42", by="noor")
    world.reconcile()
    assert notices(world) == []
    world.hub.edit_comment(first.id, f"{line}!", by="noor")
    world.reconcile()
    assert notices(world) == []  # an edit does not make a comment newer


@pytest.mark.parametrize("path", ["perf-changelog.yaml", "benchmarks/run.sh"])
def test_the_conflict_notice_names_the_files_of_a_real_merge(world: World, path: str) -> None:
    conflicting(world, path)
    world.reconcile()
    assert notices(world) == [notice("conflict")]
    body = text(world, notice("conflict"))
    assert f"\n- `{path}`\n" in body
    assert ("infx changelog resolve" in body) is (path == "perf-changelog.yaml")
    assert status(world) == ("pending", f"Blocked by a merge conflict with main ({path}).")
    world.hub.push("feat-x", {path: world.hub.git.file("main", path)[2]})  # type: ignore[index]  # the file exists
    world.reconcile()
    assert notice("conflict") not in notices(world)


def test_a_change_of_the_base_branch_removes_the_notices(world: World) -> None:
    conflicting(world)
    world.reconcile()
    world.hub.push("trunk", {})
    world.hub.state.pulls[77].base_ref = "trunk"
    world.reconcile()
    assert world.bot_comments() == [GREETING]


def test_a_conflict_notice_stays_while_mergeability_is_unknown(world: World) -> None:
    """Without a clone, only GitHub reports conflicts."""

    def reconcile() -> list[str]:
        reconciler = world.reconciler()
        reconciler.clone = None
        assert not reconciler.run([77]).failed
        return notices(world)

    conflicting(world)
    assert reconcile() == [notice("conflict")]
    notice_id = world.hub.comments_of(77)[-1].id
    world.hub.state.pulls[77].unknown_reads = 1
    assert reconcile() == [notice("conflict")]
    assert world.hub.comments_of(77)[-1].id == notice_id
    world.hub.push("feat-x", {"perf-changelog.yaml": world.hub.git.file("main", "perf-changelog.yaml")[2]})  # type: ignore[index]  # the file exists
    world.hub.state.pulls[77].unknown_reads = 1
    assert reconcile() == [notice("conflict")]
    assert notice("conflict") not in reconcile()


def test_an_unlabeled_pull_request_gets_no_conflict_notice(world: World) -> None:
    conflicting(world)
    world.hub.unlabel(77, LABEL)
    world.reconcile()
    assert notices(world) == []


@pytest.mark.parametrize(
    ("scene", "cause", "words"),
    [
        ({"labels": [LABEL, "sweep-enabled"]}, "labels", "`full-sweep-fail-fast` and `sweep-enabled`"),
        (
            {"files": {"benchmarks/run.sh": "x"}, "labels": [LABEL]},
            "no-entry",
            "does not change `perf-changelog.yaml`",
        ),
        ({"files": {"perf-changelog.yaml": BASE + entry(link="TBD")}}, "changelog", "line 11: "),
        (
            {"files": {"perf-changelog.yaml": BASE + entry(link="TBD")}, "labels": [LABEL]},
            "changelog",
            "`TBD` is",
        ),
        ({"files": {"perf-changelog.yaml": "- broken\n"}}, "changelog", "problem"),
    ],
)
def test_each_cause_has_its_own_notice(world: World, scene: dict[str, Any], cause: str, words: str) -> None:
    world.pull(scene.pop("files", None), **scene)
    world.reconcile()
    assert notices(world) == [notice(cause)]
    assert words in text(world, notice(cause))


def test_notices_of_several_causes_are_removed_one_by_one(world: World) -> None:
    conflicting(world, "benchmarks/run.sh")
    world.hub.label(77, "sweep-enabled")
    world.reconcile()
    assert set(notices(world)) == {notice("conflict"), notice("labels")}
    world.hub.unlabel(77, "sweep-enabled")
    world.reconcile()
    assert notices(world) == [notice("conflict")]
    world.hub.close_pull(77)
    world.reconcile()
    assert notices(world) == []


def test_an_emoji_appears_in_the_notice_but_not_in_the_status(world: World) -> None:
    """GitHub refuses a status with an emoji in its description."""
    world.pull({"perf-changelog.yaml": BASE + entry(link="🚀")}, labels=[LABEL])
    assert not world.reconcile().failed
    assert "`🚀` is not a valid pr" in text(world, notice("changelog"))
    assert status(world)[1].startswith("perf-changelog.yaml:11: `\ufffd` is not a valid pr-link")


def test_text_of_the_pull_request_is_inert_in_a_notice(world: World) -> None:
    link = '"@amy #1 <img src=x>"'
    world.pull(
        {"perf-changelog.yaml": BASE + entry(link=link), "benchmarks/@amy #1 `x`": "y"}, labels=[LABEL]
    )
    world.reconcile()
    body = text(world, notice("changelog"))
    assert "`@amy #1 <img src=x>`" in body  # shown as code
    assert "<img" not in body.replace("`@amy #1 <img src=x>`", "")


def test_a_label_set_by_a_workflow_gets_a_notice_with_a_command(world: World) -> None:
    world.pull()
    world.sweep(done=0, status="completed", conclusion="success")  # the run of `opened`, before the label
    world.hub.label(77, LABEL, by=BOT)
    world.reconcile()
    head = world.hub.state.pulls[77].head_sha
    assert notices(world) == [notice("token-label")]
    command = f"gh workflow run run-sweep.yml -f pr=77 -f head-ref={head}"
    assert command in text(world, notice("token-label"))
    run = world.hub.add_run(event="workflow_dispatch", branch="main", title=f"PR 77 at {head}")
    world.hub.add_job(run.id, "sweep / plan", conclusion=None)
    world.reconcile()
    assert notices(world) == []
    assert status(world) == ("pending", "Running: no rows yet.")


def test_many_runs_without_a_sweep_do_not_hide_the_token_label(world: World) -> None:
    world.pull()
    for _ in range(6):
        world.sweep(done=0, status="completed", conclusion="success")
    world.hub.label(77, LABEL, by=BOT)
    world.reconcile()
    assert notices(world) == [notice("token-label")]


@pytest.mark.parametrize("by", ["cody", "bench-bot[bot]"])
def test_a_label_set_by_another_account_gets_no_notice(world: World, by: str) -> None:
    world.pull()
    world.hub.label(77, LABEL, by=by)
    world.reconcile()
    assert notices(world) == []
    assert status(world)[1].startswith("No sweep has started yet. Full, first a canary")


# Forks


def fork(world: World, *, label: bool = True) -> str:
    world.hub.push("fork-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    labels = [LABEL] if label else []
    return world.hub.open_pull("fork-x", number=77, repository="eve/bench", by="eve", labels=labels).head_sha


def test_a_fork_waits_for_an_approval_of_its_head(world: World) -> None:
    head = fork(world)
    world.reconcile()
    assert notices(world) == [notice("fork")]
    assert f"/approve-sweep {head}" in text(world, notice("fork"))
    assert status(world) == (
        "pending",
        f"The PR comes from a fork, and its head {head[:12]} is not approved.",
    )


@pytest.mark.parametrize("spell", [str, str.upper])
def test_a_push_voids_an_approval(world: World, spell: Callable[[str], str]) -> None:
    first = fork(world)
    world.hub.comment(77, f"/approve-sweep {spell(first)}", by="mia")
    run = world.hub.add_run(event="workflow_dispatch", branch="main", title=f"PR 77 at {first}")
    world.hub.add_job(run.id, "sweep / plan", conclusion=None)
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(first, "infx/approval", "success", target_url=url)
    world.reconcile()
    assert notices(world) == []
    assert status(world) == ("pending", "Running: no rows yet.")
    second = world.hub.push("fork-x", {"benchmarks/run.sh": "curl\n"}, repository="eve/bench")
    world.reconcile()
    assert notices(world) == [notice("approval-void")]
    body = text(world, notice("approval-void"))
    assert first in body
    assert f"/approve-sweep {second}" in body


def test_an_approval_status_of_another_account_is_ignored(world: World) -> None:
    head = fork(world)
    world.hub.set_status(head, "infx/approval", "success", by="eve")
    world.reconcile()
    assert notices(world) == [notice("fork")]


@pytest.mark.parametrize("named", ["0" * 40, "f" * 40])
def test_an_approval_of_a_missing_commit_is_ignored(world: World, named: str) -> None:
    world.hub.push("fork-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    world.hub.open_pull("fork-x", number=77, repository="eve/bench", by="eve", labels=[LABEL])
    world.hub.comment(77, f"/approve-sweep {named}", by="stranger")
    assert not world.reconcile().failed
    assert notices(world) == [notice("fork")]
    assert status(world)[0] == "pending"


def test_the_sweep_of_a_fork_is_cancelled_with_its_pull_request(world: World) -> None:
    head = fork(world)
    world.hub.comment(77, f"/approve-sweep {head}", by="mia")
    run = world.hub.add_run(event="workflow_dispatch", branch="main", title=f"PR 77 at {head}")
    for index, conclusion in enumerate(("success", None)):
        name = f"sweep / rows / {index:012x} · single-node 8k1k · h200 · m1"
        world.hub.add_job(run.id, name, conclusion=conclusion)
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(head, "infx/approval", "success", target_url=url)
    world.reconcile()
    assert "Running" in text(world, VISUALIZER)
    world.hub.close_pull(77)
    world.hub.state.pulls[77].head_repository = None  # and the fork is deleted
    assert cancelled(world) == [run.id]
    assert "Cancelled" in text(world, VISUALIZER)


@pytest.mark.parametrize("label", [True, False])
def test_a_fork_s_own_run_does_not_count(world: World, *, label: bool) -> None:
    """The fork's workflow file can contain jobs with the names of rows that always succeed."""
    fork(world, label=label)
    run = world.sweep(done=3, status="completed", conclusion="success")
    world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})
    world.reconcile()
    assert status(world)[0] == "pending"
    assert VISUALIZER not in world.bot_comments()


@pytest.mark.parametrize("ref", ["feat-x", "main"])
def test_a_dispatch_of_an_edited_workflow_does_not_count(world: World, ref: str) -> None:
    """From a branch, or from a tag with the base branch's name, because GitHub reports only the name."""
    world.pull(labels=[LABEL])
    head = world.hub.state.pulls[77].head_sha
    run = world.hub.add_run(
        event="workflow_dispatch",
        branch=ref,
        head_sha=world.hub.push("mine", {".github/workflows/run-sweep.yml": "jobs: {}\n"}),
        title=f"PR 77 at {head}",
        status="completed",
    )
    world.hub.add_job(run.id, "sweep / rows / 000000000001 · single-node 8k1k · h200 · m1")
    world.reconcile()
    assert status(world)[0] == "pending"


def test_a_deleted_fork_still_counts_as_a_fork(world: World) -> None:
    fork(world)
    world.hub.state.pulls[77].head_repository = None
    assert not world.reconcile().failed
    assert notices(world) == [notice("fork")]


# Visualizer and status


def test_many_runs_share_one_visualizer_comment(world: World) -> None:
    world.pull({"perf-changelog.yaml": BASE + entry(link=OWN_LINK)}, labels=[LABEL])
    for attempt in range(3):
        run = world.sweep(done=2, failed=attempt, status="completed", conclusion="failure")
        world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})
        world.reconcile()
        world.hub.push("feat-x", {"benchmarks/run.sh": str(attempt)})
    last = world.sweep(done=1, running=2)
    world.reconcile()
    assert world.bot_comments().count(VISUALIZER) == 1
    body = text(world, VISUALIZER)
    assert f"unofficialRun={last.id}\n" in body
    assert "3 earlier runs" in body


def test_one_late_reconciliation_has_the_result_of_three(world: World) -> None:
    world.pull({"perf-changelog.yaml": BASE + entry(link=OWN_LINK)}, labels=[LABEL])
    start = world.hub.snapshot()

    def play(*, each_time: bool) -> str:
        world.hub.restore(start)
        for _ in range(3):
            run = world.sweep(done=2, status="completed", conclusion="success")
            world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})
            if each_time:
                world.reconcile()
        world.reconcile()
        return text(world, VISUALIZER)

    assert play(each_time=True) == play(each_time=False)


def test_a_sweep_dropped_by_its_plan_does_not_count(world: World) -> None:
    """The label was removed between gate and plan, so nothing was measured."""
    world.pull(labels=[LABEL])
    run = world.hub.add_run(pull=77, status="completed", conclusion="success")
    for name in ("gate", "sweep / plan", "sweep / dropped", "sweep-status"):
        world.hub.add_job(run.id, name)
    for name in ("stop", "sweep / canary", "sweep / rows", "sweep / collect"):
        world.hub.add_job(run.id, name, conclusion="skipped")
    world.hub.unlabel(77, LABEL)
    world.reconcile()
    assert status(world) == ("pending", "The PR has no label that starts a sweep.")
    assert notices(world) == []


def test_the_sweep_that_entered_the_concurrency_group_last_counts(world: World) -> None:
    """Two labels were set at once, and the sweep of the first event cancelled the sweep of the second."""
    world.pull(labels=[LABEL, "all-evals"])
    first = world.sweep(done=2)
    second = world.sweep(done=0, running=2)
    world.clock.now += timedelta(minutes=1)
    world.hub.finish_run(second.id, "cancelled")
    world.reconcile()
    assert status(world) == ("pending", "Running: 2 of 2 rows done.")
    world.clock.now += timedelta(minutes=1)
    world.hub.finish_run(first.id)
    world.hub.add_artifact(first.id, "results_bmk", {"x": "y"})
    world.reconcile()
    assert status(world) == ("success", "Swept: 2 of 2 rows done.")


def test_a_later_cancelled_sweep_replaces_an_earlier_success(world: World) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    world.clock.now += timedelta(minutes=1)
    again = world.sweep(done=1, running=1)
    world.hub.finish_run(again.id, "cancelled")
    world.reconcile()
    assert status(world) == ("failure", "Cancelled: 1 of 2 rows done, 1 stopped.")


@pytest.mark.parametrize("conclusion", ["failure", "cancelled"])
def test_a_failed_sweep_may_be_dispatched_again(world: World, conclusion: str) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=1, failed=1, status="completed", conclusion=conclusion)
    world.reconcile()
    assert status(world)[0] == "failure"
    head = world.hub.state.pulls[77].head_sha
    world.clock.now += timedelta(minutes=1)
    run = world.hub.dispatch("run-sweep.yml", ref="main", inputs={"pr": "77", "head-ref": head})
    for index in range(2):
        world.row(run, index, None)
    world.reconcile()
    assert status(world) == ("pending", "Running: 0 of 2 rows done.")
    world.hub.finish_run(run.id)
    world.reconcile()
    assert status(world) == ("success", "Swept: 2 of 2 rows done.")


@pytest.mark.parametrize("conclusion", ["cancelled", "success"])
def test_an_empty_run_is_not_linked(world: World, conclusion: str) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=0, status="completed", conclusion=conclusion)
    world.reconcile()
    assert VISUALIZER not in world.bot_comments()


def test_a_second_attempt_updates_the_comment(world: World) -> None:
    world.pull({"perf-changelog.yaml": BASE + entry(link=OWN_LINK)}, labels=[LABEL])
    run = world.sweep(done=1, failed=1, status="completed", conclusion="failure")
    world.reconcile()
    assert status(world) == ("failure", "Failed: 1 of 2 rows done, 1 failed.")
    world.hub.rerun(run.id)
    world.row(run, 1)
    world.hub.finish_run(run.id)
    world.reconcile()
    assert world.bot_comments().count(VISUALIZER) == 1
    assert "attempt 2" in text(world, VISUALIZER)
    assert status(world) == ("success", "Swept: 2 of 2 rows done.")


def test_a_fork_s_branch_of_the_same_name_is_ignored(world: World) -> None:
    world.pull(labels=[LABEL])
    world.hub.push("feat-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    world.hub.open_pull("feat-x", number=78, repository="eve/bench", by="eve")
    world.sweep(78, done=5)
    world.reconcile()
    assert VISUALIZER not in world.bot_comments()


def test_unread_counts_are_not_shown_as_zeros(world: World) -> None:
    """A push followed the sweep before a reconciliation, and the reads are spent on the newer head's run."""
    world.pull({"perf-changelog.yaml": BASE + entry(link=OWN_LINK)})
    old = world.sweep(done=2, failed=1, status="completed", conclusion="failure")
    world.hub.add_artifact(old.id, "results_bmk", {"x": "y"})
    world.hub.push("feat-x", {"benchmarks/run.sh": "newer\n"})
    world.sweep(done=0, status="completed", conclusion="success")
    world.reconcile()
    body = text(world, VISUALIZER)
    assert f"unofficialRun={old.id}\n" in body
    assert "rows 性能" not in body


def open_successor(world: World) -> Run:
    """Close pull request 70 while its sweep runs, open 77 from its branch, and return the sweep of 70."""
    world.pull(number=70, labels=[LABEL])
    old = world.sweep(70, done=2, running=1)
    world.hub.add_artifact(old.id, "results_bmk", {"x": "y"})
    world.clock.now += timedelta(hours=1)
    world.hub.close_pull(70)
    world.clock.now += timedelta(hours=1)
    world.pull(labels=[LABEL])
    return old


def test_a_locked_conversation_gets_edits_but_no_new_comment(world: World) -> None:
    world.pull(labels=[LABEL, "sweep-enabled"])
    world.reconcile()
    world.hub.state.pulls[77].locked = True
    world.hub.unlabel(77, "sweep-enabled")
    world.sweep(done=1, running=1)
    report = world.reconcile()
    assert not report.failed
    assert world.bot_comments() == [GREETING]
    (_, error), *_ = report.refused
    assert "locked" in str(error)
    assert status(world)[0] == "pending"


def test_a_sweep_of_an_earlier_pull_request_does_not_count(world: World) -> None:
    open_successor(world)
    world.reconcile()
    assert VISUALIZER not in world.bot_comments()
    own = world.sweep(done=1, running=1)
    world.reconcile()
    assert f"unofficialRun={own.id}\n" in text(world, VISUALIZER)
    assert "earlier run" not in text(world, VISUALIZER)


def test_a_closed_pull_request_cancels_only_its_own_sweep(world: World) -> None:
    old = open_successor(world)
    world.sweep(done=1, running=1)
    cancelled_runs = [action.run_id for action in world.reconcile(70).done if isinstance(action, CancelRun)]
    assert cancelled_runs == [old.id]


@pytest.mark.parametrize(
    ("change", "is_current"),
    [
        ("merge the base", True),
        ("make the link canonical", True),
        ("change a script", False),
        ("change a description", False),
        ("change a blank in a script", False),
    ],
)
def test_a_sweep_counts_until_something_measured_changes(world: World, change: str, is_current: bool) -> None:
    files = {"perf-changelog.yaml": BASE + entry(), "benchmarks/run.sh": "true\necho a\n"}
    world.pull(files, labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    match change:
        case "merge the base":
            world.hub.push("main", {"README.md": "x"})
            world.hub.merge_base_branch(77)
        case "make the link canonical":
            world.hub.push("feat-x", {"perf-changelog.yaml": BASE + entry(link=OWN_LINK)})
        case "change a script":
            world.hub.push("feat-x", {"benchmarks/run.sh": "false\n"})
        case "change a description":
            world.hub.push("feat-x", {"perf-changelog.yaml": BASE + entry("newer")})
        case "change a blank in a script":
            world.hub.push("feat-x", {"benchmarks/run.sh": "true\necho  a\n"})
    world.reconcile()
    assert status(world)[0] == ("success" if is_current else "pending")


def test_the_links_notice_appears_before_the_merge(world: World) -> None:
    world.pull(labels=[LABEL])
    world.reconcile()
    assert notices(world) == []
    world.sweep(done=2, status="completed", conclusion="success")
    world.reconcile()
    assert notices(world) == [notice("links")]
    assert "infx changelog canonicalize --pr 77 --write" in text(world, notice("links"))
    world.hub.push("feat-x", {"perf-changelog.yaml": BASE + entry(link=OWN_LINK)})
    world.reconcile()
    assert notices(world) == []
    assert status(world)[0] == "success"


def test_only_corrected_links_need_no_sweep(world: World) -> None:
    world.hub.push(
        "main", {"perf-changelog.yaml": BASE + entry("wrong", "https://github.com/acme/bench/pull/XXX")}
    )
    world.pull({"perf-changelog.yaml": BASE + entry("wrong", "https://github.com/acme/bench/pull/9")})
    world.reconcile()
    assert status(world) == ("success", "Only links of old entries are corrected; nothing to run.")


# Cancelling sweeps that are no longer valid


def cancelled(world: World) -> list[int]:
    return [action.run_id for action in world.reconcile().done if isinstance(action, CancelRun)]


def test_removing_the_label_cancels_the_sweep(world: World) -> None:
    world.pull(labels=[LABEL])
    run = world.sweep(running=3)
    assert cancelled(world) == []
    world.hub.unlabel(77, LABEL)
    assert cancelled(world) == [run.id]
    assert world.hub.state.runs[run.id].conclusion == "cancelled"
    assert cancelled(world) == []


def test_closing_the_pull_request_cancels_the_sweep(world: World) -> None:
    world.pull(labels=[LABEL])
    run = world.sweep(running=3)
    world.hub.close_pull(77)
    assert cancelled(world) == [run.id]


def test_changing_the_base_branch_cancels_the_sweep(world: World) -> None:
    """A later event of the pull request starts no workflow run."""
    world.pull(labels=[LABEL])
    run = world.sweep(running=3)
    world.hub.push("dev", {"x": "y"})
    world.hub.state.pulls[77].base_ref = "dev"
    assert cancelled(world) == [run.id]
    assert world.reconcile().done == []


def test_a_sweep_of_another_pull_request_of_the_branch_continues(world: World) -> None:
    world.hub.push("dev", {"x": "y"})
    world.pull(base="dev", labels=[LABEL])
    world.pull(number=78, labels=[LABEL])
    run = world.sweep(78, running=3)
    for listed in ([78], [77, 78]):
        world.hub.state.runs[run.id].pulls = listed
        assert cancelled(world) == []


@pytest.mark.parametrize(
    ("path", "is_cancelled"), [("benchmarks/run.sh", True), ("perf-changelog.yaml", False)]
)
def test_a_conflict_cancels_a_sweep_unless_it_is_in_the_changelog(
    world: World, path: str, is_cancelled: bool
) -> None:
    """Every merge causes conflicts in other changelogs, which do not change what is measured."""
    conflicting(world, path)
    run = world.sweep(running=3)
    assert cancelled(world) == ([run.id] if is_cancelled else [])


def test_a_run_whose_gate_is_undecided_is_not_cancelled(world: World) -> None:
    world.pull()
    world.hub.add_run("run-sweep.yml", pull=77)
    assert cancelled(world) == []


# Merge queue


def test_a_merge_group_gets_the_statuses_of_its_pull_request(world: World) -> None:
    world.pull({"perf-changelog.yaml": BASE + entry(link=OWN_LINK)}, labels=[LABEL])
    world.sweep(done=2, status="completed", conclusion="success")
    head = world.hub.state.pulls[77].head_sha
    world.hub.set_status(head, "codeowner-signoff-verify", "success", description="Signed off by amy.")
    base = world.hub.git.resolve("main")
    group = world.hub.push(f"gh-readonly-queue/main/pr-77-{base}", {"x": "y"}, start="feat-x")
    world.reconcile()
    statuses = {s.context: (s.state, s.description) for s in world.hub.state.statuses if s.sha == group}
    assert statuses == {
        "infx/sweep": ("success", "Swept: 2 of 2 rows done."),
        "codeowner-signoff-verify": ("success", "Signed off by amy."),
    }
    assert world.reconcile().done == []
