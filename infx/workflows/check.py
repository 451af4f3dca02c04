"""List the rules, and apply them to files."""

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
        why="The policy defines the labels. A condition that names a label is wrong as soon as the policy changes, and "
        "a misspelled label never matches.",
        example="contains(github.event.pull_request.labels.*.name, 'sweep-enabled')",
        instead="if: needs.gate.outputs.verdict == 'run'",
        check=policy_mismatch.find_label_literals,
    ),
    Rule(
        id="policy-mismatch",
        why="Files must repeat some values of the policy: the base branch, the paths of the changelog, the "
        "priorities, the thresholds, the clusters and the runners, the sweep's job, the names of workflows under "
        "`workflow_run`, words that a comment must contain, the artifact with results. If a value differs, nothing starts, and GitHub shows no error.",
        example="if: contains(github.event.comment.body, '/ok-to-sweep')",
        instead="if: contains(github.event.comment.body, '/approve-sweep')",
        check=policy_mismatch.find_policy_mismatches,
    ),
    Rule(
        id="missing-action",
        why="An action or a workflow that is used by a path must exist in this repository. Copied workflows often keep "
        "the paths of infx's repository.",
        example="uses: ./.infx/.github/actions/gate",
        instead="uses: your-org/infx/.github/actions/gate@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0",
        check=local.find_missing_actions,
    ),
    Rule(
        id="runner-boundary",
        why="For `pull_request` and review events, GitHub takes the workflow file from the pull request, so a runner "
        "that accepts every job runs any code. This is a warning until `workflows.runner-boundary` in the policy states "
        "what protects the runners.",
        example="uses: ./.github/workflows/benchmark.yml",
        instead="uses: your-org/your-bench/.github/workflows/benchmark.yml@main",
        check=running.find_unprotected_gpu_jobs,
    ),
    Rule(
        id="missing-timeout",
        why="Without a timeout, a job that hangs holds its GPU for six hours.",
        example="runs-on: [self-hosted, h200]",
        instead="timeout-minutes: 780",
        check=running.find_missing_timeouts,
    ),
    Rule(
        id="always-on-gpu",
        why="When a run is cancelled, GitHub evaluates `if` again. If the condition still holds, the job keeps its GPU.",
        example="if: needs.gate.outputs.verdict == 'run' && always()",
        instead="if: ${{ !cancelled() && needs.gate.outputs.verdict == 'run' }}",
        check=running.find_always_on_gpu_jobs,
    ),
    Rule(
        id="bulk-handed-over",
        why="A variable or an argument is limited to 128 KiB, and a job's outputs to 1 MB. A sweep's rows are larger. "
        "A matrix of ids may be an output if only a matrix reads it.",
        example="PLAN: ${{ needs.gate.outputs.json }}",
        instead="with: {name: sweep-plan, path: sweep-plan}",
        check=running.find_bulk_values,
    ),
    Rule(
        id="empty-matrix",
        why="A matrix without values is an error. The job's condition must not hold when the job that computes the "
        "matrix finds no values.",
        example='matrix: {shard: "${{ fromJSON(needs.gate.outputs.numbers) }}"}',
        instead="if: needs.gate.outputs.shard-count > 0",
        check=running.find_empty_matrices,
    ),
    Rule(
        id="shared-concurrency-group",
        why="Jobs in the same group cancel each other, and so do the jobs of a matrix. GitHub cancels a called workflow "
        "that waits for its caller's group, because that is a deadlock.",
        example="strategy: {matrix: {shard: [0, 1]}}",
        instead="concurrency: {group: sweep-pr-77} # in one calling job without a matrix",
        check=running.find_shared_concurrency_groups,
    ),
    Rule(
        id="required-check",
        why="A required check stays pending forever if a filter (paths, branches or types) excludes its workflow, or if "
        "no job reports it (a warning). A skipped check counts as passed. A matrix changes the name of its check.",
        example="pull_request: {paths: [perf-changelog.yaml]}",
        instead="pull_request:",
        check=policy_mismatch.check_required_checks,
    ),
)

# Rules that also apply to actions.
ACTION_RULES: tuple[Rule[[ActionFile, Policy], Path], ...] = (
    Rule(id="label-literal", check=policy_mismatch.find_label_literals),
    Rule(id="missing-action", check=local.find_missing_actions_of_action),
    Rule(id="bulk-handed-over", check=running.find_bulk_values),
)


def check_files(files: Mapping[str, bytes], policy: Policy) -> list[Problem]:
    """Return the problems of all files; `files` maps paths to bytes, as for `parse_sources`."""
    sources = parse_sources(files)
    problems = [*sources.problems, *policy_mismatch.find_absent_checks(sources.workflows, policy)]
    for workflow in sources.workflows:
        problems += _as_problems(workflow, find_all(RULES, workflow, policy))
    for action in sources.actions:
        problems += _as_problems(action, find_all(ACTION_RULES, action, policy))
    return sort_problems(problems)


def _as_problems(file: Workflow | ActionFile, findings: Iterable[Finding[Path]]) -> Iterator[Problem]:
    for finding in findings:
        yield finding.as_problem(file.path, file.document.line(*finding.at))
