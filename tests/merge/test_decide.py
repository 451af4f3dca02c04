"""Check the next step of a merge for facts that differ in one point from those of a ready pull request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infx.comments.progress import SweepProgress
from infx.errors import Problem
from infx.merge.decide import decide_step, list_steps
from infx.merge.facts import Trouble
from infx.merge.steps import (
    Done,
    Enqueue,
    MergeOutcome,
    MergePull,
    PublishStatuses,
    Refuse,
    UpdateBranch,
    Wait,
)
from infx.model import BranchRules, MergeMethod, RequiredCheck, StatusState
from infx.policy.load import default_policy
from infx.policy.merge import LabelRule
from infx.policy.model import OnMerge
from infx.reconcile.facts import Changes, ReuseRequests
from infx.reuse.facts import AskedPull
from tests.builders import HEAD, OLD, person, pull, run
from tests.merge.facts import (
    CHANGELOG,
    LABEL,
    LINKS,
    MERGE,
    SIGNOFF,
    SWEEP,
    check,
    desired,
    facts,
    own_status,
    reason,
)
from tests.reuse.facts import command, source
from tests.reuse.facts import facts as reuse_facts

POLICY = default_policy()
CI = BranchRules(checks=(RequiredCheck(context="ci"),))
QUEUE = BranchRules(queue=MergeMethod.SQUASH)


def asked(body: str = "/use 300", **fields: Any) -> ReuseRequests:
    """Return the requests for reuse of a green run with results, by someone who may write."""
    pulls = (AskedPull(number=77, comments=(command(body),)),)
    given = {"pulls": pulls, "people": (person("noor"),), "runs": (source(run(id=300)),), **fields}
    return ReuseRequests(facts=reuse_facts(**given))


def test_a_ready_pull_request_is_merged_at_its_head() -> None:
    assert decide_step(facts(), POLICY) == MergePull(sha=HEAD, method=MergeMethod.SQUASH)


def test_a_branch_with_a_queue_gets_the_pull_request_queued() -> None:
    step = decide_step(facts(rules=QUEUE, node_id="PR_1"), POLICY)
    assert step == Enqueue(sha=HEAD, node_id="PR_1", method=MergeMethod.SQUASH)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ({"pull": {"is_open": False, "is_merged": True}}, MergeOutcome.MERGED),
        ({"is_queued": True}, MergeOutcome.QUEUED),
        # the head is not judged any more: GitHub merges what was queued
        ({"is_queued": True, "has_same_changes": False}, MergeOutcome.QUEUED),
    ],
)
def test_a_finished_merge_is_not_repeated(given: dict[str, Any], outcome: MergeOutcome) -> None:
    step = decide_step(facts(**given), POLICY)
    assert isinstance(step, Done)
    assert step.outcome is outcome


PROBLEM = Problem(rule="changelog", message="the link is wrong.", path=CHANGELOG, line=4)
PUBLISHED: dict[str, Any] = {"progress": {"published": HEAD}}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("closed", {"pull": {"is_open": False}}, "Reopen"),
    ("other-base", {"pull": {"base_ref": "release"}}, "base branch"),
    ("head-moved", {"has_same_changes": False}, "new head"),
    ("draft", {"pull": {"is_draft": True}}, "ready for review"),
    ("labels", {"pull": {"labels": (LABEL, "sweep-enabled")}}, "exactly one"),
    ("labels", {"pull": {"labels": ("sweep-enabled",)}}, "exactly one"),
    ("excluding-label", {"pull": {"labels": (LABEL, "evals-only")}}, "Remove it"),
    ("excluding-label", {"pull": {"labels": (LABEL, "agentx-fast")}}, "Remove it"),
    ("changelog", {"state": {"changes": Changes(paths=(CHANGELOG,), problems=(PROBLEM,))}}, "validate"),
    ("conflict", {"state": {"conflicts": (CHANGELOG, "benchmarks/run.sh")}}, "by hand"),
    ("changelog-conflict", {"state": {"conflicts": (CHANGELOG,)}}, "by hand"),
    ("other-run", {"request": {"run_id": 42}}, "/use 42"),
    ("sweep", {"status": desired(StatusState.FAILURE), **PUBLISHED}, "infx explain"),
    ("sweep", {"status": desired(StatusState.PENDING), **PUBLISHED}, "infx explain"),
    ("no-app-token", {"ability": {"can_start": False}}, f"infx merge 77 --head {HEAD}"),
    ("no-app-token", {"ability": {"can_start": False}, "update": LINKS}, "infx merge 77"),
    ("method", {"request": {"method": MergeMethod.REBASE}, "rules": QUEUE}, "--method squash"),
    ("method", {"rules": BranchRules(methods=(MergeMethod.MERGE,))}, "--method merge"),
    ("fork", {"pull": {"head_repository": "eve/bench"}, "update": LINKS}, "canonicalize"),
    ("fork", {"pull": {"head_repository": None}, "update": MERGE}, "resolve"),
]


@pytest.mark.parametrize(("expected", "given", "fix"), REFUSED)
def test_a_missing_fact_is_named_with_the_way_to_it(expected: str, given: dict[str, Any], fix: str) -> None:
    step = decide_step(facts(**given), POLICY)
    assert isinstance(step, Refuse)
    assert step.reason.value == expected
    assert fix in step.advice
    assert step.words.endswith((".", ")"))


def test_conflicts_outside_the_changelog_are_listed() -> None:
    step = decide_step(facts(state={"conflicts": (CHANGELOG, "a.sh", "b.sh")}, update=None), POLICY)
    assert "a.sh and b.sh" in str(step)


def test_a_pull_request_without_entries_needs_no_sweep_label() -> None:
    changes = Changes(paths=("docs/x.md",), entries=0)
    step = decide_step(facts(pull={"labels": ("evals-only",)}, state={"changes": changes}), POLICY)
    assert isinstance(step, MergePull)


def test_no_label_is_needed_unless_the_policy_wants_it() -> None:
    """A sweep keeps its worth when its label is taken off."""
    unlabeled = facts(pull={"labels": ()})
    assert isinstance(decide_step(unlabeled, POLICY), MergePull)
    strict = replace(POLICY, merge=replace(POLICY.merge, label=LabelRule.REQUIRED))
    assert reason(decide_step(unlabeled, strict)) == "labels"
    assert isinstance(decide_step(facts(), strict), MergePull)


@pytest.mark.parametrize("update", [LINKS, MERGE])
def test_the_branch_is_updated_before_anything_else_is_asked(update: Any) -> None:
    step = decide_step(facts(update=update, rules=CI), POLICY)
    assert isinstance(step, UpdateBranch)
    assert step.push.parents == update.parents


def test_an_update_waits_for_what_a_person_owes() -> None:
    """A pull request that is not signed off gets no commit."""
    open_signoff = own_status(SIGNOFF, StatusState.PENDING, description="Waiting for noor")
    given = {"statuses": (own_status(SWEEP), open_signoff), "signoff": open_signoff}
    step = decide_step(facts(update=LINKS, state=given, progress={"published": HEAD}), POLICY)
    assert reason(step) == "sign-off"
    assert "Waiting for noor" in str(step)


def test_missing_statuses_are_published_once_for_each_head() -> None:
    bare: dict[str, Any] = {"state": {"statuses": (), "signoff": None}}
    assert decide_step(facts(**bare), POLICY) == PublishStatuses(sha=HEAD)
    assert reason(decide_step(facts(**bare, progress={"published": HEAD}), POLICY)) == "sweep"
    assert decide_step(facts(**bare, progress={"published": OLD}), POLICY) == PublishStatuses(sha=HEAD)


def test_a_person_waits_for_the_statuses_that_a_workflow_sets() -> None:
    """infx would not trust a status that a person's token wrote."""
    step = decide_step(facts(state={"statuses": (), "signoff": None}, ability={"can_publish": False}), POLICY)
    assert reason(step) == "statuses"


