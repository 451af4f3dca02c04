"""A translated page has the headings, tables, commands, names and links of the page that it translates.

A change of one page must be made in the other page, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import ROOT

PAGES = ("README.md", "docs/PR_REVIEW_CHECKLIST.md", "docs/adopting.md")
BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
PROSE = {"markdown"}  # languages of blocks that are translated


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def translate(page: str) -> str:
    """Return the name of the page's translation."""
    return page.replace(".md", "_zh.md")


def find_headings(text: str) -> list[str]:
    """Return the level of each heading, with its number."""
    return re.findall(r"(?m)^(#+(?: \d+\.)?) ?", BLOCK.sub("", text))


def find_items(text: str) -> list[str]:
    """Return the mark of each item of a list, also in a checklist."""
    return re.findall(r"(?m)^( *(?:-|\d+\.) (?:\[[ x]\] )?)", text)


def find_spans(text: str) -> list[str]:
    """Return names and commands in code spans, sorted, because the order of words differs between languages.

    Other spans, with spaces, are examples of sentences. A translation may ask for itself, and name a person otherwise.
    """
    spans = re.findall(r"`(infx [^`\n]+|[^`\s]+)`", BLOCK.sub(keep_prose, text))
    return sorted(re.sub(r"( --language zh)?( --signed) \S+", r"\2", span) for span in spans)


def keep_prose(block: re.Match[str]) -> str:
    return block[2] if block[1] in PROSE else ""


def find_rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the number of cells and the code spans of each row of a table."""
    rows = re.findall(r"(?m)^\|(.+)\|$", BLOCK.sub("", text))
    return [(len(re.split(r" \| ", row)), find_spans(row)) for row in rows]


def find_blocks(text: str) -> list[tuple[str, list[str]]]:
    """Return the language and the lines of each code block without comments, which are translated."""
    return [
        (language, [] if language in PROSE else [re.sub(r"\s*#.*", "", line) for line in lines.splitlines()])
        for language, lines in BLOCK.findall(text)
    ]


def find_links(text: str) -> list[str]:
    """Return the targets of links, those of translations as those of the pages; an anchor has translated words."""
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    files = {link if "://" in link else link.partition("#")[0] for link in links}
    return sorted({file.replace("_zh.md", ".md") for file in files} - {"", "README.md"})


PARTS: tuple[Callable[[str], Any], ...] = (
    find_headings, find_items, find_spans, find_rows, find_blocks, find_links,
)  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
@pytest.mark.parametrize("page", PAGES)
def test_a_translation_has_the_same(page: str, part: Callable[[str], Any]) -> None:
    assert part(read(translate(page))) == part(read(page))


def test_every_translation_is_compared() -> None:
    translations = {
        str(path.relative_to(ROOT)) for path in ROOT.glob("**/*_zh.md") if ".venv" not in path.parts
    }
    copies = {name for name in translations if (ROOT / name).is_symlink()}
    assert translations - copies == {translate(page) for page in PAGES}


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("## Shadow mode", "### Shadow mode", find_headings),
        ("- A **row** is", "A **row** is", find_items),
        ("`infx explain --pr N`", "`infx gate --pr N`", find_spans),
        ("infx config check  ", "infx config check --strict  ", find_blocks),
        ("docs/shadow.md)", "docs/hub.md)", find_links),
    ],
)
def test_a_change_of_one_page_alone_is_seen(old: str, new: str, part: Callable[[str], Any]) -> None:
    text = "`infx explain --pr N`\n" + read("README.md")
    assert old in text
    assert part(text.replace(old, new)) != part(text)


@pytest.mark.parametrize(
    "row",
    ["| runner group | words |", "| runner group | `x.yml` | words |", "| runner group | `y.yml` | a | b |"],
)
def test_a_change_of_a_row_of_a_table_is_seen(row: str) -> None:
    assert find_rows(row) != find_rows("| runner group | `y.yml` | words |")
