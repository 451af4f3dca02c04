"""Every page: the command lines that it shows are valid, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tests.conftest import ROOT
from tests.pages import PAGES, find_named, find_typed, name_missing, parse, read


@pytest.mark.parametrize("page", PAGES)
def test_every_command_line_of_a_page_is_complete(page: str) -> None:
    for line in find_typed(read(page)):
        command, given = parse(line)
        assert not isinstance(command, click.Group), line
        if "…" not in line:
            assert list(name_missing(command, given)) == [], line


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_exists(page: str) -> None:
    for span in find_named(read(page)):
        parse(span)


@pytest.mark.parametrize(
    "line",
    [
        "infx plna",
        "infx plan --bse main",
        "infx plan HEAD",
        "infx plan-diff a b c",
        "infx changelog validate --stage none",
    ],
)
def test_a_command_line_that_infx_would_refuse_is_refused(line: str) -> None:
    with pytest.raises((AssertionError, click.UsageError)):
        parse(line)


def test_command_lines_are_found_in_pages() -> None:
    """If the format of pages changes, the tests above must not become empty."""
    typed = [line for page in PAGES for line in find_typed(read(page))]
    named = [span for page in PAGES for span in find_named(read(page))]
    assert len(typed) > 30
    assert len(named) > 50


def test_the_python_example_of_the_planners_page_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = re.findall(r"(?ms)^```python\n(.*?)^```$", read("docs/planner.md"))
    exec(compile(example, "docs/planner.md", "exec"), {})
    assert "'runner': 'cluster:" in capsys.readouterr().out


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub makes from headings: no markup, no punctuation, lower case, dashes."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    heads = re.findall(r"(?m)^#+ (.+)$", text)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_between_pages_leads_to_a_file_and_a_heading(page: str) -> None:
    text = re.sub(r"(?ms)^(?:> )?```.*?^(?:> )?```$|`[^`]*`", "", read(page))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


def test_every_page_of_docs_can_be_reached_from_the_readme() -> None:
    reached, unread = set(), ["README.md"]
    while unread:
        page = unread.pop()
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+\.md)", read(page))
        targets = {
            str(((ROOT / page).parent / link).resolve().relative_to(ROOT))
            for link in links
            if "://" not in link
        }
        unread += targets - reached
    assert set(PAGES) <= reached


def test_the_index_lists_every_page_once() -> None:
    """Translations are linked next to their page."""
    index = read("docs/README.md")
    listed = re.findall(
        r"(?m)^\| \[(\w+\.md)\]\(\1\) \| .+\. \|$|^\| \[(\w+\.md)\]\(\2\) \| .+ \(\[中文\]", index
    )
    names = [first or second for first, second in listed]
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert sorted(names) == sorted(name for name in pages if not name.endswith("_zh.md"))
    assert [name for name in pages if f"]({name})" not in index] == []
    assert names[:2] == ["shadow.md", "adopting.md"]
