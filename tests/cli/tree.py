"""All commands from click's own tree, so that tests over all commands cover a new command without an edit."""

from __future__ import annotations

import importlib

import click

from infx.cli import COMMANDS

Path = tuple[str, ...]


def load(name: str) -> click.Command:
    """Return a command of the first level."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    return command


def list_commands(command: click.Command, path: Path) -> list[tuple[Path, click.Command]]:
    """Return the command and all commands below it, including those that a group imports only when they are called."""
    commands = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            commands += list_commands(subcommand, (*path, name))
    return commands


EVERY = [item for name in COMMANDS for item in list_commands(load(name), (name,))]
LEAVES = [(path, command) for path, command in EVERY if not isinstance(command, click.Group)]


def name_of(path: Path) -> str:
    return " ".join(path)
