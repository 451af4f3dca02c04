"""Compare the gate with a second implementation of its rules for every combination of facts.

`expect` below is that second implementation. It shares only the names of verdicts and reasons with the program. About
80,000 combinations are compared at night, and each pair of conditions in `make test`: the rules are an ordered list, so
that a wrong order shows where two conditions hold. The property test draws from the whole space.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.gate.decide import decide
from infx.gate.event import EventAction
from infx.gate.facts import Approval, Changelog, GateFacts
from infx.policy.load import default_policy
from infx.policy.model import Drafts
from tests.builders import HEAD, OLD, person
from tests.gate.facts import PULL, pull_event

# label → (scope, canary, fail-fast), from the table of primary labels
PRIMARY = MappingProxyType(
    {
        "full-sweep-fail-fast": ("full", True, True),
        "full-sweep-enabled": ("full", True, False),
        "full-sweep-fail-fast-no-canary": ("full", False, True),
        "non-canary-full-sweep-enabled": ("full", False, False),
        "sweep-enabled": ("trimmed", False, False),
    }
)
MODIFIERS = ("all-evals", "evals-only", "agentx-fast")

LABEL_SETS: tuple[tuple[str, ...], ...] = (
    (),
    ("documentation",),
    *((name,) for name in PRIMARY),
    ("full-sweep-fail-fast", "bug", "all-evals"),
    ("Full-Sweep-Enabled", "skip_queue"),
    ("sweep-enabled", "full-sweep-fail-fast-no-canary"),
    ("full-sweep-enabled", "full-sweep-fail-fast", "sweep-enabled"),
    ("all-evals", "evals-only"),
    ("docs-about-full-sweep-fail-fast", "full-sweep"),
)
EVENTS = (
    ("opened", None),
    ("reopened", None),
    ("synchronize", None),
    ("ready_for_review", None),
    ("closed", None),
    ("labeled", "full-sweep-fail-fast"),
    ("labeled", "FULL-SWEEP-FAIL-FAST"),
    ("labeled", "all-evals"),
    ("labeled", "skip_queue"),
    ("labeled", "documentation"),
    ("labeled", "sweep"),
    ("unlabeled", "sweep-enabled"),
    ("unlabeled", "evals-only"),
    ("unlabeled", "ci-patchwork"),
    ("other", None),
)
SENDERS = ("write", "maintain", "admin", "triage", "read", "identity", "unknown")
MERGEABLE = TOUCHED = (True, False, None)
POLICIES = {
    False: replace(default_policy(), drafts=Drafts.ALLOW),
    True: replace(default_policy(), drafts=Drafts.IGNORE),
}
FORKS = ("no", "unapproved", "deleted", "approved", "stale")


@dataclass(frozen=True)
class Situation:
    action: str
    label: str | None
    labels: tuple[str, ...]
    draft: bool
    drafts_wait: bool
    fork: str
    mergeable: bool | None
    touched: bool | None
    sender: str
    head_is_live: bool


def expect(now: Situation) -> tuple[str, str]:
    """Return the expected verdict and reason."""
    primaries = {label.lower() for label in now.labels} & set(PRIMARY)
    may_start = now.sender in {"write", "maintain", "admin", "identity"}
    stop = "stop" if may_start else "ignore"  # an account without write access cannot cancel a sweep

    # Other events, and events about an old head or another label, start and cancel nothing.
    if now.action == "other":
        return "ignore", "unrelated-action"
    if not now.head_is_live:
        return "ignore", "stale-head"
    if now.action in {"labeled", "unlabeled"}:
        name = (now.label or "").lower()
        if name not in PRIMARY and name not in MODIFIERS:
            return "ignore", "unrelated-label"

    # A pull request that must not have a sweep.
    if now.action == "closed":
        return stop, "closed"
    if len(primaries) > 1:
        return stop, "conflicting-labels"
    if not primaries:
        return (stop if now.action == "unlabeled" else "ignore"), "no-primary-label"
    if now.mergeable is False:
        return stop, "merge-conflict"
    if now.draft and now.drafts_wait:
        return stop, "draft"
    if now.touched is False:
        return stop, "changelog-untouched"
    if now.fork == "stale":
        return stop, "approval-stale"
    if now.fork in {"unapproved", "deleted"}:
        return "ignore", "approval-missing"
    if now.fork == "approved":
        return "ignore", "approved-elsewhere"

    # The pull request is ready. The sender must have write access, and GitHub must know that the branch merges.
    if not may_start:
        return "ignore", "sender-cannot-start"
    if now.mergeable is None:
        return "ignore", "mergeable-unknown"
    return "run", "ready"


def make_facts(now: Situation) -> GateFacts:
    event = pull_event(EventAction(now.action), now.label, head_sha=HEAD if now.head_is_live else OLD)
    actor = None if now.sender in {"identity", "unknown"} else person("cody", now.sender)
    if now.sender == "identity":
        event = replace(event, actor="github-actions[bot]")
    approvals = {"approved": Approval(sha=HEAD, url="https://x/1"), "stale": Approval(sha=OLD)}
    return GateFacts(
        event=event,
        actor=actor,
        pull=replace(
            PULL,
            labels=now.labels,
            is_draft=now.draft,
            is_open=now.action != "closed",
            mergeable=now.mergeable,
            head_repository={"no": "acme/bench", "deleted": None}.get(now.fork, "eve/bench"),
        ),
        changelog=Changelog(touched=now.touched),
        approval=approvals.get(now.fork),
    )


CONDITIONS: tuple[tuple[Any, ...], ...] = (  # the first value of each lets a sweep start
    ((False, True), (True, False), (True, True)),  # is a draft, drafts wait (policy)
    FORKS,
    MERGEABLE,
    TOUCHED,
    ("write", "triage", "identity"),
)


def compare_all(event: tuple[str, str | None], labels: tuple[str, ...], most: int) -> None:
    """Compare every combination in which at most so many conditions differ from those of a sweep that starts."""
    for (draft, wait), fork, mergeable, touched, sender in itertools.product(*CONDITIONS):
        values = ((draft, wait), fork, mergeable, touched, sender)
        if sum(value != among[0] for value, among in zip(values, CONDITIONS, strict=True)) <= most:
            compare(Situation(*event, labels, draft, wait, fork, mergeable, touched, sender, True))
    compare(Situation(*event, labels, False, False, "no", True, True, "write", False))


@pytest.mark.parametrize("labels", LABEL_SETS, ids=lambda labels: "+".join(labels) or "none")
@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_rules(event: tuple[str, str | None], labels: tuple[str, ...]) -> None:
    compare_all(event, labels, most=2)


@pytest.mark.nightly
@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_rules_in_every_combination(event: tuple[str, str | None]) -> None:
    for labels in LABEL_SETS:
        compare_all(event, labels, most=len(CONDITIONS))


@given(
    event=st.sampled_from(EVENTS),
    labels=st.sampled_from(LABEL_SETS),
    drafts=st.tuples(st.booleans(), st.booleans()),
    fork=st.sampled_from(FORKS),
    mergeable=st.sampled_from(MERGEABLE),
    touched=st.sampled_from(TOUCHED),
    sender=st.sampled_from(SENDERS),
    live=st.booleans(),
)
def test_properties_of_the_whole_space(
    event: tuple[str, str | None],
    labels: tuple[str, ...],
    drafts: tuple[bool, bool],
    fork: str,
    mergeable: bool | None,
    touched: bool | None,
    sender: str,
    live: bool,
) -> None:
    compare(Situation(*event, labels, *drafts, fork, mergeable, touched, sender, live))


def compare(now: Situation) -> None:
    decision = decide(make_facts(now), POLICIES[now.drafts_wait])
    assert (decision.verdict.value, decision.reason.value) == expect(now), now
    group = "ignored-run-501" if decision.verdict.value == "ignore" else "sweep-pr-77"
    assert decision.group == group, now
    assert decision.head_sha == HEAD
    if decision.runs:
        name = next(label.lower() for label in now.labels if label.lower() in PRIMARY)
        assert (decision.scope, decision.canary, decision.fail_fast) == PRIMARY[name], now
    else:
        assert decision.sentence.startswith("No sweep: ")


PAIRS = [
    ((), ()),
    (("all-evals",), ("all-evals",)),
    (("agentx-fast", "evals-only"), ("evals-only", "fast")),
    (("evals-only", "all-evals"), ("all-evals", "evals-only")),
]


@pytest.mark.parametrize(("labels", "effects"), PAIRS)
@pytest.mark.parametrize("primary", PRIMARY)
def test_modifiers_change_how_not_whether(
    primary: str, labels: tuple[str, ...], effects: tuple[str, ...]
) -> None:
    now = Situation("labeled", primary, (*labels, primary), False, False, "no", True, True, "write", True)
    decision = decide(make_facts(now), default_policy())
    assert decision.runs
    assert decision.effects == effects
    # Only a full sweep is reusable, and only without a label that rules it out.
    assert decision.reusable == (
        PRIMARY[primary][0] == "full" and not {"evals-only", "agentx-fast"} & set(labels)
    )
