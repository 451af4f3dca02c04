"""Check that the classes and functions named in docs/architecture.md exist in the named files."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.sources import walk

PACKAGE = ROOT / "infx"
PLACE = re.compile(r"\[([a-z_/]+\.py)\]\(\.\./infx/([a-z_/]+\.py)\): `([\w.]+)`")
QUESTIONS = (
    "Which label wins?",
    "When does a row get an accuracy run?",
    "Who must sign?",
    "What is a canonical link?",
    "When does a status turn green?",
    "How does the bot find its comment?",
)
LONGEST = 40  # lines of the glossary; people do not read longer ones


def read_section(title: str) -> str:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def read_rows(title: str) -> list[list[str]]:
    lines = [line for line in read_section(title).splitlines() if line.startswith("| ")]
    return [re.split(r" \| ", line.strip("| ")) for line in lines[2:]]


def find_names(path: Path) -> set[str]:
    """Return every class, function, method, field and constant of a file; members also as `Class.member`."""
    names: set[str] = set()
    for node in walk(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.ClassDef):
            names |= {node.name, *(f"{node.name}.{member}" for member in map(find_name, node.body) if member)}
        elif name := find_name(node):
            names.add(name)
    return names


def find_name(node: ast.AST) -> str | None:
    match node:
        case ast.FunctionDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return None


GLOSSARY, RULES = read_rows("Glossary"), read_rows("Six rules and where to find them")


@pytest.mark.parametrize("row", [*GLOSSARY, *RULES], ids=lambda row: row[0])
def test_every_named_class_and_function_is_in_its_file(row: list[str]) -> None:
    places = PLACE.findall(row[-1])
    assert places
    for shown, path, name in places:
        assert shown == path
        assert name in find_names(PACKAGE / path)


def test_every_class_of_the_glossary_exists_once() -> None:
    """The hub is left out: its classes for GitHub's objects have the same names."""
    classes = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        if "hub" not in path.relative_to(PACKAGE).parts
        for node in walk(path.read_text(encoding="utf-8"))
        if isinstance(node, ast.ClassDef)
    )
    named = [name.partition(".")[0] for row in GLOSSARY for *_, name in PLACE.findall(row[-1])]
    assert {name: classes[name] for name in named if classes[name] != 1} == {}


def test_every_word_is_in_the_glossary_once() -> None:
    words = Counter(word for row in GLOSSARY for word in row[0].split(", "))
    assert [word for word, times in words.items() if times > 1] == []
    assert len(words) > 30


def test_the_glossary_fits_on_one_screen() -> None:
    lines = read_section("Glossary").strip().splitlines()
    assert len(lines) + len(["## Glossary", ""]) <= LONGEST


def test_the_page_answers_the_six_questions() -> None:
    assert tuple(question for question, *_ in RULES) == QUESTIONS
    assert [len(row) for row in RULES] == [3] * 6
