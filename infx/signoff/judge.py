"""Judge a sign-off: run every check, weigh its evidence, and apply settlements."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from infx.evidence.settle import Refusal, Settlement, select_settlements
from infx.evidence.trees import find_rules
from infx.policy.checks import CHECKS, Check
from infx.policy.model import Policy
from infx.policy.signoff import CheckStatus
from infx.records import record
from infx.signoff.checks.acceptance import check_acceptance
from infx.signoff.checks.accuracy import check_accuracy
from infx.signoff.checks.append_only import check_append_only
from infx.signoff.checks.deprecation import check_deprecation
from infx.signoff.checks.description import check_description
from infx.signoff.checks.images import check_images
from infx.signoff.checks.owner import check_owner
from infx.signoff.checks.pareto import check_pareto
from infx.signoff.checks.patches import check_patches
from infx.signoff.checks.recipe import check_recipe
from infx.signoff.checks.reuse import check_reuse
from infx.signoff.checks.serving import check_architecture, check_chat, check_draft
from infx.signoff.checks.sweep import check_sweep
from infx.signoff.checks.template import check_template
from infx.signoff.coverage import choose_coverage
from infx.signoff.facts import SignoffFacts
from infx.signoff.outcome import CheckOutcome, Link, code, failed, name_all, not_applicable
from infx.signoff.verdict import SignoffVerdict, VerdictRow

_FUNCTIONS: tuple[Callable[[SignoffFacts, Policy], CheckOutcome], ...] = (
    check_owner,
    check_sweep,
    check_accuracy,
    check_recipe,
    check_reuse,
    check_template,
    check_images,
    check_deprecation,
    check_architecture,
    check_chat,
    check_patches,
    check_acceptance,
    check_append_only,
    check_draft,
    check_pareto,
    check_description,
)
# Checks whose evidence the pull request's own workflows reported.
_BY_REPORT = {"sweep", "accuracy", "pareto"}


@record
class Result:
    """The outcome of one check, and the settlement of its warning."""

    check: Check
    outcome: CheckOutcome
    settlement: Settlement | None = None

    @property
    def is_good(self) -> bool:
        return (
            self.outcome.status in {CheckStatus.PASS, CheckStatus.NOT_APPLICABLE}
            or self.settlement is not None
        )


@record
class Judgment:
    """The results of all checks."""

    results: tuple[Result, ...]  # by check number
    refused: tuple[Refusal, ...] = ()  # settle commands that settled nothing

    @property
    def is_good(self) -> bool:
        return all(result.is_good for result in self.results)

    @property
    def is_rejected(self) -> bool:
        return any(result.outcome.status is CheckStatus.FAIL for result in self.results)

    @property
    def is_waiting(self) -> bool:
        """Return whether only sweeps or settlements are missing, which may still come."""
        bad = [result for result in self.results if not result.is_good]
        return bool(bad) and all(r.outcome.is_waiting or r.outcome.status is CheckStatus.WARN for r in bad)


def judge(facts: SignoffFacts, policy: Policy) -> Judgment:
    """Run every check and apply the settlements. The same facts and policy give the same judgment."""
    people = {person.login.lower(): person for person in facts.people}
    settled, refused = select_settlements(
        facts.comments,
        policy.signoff,
        author=facts.pull.author.login,
        since=facts.reported_at,
        people=people,
    )
    results = []
    unused = []
    for check, function in zip(CHECKS, _FUNCTIONS, strict=True):
        outcome = run_check(check, function, facts, policy)
        settlement = settled.get(check.number)
        if settlement and outcome.status is not CheckStatus.WARN:
            why = f"Check {check.number} ended in {outcome.status}; only a WARN can be settled."
            unused.append(Refusal(comment=settlement.comment, why=why))
            settlement = None
        results.append(Result(check=check, outcome=outcome, settlement=settlement))
    return Judgment(results=tuple(results), refused=(*refused, *unused))


def run_check(
    check: Check,
    function: Callable[[SignoffFacts, Policy], CheckOutcome],
    facts: SignoffFacts,
    policy: Policy,
) -> CheckOutcome:
    if policy.signoff.checks[check.slug].is_off:
        return not_applicable("The policy turns this check off.")
    outcome = function(facts, policy)
    if facts.shortfalls and outcome.status is not CheckStatus.FAIL:
        # Any check might have needed the missing data.
        text = f"Not everything could be read: {code(facts.shortfalls[0], 300)}."
        return failed(text, evidence=(*outcome.evidence, *facts.shortfalls))
    if check.slug in _BY_REPORT and (edits := find_rule_edits(facts, policy)):
        outcome = outcome.limit_to_warning(
            f"The pull request changes the rules that produced this evidence ({name_all(edits)})."
        )
    return _limit(check, outcome, policy)


def find_rule_edits(facts: SignoffFacts, policy: Policy) -> tuple[str, ...]:
    """Return workflows and policy files changed by the pull request or by the commit of its evidence."""
    edits = [*find_rules(facts.paths, facts.policy_path)]
    coverage = choose_coverage(facts, policy)
    if coverage:
        edits += coverage.run.edited_rules if coverage.run.edited_rules is not None else ["unknown files"]
    return tuple(dict.fromkeys(edits))


def _limit(check: Check, outcome: CheckOutcome, policy: Policy) -> CheckOutcome:
    """Turn a status that the policy does not allow for the check into FAIL."""
    allowed = policy.signoff.checks[check.slug].statuses
    if outcome.status is CheckStatus.FAIL or outcome.status in allowed:
        return outcome
    reason = f"The policy does not allow {outcome.status} for this check: {outcome.reason}"
    return dataclasses.replace(outcome, status=CheckStatus.FAIL, reason=reason)


def make_verdict(judgment: Judgment, facts: SignoffFacts, policy: Policy) -> SignoffVerdict:
    """Return the judgment in the form that is published."""
    return SignoffVerdict(
        rows=tuple(_make_row(result) for result in judgment.results),
        signer=facts.signoff.author.login,
        sha=facts.pull.head_sha,
        escalated=tuple(dict.fromkeys(_find_escalations(judgment.results, policy))),
    )


def _make_row(result: Result) -> VerdictRow:
    outcome = result.outcome
    links = " ".join(str(link) for link in outcome.links)
    reason = f"{outcome.reason} ({links})" if links else outcome.reason
    if settlement := result.settlement:
        who = code(settlement.comment.author.login)
        reason = f"{reason} Settled by {who} ({Link(text='comment', url=settlement.comment.url)}): {code(settlement.reason, 300)}."
    return VerdictRow(
        number=result.check.number, name=result.check.name, status=outcome.status, reason=reason
    )


def _find_escalations(results: Iterable[Result], policy: Policy) -> Iterable[str]:
    for result in results:
        if result.outcome.status is CheckStatus.WARN and result.settlement is None:
            yield from policy.signoff.checks[result.check.slug].escalate
