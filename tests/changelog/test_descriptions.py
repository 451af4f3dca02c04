"""A description is refused if YAML drops a part of it, or if its end depends on the lines after it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.changelog.merge import verify
from tests.changelog.samples import BASE, KEY, errors, judge, link, new, words

START = f"\n- config-keys:\n    - {KEY}\n  description:\n".encode()
END = b"  pr-link: XXX\n"


def head(text: str) -> bytes:
    """Return a changelog whose last entry has these lines as description; the first of them is line 10."""
    return BASE + START + text.encode() + END


@pytest.mark.parametrize(
    ("text", "line", "taken"),
    [
        ("    - Fix the issue #123 in the launcher\n", 10, "#123 in the launcher"),
        ("    - Fix the issue\n      #123 in the launcher\n", 11, "#123 in the launcher"),
        ("    - Fix the issue\n      # 123 in the launcher\n", 11, "# 123 in the launcher"),
        ("    - Fix the issue\n\n      #foo\n", 12, "#foo"),
        ("    - Fix the issue\n    #123 in the launcher\n", 11, "#123 in the launcher"),
        ("    - Fix the issue\n  #123 in the launcher\n    - more\n", 11, "#123 in the launcher"),
        ("    - Fix\n      the issue\n      #foo\n    - more\n", 12, "#foo"),
        ("    - Fix\n      the issue #foo\n", 11, "#foo"),
        ("  - Fix the issue\n    #foo\n", 11, "#foo"),
        ("    - |\n      Fix the issue\n    #123 in the launcher\n", 12, "#123 in the launcher"),
        ("    - |\n      Fix the issue\n     # in the launcher\n", 12, "# in the launcher"),
        ("    - > # 123\n      Fix the issue\n", 10, "# 123"),
        ("    - | #foo\n      Fix the issue\n", 10, "#foo"),
        ("    - # the launcher\n      Fix the issue\n", 10, "# the launcher"),
        ('    - "one"\n    - # the launcher\n      Fix the issue\n', 11, "# the launcher"),
        ('    - "Fix the issue" #123\n', 10, "#123"),
        ('    - "Fix the issue" #foo\n', 10, "#foo"),
        ("    - 'Fix the issue'\n      #123\n", 11, "#123"),
        ("    - !!str Fix the issue\n", 10, "!!str"),
        ("    - &amp Fix the issue\n", 10, "&amp"),
        ('    - &amp "Fix the issue"\n', 10, "&amp"),
    ],
)
def test_text_that_yaml_drops_is_refused(text: str, line: int, taken: str) -> None:
    verdict = judge(BASE, head(text))
    assert errors(verdict) == [("description-cut", line)]
    assert f"`{taken}` is not a part of it" in words(verdict)


def test_text_that_yaml_drops_in_a_bracketed_list_is_refused() -> None:
    text = BASE + START.replace(b"description:\n", b"description: [Fix the issue\n    #foo\n    , b]\n") + END
    assert errors(judge(BASE, text)) == [("description-cut", 10)]


@pytest.mark.parametrize(
    "text",
    [
        '    - "Fix #123"   # a note\n',
        '    - "Fix"\n    # a note\n    - "more"\n',
        "    - Fix the issue\n    # a note\n    - more\n  # a note\n",
        "    # a note\n    - Fix the issue\n",
        "    - Fix the#issue\n",
        "    - |\n      Fix\n      #123\n\n      # heading\n",
        "    - >-\n      Fix #123\n",
        '    - "Fix\n      #123"\n',
    ],
)
def test_notes_and_quoted_numbers_are_accepted(text: str) -> None:
    assert errors(judge(BASE, head(text))) == []


LINE = st.text(alphabet="ab#1 &!-", min_size=1, max_size=8).filter(lambda line: line.strip())


@given(st.lists(LINE, min_size=1, max_size=3), st.sampled_from([5, 6, 8]))
def test_properties_a_valid_text_is_the_whole_text(lines: list[str], indent: int) -> None:
    """Compare all text after or right of the dash, except blanks, with the text that YAML reads, unless refused."""
    raw = ("\n" + " " * indent).join(lines)
    verdict = judge(BASE, head(f"    - {raw}\n"))
    if verdict.ok:
        texts = verdict.blocks[0].fields["description"]
        assert "".join("".join(texts).split()) == "".join(raw.split())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("    - |+\n      text\n", 8),
        ("    - >+\n      text\n", 8),
        ("    - |2+\n        text\n", 8),
        ("    - |+2\n        text\n", 8),
        ("    - one\n    - |+\n      text\n", 9),
        ("    -\n      |+\n      text\n", 9),
    ],
)
def test_a_text_that_includes_later_empty_lines_is_refused(text: str, line: int) -> None:
    """Put the description last, so that the next append adds an empty line to it."""
    entry = f"\n- config-keys: [{KEY}]\n  pr-link: XXX\n  description:\n{text}".encode()
    verdict = judge(BASE, BASE + entry)
    assert [error for error in errors(verdict) if error[0] == "text-open"] == [("text-open", line + 2)]
    assert verdict.blocks[0].meaning != judge(BASE, BASE + entry + new()).blocks[0].meaning


@pytest.mark.parametrize("text", ["    - |+\n      text\n", "    - >+\n      text\n\n"])
def test_the_same_text_before_another_field_is_closed(text: str) -> None:
    assert "text-open" not in [rule for rule, _ in errors(judge(BASE, head(text)))]


@pytest.mark.parametrize(
    "text", ["|\n      text", ">-\n      text", '"text"', "text\n      more", "|-\n      a +\n      b +"]
)
def test_a_valid_entry_keeps_its_text_after_the_next_append(text: str) -> None:
    entry = f"\n- config-keys: [{KEY}]\n  pr-link: {link(77)}\n  description:\n    - {text}\n".encode()
    verdict = judge(BASE, BASE + entry)
    assert errors(verdict) == []
    meaning = verdict.blocks[0].meaning
    assert (
        verify(BASE, [meaning, *(b.meaning for b in judge(BASE, BASE + new()).blocks)], BASE + entry + new())
        == []
    )
