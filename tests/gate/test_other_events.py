"""Pushes, dispatches and all other events that are not about a pull request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infx.gate.decide import decide
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.event import DispatchInputs, Event, EventName
from infx.gate.facts import Approval, Changelog, GateFacts, MergeCheck, Reuse
from infx.policy.load import default_policy
from infx.policy.model import OnMerge
from infx.policy.stage import Stage
from tests.builders import BASE, HEAD, OLD, person
from tests.gate.facts import MERGE, PULL

POLICY = default_policy()
BOT = "github-actions[bot]"
REFUSED = Reuse(problem="run 1 cannot be used, because it has no results", fix="Name another run.")
ABSENT = Reuse(absence="no comment asks for it")


def dispatch(inputs: DispatchInputs, **fields: Any) -> GateFacts:
    event = Event(
        name=EventName.DISPATCH, actor=BOT, pull=inputs.pull, head_sha=inputs.head_ref or None, inputs=inputs
    )
    defaults: dict[str, Any] = {"head_sha": HEAD, "base_sha": BASE, "head_is_in_repository": True}
    return GateFacts(event=replace(event, run_id=9), **{**defaults, **fields})


def ask(facts: GateFacts) -> Decision:
    return decide(facts, POLICY)


@pytest.mark.parametrize(
    "name", [EventName.MERGE_GROUP, EventName.COMMENT, EventName.OTHER], ids=lambda name: name.value
)
def test_other_events_start_no_sweep(name: EventName) -> None:
    decision = ask(GateFacts(event=Event(name=name, actor="eve", run_id=3, head_sha=OLD)))
    assert (decision.verdict, decision.group) == (GateVerdict.IGNORE, "ignored-run-3")


@pytest.mark.parametrize(
    ("policy", "reuse", "verdict", "reason", "refused"),
    [
        (OnMerge.NOTHING, None, GateVerdict.IGNORE, Reason.ON_MERGE_NOTHING, False),
        (OnMerge.NOTHING, Reuse(run_id=1), GateVerdict.IGNORE, Reason.ON_MERGE_NOTHING, False),
        (OnMerge.NOTHING, REFUSED, GateVerdict.IGNORE, Reason.ON_MERGE_NOTHING, False),
        (OnMerge.REUSE, Reuse(run_id=1), GateVerdict.IGNORE, Reason.REUSED, False),
        (OnMerge.REUSE, None, GateVerdict.IGNORE, Reason.ON_MERGE_NOT_REUSED, True),
        (OnMerge.REUSE, ABSENT, GateVerdict.IGNORE, Reason.ON_MERGE_NOT_REUSED, True),
        (OnMerge.REUSE, REFUSED, GateVerdict.IGNORE, Reason.REUSE_REFUSED, True),
        (OnMerge.REUSE_OR_SWEEP, Reuse(run_id=1), GateVerdict.IGNORE, Reason.REUSED, False),
        (OnMerge.REUSE_OR_SWEEP, None, GateVerdict.RUN, Reason.READY, False),
        (OnMerge.REUSE_OR_SWEEP, ABSENT, GateVerdict.RUN, Reason.READY, False),
        (OnMerge.REUSE_OR_SWEEP, REFUSED, GateVerdict.IGNORE, Reason.REUSE_REFUSED, True),
    ],
)
def test_a_push_to_the_base_branch(
    policy: OnMerge, reuse: Reuse | None, verdict: GateVerdict, reason: Reason, refused: bool
) -> None:
    """No permission is checked, because an account that can push or merge may start a sweep, as a merge queue can."""
    push = Event(name=EventName.PUSH, ref="refs/heads/main", head_sha=OLD, before=BASE, actor="a-queue[bot]")
    decision = decide(GateFacts(event=push, reuse=reuse), replace(POLICY, on_merge=policy))
    assert (decision.verdict, decision.reason, decision.refused) == (verdict, reason, refused)


@pytest.mark.parametrize(
    ("ref", "sha"), [("refs/heads/feat", OLD), ("refs/tags/main", OLD), ("refs/heads/main", "0" * 40)]
)
def test_a_push_elsewhere(ref: str, sha: str) -> None:
    push = Event(name=EventName.PUSH, ref=ref, head_sha=sha, actor="mia")
    policy = replace(POLICY, on_merge=OnMerge.REUSE_OR_SWEEP)
    assert decide(GateFacts(event=push), policy).reason is Reason.OTHER_BASE


def test_a_push_that_does_not_change_the_changelog() -> None:
    push = Event(name=EventName.PUSH, ref="refs/heads/main", head_sha=OLD, actor="mia")
    policy = replace(POLICY, on_merge=OnMerge.REUSE_OR_SWEEP)
    decision = decide(GateFacts(event=push, changelog=Changelog(touched=False)), policy)
    assert (decision.verdict, decision.reason) == (GateVerdict.IGNORE, Reason.CHANGELOG_UNTOUCHED)


def test_the_inputs_of_a_dispatch_decide_how_it_sweeps() -> None:
    inputs = DispatchInputs(
        base_ref=BASE, head_ref=HEAD, trim=True, fail_fast=True, modifiers=("evals-only", "agentx-fast")
    )
    decision = ask(dispatch(inputs))
    assert decision.verdict is GateVerdict.RUN
    assert (decision.scope, decision.canary, decision.fail_fast) == ("trimmed", False, True)
    assert decision.effects == ("evals-only", "fast")
    assert decision.group == "sweep-run-9"
    assert decision.head_sha == HEAD


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (DispatchInputs(), "must give either"),
        (DispatchInputs(command="full-sweep", base_ref=BASE, head_ref=HEAD), "must give either"),
        (DispatchInputs(base_ref=BASE), "without the other"),
        (DispatchInputs(head_ref=HEAD), "without the other"),
        (DispatchInputs(command="full-sweep", base_ref=BASE), "must give either"),
        (DispatchInputs(command="full-sweep", merge_sha=MERGE), "merge-sha without pr"),
        (DispatchInputs(command="full-sweep", trim=True), "use the command's own options"),
        (DispatchInputs(command="full-sweep", modifiers=("all-evals",)), "use the command's own options"),
        (DispatchInputs(command="full-sweep --model-prefix 'dsr1"), "cannot be read (No closing quotation)"),
        (DispatchInputs(command="config check"), "must start with full-sweep or test-config"),
        (DispatchInputs(command="--policy x full-sweep"), "must start with full-sweep or test-config"),
        (DispatchInputs(command="'' full-sweep"), "must start with full-sweep or test-config"),
        (DispatchInputs(command="full-sweep", modifiers=("everything",)), "unknown modifiers: everything"),
        (DispatchInputs(pull=0), "not the number of a pull request"),
        (DispatchInputs(pull=77, command="full-sweep"), "both a command and pr"),
        (DispatchInputs(pull=77, head_ref="feat-x"), "must be a full commit SHA"),
        (DispatchInputs(pull=77, head_ref=HEAD, merge_sha="HEAD"), "must be a full commit SHA"),
        (DispatchInputs(pull=77, head_ref=HEAD, complete=0), "complete is not the number of a run"),
        (DispatchInputs(pull=77, complete=42), "complete without pr and head-ref"),
        (DispatchInputs(base_ref=BASE, head_ref=HEAD, complete=42), "complete without pr and head-ref"),
        (DispatchInputs(pull=77, only=("$(touch x)", "a" * 12)), "the input only names $(touch x), and ids"),
        (DispatchInputs(base_ref=BASE, head_ref=HEAD, only=("a" * 11,)), "ids of rows have 12 digits"),
    ],
)
def test_invalid_inputs_are_refused(inputs: DispatchInputs, words: str) -> None:
    decision = ask(dispatch(inputs, pull=PULL if inputs.pull else None))
    assert (decision.verdict, decision.reason, decision.refused) == (
        GateVerdict.IGNORE,
        Reason.DISPATCH_INPUTS,
        True,
    )
    assert words in decision.words
    assert decision.group == "ignored-run-9"


@pytest.mark.parametrize(
    ("inputs", "missing", "words"),
    [
        (DispatchInputs(base_ref="main", head_ref="gone"), {"head_sha": None}, "there is no commit gone"),
        (DispatchInputs(base_ref="gone", head_ref="main"), {"base_sha": None}, "there is no commit gone"),
        (
            DispatchInputs(command="full-sweep", head_ref="gone"),
            {"head_sha": None},
            "there is no commit gone",
        ),
        (DispatchInputs(command="full-sweep"), {"head_sha": None}, "there is no commit main"),
    ],
)
def test_a_dispatch_of_a_missing_branch(inputs: DispatchInputs, missing: dict[str, None], words: str) -> None:
    decision = ask(dispatch(inputs, **missing))
    assert (decision.reason, decision.words) == (Reason.DISPATCH_INPUTS, words)


@pytest.mark.parametrize("head_ref", ["", "feat-x"])
def test_a_command_is_words_and_has_no_changelog_to_validate(head_ref: str) -> None:
    """It runs on the base branch or on head-ref. Only a shell's quotes have a meaning."""
    text = "full-sweep --model-prefix 'a b' --conc $(reboot) `x` ; --smoke"
    decision = ask(dispatch(DispatchInputs(command=text, head_ref=head_ref, fail_fast=True), base_sha=None))
    assert decision.verdict is GateVerdict.RUN
    words = ("full-sweep", "--model-prefix", "a b", "--conc", "$(reboot)", "`x`", ";", "--smoke")
    assert (decision.command, decision.stage, decision.base_sha) == (words, None, None)
    assert (decision.head_sha, decision.fail_fast, decision.group) == (HEAD, True, "sweep-run-9")


