"""The machine of a launch: what it is called, what it has, and what its processes get."""

from __future__ import annotations

import fnmatch
import os
import pwd
import time
from typing import Mapping

from .errors import RowError
from .launch_drivers import MARK, make_mark

MAX_FILES = 200_000  # of a checkout whose owners are looked at
RUNNER = "RUNNER_NAME"  # the variable with the runner's name


def find_runner(environ: Mapping[str, str]) -> str:
    """Return the name of this runner. Raises RowError (2) without one."""
    name = environ.get(RUNNER, "")
    if not name or any(char in name for char in ",\0\n"):
        message = "The runner has no usable name: RUNNER_NAME is " + repr(name)
        raise RowError(message + "; expected the name in the runner inventory.", 2)
    return name


def describe_machine(runner: str, workspace: str, scratch: str) -> dict[str, str]:
    """Return the values of placeholders that do not depend on a launch."""
    uid = os.getuid()
    try:
        user, home = pwd.getpwuid(uid)[0], pwd.getpwuid(uid)[5]
    except KeyError:  # a user that the machine does not list
        user, home = str(uid), ""
    return {
        "runner": runner,
        "digit": runner[-1:],
        "user": user,
        "uid": str(uid),
        "home": os.environ.get("HOME") or home,
        "workspace": os.path.abspath(workspace),
        "scratch": scratch,
        "date": time.strftime("%Y%m%d", time.gmtime()),
    }


def path_exists(workspace: str, path: str, holds: str) -> bool:
    """Return whether a path exists, and a folder has a file of a pattern; relative paths are in the workspace."""
    place = os.path.join(workspace, path)
    if not holds:
        return os.path.exists(place)
    try:
        return any(fnmatch.fnmatchcase(name, holds) for name in os.listdir(place))
    except OSError:
        return False


def find_foreign(workspace: str) -> str:
    """Return a path of a workspace that belongs to another user; empty if there is none, or if this is root."""
    uid, count = os.getuid(), 0
    if uid == 0:
        return ""
    for folder, folders, files in os.walk(workspace):
        for name in (".", *folders, *files):
            path = os.path.normpath(os.path.join(folder, name))
            try:
                if os.lstat(path).st_uid != uid:
                    return path
            except OSError:  # something removes it
                continue
            count += 1
        if count > MAX_FILES:
            return ""
    return ""


def make_environments(
    inherited: dict[str, str],
    row: dict[str, str],
    secrets: list[str],
    row_names: list[str] | None,
    runner: str,
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables of the benchmark, and of all other processes, which get no secret and nothing of the row.

    secrets: names. row_names: names of the row's variables that the benchmark gets; None: all.
    """
    tools = {name: value for name, value in inherited.items() if name not in secrets}
    tools[MARK] = make_mark(runner)
    chosen = {name: value for name, value in row.items() if row_names is None or name in row_names}
    own = {name: inherited[name] for name in secrets if name in inherited}
    return {**tools, RUNNER: runner, **chosen, **own}, tools
