"""Read what `infx doctor` judges of a checkout."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import infx
from infx import actions
from infx.changelog.merge import DRIVER
from infx.codeowners import LOCATIONS, parse_codeowners
from infx.doctor.checkout import list_files, list_row_files
from infx.doctor.facts import CheckoutFacts, CheckSummary, MergeDriver
from infx.doctor.lines import Unseen
from infx.doctor.usage import find_use
from infx.errors import InfxError, Level, Problem
from infx.gather.changelog import SourceOptions, find_default_base, gather_changelog
from infx.gather.changelog_verdict import expand_entries, judge_changelog
from infx.gather.config_files import read_config_files
from infx.gather.installation import read_git_installation
from infx.gather.local import Receive, find_repository_name, load_part, parse_remote, read_policy_path
from infx.gather.workflow_files import read_sources
from infx.git import Git
from infx.matrix.check import check_files as check_configs
from infx.matrix.runners import parse_inventory
from infx.policy.changelog import ChangelogPolicy
from infx.policy.model import Policy
from infx.records import replace
from infx.signoff.checklist import parse_items, parse_template
from infx.workflows.check import check_files as check_workflows
from infx.workflows.model import parse_sources

_WORKFLOWS = ".github/workflows"
_HOOKS = ".pre-commit-config.yaml"


def gather_checkout(root: Path, policy: Policy, *, source: str | None, repo: str | None) -> CheckoutFacts:
    """Read a checkout. root: of the repository. source: the value of --policy. repo: the value of --repo."""
    git = Git(root) if (root / ".git").exists() else None
    repository = find_repository_name(repo, policy)
    path = read_policy_path(source)
    files = _read_workflow_files(root)
    base, base_policy, base_paths = _read_base(git, path, policy, repository)
    named = [path for _, path in list_files(policy)]
    return CheckoutFacts(
        repository=repository,
        remotes=_find_remotes(git),
        policy_path=path,
        has_policy=source is not None or (root / path).is_file(),
        base=base,
        base_policy=base_policy,
        base_paths=base_paths,
        existing=frozenset(
            path for path in (*named, policy.clusters, *list_row_files(policy)) if (root / path).exists()
        ),
        config=_try(lambda: _check_configs(policy)),
        changelog=_try(lambda: _check_changelog(source, repo)),
        workflows=_try(lambda: check_workflows(read_sources(root), policy)),
        use=find_use(parse_sources(files).workflows),
        installed=read_installed(),
        driver=_read_driver(git, policy),
        hooks=_read_hooks(root),
        codeowners=_check_codeowners(root),
        checklist=_check_checklist(root, policy),
    )


def _read_workflow_files(root: Path) -> dict[str, bytes]:
    """Return path → bytes of workflow and action files; none if there are none."""
    try:
        return read_sources(root)
    except InfxError:  # the check of workflows reports it
        return {}


def _try(check: Callable[[], Iterable[Problem]]) -> CheckSummary | Unseen:
    """Run a check, and return its outcome, or why it could not run."""
    try:
        problems = list(check())
    except InfxError as error:
        return _explain(error)
    errors = [problem for problem in problems if problem.level is Level.ERROR]
    return CheckSummary(
        errors=len(errors),
        warnings=len(problems) - len(errors),
        first=str(errors[0]) if errors else None,
        rules=frozenset(problem.rule for problem in problems),
    )


def _explain(error: InfxError) -> Unseen:
    problem = error.problems[0]
    return Unseen(reason=str(replace(problem, hint=None)), fix=problem.hint)


def _check_configs(policy: Policy) -> list[Problem]:
    files, missing = read_config_files((), None, policy)
    return [*check_configs(files, policy).problems, *missing]


def _check_changelog(source: str | None, repo: str | None) -> list[Problem]:
    options = SourceOptions(
        base_ref=None,
        head_ref=None,
        base_file=None,
        head_file=None,
        receive=Receive(file=None, name=None),
        pr=None,
        stage=None,
        repo=repo,
    )
    sources = replace(gather_changelog(options, load_part(source, ChangelogPolicy)), policy_source=source)
    verdict = judge_changelog(sources)
    return [*verdict.problems, *expand_entries(sources, verdict)]


def _find_remotes(git: Git | None) -> tuple[str, ...]:
    urls = git.remotes().values() if git is not None else ()
    return tuple(dict.fromkeys(name for url in urls if (name := parse_remote(url)) is not None))


def _read_base(
    git: Git | None, path: str, policy: Policy, repository: str | None
) -> tuple[str, bool | Unseen | None, frozenset[str] | Unseen]:
    """Return the base branch's name here, whether its policy is the same, and its workflow files."""
    if git is None:
        unseen = Unseen(reason="This folder is not a clone.", fix="Run this command in a clone.")
        return policy.base_branch, unseen, unseen
    try:
        base = find_default_base(git, policy.base_branch, repository)
        data = git.read(base, path)
        paths = frozenset(git.list_files(base, _WORKFLOWS))
    except InfxError as error:
        return policy.base_branch, _explain(error), _explain(error)
    here = git.root() / path
    is_same = data is not None and here.is_file() and here.read_bytes() == data
    return base, None if data is None else is_same, paths


