from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.shorten import NOTICE, count_bytes, shorten


def test_a_text_that_fits_is_not_changed() -> None:
    assert shorten("```\nnever closed\n", 20) == "```\nnever closed\n"


# (text, lines that stay, text that closes them); the room is exactly the length of both.
CUTS = [
    ("one\ntwo\nthree is too long\n" + "x" * 99, "one\ntwo\n", ""),
    ("```py\na = 1\n" + "b = 2\n" * 30, "```py\na = 1\n", "```\n"),
    ("~~~~\n```\n" + "b\n" * 60, "~~~~\n```\n", "~~~~\n"),
    ("- item\n  ```\n  a\n" + "  b\n" * 60, "- item\n  ```\n  a\n", "  ```\n"),
    ("```\na\n```\n" + "b\n" * 60, "```\na\n```\n", ""),
    ("```\na\n```` more\n" + "b\n" * 60, "```\na\n```` more\n", "```\n"),  # text after it: does not close
    ("a ``` b\n" + "b\n" * 60, "a ``` b\n", ""),
    ("``` a ``` b\n" + "b\n" * 60, "``` a ``` b\n", ""),  # code within a line
    ("<details>\n<summary>s</summary>\n" + "b\n" * 60, "<details>\n<summary>s</summary>\n", "\n</details>\n"),
    ("<details open>\n<DETAILS>\n" + "b\n" * 60, "<details open>\n<DETAILS>\n", "\n</details>\n" * 2),
    ("<details>\n</details>\n" + "b\n" * 60, "<details>\n</details>\n", ""),
    ("</details>\n" + "b\n" * 60, "</details>\n", ""),
    ("<details>\n```\n" + "b\n" * 60, "<details>\n```\n", "```\n\n</details>\n"),
    ("```\n<details>\n<!--\n" + "b\n" * 60, "```\n<details>\n<!--\n", "```\n"),
    ("<!-- note\n```\n<details>\n" + "b\n" * 60, "<!-- note\n```\n<details>\n", "-->\n"),
    ("<!-- a --> b\n" + "b\n" * 60, "<!-- a --> b\n", ""),
]


@pytest.mark.parametrize(("text", "kept", "closing"), CUTS)
def test_open_parts_are_closed_after_the_cut(text: str, kept: str, closing: str) -> None:
    assert shorten(text, len(kept + closing + NOTICE)) == kept + closing + NOTICE


def test_a_line_whose_closing_does_not_fit_is_dropped() -> None:
    text = "one\n```\n" + "x\n" * 60
    assert shorten(text, len("one\n```\n" + NOTICE)) == "one\n" + NOTICE


def test_a_line_is_never_split() -> None:
    """Drop a long line, because a mention inside half of a code span would notify people."""
    assert shorten("first\n`" + "@amy " * 99 + "`\n", 99) == "first\n" + NOTICE
    assert shorten("x" * 100, 10 + len(NOTICE)) == NOTICE


def test_the_room_is_counted_by_the_measure() -> None:
    text = "é\n" * 40
    assert shorten(text, 6 + len(NOTICE)) == "é\n" * 3 + NOTICE
    assert shorten(text, 6 + len(NOTICE), measure=count_bytes) == "é\n" * 2 + NOTICE


def test_without_room_for_the_notice_nothing_is_left() -> None:
    assert shorten("x" * 100, len(NOTICE) - 1) == ""
    assert shorten("x" * 100, -5) == ""
    assert shorten("x" * 100, len(NOTICE)) == NOTICE


LINES = st.lists(
    st.sampled_from(
        [
            "text",
            "```",
            "~~~",
            "````",
            "<details>",
            "</details>",
            "<!--",
            "-->",
            "  ```sh",
            "`x`",
            "ä" * 9,
            "",
        ]
    ),
    max_size=40,
)


@pytest.mark.parametrize("measure", [len, count_bytes])
@given(lines=LINES, room=st.integers(0, 200))
def test_properties_fits_and_keeps_a_prefix(
    measure: Callable[[str], int], lines: list[str], room: int
) -> None:
    text = "\n".join(lines)
    result = shorten(text, room, measure=measure)
    assert measure(result) <= max(room, 0)
    if result == text:
        return
    assert result in {"", NOTICE} or result.endswith(NOTICE)
    body = result.removesuffix(NOTICE)
    assert re.sub(r"(?:[ ]*[`~]+\n)?(?:-->\n)?(?:\n</details>\n)*\Z", "", body) in text + "\n"
    assert shorten(result, room, measure=measure) == result
