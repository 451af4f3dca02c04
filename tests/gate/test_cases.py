"""Faults that people met with similar gates, each with the right outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.gate.decide import decide
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.event import Event, EventAction, EventName
from infx.gate.facts import Approval, Changelog, GateFacts, GateRun, Reuse
from infx.model import Conclusion
from infx.policy.load import default_policy
from infx.policy.model import OnMerge
from tests.builders import HEAD, OLD, person
from tests.gate.facts import LABELED, READY, pull_event, with_event, with_pull

POLICY = default_policy()


def ask(facts: GateFacts) -> Decision:
    return decide(facts, POLICY)


def asked(facts: GateFacts, **fields: object) -> GateFacts:
    return replace(facts, event=Event(name=EventName.ASKED, pull=77), actor=None, **fields)  # type: ignore[arg-type]  # any field of Facts


def test_an_unrelated_label_leaves_a_running_sweep_alone() -> None:
    running = ask(READY)
    labeled = ask(with_event(label="documentation", run_id=502))
    assert labeled.verdict is GateVerdict.IGNORE
    assert labeled.reason is Reason.UNRELATED_LABEL
    assert labeled.group != running.group
    assert labeled.group != ask(with_event(label="documentation", run_id=503)).group
    assert "documentation" in labeled.words


def test_of_several_labels_in_one_call_only_the_primary_starts_a_sweep() -> None:
    facts = with_pull(labels=("full-sweep-fail-fast", "bug"))
    assert ask(facts).verdict is GateVerdict.RUN
    assert ask(with_event(facts, label="bug", run_id=502)).verdict is GateVerdict.IGNORE


def test_opening_a_labeled_pull_request_starts_one_sweep() -> None:
    """`opened` and `labeled` arrive in the same second. In either order only `labeled` starts a sweep."""
    undecided = GateRun(id=501, url="https://x/501", conclusion=None, swept=None)
    opened = replace(READY, event=pull_event(EventAction.OPENED, run_id=502), runs=(undecided,))
    assert ask(opened).verdict is GateVerdict.IGNORE
    assert ask(opened).reason is Reason.RUN_EXISTS
    assert ask(replace(READY, runs=(replace(undecided, id=502),))).verdict is GateVerdict.RUN


@pytest.mark.parametrize("action", [EventAction.OPENED, EventAction.REOPENED, EventAction.READY_FOR_REVIEW])
@pytest.mark.parametrize(
    ("swept", "conclusion", "verdict"),
    [
        (True, Conclusion.SUCCESS, GateVerdict.IGNORE),
        (True, Conclusion.CANCELLED, GateVerdict.IGNORE),
        (True, None, GateVerdict.IGNORE),
        (None, None, GateVerdict.IGNORE),
        (
            False,
            Conclusion.SUCCESS,
            GateVerdict.RUN,
        ),  # its gate started no sweep, because it was a draft then
    ],
)
def test_some_events_start_a_sweep_only_for_a_head_without_one(
    action: EventAction, swept: bool | None, conclusion: Conclusion | None, verdict: GateVerdict
) -> None:
    run = GateRun(id=400, url="https://x/400", conclusion=conclusion, swept=swept)
    assert ask(replace(READY, event=pull_event(action), runs=(run,))).verdict is verdict


def test_closed_and_reopened_at_once_cancels_nothing() -> None:
    """When the gate of `closed` decides, the pull request is open again and its running sweep is still wanted."""
    decision = ask(replace(READY, event=pull_event(EventAction.CLOSED)))
    assert (decision.verdict, decision.reason) == (GateVerdict.IGNORE, Reason.REOPENED)
    assert decision.group == "ignored-run-501"
    assert (
        ask(replace(with_pull(is_open=False), event=pull_event(EventAction.CLOSED))).verdict
        is GateVerdict.STOP
    )


def test_two_primary_labels_are_refused_by_name() -> None:
    facts = with_pull(labels=("sweep-enabled", "full-sweep-fail-fast-no-canary"))
    decision = ask(facts)
    assert decision.refused
    assert decision.verdict is GateVerdict.STOP
    assert (
        decision.sentence
        == "No sweep: the PR has both full-sweep-fail-fast-no-canary and sweep-enabled. Remove one."
    )


def test_the_sentence_is_the_one_in_the_docs() -> None:
    decision = ask(with_pull(labels=("full-sweep-fail-fast", "full-sweep-enabled")))
    assert (
        decision.sentence
        == "No sweep: the PR has both full-sweep-enabled and full-sweep-fail-fast. Remove one."
    )


def test_three_primary_labels() -> None:
    decision = ask(with_pull(labels=("full-sweep-fail-fast", "full-sweep-enabled", "sweep-enabled")))
    assert decision.sentence == (
        "No sweep: the PR has full-sweep-enabled, full-sweep-fail-fast and sweep-enabled. Keep one of them."
    )


def test_a_modifier_alone_starts_no_sweep() -> None:
    assert ask(with_pull(labels=("full-sweep-enabled", "all-evals", "evals-only"))).verdict is GateVerdict.RUN
    alone = ask(with_pull(labels=("all-evals",)))
    assert alone.reason is Reason.NO_PRIMARY_LABEL
    assert "all-evals does not" in alone.words


def test_labels_are_compared_whole() -> None:
    decision = ask(with_pull(labels=("non-canary-full-sweep-enabled",)))
    assert (decision.verdict, decision.scope, decision.canary) == (GateVerdict.RUN, "full", False)
    decision = ask(with_pull(labels=("docs-about-full-sweep-fail-fast",)))
    assert (decision.verdict, decision.reason) == (GateVerdict.IGNORE, Reason.NO_PRIMARY_LABEL)


def test_a_conflict_is_named_and_not_taken_for_a_missing_label() -> None:
    decision = ask(asked(with_pull(mergeable=False)))
    assert decision.reason is Reason.MERGE_CONFLICT
    assert decision.words == "blocked by a merge conflict with main (perf-changelog.yaml?)"
    decision = ask(asked(with_pull(mergeable=False), conflicts=("configs/amd-master.yaml", "README.md")))
    assert "(configs/amd-master.yaml and README.md)" in decision.words


def test_unknown_mergeability_is_not_a_conflict_and_starts_nothing() -> None:
    decision = ask(with_pull(mergeable=None))
    assert decision.reason is Reason.MERGEABLE_UNKNOWN
    assert decision.verdict is GateVerdict.IGNORE
    assert decision.fix == "Ask again in a minute."


def test_a_label_added_by_the_workflow_token_is_explained() -> None:
    facts = asked(READY, label_actor="github-actions[bot]")
    decision = ask(facts)
    assert decision.reason is Reason.LABEL_STARTED_NOTHING
    assert f"`gh workflow run run-sweep.yml -f pr=77 -f head-ref={HEAD}`" in (decision.fix or "")
    assert ask(replace(facts, label_actor="bench-bot[bot]")).verdict is GateVerdict.RUN
    run = GateRun(id=400, url="https://x/400", conclusion=Conclusion.SUCCESS, swept=True)
    assert ask(replace(facts, runs=(run,))).reason is Reason.RUN_EXISTS


def test_the_answer_says_that_a_possible_sweep_has_not_started() -> None:
    decision = ask(asked(READY))
    assert any(note.startswith("Nothing has started it yet") for note in decision.notes)
    assert not any("started" in note for note in ask(READY).notes)


@pytest.mark.parametrize("fork", ["eve/bench", None])
def test_forks_and_deleted_forks_are_external(fork: str | None) -> None:
    decision = ask(with_pull(head_repository=fork))
    assert decision.verdict is GateVerdict.IGNORE
    assert decision.reason is Reason.APPROVAL_MISSING
    assert f"/approve-sweep {HEAD}" in (decision.fix or "")
    assert ("deleted" in decision.words) == (fork is None)


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("x [skip-sweep]", GateVerdict.IGNORE),
        ("[skip-sweep] x\n\nbody\n", GateVerdict.IGNORE),
        ("x\n\nbody\n[skip-sweep]\n", GateVerdict.IGNORE),
        ("x\r\n\r\n  [skip-sweep]  \r\nmore", GateVerdict.IGNORE),
        ('Revert "x"\n\nThis reverts "y [skip-sweep]"', GateVerdict.RUN),
        ("x\n\nuse [skip-sweep] for that", GateVerdict.RUN),
        ("x [SKIP-SWEEP]", GateVerdict.RUN),
        ("x [skip-sweep", GateVerdict.RUN),
        ("", GateVerdict.RUN),
    ],
)
def test_the_skip_marker_counts_in_the_subject_or_on_its_own_line(message: str, verdict: GateVerdict) -> None:
    decision = ask(replace(READY, head_message=message))
    assert decision.verdict is verdict
    if verdict is GateVerdict.IGNORE:
        assert decision.reason is Reason.SKIP_MARKER
    quoted = verdict is GateVerdict.RUN and "[skip-sweep]" in message
    assert any("only quotes [skip-sweep]" in note for note in decision.notes) == quoted


def test_the_skip_marker_cancels_nothing() -> None:
    """A merge that resolves a conflict must not end the running sweep."""
    decision = ask(
        replace(READY, event=pull_event(EventAction.SYNCHRONIZE), head_message="Merge main [skip-sweep]")
    )
    assert decision.verdict is GateVerdict.IGNORE
    assert decision.group != "sweep-pr-77"


def test_the_skip_marker_does_not_count_on_the_base_branch() -> None:
    push = Event(name=EventName.PUSH, ref="refs/heads/main", head_sha=OLD, before=HEAD, actor="mia", run_id=9)
    policy = replace(POLICY, on_merge=OnMerge.REUSE_OR_SWEEP)
    facts = GateFacts(event=push, head_message="x [skip-sweep]", changelog=Changelog(touched=True))
    decision = decide(facts, policy)
    assert decision.verdict is GateVerdict.RUN
    assert decision.group == f"sweep-{OLD}"
    assert (decision.scope, decision.canary, decision.fail_fast) == ("full", False, False)
    assert "[skip-sweep] has no effect on a push to main." in decision.notes


def test_a_push_after_an_approval_needs_a_new_one() -> None:
    fork = with_pull(head_repository="eve/bench")
    facts = replace(
        fork,
        event=pull_event(EventAction.SYNCHRONIZE, actor="eve"),
        actor=person("eve", "read"),
        approval=Approval(sha=OLD, url="https://x/1"),
    )
    decision = ask(facts)
    assert decision.verdict is GateVerdict.IGNORE
    assert decision.reason is Reason.APPROVAL_STALE
    assert f"the approval is for {OLD[:12]}" in decision.words


@pytest.mark.parametrize("role", ["none", "read", "triage"])
def test_a_label_by_an_account_without_write_access_starts_nothing(role: str) -> None:
    decision = ask(replace(READY, event=replace(LABELED, actor="eve"), actor=person("eve", role)))
    assert decision.verdict is GateVerdict.IGNORE
    assert decision.reason is Reason.SENDER_CANNOT_START
    assert "eve has no write access" in decision.words
    assert "Someone with write access can" in (decision.fix or "")


def test_a_custom_role_is_not_taken_for_write_access() -> None:
    """`permission` is write, but the role is not one of GitHub's own. Both must give write access."""
    actor = replace(person("eve"), role="label-manager")
    assert ask(replace(READY, actor=actor)).reason is Reason.SENDER_CANNOT_START


