"""Measure a command against a base, in pairs."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class SkippedError(Exception):
    """A machine lacks something that a measurement needs."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A command and the base that its time is compared with."""

    name: str
    command: Sequence[str]
    base: Sequence[str]
    # Prepares an empty folder, and returns the folder in which both run. Raises SkippedError.
    where: Callable[[Path], Path] = lambda folder: folder
    limit: float | None = None  # the promised ratio; None: the ratio is only printed
    environ: Mapping[str, str] = field(default_factory=dict)
    finds_problems: bool = False  # the command may end with 1
    removed: str | None = None  # a folder that is removed before each run
    max_runs: int = 1000  # fewer for a command that takes many seconds


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Medians over all pairs."""

    base: float  # seconds
    command: float  # seconds
    ratio: float  # of the two times of a pair


def measure(ratio: Ratio, runs: int) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        where = ratio.where(Path(folder))
        (
            _time(ratio.base, ratio, where),
            _time(ratio.command, ratio, where),
        )  # fill the caches of files and bytecode
        pairs = [
            (_time(ratio.base, ratio, where), _time(ratio.command, ratio, where))
            for _ in range(min(runs, ratio.max_runs))
        ]
    return Measured(
        base=statistics.median(base for base, _ in pairs),
        command=statistics.median(command for _, command in pairs),
        ratio=statistics.median(command / base for base, command in pairs),
    )


def _time(command: Sequence[str], ratio: Ratio, where: Path) -> float:
    if ratio.removed:
        shutil.rmtree(where / ratio.removed, ignore_errors=True)
    environ = {**os.environ, **ratio.environ}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=where, env=environ, capture_output=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in ((0, 1) if ratio.finds_problems else (0,)):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode()}")
    return seconds
