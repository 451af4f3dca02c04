"""Notices: problems of a check appear as inert text, and what they quote appears as code."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import cmarkgfm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.comments.notices import Cause, NoticeContext, find_causes
from infx.comments.sticky import MAX_ITEMS
from infx.gate.decide import decide
from tests.changelog.samples import BASE, judge, link, new
from tests.comments.examples import ASKED, PLACE, PROBLEM, make_notice, notice, project_policy, pull

POLICY = project_policy()


def changelog(*messages: str) -> str:
    """Return the HTML of a notice about problems with these messages."""
    problems = tuple(replace(PROBLEM, message=message, hint=None) for message in messages)
    context = NoticeContext(policy=POLICY, facts=ASKED, problems=problems, clone_url=PLACE.url)
    return str(cmarkgfm.github_flavored_markdown_to_html(make_notice(context, Cause.CHANGELOG).body(65_536)))


def item(message: str) -> str:
    match = re.search(r"<li>(.*?)</li>", changelog(message), re.DOTALL)
    assert match is not None
    return match[1]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("The value `a b` is wrong.", "line 812: The value <code>a b</code> is wrong."),
        ("`x`", "line 812: <code>x</code>"),
        ("Line `<b>` and `@amy #1`.", "line 812: Line <code>&lt;b&gt;</code> and <code>@amy #1</code>."),
        ("One ` only.", "line 812: One ` only."),
        ("Say @amy <b>", "line 812: Say @\u200bamy &lt;b&gt;"),
    ],
)
def test_quoted_text_is_code(message: str, shown: str) -> None:
    assert item(message) == shown


@given(st.text(alphabet=st.sampled_from("`@#1a <>*_[]()\n|"), max_size=30))
def test_properties_of_any_message(message: str) -> None:
    shown = item(f"x{message}")
    assert set(re.findall(r"<[^>]*>", shown)) <= {"<code>", "</code>", "<em>", "</em>"}
    outside = html.unescape(re.sub(r"<code>.*?</code>", "", shown))
    assert not re.search(r"@\w|#\d", outside)


def test_many_problems_are_counted_rather_than_listed() -> None:
    page = changelog(*(f"Problem {index}." for index in range(MAX_ITEMS + 5)))
    assert page.count("<li>") == MAX_ITEMS + 1
    assert "… 5 more" in page
    assert f"has {MAX_ITEMS + 5} problems" in re.sub(r"<[^>]*>", "", page)


@pytest.mark.parametrize("cause", list(Cause))
def test_both_languages_are_there_and_code_blocks_are_commands(cause: Cause) -> None:
    text = notice(POLICY, cause)
    english, chinese = text.split("\n---\n")
    assert re.search(r"[A-Za-z]{4}", english)
    assert re.search(r"[\u4e00-\u9fff]{4}", chinese)
    assert not re.search(r"[\u4e00-\u9fff]", english)
    page = cmarkgfm.github_flavored_markdown_to_html(text)
    assert page.count("<pre") == english.count("```") // 2


def test_a_closed_pull_request_has_no_cause() -> None:
    decision = decide(replace(ASKED, pull=pull((*pull().labels, "sweep-enabled"))), POLICY)
    assert find_causes(decision, (), is_open=True) == (Cause.LABELS,)
    assert find_causes(decision, (PROBLEM,), is_open=True) == (Cause.LABELS, Cause.CHANGELOG)
    assert find_causes(decision, (PROBLEM,), is_open=False) == ()


def test_links_in_problems_are_code_byte_for_byte() -> None:
    """A reader copies them. The problems are the real ones of every rule that names a link."""
    values = ["TBD", link(75), "#77", "https://gitlab.com/x/y/pull/1", "１", link("\u200b77"), "", "[1]"]
    problems = tuple(judge(BASE, BASE + b"".join(map(new, values))).problems)
    assert len(problems) >= len(values)
    context = NoticeContext(policy=POLICY, facts=ASKED, problems=problems, clone_url=PLACE.url)
    page = str(cmarkgfm.github_flavored_markdown_to_html(make_notice(context, Cause.CHANGELOG).body(65_536)))
    outside = re.sub(r"<code.*?</code>", "", page, flags=re.DOTALL)
    assert "://" not in outside
    assert "github" not in outside
    inside = "".join(re.findall(r"<code.*?</code>", page, re.DOTALL))
    assert f"<code>{link(77)}</code>" in inside
    assert not re.search("[\u200b-\u200f\u2060\ufeff]", inside)


def test_a_notice_names_one_command() -> None:
    problems = tuple(judge(BASE, BASE + b"\n" + new("TBD") + new("#77")).problems)
    assert all(
        "Run `infx changelog validate --fix --pr 77` to repair it." in str(problem) for problem in problems
    )
    context = NoticeContext(policy=POLICY, facts=ASKED, problems=problems, clone_url=PLACE.url)
    text = make_notice(context, Cause.CHANGELOG).body(65_536)
    assert text.count("--fix") == 1
    assert "```\ninfx changelog validate --fix --pr 77\n```" in text
