"""Routes for the settings of the repository and its organization: what an administrator sets up."""

from __future__ import annotations

from infx.hub import render
from infx.hub.exchange import Answer
from infx.hub.refusal import Refused
from infx.hub.router import Call, paginate, route
from infx.hub.routes.pulls import EITHER_READ, REPO
from infx.hub.settings import Environment, Settings
from infx.model import UserType

ACCESS = f"{REPO}/actions/permissions/access"
_ADMIN = "administration=read"
_ORGANIZATION = "/orgs/{org}"
_ORG_RUNNERS = "organization_self_hosted_runners=read"
_ENVIRONMENT = f"{REPO}/environments/{{environment}}"


def _settings(call: Call) -> Settings:
    return call.hub.state.settings


def _find_environment(call: Call) -> Environment:
    known = _settings(call).environments.get(call.arguments["environment"])
    if known is None:
        raise Refused(404, "Not Found")
    return known


def _check_organization(call: Call) -> None:
    """Raise Refused unless the path names the organization that owns the repository."""
    owner = call.hub.account(call.hub.repository.split("/")[0])
    if owner.type is not UserType.ORGANIZATION or owner.login.lower() != call.arguments["org"].lower():
        raise Refused(404, "Not Found")


@route("GET", f"{REPO}/labels", needs=EITHER_READ)
def list_labels(call: Call) -> Answer:
    return paginate(call, list(call.hub.state.labels.values()), render=render.label)


@route("GET", f"{REPO}/branches", needs="contents=read")
def list_branches(call: Call) -> Answer:
    """List the branches, or with `protected` only those that are protected."""
    refs = [ref.removeprefix("refs/heads/") for ref in call.hub.git.refs() if ref.startswith("refs/heads/")]
    shown = [render.branch(call.hub, name, call.hub.tip(name)) for name in sorted(refs)]
    if call.query.get("protected") == "true":
        shown = [branch for branch in shown if branch["protected"]]
    return paginate(call, shown)


@route("GET", f"{REPO}/environments", needs="actions=read")
def list_environments(call: Call) -> Answer:
    known = list(_settings(call).environments.values())
    return paginate(call, known, key="environments", render=render.environment)


@route("GET", f"{_ENVIRONMENT}/deployment-branch-policies", needs="actions=read")
def list_branch_policies(call: Call) -> Answer:
    names = _find_environment(call).branches
    return paginate(call, names, key="branch_policies", render=render.branch_policy)


@route("GET", f"{_ENVIRONMENT}/secrets", needs="environments=read", role="write")
def list_environment_secrets(call: Call) -> Answer:
    names = sorted(_find_environment(call).secrets)
    return paginate(call, names, key="secrets", render=render.secret)


@route("GET", f"{REPO}/actions/secrets", needs="secrets=read", role="write")
def list_secrets(call: Call) -> Answer:
    return paginate(call, sorted(_settings(call).secrets), key="secrets", render=render.secret)


@route("GET", f"{REPO}/actions/variables", needs="actions_variables=read", role="write")
def list_variables(call: Call) -> Answer:
    items = sorted(_settings(call).variables.items())
    return paginate(call, items, key="variables", render=render.variable)


@route("GET", f"{REPO}/actions/runners", needs=_ADMIN, role="admin")
def list_runners(call: Call) -> Answer:
    own = [known for known in _settings(call).runners.values() if known.group is None]
    return paginate(call, own, key="runners", render=render.runner)


@route("GET", f"{_ORGANIZATION}/actions/runners", needs=_ORG_RUNNERS, role="admin")
def list_organization_runners(call: Call) -> Answer:
    _check_organization(call)
    known = [runner for runner in _settings(call).runners.values() if runner.group is not None]
    return paginate(call, known, key="runners", render=render.runner)


@route("GET", f"{_ORGANIZATION}/actions/runner-groups", needs=_ORG_RUNNERS, role="admin")
def list_runner_groups(call: Call) -> Answer:
    _check_organization(call)
    groups = list(_settings(call).groups.values())
    return paginate(call, groups, key="runner_groups", render=render.runner_group)


@route("GET", f"{_ORGANIZATION}/installations", needs="organization_administration=read", role="admin")
def list_installations(call: Call) -> Answer:
    _check_organization(call)
    known = list(_settings(call).installations.values())
    return paginate(call, known, key="installations", render=render.installation)


@route("GET", f"{REPO}/actions/permissions", needs=_ADMIN, role="admin")
def get_actions_policy(call: Call) -> Answer:
    return Answer(data=render.actions_policy(call.hub, _settings(call).actions))


@route("GET", f"{REPO}/actions/permissions/selected-actions", needs=_ADMIN, role="admin")
def get_selected_actions(call: Call) -> Answer:
    """Return which actions are allowed; 409 if not only selected ones are."""
    known = _settings(call).actions
    if known.allowed != "selected":
        raise Refused(409, "Conflict")
    patterns = list(known.patterns)
    data = {"github_owned_allowed": known.github_owned, "verified_allowed": known.verified}
    return Answer(data={**data, "patterns_allowed": patterns})


@route("GET", f"{REPO}/actions/permissions/workflow", needs=_ADMIN, role="admin")
def get_workflow_permissions(call: Call) -> Answer:
    known = _settings(call).actions
    data = {"default_workflow_permissions": known.token}
    return Answer(data={**data, "can_approve_pull_request_reviews": known.approves_pulls})


@route("GET", f"{REPO}/actions/permissions/fork-pr-contributor-approval", needs=_ADMIN, role="admin")
def get_fork_approval(call: Call) -> Answer:
    """Return whose pull requests wait for an approval; a private repository has other settings."""
    if _settings(call).is_private:
        raise Refused(404, "Not Found")
    return Answer(data={"approval_policy": _settings(call).actions.approval})


@route("GET", f"{REPO}/actions/permissions/fork-pr-workflows-private-repos", needs=_ADMIN, role="admin")
def get_private_forks(call: Call) -> Answer:
    if not _settings(call).is_private:
        raise Refused(404, "Not Found")
    known = _settings(call).actions
    data = {
        "run_workflows_from_fork_pull_requests": known.runs_forks,
        "send_write_tokens_to_workflows": known.forks_write,
        "send_secrets_and_variables": known.forks_get_secrets,
        "require_approval_for_fork_pr_workflows": True,
    }
    return Answer(data=data)


@route("GET", ACCESS, needs=_ADMIN, role="admin")
def get_access(call: Call) -> Answer:
    """Return which repositories may use the actions of a private repository other than the hub's."""
    name = f"{call.arguments['owner']}/{call.arguments['repo']}"
    known = _settings(call).toolkits.get(name)
    if known is None or not known.is_private:
        raise Refused(404, "Not Found")
    return Answer(data={"access_level": known.access})
