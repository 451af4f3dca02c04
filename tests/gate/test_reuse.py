"""What the gate makes of the decision about reuse: its words, its outputs, and questions without an event."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.gate.decide import decide
from infx.gate.decision import Decision, Reason
from infx.gate.event import Event, EventAction, EventName
from infx.gate.facts import GateFacts, GateRun, Reuse
from infx.gate.show import list_facts, render_outputs
from infx.model import Conclusion
from infx.policy.load import default_policy
from infx.policy.model import OnMerge
from tests.builders import BASE, HEAD, OLD
from tests.gate.facts import READY, pull_event, with_pull

POLICY = default_policy()
URL = "https://github.com/acme/bench/actions/runs/900"
WHOLE = Reuse(
    run_id=900, attempt=2, url=URL, head_sha=OLD, pull=77, coverage="40 of 40 rows", reason="newest"
)
PART = replace(WHOLE, coverage="12 of 40 rows (28 missing)", is_incomplete=True, reason="pinned")
REFUSED = Reuse(
    problem="the pull request has no suitable run (run 20: it ended as cancelled)",
    fix="To reuse run 20 all the same, pin it: /reuse-sweep-run 20",
    reason="no-suitable-run",
)
ABSENT = Reuse(absence="eve asked for it without write access to the repository", reason="not-authorized")
PUSHED = replace(READY, event=pull_event(EventAction.SYNCHRONIZE))
ASKED = replace(READY, event=Event(name=EventName.ASKED, pull=77))
MERGED = GateFacts(
    event=Event(name=EventName.PUSH, ref="refs/heads/main", head_sha=HEAD, before=BASE, actor="mia")
)
RUN = GateRun(id=800, url="https://github.com/acme/bench/actions/runs/800", conclusion=None, swept=True)


def ask(facts: GateFacts, reuse: Reuse, on_merge: OnMerge = OnMerge.REUSE) -> Decision:
    return decide(replace(facts, reuse=reuse), replace(POLICY, on_merge=on_merge))


@pytest.mark.parametrize("facts", [PUSHED, ASKED, MERGED], ids=["push", "question", "merge"])
@pytest.mark.parametrize(
    ("reuse", "sentence"),
    [
        (WHOLE, "No sweep: the results of run 900 are reused: 40 of 40 rows."),
        (PART, "No sweep: the results of run 900 are reused, incomplete: 12 of 40 rows (28 missing)."),
        (
            REFUSED,
            "No sweep: a finished sweep was to be reused, but the pull request has no suitable run (run 20: it ended "
            "as cancelled). To reuse run 20 all the same, pin it: /reuse-sweep-run 20",
        ),
    ],
    ids=["whole", "part", "refused"],
)
def test_the_sentence_names_the_run_and_how_complete_it_is(
    facts: GateFacts, reuse: Reuse, sentence: str
) -> None:
    assert ask(facts, reuse).sentence == sentence


def test_a_merge_without_a_request_says_why_there_is_none() -> None:
    decision = ask(MERGED, ABSENT)
    assert decision.reason is Reason.ON_MERGE_NOT_REUSED
    assert decision.words.endswith(
        "no sweep to reuse: eve asked for it without write access to the repository"
    )


def test_outputs_name_the_source_only_if_it_is_reused() -> None:
    outputs = render_outputs(ask(MERGED, PART))
    assert {name: value for name, value in outputs.items() if name.startswith("reuse")} == {
        "reuse-enabled": "true",
        "reuse-source-run-id": "900",
        "reuse-source-run-attempt": "2",
        "reuse-source-run-url": URL,
        "reuse-source-pr-number": "77",
        "reuse-source-head-sha": OLD,
        "reuse-incomplete": "true",
        "reuse-reason": "pinned",
    }
    refused = render_outputs(ask(MERGED, REFUSED))
    assert (refused["reuse-enabled"], refused["reuse-reason"]) == ("false", "no-suitable-run")
    assert refused["reuse-source-run-id"] == refused["reuse-source-run-attempt"] == ""
    labeled = render_outputs(ask(READY, WHOLE))  # the label's own sweep runs
    assert (labeled["verdict"], labeled["reuse-enabled"]) == ("run", "false")


@pytest.mark.parametrize("action", [a for a in EventAction if a is not EventAction.SYNCHRONIZE])
def test_only_a_push_to_the_pull_request_reuses(action: EventAction) -> None:
    facts = replace(READY, event=pull_event(action, "full-sweep-fail-fast"))
    for reuse in (WHOLE, REFUSED):
        assert ask(facts, reuse).reason not in {Reason.REUSED, Reason.REUSE_REFUSED}


@pytest.mark.parametrize(
    ("conclusion", "reuse", "reason"),
    [
        (None, REFUSED, Reason.RUN_EXISTS),  # asked for while the sweep was running: not an obstacle
        (Conclusion.CANCELLED, REFUSED, Reason.RUN_EXISTS),
        (Conclusion.CANCELLED, PART, Reason.REUSED),
        (Conclusion.SUCCESS, WHOLE, Reason.REUSED),
    ],
)
def test_a_failed_request_does_not_hide_the_sweep_of_the_head(
    conclusion: Conclusion | None, reuse: Reuse, reason: Reason
) -> None:
    facts = replace(ASKED, runs=(replace(RUN, conclusion=conclusion),))
    assert ask(facts, reuse).reason is reason


def test_a_refusal_does_not_also_claim_a_reuse() -> None:
    """The rules of one request exclude each other."""
    assert Reason.REUSED not in ask(ASKED, REFUSED).also
    assert ask(with_pull(ASKED, labels=()), PART).reason is Reason.NO_PRIMARY_LABEL


@pytest.mark.parametrize(
    ("reuse", "text"),
    [
        (PART, f"run 900, attempt 2, {URL}, for {OLD[:12]}; incomplete: 12 of 40 rows (28 missing)"),
        (REFUSED, "none: the pull request has no suitable run (run 20: it ended as cancelled)"),
        (ABSENT, "none: eve asked for it without write access to the repository"),
    ],
)
def test_the_facts_show_what_was_decided_about_reuse(reuse: Reuse, text: str) -> None:
    facts = with_pull(replace(ASKED, reuse=reuse), labels=())
    assert dict(list_facts(facts, POLICY))["reuse"] == text
