"""Compare docs/adopting.md with the command."""

from __future__ import annotations

import re

from infx.adoption.questions import QUESTIONS
from tests.conftest import ROOT


def test_the_page_lists_every_option_that_answers_a_question() -> None:
    page = (ROOT / "docs/adopting.md").read_text(encoding="utf-8")
    section = page.partition("\n## 2. ")[2].partition("\n## ")[0]
    table = "".join(line for line in section.splitlines(keepends=True) if line.startswith("| `--"))
    named = set(re.findall(r"`--([a-z-]+)", "".join(line.split(" | ")[0] for line in table.splitlines())))
    assert named == {question.name for question in QUESTIONS} | {"no-signoffs"}
