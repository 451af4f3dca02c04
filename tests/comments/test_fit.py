"""Long comments: within the limit, cut after a whole line, and what the cut left open is closed."""

from __future__ import annotations

import re

import cmarkgfm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.comments.fit import fit

LIMIT = 65_536
NOTE = re.compile(r"\*Cut here: (\d+) characters did not fit\. .*\*\n")


def rendered(markdown: str) -> str:
    options = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
    return str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=options))


@pytest.mark.parametrize("size", [0, 1, LIMIT - 1, LIMIT])
def test_what_fits_is_left_alone(size: int) -> None:
    assert fit("x" * size, LIMIT) == "x" * size


def test_the_limit_counts_characters_not_bytes() -> None:
    assert fit("运" * LIMIT, LIMIT) == "运" * LIMIT


@pytest.mark.parametrize(
    ("start", "closed"),
    [
        ("", ""),
        ("```\n", "\n```\n"),
        ("````sh\n", "\n````\n"),
        ("~~~\n", "\n~~~\n"),
        ("  ```\n", "\n  ```\n"),
        ("<details>\n<summary>x</summary>\n\n", "\n</details>\n"),
        ("<details><summary>x</summary>\n\n```\n", "\n```\n\n</details>\n"),
        ("<details>\n<details>\n\n", "\n</details>\n\n</details>\n"),
        ("<!-- note\n", "\n-->\n"),
        ("```\na\n```\n", ""),
        ("<details>\nx\n</details>\n", ""),
        ("```\n<details>\n", "\n```\n"),  # a tag inside a fence is text
        ("`<details>` ```x``` y\n", "\n</details>\n"),  # closing a tag that was only code harms nobody
    ],
)
def test_what_is_open_at_the_cut_is_closed(start: str, closed: str) -> None:
    body = start + "line\n" * 20_000
    short = fit(body, LIMIT)
    assert len(short) <= LIMIT
    found = NOTE.search(short)
    assert found is not None
    kept = short[: found.start()].removesuffix("\n")
    assert kept.endswith("line\n" + closed)
    assert int(found[1]) == len(body) - len(kept) + len(closed)
    assert "<p><em>Cut here" in rendered(short)  # the note itself is not code


def test_a_line_is_never_cut_because_half_a_code_span_is_none() -> None:
    body = "first\n" + "`" + "@amy " * 20_000 + "`\n"
    assert (
        fit(body, LIMIT)
        == f"first\n\n*Cut here: {len(body) - 6} characters did not fit. 以下内容过长，已截断。*\n"
    )


def test_one_line_too_long_leaves_only_the_note() -> None:
    assert NOTE.fullmatch(fit("x" * 70_000, LIMIT))


PIECES = [
    "```\n",
    "~~~~\n",
    "<details>\n",
    "</details>\n",
    "- a\n",
    "\n",
    "<!-- x\n",
    "-->\n",
    "text\n",
    "  ```py\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(150, 400))
def test_properties_of_a_cut(pieces: list[str], limit: int) -> None:
    body = "".join(pieces)
    short = fit(body, limit)
    assert len(short) <= limit
    assert fit(short, limit) == short
    if short != body:
        found = NOTE.search(short)
        assert found is not None
        assert (
            short.count("<details>") <= short.count("</details>")
            or "```" in body
            or "~~~" in body
            or "<!--" in body
        )
