"""Routes for permissions, teams and rate limits."""

from __future__ import annotations

from infx.hub import render
from infx.hub.exchange import CORE, GRAPHQL, Answer
from infx.hub.refusal import Refused
from infx.hub.router import Call, paginate, route
from infx.hub.routes.pulls import REPO


@route("GET", f"{REPO}/collaborators/{{login}}/permission", needs="metadata=read")
def get_permission(call: Call) -> Answer:
    """Return a person's permission, for any installation token or a person who may push."""
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


@route("GET", "/orgs/{org}/teams/{team}/members", needs="members=read")
def list_team(call: Call) -> Answer:
    """List the members of a team; 404 if there is no such team."""
    members = call.hub.state.teams.get(f"{call.arguments['org']}/{call.arguments['team']}".lower())
    if members is None:
        raise Refused(404, "Not Found")
    return paginate(call, sorted(members), render=render.account)


@route("GET", "/rate_limit", needs=None, is_limited=False)
def get_rate_limit(call: Call) -> Answer:
    core, graphql = (_limit(call, resource) for resource in (CORE, GRAPHQL))
    return Answer(data={"resources": {"core": core, "graphql": graphql, "search": core}, "rate": core})


def _limit(call: Call, resource: str) -> dict[str, int]:
    limit, remaining, reset = call.hub.get_limit(call.token, resource)
    return {"limit": limit, "remaining": remaining, "used": limit - remaining, "reset": reset}


@route("GET", "/apps/{slug}", needs=None)
def get_app(call: Call) -> Answer:
    """Return an app that has written here; 404 for a private or an unknown app."""
    login = f"{call.arguments['slug']}[bot]"
    app_id = call.hub.app_id(login) if login in call.hub.state.accounts else None
    if app_id is None:
        raise Refused(404, "Not Found")
    return Answer(data={"id": app_id, "slug": call.arguments["slug"], "name": call.arguments["slug"]})
