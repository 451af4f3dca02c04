"""Whether a finished sweep is reused: who may ask, which run it is, and how much it must cover."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infx.evidence.rows import SweepKind
from infx.gate.event import Event, EventAction, EventName
from infx.gate.facts import Approval
from infx.model import PullSummary, Run
from infx.policy.load import default_policy
from infx.policy.reuse import CoverageRule
from infx.reuse.coverage import MergePlan
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseDecision, ReuseReason, ReuseVerdict
from infx.reuse.facts import AskedPull, ReuseFacts, SourceArtifact
from infx.saved import dump_json, parse_json
from tests.builders import HEAD, NOW, OLD, REPOSITORY, WEB, person, pull, run, user
from tests.reuse.facts import PLAN, RESULTS, ROWS, command, facts, source, sweep

POLICY = default_policy()
REQUIRED = replace(POLICY, reuse=replace(POLICY.reuse, coverage=CoverageRule.REQUIRED))
REUSE, REFUSED, NOTHING = ReuseVerdict.REUSE, ReuseVerdict.REFUSED, ReuseVerdict.NOTHING
PARTIAL = sweep(done=ROWS[:1])
USE = command("/use 900")
REST = (
    "Sweep the rows that run {0} does not cover: "
    f"`gh workflow run run-sweep.yml -f pr=77 -f head-ref={HEAD} -f complete={{0}}`."
)


def decide(of: ReuseFacts) -> ReuseDecision:
    return decide_reuse(of, POLICY)


def outcome(decision: ReuseDecision) -> tuple[ReuseVerdict, ReuseReason]:
    return decision.verdict, decision.reason


def test_the_newest_suitable_run_is_reused() -> None:
    newer, older = run(id=12), run(id=11, attempt=3)
    decision = decide(facts(runs=(source(newer, artifacts=()), source(older))))
    assert outcome(decision) == (REUSE, ReuseReason.NEWEST)
    assert decision.source == older
    assert not decision.is_incomplete
    assert decision.pull == 77
    assert decision.command is not None
    assert decision.command.comment.author.login == "noor"
    assert decision.sentence == (
        "Run 11 is reused, as noor asked: it is the newest suitable run; run 12: it has no results."
    )


def test_facts_are_saved_and_read_again() -> None:
    made = facts(
        runs=(source(sweep=sweep(kind=SweepKind(trim=True), edits=("x",))),),
        approvals=(Approval(sha=HEAD, url=f"{WEB}/actions/runs/900"),),
        same_branch=(sibling(),),
    )
    assert parse_json(ReuseFacts, dump_json(made).encode(), "facts.json") == made


# Who may ask


@pytest.mark.parametrize("association", ["OWNER", "MEMBER", "COLLABORATOR"])
@pytest.mark.parametrize("role", ["write", "maintain", "admin"])
def test_people_with_write_access_ask(association: str, role: str) -> None:
    asked = facts(command(association=association), people=(person("noor", role),))
    assert decide(asked).verdict is REUSE


@pytest.mark.parametrize(
    ("association", "people"),
    [
        pytest.param("CONTRIBUTOR", (person("noor"),), id="a contributor"),
        pytest.param("NONE", (person("noor", "admin"),), id="a stranger"),
        pytest.param("", (person("noor"),), id="an association that was not read"),
        pytest.param("MEMBER", (person("noor", "read"),), id="a member who lost write access"),
        pytest.param("OWNER", (person("noor", "triage"),), id="a role below write"),
        pytest.param("MEMBER", (person("noor", "custom"),), id="a custom role"),
        pytest.param("MEMBER", (), id="a permission that was not read"),
    ],
)
def test_others_ask_for_nothing(association: str, people: tuple[Any, ...]) -> None:
    decision = decide(facts(command(association=association), people=people))
    assert outcome(decision) == (NOTHING, ReuseReason.NOT_AUTHORIZED)
    assert "noor asked for it without write access" in decision.words


def test_without_a_command_the_words_say_so() -> None:
    assert decide(facts(pulls=(AskedPull(number=77),))).words == "no comment asks for it"


def test_a_later_command_without_authority_changes_nothing() -> None:
    later = command("/use 13", "eve", id=556, created_at=NOW + timedelta(hours=1))
    decision = decide(facts(USE, later, people=(person("noor"), person("eve", "read"))))
    assert outcome(decision) == (REUSE, ReuseReason.PINNED)


def test_an_app_commands_nothing() -> None:
    bot = replace(command(), author=user("bench-bot[bot]"))
    assert decide(facts(bot, people=(person("bench-bot[bot]"),))).reason is ReuseReason.NOT_AUTHORIZED


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        pytest.param("Usage:\n```\n/reuse-sweep-run 900\n```", False, id="in a fence"),
        pytest.param("<!--\n/reuse-sweep-run 900\n-->", False, id="in an HTML comment"),
        pytest.param("    /reuse-sweep-run 900", False, id="indented as code"),
        pytest.param("> /reuse-sweep-run 900", False, id="quoted"),
        pytest.param("/reuse-sweep-run 900\r\nthanks", True, id="before CRLF"),
    ],
)
def test_commands_in_code_quotes_or_comments_do_not_count(body: str, counts: bool) -> None:
    assert (decide(facts(command(body))).verdict is REUSE) == counts


# Which events


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (Event(name=EventName.DISPATCH, ref="refs/heads/main"), ReuseReason.OTHER_EVENT),
        (Event(name=EventName.MERGE_GROUP), ReuseReason.OTHER_EVENT),
        (Event(name=EventName.PUSH, ref="refs/heads/feat-x"), ReuseReason.OTHER_EVENT),
        (Event(name=EventName.PUSH, ref="refs/tags/main"), ReuseReason.OTHER_EVENT),
        (Event(name=EventName.PULL_REQUEST, action=EventAction.LABELED), ReuseReason.OTHER_ACTION),
    ],
)
def test_other_events_reuse_nothing(event: Event, reason: ReuseReason) -> None:
    assert outcome(decide(facts(event=event))) == (NOTHING, reason)


@pytest.mark.parametrize(
    "event",
    [
        Event(name=EventName.PULL_REQUEST, action=EventAction.SYNCHRONIZE, pull=77),
        Event(name=EventName.COMMENT, pull=77),
        Event(name=EventName.ASKED, pull=77),
    ],
)
def test_pushes_comments_and_questions_are_decided(event: Event) -> None:
    assert decide(facts(event=event)).verdict is REUSE


MERGED = pull(is_open=False, is_merged=True, closed_at=NOW)
PUSH = Event(name=EventName.PUSH, ref="refs/heads/main", head_sha="d" * 40)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(MERGED, (REUSE, ReuseReason.NEWEST), id="merged"),
        pytest.param(pull(), (REFUSED, ReuseReason.NOT_MERGED), id="still open"),
        pytest.param(pull(base_ref="next"), (NOTHING, ReuseReason.OTHER_BASE), id="of another base"),
        pytest.param(
            pull(labels=("Evals-Only",)), (REFUSED, ReuseReason.EXCLUDING_LABEL), id="accuracy only"
        ),
        pytest.param(
            replace(MERGED, labels=("agentx-fast",)), (REFUSED, ReuseReason.EXCLUDING_LABEL), id="fast"
        ),
        pytest.param(replace(MERGED, labels=("all-evals",)), (REUSE, ReuseReason.NEWEST), id="all evals"),
    ],
)
def test_the_pull_request_of_a_merge(now: Any, expected: tuple[ReuseVerdict, ReuseReason]) -> None:
    assert outcome(decide(facts(event=PUSH, pull=now))) == expected


def test_a_pull_request_that_was_closed_reuses_nothing() -> None:
    closed = pull(is_open=False, closed_at=NOW)
    assert outcome(decide(facts(pull=closed))) == (REFUSED, ReuseReason.NOT_MERGED)


def test_a_commit_of_several_pull_requests_has_no_source() -> None:
    one, other = AskedPull(number=77), AskedPull(number=78, comments=(command(),))
    decision = decide(facts(event=PUSH, pulls=(one, other), pull=None))
    assert outcome(decision) == (REFUSED, ReuseReason.SEVERAL_PULLS)
    assert "#77 and #78" in decision.words
    silent = facts(event=PUSH, pulls=(one, replace(one, number=78)), pull=None)
    assert outcome(decide(silent)) == (NOTHING, ReuseReason.SEVERAL_PULLS)


def test_a_merge_without_rows_reuses_nothing() -> None:
    assert outcome(decide(facts(plan=MergePlan()))) == (NOTHING, ReuseReason.NO_ROWS)


# Which run


def test_a_run_that_did_nothing_is_passed_over() -> None:
    stats = (SourceArtifact(name="run-stats"),)
    runs = (
        source(run(id=12), artifacts=()),
        source(run(id=11), artifacts=stats),
        source(run(id=10), artifacts=RESULTS),
    )
    decision = decide(facts(runs=runs))
    assert decision.source is not None
    assert decision.source.id == 10
    assert [(one.run.id, one.fault.words) for one in decision.passed_over] == [
        (12, "it has no results"),
        (11, "it has no results"),
    ]


def test_a_cancelled_run_is_reused_only_by_its_number() -> None:
    runs = (source(run("cancelled", id=20), sweep=PARTIAL),)
    for event in (
        Event(name=EventName.COMMENT, pull=77),
        Event(name=EventName.PULL_REQUEST, action=EventAction.SYNCHRONIZE, pull=77),
    ):
        refused = decide(facts(runs=runs, event=event))
        assert outcome(refused) == (REFUSED, ReuseReason.NO_SUITABLE_RUN)
        assert refused.fix == f"{REST.format(20)} To reuse run 20 all the same, pin it: /reuse-sweep-run 20"
    pinned = decide(facts(command("/reuse-sweep-run 20"), runs=runs))
    assert outcome(pinned) == (REUSE, ReuseReason.PINNED)
    assert pinned.is_incomplete
    assert "it covers 1 of 2 rows (1 missing), so it is incomplete" in pinned.sentence


def test_a_trimmed_run_is_reused_only_by_its_number() -> None:
    rows = tuple(f"{place:012x}" for place in range(40))
    plan = MergePlan(rows=tuple(replace(PLAN.rows[0], id=row) for row in rows))
    trimmed = sweep(kind=SweepKind(trim=True), done=rows[:5])
    runs = (source(run(id=30), sweep=trimmed),)
    refused = decide(facts(runs=runs, plan=plan))
    assert outcome(refused) == (REFUSED, ReuseReason.NO_SUITABLE_RUN)
    assert "it is a trimmed sweep, and it covers 5 of 40 rows (35 missing)" in refused.words
    assert refused.fix.endswith("/reuse-sweep-run 30")
    assert refused.coverage is not None
    assert len(refused.coverage.missing) == 35
    pinned = decide(facts(command("/use 30"), runs=runs, plan=plan))
    assert (pinned.verdict, pinned.is_incomplete) == (REUSE, True)


def test_a_commit_outside_of_the_pull_request_is_refused() -> None:
    gone = facts(USE, runs=(source(run(head_sha="e" * 40)),))
    assert outcome(decide(gone)) == (REFUSED, ReuseReason.NOT_IN_PULL)
    unproven = replace(gone, has_all_commits=False)
    assert outcome(decide(unproven)) == (REFUSED, ReuseReason.COMMITS_UNKNOWN)
    commits = (*(f"{place:040x}" for place in range(254)), "e" * 40, HEAD)
    assert decide(replace(gone, commits=commits)).verdict is REUSE


def test_an_older_commit_of_the_pull_request_is_as_good() -> None:
    assert decide(facts(runs=(source(run(head_sha=OLD)),))).verdict is REUSE


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"kind": SweepKind(trim=True)}, id="trimmed"),
        pytest.param({"kind": SweepKind(evals_only=True)}, id="accuracy runs only"),
        pytest.param({"kind": SweepKind(fast=True)}, id="shortened replays"),
        pytest.param({"edits": (".github/workflows/run-sweep.yml",)}, id="its own workflow"),
    ],
)
def test_a_modified_run_takes_a_pin_even_if_it_covers_everything(fields: dict[str, Any]) -> None:
    runs = (source(sweep=sweep(**fields)),)
    refused = decide(facts(runs=runs))
    assert outcome(refused) == (REFUSED, ReuseReason.NO_SUITABLE_RUN)
    assert [one.fault.reason for one in refused.passed_over] == [ReuseReason.NEEDS_PIN]
    assert outcome(decide(facts(USE, runs=runs))) == (REUSE, ReuseReason.PINNED)


def test_a_modifier_that_the_policy_calls_reusable_takes_no_pin() -> None:
    assert decide(facts(runs=(source(sweep=sweep(kind=SweepKind(all_evals=True))),))).verdict is REUSE


@pytest.mark.parametrize(
    ("of", "more", "reason"),
    [
        (run(path=".github/workflows/e2e.yml"), {}, ReuseReason.OTHER_WORKFLOW),
        (run(path=""), {}, ReuseReason.OTHER_WORKFLOW),
        (run(None), {}, ReuseReason.NOT_COMPLETED),
        (run("timed_out"), {}, ReuseReason.CONCLUSION),
        (run("startup_failure"), {}, ReuseReason.CONCLUSION),
        (run("skipped"), {}, ReuseReason.CONCLUSION),
        (run(head_sha=""), {}, ReuseReason.NO_HEAD),
        (run(event="push"), {}, ReuseReason.OTHER_PULL),
        (run(head_branch="feat-y"), {}, ReuseReason.OTHER_PULL),
        (run(head_repository="eve/bench"), {}, ReuseReason.OTHER_PULL),
        (run(pull_numbers=(78,)), {}, ReuseReason.OTHER_PULL),
        (run(created_at=NOW - timedelta(days=2)), {}, ReuseReason.OTHER_PULL),
        (run(event="workflow_dispatch", head_branch="main"), {}, ReuseReason.OTHER_PULL),
        (run(), {"artifacts": ()}, ReuseReason.NO_RESULTS),
        (run(), {"artifacts": None}, ReuseReason.NO_RESULTS),
        (run(), {"artifacts": (SourceArtifact(name="results_bmk", expired=True),)}, ReuseReason.NO_RESULTS),
        (run(), {"artifacts": (SourceArtifact(name="results_bmk_old"),)}, ReuseReason.NO_RESULTS),
        (
            run(),
            {"artifacts": (*RESULTS, SourceArtifact(name="native-qualification-x"))},
            ReuseReason.QUALIFICATION,
        ),
        (run(), {"sweep": sweep(foreign=("f" * 12,))}, ReuseReason.OTHER_PLAN),
    ],
)
def test_a_pin_does_not_help_a_run_that_is_no_source(
    of: Run, more: dict[str, Any], reason: ReuseReason
) -> None:
    runs = (source(of, **more),)
    pinned = decide(facts(USE, runs=runs))
    assert outcome(pinned) == (REFUSED, reason)
    assert pinned.source is None
    found = decide(facts(runs=runs))
    assert outcome(found) == (REFUSED, ReuseReason.NO_SUITABLE_RUN)
    assert "pin it" not in found.fix


@pytest.mark.parametrize("name", ["results_bmk", "eval_results_all", "bmk_agentic_x"])
def test_each_kind_of_result_is_enough(name: str) -> None:
    assert decide(facts(runs=(source(artifacts=(SourceArtifact(name=name),)),))).verdict is REUSE


def sibling(**fields: Any) -> PullSummary:
    """Another pull request of the same branch, which was open while run 900 began."""
    values: dict[str, Any] = {
        "number": 78, "title": "", "author": user("cody"), "labels": (), "is_open": True, "is_merged": False,
        "is_draft": False, "base_ref": "next", "base_sha": OLD, "head_ref": "feat-x", "head_sha": HEAD,
        "head_repository": REPOSITORY, "base_repository": REPOSITORY, "created_at": NOW - timedelta(days=2),
        "updated_at": NOW,
    }  # fmt: skip
    return PullSummary(**{**values, **fields})


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        pytest.param({}, REFUSED, id="open at that time"),
        pytest.param({"base_ref": "main"}, REFUSED, id="even of the same base"),
        pytest.param({"closed_at": NOW - timedelta(days=1)}, REUSE, id="closed before"),
        pytest.param({"created_at": NOW}, REUSE, id="opened afterwards"),
        pytest.param({"head_repository": "eve/bench"}, REUSE, id="of a fork"),
    ],
)
@pytest.mark.parametrize("by", [command(), USE], ids=["unpinned", "pinned"])
def test_a_run_may_be_of_another_pull_request_of_the_branch(
    fields: dict[str, Any], verdict: ReuseVerdict, by: Any
) -> None:
    decision = decide(facts(by, same_branch=(sibling(**fields),)))
    assert decision.verdict is verdict
    assert ("#78" in decision.words) == (verdict is REFUSED)


FORK = pull(head_repository="eve/bench")
DISPATCHED = run(event="workflow_dispatch", head_branch="main", head_sha=OLD, title=f"PR 77 at {HEAD}")
APPROVAL = Approval(sha=HEAD, url=f"{WEB}/actions/runs/900")


@pytest.mark.parametrize(
    ("of", "approval", "verdict"),
    [
        pytest.param(DISPATCHED, APPROVAL, REUSE, id="the approved run"),
        pytest.param(DISPATCHED, replace(APPROVAL, url=f"{WEB}/actions/runs/901"), REFUSED, id="another run"),
        pytest.param(DISPATCHED, replace(APPROVAL, sha=OLD), REFUSED, id="approved for another commit"),
        pytest.param(run(head_repository="eve/bench"), APPROVAL, REFUSED, id="the fork's own run"),
    ],
)
def test_of_a_fork_only_the_approved_run_is_a_source(
    of: Run, approval: Approval, verdict: ReuseVerdict
) -> None:
    assert decide(facts(USE, pull=FORK, runs=(source(of),), approvals=(approval,))).verdict is verdict


def test_an_approved_earlier_commit_is_as_good() -> None:
    earlier = replace(DISPATCHED, title=f"PR 77 at {OLD}")
    approval = replace(APPROVAL, sha=OLD)
    assert decide(facts(USE, pull=FORK, runs=(source(earlier),), approvals=(approval,))).verdict is REUSE


def test_a_dispatch_that_completes_nothing_is_no_source() -> None:
    assert decide(facts(USE, runs=(source(DISPATCHED),))).reason is ReuseReason.OTHER_PULL


# How much it covers


def test_a_run_that_covers_less_is_passed_over_for_a_complete_one() -> None:
    runs = (source(run(id=12), sweep=PARTIAL), source(run(id=11)))
    decision = decide(facts(runs=runs))
    assert decision.source is not None
    assert decision.source.id == 11
    assert decision.passed_over[0].fault.reason is ReuseReason.COVERAGE_PARTIAL


UNKNOWN = sweep(kind=None)


@pytest.mark.parametrize(
    ("swept", "reason", "words"),
    [
        (PARTIAL, ReuseReason.COVERAGE_PARTIAL, "it covers 1 of 2 rows (1 missing)"),
        (sweep(shared_files=("x",)), ReuseReason.COVERAGE_PARTIAL, "it covers 0 of 2 rows (2 stale)"),
        (UNKNOWN, ReuseReason.COVERAGE_UNKNOWN, "it covers an unknown part of the merge's plan"),
    ],
)
def test_incomplete_coverage_takes_a_pin_or_is_refused(swept: Any, reason: ReuseReason, words: str) -> None:
    found, named = facts(runs=(source(sweep=swept),)), facts(USE, runs=(source(sweep=swept),))
    refused = decide_reuse(found, POLICY)
    assert outcome(refused) == (REFUSED, reason)
    assert words in refused.words
    rest = "" if reason is ReuseReason.COVERAGE_UNKNOWN else f"{REST.format(900)} "
    assert refused.fix == f"{rest}To reuse run 900 all the same, pin it: /reuse-sweep-run 900"
    accepted = decide_reuse(named, POLICY)
    assert (accepted.verdict, accepted.is_incomplete) == (REUSE, True)
    assert words in accepted.words
    for asked in (found, named):
        strict = decide_reuse(asked, REQUIRED)
        assert outcome(strict) == (REFUSED, reason)
        assert words in strict.words
        assert "pin it" not in strict.fix


def test_a_complete_run_is_reused_under_both_rules() -> None:
    for by in (command(), USE):
        assert decide_reuse(facts(by), REQUIRED).verdict is REUSE


def test_a_failed_run_that_covers_everything_is_complete() -> None:
    """A job that is not a row's may have failed."""
    decision = decide_reuse(facts(USE, runs=(source(run("failure")),)), REQUIRED)
    assert (decision.verdict, decision.is_incomplete) == (REUSE, False)


def test_the_pin_names_the_run_that_covers_most() -> None:
    runs = (
        source(run(id=13), sweep=sweep(done=())),
        source(run(id=12), sweep=PARTIAL),
        source(run(id=11), sweep=UNKNOWN),
    )
    decision = decide(facts(runs=runs))
    assert decision.fix.endswith("/reuse-sweep-run 12")
    assert decision.coverage is not None
    assert decision.coverage.covered == ROWS[:1]


def test_a_search_that_ended_early_says_so() -> None:
    decision = decide(facts(runs=(source(artifacts=()),), has_older_runs=True))
    assert "older runs were not looked at" in decision.words
