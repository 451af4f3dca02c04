"""Read what `infx doctor` judges on GitHub. What cannot be read becomes `Unseen`, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from infx.comments.greeting import RERUN_URL, list_linked
from infx.doctor.github_facts import EnvironmentFacts, GitHubFacts, ToolkitFacts
from infx.doctor.lines import Unseen
from infx.doctor.protection import ACTIONS_LOGIN
from infx.doctor.settings import EnvironmentRule, RepositorySettings
from infx.doctor.usage import WorkflowUse
from infx.doctor.workflow_files import SIGNOFF_ACTIONS
from infx.github.api import GitHub
from infx.github.errors import (
    BadCredentialsError,
    GitHubError,
    NotFoundError,
    PermissionDeniedError,
    UnreachableError,
)
from infx.policy.model import Policy

_T = TypeVar("_T")
_SELECTED = "selected"


def read_repository(github: GitHub) -> RepositorySettings | Unseen:
    """Read the repository itself, the first request. Raises GitHubError if GitHub cannot be reached."""
    try:
        return github.settings()
    except (BadCredentialsError, NotFoundError, PermissionDeniedError) as error:
        return _explain(error)


def gather_github(
    github: GitHub,
    repository: RepositorySettings,
    use: WorkflowUse,
    policy: Policy,
    *,
    path: str,
    labels: Sequence[str],
    probe: Callable[[str], int] | None,
) -> GitHubFacts:
    """Read everything else.

    Args:
        path: of the policy.
        labels: that the runners file names.
        probe: returns the status of a web page; None to read no page.
    """
    reader = _Reader(github)
    environments = reader.see(github.environments)
    return GitHubFacts(
        repository=repository,
        web=f"{policy.pr_link.server}/{repository.name}",
        has_policy=reader.has_file(path, policy),
        labels=reader.see(lambda: frozenset(name.lower() for name in github.label_names())),
        environments=reader.read_environments(environments, use),
        protected=reader.read_protected(environments, use),
        secrets=reader.see(lambda: frozenset(github.secret_names())),
        variables=reader.see(github.variables),
        rules=reader.see(lambda: github.branch_rules(policy.base_branch)),
        app_ids={login: reader.read_app_id(login) for login in policy.identities if login != ACTIONS_LOGIN},
        labels_of_runners=labels,
        runners=reader.see(github.runners),
        **reader.read_organization(repository.organization),
        **reader.read_actions(is_private=repository.is_private),
        toolkits=reader.read_toolkits(use, repository),
        linked={path: reader.has_file(path, policy) for path in _list_linked(use, policy)},
        links={} if probe is None else reader.read_links(probe, _list_pages(use, policy)),
    )


@dataclass
class _Reader:
    """A reader that turns refusals into `Unseen`."""

    github: GitHub
    lost: Unseen | None = None  # after the connection was lost, nothing more is asked

    def see(self, read: Callable[[], _T]) -> _T | Unseen:
        if self.lost is not None:
            return self.lost
        try:
            return read()
        except UnreachableError as error:
            self.lost = _explain(error)
            return self.lost
        except GitHubError as error:
            return _explain(error)

    def has_file(self, path: str, policy: Policy) -> bool | Unseen:
        return self.see(lambda: self.github.read_file(path, policy.base_branch) is not None)

    def read_environments(
        self, known: Sequence[EnvironmentRule] | Unseen, use: WorkflowUse
    ) -> Mapping[str, EnvironmentFacts] | Unseen:
        """Return the environments by their names in the workflows; GitHub ignores upper and lower case in them."""
        if isinstance(known, Unseen):
            return known
        rules = {rule.name.lower(): rule for rule in known}
        return {
            name: self._read_environment(rules[name.lower()])
            for name in use.environments
            if name.lower() in rules
        }

    def _read_environment(self, rule: EnvironmentRule) -> EnvironmentFacts:
        names_branches = rule.has_policy and not rule.protected_only
        return EnvironmentFacts(
            rule=rule,
            branches=self.see(lambda: self.github.environment_branches(rule.name)) if names_branches else (),
            secrets=self.see(lambda: frozenset(self.github.environment_secrets(rule.name))),
        )

    def read_protected(
        self, known: Sequence[EnvironmentRule] | Unseen, use: WorkflowUse
    ) -> Sequence[str] | Unseen:
        """Return the protected branches if an environment that the workflows use admits all of them."""
        names = {name.lower() for name in use.environments}
        if isinstance(known, Unseen) or not any(
            rule.protected_only for rule in known if rule.name.lower() in names
        ):
            return ()
        return self.see(self.github.protected_branches)

    def read_organization(self, organization: str | None) -> dict[str, Any]:
        """Return the facts about the organization that owns the repository, by the names of their fields."""
        if organization is None:
            return {"installations": None, "organization_runners": (), "groups": ()}
        github = self.github
        return {
            "installations": self.see(lambda: github.installations(organization)),
            "organization_runners": self.see(lambda: github.organization_runners(organization)),
            "groups": self.see(lambda: github.runner_groups(organization)),
        }

    def read_actions(self, *, is_private: bool) -> dict[str, Any]:
        """Return the facts about the settings of Actions, by the names of their fields."""
        actions = self.see(self.github.actions_settings)
        is_selected = not isinstance(actions, Unseen) and actions.allowed == _SELECTED
        return {
            "actions": actions,
            "selected": self.see(self.github.selected_actions) if is_selected else None,
            "token": self.see(self.github.token_settings),
            "approval": None if is_private else self.see(self.github.fork_approval),
            "private_forks": self.see(self.github.private_forks) if is_private else None,
        }

    def read_app_id(self, login: str) -> int | Unseen | None:
        return self.see(lambda: self.github.app_id(login.removesuffix("[bot]")))

    def read_toolkits(
        self, use: WorkflowUse, repository: RepositorySettings
    ) -> dict[str, ToolkitFacts | Unseen]:
        names = sorted({name for name, _ in use.toolkits if name.lower() != repository.name.lower()})
        return {name: self._read_toolkit(name) for name in names}

    def _read_toolkit(self, name: str) -> ToolkitFacts | Unseen:
        toolkit = self.github.at(name)
        settings = self.see(toolkit.settings)
        if isinstance(settings, Unseen):
            return settings
        access = self.see(toolkit.actions_access) if settings.is_private else None
        return ToolkitFacts(is_private=settings.is_private, access=access)

    def read_links(self, probe: Callable[[str], int], urls: Iterable[str]) -> dict[str, int | Unseen]:
        answers: dict[str, int | Unseen] = {}
        for url in urls:
            try:
                answers[url] = probe(url)
            except ConnectionError as error:
                answers[url] = Unseen(reason=f"There is no answer ({error}).")
        return answers


def _explain(error: GitHubError) -> Unseen:
    if isinstance(error, PermissionDeniedError) and error.permission is not None:
        return Unseen(reason="The token has no permission to read it.", permission=error.permission)
    if isinstance(error, NotFoundError):
        reason = f"{error.message} GitHub also answers 404 for what the token may not see."
        return Unseen(reason=reason, fix="Use the token of an administrator.")
    return Unseen(reason=error.message, fix=error.hint)


def _list_linked(use: WorkflowUse, policy: Policy) -> tuple[str, ...]:
    """Return the files of the repository that comments link."""
    checklists = policy.signoff.paths.checklists if SIGNOFF_ACTIONS & use.actions.keys() else ()
    return tuple(dict.fromkeys((*list_linked(policy), *checklists)))


def _list_pages(use: WorkflowUse, policy: Policy) -> tuple[str, ...]:
    """Return the pages of other servers that comments link; a link to a run's results without the run."""
    pages = [
        link.url.partition("?")[0]
        for link in policy.comments.visualizer.links
        if "{" not in link.url.partition("?")[0]
    ]
    if SIGNOFF_ACTIONS & use.actions.keys():
        pages += [page for source in policy.signoff.sources.values() for page in source.pages]
    return tuple(dict.fromkeys((RERUN_URL, *pages)))
