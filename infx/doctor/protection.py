"""Judge what protects the base branch: required checks and environments."""

from __future__ import annotations

from collections.abc import Iterator

from infx.doctor import rules
from infx.doctor.github_facts import EnvironmentFacts, GitHubFacts
from infx.doctor.lines import ReportLine, Unseen, make_missing, make_ok, make_unknown, make_wrong
from infx.doctor.usage import WorkflowUse
from infx.doctor.workflow_files import SIGNOFF_ACTIONS
from infx.model import BranchRules
from infx.phrases import join_some
from infx.policy.model import Policy

ACTIONS_LOGIN = "github-actions[bot]"
ACTIONS_APP = 15368  # the id of GitHub Actions, the App of every check that a job makes


def judge_protection(facts: GitHubFacts, use: WorkflowUse, policy: Policy) -> Iterator[ReportLine]:
    """Yield the lines about required checks, the merge queue and environments."""
    if isinstance(facts.rules, Unseen):
        yield make_unknown(rules.REQUIRED_CHECK, f"The rules of {policy.base_branch}", facts.rules)
        yield make_unknown(rules.MERGE_QUEUE, "The merge queue", facts.rules)
    else:
        yield from _judge_checks(facts, facts.rules, use, policy)
        yield _judge_queue(facts, facts.rules, use)
    if isinstance(facts.environments, Unseen):
        yield make_unknown(rules.ENVIRONMENT, "The list of environments", facts.environments)
        return
    for name, paths in use.environments.items():
        yield _judge_environment(name, paths, facts, facts.environments.get(name), policy)


def _judge_checks(
    facts: GitHubFacts, found: BranchRules, use: WorkflowUse, policy: Policy
) -> Iterator[ReportLine]:
    page = f"{facts.web}/settings/rules"
    if not policy.workflows.required_checks:
        fix = "Set it to the jobs that the settings require, such as [changelog]."
        what = "The policy names no job in `workflows.required-checks`."
        yield make_missing(rules.REQUIRED_CHECK, what, fix)
    for name in policy.workflows.required_checks:
        yield _judge_check(name, found, ACTIONS_LOGIN, ACTIONS_APP, page)
    statuses = [policy.sweep.contexts.sweep]
    if policy.signoff.status is not None and SIGNOFF_ACTIONS & use.actions.keys():
        statuses.append(policy.signoff.status)
    publisher = policy.publisher[0]
    app = ACTIONS_APP if publisher == ACTIONS_LOGIN else facts.app_ids.get(publisher)
    for name in statuses:
        yield _judge_check(name, found, publisher, app, page)


def _judge_check(
    name: str, found: BranchRules, publisher: str, app: int | Unseen | None, page: str
) -> ReportLine:
    """Judge one required check. app: the id of the App that reports it, whose login is `publisher`."""
    sources = {check.app_id for check in found.checks if check.context == name}
    if not sources:
        return make_missing(rules.REQUIRED_CHECK, f"The check {name} is not required.", page)
    bound = sorted(source for source in sources if source is not None)
    if not bound:
        if publisher == ACTIONS_LOGIN:
            return make_ok(rules.REQUIRED_CHECK, f"The check {name} is required, from any source.")
        what = f"The check {name} is required from any source, but {publisher} publishes it."
        return make_wrong(rules.REQUIRED_CHECK, what, page)
    if isinstance(app, Unseen) or app is None:
        reason = f"GitHub does not show the id of {publisher}."
        unseen = app if isinstance(app, Unseen) else Unseen(reason=reason, fix=page)
        return make_unknown(rules.REQUIRED_CHECK, f"The source of the check {name}", unseen)
    if bound != [app]:
        wrong = join_some([str(source) for source in bound if source != app], 3)
        what = f"The check {name} is required from App {wrong}, but {publisher} (App {app}) reports it."
        return make_wrong(rules.REQUIRED_CHECK, what, page)
    return make_ok(rules.REQUIRED_CHECK, f"The check {name} is required, from {publisher}.")


def _judge_queue(facts: GitHubFacts, found: BranchRules, use: WorkflowUse) -> ReportLine:
    if found.queue is None:
        return make_ok(rules.MERGE_QUEUE, "Merges need no queue.")
    if any("merge_group" in use.events[path] for path in use.actions.get("changelog", ())):
        return make_ok(rules.MERGE_QUEUE, f"There is a merge queue ({found.queue.value}).")
    what = "There is a merge queue, but no workflow checks the changelog of its groups."
    fix = "Add `merge_group` to the events of changelog.yml (docs/adopting.md, step 3)."
    return make_wrong(rules.MERGE_QUEUE, what, fix)


def _judge_environment(
    name: str, paths: tuple[str, ...], facts: GitHubFacts, found: EnvironmentFacts | None, policy: Policy
) -> ReportLine:
    branch, page = policy.base_branch, f"{facts.web}/settings/environments"
    if found is None:
        what = f"There is no environment {name}, which {join_some(paths, 2)} uses."
        return make_missing(rules.ENVIRONMENT, what, page)
    if not found.rule.has_policy:
        what = f"Every branch may use the environment {name}."
        return make_wrong(rules.ENVIRONMENT, what, page)
    if found.rule.protected_only:
        if isinstance(facts.protected, Unseen):
            return make_unknown(rules.ENVIRONMENT, f"The branches of environment {name}", facts.protected)
        allowed = list(facts.protected)
    elif isinstance(found.branches, Unseen):
        return make_unknown(rules.ENVIRONMENT, f"The branches of environment {name}", found.branches)
    else:
        allowed = [pattern.name if pattern.is_branch else f"tag {pattern.name}" for pattern in found.branches]
    if allowed == [branch]:
        return make_ok(rules.ENVIRONMENT, f"Only {branch} may use the environment {name}.")
    others = join_some([name for name in allowed if name != branch] or ["no branch"], 3)
    what = f"The environment {name} admits {others}; only {branch} should use it."
    return make_wrong(rules.ENVIRONMENT, what, page)
