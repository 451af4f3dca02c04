"""Who asks, and what the token lets them do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

# What `permissions` of a job can name.
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
SCOPES = (*WORKFLOW_SCOPES, "administration", "members", "metadata")
_RANK = {"none": 0, "read": 1, "write": 2}


class TokenKind(StrEnum):
    WORKFLOW = "workflow"  # GITHUB_TOKEN: its events start no runs
    APP = "app"  # an installation token of an app of one's own
    USER = "user"


@dataclass(frozen=True, kw_only=True)
class Token:
    """permissions: scope → read or write, scopes spelled as in GitHub's headers (`pull_requests`).

    A person's token has none: what it may do follows from the person's role at the time of the request.
    """

    secret: str
    kind: TokenKind
    login: str
    permissions: Mapping[str, str]

    def allows(self, needs: str) -> bool:
        """needs: as in `X-Accepted-GitHub-Permissions`, alternatives parted by `;`."""
        return any(
            all(self._has(*part.strip().split("=")) for part in choice.split(","))
            for choice in needs.split(";")
        )

    def _has(self, scope: str, access: str) -> bool:
        if scope == "metadata":  # every token reads it
            return True
        return _RANK[self.permissions.get(scope, "none")] >= _RANK[access]


def parse_scopes(given: Mapping[str, str], kind: TokenKind) -> dict[str, str]:
    """Permissions as workflows spell them (`pull-requests: write`), as GitHub's headers spell them."""
    allowed = WORKFLOW_SCOPES if kind is TokenKind.WORKFLOW else SCOPES
    scopes = {name.replace("-", "_"): access for name, access in given.items()}
    for name, access in scopes.items():
        if name not in allowed or access not in _RANK:
            raise ValueError(f"no such permission: {name}={access}")
    return scopes
