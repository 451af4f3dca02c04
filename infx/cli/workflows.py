"""infx workflows: what can be wrong in workflow and action files."""

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
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@policy_option
@format_option
@click.pass_context
def check(ctx: click.Context, directory: Path | None, policy: Policy, as_json: bool) -> None:
    """Report what is wrong with workflow and action files.

    DIRECTORY is a repository or its .github, by default that of the repository one stands in; the root action beside
    .github is read too.
    """
    from infx.workflows.check import check_files

    files = read_sources(directory or find_root(Path.cwd()) / ".github")
    code = report(check_files(files, policy), os.environ, as_json=as_json)
    if not as_json and not code:
        click.echo(f"{count(len(files), 'file')}, no errors.", err=True)
    ctx.exit(code)


def read_sources(directory: Path) -> dict[str, bytes]:
    """Workflow files and actions below `directory`, the action beside it and those that they use by a path, by path
    from its parent. A repository or its folder of workflows stands for the .github that belongs to it.
    """
    from infx.workflows.local import find_local_paths

    given = directory.resolve()
    if (given / ".github").is_dir():
        given = given / ".github"
    elif given.name == "workflows":
        given = given.parent
    root = given.parent
    patterns = ((given, "workflows/*"), (given, "actions/**/action"), (root, "action"))
    found = [
        path
        for folder, pattern in patterns
        for ending in (".yml", ".yaml")
        for path in folder.glob(pattern + ending)
        if path.is_file()
    ]
    if not found:
        raise UsageError("There are no workflow or action files here.", where=str(directory))
    files = {str(path.relative_to(root)): path.read_bytes() for path in sorted(found)}
    waiting = list(files.values())
    while waiting:
        for path in sorted(find_local_paths(waiting.pop()) - set(files)):
            if (root / path).is_file() and (root / path).resolve().is_relative_to(root):
                files[path] = (root / path).read_bytes()
                waiting.append(files[path])
    return files
