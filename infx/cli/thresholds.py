"""Thresholds of accuracy runs, for the commands that judge scores or cut a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from infx.errors import InfxError
from infx.files import NoSuchSourceError
from infx.gather.local import read_source
from infx.phrases import join_some
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.rowfile.thresholds import ScoreBars


def read_thresholds(given: str | None, root: Path, policy: Policy) -> tuple[ScoreBars, Any]:
    """Return the thresholds, and the value of their file; both are empty if the policy's file does not exist.

    given: a file or <commit>:<path>. Raises InfxError if another file was named and does not exist, or if a file is not
    valid.
    """
    from infx import yaml12
    from infx.rowfile.thresholds import parse_bars

    path = given or str(root / policy.eval_thresholds)
    try:
        value = yaml12.load_mapping(read_source(path, "thresholds"), path).value
    except NoSuchSourceError:
        if given is not None and given.rpartition(":")[2] != policy.eval_thresholds:
            raise
        value = {}
    bars, faults = parse_bars(value)
    if faults:
        raise InfxError(
            f"{path}: {join_some(faults, 10, separator='; ')}.",
            hint="Write a score from 0 to 1 for each task; infx config check names every mistake.",
        )
    return bars, value
