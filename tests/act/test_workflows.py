"""Run every workflow for an event of the hub, with the permissions of its jobs, and check its effects on the hub."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infx import yaml12
from infx.git import Git
from infx.hub import Event, Hub
from infx.hub.state import Pull, Status
from tests.act.bench import SMALL, WIDE, make_changelog, make_payload
from tests.act.harness import Act, Outcome
from tests.act.permissions import find_permissions
from tests.conftest import ROOT

WORKFLOWS = ROOT / ".github/workflows"
BOT = "github-actions[bot]"


def find_last_event(hub: Hub, name: str, action: str | None = None) -> Event:
    return next(e for e in reversed(hub.state.events) if (e.name, e.action) == (name, action))


def propose(hub: Hub, text: str | None = None, **how: Any) -> Pull:
    hub.push("feat-x", {"perf-changelog.yaml": make_changelog(SMALL) if text is None else text}, **how)
    return hub.open_pull("feat-x", title="Measure again", **how)


def find_status(hub: Hub, pull: Pull, context: str) -> Status:
    statuses = [
        status for status in hub.state.statuses if (status.sha, status.context) == (pull.head_sha, context)
    ]
    assert statuses, f"no status {context}"
    assert statuses[-1].creator == BOT
    return statuses[-1]


def check_done(outcome: Outcome, job: str) -> None:
    assert outcome.jobs == {job: ["success"]}, outcome.log[-3000:]
    assert outcome.code == 0


def test_every_workflow_is_played() -> None:
    """Workflows that are only called run with their callers."""
    startable = {p.name for p in WORKFLOWS.glob("*.yml") if list(yaml12.load(p.read_bytes(), p.name).value["on"]) != ["workflow_call"]}  # fmt: skip
    text = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert {name for name in startable if not re.search(rf"\.(play|run)\(\s*\"{name}\"", text)} == set()


@pytest.mark.parametrize("of_fork", [False, True], ids=["branch", "fork"])
def test_the_changelog_of_a_pull_request_is_validated(hub: Hub, tmp_path: Path, *, of_fork: bool) -> None:
    how: dict[str, Any] = {"repository": "eve/bench", "by": "eve"} if of_fork else {}
    propose(hub, **how)
    act = Act(hub, tmp_path)
    check_done(act.play("changelog.yml", find_last_event(hub, "pull_request", "opened")), "changelog")
    past = (ROOT / "perf-changelog.yaml").read_text()
    hub.push("feat-x", {"perf-changelog.yaml": past.replace("- config-keys", "- config-key", 1)}, **how)
    changed = act.play("changelog.yml", find_last_event(hub, "pull_request", "synchronize"), attempt=2)
    assert changed.jobs == {"changelog": ["failure"]}
    assert "title=history-edited::" in changed.log, changed.log[-3000:]


def test_the_changelog_is_validated_after_the_merge(hub: Hub, tmp_path: Path) -> None:
    hub.push("main", {"perf-changelog.yaml": make_changelog(SMALL).replace("XXX", "77")}, by="mia")
    check_done(Act(hub, tmp_path).play("changelog.yml", find_last_event(hub, "push")), "changelog")


def test_the_changelog_is_validated_in_the_merge_queue(hub: Hub, tmp_path: Path) -> None:
    """The hub has no merge queue, so the test makes the commit of the merge group."""
    pull = propose(hub, make_changelog(SMALL).replace("XXX", "1"))
    hub.compute_merge(pull)
    base = hub.git.resolve("refs/heads/main") or ""
    ref = f"refs/heads/gh-readonly-queue/main/pr-{pull.number}-{base}"
    hub.git.update_ref(ref, pull.merge_sha)
    group = {"head_sha": pull.merge_sha, "head_ref": ref, "base_sha": base, "base_ref": "refs/heads/main"}
    event = make_payload(hub, action="checks_requested", merge_group=group)
    check_done(Act(hub, tmp_path).run("changelog.yml", "merge_group", event), "changelog")


def test_a_new_sweep_is_reconciled(hub: Hub, tmp_path: Path) -> None:
    pull = propose(hub)
    hub.label(pull.number, "full-sweep-enabled")
    hub.add_run("run-sweep.yml", pull=pull.number, run_id=700)
    act = Act(hub, tmp_path)
    check_done(
        act.play("reconcile.yml", find_last_event(hub, "workflow_run", "requested"), run_id=701), "reconcile"
    )
    assert find_status(hub, pull, "infx/sweep").state == "pending"
    comments = hub.comments_of(pull.number)
    assert {comment.author for comment in comments} == {BOT}
    assert comments
    before = hub.snapshot()
    again = act.play("reconcile.yml", find_last_event(hub, "workflow_run", "requested"), run_id=702)
    check_done(again, "reconcile")
    assert (hub.state.statuses, hub.comments_of(pull.number)) == (before.state.statuses, comments)


@pytest.mark.parametrize("schedule", ["*/15 * * * *", "23 3 * * *"])
def test_schedules_reconcile_what_events_missed(hub: Hub, tmp_path: Path, schedule: str) -> None:
    pull = propose(hub)
    event = make_payload(hub, schedule=schedule)
    check_done(Act(hub, tmp_path).run("reconcile.yml", "schedule", event), "reconcile")
    assert find_status(hub, pull, "infx/sweep").state in {"pending", "success"}
    assert hub.comments_of(pull.number)


def test_a_sweep_of_a_closed_pull_request_is_cancelled(hub: Hub, tmp_path: Path) -> None:
    pull = propose(hub)
    run = hub.add_run("run-sweep.yml", pull=pull.number, run_id=700)
    hub.add_job(run.id, "sweep / plan", conclusion=None)
    hub.close_pull(pull.number)
    event = make_payload(hub, inputs={"pr": str(pull.number), "all": "false"})
    check_done(Act(hub, tmp_path).run("reconcile.yml", "workflow_dispatch", event), "reconcile")
    assert hub.state.runs[run.id].conclusion == "cancelled"


@pytest.mark.parametrize("with_app", [True, False], ids=["with an App", "without"])
def test_a_push_that_causes_a_conflict_in_the_changelog(hub: Hub, tmp_path: Path, *, with_app: bool) -> None:
    """With an App, infx resolves the conflict by a push; without an App, a comment has the command."""
    pull = propose(hub)
    hub.label(pull.number, "full-sweep-enabled")
    head = pull.head_sha
    main_changelog = make_changelog().replace("XXX", "76")
    tip = hub.push("main", {"perf-changelog.yaml": main_changelog}, by="mia")
    variables = {"INFX_APP_ID": "1"} if with_app else {}
    outcome = Act(hub, tmp_path).play("reconcile.yml", find_last_event(hub, "push"), variables=variables)
    check_done(outcome, "reconcile")
    hub.sync()
    if with_app:
        assert pull.head_sha != head
        assert hub.git.commit(pull.head_sha).parents == (head, tip)
        hub.compute_merge(pull)
        assert pull.mergeable
    else:
        assert pull.head_sha == head
        assert any("infx changelog" in (comment.body or "") for comment in hub.comments_of(pull.number))


def propose_configuration(hub: Hub) -> Pull:
    """Open a pull request with a new configuration, which needs a sign-off."""
    master = (ROOT / "configs/nvidia-master.yaml").read_text() + WIDE.format(conc=[1, 2])
    entry = make_changelog("wide-fp8-h100-sglang")
    hub.push("feat-x", {"perf-changelog.yaml": entry, "configs/nvidia-master.yaml": master})
    return hub.open_pull("feat-x", title="Measure again")


def sign(hub: Hub, number: int, by: str) -> None:
    page = (ROOT / "docs/PR_REVIEW_CHECKLIST.md").read_text()
    checklist = page.split("```markdown\n")[1].split("```")[0]
    hub.comment(number, checklist.replace("- [ ] ", "- [x] "), by=by)


def test_a_sign_off_is_answered(hub: Hub, tmp_path: Path) -> None:
    """noor owns the changed file and ticks every item, but no sweep has run or is linked."""
    hub.account("noor", role="write")
    pull = propose_configuration(hub)
    hub.finish_run(hub.add_run("run-sweep.yml", pull=pull.number).id)  # shows when the head was pushed
    sign(hub, pull.number, "noor")
    outcome = Act(hub, tmp_path).play("signoff.yml", find_last_event(hub, "issue_comment", "created"))
    assert outcome.jobs.keys() == {"verify"}
    status = find_status(hub, pull, "codeowner-signoff-verify")
    assert (status.state, "noor" in (status.description or "")) == ("failure", True)
    (verdict,) = [comment for comment in hub.comments_of(pull.number) if comment.author == BOT]
    assert "@noor" in (verdict.body or "")


def test_a_review_starts_the_verification(hub: Hub, tmp_path: Path) -> None:
    """Only the fact that the relay ran is passed on; infx reads everything else from the hub."""
    pull = propose_configuration(hub)
    hub.review(pull.number, "Nice.", by="mia")
    relay = Act(hub, tmp_path / "relay").play(
        "signoff-relay.yml", find_last_event(hub, "pull_request_review", "submitted")
    )
    check_done(relay, "relay")
    run = hub.add_run("signoff-relay.yml", pull=pull.number, event="pull_request_review", run_id=710)
    hub.finish_run(run.id)
    outcome = Act(hub, tmp_path).play("signoff.yml", find_last_event(hub, "workflow_run", "completed"))
    check_done(outcome, "verify")
    assert find_status(hub, pull, "codeowner-signoff-verify").state == "pending"


@pytest.mark.parametrize(("code", "result"), [(0, "success"), (3, "failure")])
def test_ci_fails_when_a_check_fails(hub: Hub, tmp_path: Path, code: int, result: str) -> None:
    """`.ci/run` would run this test suite, so a short script replaces it."""
    clone = tmp_path / "clone"
    Git(tmp_path).run("clone", "--quiet", str(hub.git.path), str(clone))
    (clone / ".ci").mkdir()
    (clone / ".ci/run").write_text(f"#!/bin/sh\necho checked\nexit {code}\n")
    (clone / ".ci/run").chmod(0o755)
    git = Git(clone)
    git.run("add", ".ci")
    git.run("commit", "--quiet", "--message", "checks")
    git.run("push", "--quiet", "origin", "HEAD:feat-x")
    hub.open_pull("feat-x")
    outcome = Act(hub, tmp_path).play("ci.yml", find_last_event(hub, "pull_request", "opened"))
    assert outcome.jobs == {"check-1": [result], "check-2": [result], "ci": [result]}
    assert outcome.steps.splitlines().count("checked") == 2


def edit_workflow(act: Act, name: str, old: str, new: str) -> None:
    path = act.project / ".github/workflows" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("statuses: write", r"reconcile, reconcile: GET \S+/commits/\w+/statuses \(statuses=read\)"),
        ("contents: read", r"reconcile, reconcile: checkout needs contents: read"),
    ],
)
def test_a_request_beyond_a_jobs_permissions_fails_the_test(
    hub: Hub, tmp_path: Path, missing: str, words: str
) -> None:
    propose(hub)
    act = Act(hub, tmp_path)
    edit_workflow(act, "reconcile.yml", f"      {missing}", "      packages: read")
    event = make_payload(hub, inputs={"pr": "1", "all": "false"})
    with pytest.raises(AssertionError, match=words):
        act.run("reconcile.yml", "workflow_dispatch", event)


def test_an_event_that_does_not_start_the_workflow_fails_the_test(hub: Hub, tmp_path: Path) -> None:
    propose(hub)
    opened = find_last_event(hub, "pull_request", "opened")
    act = Act(hub, tmp_path)
    for workflow, event, words in (
        (
            "changelog.yml",
            replace(opened, payload={**opened.payload, "action": "labeled"}),
            "pull_request labeled",
        ),
        ("reconcile.yml", opened, "pull_request does not start"),
    ):
        with pytest.raises(AssertionError, match=words):
            act.play(workflow, event)


def test_a_called_job_must_not_exceed_its_callers_permissions(tmp_path: Path) -> None:
    outer = "name: outer\non: push\npermissions: {}\njobs:\n  call:\n    permissions: {contents: read}\n"
    outer += "    uses: ./.github/workflows/inner.yml\n"
    inner = "name: inner\non: workflow_call\njobs:\n  one: {permissions: {contents: %s}, steps: []}\n  two: {steps: []}\n"
    (tmp_path / "outer.yml").write_text(outer)
    (tmp_path / "inner.yml").write_text(inner % "read")
    permissions = {job.job: job.permissions for job in find_permissions(tmp_path, "outer.yml")}
    assert permissions == {"one": {"contents": "read"}, "two": {"contents": "read"}}
    (tmp_path / "inner.yml").write_text(inner % "write")
    with pytest.raises(
        AssertionError, match=r"inner\.yml: one asks for contents: write, its caller grants read"
    ):
        find_permissions(tmp_path, "outer.yml")


def test_jobs_of_a_forks_run_only_read() -> None:
    jobs = find_permissions(WORKFLOWS, "approve-fork.yml", is_fork=True)
    assert [job.permissions for job in jobs] == [
        dict.fromkeys(("contents", "pull-requests", "statuses", "actions"), "read")
    ]