def test_a_status_of_another_account_is_not_trusted() -> None:
    forged = tuple(replace(own_status(name), creator=pull().author) for name in (SWEEP, SIGNOFF))
    step = decide_step(facts(state={"statuses": forged, "signoff": None}), POLICY)
    assert isinstance(step, PublishStatuses)


def test_a_published_success_does_not_outlive_its_facts() -> None:
    step = decide_step(
        facts(status=desired(StatusState.FAILURE, "Cancelled."), ability={"can_publish": False}), POLICY
    )
    assert reason(step) == "sweep"
    assert "Cancelled" in str(step)


def test_a_running_sweep_is_awaited() -> None:
    running = SweepProgress(run=run(None, head_sha=HEAD, status="in_progress"), swept=True)
    pending = desired(StatusState.PENDING, "Running: 3 of 4 rows done.")
    given = {"sweeps": (running,), "current": (HEAD,)}
    step = decide_step(facts(status=pending, state=given, **PUBLISHED), POLICY)
    assert isinstance(step, Wait)
    assert reason(step) == "sweep"
    assert "3 of 4 rows" in str(step)


@pytest.mark.parametrize(
    ("checks", "expected"),
    [((), "checks"), ((check(conclusion=None),), "checks"), ((check(conclusion="stale"),), "checks")],
)
def test_required_checks_are_awaited(checks: Any, expected: str) -> None:
    step = decide_step(facts(rules=CI, checks=checks), POLICY)
    assert isinstance(step, Wait)
    assert reason(step) == expected
    assert "ci" in str(step)


def test_a_failed_required_check_is_a_refusal() -> None:
    step = decide_step(facts(rules=CI, checks=(check(conclusion="cancelled"),)), POLICY)
    assert isinstance(step, Refuse)
    assert "ci ended as cancelled" in step.words


@pytest.mark.parametrize("mergeable", [None, False])
def test_github_must_have_computed_the_merge(mergeable: bool | None) -> None:
    """The clone shows no conflict, so GitHub's answer is older."""
    assert reason(decide_step(facts(pull={"mergeable": mergeable}), POLICY)) == "test-merge"


def test_a_pushed_head_is_awaited() -> None:
    progress = {"pushed": OLD, "parent": HEAD}
    assert reason(decide_step(facts(progress=progress, update=LINKS), POLICY)) == "head"


