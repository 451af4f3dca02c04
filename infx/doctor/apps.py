"""Judge the Apps that make tokens for infx: their ids, keys, logins, and permissions."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from infx.doctor import rules
from infx.doctor.github_facts import GitHubFacts
from infx.doctor.lines import ReportLine, Unseen, make_missing, make_ok, make_unknown, make_wrong
from infx.doctor.protection import ACTIONS_LOGIN
from infx.doctor.settings import InstalledApp
from infx.doctor.usage import AppStep, WorkflowUse
from infx.phrases import join_some
from infx.policy.identity import is_listed
from infx.policy.model import Policy

# Actions that write comments, statuses or commits; an App that only sends events needs no identity.
_WRITERS = ("reconcile", "merge", "signoff", "approve")
_RANK = {"none": 0, "read": 1, "write": 2, "admin": 3}


def judge_apps(facts: GitHubFacts, use: WorkflowUse, policy: Policy) -> Iterator[ReportLine]:
    """Yield the lines about Apps."""
    own = [login for login in policy.identities if login != ACTIONS_LOGIN]
    writers = {path for action in _WRITERS for path in use.actions.get(action, ())}
    for (variable, secret, environment), steps in _group(use.apps).items():
        writes = any(step.path in writers for step in steps)
        yield _judge_key(facts, variable, secret, environment, is_needed=writes and bool(own))
    yield from _judge_installed(facts, [step for step in use.apps if step.path in writers], policy)


def _group(steps: Sequence[AppStep]) -> dict[tuple[str, str, str | None], list[AppStep]]:
    """Group the steps by the names of variable and secret, and by environment."""
    groups: dict[tuple[str, str, str | None], list[AppStep]] = {}
    for step in steps:
        if step.variable is not None and step.secret is not None:
            groups.setdefault((step.variable, step.secret, step.environment), []).append(step)
    return groups


def _judge_key(
    facts: GitHubFacts, variable: str, secret: str, environment: str | None, *, is_needed: bool
) -> ReportLine:
    """Judge whether the App has an id and a key. is_needed: the policy has an identity other than Actions."""
    keys = _find_secrets(facts, environment)
    for subject, known in (
        (f"The variable {variable}", facts.variables),
        (f"The secret {secret}", keys),
        ("The repository's secrets", facts.secrets),
    ):
        if isinstance(known, Unseen):
            return make_unknown(rules.APP_KEY, subject, known)
    assert not isinstance(keys, Unseen)
    repository = f"--repo {facts.repository.name}"
    where = f" --env {shlex.quote(environment)}" if environment else ""
    if environment and not isinstance(facts.secrets, Unseen) and secret in facts.secrets:
        what = f"{secret} is a secret of the repository, so the workflows of every branch can read it."
        fix = f"gh secret set {secret}{where} {repository}, then gh secret delete {secret} {repository}"
        return make_wrong(rules.APP_KEY, what, fix)
    has_id = not isinstance(facts.variables, Unseen) and variable in facts.variables
    match has_id, secret in keys:
        case True, True:
            return make_ok(rules.APP_KEY, f"{variable} and {secret} are set.")
        case True, False:
            fix = f"gh secret set {secret}{where} {repository}"
            return make_missing(rules.APP_KEY, f"{variable} is set, but not the secret {secret}.", fix)
        case _, has_key if has_key or is_needed:
            fix = f"gh variable set {variable} {repository}"
            what = f"The variable {variable} is not set, so workflows make no token of the App."
            return make_missing(rules.APP_KEY, what, fix)
    return make_ok(rules.APP_KEY, f"There is no App ({variable} is not set).")


def _find_secrets(facts: GitHubFacts, environment: str | None) -> frozenset[str] | Unseen:
    """Return the names of the secrets that a job with this environment gets from it."""
    if environment is None:
        return facts.secrets
    if isinstance(facts.environments, Unseen):
        return facts.environments
    known = facts.environments.get(environment)
    return known.secrets if known is not None else frozenset()


def _judge_installed(facts: GitHubFacts, steps: Sequence[AppStep], policy: Policy) -> Iterator[ReportLine]:
    if isinstance(facts.variables, Unseen):
        if steps:
            yield make_unknown(rules.APP_INSTALLED, "The id of the App", facts.variables)
            yield make_unknown(rules.APP_LOGIN, "The id of the App", facts.variables)
        return
    names = {step.variable for step in steps if step.variable is not None}
    for variable in sorted(names & facts.variables.keys()):
        needed = _collect([step for step in steps if step.variable == variable])
        app_id = facts.variables[variable]
        if facts.installations is None or isinstance(facts.installations, Unseen):
            unseen = facts.installations or Unseen(
                reason="GitHub shows the installations of an account only to the App itself.",
                fix=f"{facts.web}/settings/installations",
            )
            yield make_unknown(rules.APP_INSTALLED, f"The installation of the App of {variable}", unseen)
            yield make_unknown(rules.APP_LOGIN, f"The login of the App of {variable}", unseen)
            continue
        app = next((app for app in facts.installations if str(app.app_id) == app_id.strip()), None)
        yield _judge_installation(facts, variable, app, needed)
        if app is not None:
            yield _judge_login(app, policy)


def _collect(steps: Sequence[AppStep]) -> dict[str, str]:
    """Return the permissions that the steps ask for, spelled as GitHub does, with the highest access."""
    needed: dict[str, str] = {}
    for step in steps:
        for name, access in step.permissions.items():
            key = name.replace("-", "_")
            if _RANK.get(access, 0) > _RANK.get(needed.get(key, "none"), 0):
                needed[key] = access
    return needed


def _judge_installation(
    facts: GitHubFacts, variable: str, app: InstalledApp | None, needed: Mapping[str, str]
) -> ReportLine:
    server = facts.web.removesuffix(f"/{facts.repository.name}")
    page = f"{server}/organizations/{facts.repository.organization}/settings/installations"
    if app is None:
        what = f"The App of {variable} is not installed in {facts.repository.organization}."
        return make_missing(rules.APP_INSTALLED, what, page)
    if app.is_suspended:
        return make_wrong(rules.APP_INSTALLED, f"The installation of {app.slug} is suspended.", page)
    lacking = [
        f"{name.replace('_', '-')}: {access}"
        for name, access in needed.items()
        if _RANK.get(app.permissions.get(name, "none"), 0) < _RANK[access]
    ]
    if lacking:
        what = f"The App {app.slug} lacks {join_some([f'`{name}`' for name in lacking], 4)}."
        return make_wrong(rules.APP_INSTALLED, what, page)
    if not app.is_everywhere:
        reason = "It is installed in selected repositories, and GitHub does not say in which ones."
        return make_unknown(rules.APP_INSTALLED, f"The App {app.slug}", Unseen(reason=reason, fix=page))
    return make_ok(rules.APP_INSTALLED, f"The App {app.slug} is installed, with the permissions it needs.")


def _judge_login(app: InstalledApp, policy: Policy) -> ReportLine:
    login = f"{app.slug}[bot]"
    if is_listed(login, policy.identities):
        return make_ok(rules.APP_LOGIN, f"{login} is an identity of the policy.")
    fix = "Add the login to `identities` in the policy (docs/app.md, Set it up)."
    return make_wrong(rules.APP_LOGIN, f"{login} is not an identity of the policy.", fix)
