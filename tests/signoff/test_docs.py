"""The examples of docs/signoff.md are infx's own words. REFRESH=1 rewrites its tables."""

from __future__ import annotations

import os
import re
from pathlib import Path

from infx.policy.checks import CHECKS
from infx.policy.signoff import CheckStatus, Role
from tests.signoff.cases import CASES, outcome
from tests.signoff.facts import POLICY, facts

PAGE = Path(__file__).parents[2] / "docs/signoff.md"
BLOCK = re.compile(r"(<!-- table: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# These cases explain more than the first case of their status in the table of tests.
CHOSEN = {
    ("owner", CheckStatus.FAIL): "other owner",
    ("sweep", CheckStatus.FAIL): "accuracy run missing",
    ("accuracy", CheckStatus.FAIL): "below the model's threshold",
    ("chat", CheckStatus.PASS): "AgentX",
}
REFRESH = "REFRESH"


def draw_checks() -> str:
    lines = ["| | check | may end in | its WARN is settled by |", "| --- | --- | --- | --- |"]
    for check in CHECKS:
        policy = POLICY.signoff.checks[check.slug]
        ends = [status.value for status in CheckStatus if status in {*policy.statuses, CheckStatus.FAIL}]
        role = "no one" if policy.settled_by is Role.NO_ONE else f"{policy.settled_by} or above"
        if policy.settled_by is Role.ADMIN:
            role = "admin"
        lines.append(
            f"| {check.number} | [{check.name}](#{anchor(check.number, check.name)}) (`{check.slug}`) | {', '.join(ends)} | {role} |"
        )
    return "\n".join(lines)


def anchor(number: int, name: str) -> str:
    return f"{number}-{name.lower().replace(' ', '-')}"


def draw_examples(slug: str) -> str:
    lines = ["| example | ends in | and says |", "| --- | --- | --- |"]
    for status in CheckStatus:
        cases = [case for case in CASES if case[0] == slug and case[3] is status]
        chosen = [case for case in cases if case[1] == CHOSEN.get((slug, status))]
        for _, name, fields, _, _ in (chosen or cases)[:1]:
            reason = outcome(slug, facts(**fields)).reason.replace("|", "\\|")
            lines.append(f"| {name} | {status.value} | {reason} |")
    return "\n".join(lines)


def fill(page: str) -> str:
    def draw(match: re.Match[str]) -> str:
        text = draw_checks() if match["name"] == "checks" else draw_examples(match["name"])
        return f"{match[1]}{text}\n{match[3]}"

    return BLOCK.sub(draw, page)


def test_the_tables_show_the_current_words() -> None:
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get(REFRESH):
        PAGE.write_text(fill(page), encoding="utf-8")
    assert {match["name"] for match in BLOCK.finditer(page)} == {"checks", *(check.slug for check in CHECKS)}
    assert PAGE.read_text(encoding="utf-8") == fill(page)


def test_every_heading_is_linked() -> None:
    headings = re.findall(r"^### (\d+) (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings == [(str(check.number), check.name) for check in CHECKS]
