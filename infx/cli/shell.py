"""The shell around every command: errors become words, annotations and the exit code of the contract."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from infx.errors import InfxError

USAGE = 2
UNAVAILABLE = 3
BUG = 4
STOPPED = 130  # by Ctrl-C, as shells say it

# A file that was named and is not there, or may not be used, is a wrong name; a full disk is not.
_WRONG_PATHS = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError)


def run(command: click.Command, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """0 done; 1 refused or problems found; 2 usage; 3 GitHub, git or the network unavailable; 4 a bug in infx."""
    try:
        code = _invoke(command, arguments, environ)
        sys.stdout.flush()
    except click.ClickException as error:
        _say(_message(error), environ)
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        _say("Stopped.", environ)
        return STOPPED
    except InfxError as error:
        from infx.cli.report import print_problems

        print_problems(error.problems, environ)
        return error.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        _say(f"{where}{error.strerror or error}.", environ)
        return USAGE if isinstance(error, _WRONG_PATHS) else UNAVAILABLE
    except Exception:
        import traceback

        _say(
            f"{traceback.format_exc()}This is a bug in infx. Please report it with the lines above.", environ
        )
        return BUG
    return code


def _invoke(command: click.Command, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command, or complete a word where a shell asks for that. Click's own `main` has other exit codes."""
    if instruction := environ.get("_INFX_COMPLETE"):
        from infx.cli.completion import complete

        return complete(command, instruction)
    try:
        with command.make_context("infx", list(arguments)) as context:
            result = command.invoke(context)
    except click.exceptions.Exit as error:
        return error.exit_code
    return result if isinstance(result, int) else 0


def _message(error: click.ClickException) -> str:
    import io

    text = io.StringIO()
    error.show(file=text)
    return text.getvalue().rstrip("\n")


def _say(text: str, environ: Mapping[str, str]) -> None:
    from infx.cli.report import print_text

    print_text(text, environ)
