from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infx import yaml12
from infx.errors import Problem, ProblemsError


def problems_of(data: bytes, **options: Any) -> list[Problem]:
    with pytest.raises(ProblemsError) as caught:
        yaml12.load(data, "f.yaml", **options)
    return caught.value.problems


# The core schema of YAML 1.2, chapter 10.3, plus integers with underscores.
SCALARS = [
    ("", None), ("~", None), ("null", None), ("NULL", None), ("nULL", "nULL"),
    ("true", True), ("True", True), ("FALSE", False), ("tRUE", "tRUE"),
    ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"), ("N", "N"),
    ("0", 0), ("-0", 0), ("42", 42), ("+7", 7), ("-7", -7), ("010", 10), ("0o17", 15), ("0x1F", 31), ("0b1", "0b1"),
    ("1_000", 1000), ("2_063_837", 2_063_837), ("1__0", "1__0"), ("_1", "_1"), ("1_", "1_"),
    ("123456789012345678", 123456789012345678), ("1234567890123456789", 1234567890123456789.0),
    ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("-1.5E-2", -0.015), ("1e9999", "1e9999"),
    ("1e308", 1e308), ("1e309", "1e309"),
    (".inf", ".inf"), (".nan", ".nan"), ("1.2.3", "1.2.3"), ("1:30", "1:30"), ("12:30:45", "12:30:45"),
    ("2026-01-02", "2026-01-02"), ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"), ("-", "-"), ("=", "="),
    ("0.16.1", "0.16.1"), ("v1", "v1"), ("٣", "٣"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_plain_scalar_follows_yaml_1_2(text: str, value: object) -> None:
    parsed = yaml12.parse_plain_scalar(text)
    assert (parsed, type(parsed)) == (value, type(value))


def test_quoted_scalars_stay_text() -> None:
    assert yaml12.load(b'["1", \'true\', "", !!str 5]', "f").value == ["1", "true", "", "5"]


def test_reads_every_kind_of_node() -> None:
    data = b"a: &x {b: [1, 2.5, yes]}\nc: *x\nd: |\n  two\n  lines\ne:\n"
    shared = {"b": [1, 2.5, "yes"]}
    assert yaml12.load(data, "f").value == {"a": shared, "c": shared, "d": "two\nlines\n", "e": None}


REFUSED = [
    (b"a: 1\nb: 2\na: 3\n", "yaml-duplicate-key", 3, 'The key "a" occurs twice, on lines 1 and 3.'),
    (b"x:\n  - {k: 1,\n     k: 2}\n", "yaml-duplicate-key", 3, 'The key "k" occurs twice, on lines 2 and 3.'),
    (b"a: 1\n'a': 2\n", "yaml-duplicate-key", 2, 'The key "a" occurs twice, on lines 1 and 2.'),
    (b"a: 1\n1: 2\n", "yaml-key", 2, "The key 1 is not text."),
    (b"true: 2\n", "yaml-key", 1, "The key true is not text."),
    (b"? \n: 2\n", "yaml-key", 1, "The key null is not text."),
    (b"? [a]\n: 1\n", "yaml-key", 1, "A key must be text, not a list or a mapping."),
    (b"a: {{ x }}\n", "yaml-key", 1, "A key must be text, not a list or a mapping."),
    (b"a: {b: 1}\nc:\n  <<: {d: 1}\n", "yaml-merge-key", 3, "Merge keys (<<) are not YAML 1.2."),
    (b"a: !!int 5\n", "yaml-tag", 1, "The tag !!int is not allowed."),
    (b"a: !!python/object/apply:os.system [x]\n", "yaml-tag", 1,
     "The tag !!python/object/apply:os.system is not allowed."),
    (b"a: 1\n!own b: 1\n", "yaml-tag", 2, "The tag !own is not allowed."),
    (b"a: 1\n---\nb: 1\n", "yaml-documents", 2, "A second document starts here; expected one."),
    (b"\xef\xbb\xbfa: 1\n", "yaml-bom", 1, "The file starts with a byte order mark."),
    (b"a: 1\nb: \0\n", "yaml-nul", 2, "A NUL byte is not allowed."),
    (b"a: 1\nb: \xff\n", "yaml-utf8", 2, "Byte 0xff is not UTF-8."),
    (b"a: \xed\xa0\xbd\n", "yaml-utf8", 1, "Byte 0xed is not UTF-8."),
    ("a: 1\nb: x\u2028y\n".encode(), "yaml-separator", 2, "An invisible line separator (U+2028) is not allowed."),
    ("a: \x85\n".encode(), "yaml-separator", 1, "An invisible line separator (U+0085) is not allowed."),
    (b"a: &x [1, *x]\n", "yaml-alias", 1, "An anchor contains an alias of itself."),
    (b"a: 1\nb: *nowhere\n", "yaml-syntax", 2, "This is not YAML: found undefined alias."),
    (b"a: 1\nb: c: d\n", "yaml-syntax", 2, "This is not YAML: mapping values are not allowed in this context."),
    (b"a: 1\nb: \x07\n", "yaml-syntax", 2,
     "This is not YAML: unacceptable character #x0007: control characters are not allowed."),
]  # fmt: skip


@pytest.mark.parametrize(("data", "rule", "line", "message"), REFUSED)
def test_refuses_with_rule_line_and_message(data: bytes, rule: str, line: int, message: str) -> None:
    (problem,) = problems_of(data)
    assert (problem.rule, problem.line, problem.message, problem.path) == (rule, line, message, "f.yaml")


def test_a_tab_as_indentation_is_named() -> None:
    (problem,) = problems_of(b"a:\n  b: 1\n\tc: 2\n")
    assert (problem.line, problem.hint) == (3, "Indent with spaces instead of tabs.")


def test_all_problems_of_bytes_or_keys_are_reported_at_once() -> None:
    assert [p.rule for p in problems_of(b"\xef\xbb\xbfa: \0\xff\n")] == ["yaml-bom", "yaml-nul", "yaml-utf8"]
    assert [p.line for p in problems_of(b"a: 1\na: 2\n3: x\nb: !t x\n")] == [2, 3, 4]


def test_keys_can_be_read_as_text() -> None:
    data = b"thinking_on: {1: 1.9, 2: 2.5, true: 3}\n"
    assert yaml12.load(data, "f", text_keys=True).value == {"thinking_on": {"1": 1.9, "2": 2.5, "true": 3}}


def test_text_keys_still_refuse_duplicates() -> None:
    assert [p.rule for p in problems_of(b"1: a\n1: b\n", text_keys=True)] == ["yaml-duplicate-key"]


BOMBS = {
    "billion laughs": b"a0: &a0 [x, x]\n"
    + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 60)),
    "wide": b"a: &a [" + b"x, " * 2000 + b"]\nb: [" + b"*a, " * 2000 + b"]\n",
    "in keys": b"a: &a {k: v}\n" + b"b: &b [*a, *a]\n" + b"".join(b"c%d: [*b, *b]\n" % i for i in range(10)),
}


