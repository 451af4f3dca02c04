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
BASE_BRANCH = _rule(
    "base-branch",
    Part.GITHUB,
    "The token can see the repository, and its default branch is the policy's base branch.",
    "For comments, schedules and finished runs, GitHub takes workflows from the default branch.",
)
LIVE_POLICY = _rule(
    "live-policy",
    Part.GITHUB,
    "On GitHub, the base branch has the policy.",
    "Every workflow reads the policy from there, and fails without it.",
)
LABEL = _rule(
    "label",
    Part.GITHUB,
    "All labels of the policy exist.",
    "Only a label that exists can be put on a pull request.",
)
REQUIRED_CHECK = _rule(
    "required-check",
    Part.GITHUB,
    "A ruleset or classic protection requires the jobs of `workflows.required-checks`, the status of sweeps and, if sign-offs are "
    "verified, their status. If an App publishes the statuses, they are required from this App.",
    "Only a required check keeps a pull request that was not swept from being merged, and anyone with write access can set a status.",
)
MERGE_QUEUE = _rule(
    "merge-queue",
    Part.GITHUB,
    "There is no merge queue, or the changelog of its groups is checked.",
    "A required check that no workflow reports for a group keeps it waiting forever.",
)
ENVIRONMENT = _rule(
    "environment",
    Part.GITHUB,
    "The environments that workflows use exist, and only the base branch may use them.",
    "Otherwise the workflow of any branch can read the environment's secrets.",
)
APP_KEY = _rule(
    "app-key",
    Part.GITHUB,
    "The App's id is a variable and its key a secret of the environment, or there is no App. Values are not shown.",
    "Without an App's token infx cannot push, merge or queue, and a key outside of the environment is open to every branch.",
)
APP_INSTALLED = _rule(
    "app-installed",
    Part.GITHUB,
    "The App is installed in the organization, with the permissions that the workflows ask for.",
    "The step that makes the token fails if the App lacks a permission.",
)
APP_LOGIN = _rule(
    "app-login",
    Part.GITHUB,
    "The App's login is an identity of the policy.",
    "infx trusts only what its identities have written.",
)
PUBLISH_SECRET = _rule(
    "publish-secret",
    Part.GITHUB,
    "If the policy names a target of results, its workflow has an App or the secret `INFX_TARGET_TOKEN`; if it takes the store's "
    "address from the environment, the secret `INFX_STORE` exists.",
    "Without it, the results of merges are not published.",
)
RUNNER = _rule(
    "runner",
    Part.GITHUB,
    "For each label of the runners file, a runner that this repository may use is online.",
    "A row without a runner waits for a day and then fails.",
)
RUNNER_ACCESS = _rule(
    "runner-access",
    Part.GITHUB,
    "The groups of the runners admit only workflows of the base branch, all outside contributors need an approval, or forks run nothing.",
    "Otherwise a pull request from a fork can run any program on the GPU machines.",
)
FORK_WORKFLOWS = _rule(
    "fork-workflows",
    Part.GITHUB,
    "In a private repository, pull requests from forks get neither secrets nor a token that writes.",
    "The workflow of a pull request comes from the pull request.",
)
ALLOWED_ACTIONS = _rule(
    "allowed-actions",
    Part.GITHUB,
    "Actions are turned on, and the settings allow the actions that the workflows use.",
    "GitHub refuses to start a workflow that uses an action which is not allowed.",
)
WORKFLOW_TOKEN = _rule(
    "workflow-token",
    Part.GITHUB,
    "By default, a workflow's token only reads.",
    "A workflow that does not state its permissions gets the default.",
)
APPROVING_WORKFLOWS = _rule(
    "approving-workflows",
    Part.GITHUB,
    "Workflows may not create and approve pull requests.",
    "A workflow of any branch could give the review that a rule requires.",
)
TOOLKIT_ACCESS = _rule(
    "toolkit-access",
    Part.GITHUB,
    "The repository of infx that the workflows use is public, or shares its actions with this one.",
    "GitHub does not find the actions of a private repository that does not share them.",
)
LINKED_FILE = _rule(
    "linked-file",
    Part.GITHUB,
    "The base branch has the files that comments link.",
    "The greeting and the verdicts link them; without the checklist, the greeting does not ask for a review.",
)
LINK = _rule(
    "link",
    Part.GITHUB,
    "With `--links`: the pages that comments link answer.",
    "A dead link leads authors and reviewers nowhere.",
)
