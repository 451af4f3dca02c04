"""The shell around every command: errors become words, annotations and the exit code of the contract."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from infx.errors import InfxError

BUG = 4


def run(command: click.Command, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """0 done; 1 refused or problems found; 2 usage; 3 GitHub, git or the network unavailable; 4 a bug in infx."""
    try:
        result = command.main(list(arguments), prog_name="infx", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Stopped.", err=True)
        return 130
    except BrokenPipeError:
        sys.stdout = None  # the reader has gone; nothing may be flushed to it any more
        return 0
    except InfxError as error:
        from infx.cli.report import print_problems

        print_problems(error.problems, environ)
        return error.exit_code
    except Exception:
        import traceback

        from infx import actions

        text = traceback.format_exc()
        click.echo(actions.neutralise(text) if actions.is_actions(environ) else text, err=True)
        click.echo("This is a bug in infx. Please report it with the lines above.", err=True)
        return BUG
    return result if isinstance(result, int) else 0
