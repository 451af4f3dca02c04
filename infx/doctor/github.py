"""Judge what is on GitHub: labels, the base branch, the settings of Actions, and links."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase

from infx.doctor import rules
from infx.doctor.apps import judge_apps
from infx.doctor.github_facts import GitHubFacts, ToolkitFacts
from infx.doctor.lines import ReportLine, Unseen, make_missing, make_ok, make_unknown, make_wrong
from infx.doctor.protection import judge_protection
from infx.doctor.publishing import judge_publishing
from infx.doctor.runners import judge_runners
from infx.doctor.settings import SelectedActions
from infx.doctor.usage import RemoteUse, WorkflowUse
from infx.phrases import count, join_some
from infx.policy.model import Policy

_DEAD = {404, 410}
_OWNED_BY_GITHUB = {"actions", "github"}


def judge_unseen_github(repository: str, unseen: Unseen) -> list[ReportLine]:
    """Return the only line about a repository that the token cannot see."""
    return [make_unknown(rules.BASE_BRANCH, f"The repository {repository}", unseen)]


def judge_github(facts: GitHubFacts, use: WorkflowUse, policy: Policy, path: str) -> list[ReportLine]:
    """Return the lines about GitHub. path: of the policy."""
    return [
        _judge_base_branch(facts, policy),
        _judge_policy(facts, policy, path),
        *_judge_labels(facts, policy),
        *judge_protection(facts, use, policy),
        *judge_apps(facts, use, policy),
        *judge_publishing(facts, use, policy),
        *judge_runners(facts, policy),
        *_judge_actions(facts, use),
        *_judge_token(facts),
        *(_judge_toolkit(name, toolkit, facts) for name, toolkit in facts.toolkits.items()),
        *_judge_linked(facts, policy),
        *_judge_links(facts),
    ]


def _judge_base_branch(facts: GitHubFacts, policy: Policy) -> ReportLine:
    default = facts.repository.default_branch
    if default == policy.base_branch:
        return make_ok(rules.BASE_BRANCH, f"{default} is the default branch of {facts.repository.name}.")
    what = f"The default branch is {default}, but the policy's base branch is {policy.base_branch}."
    return make_wrong(rules.BASE_BRANCH, what, f"{facts.web}/settings/branches")


def _judge_policy(facts: GitHubFacts, policy: Policy, path: str) -> ReportLine:
    branch = policy.base_branch
    if isinstance(facts.has_policy, Unseen):
        return make_unknown(rules.LIVE_POLICY, f"{path} on {branch}", facts.has_policy)
    if facts.has_policy:
        return make_ok(rules.LIVE_POLICY, f"On GitHub, {branch} has {path}.")
    fix = "Merge the policy before the workflows."
    return make_missing(rules.LIVE_POLICY, f"On GitHub, {branch} has no {path}.", fix)


def _judge_labels(facts: GitHubFacts, policy: Policy) -> Iterator[ReportLine]:
    if isinstance(facts.labels, Unseen):
        yield make_unknown(rules.LABEL, "The list of labels", facts.labels)
        return
    names = [*policy.labels.primary, *policy.labels.modifiers, *policy.labels.control]
    missing = [name for name in names if name.lower() not in facts.labels]
    for name in missing:
        fix = f"gh label create {shlex.quote(name)} --repo {facts.repository.name}"
        yield make_missing(rules.LABEL, f"There is no label {name}.", fix)
    if not missing:
        yield make_ok(rules.LABEL, f"All {count(len(names), 'label')} of the policy exist.")


def _judge_actions(facts: GitHubFacts, use: WorkflowUse) -> Iterator[ReportLine]:
    settings, page = facts.actions, f"{facts.web}/settings/actions"
    if isinstance(settings, Unseen):
        yield make_unknown(rules.ALLOWED_ACTIONS, "The settings of Actions", settings)
        return
    if not settings.is_enabled:
        yield make_wrong(rules.ALLOWED_ACTIONS, "Actions are turned off.", page)
        return
    owner = facts.repository.name.partition("/")[0].lower()
    foreign = [item for item in use.remote if item.repository.partition("/")[0].lower() != owner]
    if settings.allowed == "all":
        refused: list[RemoteUse] = []
    elif settings.allowed == "selected":
        if isinstance(facts.selected, Unseen) or facts.selected is None:
            unseen = facts.selected or Unseen(reason="GitHub does not list them.")
            yield make_unknown(rules.ALLOWED_ACTIONS, "The allowed actions", unseen)
            return
        selected = facts.selected
        refused = [item for item in foreign if not _is_allowed(item, selected)]
    else:
        refused = foreign
    if settings.needs_pins:
        refused += [item for item in foreign if not item.is_pinned and item not in refused]
    if refused:
        names = sorted({item.uses for item in refused})
        if isinstance(facts.selected, SelectedActions) and facts.selected.verified:
            reason = f"{join_some(names, 3)} may belong to a verified creator, which GitHub does not say."
            yield make_unknown(rules.ALLOWED_ACTIONS, "Some actions", Unseen(reason=reason, fix=page))
        else:
            what = f"The settings do not allow {join_some(names, 3)}, which workflows use."
            yield make_wrong(rules.ALLOWED_ACTIONS, what, page)
        return
    yield make_ok(rules.ALLOWED_ACTIONS, "The settings allow all actions that the workflows use.")


def _is_allowed(use: RemoteUse, selected: SelectedActions) -> bool:
    if selected.github_owned and use.repository.partition("/")[0].lower() in _OWNED_BY_GITHUB:
        return True
    name = use.uses.lower()
    patterns = [pattern.lower() for pattern in selected.patterns]
    if any(fnmatchcase(name, pattern[1:]) for pattern in patterns if pattern.startswith("!")):
        return False
    return any(fnmatchcase(name, pattern) for pattern in patterns if not pattern.startswith("!"))


def _judge_token(facts: GitHubFacts) -> Iterator[ReportLine]:
    if isinstance(facts.token, Unseen):
        yield make_unknown(rules.WORKFLOW_TOKEN, "The default permissions of workflows", facts.token)
        yield make_unknown(rules.APPROVING_WORKFLOWS, "The right to approve pull requests", facts.token)
        return
    command = f"gh api --method PUT repos/{facts.repository.name}/actions/permissions/workflow"
    if facts.token.writes:
        fix = f"{command} -f default_workflow_permissions=read"
        yield make_wrong(rules.WORKFLOW_TOKEN, "By default, a workflow's token may write.", fix)
    else:
        yield make_ok(rules.WORKFLOW_TOKEN, "By default, a workflow's token only reads.")
    if facts.token.approves_pulls:
        fix = f"{command} -F can_approve_pull_request_reviews=false"
        what = "Workflows may create and approve pull requests."
        yield make_wrong(rules.APPROVING_WORKFLOWS, what, fix)
    else:
        yield make_ok(rules.APPROVING_WORKFLOWS, "Workflows may not approve pull requests.")


def _judge_toolkit(name: str, toolkit: ToolkitFacts | Unseen, facts: GitHubFacts) -> ReportLine:
    if isinstance(toolkit, Unseen):
        return make_unknown(rules.TOOLKIT_ACCESS, f"The repository {name}", toolkit)
    if not toolkit.is_private:
        return make_ok(rules.TOOLKIT_ACCESS, f"{name} is public.")
    if isinstance(toolkit.access, Unseen) or toolkit.access is None:
        unseen = toolkit.access or Unseen(reason="GitHub does not say it.")
        return make_unknown(rules.TOOLKIT_ACCESS, f"The access to the actions of {name}", unseen)
    is_same_owner = name.partition("/")[0].lower() == facts.repository.name.partition("/")[0].lower()
    if toolkit.access == "enterprise" or (is_same_owner and toolkit.access in {"organization", "user"}):
        return make_ok(rules.TOOLKIT_ACCESS, f"{name} is private and shares its actions.")
    what = f"{name} is private, and this repository may not use its actions ({toolkit.access})."
    level = "organization" if facts.repository.organization else "user"
    fix = f"gh api --method PUT repos/{name}/actions/permissions/access -f access_level={level}"
    return make_wrong(rules.TOOLKIT_ACCESS, what, fix)


def _judge_linked(facts: GitHubFacts, policy: Policy) -> Iterator[ReportLine]:
    for path, exists in facts.linked.items():
        if isinstance(exists, Unseen):
            yield make_unknown(rules.LINKED_FILE, f"{path} on {policy.base_branch}", exists)
        elif not exists:
            what = f"{policy.base_branch} has no {path}, which comments link."
            fix = "Run `infx init --signoffs`, add the file, or correct `comments.greeting` and `signoff.paths` in the policy."
            yield make_missing(rules.LINKED_FILE, what, fix)
    if facts.linked and all(exists is True for exists in facts.linked.values()):
        files = count(len(facts.linked), "file")
        yield make_ok(rules.LINKED_FILE, f"{policy.base_branch} has the {files} that comments link.")


def _judge_links(facts: GitHubFacts) -> Iterator[ReportLine]:
    for url, status in facts.links.items():
        if isinstance(status, Unseen):
            yield make_unknown(rules.LINK, url, status)
        elif status in _DEAD:
            fix = "Correct the address in the policy."
            yield make_wrong(rules.LINK, f"{url}, which comments link, answers {status}.", fix)
        elif status >= 400:
            yield make_unknown(rules.LINK, url, Unseen(reason=f"It answers {status}."))
        else:
            yield make_ok(rules.LINK, f"{url} answers {status}.")
