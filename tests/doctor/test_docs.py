"""docs/doctor.md lists every rule with its words."""

from __future__ import annotations

from infx.doctor.lines import Part
from infx.doctor.rules import RULES
from tests.conftest import ROOT
from tests.workflows.tables import compare_table

WHERE = {Part.CHECKOUT: "here", Part.GITHUB: "on GitHub"}


def test_the_page_lists_every_rule() -> None:
    lines = ["| rule | where | ok if | why |", "| --- | --- | --- | --- |"]
    lines += [f"| `{rule.id}` | {WHERE[rule.part]} | {rule.needs} | {rule.why} |" for rule in RULES.values()]
    compare_table(ROOT / "docs/doctor.md", "rules", lines)
