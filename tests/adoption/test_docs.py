"""Compare docs/init.md with the command."""

from __future__ import annotations

import re

from infx.adoption.questions import QUESTIONS
from tests.conftest import ROOT


def test_the_page_lists_every_option_that_answers_a_question() -> None:
    page = (ROOT / "docs/init.md").read_text(encoding="utf-8")
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `--")]
    named = set(re.findall(r"`--([a-z-]+)", "".join(cells)))
    assert named == {question.name for question in QUESTIONS} | {"no-signoffs"}
