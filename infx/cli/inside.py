"""Call commands inside this process, as a job's steps or a person's shell would call them."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from infx.cli.shell import STOPPED, run
from infx.play.stage import Answer

_ACTIONS_PREFIXES = ("GITHUB_", "GH_", "INFX_", "RUNNER_")


def call(arguments: Sequence[str], at: Path, variables: Mapping[str, str]) -> Answer:
    """Run an infx command with its own folder, environment and streams.

    Raises KeyboardInterrupt if the user interrupted it.
    """
    from infx.cli import infx

    out, err = io.StringIO(), io.StringIO()
    with (
        _environment(variables, without=_ACTIONS_PREFIXES),
        contextlib.chdir(at),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(infx, list(arguments), os.environ)
    if code == STOPPED:
        raise KeyboardInterrupt  # the user interrupted the play, not this command
    return Answer(code=code, out=out.getvalue(), err=err.getvalue())


def plain_git() -> contextlib.AbstractContextManager[None]:
    """Return a context in which git ignores the user's settings and the repository of a surrounding hook."""
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return _environment(plain, without=("GIT_",))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str], *, without: tuple[str, ...]) -> Iterator[None]:
    """Set variables for a while, and hide those whose names start with a prefix in `without`."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(without):
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
