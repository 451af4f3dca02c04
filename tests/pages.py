"""Find command lines in documentation pages, and parse them like a shell and click."""

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
    """Return the code blocks of a page, with continued lines joined."""
    blocks = re.findall(r"(?ms)^(?:> )?```(?:console|sh|yaml)?\n(.*?)^(?:> )?```$", text)
    return [block.replace("\\\n", " ") for block in blocks]


def find_typed(text: str) -> list[str]:
    """Return the command lines in code blocks."""
    return [line for block in find_blocks(text) for line in SHOWN.findall(block)]


def find_named(text: str) -> list[str]:
    """Return the commands in sentences, which may lack required options."""
    prose = re.sub(r"(?ms)^(?:> )?```.*?^(?:> )?```$", "", text)
    return [" ".join(span.split()) for span in re.findall(r"`(infx [a-z][^`]*)`", prose)]


def split_words(line: str) -> list[str]:
    """Split a command line like a shell; a placeholder such as <id> is an ordinary word."""
    line = re.sub(r"\s+(?:#.*|>.*|\|.*|<.*?>.*?>.*)$", "", re.sub(r"<([^<> ]+)>", r"\1", line))
    return [word for word in shlex.split(line)[1:] if word != "…" and not word.startswith("[")]


def resolve(words: list[str]) -> tuple[click.Command, list[str]]:
    command: click.Command = infx
    while isinstance(command, click.Group) and words:
        subcommand = command.get_command(click.Context(command), words[0])
        assert subcommand is not None, f"{words[0]} is not a command of {command.name}"
        command, words = subcommand, words[1:]
    return command, words


def parse(line: str) -> tuple[click.Command, dict[str, object]]:
    command, arguments = resolve(split_words(line))
    context = click.Context(command, info_name=command.name)
    values, unknown, _ = command.make_parser(context).parse_args(arguments)
    assert not unknown
    for parameter in command.params:
        value = values.get(parameter.name or "")
        if isinstance(parameter.type, click.Choice) and isinstance(value, str) and not value.isupper():
            parameter.type.convert(value, parameter, context)
    return command, dict(values)


def name_missing(command: click.Command, values: dict[str, object]) -> Iterator[str]:
    for parameter in command.params:
        if parameter.required and values.get(parameter.name or "") in (None, (), []):
            yield str(parameter.name)
