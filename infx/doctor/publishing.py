"""Judge the secrets with which results are published."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from infx.doctor import rules
from infx.doctor.github_facts import GitHubFacts
from infx.doctor.lines import ReportLine, Unseen, make_missing, make_ok, make_unknown
from infx.doctor.usage import WorkflowUse
from infx.policy.model import Policy

# The names of the secrets in publish.yml and stage.yml.
STORE, TOKEN = "INFX_STORE", "INFX_TARGET_TOKEN"
_BY_ENVIRONMENT = "environment"


def judge_publishing(facts: GitHubFacts, use: WorkflowUse, policy: Policy) -> Iterator[ReportLine]:
    """Yield a line for each workflow that needs a secret to send results somewhere."""
    targets = {"publish": policy.publish.target, "stage": policy.publish.stage.target}
    for action, target in targets.items():
        for path in use.actions.get(action, ()):
            if target is not None:
                yield _judge_target(facts, use, path, target)
    if policy.results.store == _BY_ENVIRONMENT:
        for path in use.actions.get("publish", ()):
            yield _judge_store(facts, use, path)


def _judge_target(facts: GitHubFacts, use: WorkflowUse, path: str, target: str) -> ReportLine:
    names = _find_names(facts, use, path)
    for known in (names, facts.variables):
        if isinstance(known, Unseen):
            return make_unknown(rules.PUBLISH_SECRET, f"The token of {path} for {target}", known)
    assert not isinstance(names, Unseen)
    assert not isinstance(facts.variables, Unseen)
    keys = [app.secret for app in use.apps if app.path == path and app.variable in facts.variables]
    if TOKEN in names or any(key in names for key in keys):
        return make_ok(rules.PUBLISH_SECRET, f"{path} has a token for {target}.")
    fix = f"gh secret set {TOKEN}{_render_place(use, path)} --repo {facts.repository.name}"
    what = f"{path} has neither an App nor the secret {TOKEN} for {target}."
    return make_missing(rules.PUBLISH_SECRET, what, fix)


def _judge_store(facts: GitHubFacts, use: WorkflowUse, path: str) -> ReportLine:
    names = _find_names(facts, use, path)
    if isinstance(names, Unseen):
        return make_unknown(rules.PUBLISH_SECRET, f"The secret {STORE} of {path}", names)
    if STORE in names:
        return make_ok(rules.PUBLISH_SECRET, f"{path} has the secret {STORE}.")
    fix = f"gh secret set {STORE}{_render_place(use, path)} --repo {facts.repository.name}"
    what = f"The policy takes the store's address from the environment, but {path} has no secret {STORE}."
    return make_missing(rules.PUBLISH_SECRET, what, fix)


def _find_environments(use: WorkflowUse, path: str) -> list[str]:
    return [name for name, paths in use.environments.items() if path in paths]


def _render_place(use: WorkflowUse, path: str) -> str:
    return "".join(f" --env {shlex.quote(name)}" for name in _find_environments(use, path)[:1])


def _find_names(facts: GitHubFacts, use: WorkflowUse, path: str) -> frozenset[str] | Unseen:
    """Return the names of the secrets that a workflow gets from its environments and from the repository."""
    if isinstance(facts.secrets, Unseen):
        return facts.secrets
    if isinstance(facts.environments, Unseen):
        return facts.environments
    names = facts.secrets
    for name in _find_environments(use, path):
        known = facts.environments.get(name)
        if known is not None and isinstance(known.secrets, Unseen):
            return known.secrets
        if known is not None and not isinstance(known.secrets, Unseen):
            names |= known.secrets
    return names
