"""The code around every command: it turns errors into words, annotations and the exit code of the contract."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from infx.errors import InfxError

USAGE = 2
UNAVAILABLE = 3
BUG = 4
STOPPED = 130  # the exit code of shells after Ctrl-C

# These errors mean that the user named a wrong path; other errors, such as a full disk, do not.
_WRONG_PATHS = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError)


def run(command: click.Command, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run a command, report its error if there is one, and return the exit code.

    0 done; 1 refused, or problems found; 2 usage; 3 GitHub, git or the network is not available; 4 a bug in infx.
    """
    try:
        code = _invoke(command, arguments, environ)
        sys.stdout.flush()
    except click.ClickException as error:
        _print(_render_usage_error(error), environ)
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        _print("Stopped.", environ)
        return STOPPED
    except InfxError as error:
        from infx.cli.report import print_problems

        print_problems(error.problems, environ)
        return error.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        _print(f"{where}{error.strerror or error}.", environ)
        return USAGE if isinstance(error, _WRONG_PATHS) else UNAVAILABLE
    except Exception:
        import traceback

        _print(
            f"{traceback.format_exc()}This is a bug in infx. Please report it with the lines above.", environ
        )
        return BUG
    return code


def _invoke(command: click.Command, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command, or complete a word if a shell asks for it."""
    # Click's own `main` has other exit codes.
    if instruction := environ.get("_INFX_COMPLETE"):
        from infx.cli.completion import complete

        return complete(command, instruction)
    try:
        with command.make_context("infx", list(arguments)) as context:
            result = command.invoke(context)
    except click.exceptions.Exit as error:
        return error.exit_code
    return result if isinstance(result, int) else 0


def _render_usage_error(error: click.ClickException) -> str:
    import io

    text = io.StringIO()
    error.show(file=text)
    return text.getvalue().rstrip("\n")


def _print(text: str, environ: Mapping[str, str]) -> None:
    from infx.cli.report import print_text

    print_text(text, environ)