@pytest.mark.parametrize("name", ["billion laughs", "wide"])
def test_exploding_aliases_are_refused_in_milliseconds(name: str) -> None:
    start = time.process_time()
    (problem,) = problems_of(BOMBS[name])
    assert time.process_time() - start < 0.5  # expanded, the first would have 9^60 values
    assert problem.rule == "yaml-alias"
    assert problem.message == "The aliases expand to more than 2,000,000 values."
    assert problem.line is not None


def test_modest_aliases_pass() -> None:
    assert len(yaml12.load(BOMBS["in keys"], "f").value) == 12


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"[" * 64 + b"]" * 64, None),
        (b"[" * 65 + b"]" * 65, 1),
        (b"a:\n" + b"".join(b" " * i + b"- \n" for i in range(1, 80)), 64),  # the list that contains the 65th
    ],
)
def test_depth_is_bounded(data: bytes, line: int | None) -> None:
    if line is None:
        yaml12.load(data, "f.yaml")
        return
    (problem,) = problems_of(data)
    assert (problem.rule, problem.line) == ("yaml-depth", line)


def test_absurd_depth_does_not_crash() -> None:
    assert [p.rule for p in problems_of(b"[" * 200_000)] == ["yaml-syntax"]
    assert [p.rule for p in problems_of(b"- " * 100_000)] == ["yaml-depth"]


@pytest.mark.parametrize(
    ("data", "root"),
    [(b"", "nothing"), (b"# only a comment\n", "nothing"), (b"- a\n", "a list"), (b"word\n", "text")],
)
def test_a_root_that_is_not_a_mapping_is_named(data: bytes, root: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        yaml12.load_mapping(data, "f.yaml")
    assert str(caught.value) == f"f.yaml:1: The file holds {root}; expected a mapping."


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 2),
        (("a", "b"), 3),
        (("a", "b", 1), 5),
        (("a", "b", 1, "c"), 5),
        (("a", "b", 1, "d"), 6),
        (("a", "b", 9), 3),  # no such item: the line of its list
        (("a", "nope", "deeper"), 2),
        (("a", "b", "word"), 3),
        ((), 2),
    ],
)
def test_lines_of_keys_and_items(path: tuple[str | int, ...], line: int) -> None:
    document = yaml12.load(b"# title\na:\n  b:\n    - 1\n    - c: 1\n      d: 2\n", "f.yaml")
    assert document.line(*path) == line


def test_whole_floats_are_remembered() -> None:
    assert yaml12.load(b"a: 8.0\n", "f").has_whole_floats
    assert not yaml12.load(b"a: [8, 8.5, '8.0']\n", "f").has_whole_floats


