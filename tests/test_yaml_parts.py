"""Parsing some entries of a file gives what parsing the whole file gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx import yaml12
from infx.errors import ProblemsError
from infx.yaml_parts import load_parts

PLAIN = """\
# Configurations
one:
  image: vllm/vllm-openai:v0.11  # a release
  router: { name: sglang-router, version: "0.3.2" }
  scenarios:
    fixed-seq-len:
    - isl: 1024
      search-space:
      - { tp: 4, conc-start: 4, conc-end: 64 }
      - { tp: 8, backend: { name: lmcache, version: "0.4.5" }, conc-list: [1, 2] }
    - isl: 8192
      search-space: []

two:
  image: nvcr.io#nvidia/release:1.3
  settings:
    - "A=1"
    - 'B=2'
three: { tp: 8 }
"""


def state(data: bytes, wanted: frozenset[str], load: Any) -> Any:
    """Return all that a caller can see: problems, or keys and lines, and the values of the wanted keys."""
    try:
        document = load()
    except ProblemsError as error:
        return error.problems
    nodes = {key.value: (key, value) for key, value in document.root.value}
    lines = {key: document.line(key) for key in document.value}
    parts = {
        key: (value, list_lines(nodes[key][1])) for key, value in document.value.items() if key in wanted
    }
    return lines, parts, list(lines), list(parts)


def list_lines(node: Any) -> Any:
    """Return the line of a node and of all nodes below it."""
    below = node.value if isinstance(node.value, list) else []
    children = [child for item in below for child in (item if isinstance(item, tuple) else (item,))]
    return node.start_mark.line, list(map(list_lines, children))


def check_equal(data: bytes, wanted: frozenset[str]) -> None:
    whole = state(data, wanted, lambda: yaml12.load_mapping(data, "c.yaml"))
    assert state(data, wanted, lambda: load_parts(data, "c.yaml", wanted)) == whole


def test_a_plain_file_is_parsed_in_part() -> None:
    document = load_parts(PLAIN.encode(), "c.yaml", {"two"})
    assert document.value == {
        "one": None,
        "two": {"image": "nvcr.io#nvidia/release:1.3", "settings": ["A=1", "B=2"]},
        "three": None,
    }
    assert document.line("two", "settings", 1) == 18
    assert document.line("three") == 19


# In each of these, a line of another key is a problem, or changes where the wanted one starts or what it means.
UNPLAIN = {
    "a repeated key": "x:\n  a: 1\n  b: 2\n  a: 3\ntwo: 1\n",
    "a repeated key after a list": "x:\n  a:\n  - b: 1\n  a: 3\ntwo: 1\n",
    "a repeated key of an item": "x:\n  - a: 1\n    a: 2\ntwo: 1\n",
    "a repeated key in braces": "x: { a: 1, a: 2 }\ntwo: 1\n",
    "a repeated key in inner braces": "x: { a: 1, b: { c: 1, c: 2 } }\ntwo: 1\n",
    "a repeated key of an item in braces": "x:\n  - { a: 1, a: 2 }\ntwo: 1\n",
    "a repeated top-level key": "two: 1\nx: 2\ntwo: 3\n",
    "a repeated unwanted key": "two: 1\nx: 2\nx: 3\n",
    "an alias": "x: &a 1\ntwo: *a\n",
    "an unknown alias": "x: *a\ntwo: 1\n",
    "a merge key": "x:\n  <<: {a: 1}\ntwo: 1\n",
    "a tag": "x: !!int 1\ntwo: 1\n",
    "a key that is not text": "x:\n  1: a\ntwo: 1\n",
    "null as a key": "x:\n  null: a\ntwo: 1\n",
    "a boolean key in braces": "x: { true: 1 }\ntwo: 1\n",
    "a boolean top-level key": "true: 1\ntwo: 1\n",
    "a document marker": "x: 1\n---\ntwo: 1\n",
    "the end of a document": "x: 1\n...\ntwo: 1\n",
    "a directive": "%YAML 1.2\n---\ntwo: 1\n",
    "a tab": "x:\n\ta: 1\ntwo: 1\n",
    "wrong indentation": "x:\n   a: 1\n  b: 2\ntwo: 1\n",
    "a value below a value": "x: 1\n  a: 2\ntwo: 1\n",
    "a quote that is not closed": "x: 'a\ntwo: 1\n",
    "a key within a quoted text": "x: 'a\ntwo: 1'\n",
    "a key within a block of text": "x: |\n  two: 3\ntwo: 1\n",
    "a text on several lines": "x: a\n  b\ntwo: 1\n",
    "braces on several lines": "x: { a: 1,\n  two: 3 }\ntwo: 1\n",
    "an escape": 'x: "\\q"\ntwo: 1\n',
    "a list as the root": "- x\n- two: 1\n",
    "text as the root": "two\n",
    "nothing": "# only a comment\n",
    "a carriage return": "x: 1 # a\rtwo: 3\ntwo: 1\n",
    "a control character": "x: 1 # \x01\ntwo: 1\n",
    "NUL": "x: 1 # \0\ntwo: 1\n",
    "a byte order mark": "\ufeffx: 1\ntwo: 1\n",
    "a line separator": "x: 1 # \u2028\ntwo: 1\n",
    "deep nesting": "".join(f"{' ' * depth}a:\n" for depth in range(70)) + "two: 1\n",
    "deep brackets": f"x: {'[' * 70}{']' * 70}\ntwo: 1\n",
}


@pytest.mark.parametrize("text", UNPLAIN.values(), ids=UNPLAIN)
def test_a_file_of_another_form_is_parsed_as_a_whole(text: str) -> None:
    check_equal(text.encode(), frozenset({"two"}))
    check_equal(text.encode(), frozenset())


def test_bytes_that_are_not_utf_8_are_refused_in_every_line() -> None:
    check_equal(b"x: 1 # \xff\ntwo: 1\n", frozenset({"two"}))


def test_a_problem_of_a_wanted_key_is_reported_with_all_others() -> None:
    check_equal(b"one:\n  a: 1\n  a: 2\ntwo:\n  b: 1\n  b: 2\n", frozenset({"two"}))


LINES = st.sampled_from(
    [
        *PLAIN.splitlines(),
        *"\n".join(UNPLAIN.values()).splitlines(),
        "",
        "  b: 1",
        "    c:",
        "  - d: 2",
        "   e: x",
    ]
)


@st.composite
def make_texts(draw: st.DrawFn) -> str:
    """Change some lines of a plain file."""
    lines = PLAIN.splitlines()
    for _ in range(draw(st.integers(0, 4))):
        index = draw(st.integers(0, len(lines) - 1))
        change = draw(st.sampled_from(["insert", "replace", "remove", "repeat", "indent", "outdent"]))
        if change == "insert":
            lines.insert(index, draw(LINES))
        elif change == "replace":
            lines[index] = draw(LINES)
        elif change == "remove" and len(lines) > 1:
            del lines[index]
        elif change == "repeat":
            lines.insert(index, lines[index])
        elif change == "indent":
            lines[index] = " " * draw(st.integers(1, 3)) + lines[index]
        else:
            lines[index] = lines[index].removeprefix(" " * draw(st.integers(1, 3)))
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


WANTED = st.frozensets(st.sampled_from(["one", "two", "three", "x", "other"]))


@given(text=make_texts(), wanted=WANTED)
def test_properties_changed_files_are_parsed_alike(text: str, wanted: frozenset[str]) -> None:
    check_equal(text.encode(), wanted)


@given(text=st.lists(LINES, max_size=12).map("\n".join), wanted=WANTED)
def test_properties_any_lines_are_parsed_alike(text: str, wanted: frozenset[str]) -> None:
    check_equal(text.encode(), wanted)


@given(text=st.text(alphabet="ab: -{}[],'\"#&*!|\n", max_size=40), wanted=WANTED)
def test_properties_any_text_is_parsed_alike(text: str, wanted: frozenset[str]) -> None:
    check_equal(f"{text}\ntwo: 1\n".encode(), wanted)


@pytest.mark.shared
def test_real_configurations_are_parsed_in_part(shared: Path) -> None:
    paths = sorted((shared / "inferencex/configs").glob("*-master.yaml"))
    assert paths
    for path in paths:
        data = path.read_bytes()
        keys = list(yaml12.load_mapping(data, "c.yaml").value)
        assert set(load_parts(data, "c.yaml", ()).value.values()) == {None}
        for start in range(0, len(keys), 40):
            check_equal(data, frozenset(keys[start : start + 2]))
