"""The table of rules, and all of them over all files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from infx.errors import Problem, sort_problems
from infx.policy.model import Policy
from infx.rules import Finding, Path, Rule, find_all
from infx.workflows import local, policy_mismatch, running
from infx.workflows.model import ActionFile, Workflow, parse_sources

RULES: tuple[Rule[[Workflow, Policy], Path], ...] = (
    Rule(
        id="label-literal",
        why="What a label means stands in the policy; a condition that spells one, or misspells it, means something "
        "else one day.",
        example="contains(github.event.pull_request.labels.*.name, 'sweep-enabled')",
        instead="if: needs.gate.outputs.verdict == 'run'",
        check=policy_mismatch.label_literals,
    ),
    Rule(
        id="policy-mismatch",
        why="What a file must repeat of the policy: the base branch, the changelog and the priorities, the sweep's job, "
        "names of workflows whose runs it follows, words that a comment must hold, the artifact with results. Where "
        "both differ nothing starts, and nothing says why.",
        example="if: contains(github.event.comment.body, '/ok-to-sweep')",
        instead="if: contains(github.event.comment.body, '/approve-sweep')",
        check=policy_mismatch.policy_mismatches,
    ),
    Rule(
        id="missing-action",
        why="An action or a workflow that is used by a path must exist in this repository. Copied workflows still name "
        "infx's own.",
        example="uses: ./.infx/.github/actions/gate",
        instead="uses: your-org/infx/.github/actions/gate@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0",
        check=local.missing_actions,
    ),
    Rule(
        id="runner-boundary",
        why="On pull_request, and on reviews, the workflow file is the pull request's: a runner that takes any job runs "
        "any code. A warning, until the policy says (`workflows.runner-boundary`) what protects the runners.",
        example="uses: ./.github/workflows/benchmark.yml",
        instead="uses: your-org/your-bench/.github/workflows/benchmark.yml@main",
        check=running.gpu_jobs_without_boundary,
    ),
    Rule(
        id="missing-timeout",
        why="A job that hangs holds its GPU for six hours.",
        example="runs-on: [self-hosted, h200]",
        instead="timeout-minutes: 780",
        check=running.missing_timeouts,
    ),
    Rule(
        id="always-on-gpu",
        why="On cancellation GitHub asks `if` again; where it still holds, the job keeps the GPU that somebody wanted "
        "back.",
        example="if: needs.gate.outputs.verdict == 'run' && always()",
        instead="if: ${{ !cancelled() && needs.gate.outputs.verdict == 'run' }}",
        check=running.always_on_gpus,
    ),
    Rule(
        id="bulk-handed-over",
        why="A variable or an argument ends at 128 KiB, a job's outputs at 1 MB: a sweep's rows are larger. A matrix "
        "of ids may be an output that nothing but a matrix reads.",
        example="PLAN: ${{ needs.gate.outputs.json }}",
        instead="with: {name: sweep-plan, path: sweep-plan}",
        check=running.bulk_handed_over,
    ),
    Rule(
        id="empty-matrix",
        why="A matrix without values is an error, not a job with nothing to do; the condition must not hold when the "
        "job that computes it finds nothing.",
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
        id="required-check",
        why="A required check that is filtered away, by paths, branches or types, stays pending for ever, as one that no "
        "job reports does (a warning); one that is skipped has passed; one with a matrix changes its name.",
        example="pull_request: {paths: [perf-changelog.yaml]}",
        instead="pull_request:",
        check=policy_mismatch.required_checks,
    ),
)

# Those that hold for actions as well.
ACTION_RULES: tuple[Rule[[ActionFile, Policy], Path], ...] = (
    Rule(id="label-literal", check=policy_mismatch.label_literals),
    Rule(id="missing-action", check=local.missing_actions_of_action),
    Rule(id="bulk-handed-over", check=running.bulk_handed_over),
)


def check_files(files: Mapping[str, bytes], policy: Policy) -> list[Problem]:
    """Every problem of every file. files: path → bytes, as `parse_sources` takes them."""
    sources = parse_sources(files)
    problems = [*sources.problems, *policy_mismatch.find_absent_checks(sources.workflows, policy)]
    for workflow in sources.workflows:
        problems += _as_problems(workflow, find_all(RULES, workflow, policy))
    for action in sources.actions:
        problems += _as_problems(action, find_all(ACTION_RULES, action, policy))
    return sort_problems(problems)


def _as_problems(file: Workflow | ActionFile, findings: Iterable[Finding[Path]]) -> Iterator[Problem]:
    for found in findings:
        yield found.as_problem(file.path, file.document.line(*found.at))
