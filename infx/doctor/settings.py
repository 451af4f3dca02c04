"""GitHub's settings of a repository and of its organization, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping

from infx.records import record


@record
class RepositorySettings:
    """What GitHub says about a repository.

    Attributes:
        organization: the owner, if it is an organization.
    """

    name: str  # `owner/name`, in GitHub's spelling
    default_branch: str
    is_private: bool
    organization: str | None


@record
class EnvironmentRule:
    """An environment, and who may use it.

    Attributes:
        has_policy: whether only some branches may use it.
        protected_only: whether these are the protected branches.
    """

    name: str
    has_policy: bool
    protected_only: bool


@record
class BranchPattern:
    """A branch, a tag, or a pattern of them, that may use an environment."""

    name: str
    is_branch: bool


@record
class GitHubRunner:
    """A runner that GitHub knows.

    Attributes:
        group: the id of its group in the organization; None if GitHub does not say.
    """

    name: str
    labels: tuple[str, ...]
    is_online: bool
    group: int | None = None


@record
class RunnerAccess:
    """A group of runners in an organization.

    Attributes:
        workflows: that may use the group, as `owner/name/path@ref`; None: all workflows.
    """

    id: int
    name: str
    workflows: tuple[str, ...] | None


@record
class ActionsSettings:
    """Which actions may run."""

    is_enabled: bool
    allowed: str  # all, local_only or selected
    needs_pins: bool


@record
class SelectedActions:
    """The actions that may run if only selected ones may."""

    github_owned: bool
    verified: bool
    patterns: tuple[str, ...]


@record
class TokenSettings:
    """What a workflow's token may do if its workflow does not say so."""

    writes: bool
    approves_pulls: bool


@record
class PrivateForkSettings:
    """What a pull request from a fork of a private repository may do."""

    runs: bool
    gets_writing_token: bool
    gets_secrets: bool


@record
class InstalledApp:
    """An App that is installed in the organization.

    Attributes:
        is_everywhere: whether it is installed in all repositories; otherwise GitHub does not say in which ones.
        permissions: as GitHub spells them, such as `pull_requests` → `write`.
    """

    app_id: int
    slug: str
    permissions: Mapping[str, str]
    is_everywhere: bool
    is_suspended: bool
