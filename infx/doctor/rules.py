"""The rules of the doctor, in the order of the report."""

from __future__ import annotations

from infx.doctor.lines import DoctorRule, Part

RULES: dict[str, DoctorRule] = {}


def _rule(rule_id: str, part: Part, needs: str, why: str) -> DoctorRule:
    rule = DoctorRule(id=rule_id, part=part, needs=needs, why=why)
    RULES[rule_id] = rule
    return rule


POLICY = _rule(
    "policy",
    Part.CHECKOUT,
    "The repository has a policy, and it is valid.",
    "Without a policy infx uses the names of its packaged default, and on Actions it does not start.",
)
BASE_POLICY = _rule(
    "base-policy",
    Part.CHECKOUT,
    "The base branch has the policy.",
    "Workflows read the policy from the base branch, so that a pull request cannot change its own rules.",
)
REPOSITORY = _rule(
    "repository",
    Part.CHECKOUT,
    "The repository's name is known, and the policy names one of the clone's remotes.",
    "Links in the changelog and in comments contain this name.",
)
FILE = _rule(
    "file",
    Part.CHECKOUT,
    "The files that the policy names exist. Files that may be missing count only if the repository's policy names them.",
    "infx plans sweeps from these files.",
)
CONFIG = _rule(
    "config",
    Part.CHECKOUT,
    "`infx config check` finds no error.",
    "A wrong configuration fails after it has waited for a GPU.",
)
CHANGELOG = _rule(
    "changelog",
    Part.CHECKOUT,
    "`infx changelog validate` finds no error in what this branch appends.",
    "The check `changelog` of each pull request runs the same rules.",
)
WORKFLOWS = _rule(
    "workflows",
    Part.CHECKOUT,
    "`infx workflows check` finds no error.",
    "A mistake in a workflow shows only when a sweep does not start, or does not stop.",
)
NEEDED_WORKFLOW = _rule(
    "needed-workflow",
    Part.CHECKOUT,
    "Workflows use the actions that the policy needs, and the workflows that it names exist.",
    "Without this workflow nothing on GitHub does its part of a sweep.",
)
BASE_WORKFLOWS = _rule(
    "base-workflows",
    Part.CHECKOUT,
    "The base branch has the workflows that use infx.",
    "For comments, schedules and finished runs, GitHub takes workflows from the default branch only.",
)
PIN = _rule(
    "pin",
    Part.CHECKOUT,
    "Workflows that use infx name all actions and workflows of other repositories by a full commit, and infx by a single one. "
    "A workflow of the repository itself may be named by the base branch.",
    "A tag or a branch can be moved, and its new code would run with the token of the job.",
)
VERSION = _rule(
    "version",
    Part.CHECKOUT,
    "This infx is the one that the workflows pin.",
    "Another version may judge differently here than in the workflows.",
)
RUNNER_BOUNDARY = _rule(
    "runner-boundary",
    Part.CHECKOUT,
    "The policy states what keeps a pull request's own workflow off the GPU runners.",
    "GitHub takes the workflow of a pull request from the pull request, so no rule inside it protects a runner.",
)
CODEOWNERS = _rule(
    "codeowners",
    Part.CHECKOUT,
    "If sign-offs are verified, CODEOWNERS exists, and every line of it can be read.",
    "Sign-offs count only from the owners of the changed files.",
)
CHECKLIST = _rule(
    "checklist",
    Part.CHECKOUT,
    "If sign-offs are verified, the checklist exists, with the phrase of the policy and with items.",
    "Reviewers paste the checklist, and infx compares their comment with it.",
)
ROW_COMMAND = _rule(
    "row-command",
    Part.CHECKOUT,
    "The files that the row command names exist, or the repository has clusters, whose scripts `config` checks.",
    "Every row of a sweep starts this command; without it, each one fails on its machine.",
)
MERGE_DRIVER = _rule(
    "merge-driver",
    Part.CHECKOUT,
    "In this clone, git merges the changelog with infx. On Actions this rule is skipped.",
    "Two branches that append to the changelog conflict in a merge by lines.",
)
PRE_COMMIT = _rule(
    "pre-commit",
    Part.CHECKOUT,
    "If the repository uses pre-commit, its hooks check configurations, changelog and workflows with infx.",
    "A hook finds a mistake before the push.",
)