def test_an_account_without_write_access_cancels_no_sweep() -> None:
    """A second primary label that a triager adds is refused, but the running sweep continues."""
    facts = with_pull(
        replace(READY, actor=person("eve", "triage")), labels=("sweep-enabled", "full-sweep-enabled")
    )
    decision = ask(facts)
    assert (decision.verdict, decision.refused) == (GateVerdict.IGNORE, True)
    assert decision.group == "ignored-run-501"


def test_current_labels_and_the_person_who_re_ran_it_count() -> None:
    again = with_event(attempt=2, actor="mia")
    assert ask(replace(again, actor=person("mia"))).verdict is GateVerdict.RUN
    assert ask(replace(again, actor=person("mia", "read"))).reason is Reason.SENDER_CANNOT_START
    stale = with_pull(replace(again, actor=person("mia")), labels=())
    assert ask(stale).reason is Reason.NO_PRIMARY_LABEL


@pytest.mark.parametrize(
    ("reuse", "reason", "refused"),
    [
        (Reuse(run_id=10), Reason.REUSED, False),
        (Reuse(problem="run 10 cannot be used, because it has no results"), Reason.REUSE_REFUSED, True),
        (Reuse(absence="no comment asks for it"), Reason.READY, False),
        (None, Reason.READY, False),
    ],
)
def test_a_reused_run_replaces_the_sweep_of_a_push(
    reuse: Reuse | None, reason: Reason, refused: bool
) -> None:
    pushed = replace(READY, event=pull_event(EventAction.SYNCHRONIZE), reuse=reuse)
    assert (ask(pushed).reason, ask(pushed).refused) == (reason, refused)
    assert ask(replace(READY, reuse=reuse)).reason is Reason.READY  # a label asks for a sweep of its own
    shortened = with_pull(pushed, labels=("full-sweep-enabled", "agentx-fast"))
    assert ask(shortened).reason is Reason.READY


