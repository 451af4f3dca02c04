"""A click group that knows its commands by name and imports a command only when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A click group that imports a command when it is called.

    Attributes:
        commands_by_name: Name → ("module:attribute", one line of help), in the order of the help text.

    """

    def __init__(self, *args: Any, commands_by_name: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands_by_name = commands_by_name

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands_by_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands_by_name:
            return None
        module, _, attribute = self.commands_by_name[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_typed = not ctx.resilient_parsing  # completion in a shell must not show errors
        if is_typed and args and not args[0].startswith("-") and args[0] not in self.commands_by_name:
            from infx.errors import suggest

            hint = suggest(args[0], self.commands_by_name)
            ctx.fail(f"No such command {args[0]!r}. {hint or 'See infx --help.'}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names from the table; click's own method would import every command for its help."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=words)
            for name, (_, words) in self.commands_by_name.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in self.commands_by_name.items()])
