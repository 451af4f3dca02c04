"""Plans and cut plans on disk, for the commands that write and read them."""

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
    help="What infx shards wrote.",
)


def read_plan_file(path: Path) -> tuple[str, list[Row]]:
    """The text of a plan and its rows."""
    from infx.bench.family import read_rows

    data = read_file(path, "plan")
    try:
        text = data.decode()
        return text, read_rows(json.loads(text), str(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The plan is not JSON: {error}.", where=str(path)) from None


@contextmanager
def lines_of(folder: Path, name: str) -> Iterator[TextIO]:
    """A file of a cut plan, open."""
    try:
        file = (folder / name).open(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"There is no cut plan here: {error.strerror}.", hint="Run infx shards.", where=str(folder)
        ) from None
    with file:
        yield file


@contextmanager
def refusing_broken(folder: Path) -> Iterator[None]:
    """Whatever breaks while a cut plan is read is the plan's fault: it came from another job."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UsageError(
            f"The cut plan cannot be read ({type(error).__name__}).",
            hint="Run infx shards.",
            where=str(folder),
        ) from None


def check_shard(folder: Path, number: int) -> None:
    """An empty matrix is a job that did nothing and is green, so a shard that is not there is refused."""
    from infx.matrix.folder import INDEX

    with refusing_broken(folder), lines_of(folder, INDEX) as index:
        count = int(json.load(index)["shards"])
    if not 0 <= number < count:
        raise UsageError(
            f"The plan has no shard {number}; it has {count}, counted from 0.", where=str(folder)
        )


def read_all_jobs(folder: Path) -> list[RowJob]:
    """Every job of a cut plan. Raises UsageError where the folder holds another number of them than it says."""
    from infx.matrix.folder import INDEX, JOBS, read_jobs

    with refusing_broken(folder):
        with lines_of(folder, INDEX) as index:
            planned = int(json.load(index)["rows"])
        with lines_of(folder, JOBS) as lines:
            jobs = list(read_jobs(lines))
    if planned != len({job.id for job in jobs}) or planned != len(jobs):
        raise UsageError(
            f"The cut plan is not whole: {INDEX} says {count(planned, 'row')}, {JOBS} has {count(len(jobs), 'row')}.",
            hint="Run infx shards.",
            where=str(folder),
        )
    return jobs


def find_job_in(folder: Path, row_id: str) -> RowJob:
    """One row's job. Raises UsageError if the plan does not have it."""
    from infx.matrix.folder import JOBS, find_job

    with refusing_broken(folder), lines_of(folder, JOBS) as lines:
        return find_job(lines, row_id)