def test_two_revisions_are_compared_with_each_other() -> None:
    decision = ask(dispatch(DispatchInputs(base_ref="main", head_ref="feat-x")))
    assert (decision.base_sha, decision.head_sha, decision.stage) == (BASE, HEAD, Stage.PR)


@pytest.mark.parametrize(
    ("before", "parent", "base"),
    [
        (BASE, None, BASE),
        (BASE, OLD, BASE),
        ("0" * 40, OLD, OLD),
        (None, OLD, OLD),
        ("0" * 40, None, None),
        ("0" * 40, "0" * 40, None),
        (None, None, None),
        ("main", None, None),
    ],
)
def test_a_push_is_compared_with_what_was_there_before(
    before: str | None, parent: str | None, base: str | None
) -> None:
    """parent: parent of the first pushed commit. Without a base the tip would be compared with itself."""
    push = Event(name=EventName.PUSH, ref="refs/heads/main", head_sha=HEAD, before=before, actor="mia")
    sweeps = replace(POLICY, on_merge=OnMerge.REUSE_OR_SWEEP)
    decision = decide(GateFacts(event=push, base_sha=parent), sweeps)
    assert (decision.base_sha, decision.head_sha, decision.stage) == (base, HEAD, Stage.MAIN)
    if base is None:
        assert (decision.verdict, decision.reason, decision.refused) == (
            GateVerdict.IGNORE,
            Reason.BASE_UNKNOWN,
            True,
        )
    else:
        assert decision.verdict is GateVerdict.RUN


