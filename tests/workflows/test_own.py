"""Check the project's own workflow files, as far as that is possible without a runner."""

from __future__ import annotations

import dataclasses
import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infx import yaml12
from infx.comments.progress import DROPPED, PLAN_CHECK
from infx.gate.event import DispatchInputs
from infx.gather.workflow_files import read_sources
from infx.policy.load import default_policy, parse_policy
from infx.workflows.check import check_files
from tests.builders import HEAD, run
from tests.workflows.evaluate import Situation, holds

ROOT = Path(__file__).parents[2]
RESULTS = ("success", "failure", "cancelled", "skipped")


def load(name: str) -> Any:
    path = ROOT / ".github/workflows" / name
    return yaml12.load(path.read_bytes(), name).value


RUN_SWEEP, SWEEP, BENCHMARK = load("run-sweep.yml"), load("sweep.yml"), load("benchmark.yml")
RECONCILE = load("reconcile.yml")


def test_the_projects_own_files_have_no_problems() -> None:
    policy = parse_policy((ROOT / "configs/policy.yaml").read_bytes(), "policy.yaml")
    assert check_files(read_sources(ROOT / ".github"), policy) == []


def test_every_dangerous_trigger_has_a_reason_at_its_line() -> None:
    """If zizmor ignored a whole file, the file could gain another dangerous trigger without a warning."""
    rules = yaml12.load((ROOT / ".github/zizmor.yml").read_bytes(), "zizmor.yml").value["rules"]
    assert "dangerous-triggers" not in rules
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        dangerous = {"issue_comment", "workflow_run", "pull_request_target"} & set(load(path.name)["on"])
        ignored = re.findall(r"# zizmor: ignore\[dangerous-triggers\] \w+ \w+ .+", path.read_text())
        assert bool(ignored) is bool(dangerous), path


def test_the_workflows_of_a_sweep_are_short() -> None:
    """The workflows of a sweep pass on decisions; infx makes the decisions."""
    names = ("run-sweep.yml", "sweep.yml", "benchmark.yml", "approve-fork.yml", "ci.yml")
    assert sum(len((ROOT / ".github/workflows" / name).read_text().splitlines()) for name in names) < 450


def test_no_file_below_github_names_a_label() -> None:
    labels = default_policy().labels
    for path in (ROOT / ".github").rglob("*.yml"):
        words = set(re.findall(r"[\w-]+", path.read_text()))
        assert words.isdisjoint({*labels.primary, *labels.control}), path


@pytest.mark.parametrize(
    ("job", "sums"),
    [
        (BENCHMARK["jobs"]["list"], "${{ inputs.sums }}"),
        (BENCHMARK["jobs"]["row"], "${{ inputs.sums }}"),
        (SWEEP["jobs"]["collect"], "${{ needs.plan.outputs.sums }}"),
    ],
    ids=["list", "row", "collect"],
)
def test_the_plan_is_checked_before_it_is_used(job: Any, sums: str) -> None:
    """Any job of a run can replace an artifact; outputs of a job cannot be changed by another."""
    steps = job["steps"]
    downloads = [
        number for number, step in enumerate(steps) if step.get("with", {}).get("name") == "sweep-plan"
    ]
    assert len(downloads) == 1
    check = steps[downloads[0] + 1]
    assert check["name"] == PLAN_CHECK
    assert check["run"] == "cd sweep-plan && printf '%s\\n' \"$SUMS\" | sha256sum --check --strict --quiet"
    assert check["env"] == {"SUMS": sums}
    assert "sweep-plan" not in str(steps[: downloads[0]])


def test_the_sums_are_those_of_the_job_that_plans() -> None:
    jobs = SWEEP["jobs"]
    assert jobs["plan"]["outputs"]["sums"] == "${{ steps.plan.outputs.sums }}"
    assert {jobs[name]["with"]["sums"] for name in ("canary", "rows")} == {"${{ needs.plan.outputs.sums }}"}


