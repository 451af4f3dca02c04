"""Tokens and their permissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

# The names that `permissions` of a job may have.
WORKFLOW_SCOPES = (
    "actions",
    "artifact_metadata",
    "attestations",
    "checks",
    "contents",
    "deployments",
    "discussions",
    "id_token",
    "issues",
    "models",
    "packages",
    "pages",
    "pull_requests",
    "repository_projects",
    "security_events",
    "statuses",
)
SCOPES = (
    *WORKFLOW_SCOPES,
    "actions_variables",
    "administration",
    "environments",
    "members",
    "merge_queues",
    "metadata",
    "organization_administration",
    "organization_self_hosted_runners",
    "secrets",
    "workflows",
)
_RANK = {"none": 0, "read": 1, "write": 2}


class TokenKind(StrEnum):
    WORKFLOW = "workflow"  # GITHUB_TOKEN: its events start no runs
    APP = "app"  # an installation token of an app
    USER = "user"


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token of a workflow, an app or a person."""

    secret: str
    kind: TokenKind
    login: str
    # scope (spelled as in GitHub's headers, `pull_requests`) → read or write; empty for a person's token, for
    # which the person's role at the time of the request decides
    permissions: Mapping[str, str]

    def allows(self, needs: str) -> bool:
        """Return whether the token has the permissions, written as in `X-Accepted-GitHub-Permissions`."""
        return any(
            all(self._has(*part.strip().split("=")) for part in choice.split(","))
            for choice in needs.split(";")
        )

    def _has(self, scope: str, access: str) -> bool:
        if scope == "metadata":  # every token reads it
            return True
        return _RANK[self.permissions.get(scope, "none")] >= _RANK[access]


def parse_scopes(permissions: Mapping[str, str], kind: TokenKind) -> dict[str, str]:
    """Convert permissions from a workflow's spelling (`pull-requests`) to that of GitHub's headers."""
    allowed = WORKFLOW_SCOPES if kind is TokenKind.WORKFLOW else SCOPES
    scopes = {name.replace("-", "_"): access for name, access in permissions.items()}
    for name, access in scopes.items():
        if name not in allowed or access not in _RANK:
            raise ValueError(f"{name}={access} is not a valid permission")
    return scopes