def test_a_merge_that_starts_no_sweep_needs_no_base() -> None:
    push = Event(name=EventName.PUSH, ref="refs/heads/main", head_sha=HEAD, before="0" * 40, actor="mia")
    assert decide(GateFacts(event=push), POLICY).reason is Reason.ON_MERGE_NOTHING


def test_a_dispatch_by_an_account_without_write_access() -> None:
    facts = dispatch(DispatchInputs(command="full-sweep"))
    facts = replace(facts, event=replace(facts.event, actor="eve"), actor=person("eve", "read"))
    assert ask(facts).reason is Reason.SENDER_CANNOT_START


FORK = replace(PULL, head_repository="eve/bench")
FOR_FORK = DispatchInputs(pull=77, base_ref=BASE, head_ref=HEAD, merge_sha=MERGE)
GOOD_MERGE = MergeCheck(sha=MERGE, parents=(BASE, HEAD), base_is_current=True, is_from_github=True)
APPROVED = Approval(sha=HEAD)


def test_the_dispatch_of_an_approved_fork_runs_by_its_labels() -> None:
    decision = ask(
        dispatch(FOR_FORK, pull=FORK, approval=APPROVED, merge=GOOD_MERGE, changelog=Changelog(touched=True))
    )
    assert decision.verdict is GateVerdict.RUN
    assert decision.group == "sweep-pr-77"
    assert (decision.scope, decision.canary, decision.fail_fast) == ("full", True, True)
    assert (decision.head_sha, decision.merge_sha) == (HEAD, MERGE)
    assert (decision.base_sha, decision.stage) == (BASE, Stage.PR)  # what the test merge was made of


