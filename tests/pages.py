"""Documentation pages, and the command lines that they show, read as a shell and click would read them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from infx.cli import infx
from tests.conftest import ROOT

PAGES = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
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
