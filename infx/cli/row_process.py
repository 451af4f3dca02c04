"""The row command as a process: a repository's own script, with the row in its environment."""

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
from infx.cli.signals import handled
from infx.errors import UsageError
from infx.results.evals import META


@dataclass(frozen=True, kw_only=True)
class Finished:
    """at: when it started, seconds since 1970."""

    code: int
    at: float


def run_command(
    command: Sequence[str], directory: Path, variables: Mapping[str, str], output: IO[bytes] | None = None
) -> Finished:
    """Run to its end, with its output where our stdout goes, or into a file. What the job holds for other steps is
    not handed down.

    On Actions no line of the output is a workflow command: `::set-output` would rename what is uploaded. Commands
    stay off until the step ends, because a process that was left behind could go on printing; and stderr joins
    stdout, because the runner reads two streams in an order of its own. And a cancellation, which the runner tells to
    the step's own process only, is passed on to the command and all that it started: it may have containers to remove.
    """
    in_step = output is None and actions.is_actions(os.environ)
    if in_step:
        click.echo(actions.format_stop())
    sys.stdout.flush()
    kept = {name: value for name, value in os.environ.items() if not _is_ours(name)}
    at = time.time()
    try:
        process = subprocess.Popen(
            list(command),
            cwd=directory,
            env={**kept, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=in_step,
        )
    except OSError as error:
        raise UsageError(
            f"The row command {command[0]} cannot be started: {error.strerror}.",
            hint="The policy names it, under sweep.row-command.",
        ) from None
    with process, _passing_on(process.pid) if in_step else nullcontext():
        try:
            code = process.wait()
        except BaseException:
            process.kill()
            raise
    return Finished(code=code if code >= 0 else 128 - code, at=at)


@contextmanager
def _passing_on(group: int) -> Iterator[None]:
    """The runner's SIGINT, and 7.5 seconds later its SIGTERM, reach a group of processes instead of us."""

    def pass_on(number: int, _: object) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

    with handled((signal.SIGINT, signal.SIGTERM), pass_on):
        yield


def _is_ours(name: str) -> bool:
    """Tokens and the files by which a step speaks to the runner are no business of measured code."""
    return name in {
        "GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
    } or name.startswith("ACTIONS_")  # fmt: skip


def look_at_results(directory: Path, result_name: str) -> dict[Path, tuple[int, int, int]]:
    """Return what of a row's results lies in a folder: path → inode, time and size, of which writing changes one."""
    patterns = (f"agg_{result_name}*.json", META, "results*.json", "samples*.jsonl")
    paths = [path for pattern in patterns for path in sorted(directory.glob(pattern))]
    found = {path: path.stat() for path in paths if path.is_file() and not path.is_symlink()}
    return {path: (stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in found.items()}


def gather_results(
    directory: Path,
    out: Path,
    result_name: str,
    *,
    earlier: Mapping[Path, tuple[int, int, int]],
    since: float,
) -> list[Path]:
    """Copy what the command has left in its folder: its own results, nobody's from before.

    earlier: what `look_at_results` saw before the command started. since: when that was.
    """
    out.mkdir(parents=True, exist_ok=True)
    found = look_at_results(directory, result_name)
    # Clocks of file systems are coarse: a second of grace keeps a result that was written at once.
    fresh = [
        path for path, state in found.items() if state != earlier.get(path) and state[1] >= (since - 1) * 1e9
    ]
    if out.samefile(directory):
        return fresh
    return [Path(shutil.copy2(path, out / path.name)) for path in fresh]


def find_lacking(names: Sequence[str], job: RowJob) -> list[str]:
    """Return the files that a result of the job consists of and that are not among the gathered ones."""
    wanted = [META, "results*.json"] if job.row.eval_only else [f"agg_{job.result_name}*.json"]
    return [pattern for pattern in wanted if not any(fnmatch.fnmatchcase(name, pattern) for name in names)]
