"""The repository itself, people, teams, and what is left of the hour."""

from __future__ import annotations

from typing import Any

from infx.hub import render
from infx.hub.exchange import CORE, GRAPHQL, Answer
from infx.hub.refusal import Refused
from infx.hub.router import Call, paginate, route
from infx.hub.routes.pulls import REPO
from infx.hub.tokens import TokenKind


@route("GET", REPO, needs="metadata=read")
def get_repository(call: Call) -> Answer:
    return Answer(data=render.repository(call.hub, call.hub.repository))


@route("GET", f"{REPO}/branches/{{branch:path}}", needs="contents=read")
def get_branch(call: Call) -> Answer:
    name, hub = call.arguments["branch"], call.hub
    sha = hub.git.resolve(f"refs/heads/{name}")
    if sha is None:
        raise Refused(404, "Branch not found")
    url = render.address(hub, "branches", name)
    data = {
        "name": name,
        "commit": render.commit(hub, hub.git.commit(sha)),
        "_links": {"self": url, "html": render.page(hub, "tree", name)},
        "protected": False,
        "protection": {
            "enabled": False,
            "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []},
        },
        "protection_url": f"{url}/protection",
    }
    return Answer(data=data)


@route("GET", f"{REPO}/collaborators/{{login}}/permission", needs="metadata=read")
def get_permission(call: Call) -> Answer:
    """Any installation token may ask; a person must be able to push."""
    if call.token is None:
        raise Refused(401, "Requires authentication")
    if call.is_person_without("write"):
        raise Refused(403, "Must have push access to view collaborator permission.")
    known = call.hub.state.accounts.get(call.arguments["login"].lower())
    if known is None:
        raise Refused(404, f"{call.arguments['login']} is not a user")
    user = {**render.known_account(call.hub, known), "role_name": known.role}
    shown = "none" if known.role == "none" else known.permission
    return Answer(data={"permission": shown, "role_name": known.role, "user": user})


@route("GET", "/user", needs=None)
def get_user(call: Call) -> Answer:
    if call.token is None:
        raise Refused(401, "Requires authentication")
    if call.token.kind is not TokenKind.USER:
        raise Refused(403, "Resource not accessible by integration")
    known = call.hub.account(call.token.login)
    empty: dict[str, Any] = dict.fromkeys(["bio", "blog", "company", "email", "hireable", "location", "name"])
    times = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00Z")
    counts = dict.fromkeys(("followers", "following", "public_gists", "public_repos"), 0)
    return Answer(data={**render.known_account(call.hub, known), **empty, **times, **counts})


@route("GET", "/orgs/{org}/teams/{team}/members", needs="members=read")
def list_team(call: Call) -> Answer:
    """404 for a team that is not there."""
    members = call.hub.state.teams.get(f"{call.arguments['org']}/{call.arguments['team']}".lower())
    if members is None:
        raise Refused(404, "Not Found")
    return paginate(call, sorted(members), render=render.account)


@route("GET", "/orgs/{org}/members/{login}", needs=None)
def get_member(call: Call) -> Answer:
    """A token of the repository cannot see the organization's members: 404 for every one of them."""
    members = call.hub.state.teams.get(call.arguments["org"].lower(), set())
    visible = call.token is not None and call.allows("members=read", role="read")
    if not visible or call.arguments["login"].lower() not in members:
        raise Refused(404, "Not Found")
    return Answer(status=204)


@route("GET", "/rate_limit", needs=None, is_limited=False)
def get_rate_limit(call: Call) -> Answer:
    core, graphql = (_limit(call, resource) for resource in (CORE, GRAPHQL))
    return Answer(data={"resources": {"core": core, "graphql": graphql, "search": core}, "rate": core})


def _limit(call: Call, resource: str) -> dict[str, int]:
    limit, remaining, reset = call.hub.limit_of(call.token, resource)
    return {"limit": limit, "remaining": remaining, "used": limit - remaining, "reset": reset}