def test_an_invalid_changelog_is_refused_before_a_gpu_is_used() -> None:
    problems = ("The pr-link is for another PR.", "Something else.")
    decision = ask(replace(READY, changelog=Changelog(touched=True, problems=problems)))
    assert decision.reason is Reason.CHANGELOG_INVALID
    assert decision.refused
    assert decision.words == "the changelog perf-changelog.yaml has 2 problems: The pr-link is for another PR"
    assert ask(replace(READY, changelog=Changelog(touched=True, problems=()))).verdict is GateVerdict.RUN


def test_the_advice_of_a_long_problem_is_not_cut() -> None:
    """The longest problem of a link has about 250 characters; its end says how to repair it."""
    problem = f"perf-changelog.yaml:17: {'x' * 200}. Run `infx changelog validate --fix` to repair it."
    decision = ask(replace(READY, changelog=Changelog(touched=True, problems=(problem,))))
    assert decision.words.endswith("Run `infx changelog validate --fix` to repair it")


def test_all_obstacles_are_reported_at_once() -> None:
    facts = replace(with_pull(labels=("sweep-enabled", "full-sweep-enabled")), head_message="x [skip-sweep]")
    facts = with_pull(facts, mergeable=False, head_repository="eve/bench")
    decision = ask(facts)
    assert decision.reason is Reason.CONFLICTING_LABELS
    assert decision.also == (Reason.SKIP_MARKER, Reason.MERGE_CONFLICT, Reason.APPROVAL_MISSING)


def test_a_pull_request_that_edits_the_rules_is_marked() -> None:
    note = "The PR edits workflows or the policy, so its own results do not count as evidence."
    assert note in ask(replace(READY, edits_rules=True)).notes


def test_a_pull_request_into_another_branch() -> None:
    decision = ask(with_pull(base_ref="release"))
    assert (decision.verdict, decision.reason) == (GateVerdict.IGNORE, Reason.OTHER_BASE)