def test_a_row_installs_nothing_and_checks_out_only_measured_code() -> None:
    steps = BENCHMARK["jobs"]["row"]["steps"]
    used = [step["uses"].partition("@")[0] for step in steps if "uses" in step]
    assert used == ["actions/download-artifact", "actions/checkout", "actions/upload-artifact"]
    assert next(step["with"]["path"] for step in steps if "checkout" in step.get("uses", "")) == "measured"
    assert not any("install" in step.get("run", "") for step in steps)


def test_a_row_has_time_to_upload_after_its_command_ran_out_of_it() -> None:
    assert default_policy().sweep.row_minutes + 5 <= BENCHMARK["jobs"]["row"]["timeout-minutes"]


@pytest.mark.parametrize(
    ("job", "verdict", "runs"),
    [
        ("stop", "stop", True),
        ("stop", "run", False),
        ("stop", "ignore", False),
        ("stop", "", False),
        ("sweep", "run", True),
        ("sweep", "stop", False),
        ("sweep", "ignore", False),
        ("sweep", "", False),
    ],
)
@pytest.mark.parametrize("gate", RESULTS)
def test_jobs_that_run_after_the_gate(job: str, verdict: str, runs: bool, gate: str) -> None:
    """Only the job that the verdict names runs, and only if the gate succeeded."""
    values = {"needs.gate.result": gate, "needs.gate.outputs.verdict": verdict}
    situation = Situation(values=values, results=(gate,), cancelled=gate == "cancelled")
    assert holds(RUN_SWEEP["jobs"][job]["if"], situation) is (runs and gate == "success")


def test_only_stop_and_sweep_enter_the_group_of_a_sweep() -> None:
    assert "concurrency" not in RUN_SWEEP
    groups = {name: job["concurrency"] for name, job in RUN_SWEEP["jobs"].items() if "concurrency" in job}
    assert set(groups) == {"stop", "sweep"}
    for group in groups.values():
        assert group == {"group": "${{ needs.gate.outputs.group }}", "cancel-in-progress": True}
    for workflow in (SWEEP, BENCHMARK):
        assert "concurrency" not in workflow
        assert not any("concurrency" in job for job in workflow["jobs"].values())


@pytest.mark.parametrize(("gate", "sweep"), [*itertools.product(RESULTS, RESULTS)])
def test_the_job_for_the_status_always_runs(gate: str, sweep: str) -> None:
    situation = Situation(values={}, results=(gate, sweep), cancelled="cancelled" in {gate, sweep})
    assert holds(RUN_SWEEP["jobs"]["sweep-status"]["if"], situation)


@pytest.mark.parametrize(
    ("plan", "canary", "cancelled"), [*itertools.product(RESULTS, RESULTS, (False, True))]
)
def test_rows_run_after_a_canary_that_passed_or_was_skipped(plan: str, canary: str, cancelled: bool) -> None:
    """No row runs after a failed or cancelled canary; without a canary, all rows run."""
    values = {
        "needs.plan.result": plan,
        "needs.canary.result": canary,
        "needs.plan.outputs.shard-count": "2" if plan == "success" else "",
        "needs.plan.outputs.canary-id": "abc",
    }
    situation = Situation(values=values, results=(plan, canary), cancelled=cancelled)
    wanted = plan == "success" and canary in {"success", "skipped"} and not cancelled
    assert holds(SWEEP["jobs"]["rows"]["if"], situation) is wanted


@pytest.mark.parametrize(("canary", "without"), [("success", "abc"), ("skipped", "")])
def test_the_row_that_passed_as_canary_does_not_run_again(canary: str, without: str) -> None:
    values = {"needs.canary.result": canary, "needs.plan.outputs.canary-id": "abc"}
    text = SWEEP["jobs"]["rows"]["with"]["without"].removeprefix("${{").removesuffix("}}")
    passed = holds(f"always() && ({text})", Situation(values=values, results=()))
    assert passed is bool(without)