@pytest.mark.parametrize(
    ("trouble", "given", "expected"),
    [(Trouble.PUSH, {"update": LINKS}, "push"), (Trouble.MERGE, {}, "github")],
)
def test_a_refused_write_ends_the_merge(trouble: Trouble, given: dict[str, Any], expected: str) -> None:
    refused = {"trouble": trouble, "troubled": HEAD, "words": "protected branch"}
    step = decide_step(facts(progress=refused, **given), POLICY)
    assert reason(step) == expected
    assert "protected branch" in str(step)
    earlier = {**refused, "troubled": OLD}  # another head may be written
    assert not isinstance(decide_step(facts(progress=earlier, **given), POLICY), Refuse)


@pytest.mark.parametrize("on_merge", list(OnMerge))
def test_reuse_is_needed_only_if_the_policy_wants_it(on_merge: OnMerge) -> None:
    step = decide_step(facts(), replace(POLICY, on_merge=on_merge))
    assert (isinstance(step, Refuse) and reason(step) == "reuse") == (on_merge is OnMerge.REUSE)


@pytest.mark.parametrize(
    ("conclusion", "shown"),
    [("success", "Comment `/use 100` on"), ("failure", "Comment `/use RUN-NUMBER` on")],
)
def test_a_missing_reuse_names_the_finished_sweep(conclusion: Any, shown: str) -> None:
    """A failed sweep is not proposed."""
    finished = SweepProgress(run=run(conclusion, id=100, head_sha=HEAD), swept=True)
    given = {"sweeps": (finished,), "current": (HEAD,)}
    step = decide_step(facts(state=given), replace(POLICY, on_merge=OnMerge.REUSE))
    assert shown in str(step)


def test_an_authorized_reuse_is_enough() -> None:
    policy = replace(POLICY, on_merge=OnMerge.REUSE)
    step = decide_step(facts(state={"reuse": asked()}, request={"run_id": 300}), policy)
    assert isinstance(step, MergePull)


def test_a_run_other_than_the_named_one_is_refused() -> None:
    assert reason(decide_step(facts(state={"reuse": asked()}, request={"run_id": 7}), POLICY)) == "other-run"


def test_a_reuse_that_is_impossible_is_refused() -> None:
    """It would be found out only after the merge."""
    requests = asked(runs=(source(run("failure", id=300), artifacts=()),))
    assert reason(decide_step(facts(state={"reuse": requests}), POLICY)) == "reuse"


def test_a_reused_sweep_survives_the_conflict() -> None:
    """The conflict keeps the status of the old head pending; the new head is judged again."""
    pending = desired(StatusState.PENDING, "The branch conflicts.")
    given: dict[str, Any] = {
        "status": pending,
        "update": MERGE,
        "state": {"reuse": asked(), "conflicts": (CHANGELOG,)},
        "progress": {"published": HEAD},
    }
    assert isinstance(decide_step(facts(**given), POLICY), UpdateBranch)
    without = {**given, "state": {"conflicts": (CHANGELOG,)}}
    assert reason(decide_step(facts(**without), POLICY)) == "sweep"


UNPUBLISHED: dict[str, Any] = {"state": {"statuses": (), "signoff": None}}
LISTED: list[tuple[dict[str, Any], list[type]]] = [
    ({}, [MergePull]),
    ({"pull": {"is_draft": True}}, [Refuse]),
    ({"is_queued": True}, [Done]),
    (
        {"update": MERGE, "rules": replace(CI, queue=MergeMethod.MERGE), "node_id": "PR_1"},
        [UpdateBranch, Wait, Wait, Enqueue],
    ),
    ({"rules": CI}, [Wait, MergePull]),
    (UNPUBLISHED, [PublishStatuses, MergePull]),
    ({**UNPUBLISHED, "update": LINKS, "rules": CI}, [PublishStatuses, UpdateBranch, Wait, Wait, MergePull]),
    ({**UNPUBLISHED, "ability": {"can_publish": False}}, [Wait, MergePull]),
    ({**UNPUBLISHED, "update": LINKS, "pull": {"head_repository": "eve/bench"}}, [PublishStatuses, Refuse]),
    ({**UNPUBLISHED, "ability": {"can_start": False}}, [PublishStatuses, Refuse]),
]


@pytest.mark.parametrize(("given", "expected"), LISTED)
def test_the_steps_of_a_merge_are_listed_in_order(given: dict[str, Any], expected: list[type]) -> None:
    assert [type(step) for step in list_steps(facts(**given), POLICY)] == expected


@pytest.mark.parametrize("state", [StatusState.PENDING, StatusState.FAILURE])
def test_an_outdated_status_of_the_sweep_is_awaited_on_a_laptop(state: StatusState) -> None:
    outdated = (own_status(SWEEP, state, description="Running."), own_status(SIGNOFF))
    given: dict[str, Any] = {"state": {"statuses": outdated}}
    assert reason(decide_step(facts(**given, ability={"can_publish": False}), POLICY)) == "statuses"
    assert isinstance(decide_step(facts(**given), POLICY), PublishStatuses)
