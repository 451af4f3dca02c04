"""Gather the two versions of the changelog that a command compares, and the other files of both revisions."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from infx.changelog.links import PullLinks
from infx.changelog.subject import Context
from infx.errors import UnavailableError, UsageError
from infx.files import read_file
from infx.gather.local import Receive, find_repository_name, parse_remote
from infx.policy.changelog import ChangelogPolicy
from infx.policy.stage import Stage
from infx.records import record

if TYPE_CHECKING:
    from infx.changelog.keys import ConfigKeys
    from infx.changelog.merge import Sides
    from infx.gate.question import Question
    from infx.gather.plan import ReadFiles
    from infx.git import Git


@record
class ChangelogSources:
    """The two versions of the changelog, with everything that is needed to judge them.

    Attributes:
        base: None if the file does not exist.
        head: None if the file does not exist.
        find_target: returns the file that a fix is written to; None if the head is a commit and the working tree
            differs.
        find_merge: returns the sides of the merge commit that made the head's file, if there is such a commit.
        read_head: reads other files at the head.
        read_base: reads other files at the base; None if the versions are given as files.
        policy_source: the source of the whole policy, for rules that need more than the changelog's part.
    """

    base: bytes | None = field(repr=False)
    head: bytes | None = field(repr=False)
    context: Context
    find_target: Callable[[], Path | None]
    find_merge: Callable[[], Sides | None] | None = None
    read_head: ReadFiles
    read_base: ReadFiles | None = None
    policy_source: str | None = None


@record
class SourceOptions:
    """The command-line options that select the two versions of the changelog."""

    base_ref: str | None
    head_ref: str | None
    base_file: Path | None
    head_file: Path | None
    receive: Receive
    pr: int | None
    stage: str | None
    repo: str | None


def gather_changelog(options: SourceOptions, policy: ChangelogPolicy) -> ChangelogSources:
    files, refs = (options.base_file, options.head_file), (options.base_ref, options.head_ref)
    if sum(map(any, (files, refs, (options.receive.file, options.receive.name)))) > 1:
        raise UsageError(
            "Files, revisions and an event exclude each other.", hint="Give only one of the three."
        )
    context = Context(
        path=policy.changelog,
        links=make_links(options.repo, policy),
        stage=Stage(options.stage or Stage.PR),
        number=options.pr,
    )
    if any(files):
        return _gather_files(options, policy, context)
    if options.receive.file is None and options.receive.name is None:
        return _gather_revisions(options.base_ref, options.head_ref, policy, context)
    from infx.gate.question import read_question

    received = options.receive()
    if received is None:
        raise UsageError("No event was found that names the revisions.", hint="Give --event as well.")
    question = read_question(received.name, received.payload)
    return _gather_event(
        question,
        policy,
        replace(
            context,
            stage=Stage(options.stage) if options.stage else question.stage,
            number=options.pr or question.number,
        ),
    )


def make_links(repo: str | None, policy: ChangelogPolicy) -> PullLinks:
    return PullLinks(
        server=policy.pr_link.server,
        repository=find_repository_name(repo, policy),
        placeholders=policy.pr_link.placeholders,
        former_names=policy.former_names,
    )


def make_own_links(repo: str | None, policy: ChangelogPolicy) -> PullLinks:
    """Return the links of a repository that is known. Raise UsageError if it is unknown."""
    links = make_links(repo, policy)
    if links.repository is None:
        raise UsageError("A link needs the repository's name, which is unknown.", hint="Give --repo.")
    return links


def _gather_files(options: SourceOptions, policy: ChangelogPolicy, context: Context) -> ChangelogSources:
    if options.base_file is None or options.head_file is None:
        raise UsageError("--base-file and --head-file must be given together.")
    folder = options.head_file.parent
    return ChangelogSources(
        base=read_file(options.base_file, "file"),
        head=read_file(options.head_file, "file"),
        context=replace(
            context,
            path=str(options.head_file),
            base_name=None,
            configs=read_configs(folder, policy),
        ),
        find_target=lambda: options.head_file,
        read_head=functools.partial(_read_folder, folder),
    )


def _read_folder(folder: Path, paths: Sequence[str]) -> list[bytes | None]:
    return [(folder / path).read_bytes() if (folder / path).is_file() else None for path in paths]


def read_configs(folder: Path, policy: ChangelogPolicy) -> ConfigKeys | None:
    """Return the keys of the master configurations in a folder, or None if it has no master configuration."""
    return _make_configs(policy.master_configs, _read_folder(folder, policy.master_configs))


def _make_configs(paths: Sequence[str], files: Sequence[bytes | None]) -> ConfigKeys | None:
    from infx.changelog.keys import ConfigKeys

    masters = tuple((path, data) for path, data in zip(paths, files, strict=True) if data is not None)
    return ConfigKeys(files=masters) if masters else None


def _gather_event(question: Question, policy: ChangelogPolicy, context: Context) -> ChangelogSources:
    from infx.git import Git, MissingRevisionError

    git = Git(Path.cwd())
    if question.base is None:
        if question.oldest is None:
            raise UnavailableError(
                "The base revision is unavailable: the push names neither the revision before it nor its first commit.",
                hint="Give --base-ref and --head-ref.",
            )
        return _compare(git, git.first_parent(question.oldest), question.head, policy, context)
    base = question.base
    if question.base_branch is not None:
        with contextlib.suppress(MissingRevisionError):  # a clone without branches
            base = git.commit(f"refs/remotes/origin/{question.base_branch}")
    return _gather_revisions(base, question.head, policy, context)


def _gather_revisions(
    base_ref: str | None, head_ref: str | None, policy: ChangelogPolicy, context: Context
) -> ChangelogSources:
    from infx.git import Git

    git = Git(Path.cwd())
    name = base_ref or find_default_base(git, policy.base_branch, context.links.repository)
    base, head = git.commits(name, head_ref) if head_ref else (git.commit(name), None)
    if context.stage is Stage.PR:  # a merge group or a push names the exact commit before it
        heads = [head] if head else ["HEAD", *git.merging()]
        base = git.merge_base(base, *heads)
    return _compare(git, base, head, policy, replace(context, base_name=name))


def _compare(
    git: Git, base: str | None, head_ref: str | None, policy: ChangelogPolicy, context: Context
) -> ChangelogSources:
    """Return the sources that compare two revisions.

    Args:
        base: a commit; None if the head has no history.
        head_ref: None for the working tree.
    """
    read_base = functools.partial(_read_commit, git, base)
    read_head: ReadFiles = (
        functools.partial(_read_commit, git, head_ref)
        if head_ref
        else functools.partial(_read_tree, git, git.root())
    )
    paths = (policy.changelog, *policy.master_configs)
    if base and head_ref:  # one process reads both revisions
        wanted = [*((head_ref, path) for path in paths), (base, policy.changelog)]
        head, *masters, base_data = git.read_many(wanted)
    else:
        (head, *masters), (base_data,) = read_head(paths), read_base(paths[:1])
    return ChangelogSources(
        base=base_data,
        head=head,
        context=replace(context, configs=_make_configs(policy.master_configs, masters)),
        find_target=functools.partial(_find_target, git, head, policy.changelog),
        find_merge=functools.partial(_find_merge, git, base, head_ref or "HEAD", head, context)
        if base and context.stage is Stage.PR
        else None,
        read_head=read_head,
        read_base=read_base,
    )


def _find_target(git: Git, head: bytes | None, path: str) -> Path | None:
    """Return the changelog of the working tree, or None if it differs from the head."""
    file = git.root() / path
    local = file.read_bytes() if file.is_file() else None
    return file if local == head else None


def _read_commit(git: Git, revision: str | None, paths: Sequence[str]) -> list[bytes | None]:
    """Return the contents of files at a commit; without a commit, no file exists."""
    return git.read_many([(revision, path) for path in paths]) if revision else [None] * len(paths)


def _read_tree(git: Git, root: Path, paths: Sequence[str]) -> list[bytes | None]:
    """Return the contents of files in the working tree, or in the index if a sparse checkout omits them."""
    contents = _read_folder(root, paths)
    return [
        git.read_skipped(path) if data is None else data for path, data in zip(paths, contents, strict=True)
    ]


def _find_merge(git: Git, base: str, head: str, data: bytes | None, context: Context) -> Sides | None:
    """Return the sides of the merge commit that made the current bytes of the file, or None."""
    commit, parents = git.last_change(base, head, context.path) or ("", ())
    if len(parents) != 2:
        return None
    ours, theirs = parents
    wanted = (git.merge_base(ours, theirs), theirs, ours, commit)
    ancestor, main, other, merged = git.read_many([(revision, context.path) for revision in wanted])
    if main is None or other is None or merged != data:
        return None
    from infx.changelog.merge import Sides

    return Sides(ancestor=ancestor or b"", main=main, other=other)


def find_default_base(git: Git, branch: str, repository: str | None) -> str:
    """Return the base branch of the repository's remote, else of origin, else the local base branch.

    In a clone of a fork, `origin` is not the repository, so remotes are searched by their URLs.
    """
    from infx.git import MissingRevisionError

    remote = _find_remote(git, repository)
    for name in (f"{remote}/{branch}", f"origin/{branch}", branch):  # a remote may not have been fetched yet
        try:
            git.commit(name)
        except MissingRevisionError:
            continue
        return name
    raise UnavailableError(
        f"The branch {branch} was not found, neither on the remote {remote} nor locally.",
        hint="Fetch it, or give --base-ref.",
    )


def read_base_versions(git: Git, branch: str, path: str, repository: str | None) -> list[bytes]:
    """Return the file on each base branch of this clone: the repository's remote, other remotes, then local.

    Return an empty list outside of a repository. Raise GitError if a version cannot be read, because that
    version may show which side of a conflict is the base branch.
    """
    from infx.git import GitError, UnsafeRepositoryError

    try:
        names = git.line(
            "for-each-ref", "--format=%(refname)", f"refs/remotes/*/{branch}", f"refs/heads/{branch}"
        )
    except UnsafeRepositoryError:
        raise
    except GitError:
        return []
    best = f"refs/remotes/{_find_remote(git, repository)}/"
    refs = sorted(
        names.split(), key=lambda name: (not name.startswith(best), not name.startswith("refs/remotes/"))
    )
    return [data for data in git.read_many([(ref, path) for ref in refs]) if data is not None]


def _find_remote(git: Git, repository: str | None) -> str:
    named = [name for name, url in git.remotes().items() if _is_of(url, repository)]
    return "origin" if "origin" in named or not named else named[0]


def _is_of(url: str, repository: str | None) -> bool:
    from infx.model import is_same_repository  # many classes, which files alone do not need

    return repository is not None and is_same_repository(parse_remote(url), repository)
