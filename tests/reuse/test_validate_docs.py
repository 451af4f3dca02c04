"""The table of problems in docs/reuse.md names exactly the problems that exist."""

from __future__ import annotations

import re

from infx.results.lenient import ResultKind
from tests.conftest import ROOT
from tests.pages import read

RULE = re.compile(
    r'"((?:source|accuracy|agentic|results|statistics|no)-[a-z-]+)"|rule=f"\{kind.value\}(-[a-z-]+)"'
)
COLLECTED = {"result-missing", "result-failed", "result-rejected"}  # found by `infx results collect`


def test_every_problem_has_a_line() -> None:
    section = read("docs/reuse.md").partition("## Validate a source")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.+?) \|", section, flags=re.MULTILINE)
    documented = [rule for cell in cells for rule in re.findall(r"`([a-z-]+)`", cell)]
    rules: set[str] = set()
    for path in (ROOT / "infx" / "reuse").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "ReuseReason" in text:  # decides about a run, and makes no problems
            continue
        for whole, ending in RULE.findall(text):
            rules |= {whole} if whole else {f"{kind.value}{ending}" for kind in ResultKind}
    assert len(rules) > 15
    assert sorted(documented) == sorted(rules | COLLECTED)
