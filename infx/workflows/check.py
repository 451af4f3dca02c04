"""The table of rules, and all of them over all files."""

from __future__ import annotations

from collections.abc import Mapping

from infx.errors import Problem, sort_problems
from infx.policy.model import Policy
from infx.workflows import running, trust
from infx.workflows.finding import Rule, as_problem
from infx.workflows.model import parse_sources

RULES = (
    Rule(id="expression-in-run", check=trust.expressions_in_run, check_action=trust.expressions_in_run),
    Rule(id="unpinned-uses", check=trust.unpinned_uses, check_action=trust.unpinned_uses),
    Rule(id="missing-permissions", check=trust.missing_permissions),
    Rule(id="label-literal", check=trust.label_literals, check_action=trust.label_literals),
    Rule(id="head-under-privilege", check=trust.head_under_privilege),
    Rule(
        id="persisted-credentials",
        check=trust.persisted_credentials,
        check_action=trust.persisted_credentials,
    ),
    Rule(id="code-after-head-checkout", check=trust.code_after_head_checkout),
    Rule(id="runner-boundary", check=trust.gpu_jobs_without_boundary),
    Rule(id="missing-timeout", check=running.missing_timeouts),
    Rule(id="always-on-gpu", check=running.always_on_gpus),
    Rule(id="string-boolean", check=running.string_booleans, check_action=running.string_booleans_in_action),
    Rule(id="bulk-handed-over", check=running.bulk_handed_over, check_action=running.bulk_handed_over),
    Rule(id="empty-matrix", check=running.empty_matrices),
    Rule(id="shared-concurrency-group", check=running.shared_concurrency_groups),
    Rule(id="large-expression", check=running.large_expressions, check_action=running.large_expressions),
    Rule(id="required-check", check=running.required_checks),
)


def check_files(files: Mapping[str, bytes], policy: Policy) -> list[Problem]:
    """Every problem of every file. files: path → bytes, as `parse_sources` takes them."""
    sources = parse_sources(files)
    problems = list(sources.problems)
    for rule in RULES:
        if rule.check is not None:
            for workflow in sources.workflows:
                problems += [as_problem(rule.id, workflow, found) for found in rule.check(workflow, policy)]
        if rule.check_action is not None:
            for action in sources.actions:
                problems += [
                    as_problem(rule.id, action, found) for found in rule.check_action(action, policy)
                ]
    return sort_problems(problems)