@pytest.mark.parametrize(("count", "runs"), [("", False), ("0", False), ("1", True), ("12", True)])
def test_no_matrix_is_made_for_an_empty_plan(count: str, runs: bool) -> None:
    values = {
        "needs.plan.result": "success",
        "needs.canary.result": "skipped",
        "needs.plan.outputs.shard-count": count,
    }
    situation = Situation(values=values, results=("success", "skipped"))
    assert holds(SWEEP["jobs"]["rows"]["if"], situation) is runs
    assert holds(SWEEP["jobs"]["collect"]["if"], situation) is runs
    values = {"needs.list.result": "success", "needs.list.outputs.count": count}
    assert holds(BENCHMARK["jobs"]["row"]["if"], Situation(values=values, results=("success",))) is runs


@pytest.mark.parametrize(("count", "runs"), [("", True), ("0", False), ("2", False)])
@pytest.mark.parametrize("plan", RESULTS)
def test_a_sweep_that_the_gate_takes_back_reports_it(count: str, runs: bool, plan: str) -> None:
    """An empty plan is a plan, and a failed plan reports its own failure."""
    situation = Situation(values={"needs.plan.outputs.shard-count": count}, results=(plan,))
    assert holds(SWEEP["jobs"][DROPPED]["if"], situation) is (runs and plan == "success")
    assert SWEEP["jobs"][DROPPED]["name"] == DROPPED


@pytest.mark.parametrize(("identifier", "runs"), [("", False), ("abc", True)])
@pytest.mark.parametrize("plan", RESULTS)
def test_a_canary_needs_a_plan_that_chose_one(identifier: str, runs: bool, plan: str) -> None:
    values = {"needs.plan.outputs.canary-id": identifier}
    situation = Situation(values=values, results=(plan,), cancelled=plan == "cancelled")
    assert holds(SWEEP["jobs"]["canary"]["if"], situation) is (runs and plan == "success")


@pytest.mark.parametrize(("plan", "canary", "rows"), [*itertools.product(("success",), RESULTS, RESULTS)])
def test_results_are_collected_whatever_the_rows_did(plan: str, canary: str, rows: str) -> None:
    """After a failed canary, its results and the missing rows are collected; after a cancellation, nothing is."""
    values = {"needs.plan.outputs.shard-count": "1"}
    for cancelled in (False, True):
        situation = Situation(values=values, results=(plan, canary, rows), cancelled=cancelled)
        assert holds(SWEEP["jobs"]["collect"]["if"], situation) is not cancelled


def test_fail_fast_reaches_both_matrices_as_a_boolean() -> None:
    """A shard only fails at its end, so the matrix in the shard needs the flag too."""
    assert SWEEP["jobs"]["rows"]["strategy"]["fail-fast"] == "${{ inputs.fail-fast }}"
    assert BENCHMARK["jobs"]["row"]["strategy"]["fail-fast"] == "${{ inputs.fail-fast }}"
    for workflow in (SWEEP, BENCHMARK):
        assert workflow["on"]["workflow_call"]["inputs"]["fail-fast"] == {"type": "boolean", "required": True}
    assert RUN_SWEEP["jobs"]["sweep"]["with"]["fail-fast"] == "${{ needs.gate.outputs.fail-fast == 'true' }}"
    assert SWEEP["jobs"]["canary"]["with"]["fail-fast"] is False


def test_a_row_may_read_what_its_second_look_asks_for() -> None:
    """A partial re-run keeps the answers of the first attempt, so the row file asks GitHub itself."""
    job = BENCHMARK["jobs"]["row"]
    working = next(step for step in job["steps"] if step.get("id") == "row")
    assert working["env"]["GITHUB_TOKEN"] == "${{ github.token }}"
    assert {"pull-requests", "statuses"} <= set(job["permissions"])
    may_fail = {step.get("name") for step in job["steps"] if "continue-on-error" in step}
    assert may_fail == {"Remove what earlier jobs of this runner left", "Remove what this job left"}


