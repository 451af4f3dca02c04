"""infx shards, rows and row: a plan cut to GitHub's limits, and what a job of it reads."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TextIO

import click

from infx import actions
from infx.cli.options import find_root, policy_option
from infx.errors import ProblemsError, UsageError
from infx.matrix.config import Runners
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.matrix.priority import Priorities
    from infx.matrix.row import Row

_plan_folder = click.option(
    "--plan",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="What infx shards wrote.",
)


@click.command()
@click.option(
    "--plan", "plan_file", required=True, type=click.Path(path_type=Path, dir_okay=False), help="A plan."
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder to write; must not exist."
)
@click.option("--no-canary", is_flag=True, help="Choose no row to run first.")
@click.option("--event", default="", help="The event that started the run, for priorities.")
@click.option("--label", "labels", multiple=True, help="A label of the pull request, for priorities.")
@click.option(
    "--runner-config", type=click.Path(path_type=Path), help="Default: the policy's, of this repository."
)
@policy_option
def shards(
    plan_file: Path,
    out: Path,
    no_canary: bool,
    event: str,
    labels: tuple[str, ...],
    runner_config: Path | None,
    policy: Policy,
) -> None:
    """Cut a plan into matrices that GitHub takes."""
    from infx.matrix.folder import INDEX, render_folder
    from infx.matrix.shards import Occasion, cut_shards

    text, rows = read_plan_file(plan_file)
    root = find_root(Path.cwd())
    namespace = f"{os.environ.get('GITHUB_RUN_ID', '0')}:{os.environ.get('GITHUB_RUN_ATTEMPT', '1')}"
    occasion = Occasion(event=event, labels=labels, namespace=namespace)
    runners = read_runners(runner_config or root / policy.runners)
    priorities = read_priorities_file(root / policy.priorities)
    cut = cut_shards(rows, runners, priorities, policy, occasion, with_canary=not no_canary)
    files = render_folder(cut, text)
    write_folder(out, files)
    numbers = {
        "shards": json.dumps(list(range(cut.count))),
        "shard-count": str(cut.count),
        "row-count": str(len(cut.jobs)),
        "canary-id": cut.canary.id if cut.canary else "",
    }
    actions.write_outputs(os.environ, numbers)
    click.echo(files[INDEX], nl=False)


@click.command()
@_plan_folder
@click.option("--shard", type=int, help="Number of the shard, from 0.")
@click.option("--canary", is_flag=True, help="The row that runs first, instead of a shard.")
@click.option("--without", metavar="ID", help="A row that has already run, as the canary has.")
def rows(folder: Path, shard: int | None, canary: bool, without: str | None) -> None:
    """Print the matrix of one shard, or of the canary."""
    from infx.matrix.folder import CANARY, JOBS, read_jobs, read_shard
    from infx.matrix.shards import render_matrix

    if canary is (shard is not None):
        raise UsageError("Name either a shard or the canary.", hint="Give --shard N or --canary.")
    with lines_of(folder, CANARY if shard is None else JOBS) as lines:
        found = read_jobs(lines) if shard is None else read_shard(lines, shard)
        jobs = [job for job in found if job.id != without]
    matrix = render_matrix(jobs)
    actions.write_outputs(os.environ, {"matrix": matrix, "count": str(len(jobs))})
    click.echo(matrix)


@click.group()
def row() -> None:
    """Show one row of a plan, to people and to scripts."""


@row.command()
@_plan_folder
@click.option("--id", "row_id", required=True, help="The row's id: the start of its job's name.")
def show(folder: Path, row_id: str) -> None:
    """Print a row as JSON."""
    from infx.matrix.folder import JOBS, find_job
    from infx.matrix.row import render_row

    with lines_of(folder, JOBS) as lines:
        job = find_job(lines, row_id)
    values = {"id": job.id, "name": job.name, "result-name": job.result_name, "row": render_row(job.row)}
    click.echo(json.dumps(values, ensure_ascii=False, indent=2))


@row.command()
@_plan_folder
@click.option("--id", "row_id", required=True, help="The row's id: the start of its job's name.")
@click.option("--format", "form", type=click.Choice(["shell", "json"]), default="shell", show_default=True)
@policy_option
def env(folder: Path, row_id: str, form: str, policy: Policy) -> None:
    """Print a row as environment variables, quoted for a shell."""
    from infx.matrix.environment import project_job
    from infx.matrix.folder import JOBS, find_job

    with lines_of(folder, JOBS) as lines:
        values = project_job(find_job(lines, row_id), max_bytes=policy.limits.environment_bytes)
    if form == "json":
        click.echo(json.dumps(values, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(f"export {name}={shlex.quote(value)}" for name, value in values.items()))


def read_plan_file(path: Path) -> tuple[str, list[Row]]:
    """The text of a plan and its rows."""
    from infx.matrix.family import read_rows

    try:
        text = path.read_text(encoding="utf-8")
        return text, read_rows(json.loads(text), str(path))
    except OSError as error:
        raise UsageError(f"The plan cannot be read: {error.strerror}.", where=str(path)) from None
    except ValueError as error:
        raise UsageError(f"The plan is not JSON: {error}.", where=str(path)) from None


def read_runners(path: Path) -> Runners:
    """The inventory; one without labels where there is no file."""
    from infx.matrix.runners import parse_runners

    if not path.is_file():
        return Runners(labels={}, hardware={}, path=str(path))
    runners, problems = parse_runners(path.read_bytes(), str(path))
    if problems:
        raise ProblemsError(problems)
    return runners


def read_priorities_file(path: Path) -> Priorities:
    """The repository's weights; all rows are equal where there is no file."""
    from infx import schema, yaml12
    from infx.matrix.priority import NO_PRIORITIES, read_priorities

    if not path.is_file():
        return NO_PRIORITIES
    document = yaml12.load_mapping(path.read_bytes(), str(path))
    if problems := schema.check("ci-priority", document):
        raise ProblemsError(problems)
    return read_priorities(document.value)


def write_folder(out: Path, files: dict[str, str]) -> None:
    """All files or none: written beside the folder and moved into place."""
    if out.exists():
        raise UsageError("The folder exists already.", hint="Name another one, or remove it.", where=str(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent) as temporary:
        draft = Path(temporary) / "draft"
        draft.mkdir()
        for name, text in files.items():
            (draft / name).write_text(text, encoding="utf-8")
        draft.rename(out)


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
