"""Every page: the commands it shows are ones that infx has, with these options, and its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from infx.cli import infx
from tests.conftest import ROOT

PAGES = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
TRANSLATED = (
    ("README.md", "README_zh.md"),
    ("docs/PR_REVIEW_CHECKLIST.md", "docs/PR_REVIEW_CHECKLIST_zh.md"),
)
SHOWN = re.compile(r"^(?:> |\$ |  )*(infx .+)$", re.MULTILINE)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def find_blocks(text: str) -> list[str]:
    """Without the lines that are indented or quoted, and with continued lines joined."""
    blocks = re.findall(r"(?ms)^(?:> )?```(?:console|sh|yaml)?\n(.*?)^(?:> )?```$", text)
    return [block.replace("\\\n", " ") for block in blocks]


def find_typed(text: str) -> list[str]:
    """Command lines in blocks, as one would type them."""
    return [line for block in find_blocks(text) for line in SHOWN.findall(block)]


def find_named(text: str) -> list[str]:
    """Commands in the middle of a sentence: some of their options, or none."""
    prose = re.sub(r"(?ms)^(?:> )?```.*?^(?:> )?```$", "", text)
    return [" ".join(span.split()) for span in re.findall(r"`(infx [a-z][^`]*)`", prose)]


def words_of(line: str) -> list[str]:
    """As a shell would read it; what stands for something else is a word like any other."""
    line = re.sub(r"\s+(?:#.*|>.*|\|.*|<.*?>.*?>.*)$", "", re.sub(r"<([^<> ]+)>", r"\1", line))
    return [word for word in shlex.split(line)[1:] if word != "…" and not word.startswith("[")]


def resolve(words: list[str]) -> tuple[click.Command, list[str]]:
    command: click.Command = infx
    while isinstance(command, click.Group) and words:
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"{words[0]} is no command of {command.name}"
        command, words = found, words[1:]
    return command, words


def parse(line: str) -> tuple[click.Command, dict[str, object]]:
    command, rest = resolve(words_of(line))
    context = click.Context(command, info_name=command.name)
    given, unknown, _ = command.make_parser(context).parse_args(rest)
    assert not unknown
    for parameter in command.params:
        value = given.get(parameter.name or "")
        if isinstance(parameter.type, click.Choice) and isinstance(value, str) and not value.isupper():
            parameter.type.convert(value, parameter, context)
    return command, dict(given)


def name_missing(command: click.Command, given: dict[str, object]) -> Iterator[str]:
    for parameter in command.params:
        if parameter.required and given.get(parameter.name or "") in (None, (), []):
            yield str(parameter.name)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_line_of_a_page_is_whole(page: str) -> None:
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
def test_what_infx_would_refuse_is_refused(line: str) -> None:
    with pytest.raises((AssertionError, click.UsageError)):
        parse(line)


def test_the_readers_find_what_is_there() -> None:
    """So that a change of how pages are written does not leave the tests above with nothing to do."""
    typed = [line for page in PAGES for line in find_typed(read(page))]
    named = [span for page in PAGES for span in find_named(read(page))]
    assert len(typed) > 30
    assert len(named) > 50


def test_what_the_planners_page_says_to_try_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = re.findall(r"(?ms)^```python\n(.*?)^```$", read("docs/planner.md"))
    exec(compile(example, "docs/planner.md", "exec"), {})
    assert "'runner': 'cluster:" in capsys.readouterr().out


def anchors_of(page: Path) -> set[str]:
    """As GitHub makes them from headings: no markup, no punctuation, in lower case, with dashes."""
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
    reached, waiting = set(), ["README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+\.md)", read(page))
        found = {
            str(((ROOT / page).parent / link).resolve().relative_to(ROOT))
            for link in links
            if "://" not in link
        }
        waiting += found - reached
    assert set(PAGES) <= reached


@pytest.mark.parametrize(("page", "translation"), TRANSLATED)
def test_a_translation_has_the_same_shape(page: str, translation: str) -> None:
    """Headings, items, code and links: whoever changes one of the two is told of the other."""
    shape = re.compile(r"(?m)^(#+|```\w*|\s*- (?:\[ \] )?|\|)")
    here, there = read(page), read(translation)
    assert shape.findall(here) == shape.findall(there)
    spans = [sorted(re.findall(r"`[^`\s]+`", text)) for text in (here, there)]  # names, not sentences
    assert spans[0] == spans[1]
