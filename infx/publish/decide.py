"""Whether the results of a merge are published, and which run measured them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from infx.model import Conclusion, Run
from infx.policy.model import OnMerge, Policy
from infx.publish.delivery import DeliveryState, read_delivery
from infx.publish.facts import PublishFacts
from infx.records import record
from infx.reuse.decision import ReuseDecision, ReuseVerdict


class PublishVerdict(StrEnum):
    """What happens to the results of a merge."""

    PUBLISH = "publish"
    DONE = "done"  # they were published before
    WAIT = "wait"  # for the merge's own sweep
    NOTHING = "nothing"  # there is nothing to publish
    UNKNOWN = (
        "unknown"  # the event may have been sent, and must not be sent again without a person's decision
    )
    REFUSED = "refused"


class PublishReason(StrEnum):
    """Why, as one word for programs."""

    REUSED = "reused"
    SWEPT = "swept"
    PUBLISHED = "published"
    ON_MERGE_NOTHING = "on-merge-nothing"
    NO_ENTRIES = "no-entries"
    NO_ROWS = "no-rows"
    DELIVERY_UNKNOWN = "delivery-unknown"
    PLAN_UNKNOWN = "plan-unknown"
    REUSE_REFUSED = "reuse-refused"
    NOT_REUSED = "not-reused"
    NO_SWEEP = "no-sweep"
    SWEEP_RUNNING = "sweep-running"
    SWEEP_FAILED = "sweep-failed"
    INVALID_RESULTS = "invalid-results"  # decided when the artifacts are read


@record
class PublishDecision:
    """The decision about one merge.

    Attributes:
        words: why, as a clause.
        fix: what to do, as a sentence; empty if there is nothing to do.
        run: the run whose results are published, or that the merge waits for.
        coverage: how much of the merge's plan the run covers, as a noun phrase; empty if all of it.
    """

    verdict: PublishVerdict
    reason: PublishReason
    words: str
    fix: str = ""
    run: Run | None = None
    coverage: str = ""


# No run and no plan can change these answers.
SETTLED = frozenset({PublishVerdict.DONE, PublishVerdict.NOTHING, PublishVerdict.UNKNOWN})


def decide_publication(facts: PublishFacts, policy: Policy, *, recovers: bool = False) -> PublishDecision:
    """Return whether the results of a merge are published.

    Args:
        recovers: a person has decided that an event of unknown fate is sent again.
    """
    if early := decide_early(facts, policy, recovers=recovers):
        return early
    if facts.plan.problem is not None:
        words = f"the merge cannot be planned: {facts.plan.problem}"
        return _refuse(PublishReason.PLAN_UNKNOWN, words, "Correct the files by another pull request.")
    if not facts.plan.rows:
        return _nothing(PublishReason.NO_ROWS, "it plans no rows")
    reuse = facts.reuse
    if reuse is not None and reuse.verdict is ReuseVerdict.REFUSED:
        return _refuse(PublishReason.REUSE_REFUSED, reuse.words, reuse.fix)
    if reuse is not None and reuse.source is not None:
        return _publish_reused(reuse, reuse.source)
    if policy.on_merge is OnMerge.REUSE:
        words = "no one with authority asked for the reuse of a finished sweep"
        fix = "Ask for it with a comment in the pull request, then run this again."
        return _refuse(PublishReason.NOT_REUSED, words, fix)
    return _decide_own(facts.sweep)


def decide_early(facts: PublishFacts, policy: Policy, *, recovers: bool = False) -> PublishDecision | None:
    """Return the decision if it needs neither a plan nor runs; None if it does."""
    if policy.on_merge is OnMerge.NOTHING:
        return _nothing(PublishReason.ON_MERGE_NOTHING, "the policy says on-merge: nothing")
    if facts.entries == 0:
        return _nothing(PublishReason.NO_ENTRIES, "it adds no entries to the changelog")
    delivery = read_delivery(facts.statuses, policy)
    if delivery.state is DeliveryState.DONE:
        words = "its results were published before"
        return PublishDecision(verdict=PublishVerdict.DONE, reason=PublishReason.PUBLISHED, words=words)
    if delivery.state is DeliveryState.SENDING and not recovers:
        return make_unknown(delivery.key, delivery.claim)
    return None


def make_unknown(key: str, claim: str) -> PublishDecision:
    """Return the decision for an event of which only the announcement is known."""
    where = f" by {claim}" if claim else ""
    words = f"delivery unknown: the event {key} was announced{where}, and may have been sent"
    fix = (
        "Look whether the target has received the key. If not, send the event again with infx publish --recover, which "
        "is the input `recover` of the workflow."
    )
    reason = PublishReason.DELIVERY_UNKNOWN
    return PublishDecision(verdict=PublishVerdict.UNKNOWN, reason=reason, words=words, fix=fix)


def _publish_reused(reuse: ReuseDecision, run: Run) -> PublishDecision:
    coverage = ""
    if reuse.is_incomplete:
        coverage = reuse.coverage.words if reuse.coverage else "an unknown part"
    return PublishDecision(
        verdict=PublishVerdict.PUBLISH,
        reason=PublishReason.REUSED,
        words=f"run {run.id} is reused: {reuse.words}",
        run=run,
        coverage=coverage,
    )


def _decide_own(run: Run | None) -> PublishDecision:
    """Return the decision by the sweep that the merge started itself."""
    if run is None:
        words = "the merge has no sweep of its own yet"
        return PublishDecision(verdict=PublishVerdict.WAIT, reason=PublishReason.NO_SWEEP, words=words)
    if not run.is_completed:
        words = f"the merge's sweep, run {run.id}, has not completed"
        return PublishDecision(
            verdict=PublishVerdict.WAIT, reason=PublishReason.SWEEP_RUNNING, words=words, run=run
        )
    if run.conclusion is not Conclusion.SUCCESS:
        words = f"the merge's sweep, run {run.id}, ended as {run.conclusion}"
        fix = "Run its failed jobs again; a green run is published."
        return PublishDecision(
            verdict=PublishVerdict.REFUSED,
            reason=PublishReason.SWEEP_FAILED,
            words=words,
            fix=fix,
            run=run,
        )
    words = f"run {run.id} is the merge's own sweep"
    return PublishDecision(verdict=PublishVerdict.PUBLISH, reason=PublishReason.SWEPT, words=words, run=run)


def _nothing(reason: PublishReason, words: str) -> PublishDecision:
    return PublishDecision(verdict=PublishVerdict.NOTHING, reason=reason, words=words)


def _refuse(reason: PublishReason, words: str, fix: str = "") -> PublishDecision:
    return PublishDecision(verdict=PublishVerdict.REFUSED, reason=reason, words=words, fix=fix)


OPENINGS: Mapping[PublishVerdict, str] = {
    PublishVerdict.PUBLISH: "The results are published",
    PublishVerdict.DONE: "There is nothing left to publish",
    PublishVerdict.WAIT: "The results are not published yet",
    PublishVerdict.NOTHING: "There is nothing to publish",
    PublishVerdict.UNKNOWN: "The results were not sent again",
    PublishVerdict.REFUSED: "The results are not published",
}