@pytest.mark.parametrize("earlier", RESULTS)
def test_what_a_row_does_after_what_happened_to_its_steps(earlier: str) -> None:
    """After a refusal nothing is worked on and nothing uploaded; the machine is left clean unless it is wanted back."""
    steps = BENCHMARK["jobs"]["row"]["steps"]
    cancelled = earlier == "cancelled"
    situation = Situation(values={}, results=(earlier,), cancelled=cancelled)
    runs = [holds(step.get("if"), situation) for step in steps]
    names = [step.get("id") or step.get("name") or step["uses"].split("@")[0] for step in steps]
    found = dict(zip(names, runs, strict=True))
    assert found["row"] is (earlier == "success")
    assert found["actions/upload-artifact"] is False  # the row has not named its artifact
    assert found["Remove the files of this job"] is not cancelled
    assert found["Remove what this job left"] is not cancelled
    started = replace(situation, values={"steps.row.outputs.artifact-name": "bmk_x"})
    upload = steps[names.index("actions/upload-artifact")]
    assert holds(upload["if"], started) is not cancelled


def test_the_measured_commit_and_the_commit_it_is_compared_with() -> None:
    """A fork's test merge is measured instead of its head; by default the comparison is with the base branch."""
    inputs = RUN_SWEEP["jobs"]["sweep"]["with"]
    outputs = "needs.gate.outputs"
    assert inputs["measured-sha"] == f"${{{{ {outputs}.merge-sha || {outputs}.head-sha }}}}"
    assert inputs["delta-base-sha"] == f"${{{{ {outputs}.delta-base-sha || {outputs}.base-sha }}}}"
    plan = {
        step["uses"]: step for step in SWEEP["jobs"]["plan"]["steps"] if "/actions/" in step.get("uses", "")
    }
    for name in ("changelog", "plan"):
        action_inputs = plan[f"./.infx/.github/actions/{name}"]["with"]
        assert action_inputs["base-ref"] == "${{ inputs.delta-base-sha }}"
        assert action_inputs["head-ref"] == "${{ inputs.head-sha }}"
        assert action_inputs["policy"].startswith("${{ inputs.base-sha }}:")


@pytest.mark.parametrize(
    ("verdict", "stage", "validates", "plans"),
    [
        ("run", "pr", True, True),
        ("run", "main", True, True),
        ("run", "", False, True),  # a dispatched command has no changelog
        ("stop", "pr", False, False),
        ("ignore", "pr", False, False),
    ],
)
def test_the_changelog_is_validated_before_anything_is_planned(
    verdict: str, stage: str, validates: bool, plans: bool
) -> None:
    steps = SWEEP["jobs"]["plan"]["steps"]
    values = {"steps.gate.outputs.verdict": verdict, "steps.gate.outputs.stage": stage}
    names = [step["uses"].split("@")[0].rpartition("/")[2] for step in steps]
    assert names == ["checkout", "checkout", "gate", "changelog", "plan", "upload-artifact"]
    runs = [holds(step.get("if"), Situation(values=values, results=("success",))) for step in steps]
    assert runs == [True, True, True, validates, plans, plans]
    failed = Situation(values=values, results=("failure",))
    assert not any(holds(step.get("if"), failed) for step in steps[3:])


def test_the_checkout_of_the_base_branch_comes_last() -> None:
    for name, workflow in (("sweep", SWEEP), ("benchmark", BENCHMARK)):
        for job in workflow["jobs"].values():
            paths = [
                step["with"]["path"] for step in job.get("steps", ()) if "checkout@" in step.get("uses", "")
            ]
            assert paths in ([], [".infx"], ["measured"], ["measured", ".infx"]), name


@pytest.mark.parametrize("workflow", [RUN_SWEEP, SWEEP, BENCHMARK])
def test_no_job_of_a_sweep_has_write_permissions(workflow: Any) -> None:
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert set(job["permissions"].values()) <= {"read"}


