"""Requests about the settings of a repository and of its organization. Most of them need an administrator's token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

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
from infx.github.convert import convert, require_text
from infx.github.endpoints import Endpoints
from infx.github.paging import Listing, read_list

_T = TypeVar("_T")
_PERMISSIONS = ("actions", "permissions")


class RepositoryConfiguration(Endpoints):
    def settings(self) -> RepositorySettings:
        """Read the repository itself."""
        return self._get(_parse_repository)

    def label_names(self) -> list[str]:
        """Return the names of all labels of the repository."""
        return self._list(_parse_name, "labels")

    def protected_branches(self) -> list[str]:
        """Return the names of all branches that are protected."""
        parameters = {"protected": "true"}
        return self._list(_parse_name, "branches", parameters=parameters, identity=_parse_name)

    def environments(self) -> list[EnvironmentRule]:
        return self._list_counted(_parse_environment, "environments", field="environments")

    def environment_branches(self, environment: str) -> list[BranchPattern]:
        """Return the branches and tags that may use an environment, if only named ones may."""
        where = ("environments", environment, "deployment-branch-policies")
        return self._list_counted(_parse_pattern, *where, field="branch_policies", identity=_parse_pattern)

    def environment_secrets(self, environment: str) -> list[str]:
        """Return the names of an environment's secrets."""
        return self._list_named(_parse_name, "environments", environment, "secrets", field="secrets")

    def secret_names(self) -> list[str]:
        """Return the names of the repository's secrets."""
        return self._list_named(_parse_name, "actions", "secrets", field="secrets")

    def variables(self) -> dict[str, str]:
        """Return name → value of the repository's variables."""
        return dict(self._list_named(_parse_variable, "actions", "variables", field="variables"))

    def runners(self) -> list[GitHubRunner]:
        """Return the runners of the repository, without those of its organization."""
        return self._list_counted(_parse_runner, "actions", "runners", field="runners")

    def organization_runners(self, organization: str) -> list[GitHubRunner]:
        return self._list_of(organization, _parse_runner, "actions/runners", "runners")

    def runner_groups(self, organization: str) -> list[RunnerAccess]:
        """Return the groups of an organization's runners that the repository may use."""
        parameters = {"visible_to_repository": self.repository.partition("/")[2]}
        where = "actions/runner-groups"
        return self._list_of(organization, _parse_group, where, "runner_groups", parameters)

    def installations(self, organization: str) -> list[InstalledApp]:
        """Return the Apps that are installed in an organization."""
        return self._list_of(organization, _parse_installation, "installations", "installations")

    def actions_settings(self) -> ActionsSettings:
        return self._get(_parse_actions, *_PERMISSIONS)

    def selected_actions(self) -> SelectedActions:
        """Return the allowed actions. Raises ConflictError unless only selected ones are allowed."""
        return self._get(_parse_selected, *_PERMISSIONS, "selected-actions")

    def token_settings(self) -> TokenSettings:
        return self._get(_parse_token, *_PERMISSIONS, "workflow")

    def fork_approval(self) -> str:
        """Return whose pull requests from forks wait for an approval; only of a public repository."""
        parse = _parse_approval
        return self._get(parse, *_PERMISSIONS, "fork-pr-contributor-approval")

    def private_forks(self) -> PrivateForkSettings:
        """Return what forks may do; only of a private repository."""
        return self._get(_parse_private_forks, *_PERMISSIONS, "fork-pr-workflows-private-repos")

    def actions_access(self) -> str:
        """Return which repositories may use the actions of this private one: none, user, organization, enterprise."""
        return self._get(lambda data: require_text(data["access_level"]), *_PERMISSIONS, "access")

    def _list_counted(self, parse: Callable[[Any], _T], *parts: object, **how: Any) -> list[_T]:
        return self._list(parse, *parts, counted=True, **how)

    def _list_named(self, parse: Callable[[Any], _T], *parts: object, field: str) -> list[_T]:
        """Read a list whose items have names instead of ids."""
        return self._list_counted(parse, *parts, field=field, identity=_parse_name)

    def _list_of(
        self,
        organization: str,
        parse: Callable[[Any], _T],
        where: str,
        field: str,
        parameters: Mapping[str, str] | None = None,
    ) -> list[_T]:
        path = f"/orgs/{quote(organization, safe='')}/{where}"
        listing = Listing(path=path, parameters=parameters or {}, field=field, counted=True)
        return [convert(parse, item) for item in read_list(self.connection, listing)]


def _parse_name(data: Any) -> str:
    return require_text(data["name"])


def _parse_repository(data: Any) -> RepositorySettings:
    owner = data["owner"]
    return RepositorySettings(
        name=require_text(data["full_name"]),
        default_branch=require_text(data["default_branch"]),
        is_private=data.get("visibility", "private" if data["private"] else "public") != "public",
        organization=require_text(owner["login"]) if owner["type"] == "Organization" else None,
    )


def _parse_environment(data: Any) -> EnvironmentRule:
    policy = data.get("deployment_branch_policy")
    return EnvironmentRule(
        name=_parse_name(data),
        has_policy=policy is not None,
        protected_only=bool(policy and policy["protected_branches"]),
    )


def _parse_pattern(data: Any) -> BranchPattern:
    return BranchPattern(name=_parse_name(data), is_branch=data.get("type", "branch") == "branch")


def _parse_variable(data: Any) -> tuple[str, str]:
    return _parse_name(data), str(data["value"])


def _parse_runner(data: Any) -> GitHubRunner:
    return GitHubRunner(
        name=_parse_name(data),
        labels=tuple(_parse_name(label) for label in data["labels"]),
        is_online=data["status"] == "online",
        group=data.get("runner_group_id"),
    )


def _parse_group(data: Any) -> RunnerAccess:
    is_restricted = bool(data.get("restricted_to_workflows"))
    return RunnerAccess(
        id=data["id"],
        name=_parse_name(data),
        workflows=tuple(data.get("selected_workflows") or ()) if is_restricted else None,
    )


def _parse_actions(data: Any) -> ActionsSettings:
    return ActionsSettings(
        is_enabled=bool(data["enabled"]),
        allowed=str(data.get("allowed_actions") or "all"),
        needs_pins=bool(data.get("sha_pinning_required")),
    )


def _parse_selected(data: Any) -> SelectedActions:
    return SelectedActions(
        github_owned=bool(data.get("github_owned_allowed")),
        verified=bool(data.get("verified_allowed")),
        patterns=tuple(map(str, data.get("patterns_allowed") or ())),
    )


def _parse_token(data: Any) -> TokenSettings:
    return TokenSettings(
        writes=data["default_workflow_permissions"] != "read",
        approves_pulls=bool(data["can_approve_pull_request_reviews"]),
    )


def _parse_approval(data: Any) -> str:
    return require_text(data["approval_policy"])


def _parse_private_forks(data: Any) -> PrivateForkSettings:
    return PrivateForkSettings(
        runs=bool(data["run_workflows_from_fork_pull_requests"]),
        # a field that is missing must not count as a protection
        gets_writing_token=bool(data.get("send_write_tokens_to_workflows", True)),
        gets_secrets=bool(data.get("send_secrets_and_variables", True)),
    )


def _parse_installation(data: Any) -> InstalledApp:
    return InstalledApp(
        app_id=int(data["app_id"]),
        slug=require_text(data["app_slug"]),
        permissions={str(name): str(access) for name, access in data["permissions"].items()},
        is_everywhere=data["repository_selection"] == "all",
        is_suspended=data.get("suspended_at") is not None,
    )
