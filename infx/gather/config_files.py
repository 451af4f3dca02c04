"""Read the files that `infx config check` checks."""

from __future__ import annotations

import os
from pathlib import Path

from infx.errors import Level, Problem, UsageError
from infx.files import NoSuchSourceError, read_file
from infx.gather.checkout import read_checkout
from infx.gather.local import find_root
from infx.matrix.check import File, Files
from infx.policy.model import Policy


def read_config_files(
    named: tuple[str, ...], runner_config: str | None, policy: Policy
) -> tuple[Files, list[Problem]]:
    """Return the files that exist, and a problem for each file that is missing."""
    root = find_root(Path.cwd())
    masters = tuple(dict.fromkeys(named)) or tuple(
        _make_relative(root, name) for name in policy.master_configs
    )
    runners = runner_config or _make_relative(root, policy.runners)
    files_by_path = {path: _read(path, required=bool(named)) for path in masters}
    inventory = _read(runners, required=runner_config is not None)
    if not any(files_by_path.values()):
        raise UsageError(
            f"There are no configurations here; expected {' or '.join(masters)}.",
            hint="Run this inside a repository with configurations, name them with --config-file, or make the first ones "
            "with infx init.",
        )
    missing = [_report_missing(path, Level.ERROR) for path, file in files_by_path.items() if file is None]
    if inventory is None:  # files named by --config-file may lie outside a repository, without an inventory
        missing.append(_report_missing(runners, Level.WARNING if named else Level.ERROR))
    known = tuple(file for file in files_by_path.values() if file is not None)
    if named:
        return Files(masters=known, runners=inventory), missing
    if not (root / policy.changelog).exists():
        missing.append(_report_missing(_make_relative(root, policy.changelog), Level.ERROR))
    return (
        Files(
            masters=known,
            runners=inventory,
            clusters=_read(_make_relative(root, policy.clusters)),
            models=_read(_make_relative(root, policy.models)),
            thresholds=_read(_make_relative(root, policy.eval_thresholds)),
            priorities=_read(_make_relative(root, policy.priorities)),
            golden_lengths=_read_folder(root / policy.golden_al),
            checkout=read_checkout(root),
        ),
        missing,
    )


def _make_relative(root: Path, name: str) -> str:
    return os.path.relpath(root / name)


def _read_folder(folder: Path) -> tuple[File, ...]:
    files = [_read(os.path.relpath(path)) for path in sorted(folder.glob("*.y*ml"))]
    return tuple(file for file in files if file is not None)


def _read(path: str, *, required: bool = False) -> File | None:
    try:
        return File(path=path, data=read_file(path, "file"))
    except NoSuchSourceError:
        if required:
            raise
        return None


def _report_missing(path: str, level: Level) -> Problem:
    unchecked = "" if level is Level.ERROR else " Runner labels and memory budgets were not checked."
    return Problem(
        rule="file-missing",
        message=f"There is no such file.{unchecked}",
        path=path,
        hint="Add the file, or name another one in the policy or on the command line.",
        level=level,
    )


def read_config_file(path: str) -> File:
    """Read a file that the command line names. Raises NoSuchSourceError if it does not exist."""
    return File(path=path, data=read_file(path, "file"))