def test_top_level_keys_without_building() -> None:
    data = b"# c\none: {a: 1, b: [x, {c: d}]}\n'two':\n  - three: 3\nfour: &x\n  k: v\nfive: *x\nsix:\n"
    assert yaml12.find_top_level_keys(data, "f") == {"one": 2, "two": 3, "four": 5, "five": 7, "six": 8}
    assert yaml12.find_top_level_keys(b"", "f") == {}


@pytest.mark.parametrize(
    ("data", "rule", "line"),
    [
        (b"- a\n", "yaml-root", 1),
        (b"\nword\n", "yaml-root", 2),
        (b"a: 1\n---\nb: 2\n", "yaml-documents", 2),
        (b"a: [\n", "yaml-syntax", 1),
        (b"a: \xff\n", "yaml-utf8", 1),
    ],
)
def test_top_level_keys_of_other_documents_are_refused(data: bytes, rule: str, line: int) -> None:
    with pytest.raises(ProblemsError) as caught:
        yaml12.find_top_level_keys(data, "f.yaml")
    assert [(p.rule, p.line) for p in caught.value.problems] == [(rule, line)]


# Without the characters that YAML escapes and JSON does not: C1 controls, separators, the byte order mark.
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Zl", "Zp"], exclude_characters="\x7f\ufeff\ufffe\uffff").filter(
        lambda c: not "\x80" <= c <= "\x9f"
    ),
    max_size=8,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a: 1\nb: 2\na: 3\n", 42),
        (b"a: 1\n\tb: 2\n", 41),
        (b"a: [\n", 40),
        (b"a: 1\nb: !tag 2\n", 41),
        (b"a: 1\n---\nb: 2\n", 41),
        (b"a: 1\nb: '\0'\n", 41),
    ],
)
def test_problems_of_a_part_have_the_lines_of_the_file(data: bytes, line: int) -> None:
    (problem,) = problems_of(data, first_line=40)
    assert problem.line == line
    if problem.rule == "yaml-duplicate-key":
        assert "on lines 40 and 42" in problem.message
    assert yaml12.load(b"a:\n  b: 1\n", "f", first_line=40).line("a", "b") == 41


@pytest.mark.parametrize("data", [b'a: "open\nb: 1\nc: 2\n', b"a: 1\n[b\n"])
def test_an_unclosed_text_or_list_is_reported_at_its_start(data: bytes) -> None:
    (problem,) = problems_of(data)
    assert problem.line == (1 if b"open" in data else 2)


@given(JSON)
def test_properties_json_is_yaml(value: Any) -> None:
    """Read JSON, which is valid YAML 1.2, without losing a value."""
    assert yaml12.load(json.dumps(value, ensure_ascii=False).encode(), "f").value == value


@given(st.binary(max_size=200) | st.text("ab:-{}[]&*!|>'\"#%@,?\n\t 01.<~", max_size=200).map(str.encode))
@example(b"%TAG ! tag:x,2000:\n---\n!a b\n")
@example(b"---")
def test_properties_any_bytes_give_a_value_or_problems(data: bytes) -> None:
    lines = data.count(b"\n") + data.count(b"\r") + 1
    for read in (yaml12.load, yaml12.find_top_level_keys):
        try:
            read(data, "f.yaml")
        except ProblemsError as error:
            problem_lines = [problem.line for problem in error.problems]
        else:
            continue
        assert problem_lines
        assert all(line is not None and 1 <= line <= lines for line in problem_lines)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", {"a": 1, "b": 1, "c": 2, "d": 2}),
        ("a: &x [1]\nb: &x {k: 2}\nc: *x\n", {"a": [1], "b": {"k": 2}, "c": {"k": 2}}),
        ("a: &x\n  b: &x 2\n  c: *x\nd: *x\n", {"a": {"b": 2, "c": 2}, "d": 2}),
        ('a: &x "1"\nb: &x\nc: *x\n', {"a": "1", "b": None, "c": None}),
    ],
)
def test_an_anchor_that_is_set_twice_has_its_last_value(text: str, value: object) -> None:
    document = yaml12.load(text.encode(), "a.yml")
    assert document.value == value
    assert document.line(*list(document.value)[-1:]) == text.count("\n")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("a: &x 1\nb: &x 2\nb: 3\n", "yaml-duplicate-key"),
        ("a: &x 1\nb: &x {c: *x}\nd: *y\n", "yaml-syntax"),
        ("a: &x 1\nb: &x [*x]\n", "yaml-alias"),
        ("a: &x 1\nb: &x 2\n---\nc: 3\n", "yaml-documents"),
        ("a: &x 1\nb: &x " + "[" * 70 + "]" * 70 + "\n", "yaml-depth"),
        ("a: &x 1\nb: &x !!python/none 2\n", "yaml-tag"),
    ],
)
def test_after_a_repeated_anchor_other_problems_are_refused(text: str, rule: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        yaml12.load(text.encode(), "a.yml")
    assert [problem.rule for problem in caught.value.problems] == [rule]
