"""Routes for branches: their rules and protection, and the settings of the repository."""

from __future__ import annotations

from infx.hub import render
from infx.hub.exchange import Answer
from infx.hub.refusal import Refused
from infx.hub.router import Call, paginate, route
from infx.hub.routes.pulls import REPO
from infx.hub.rules import Protection


@route("GET", REPO, needs="metadata=read")
def get_repository(call: Call) -> Answer:
    """Return the repository; the merge methods that it allows are shown only to those who may push."""
    name = f"{call.arguments['owner']}/{call.arguments['repo']}"
    if name in call.hub.state.settings.toolkits:
        return Answer(data=render.repository(call.hub, name))
    with_settings = call.token is not None and call.allows("contents=write", "write")
    return Answer(data=render.full_repository(call.hub, with_settings=with_settings))


@route("GET", f"{REPO}/rules/branches/{{branch:path}}", needs="metadata=read")
def list_rules(call: Call) -> Answer:
    """List the rules of all active rulesets for a branch, which need not exist."""
    rulesets = call.hub.rulesets_of(call.arguments["branch"])
    return paginate(call, [rule for known in rulesets for rule in render.rules(call.hub, known)])


@route("GET", f"{REPO}/rulesets", needs="metadata=read")
def list_rulesets(call: Call) -> Answer:
    return paginate(
        call, call.hub.state.rulesets, render=lambda hub, known: render.ruleset(hub, known, whole=False)
    )


@route("GET", f"{REPO}/rulesets/{{ruleset:int}}", needs="metadata=read")
def get_ruleset(call: Call) -> Answer:
    for known in call.hub.state.rulesets:
        if known.id == call.number("ruleset"):
            return Answer(data=render.ruleset(call.hub, known))
    raise Refused(404, "Not Found")


def _find_protection(call: Call) -> Protection:
    branch = call.arguments["branch"]
    if call.hub.git.resolve(f"refs/heads/{branch}") is None:
        raise Refused(404, "Branch not found")
    known = call.hub.state.protections.get(branch)
    if known is None:
        raise Refused(404, "Branch not protected")
    return known


# The routes of a branch's protection come before that of the branch, whose name may have slashes.
@route(
    "GET",
    f"{REPO}/branches/{{branch:path}}/protection/required_status_checks",
    needs="administration=read",
    role="admin",
)
def get_check_policy(call: Call) -> Answer:
    known = _find_protection(call)
    if not known.checks:
        raise Refused(404, "Required status checks not enabled")
    return Answer(data=render.check_policy(call.hub, call.arguments["branch"], known))


@route("GET", f"{REPO}/branches/{{branch:path}}/protection", needs="administration=read", role="admin")
def get_protection(call: Call) -> Answer:
    known = _find_protection(call)
    return Answer(data=render.protection(call.hub, call.arguments["branch"], known))


@route("GET", f"{REPO}/branches/{{branch:path}}", needs="contents=read")
def get_branch(call: Call) -> Answer:
    """Return a branch with a summary of its classic protection."""
    name = call.arguments["branch"]
    sha = call.hub.git.resolve(f"refs/heads/{name}")
    if sha is None:
        raise Refused(404, "Branch not found")
    return Answer(data=render.branch(call.hub, name, sha))
