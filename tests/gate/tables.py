"""Render the tables of docs/sweeps.md from the rules and the policy.

In the page each table is between `<!-- table: <name> -->` and `<!-- end -->`; a test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from infx.escape import table
from infx.gate.decision import GateVerdict
from infx.gate.other_rules import DISPATCH, DISPATCH_FOR_PULL, PUSH
from infx.gate.rules import PULL_REQUEST, GateRule
from infx.gate.words import EFFECTS
from infx.policy.model import Policy

_BLOCK = re.compile(r"(<!-- table: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# Placeholders in the advice, where a real answer has the values of its case.
_PLACES = {
    "primaries": "the labels above",
    "remove": "Remove all primary labels except one.",
    "head_sha": "<full head SHA>",
    "base": "the base branch",
    "reuse_fix": "Name another run, start a sweep and ask again, or delete the command.",
}

_EXPLAINED = {
    (rule.reason, rule.fix) for rule in PULL_REQUEST if rule.fix
}  # advice that the page's first table gives


def fill_tables(document: str, policy: Policy) -> str:
    """Return the document with every table rendered again. Raises KeyError if a marker names an unknown table."""
    return _BLOCK.sub(lambda match: f"{match[1]}{_TABLES[match['name']](policy)}\n{match[3]}", document)


def _primary(policy: Policy) -> str:
    rows = [
        (
            f"`{name}`{' (recommended)' if label.recommended else ''}",
            label.scope.value,
            "yes" if label.canary else "no",
            "yes" if label.fail_fast else "no",
        )
        for name, label in policy.labels.primary.items()
    ]
    return table(("primary label", "rows", "canary first", "stops at the first failure"), rows)


def _modifiers(policy: Policy) -> str:
    rows = [
        (f"`{name}`", EFFECTS[label.effect], "yes" if label.reusable else "no")
        for name, label in policy.labels.modifiers.items()
    ]
    return table(("modifier", "what the sweep runs", "results can be reused for the merge"), rows)


def _rules(
    rules: Sequence[GateRule], verdict: Callable[[GateRule], str] | None = None
) -> Callable[[Policy], str]:
    verdict = verdict or _verdict

    def render(policy: Policy) -> str:
        rows = [
            (
                str(number),
                rule.when.replace("{marker}", f"`{policy.sweep.skip_marker}`"),
                verdict(rule),
                f"`{rule.reason}`",
                "as above"
                if rules is not PULL_REQUEST and (rule.reason, rule.fix) in _EXPLAINED
                else _fix(rule, policy),
            )
            for number, rule in enumerate(rules, 1)
        ]
        return table(("", "if", "then", "reason", "what to do"), rows)

    return render


def _verdict(rule: GateRule) -> str:
    if rule.stops_on:
        return f"{rule.verdict}; **stop** on {', '.join(rule.stops_on)}"
    mark = ", refused" if rule.refused else ""
    text = f"**{rule.verdict}**" if rule.verdict is not GateVerdict.IGNORE else rule.verdict.value
    return f"{text}{mark}"


def _verdict_on_dispatch(rule: GateRule) -> str:
    """Return the verdict column of a dispatch. Every answer except run is a refusal."""
    return "**run**" if rule.verdict is GateVerdict.RUN else "refused"


def _fix(rule: GateRule, policy: Policy) -> str:
    workflow = policy.sweep.workflow_file
    dispatch = f"gh workflow run {workflow} -f pr=<number> -f head-ref=<full head SHA>"
    values = {**_PLACES, "approve": policy.sweep.approve_command, "dispatch": dispatch}
    return rule.fix.format_map(values)


_TABLES: dict[str, Callable[[Policy], str]] = {
    "primary-labels": _primary,
    "modifier-labels": _modifiers,
    "pull-request": _rules(PULL_REQUEST),
    "dispatch-for-pull": _rules(DISPATCH_FOR_PULL, _verdict_on_dispatch),
    "dispatch": _rules(DISPATCH, _verdict_on_dispatch),
    "push": _rules(PUSH),
}