def read_installed() -> str | Unseen:
    """Return the commit from which this infx was installed, or that is checked out where it is."""
    if installation := read_git_installation():
        return installation.commit
    home = Path(infx.__file__).parent.parent
    try:
        if (home / ".git").exists():
            return Git(home).commit("HEAD")
    except InfxError as error:
        return _explain(error)
    return Unseen(reason="It was not installed from a commit.")


def _read_driver(git: Git | None, policy: Policy) -> MergeDriver | None:
    """Return the settings for merges of the changelog; None where no person merges, or outside of a clone."""
    if git is None or actions.is_actions(os.environ):
        return None
    attribute = git.line("check-attr", "merge", "--", policy.changelog)
    command = git.call("config", "--get", f"merge.{DRIVER}.driver").stdout.strip()
    return MergeDriver(has_attribute=attribute.endswith(f": {DRIVER}"), has_command=bool(command))


def _read_hooks(root: Path) -> tuple[str, ...] | None:
    """Return the ids and entries of pre-commit's hooks, or None without its file; none if it is not valid."""
    from infx import yaml12

    file = root / _HOOKS
    if not file.is_file():
        return None
    try:
        repos = yaml12.load_mapping(file.read_bytes(), _HOOKS).value.get("repos")
    except InfxError:
        return ()
    hooks = [hook for repo in _only(repos) for hook in _only(repo.get("hooks"))]
    return tuple(str(hook[key]) for hook in hooks for key in ("id", "entry") if key in hook)


def _only(value: object) -> list[dict[str, object]]:
    """Return the mappings of a list; none if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _check_codeowners(root: Path) -> str | None:
    path = next((path for path in LOCATIONS if (root / path).is_file()), None)
    if path is None:
        return "There is no CODEOWNERS file."
    try:
        owners = parse_codeowners((root / path).read_text("utf-8", errors="replace"), path)
    except InfxError as error:
        return str(error.problems[0])
    return str(owners.problems[0]) if owners.problems else None


def _check_checklist(root: Path, policy: Policy) -> str | None:
    path = policy.signoff.paths.checklists[0]
    if not (root / path).is_file():
        return f"There is no {path}."
    try:
        text = (root / path).read_text("utf-8", errors="replace")
        parse_items(parse_template(text, policy.signoff.phrase))
    except InfxError as error:
        return f"{path}: {error.message}"
    return None


def read_runner_labels(root: Path, policy: Policy) -> tuple[str, ...]:
    """Return the labels of the runners file; none if it is missing or not valid, which other rules report."""
    file = root / policy.runners
    if not file.is_file():
        return ()
    return tuple(parse_inventory(file.read_bytes(), policy.runners).runners.labels)
