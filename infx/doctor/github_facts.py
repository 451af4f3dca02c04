"""The facts on GitHub that the doctor judges. Each of them may be unseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infx.doctor.lines import Unseen
from infx.doctor.settings import (
    ActionsSettings,
    BranchPattern,
    EnvironmentRule,
    GitHubRunner,
    InstalledApp,
    PrivateForkSettings,
    RepositorySettings,
    RunnerAccess,
    SelectedActions,
    TokenSettings,
)
from infx.model import BranchRules
from infx.records import record


@record
class EnvironmentFacts:
    """An environment that the workflows use.

    Attributes:
        branches: that may use it, if only named ones may.
        secrets: names.
    """

    rule: EnvironmentRule
    branches: Sequence[BranchPattern] | Unseen
    secrets: frozenset[str] | Unseen


@record
class ToolkitFacts:
    """The repository of infx that the workflows use.

    Attributes:
        access: which repositories may use its actions, if it is private.
    """

    is_private: bool
    access: str | Unseen | None


@record
class GitHubFacts:
    """The facts on GitHub.

    Attributes:
        web: the address of the repository's page.
        has_policy: whether the base branch has the policy.
        labels: names in lower case.
        environments: by name, only those that the workflows use.
        protected: protected branches; only read if an environment admits all of them.
        secrets: names of the repository's secrets.
        variables: name → value.
        app_ids: login of an identity → id of its App; None for an App that GitHub does not show.
        installations: None if the owner is not an organization, because then no token shows them.
        labels_of_runners: the labels that the runners file names.
        organization_runners, groups: empty if the owner is not an organization.
        selected: None unless only selected actions are allowed.
        approval: of a public repository; None for a private one.
        private_forks: of a private repository; None for a public one.
        toolkits: by name, without this repository.
        linked: file that a comment links → whether the base branch has it.
        links: URL that a comment links → the status of its answer; empty unless asked for.
    """

    repository: RepositorySettings
    web: str
    has_policy: bool | Unseen
    labels: frozenset[str] | Unseen
    environments: Mapping[str, EnvironmentFacts] | Unseen
    protected: Sequence[str] | Unseen
    secrets: frozenset[str] | Unseen
    variables: Mapping[str, str] | Unseen
    rules: BranchRules | Unseen
    app_ids: Mapping[str, int | Unseen | None]
    installations: Sequence[InstalledApp] | Unseen | None
    labels_of_runners: Sequence[str]
    runners: Sequence[GitHubRunner] | Unseen
    organization_runners: Sequence[GitHubRunner] | Unseen
    groups: Sequence[RunnerAccess] | Unseen
    actions: ActionsSettings | Unseen
    selected: SelectedActions | Unseen | None
    token: TokenSettings | Unseen
    approval: str | Unseen | None
    private_forks: PrivateForkSettings | Unseen | None
    toolkits: Mapping[str, ToolkitFacts | Unseen]
    linked: Mapping[str, bool | Unseen]
    links: Mapping[str, int | Unseen]
