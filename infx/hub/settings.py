"""The settings of a repository and its organization, as plain values that tests set."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Environment:
    id: int
    name: str
    branches: tuple[str, ...] = ()  # that may use it; empty: all branches, or all protected ones
    protected_only: bool = False
    secrets: set[str] = field(default_factory=set)  # names


@dataclass(kw_only=True)
class Runner:
    id: int
    name: str
    labels: tuple[str, ...]
    is_online: bool = True
    group: int | None = None  # of the organization; None: a runner of the repository


@dataclass(kw_only=True)
class RunnerGroup:
    id: int
    name: str
    workflows: tuple[str, ...] = ()  # that may use it; empty: all workflows


@dataclass(kw_only=True)
class Installation:
    """An App that is installed in the organization."""

    id: int
    app_id: int
    slug: str
    permissions: dict[str, str]
    selection: str = "all"  # or `selected`
    is_suspended: bool = False


@dataclass(kw_only=True)
class ActionsPolicy:
    """The settings of Actions."""

    is_enabled: bool = True
    allowed: str = "all"  # or `local_only`, `selected`
    github_owned: bool = True
    verified: bool = False
    patterns: tuple[str, ...] = ()
    sha_pinning: bool = False
    token: str = "read"  # noqa: S105 - the default permissions of a workflow's token
    approves_pulls: bool = False
    # whose pull requests from forks wait for an approval, in a public repository
    approval: str = "first_time_contributors"
    # in a private repository
    runs_forks: bool = False
    forks_write: bool = False
    forks_get_secrets: bool = False


@dataclass(kw_only=True)
class Toolkit:
    """Another repository whose actions workflows use; the hub has only its settings."""

    is_private: bool = False
    access: str = "none"  # which repositories may use its actions


@dataclass(kw_only=True)
class Settings:
    is_private: bool = False  # only a setting: everyone can read the hub
    actions: ActionsPolicy = field(default_factory=ActionsPolicy)
    secrets: set[str] = field(default_factory=set)  # names
    variables: dict[str, str] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    runners: dict[int, Runner] = field(default_factory=dict)
    groups: dict[int, RunnerGroup] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    toolkits: dict[str, Toolkit] = field(default_factory=dict)  # by `owner/name`
