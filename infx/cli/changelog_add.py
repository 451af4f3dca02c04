"""infx changelog add."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from infx.cli.options import RepositoryName, examples, policy_part_option
from infx.cli.report import print_text
from infx.errors import ProblemsError, UsageError
from infx.files import write_file
from infx.gather.changelog import make_links, make_own_links, read_configs
from infx.gather.local import find_root, load_part
from infx.policy.changelog import ChangelogPolicy

if TYPE_CHECKING:
    from infx.changelog.add import NewEntry


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    policy = load_part(None, ChangelogPolicy)
    configs = read_configs(find_root(Path.cwd()), policy)
    return [CompletionItem(key) for key in (configs.keys if configs else []) if key.startswith(incomplete)]


@examples('infx changelog add --config-key qwen3.5-fp8-h100-sglang --description "What changed, and why."')
@click.command()
@click.option(
    "--config-key",
    "keys",
    multiple=True,
    required=True,
    shell_complete=_complete,
    metavar="KEY",
    help="A key, a part of exactly one key, or a pattern. May repeat.",
)
@click.option(
    "--description", "descriptions", multiple=True, required=True, help="What changed and why. May repeat."
)
@click.option(
    "--translation",
    "translations",
    multiple=True,
    help="A description in a second language; one for each --description.",
)
@click.option(
    "--scenario-type",
    "scenarios",
    multiple=True,
    type=click.Choice(["fixed-seq-len", "agentic-coding"]),
    help="Run only scenarios of this type. May repeat.",
)
@click.option("--evals-only", is_flag=True, help="Run the selected accuracy runs, and no throughput.")
@click.option("--all-evals", is_flag=True, help="Run every possible accuracy run, and no throughput.")
@click.option("--no-evals", is_flag=True, help="Run throughput, and no accuracy runs.")
@click.option("--append-only", is_flag=True, help="Run only points that the base branch does not have.")
@click.option(
    "--eval-min-prefill-ep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Leave out accuracy runs with a smaller prefill ep.",
)
@click.option(
    "--pr", type=click.IntRange(min=1), metavar="N", help="Pull request to link. Default: a placeholder."
)
@click.option("--repo", type=RepositoryName(), metavar="OWNER/NAME", help="Repository of the pull request.")
@click.option("--dry-run", is_flag=True, help="Print the entry; write nothing.")
@policy_part_option(ChangelogPolicy)
def add(policy: ChangelogPolicy, *, dry_run: bool, **options: Any) -> None:
    """Append a new, valid entry."""
    from infx.changelog.add import render_entry
    from infx.changelog.layout import append

    new = _make_entry(policy, options)
    text = render_entry(new)
    if dry_run:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        return
    file = find_root(Path.cwd()) / policy.changelog
    before = _read_changelog(file, policy.changelog)
    write_file(file, append(before or b"", [text]))
    action = "Appended to" if before is not None else "There was no changelog. Wrote a new one,"
    print_text(f"{action} {policy.changelog}: {', '.join(new.entry.config_keys)}.", os.environ)


def _read_changelog(file: Path, path: str) -> bytes | None:
    """Return the changelog's bytes, or None if there is no file. Raises ProblemsError if nothing may be appended."""
    from infx.changelog.add import check_end

    if not file.exists():
        _refuse_skipped(path)
        return None
    before = file.read_bytes()
    if problems := check_end(before, path):
        raise ProblemsError(problems)
    return before


def _refuse_skipped(path: str) -> None:
    """Raise UsageError if the changelog exists and a sparse checkout has left it out of the working tree."""
    from infx.git import Git, GitError

    try:
        is_skipped = Git(Path.cwd()).read_skipped(path) is not None
    except GitError:  # outside a repository, a file that is missing does not exist
        return
    if is_skipped:
        message = f"{path} is not checked out here: this is a sparse checkout."
        raise UsageError(message, hint=f"git sparse-checkout add {path}")


def _make_entry(policy: ChangelogPolicy, options: dict[str, Any]) -> NewEntry:
    from infx.bench.entry import Entry
    from infx.bench.scenario import ScenarioType
    from infx.changelog.add import NewEntry, complete_keys

    configs = read_configs(find_root(Path.cwd()), policy)
    if configs is None:
        raise UsageError("There are no configurations here.", hint="Run this inside the repository.")
    make = make_own_links if options["pr"] else make_links
    links = make(options["repo"], policy)
    entry = Entry(
        line=1,
        config_keys=tuple(complete_keys(options["keys"], configs.keys)),
        description=options["descriptions"],
        pr_link=links.canonical(options["pr"]) if options["pr"] else links.placeholders[0],
        scenario_types=tuple(dict.fromkeys(map(ScenarioType, options["scenarios"]))),
        evals_only=options["evals_only"],
        all_evals=options["all_evals"],
        no_evals=options["no_evals"],
        append_only=options["append_only"],
        eval_min_prefill_ep=options["eval_min_prefill_ep"],
    )
    return NewEntry(entry=entry, translations=options["translations"])