def test_labels_override_the_inputs_of_a_dispatch() -> None:
    inputs = replace(FOR_FORK, trim=True, modifiers=("evals-only",))
    facts = dispatch(
        inputs, pull=FORK, approval=APPROVED, merge=GOOD_MERGE, changelog=Changelog(touched=True)
    )
    decision = ask(facts)
    assert (decision.scope, decision.effects) == ("full", ())
    assert decision.notes == (
        "The labels of the PR decide; trim, fail-fast and modifiers of the dispatch have no effect.",
    )


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"complete": 42}, "Only the rows that run 42 does not cover run."),
        ({"only": ("a" * 12, "b" * 12 + "-2")}, "Only 2 named rows run."),
        ({"complete": 42, "only": ("a" * 12,)}, "Only 1 named row runs; run 42 has the others."),
    ],
)
def test_a_dispatch_may_choose_rows(more: dict[str, Any], note: str) -> None:
    inputs = DispatchInputs(pull=77, head_ref=HEAD, **more)
    decision = ask(dispatch(inputs, pull=PULL, changelog=Changelog(touched=True)))
    assert decision.verdict is GateVerdict.RUN
    assert (decision.only, decision.complete) == (inputs.only, inputs.complete)
    assert note in decision.notes
    assert decision.group == "sweep-pr-77"  # like every sweep of the pull request


@pytest.mark.parametrize("labels", [(), ("full-sweep-enabled", "sweep-enabled")])
def test_a_follow_up_needs_what_every_sweep_needs(labels: tuple[str, ...]) -> None:
    inputs = DispatchInputs(pull=77, head_ref=HEAD, complete=42)
    facts = dispatch(inputs, pull=replace(PULL, labels=labels), changelog=Changelog(touched=True))
    assert ask(facts).verdict is GateVerdict.IGNORE
    assert ask(facts).refused


def test_a_pull_request_has_a_base_of_its_own() -> None:
    facts = dispatch(
        DispatchInputs(pull=77, base_ref="release"), pull=PULL, changelog=Changelog(touched=True)
    )
    assert ask(facts).base_sha is None  # the tip of the base branch
    assert ask(facts).notes == ("A PR is compared with main; base-ref of the dispatch has no effect.",)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"approval": None}, Reason.APPROVAL_MISSING),
        ({"approval": Approval(sha=OLD)}, Reason.APPROVAL_STALE),
        ({"pull": replace(FORK, head_sha=OLD)}, Reason.STALE_HEAD),
        ({"pull": replace(FORK, labels=())}, Reason.NO_PRIMARY_LABEL),
        ({"pull": replace(FORK, labels=("sweep-enabled", "full-sweep-enabled"))}, Reason.CONFLICTING_LABELS),
        ({"pull": replace(FORK, is_open=False)}, Reason.CLOSED),
        ({"pull": replace(FORK, mergeable=False)}, Reason.MERGE_CONFLICT),
        ({"pull": replace(FORK, mergeable=None)}, Reason.MERGEABLE_UNKNOWN),
        ({"merge": None}, Reason.TEST_MERGE),
        ({"merge": replace(GOOD_MERGE, sha=OLD)}, Reason.TEST_MERGE),
        ({"merge": replace(GOOD_MERGE, parents=(BASE, OLD))}, Reason.TEST_MERGE),
        ({"merge": replace(GOOD_MERGE, parents=(HEAD, BASE))}, Reason.TEST_MERGE),
        ({"merge": replace(GOOD_MERGE, parents=(BASE, HEAD, OLD))}, Reason.TEST_MERGE),
        ({"merge": replace(GOOD_MERGE, base_is_current=False)}, Reason.TEST_MERGE),
        ({"changelog": Changelog(touched=False)}, Reason.CHANGELOG_UNTOUCHED),
    ],
)
def test_what_keeps_the_dispatch_of_a_fork_from_running(change: dict[str, object], reason: Reason) -> None:
    """Such a dispatch is refused, so its run is red, and it never stops another sweep."""
    facts = dispatch(
        FOR_FORK,
        **{
            "pull": FORK,
            "approval": APPROVED,
            "merge": GOOD_MERGE,
            "changelog": Changelog(touched=True),
            **change,
        },
    )
    decision = ask(facts)
    assert (decision.reason, decision.verdict, decision.refused) == (reason, GateVerdict.IGNORE, True)


