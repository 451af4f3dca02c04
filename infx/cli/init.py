"""infx init: make the files that a repository needs to use infx."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from infx.cli.options import examples, format_option
from infx.cli.report import print_json, print_text
from infx.gather.local import find_root

if TYPE_CHECKING:
    from infx.adoption.answers import Answers
    from infx.adoption.files import MadeFile
    from infx.adoption.questions import AdoptionQuestion
    from infx.gather.adoption import Found, RepositoryFiles


class RepositoryPath(click.types.StringParamType):
    """A path in the repository; init itself refuses one that is not inside. The tab key completes it."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


@examples(
    "infx init",
    "infx init --runner h200=h200-a_0 --actions your-org/infx@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0 --diff",
)
@click.command()
@click.option(
    "--repo", metavar="OWNER/NAME", help="Name of this repository. Default: that of the remote origin."
)
@click.option("--base-branch", metavar="NAME", help="Branch of merges. Default: the remote's default branch.")
@click.option("--changelog", type=RepositoryPath(), metavar="FILE", help="Path of the changelog.")
@click.option(
    "--master-config",
    multiple=True,
    type=RepositoryPath(),
    metavar="FILE",
    help="Path of a file with configurations. May repeat.",
)
@click.option("--runner-config", type=RepositoryPath(), metavar="FILE", help="Path of the runner inventory.")
@click.option("--clusters", type=RepositoryPath(), metavar="FILE", help="Path of the clusters.")
@click.option("--models", type=RepositoryPath(), metavar="FILE", help="Path of the models.")
@click.option(
    "--runner",
    multiple=True,
    metavar="LABEL[=NAME]",
    help="Label of self-hosted runners, and the name of a runner. May repeat.",
)
@click.option(
    "--signoffs/--no-signoffs", default=None, help="Whether reviewers sign off with a checklist. Default: no."
)
@click.option(
    "--code-owner", multiple=True, metavar="@LOGIN", help="Owner of all files, for sign-offs. May repeat."
)
@click.option("--app", metavar="NAME", help="Name of your own GitHub App. Default: none.")
@click.option(
    "--runner-boundary",
    metavar="TEXT",
    help="What keeps a pull request's own workflow off the GPU runners. Default: not stated.",
)
@click.option(
    "--actions", metavar="OWNER/INFX@SHA", help="Version of infx that workflows use. Default: this one."
)
@click.option(
    "--only",
    type=click.Choice(["shadow", "configs", "workflows"]),
    help="Make only these files: for a trial that only reads, or for two pull requests.",
)
@click.option("--yes", is_flag=True, help="Accept the defaults; ask nothing.")
@click.option(
    "--diff",
    is_flag=True,
    help="Print what would change as a diff, and write nothing. Exit code 1: something would.",
)
@format_option
@click.pass_context
def init(
    ctx: click.Context, /, *, only: str | None, yes: bool, diff: bool, as_json: bool, **options: Any
) -> None:
    """Make the files that this repository needs to use infx.

    The questions are asked on a terminal; elsewhere the options answer them. No file that exists is changed.
    """
    from infx.adoption.files import FilePart, make_files, render_diff, select_files
    from infx.apply.adoption import write_new_files
    from infx.gather.adoption import RepositoryFiles, find_answers

    files = RepositoryFiles(root=find_root(Path.cwd()))
    found = find_answers(files)
    skipped = () if only in {None, "configs"} else ("runner", "code-owner")
    answers = _answer(options, files, found, skipped, is_asking=sys.stdin.isatty() and not yes)
    made = select_files(make_files(answers, files.read), FilePart(only) if only else None)
    if diff:
        text = render_diff(made)
        click.echo(text, nl=False)
        ctx.exit(int(bool(text)))
    write_new_files(files.root, made)
    _show(answers, made, found.default_branch, as_json=as_json)


def _answer(
    options: dict[str, Any],
    files: RepositoryFiles,
    found: Found,
    skipped: tuple[str, ...],
    *,
    is_asking: bool,
) -> Answers:
    """Return the answers of the options, of the repository and of the person at the terminal."""
    from infx.adoption.answers import make_answers
    from infx.adoption.questions import complete_texts

    given = _read_options(options)

    def ask(question: AdoptionQuestion, default: tuple[str, ...]) -> tuple[str, ...]:
        return default if question.name in found.settled else _ask(question, default)

    texts, needed = complete_texts(given, found.defaults, files.exists, ask if is_asking else None, skipped)
    return make_answers(texts, found.settled, needed)


def _read_options(options: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return name of a question → words of its answer, for each option that was given."""
    texts: dict[str, tuple[str, ...]] = {}
    for name, value in options.items():
        if isinstance(value, bool):
            texts[name] = ("yes" if value else "no",)
        elif value:
            texts[name.replace("_", "-")] = value if isinstance(value, tuple) else (value,)
    return texts


def _ask(question: AdoptionQuestion, default: tuple[str, ...]) -> tuple[str, ...]:
    """Ask a person until the answer is valid."""
    from infx.adoption.questions import split_words

    def check(text: str) -> tuple[str, ...]:
        words = split_words(text) if question.is_list else (text.strip(),)
        for word in words:
            if expected := question.find_problem(word):
                raise click.BadParameter(f"expected {expected}.")
        return words

    several = " (several: with spaces)" if question.is_list else ""
    shown = " ".join(default) or (None if question.is_required else "")
    words = f"{question.option}: {question.words}{several}"
    answer: tuple[str, ...] = click.prompt(words, default=shown, value_proc=check, err=True)
    return tuple(filter(None, answer))


def _show(answers: Answers, made: list[MadeFile], default_branch: str | None, *, as_json: bool) -> None:
    from infx.adoption.report import describe_counts, list_next_steps, render_files

    steps = list_next_steps(answers, made, default_branch)
    if as_json:
        print_json(
            {"files": [{"path": file.path, "state": file.state.value} for file in made], "next": steps}
        )
    else:
        click.echo(render_files(made))
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    print_text("\n".join([describe_counts(made), "Next:", *numbered]), os.environ)