def test_a_called_workflow_has_no_more_permissions_than_its_caller() -> None:
    """With more permissions, the run would fail at its start, without a log."""
    granted = RUN_SWEEP["jobs"]["sweep"]["permissions"]
    for job in SWEEP["jobs"].values():
        assert job["permissions"].items() <= granted.items()
    for caller in ("canary", "rows"):
        for job in BENCHMARK["jobs"].values():
            assert job["permissions"].items() <= SWEEP["jobs"][caller]["permissions"].items()


def test_a_dispatch_has_the_inputs_that_the_gate_reads() -> None:
    fields = {
        "pr" if field.name == "pull" else field.name.replace("_", "-")
        for field in dataclasses.fields(DispatchInputs)
    }
    assert set(RUN_SWEEP["on"]["workflow_dispatch"]["inputs"]) == fields


def test_the_name_of_a_dispatched_run_is_what_infx_reads() -> None:
    """GitHub shows no inputs of a dispatch, so the run's name is the only place that has them."""
    [(template, first, second, third, fourth)] = re.findall(
        r"inputs\.pr && format\('([^']+)', ([^,]+), ([^,]+), (inputs\.complete && '[^']+' \|\| ''), ([^,]+)\) \|\| ''",
        RUN_SWEEP["run-name"],
    )
    assert (first, second, fourth) == ("inputs.pr", "inputs.head-ref || 'its head'", "inputs.complete")
    words = third.split("'")[1]
    dispatched = run(event="workflow_dispatch", title=template.format(77, HEAD, words, 42))
    assert (dispatched.dispatched_for, dispatched.completes) == ((77, HEAD), 42)
    dispatched = run(event="workflow_dispatch", title=template.format(77, HEAD, "", ""))
    assert (dispatched.dispatched_for, dispatched.completes) == ((77, HEAD), None)


def test_the_plan_completes_the_run_that_the_second_gate_names() -> None:
    steps = {step.get("id"): step for step in SWEEP["jobs"]["plan"]["steps"]}
    assert steps["plan"]["with"]["complete"] == "${{ steps.gate.outputs.complete }}"
    assert "complete" not in SWEEP["on"]["workflow_call"]["inputs"]  # inputs of a called workflow are older


@pytest.mark.parametrize(
    ("values", "runs"),
    [
        ({"github.event_name": "push"}, True),
        ({"github.event_name": "schedule"}, True),
        ({"github.event_name": "workflow_dispatch"}, True),
        ({"github.event_name": "workflow_run"}, True),
        ({"github.event.comment.body": "/use 42"}, True),
        ({"github.event.comment.body": "Thanks.\n/reuse-sweep-run"}, True),
        ({"github.event.changes.body.from": "/use 42", "github.event.comment.body": "never mind"}, True),
        ({"github.event.comment.body": "Thanks."}, False),
        ({"github.event.comment.body": "/use 42", "github.event.comment.user.type": "Bot"}, False),
        ({"github.event.comment.body": "/use 42", "github.event.issue.pull_request": ""}, False),
    ],
)
def test_of_the_comments_only_reuse_commands_are_reconciled_at_once(
    values: dict[str, str], runs: bool
) -> None:
    comment = {
        "github.event_name": "issue_comment",
        "github.event.issue.pull_request": "url",
        "github.event.comment.user.type": "User",
    }
    assert (
        holds(RECONCILE["jobs"]["reconcile"]["if"], Situation(values={**comment, **values}, results=()))
        is runs
    )


def test_a_comment_without_a_command_replaces_no_waiting_run() -> None:
    """GitHub enters a workflow's group before it evaluates a job's condition, and a job's group after it."""
    assert "concurrency" not in RECONCILE
    group = RECONCILE["jobs"]["reconcile"]["concurrency"]
    assert group["group"].startswith("reconcile-${{ github.event.issue.number || ")
    assert group["cancel-in-progress"] is False