def test_a_dispatch_for_a_pull_request_ignores_the_skip_marker() -> None:
    facts = dispatch(
        DispatchInputs(pull=77), pull=PULL, head_message="x [skip-sweep]", changelog=Changelog(touched=True)
    )
    assert ask(facts).verdict is GateVerdict.RUN


@pytest.mark.parametrize(
    ("merge", "reason"),
    [
        (GOOD_MERGE, Reason.READY),
        (None, Reason.TEST_MERGE),
        (replace(GOOD_MERGE, parents=(BASE, OLD)), Reason.TEST_MERGE),
        (replace(GOOD_MERGE, is_from_github=False), Reason.TEST_MERGE),
    ],
)
def test_a_merge_sha_is_checked_for_every_pull_request(merge: MergeCheck | None, reason: Reason) -> None:
    """Otherwise any commit could be measured in place of this head."""
    inputs = DispatchInputs(pull=77, head_ref=HEAD, merge_sha=MERGE)
    facts = dispatch(inputs, pull=PULL, merge=merge, changelog=Changelog(touched=True))
    assert ask(facts).reason is reason


@pytest.mark.parametrize(
    ("approval", "reason"),
    [
        (None, Reason.TEST_MERGE),
        (Approval(sha=HEAD), Reason.TEST_MERGE),
        (Approval(sha=HEAD, merge_sha=BASE), Reason.TEST_MERGE),
        (Approval(sha=OLD, merge_sha=MERGE), Reason.TEST_MERGE),
        (Approval(sha=HEAD, merge_sha=MERGE), Reason.READY),
    ],
)
def test_an_approved_test_merge_counts_after_the_base_has_moved(
    approval: Approval | None, reason: Reason
) -> None:
    """GitHub has replaced the test merge by then. Anyone can create a commit with these parents and any files."""
    inputs = DispatchInputs(pull=77, head_ref=HEAD, merge_sha=MERGE)
    merge = replace(GOOD_MERGE, is_from_github=False)
    facts = dispatch(inputs, pull=PULL, merge=merge, approval=approval, changelog=Changelog(touched=True))
    assert ask(facts).reason is reason


@pytest.mark.parametrize("is_in_repository", [None, False])
@pytest.mark.parametrize(
    "inputs",
    [DispatchInputs(base_ref="main", head_ref=HEAD), DispatchInputs(command="full-sweep", head_ref=HEAD)],
)
def test_a_commit_on_no_branch_is_refused(inputs: DispatchInputs, *, is_in_repository: bool | None) -> None:
    """GitHub shows a fork's commits as if they were in the repository, and this commit is not approved."""
    decision = ask(dispatch(inputs, head_is_in_repository=is_in_repository))
    assert (decision.reason, decision.verdict, decision.refused) == (
        Reason.FOREIGN_COMMIT,
        GateVerdict.IGNORE,
        True,
    )
    assert HEAD[:12] in decision.words


@pytest.mark.parametrize(
    "inputs", [DispatchInputs(base_ref="main", head_ref="feat-x"), DispatchInputs(command="full-sweep")]
)
def test_a_branch_is_the_repository_s_own(inputs: DispatchInputs) -> None:
    assert ask(dispatch(inputs, head_is_in_repository=None)).reason is Reason.READY


def test_a_question_about_a_pull_request_needs_it() -> None:
    with pytest.raises(ValueError, match="needs the pull request"):
        ask(GateFacts(event=Event(name=EventName.ASKED, pull=77)))
