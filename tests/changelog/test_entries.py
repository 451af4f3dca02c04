from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx import schema
from infx.changelog.blocks import parse_blocks
from infx.changelog.entries import read_fields
from infx.errors import ProblemsError
from tests.changelog.samples import BASE, entry, link, new


def test_blocks_are_spans_of_the_file() -> None:
    head = BASE + new("XXX") + new("XXX", key="b")
    blocks = parse_blocks(head, "p", len(BASE))
    assert [block.data for block in blocks] == [entry("XXX"), entry("XXX", key="b")]
    assert [head[block.start : block.end] for block in blocks] == [entry("XXX"), entry("XXX", key="b")]
    assert [block.line() for block in blocks] == [7, 13]
    assert [block.line("pr-link") for block in blocks] == [11, 17]
    assert [block.link for block in blocks] == ["XXX", "XXX"]


@pytest.mark.parametrize("text", ['"é"', '"新增"', '"😀 and 新"', '"plain"'])
def test_offsets_count_bytes(text: str) -> None:
    head = BASE + new("XXX", text=text) + new("YYY", text=text)
    for block, expected in zip(parse_blocks(head, "p", len(BASE)), [b"XXX", b"YYY"], strict=True):
        located = block.find("pr-link")
        assert located is not None
        key, value = located
        assert head[key : key + 7] == b"pr-link"
        assert head[value.start : value.end] == expected
        (description,) = block.items("description")
        assert head[description.start : description.end] == text.encode()


@pytest.mark.parametrize(
    ("value", "text", "rest", "plain"),
    [
        ("XXX", "XXX", "", True),
        ("XXX # why", "XXX", "# why", True),
        ('"XXX"  ', '"XXX"', "", False),
        ("'XXX'", "'XXX'", "", False),
        ("|-\n    XXX", "|-\n    XXX", "", False),
        (">-\n    XXX\n", ">-\n    XXX", "", False),
        ("XX\n    X", "XX\n    X", "", True),
        ("", "", "", True),
        ("# why", "", "# why", True),
        ("[a, b] # c", "[a, b]", "# c", False),
    ],
)
def test_the_end_of_a_value(value: str, text: str, rest: str, plain: bool) -> None:
    head = BASE + new(value)
    (block,) = parse_blocks(head, "p", len(BASE))
    located = block.find("pr-link")
    assert located is not None
    _, link_value = located
    assert head[link_value.start : link_value.end].decode() == text
    assert (link_value.rest.decode(), link_value.plain) == (rest, plain)


@pytest.mark.parametrize(
    ("appended", "line"),
    [
        (b"\n---\n" + entry(), 7),
        (new() + b"...\n", 13),
        (b"\n  - config-keys: [a]\n", 7),
        (b"    more of the last text\n", 6),
        (new(text='"open'), 10),
        (b"\n-\n  config-keys: [a]\n", 8),
        (b"\n[{config-keys: [a]}]\n", 7),
        (b"\nnot a list\n", 7),
    ],
)
def test_text_that_cannot_continue_a_list_is_refused(appended: bytes, line: int) -> None:
    with pytest.raises(ProblemsError) as error:
        parse_blocks(BASE + appended, "p", len(BASE))
    assert [problem.line for problem in error.value.problems] == [line]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from(["", "a", "fixed-seq-len", "agentic-coding"]),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
GOOD = {
    "config-keys": st.just(["a"]),
    "description": st.just(["b", "c"]),
    "pr-link": st.just("XXX"),
    "scenario-type": st.just(["fixed-seq-len"]),
    "evals-only": st.booleans(),
    "all-evals": st.booleans(),
    "no-evals": st.booleans(),
    "append-only": st.booleans(),
    "eval-min-prefill-ep": st.integers(0, 3),
}
ENTRIES = st.fixed_dictionaries(
    {}, optional={**{key: good | VALUES for key, good in GOOD.items()}, "unknown": VALUES}
)


@given(ENTRIES | VALUES)
def test_properties_quick_reading_agrees_with_the_schema(value: Any) -> None:
    checked = {**value, "pr-link": ""} if isinstance(value, dict) else value
    assert (read_fields(value, line=1) is not None) == schema.is_valid("changelog-entry", checked)


@pytest.mark.shared
def test_real_history_is_split_completely(shared: Path) -> None:
    data = (shared / "inferencex" / "perf-changelog.yaml").read_bytes()
    blocks = parse_blocks(data, "p")
    assert len(blocks) == 772
    position = 0
    for block in blocks:
        assert not data[position : block.start].strip()
        assert block.data.startswith(b"- config-keys:")
        position = block.end
    assert not data[position:].strip()


def test_a_link_is_found_by_its_key_not_by_its_text() -> None:
    head = BASE + new("XXX", text=f'"see pr-link: {link(3)}"')
    (block,) = parse_blocks(head, "p", len(BASE))
    assert block.link == "XXX"
