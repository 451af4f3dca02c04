"""The notice about a reuse command names the reason, and what to do, in both languages."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from infx.comments.reuse_notice import describe_reuse, needs_notice
from infx.policy.model import Language
from infx.reuse.coverage import Coverage
from infx.reuse.decision import ReuseDecision, ReuseReason, ReuseVerdict
from tests.builders import run
from tests.comments.examples import REFUSED

# Reasons of other events, of acceptance, or only of single runs, which are listed below the lead
ELSEWHERE = {
    ReuseReason.OTHER_EVENT,
    ReuseReason.OTHER_ACTION,
    ReuseReason.OTHER_BASE,
    ReuseReason.NO_PULL,
    ReuseReason.SEVERAL_PULLS,
    ReuseReason.NOT_AUTHORIZED,
    ReuseReason.NOT_MERGED,
    ReuseReason.NEEDS_PIN,
    ReuseReason.NEWEST,
    ReuseReason.PINNED,
}
PARTIAL = Coverage(covered=("a",), stale=("b",), missing=("c",))


def refuse(reason: ReuseReason) -> ReuseDecision:
    return replace(REFUSED, reason=reason, pin="", coverage=PARTIAL)


def test_every_reason_has_a_lead_of_its_own() -> None:
    reasons = [reason for reason in ReuseReason if reason not in ELSEWHERE]
    for language in Language:
        leads = {describe_reuse(refuse(reason)).lead[language] for reason in reasons}
        # Both reasons about the coverage tell what is known of it.
        assert len(leads) == len(reasons) - 1


def test_the_coverage_is_given_in_both_languages() -> None:
    partial = describe_reuse(refuse(ReuseReason.COVERAGE_PARTIAL)).lead
    assert partial[Language.ENGLISH] == "**No finished sweep is reused: the coverage is 1 of 3 rows.**"
    assert partial[Language.CHINESE] == "**没有复用任何已完成的 sweep：合并计划的 3 行中只覆盖了 1 行。**"
    unknown = describe_reuse(replace(refuse(ReuseReason.COVERAGE_UNKNOWN), coverage=None)).lead
    assert "is unknown" in unknown[Language.ENGLISH]
    assert "无法得知" in unknown[Language.CHINESE]


@pytest.mark.parametrize(
    ("source", "coverage", "is_needed"),
    [
        (True, Coverage(covered=("a",)), False),
        (True, PARTIAL, True),
        (True, None, True),
        (False, None, True),
    ],
)
def test_only_a_refusal_or_a_gap_needs_a_notice(
    source: bool, coverage: Coverage | None, is_needed: bool
) -> None:
    verdict = ReuseVerdict.REUSE if source else ReuseVerdict.REFUSED
    decision = replace(REFUSED, verdict=verdict, source=run() if source else None, coverage=coverage)
    assert needs_notice(decision) is is_needed
    assert not needs_notice(replace(decision, command=None))
    assert not needs_notice(None)


def test_the_command_appears_only_if_it_would_be_accepted() -> None:
    assert describe_reuse(REFUSED).command == "/reuse-sweep-run 34660106061"
    assert describe_reuse(refuse(ReuseReason.NO_SUITABLE_RUN)).command == ""
    assert describe_reuse(refuse(ReuseReason.NO_ROWS)).fix is None


def test_words_of_a_pull_request_are_inert() -> None:
    hostile = replace(refuse(ReuseReason.NO_ROWS), passed_over=(), words="its commit changed @eve/#1 <b>`x`")
    (detail,) = describe_reuse(hostile).details
    assert "<b>" not in detail
    assert not re.search(r"@eve|#1", re.sub(r"`[^`]*`", "", detail))
