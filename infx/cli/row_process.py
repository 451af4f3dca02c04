"""The row command as a process: it runs a repository's own script with the row in its environment."""

from __future__ import annotations

import fnmatch
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import click

from infx import actions
from infx.bench.jobs import RowJob
from infx.cli.signals import handle_signals
from infx.errors import UsageError
from infx.results.evals import META


@dataclass(frozen=True, kw_only=True)
class FinishedProcess:
    """A row command that has ended."""

    code: int
    started_at: float  # seconds since 1970


def run_command(
    command: Sequence[str], directory: Path, variables: Mapping[str, str], output: IO[bytes] | None = None
) -> FinishedProcess:
    """Run the row command to its end, with its output on stdout or in a file. Raises UsageError."""
    in_step = output is None and actions.is_actions(os.environ)
    if in_step:
        # A `::set-output` of the script would rename what is uploaded, so workflow commands are off. They stay off
        # until the step ends, because a process that the script left behind could still print.
        click.echo(actions.format_stop())
    sys.stdout.flush()
    inherited = {name: value for name, value in os.environ.items() if not _is_withheld(name)}
    started_at = time.time()
    try:
        process = subprocess.Popen(
            list(command),
            cwd=directory,
            env={**inherited, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,  # the runner does not keep the order of lines of two streams
            start_new_session=in_step,
        )
    except OSError as error:
        raise UsageError(
            f"The row command {command[0]} cannot be started: {error.strerror}.",
            hint="Correct sweep.row-command in the policy.",
        ) from None
    with process, _forward_signals(process.pid) if in_step else nullcontext():
        try:
            code = process.wait()
        except BaseException:
            process.kill()
            raise
    return FinishedProcess(code=code if code >= 0 else 128 - code, started_at=started_at)


@contextmanager
def _forward_signals(group: int) -> Iterator[None]:
    """Forward the runner's SIGINT, and its SIGTERM 7.5 seconds later, to a group of processes."""
    # On a cancellation the runner signals the step's own process only, but the script may have containers to remove.

    def forward(number: int, _: object) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

    with handle_signals((signal.SIGINT, signal.SIGTERM), forward):
        yield


def _is_withheld(name: str) -> bool:
    """Return whether measured code must not see a variable: a token, or a file for messages to the runner."""
    return name in {
        "GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
    } or name.startswith("ACTIONS_")  # fmt: skip


def find_results(directory: Path, result_name: str) -> dict[Path, tuple[int, int, int]]:
    """Return the row's result files in a folder: path → inode, time and size, one of which changes with a write."""
    patterns = (f"agg_{result_name}*.json", META, "results*.json", "samples*.jsonl")
    paths = [path for pattern in patterns for path in sorted(directory.glob(pattern))]
    stats = {path: path.stat() for path in paths if path.is_file() and not path.is_symlink()}
    return {path: (stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in stats.items()}


def gather_results(
    directory: Path,
    out: Path,
    result_name: str,
    *,
    earlier: Mapping[Path, tuple[int, int, int]],
    since: float,
) -> list[Path]:
    """Copy the results that the command wrote, but none of an earlier command, and return their paths.

    earlier: the return value of `find_results` before the command started. since: the time of its start.
    """
    out.mkdir(parents=True, exist_ok=True)
    present = find_results(directory, result_name)
    # Clocks of file systems are coarse: a second of tolerance keeps a result that was written at once.
    fresh = [
        path
        for path, state in present.items()
        if state != earlier.get(path) and state[1] >= (since - 1) * 1e9
    ]
    if out.samefile(directory):
        return fresh
    return [Path(shutil.copy2(path, out / path.name)) for path in fresh]


def find_missing_results(names: Sequence[str], job: RowJob) -> list[str]:
    """Return the patterns of files that the job's result needs and that match none of the gathered names."""
    patterns = [META, "results*.json"] if job.row.eval_only else [f"agg_{job.result_name}*.json"]
    return [pattern for pattern in patterns if not any(fnmatch.fnmatchcase(name, pattern) for name in names)]
