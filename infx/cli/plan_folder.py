"""Plan files and plan folders on disk, for the commands that write or read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from infx.errors import UsageError
from infx.files import read_file
from infx.phrases import count

if TYPE_CHECKING:
    from infx.bench.jobs import RowJob
    from infx.bench.row import Row

plan_folder_option = click.option(
    "--plan",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Plan folder: the folder that infx shards wrote.",
)


def read_plan_file(path: Path) -> tuple[str, list[Row]]:
    """Return the text of a plan, and its rows. Raises UsageError."""
    from infx.bench.family import read_rows

    data = read_file(path, "plan")
    try:
        text = data.decode()
        return text, read_rows(json.loads(text), str(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"The plan is not JSON: {error}.", hint="Write it again with infx plan.", where=str(path)
        ) from None


@contextmanager
def open_part(folder: Path, name: str) -> Iterator[TextIO]:
    """Open a file of a plan folder. Raises UsageError if it does not exist."""
    try:
        file = (folder / name).open(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"There is no plan folder here: {error.strerror}.",
            hint="Run infx shards first: it writes this folder.",
            where=str(folder),
        ) from None
    with file:
        yield file


@contextmanager
def refuse_broken(folder: Path) -> Iterator[None]:
    """Turn any error of reading a plan folder into a UsageError."""
    # The plan came as an artifact of another job, so the plan is at fault and not infx.
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UsageError(
            f"The plan folder cannot be read ({type(error).__name__}).",
            hint="Run infx shards again.",
            where=str(folder),
        ) from None


def check_shard(folder: Path, number: int) -> None:
    """Raise UsageError if the plan has no such shard."""
    # Otherwise the matrix would be empty, and a job that did nothing would be green.
    from infx.matrix.folder import INDEX

    with refuse_broken(folder), open_part(folder, INDEX) as index:
        count = int(json.load(index)["shards"])
    if not 0 <= number < count:
        raise UsageError(
            f"The plan has no shard {number}; it has {count}, counted from 0.", where=str(folder)
        )


def read_all_jobs(folder: Path) -> list[RowJob]:
    """Return every job of a plan folder. Raises UsageError if their number differs from the plan's index."""
    from infx.matrix.folder import INDEX, JOBS, read_jobs

    with refuse_broken(folder):
        with open_part(folder, INDEX) as index:
            planned = int(json.load(index)["rows"])
        with open_part(folder, JOBS) as lines:
            jobs = list(read_jobs(lines))
    if planned != len({job.id for job in jobs}) or planned != len(jobs):
        raise UsageError(
            f"The plan folder is not complete: {INDEX} says {count(planned, 'row')}, {JOBS} has {count(len(jobs), 'row')}.",
            hint="Run infx shards again.",
            where=str(folder),
        )
    return jobs


def find_job_in(folder: Path, row_id: str) -> RowJob:
    """Return the job of a row. Raises UsageError if the plan does not have the row."""
    from infx.matrix.folder import JOBS, find_job

    with refuse_broken(folder), open_part(folder, JOBS) as lines:
        return find_job(lines, row_id)
