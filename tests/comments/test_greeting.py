"""The greeting makes the same points in both languages."""

from __future__ import annotations

import re
from dataclasses import replace

import cmarkgfm
import pytest

from infx.comments.greeting import list_linked, make_greeting, make_links, render
from infx.policy.load import default_policy, parse_policy
from infx.policy.model import Policy

POLICY = default_policy()
PHRASE = POLICY.comments.greeting.phrase
TEXT = render(POLICY, make_links(POLICY, "acme/bench", "https://github.com", list_linked(POLICY)), PHRASE)
ENGLISH, CHINESE = TEXT.split("\n---\n")


@pytest.mark.parametrize("language", [ENGLISH, CHINESE], ids=["English", "Chinese"])
@pytest.mark.parametrize(
    "point",
    [
        "https://github.com/acme/bench/blob/main/.github/CODEOWNERS",
        "https://github.com/acme/bench/blob/main/docs/PR_REVIEW_CHECKLIST.md",
        "`As a PR reviewer and CODEOWNER, I have reviewed this and have`",
        "`full-sweep-fail-fast`",
        "`full-sweep-enabled`",
        "`perf-changelog.yaml`",
        "`XXX`",
        "https://docs.github.com/en/actions/managing-workflow-runs/re-running-workflows-and-jobs",
    ],
)
def test_both_languages_make_the_point(language: str, point: str) -> None:
    assert point in language


@pytest.mark.parametrize(
    "words",
    [
        "before you contact a core maintainer",
        "strongly recommended",
        "only when jobs must go on after a failure",
    ],
)
def test_the_words_of_the_existing_greeting_are_there(words: str) -> None:
    assert words in ENGLISH


def test_both_languages_have_the_same_links_labels_and_commands() -> None:
    for pattern in (r"\(https?://[^)]*\)", r"`[^`]*`"):
        assert sorted(re.findall(pattern, ENGLISH)) == sorted(re.findall(pattern, CHINESE))


def test_a_rule_separates_the_languages_and_nothing_is_a_code_block() -> None:
    assert not any(line.startswith(("    ", "\t")) for line in TEXT.split("\n"))
    page = cmarkgfm.github_flavored_markdown_to_html(TEXT)
    assert page.count("<hr") == 1
    assert "<pre" not in page
    assert page.count("<li>") == 8
    assert page.count("<strong>") == 8


def test_labels_and_branch_come_from_the_policy() -> None:
    own = parse_policy(
        b"base-branch: trunk\n"
        b"labels: {primary: {go: {scope: full, canary: true, fail-fast: true, recommended: true}}}\n",
        "policy.yaml",
    )
    text = render(own, make_links(own, "acme/other", "https://ghe.test", list_linked(own)), PHRASE)
    assert "Add `go` (strongly recommended).\n" in text
    assert "请添加 `go`（强烈推荐）。" in text
    assert "https://ghe.test/acme/other/blob/trunk/" in text


def test_the_comment_begins_with_its_marker() -> None:
    links = make_links(POLICY, "acme/bench", "https://github.com", list_linked(POLICY))
    body = make_greeting(POLICY, links, PHRASE).body(65_536)
    assert body == f"<!-- infx-greeting -->\n{TEXT}"


def test_a_label_with_markup_stays_a_label() -> None:
    label = next(iter(POLICY.labels.primary.values()))
    odd: Policy = replace(POLICY, labels=replace(POLICY.labels, primary={"a`b @amy": label}))
    page = cmarkgfm.github_flavored_markdown_to_html(
        render(odd, make_links(odd, "a/b", "x", list_linked(odd)), PHRASE)
    )
    assert page.count("<code>a`b @amy</code>") == 2
