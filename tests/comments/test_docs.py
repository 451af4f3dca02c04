"""docs/comments.md shows what the renderers write. `INFX_REFRESH=1` writes its examples again."""

from __future__ import annotations

import os
import re

import pytest

from infx.comments.notices import Cause, find_causes
from infx.gate.decide import decide
from tests.comments import examples
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "comments.md"
REFRESH = os.environ.get("INFX_REFRESH") == "1"  # read now: tests see no INFX_ variables
_BLOCK = re.compile(r"(<!-- example (?P<name>[a-z -]+) -->\n)(?P<text>.*?)(<!-- end -->)", re.DOTALL)


def render_examples() -> dict[str, str]:
    texts = {
        name: "".join(f"> {line}".rstrip() + "\n" for line in text.split("\n"))
        for name, text in examples.comments().items()
    }
    rows = "".join(f"| {when} | {state} | {text} |\n" for when, state, text in examples.statuses())
    return texts | {"statuses": f"| when | state | description |\n| --- | --- | --- |\n{rows}"}


def test_the_page_shows_every_comment_as_it_is() -> None:
    page, wanted = PAGE.read_text(encoding="utf-8"), render_examples()
    assert [match["name"] for match in _BLOCK.finditer(page)] == list(dict.fromkeys(wanted)), (
        "one example of each"
    )
    new = _BLOCK.sub(lambda match: f"{match[1]}\n{wanted[match['name']]}\n{match[4]}", page)
    if REFRESH:
        PAGE.write_text(new, encoding="utf-8")
    assert new == page, "INFX_REFRESH=1 pytest tests/comments/test_docs.py writes the examples again"


@pytest.mark.parametrize(
    "cause", [cause for cause in Cause if cause not in {Cause.LINKS, Cause.REUSE_COMMAND, Cause.REUSE}]
)
def test_each_example_has_its_cause(cause: Cause) -> None:
    policy = examples.project_policy()
    decision = decide(examples.CAUSES[cause], policy)
    assert find_causes(decision, (), is_open=True) == (cause,)


def test_no_example_mentions_an_account() -> None:
    for name, text in examples.comments().items():
        outside = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
        assert not re.search(r"(?<!\w)@\w|(?<![\w/&])#\d", outside), name
