"""docs/publishing.md lists every decision, with the verdicts that the code gives."""

from __future__ import annotations

import re

from infx.publish.decide import PublishReason, PublishVerdict
from tests.conftest import ROOT

PAGE = (ROOT / "docs/publishing.md").read_text(encoding="utf-8")


def test_the_page_lists_every_reason_and_verdict() -> None:
    table = PAGE.partition("<!-- table: reasons -->")[2].partition("<!-- end -->")[0]
    rows = re.findall(r"(?m)^\| `([a-z-]+)` \| ([a-z]+) \|", table)
    assert [reason for reason, _ in rows] == [reason.value for reason in PublishReason]
    assert {verdict for _, verdict in rows} == {verdict.value for verdict in PublishVerdict}
