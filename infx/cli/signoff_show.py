"""The output of `infx signoff verify`: verdicts on stdout, everything else on stderr."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from infx.cli.report import print_json, print_text
from infx.errors import UsageError
from infx.phrases import count
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.signoff.decide import SignoffDecision
    from infx.signoff.facts import SignoffFacts
    from infx.signoff.judge import Judgment
    from infx.signoff.publish import Assessment
    from infx.signoff.record import Binding


def print_context(decided: SignoffDecision) -> None:
    """Print what the verdicts do not contain: the scope, ignored comments and the status."""
    lines = [decided.scope.reason]
    lines += [f"{comment.url}: ignored. {why}" for comment, why in decided.passed_over]
    judgments = [assessment.judgment for assessment in decided.assessments if assessment.judgment]
    refused = dict.fromkeys((r.comment.url, r.why) for judgment in judgments for r in judgment.refused)
    lines += [f"{url}: settles nothing. {why}" for url, why in refused]
    lines += [f"{status.context}: {status.state}: {status.description}"] if (status := decided.status) else []
    text = "\n".join(f"#{decided.pull.number}: {line}" for line in lines)
    print_text(text, os.environ)


def show_assessments(
    shown: Sequence[Assessment], policy: Policy, explain: str | None, *, as_json: bool
) -> None:
    judged = [(a.facts, a.judgment) for a in shown if a.facts and a.judgment]
    for assessment in shown:
        if not assessment.judgment:
            why = assessment.unread or assessment.error or _describe_standing(assessment.binding)
            print_text(f"{assessment.signoff.url}: {why}", os.environ)
    print_judgments(judged, policy, explain, as_json=as_json)


def _describe_standing(binding: Binding) -> str:
    """Return why a sign-off has no verdict for the head, and what to do."""
    from infx.signoff.record import Standing

    sha = binding.record.sha[:12]
    match binding.standing:
        case Standing.STALE:
            return f"it is for {sha}, and the diff has changed since; edit it to sign the head"
        case Standing.UNSEEN:
            return f"nothing shows that {sha} was the head when it was written; edit it to sign the head"
    return f"it is bound to {sha} and has no verdict"


def print_judgments(
    judged: Sequence[tuple[SignoffFacts, Judgment]], policy: Policy, explain: str | None, *, as_json: bool
) -> None:
    """Print verdicts as Markdown, or as one JSON document: an object for one sign-off, a list for several."""
    from infx.signoff.judge import make_verdict
    from infx.signoff.show import render_explanation, render_json
    from infx.signoff.verdict import render_verdict

    if explain is None and as_json:
        documents = [render_json(facts, judgment) for facts, judgment in judged]
        print_json(documents[0] if len(documents) == 1 else documents)
        return
    for facts, judgment in judged:
        if explain is not None:
            text = render_explanation(judgment, explain)
        else:
            text = render_verdict(make_verdict(judgment, facts, policy)).rstrip("\n")
        print_text(text, os.environ, err=False)


def save_facts(shown: Sequence[Assessment], path: Path) -> None:
    from infx.saved import dump_json

    facts = [assessment.facts for assessment in shown if assessment.facts]
    if len(facts) != 1:
        raise UsageError(
            f"--save-facts needs exactly one sign-off, but there are facts of {count(len(facts), 'sign-off')}.",
            hint="Choose a sign-off with --comment-url.",
        )
    path.write_text(dump_json(facts[0]), encoding="utf-8")
