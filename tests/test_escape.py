"""Foreign text in infx's Markdown is inert and still readable, as rendered by cmark-gfm, GitHub's own parser."""

from __future__ import annotations

import html
import re

import cmarkgfm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.escape import code, fenced, foreign, prose, table_code

HOSTILE = [
    "@amy and @acme/core, see #12, acme/bench#3, GH-5 and gh-77",
    "https://github.com/acme/bench/pull/1 http://x.y www.evil.test ftp://a.b mail a@b.test",
    "a5c3785ed8d6a35868bc169f07e40e889087fd2e and acme/bench@a5c3785 and xa5c3785ed8d6a35868bc",
    "<img src=x onerror=alert(1)> <!-- infx-greeting --> </details> &lt;b&gt; &#64;amy",
    "**bold** _it_ ~~gone~~ `code` [link](http://x) ![i](x) [ref]: x",
    "# title\n- item\n1. one\n> quote\n\n```\nfence\n```\n---\n| a | b |\n",
    "\\@amy \\\\ \\`",
    "`" * 7,
    "``` @amy ```",
    "- [x] done",
    "line\r\nline\u2028line\x00\x07\x1b[31m",
    "evil\u202egnp.exe \u2066x\u2069 \u200bzero",
    "::error::x ##[error]y",
    "",
    " ",
]
# Text that GitHub turns into links or mentions outside code, by its documentation.
TRIGGERS = re.compile(r"(?<![\w`])@[A-Za-z0-9]|#\d|\bGH-\d|\w://|\bwww\.|\b[0-9a-f]{7,40}\b", re.IGNORECASE)


def rendered(markdown: str) -> str:
    return str(cmarkgfm.github_flavored_markdown_to_html(markdown))


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", page))


def as_read(text: str) -> str:
    """Return the words that must survive: one line, without invisible characters."""
    import unicodedata

    kept = (" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text)
    return " ".join("".join(c for c in kept if unicodedata.category(c) not in {"Cf", "Cs"}).split())


def check_foreign(text: str) -> None:
    page = rendered(f"x {foreign(text)} y")
    assert re.findall(r"<[^>]*>", page) == ["<p>", "</p>"]
    shown = text_of(page).strip()
    assert not TRIGGERS.search(shown)
    assert " ".join(shown.replace("\u200b", "").split()) == " ".join(f"x {as_read(text)} y".split())


def check_code(text: str) -> None:
    page = rendered(f"x {code(text)} y")
    inner = as_read(text)
    if not inner:
        assert "<em>(empty)</em>" in page
        return
    assert re.findall(r"<[^>]*>", page) == ["<p>", "<code>", "</code>", "</p>"]
    assert text_of(page).strip() == f"x {inner} y"


@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_words_are_one_inert_line(text: str) -> None:
    check_foreign(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_foreign_value_is_one_code_span(text: str) -> None:
    check_code(text)


@given(st.text(alphabet=st.sampled_from("@#a1GgHh-`*_[]()<>!&;:/.w~|\\ \n\r\t\"'x$={}+")))
def test_properties_of_foreign_words(text: str) -> None:
    check_foreign(text)
    check_code(text)


@given(st.text())
def test_properties_of_any_text(text: str) -> None:
    check_code(text)
    page = rendered(f"x {foreign(text)} y")
    assert re.findall(r"<[^>]*>", page) == ["<p>", "</p>"]


@pytest.mark.parametrize("text", ["a|b", "`|`", "||"])
def test_a_bar_does_not_end_a_table_cell(text: str) -> None:
    page = rendered(f"| a | b |\n| - | - |\n| {table_code(text)} | z |\n")
    assert [text_of(cell).strip() for cell in re.findall(r"<td>(.*?)</td>", page)] == [text, "z"]


@pytest.mark.parametrize("text", ["git push", "```\ninner\n```", "`````", "@amy #1"])
def test_nothing_inside_ends_a_code_block(text: str) -> None:
    page = rendered(f"{fenced(text, 'sh')}\n\nafter")
    assert page.count("<pre") == 1
    assert page.rstrip().endswith("<p>after</p>")
    assert text_of(page).startswith(text)


def test_a_command_in_a_sentence_can_be_copied() -> None:
    sha = "a5c3785ed8d6a35868bc169f07e40e889087fd2e"
    page = rendered(prose(f"@mia, approve it by `/approve-sweep {sha}` now."))
    assert f" <code>/approve-sweep {sha}</code> now." in page
    assert text_of(page).strip() == f"@\u200bmia, approve it by /approve-sweep {sha} now."


@given(st.text(alphabet=st.sampled_from("@#a1GgHh-`*_[]()<>!&;:/.w~|\\ \n\r\t\"'x$={}+")))
def test_properties_of_sentences(text: str) -> None:
    """Check that foreign words in a sentence become only text or code."""
    page = rendered(f"x {prose(text)} y")
    assert set(re.findall(r"<[^>]*>", page)) <= {"<p>", "</p>", "<code>", "</code>"}


def test_many_blanks_are_escaped_in_time() -> None:
    """Finish in time, although matching from each blank would take hours."""
    assert prose(f"a{' ' * 400_000}b `c`{chr(10) * 400_000}") == "a b `c`"
