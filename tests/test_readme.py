"""Both readmes open with the two commands and an installation, have valid links, and name the same commands."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

READMES = ("README.md", "README_zh.md")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def find_commands(text: str) -> list[str]:
    """Return the infx commands in code blocks and spans."""
    blocks = "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL))
    typed = re.findall(r"^infx [^#\n]+", blocks, re.MULTILINE) + re.findall(r"`(infx [^`\n]+)`", text)
    return [command.strip() for command in typed]


@pytest.mark.parametrize("name", READMES)
def test_it_opens_with_the_two_commands(name: str) -> None:
    lines = read(name).splitlines()
    assert lines[2:3] == ["```console"]
    assert [line.split("#")[0].strip() for line in lines[3:5]] == ["make demo", "make test"]
    assert lines[5].startswith('pip install "git+https://github.com/')
    assert lines[6] == "```"


def test_it_says_what_infx_does_in_five_sentences() -> None:
    paragraph = read("README.md").split("\n\n")[2]
    assert len(re.findall(r"\.(?:\s|$)", paragraph)) == 5


def test_shadow_mode_is_the_first_section() -> None:
    """A repository can use infx before it trusts infx."""
    assert re.findall(r"(?m)^## (.+)", read("README.md"))[0].startswith("Shadow mode")
    assert "docs/shadow.md" in read("README.md").split("\n## ")[1]


@pytest.mark.parametrize("name", READMES)
def test_its_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", read(name))
    missing = [
        link
        for link in links
        if not link.startswith("https://") and not (ROOT / link.partition("#")[0]).exists()
    ]
    assert links
    assert missing == []


def test_both_name_the_same_commands() -> None:
    """test_translations.py compares their links and shapes."""
    commands = [sorted(find_commands(read(name))) for name in READMES]
    assert commands[0] == commands[1]
