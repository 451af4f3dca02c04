"""infx changelog resolve, merge-driver and install-driver."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from infx.changelog.conflict import render_conflict
from infx.changelog.merge import DRIVER, Merged, MergeRefusedError
from infx.changelog.merge import resolve as merge_versions
from infx.cli.options import RepositoryName, examples, policy_part_option
from infx.cli.report import print_problems, print_text
from infx.errors import InfxError, UsageError, visible
from infx.files import write_file
from infx.gather.changelog import make_links, make_own_links, read_base_versions
from infx.gather.local import load_part
from infx.git import Git, GitError
from infx.phrases import count
from infx.policy.changelog import ChangelogPolicy

_MOST_CONFLICTS = (
    127  # `git merge-file` exits with the number of conflicts up to this; a larger code is a failure
)


@examples("infx changelog resolve --pr 77")
@click.command()
@click.option(
    "--pr",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also write the canonical link into this pull request's entries.",
)
@click.option(
    "--repo", type=RepositoryName(), metavar="OWNER/NAME", help="Repository of the pull requests in links."
)
@policy_part_option(ChangelogPolicy)
def resolve(policy: ChangelogPolicy, *, pr: int | None, repo: str | None) -> None:
    """Resolve a merge conflict in which both sides appended entries."""
    git = Git(Git(Path.cwd()).root())
    links = make_links(repo, policy) if pr is None else make_own_links(repo, policy)
    ancestor, ours, theirs = _read_stages(git, policy.changelog)
    versions = read_base_versions(git, policy.base_branch, policy.changelog, links.repository)
    merged = merge_versions(ancestor, ours, theirs, versions, links, number=pr)
    write_file(git.directory / policy.changelog, merged.data)
    git.run("add", "--", policy.changelog)
    _print_outcome(merged, policy.changelog)


@click.command("merge-driver")
@click.argument("ancestor", type=click.Path(path_type=Path))
@click.argument("current", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.argument("marker_size", type=int)
@click.argument("path")
def merge_driver(ancestor: Path, current: Path, other: Path, marker_size: int, path: str) -> int:
    """Merge three versions of the changelog; git calls this command.

    Git passes %O %A %B %L %P; the result goes into CURRENT. If a side did more than append, git's own merge of
    lines decides. On a conflict infx writes the conflict markers itself, because git would leave CURRENT unchanged
    and silently lose one side.
    """
    git = Git(Path.cwd())
    try:
        policy = _load_driver_policy()
        links = make_links(None, policy)
        versions = read_base_versions(git, policy.base_branch, path, links.repository)
        before, ours, theirs = (file.read_bytes() for file in (ancestor, current, other))
        merged = merge_versions(before, ours, theirs, versions, links)
    except Exception as error:  # after any failure, CURRENT must get conflict markers
        refusal = (
            error
            if isinstance(error, InfxError)
            else InfxError(f"infx failed: {type(error).__name__}: {error}.")
        )
        return _merge_lines(git, (current, ancestor, other), marker_size, refusal, path)
    current.write_bytes(merged.data)
    _print_outcome(merged, path)
    return 0


def _load_driver_policy() -> ChangelogPolicy:
    """Return the policy, or the packaged default if the policy cannot be read."""
    from infx.policy.load import default_part

    try:
        return load_part(os.environ.get("INFX_POLICY"), ChangelogPolicy)
    except InfxError:  # during a merge the policy itself may be in conflict
        return default_part(ChangelogPolicy)


def _merge_lines(git: Git, files: Sequence[Path], marker_size: int, refusal: InfxError, path: str) -> int:
    """Let git merge the lines and return the exit code: 0 merged, 1 conflict markers were written.

    files: ours, which receives the result; the ancestor; theirs.
    """
    labels = [part for label in ("ours", "base", "theirs") for part in ("-L", label)]
    names = [str(file.absolute()) for file in files]
    outcome = "conflict markers were written"
    try:
        output = git.call("merge-file", f"--marker-size={marker_size}", *labels, "--", *names)
        failure = output.message if output.code > _MOST_CONFLICTS else ""
    except GitError as error:
        failure = error.message
    if failure:  # git has then left our side unchanged, without theirs
        ours, _, theirs = files
        ours.write_bytes(render_conflict(ours.read_bytes(), theirs.read_bytes(), marker_size))
        outcome = f"git cannot merge its lines ({visible(failure)}), so both sides were written whole, between conflict markers"
    elif output.code == 0:
        return 0
    print_problems(refusal.problems, os.environ)
    print_text(f"{path}: {outcome}; resolve them by hand.", os.environ)
    return 1


def _read_stages(git: Git, path: str) -> tuple[bytes, bytes, bytes]:
    """Return stages 1 to 3 of a file in conflict; the ancestor is empty if both sides added the file."""
    listed = git.run("ls-files", "--unmerged", "-z", "--", path)
    stages = {int(row.split(b"\t")[0].split(b" ")[2]) for row in listed.split(b"\0") if row}
    if not stages:
        raise UsageError(
            f"{path} is not in conflict.", hint="Run this while a merge, rebase or cherry-pick is stopped."
        )
    if not {2, 3} <= stages:
        raise MergeRefusedError(
            f"One side deleted {path}.", hint="Keep the file: git checkout <base branch> -- " + path
        )
    blobs = [
        git.run("cat-file", "blob", f":{stage}:{path}") if stage in stages else b"" for stage in (1, 2, 3)
    ]
    return blobs[0], blobs[1], blobs[2]


def _print_outcome(merged: Merged, path: str) -> None:
    placed = len(merged.kept)
    entries = count(placed, "new entry", "new entries")
    outcome = f"{entries} placed after the base branch's entries" if placed else "merged"
    print_text(f"{path}: {outcome}.", os.environ)
    for block in merged.present:
        keys = block.fields.get("config-keys")
        shown = visible(", ".join(map(str, keys))) if isinstance(keys, list) else "an entry"
        print_text(
            f"{path}: {shown} is already on the base branch with the same text; it was not repeated.",
            os.environ,
        )


def _make_driver_command(python: str) -> str:
    """Return the merge driver as a command line for the shell that git starts."""
    # -P: a folder `infx` in the working tree must not be imported. If this Python is gone, git merges lines, because
    # a driver that cannot be started would silently lose one side.
    program = shlex.quote(python).replace("%", "%%")
    lines = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
    return (
        f"test -x {program} || exec {lines}; exec {program} -P -m infx changelog merge-driver %O %A %B %L %P"
    )


@examples("infx changelog install-driver")
@click.command("install-driver")
@policy_part_option(ChangelogPolicy)
def install_driver(policy: ChangelogPolicy) -> None:
    """Configure git in this clone to merge the changelog with infx."""
    git = Git(Git(Path.cwd()).root())
    git.run("config", "--local", f"merge.{DRIVER}.name", "appends to the changelog, side by side")
    git.run("config", "--local", f"merge.{DRIVER}.driver", _make_driver_command(sys.executable))
    file = git.directory / git.line("rev-parse", "--git-path", "info/attributes")
    line = f"{policy.changelog} merge={DRIVER}"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if line not in text.splitlines():
        file.parent.mkdir(parents=True, exist_ok=True)
        start = "" if not text or text.endswith("\n") else "\n"
        write_file(file, f"{text}{start}{line}\n".encode())
    print_text(f"From now on, git merges {policy.changelog} with infx in this clone.", os.environ)
