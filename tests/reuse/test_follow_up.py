"""Follow-up sweeps: which rows they run, when they are a source, and how much they and earlier runs cover together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from infx.bench.identity import IdentifiedRow
from infx.gate.facts import Approval
from infx.hub.state import Run
from infx.policy.load import default_policy
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseDecision, ReuseReason, ReuseVerdict
from infx.reuse.facts import EarlierRun, ReuseFacts, SourceRun
from infx.saved import dump_json, parse_json
from tests.builders import HEAD, OLD, WEB, pull, run
from tests.calling import Called
from tests.reuse.facts import RECIPE, ROWS, command, facts, source, sweep
from tests.reuse.world import CHANGE, M1_RECIPE, World

POLICY = default_policy()
USE = command("/use 900")
FIRST = run("failure", id=899)
TITLE = f"PR 77 at {HEAD}, completes run 899"
FOLLOW_UP = run(event="workflow_dispatch", head_branch="main", head_sha=OLD, title=TITLE)


def follow_up(*, ran: Any = None, earlier: Any = None, **fields: Any) -> SourceRun:
    """Return run 900, which ran the second row and completes run 899, which has the first."""
    before = EarlierRun(run=FIRST, sweep=earlier or sweep(done=ROWS[:1], failed=ROWS[1:]))
    defaults = {"sweep": ran or sweep(done=ROWS[1:]), "completes": (before,)}
    return source(fields.pop("of", FOLLOW_UP), **{**defaults, **fields})


def decide(*sources: SourceRun, by: Any = None, **fields: Any) -> ReuseDecision:
    return decide_reuse(facts(*([by] if by else []), runs=sources, **fields), POLICY)


def test_a_follow_up_and_the_run_that_it_completes_cover_the_plan_together() -> None:
    decision = decide(follow_up(), source(FIRST, sweep=sweep(done=ROWS[:1], failed=ROWS[1:])))
    assert (decision.verdict, decision.reason) == (ReuseVerdict.REUSE, ReuseReason.NEWEST)
    assert decision.source == FOLLOW_UP
    assert decision.coverage is not None
    assert decision.coverage.covered == ROWS


@pytest.mark.parametrize(
    ("ran", "earlier", "missing", "stale"),
    [
        pytest.param(sweep(done=(), failed=ROWS[1:]), None, ROWS[1:], (), id="the row failed again"),
        pytest.param(sweep(done=ROWS[1:], failed=ROWS[:1]), None, ROWS[:1], (), id="it failed where the other passed"),
        pytest.param(None, sweep(done=ROWS[:1], changed_files=(RECIPE,)), (), ROWS[:1], id="changed since the earlier"),
        pytest.param(sweep(done=ROWS[1:], changed_files=(RECIPE,)), None, (), ROWS[1:], id="changed since the later"),
        pytest.param(sweep(done=ROWS), sweep(done=ROWS, changed_files=(RECIPE,)), (), (), id="both have it"),
        pytest.param(sweep(done=()), None, ROWS[1:], (), id="neither has it"),
    ],
)  # fmt: skip
def test_of_a_row_that_both_have_the_follow_ups_counts(
    ran: Any, earlier: Any, missing: Sequence[str], stale: Sequence[str]
) -> None:
    coverage = decide(follow_up(ran=ran, earlier=earlier), by=USE).coverage
    assert coverage is not None
    assert (coverage.missing, coverage.stale) == (missing, stale)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"of": replace(FOLLOW_UP, head_branch="feat-x")}, id="of a workflow that the pull request wrote"),
        pytest.param({"of": replace(FOLLOW_UP, head_repository="eve/bench")}, id="of a fork"),
        pytest.param({"of": replace(FOLLOW_UP, title=TITLE.replace("77", "78"))}, id="of another pull request"),
        pytest.param({"of": replace(FOLLOW_UP, title=TITLE.replace("899", "898"))}, id="completes another run"),
        pytest.param({"of": replace(FOLLOW_UP, title=f"PR 77 at {HEAD}")}, id="its title names no run"),
        pytest.param({"completes": ()}, id="the run was deleted"),
        pytest.param({"completes": (EarlierRun(run=run(id=899, head_branch="feat-y")),)}, id="of a strange run"),
        pytest.param({"completes": (EarlierRun(run=run(id=899, head_sha="f" * 40)),)}, id="of a strange commit"),
        pytest.param(
            {"completes": (EarlierRun(run=FIRST, sweep=sweep(done=ROWS[:1], foreign=("c" * 12,))),)},
            id="the run has rows that its commit does not plan",
        ),
    ],
)  # fmt: skip
def test_a_follow_up_is_no_source_if_it_or_the_earlier_run_is_foreign(changes: dict[str, Any]) -> None:
    """Whatever a pin says: it does not make a foreign run one of the pull request."""
    decision = decide(follow_up(**changes), by=USE)
    assert decision.verdict is ReuseVerdict.REFUSED
    assert decision.reason in {ReuseReason.OTHER_PULL, ReuseReason.NOT_IN_PULL, ReuseReason.OTHER_PLAN}


def test_a_follow_up_does_not_hide_an_earlier_run_with_edited_rules() -> None:
    earlier = sweep(done=ROWS[:1], edits=(".github/workflows/run-sweep.yml",))
    found = decide(follow_up(earlier=earlier))
    assert found.reason is ReuseReason.NO_SUITABLE_RUN
    assert "run 899, which it completes, changed .github/workflows/run-sweep.yml" in found.words
    assert decide(follow_up(earlier=earlier), by=USE).verdict is ReuseVerdict.REUSE


def test_a_follow_up_of_a_fork_needs_an_approved_commit() -> None:
    fork = pull(head_repository="eve/bench")
    first = run(id=899, event="workflow_dispatch", head_branch="main", head_sha=OLD, title=f"PR 77 at {HEAD}")
    approval = Approval(sha=HEAD, url=f"{WEB}/actions/runs/899")
    both = follow_up(completes=(EarlierRun(run=first, sweep=sweep(done=ROWS[:1])),))
    assert decide(both, pull=fork, approvals=(approval,)).verdict is ReuseVerdict.REUSE
    assert decide(both, pull=fork, approvals=(replace(approval, sha=OLD),)).verdict is ReuseVerdict.REFUSED


def test_facts_of_a_follow_up_are_saved_and_read_again() -> None:
    made = facts(runs=(follow_up(ran=sweep(done=ROWS[1:], attempts={ROWS[1]: 2})),))
    assert parse_json(ReuseFacts, dump_json(made).encode(), "facts.json") == made


def test_no_command_is_named_for_a_closed_pull_request() -> None:
    decision = decide(source(sweep=sweep(done=ROWS[:1])), pull=pull(is_open=False, is_merged=True))
    assert "gh workflow run" not in decision.fix
    assert "Sweep the rows that run 900 does not cover." in decision.fix


# Against a hub and git


def add_first(world: World, *, failing: Sequence[int] = (1, 3), **more: Any) -> Run:
    """Add a red sweep whose good rows have artifacts."""
    rows = world.rows()
    names = ["results_bmk"]
    names += [f"bmk_x_{row.id}" for place, row in enumerate(rows) if place not in failing]
    return world.sweep("failure", failing=failing, artifacts=names, **more)


def add_follow_up(world: World, rows: Sequence[IdentifiedRow], of: Run, **more: Any) -> Run:
    return world.sweep(
        rows=rows, pull=None, event="workflow_dispatch", branch="main",
        title=f"PR 77 at {world.head()}, completes run {of.id}", **more,
    )  # fmt: skip


def choose(world: World, run_id: int) -> Called:
    return world.call("reuse", "follow-up", "--pr", "77", "--run", str(run_id))


def test_only_failed_rows_run_again_and_the_union_is_found(world: World) -> None:
    first = add_first(world)
    rows = world.rows()
    chosen = choose(world, first.id)
    assert chosen.code == 0, chosen.err
    assert chosen.json == {
        "only": [rows[1].id, rows[3].id],
        "runs": [{"run": first.id, "attempt": 1}],
        "origins": [{"id": rows[place].id, "run": first.id, "attempt": 1} for place in (0, 2)],
    }
    world.ask()
    before = world.check()
    assert (before.json["reason"], len(before.json["coverage"]["missing"])) == ("no-suitable-run", 2)
    assert f"-f complete={first.id}`" in before.json["sentence"]
    second = add_follow_up(world, [rows[1], rows[3]], first)
    after = world.check()
    assert (after.json["reason"], after.json["source"]["run"]) == ("newest", second.id)
    assert len(after.json["coverage"]["covered"]) == 4


def test_a_follow_up_at_a_tag_named_like_the_base_branch_needs_a_pin(world: World) -> None:
    """Whoever can push a tag could give it any workflow, and a run of it any title."""
    first, rows = add_first(world), world.rows()
    add_follow_up(world, [rows[1], rows[3]], first, head_sha=world.head())
    world.ask()
    called = world.check()
    assert called.json["verdict"] == "refused"
    assert "changed .github/ outside the base branch" in called.json["sentence"]


def test_rows_that_have_changed_since_run_again(world: World) -> None:
    first = add_first(world, failing=())
    world.hub.push("feat-x", {M1_RECIPE: "vllm serve m1 --fast\n"}, "recipe")
    chosen = choose(world, first.id).json
    assert len(chosen["only"]) == len(chosen["origins"]) == 2


def test_a_row_whose_artifact_has_expired_runs_again(world: World) -> None:
    first = add_first(world)
    rows = world.rows()
    for artifact in world.hub.state.artifacts.values():
        artifact.expired = artifact.name.endswith(rows[0].id)
    assert choose(world, first.id).json["only"] == [rows[place].id for place in (0, 1, 3)]


def test_a_follow_up_of_a_follow_up_names_the_run_of_each_row(world: World) -> None:
    first, rows = add_first(world), world.rows()
    second = add_follow_up(
        world, [rows[1], rows[3]], first, conclusion="failure", failing=(1,), artifacts=[f"bmk_x_{rows[1].id}"]
    )  # fmt: skip
    chosen = choose(world, second.id).json
    assert chosen["only"] == [rows[3].id]
    runs = {origin["id"]: origin["run"] for origin in chosen["origins"]}
    assert runs == {rows[0].id: first.id, rows[1].id: second.id, rows[2].id: first.id}


def test_the_attempt_of_each_row_is_known(world: World) -> None:
    first, rows = add_first(world), world.rows()
    world.hub.rerun(first.id)
    for row in (rows[1], rows[3]):
        world.add_row(first, row)
        world.hub.add_artifact(first.id, f"bmk_x_{row.id}", {"agg.json": "[]"})
    world.hub.finish_run(first.id, "failure")
    world.hub.push("feat-x", {M1_RECIPE: "vllm serve m1 --fast\n"}, "recipe")
    chosen = choose(world, first.id).json
    attempts = {origin["id"]: origin["attempt"] for origin in chosen["origins"]}
    assert sorted(attempts.values()) == [1, 2]
    assert chosen["runs"] == [{"run": first.id, "attempt": 2}]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("complete", "covers every row of the plan, so there is nothing to run"),
        ("absent", "was not found"),
        ("running", "cannot be completed, because it has not completed"),
        ("foreign", "cannot be completed, because it belongs to the branch feat-y"),
    ],
)
def test_a_run_that_cannot_be_completed_is_refused(world: World, case: str, words: str) -> None:
    first = add_first(world, failing=() if case == "complete" else (1,))
    if case == "running":
        first.status, first.conclusion = "in_progress", None
    if case == "foreign":
        world.hub.push("feat-y", CHANGE, start="main")
        world.hub.open_pull("feat-y", number=78)
        first = add_first(world, pull=78)
    called = choose(world, 4242 if case == "absent" else first.id)
    assert (called.code, called.out) == (1, "")
    assert words in called.err


def test_without_a_clone_no_rows_are_chosen(world: World) -> None:
    first = add_first(world)
    called = world.call("reuse", "follow-up", "--pr", "77", "--run", str(first.id), inside=False)
    assert called.code == 2
    assert "not a clone of the repository" in called.err
