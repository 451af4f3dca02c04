"""infx workflows: check workflow and action files."""

from __future__ import annotations

import os
from pathlib import Path

import click

from infx.cli.options import examples, format_option, policy_option
from infx.cli.report import report
from infx.errors import UsageError
from infx.gather.local import find_root
from infx.phrases import count
from infx.policy.model import Policy


@click.group()
def workflows() -> None:
    """Check workflow and action files."""


@examples("infx workflows check")
@workflows.command()
@click.argument("directory", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@policy_option
@format_option
@click.pass_context
def check(ctx: click.Context, directory: Path | None, policy: Policy, as_json: bool) -> None:
    """Report problems of workflow and action files.

    DIRECTORY is a repository or its .github folder. Default: the current repository. The action in the
    repository's root is checked too.
    """
    from infx.workflows.check import check_files

    files = read_sources(directory or find_root(Path.cwd()) / ".github")
    code = report(check_files(files, policy), os.environ, as_json=as_json)
    if not as_json and not code:
        click.echo(f"{count(len(files), 'file')}, no errors.", err=True)
    ctx.exit(code)


def read_sources(directory: Path) -> dict[str, bytes]:
    """Return path → bytes of workflows and actions. Raises UsageError if there are none.

    The files are the workflows and actions of .github, the root's action, and every local action that these use.
    directory: a repository, its .github folder or its folder of workflows. Paths start at the repository's root.
    """
    from infx.workflows.local import find_local_paths

    folder = directory.resolve()
    if (folder / ".github").is_dir():
        folder = folder / ".github"
    elif folder.name == "workflows":
        folder = folder.parent
    root = folder.parent
    patterns = ((folder, "workflows/*"), (folder, "actions/**/action"), (root, "action"))
    paths = [
        path
        for place, pattern in patterns
        for ending in (".yml", ".yaml")
        for path in place.glob(pattern + ending)
        if path.is_file()
    ]
    if not paths:
        raise UsageError(
            "There are no workflow or action files here.",
            hint="Name a repository that has a .github folder.",
            where=str(directory),
        )
    files = {str(path.relative_to(root)): path.read_bytes() for path in sorted(paths)}
    unread = list(files.values())
    while unread:
        for path in sorted(find_local_paths(unread.pop()) - set(files)):
            if (root / path).is_file() and (root / path).resolve().is_relative_to(root):
                files[path] = (root / path).read_bytes()
                unread.append(files[path])
    return files
