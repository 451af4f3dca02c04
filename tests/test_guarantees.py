"""Check that docs/guarantees.md names existing tests for each of its lines."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
LINES = [line for line in PAGE.splitlines() if re.match(r"\| [A-Z`\"]", line)]
NAMED = sorted({name for line in LINES for name in re.findall(r"`((?:\w+/)*test_\w+\.py(?:::\w+)?)`", line)})


def test_every_guarantee_names_a_test() -> None:
    assert len(LINES) > 35
    assert [line for line in LINES if not re.search(r"`[\w/]*test_\w+\.py", line.rsplit("|", 2)[1])] == []


@pytest.mark.parametrize("name", NAMED)
def test_the_named_test_exists(name: str) -> None:
    path, _, function = name.partition("::")
    text = (ROOT / "tests" / path).read_text(encoding="utf-8")
    assert re.search(rf"^def {function or 'test_'}", text, re.MULTILINE)
