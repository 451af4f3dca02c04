"""The table of rules, and all of them over all files."""

from __future__ import annotations

from collections.abc import Mapping

from infx.errors import Problem, sort_problems
from infx.policy.model import Policy
from infx.workflows import agreement, heads, running, trust
from infx.workflows.finding import Rule, as_problem
from infx.workflows.model import parse_sources

RULES = (
    Rule(
        id="expression-in-run",
        why="It is expanded before the shell reads the script, so a title or a branch name becomes code. "
        "A warning where only GitHub or the file itself fills it.",
        example='run: echo "${{ github.event.pull_request.title }}"',
        instead='run: echo "$TITLE"',
        check=trust.expressions_in_run,
        check_action=trust.expressions_in_run,
    ),
    Rule(
        id="unpinned-uses",
        why="A tag or branch can be moved to other code. Of the own repository the base branch's workflow is fine: "
        "a runner group admits it by that name.",
        example="uses: actions/checkout@v7",
        instead="uses: actions/checkout@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0 # v7.0.0",
        check=trust.unpinned_uses,
        check_action=trust.unpinned_uses,
    ),
    Rule(
        id="missing-permissions",
        why="What nobody states is the repository's default, often everything; what is stated at the top goes to "
        "every job. A called workflow that asks for more than its caller has ends the run without a log.",
        example="permissions: write-all",
        instead="permissions: {}",
        check=trust.missing_permissions,
    ),
    Rule(
        id="label-literal",
        why="What a label means stands in the policy; a condition that spells one, or misspells it, means something "
        "else one day.",
        example="contains(github.event.pull_request.labels.*.name, 'sweep-enabled')",
        instead="if: needs.gate.outputs.verdict == 'run'",
        check=agreement.label_literals,
        check_action=agreement.label_literals,
    ),
    Rule(
        id="head-under-privilege",
        why="These events run with a full token and the repository's secrets, whoever wrote the pull request; code "
        "that is laid out gets run sooner or later.",
        example="pull_request_target:",
        instead="pull_request:",
        check=heads.head_under_privilege,
    ),
    Rule(
        id="persisted-credentials",
        why="The checkout's token stays on the disk for every later step. A warning in a job that may write contents, "
        "which probably pushes.",
        example="with: {path: measured}",
        instead="with: {path: measured, persist-credentials: false}",
        check=trust.persisted_credentials,
        check_action=trust.persisted_credentials,
    ),
    Rule(
        id="code-after-head-checkout",
        why="Once a pull request's files are on the disk, a `./` action is the pull request's own, and a secret is "
        "handed to its code. A warning for actions where there is nothing to lose: GitHub's machine, a token "
        "that only reads.",
        example="uses: ./.github/actions/gate",
        instead="uses: ./.infx/.github/actions/gate",
        check=heads.code_after_head_checkout,
    ),
    Rule(
        id="runner-boundary",
        why="On pull_request the workflow file is the pull request's: a runner that takes any job runs any code. A "
        "warning, until the policy says (`workflows.runner-boundary`) what protects the runners.",
        example="uses: ./.github/workflows/benchmark.yml",
        instead="uses: your-org/your-bench/.github/workflows/benchmark.yml@main",
        check=trust.gpu_jobs_without_boundary,
    ),
    Rule(
        id="missing-timeout",
        why="A job that hangs holds its runner for six hours.",
        example="runs-on: ubuntu-24.04",
        instead="timeout-minutes: 10",
        check=running.missing_timeouts,
    ),
    Rule(
        id="always-on-gpu",
        why="On cancellation GitHub asks `if` again, and `always()` keeps the GPU that somebody wanted back.",
        example="if: needs.gate.outputs.verdict == 'run' && always()",
        instead="if: ${{ !cancelled() && needs.gate.outputs.verdict == 'run' }}",
        check=running.always_on_gpus,
    ),
    Rule(
        id="string-boolean",
        why="Outputs are text: as a setting GitHub refuses them, and in a condition 'false' is true. An input that is "
        "a boolean never equals a text, but in github.event it is one.",
        example="fail-fast: ${{ needs.gate.outputs.fail-fast }}",
        instead="fail-fast: ${{ needs.gate.outputs.fail-fast == 'true' }}",
        check=running.string_booleans,
        check_action=running.string_booleans_in_action,
    ),
    Rule(
        id="bulk-handed-over",
        why="A variable or an argument ends at 128 KiB, a job's outputs at 1 MB: a sweep's rows are larger. A matrix "
        "of ids may be an output that nothing but a matrix reads.",
        example="PLAN: ${{ needs.gate.outputs.json }}",
        instead="with: {name: sweep-plan, path: sweep-plan}",
        check=running.bulk_handed_over,
        check_action=running.bulk_handed_over,
    ),
    Rule(
        id="empty-matrix",
        why="A matrix without values is an error, not a job with nothing to do; the condition must ask the job that "
        "computes it.",
        example='matrix: {shard: "${{ fromJSON(needs.gate.outputs.numbers) }}"}',
        instead="if: needs.gate.outputs.shard-count > 0",
        check=running.empty_matrices,
    ),
    Rule(
        id="shared-concurrency-group",
        why="All jobs in one group cancel each other, the legs of a matrix do too, and a called workflow that waits for "
        "its caller's group is cancelled as a deadlock.",
        example="strategy: {matrix: {shard: [0, 1]}}",
        instead="concurrency: {group: sweep-pr-77} # in one calling job without a matrix",
        check=running.shared_concurrency_groups,
    ),
    Rule(
        id="large-expression",
        why="A text with an expression may have 21,000 characters; a longer one makes the whole file invalid.",
        example="run: | # 21,000 characters with ${{ github.sha }} among them",
        instead="run: .ci/run",
        check=running.large_expressions,
        check_action=running.large_expressions,
    ),
    Rule(
        id="required-check",
        why="A required check that is filtered away, by paths, branches or types, stays pending for ever; one that is "
        "skipped has passed; one with a matrix changes its name.",
        example="pull_request: {paths: [perf-changelog.yaml]}",
        instead="pull_request:",
        check=agreement.required_checks,
    ),
    Rule(
        id="policy-mismatch",
        why="Branches, the changelog's path, a command: what a file must repeat of the policy. Where both differ nothing "
        "starts, and nothing says why.",
        example="if: contains(github.event.comment.body, '/ok-to-sweep')",
        instead="if: contains(github.event.comment.body, '/approve-sweep')",
        check=agreement.policy_mismatches,
    ),
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
