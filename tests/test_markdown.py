"""Tasks, paragraphs, links and commands of a comment, outside of quotes, code and hidden HTML."""

from __future__ import annotations

import html.parser

import cmarkgfm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.markdown import BlockKind, find_command_lines, parse_markdown


def tasks(source: str) -> list[tuple[str, bool]]:
    return [(block.text, block.checked) for block in parse_markdown(source) if block.is_task]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("- [x] a", [("a", True)]),
        ("- [ ] a", [("a", False)]),
        ("* [X] a", [("a", True)]),
        ("+ [x] a", [("a", True)]),
        ("1. [x] a\n2) [x] b", [("a", True), ("b", True)]),
        ("- [x] a\n  - [X] b\n    1. [ ] c", [("a", True), ("b", True), ("c", False)]),
        ("- [x] a\r\n- [ ] b\r\n", [("a", True), ("b", False)]),
        ("- [x] **Lead.** with `code` and [text](https://e.com/x)", [("Lead. with code and text", True)]),
        ("- [x] wrapped\n  line", [("wrapped\nline", True)]),
        ("<details>\n\n- [x] a\n\n</details>", [("a", True)]),
        ("- [ x ] a", []),
        ("- [] a", []),
        ("- (x) a", []),
        ("- [x]a", []),
        ("- [x]", []),
        ("- \\[x] a", []),
        ("[x] a", []),
        ("> - [x] a", []),
        ("```\n- [x] a\n```", []),
        ("~~~md\n- [x] a\n~~~", []),
        ("    - [x] a", []),
        ("<!--\n- [x] a\n-->", []),
        ("<!--\n\n- [x] a\n\n", []),
        ("<details>\n- [x] a\n</details>", []),
        ("<blockquote>\n\n- [x] a\n\n</blockquote>\n\n- [x] b", [("b", True)]),
        ("<pre>\n\n- [x] a\n\n</pre>", []),
        ("- - [x] a", []),
    ],
)
def test_tasks(source: str, expected: list[tuple[str, bool]]) -> None:
    assert tasks(source) == expected


def test_line_depth_and_parent() -> None:
    blocks = parse_markdown("# T\n\ntext\n\n- [x] a\n  - [ ] b\n\n    more\n- [x] c\n")
    seen = [(block.kind, block.text, block.line, block.depth, block.item, block.parent) for block in blocks]
    assert seen == [
        (BlockKind.HEADING, "T", 1, 0, 0, 0),
        (BlockKind.PARAGRAPH, "text", 3, 0, 0, 0),
        (BlockKind.TASK, "a", 5, 1, 1, 0),
        (BlockKind.TASK, "b", 6, 2, 2, 1),
        (BlockKind.ITEM, "more", 8, 2, 2, 1),
        (BlockKind.TASK, "c", 9, 1, 3, 0),
    ]


@pytest.mark.parametrize(
    ("source", "lead"),
    [
        ("- [x] **Sweep.** ran", "Sweep."),
        ("**A b** c", "A b"),
        ("a **b**", ""),
        ("- [ ] __X__ y", "X"),
        ("-", ""),
    ],
)
def test_lead(source: str, lead: str) -> None:
    assert [block.lead for block in parse_markdown(source)] in ([lead], [])


def test_links() -> None:
    (block,) = parse_markdown(
        "see [a](https://e.com/1), <https://e.com/2>, https://e.com/3. `https://e.com/4`"
    )
    assert block.links == ("https://e.com/1", "https://e.com/2", "https://e.com/3", "https://e.com/4")


@pytest.mark.parametrize(
    ("source", "commands"),
    [
        ("/reuse-sweep-run 42\r\nthanks", ["/reuse-sweep-run 42", "thanks"]),
        ("  /use 42  ", ["/use 42"]),
        ("Usage:\n```\n/reuse-sweep-run 42\n```", ["Usage:"]),
        ("<!--\n/reuse-sweep-run 9\n-->", []),
        ("text <!--\n/reuse-sweep-run 9\n-->", ["text"]),
        ("    /reuse-sweep-run 42", []),
        ("\t/use 1", []),
        ("> /use 1", []),
        ("- /use 1", []),
        ("`/use 1`", ["`/use 1`"]),
        ("**/use 1**", ["**/use 1**"]),
        ("[/use 1](https://e.com)", ["[/use 1]"]),
        ("# /use 1", []),
    ],
)
def test_command_lines(source: str, commands: list[str]) -> None:
    assert [line for line in find_command_lines(source) if line] == commands


class _Boxes(html.parser.HTMLParser):
    """Return the states of the checkboxes that GitHub's own renderer makes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "input":
            self.found.append(any(name == "checked" for name, _ in attrs))

    handle_startendtag = handle_starttag


LINE = st.builds(
    lambda indent, marker, box, text: " " * indent + marker + box + text,
    st.integers(0, 6),
    st.sampled_from(["- ", "* ", "+ ", "1. ", "2) ", "", "> ", "```", "<!-- ", "-->", "~~~", "# "]),
    st.sampled_from(["[x] ", "[X] ", "[ ] ", "[] ", "[ x ] ", "(x) ", "", "\\[x] "]),
    st.sampled_from(["a", "b c", "`d`", "**f**", "e <!-- g -->"]),
)


@given(st.lists(LINE, max_size=10).map("\n".join))
def test_properties_tasks_are_those_that_github_renders(source: str) -> None:
    # Every task has a box on GitHub. A task after a line that is indented like code may be missed.
    boxes = _Boxes()
    boxes.feed(cmarkgfm.github_flavored_markdown_to_html(source))
    found = [checked for _, checked in tasks(source)]
    rendered = iter(boxes.found)
    assert all(checked in rendered for checked in found)  # a subsequence
    assert "    " in source or found == boxes.found


@given(st.text("- [x]\n>`*#1.ab<!/", max_size=60))
def test_properties_any_text_can_be_read(source: str) -> None:
    blocks = parse_markdown(source)
    assert all(1 <= block.line <= source.count("\n") + 1 for block in blocks)
