"""Check common mistakes in workflows of every kind, and correct workflows that look similar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from infx.errors import Level, UsageError
from infx.gather.workflow_files import read_sources
from infx.policy.load import default_policy
from infx.policy.model import Policy, WorkflowsPolicy
from infx.workflows.check import check_files

POLICY = default_policy()
FILE = """\
on: {on}
permissions: {{}}
{top}
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions: {{contents: read}}
    {job}
    steps:
      - run: "true"
      {steps}
"""


def find_rules(
    *steps: str, on: str = "push", top: str = "name: x", job: str = "name: one", policy: Policy = POLICY
) -> list[str]:
    text = FILE.format(on=on, top=top, job=job, steps="\n      ".join(steps))
    return [problem.rule for problem in check_files({".github/workflows/x.yml": text.encode()}, policy)]


@pytest.mark.parametrize(
    ("strategy", "count"),
    [
        # constant texts in the file have values, for every result of the expression
        ("{matrix: {python: \"${{ fromJSON('[3.11, 3.12]') }}\"}}", 0),
        ('{matrix: {python: "${{ fromJSON(\'[\\"3.11\\",\\"3.12\\"]\') }}"}}', 0),
        ("{matrix: {os: \"${{ fromJSON(github.event_name == 'push' && '[1, 2]' || '[1]') }}\"}}", 0),
        ("{matrix: {os: \"${{ github.ref == 'x' && fromJSON('[1, 2]') || fromJSON('[1]') }}\"}}", 0),
        ('{matrix: {os: "${{ fromJSON(format(\'[\\"{0}\\"]\', inputs.os)) }}"}}', 0),
        ('"${{ fromJSON(\'{\\"os\\": [1]}\') }}"', 0),
        ('{matrix: "${{ fromJSON(\'{\\"include\\": [{\\"os\\": 1}]}\') }}"}', 0),
        ("{matrix: {os: \"${{ fromJSON('[]') }}\"}}", 1),
        ("{matrix: {os: \"${{ fromJSON('') }}\"}}", 1),
        ("{matrix: {os: \"${{ fromJSON(github.event_name == 'push' && '[1]' || '[]') }}\"}}", 1),
        ("{matrix: {os: \"${{ fromJSON(inputs.os || '[1]') }}\"}}", 1),  # it may be '[]'
        ("{matrix: {os: \"${{ fromJSON(format('[{0}]', inputs.os)) }}\"}}", 1),
        ('{matrix: "${{ fromJSON(\'{\\"os\\": []}\') }}"}', 1),
        ("{matrix: {os: [a], include: '${{ fromJSON(needs.a.outputs.b) }}'}}", 0),
        ("{matrix: {os: [a], exclude: '${{ fromJSON(needs.a.outputs.b) }}'}}", 0),
        ("{matrix: {os: [a], include: [], exclude: []}}", 0),
        ("{matrix: {include: '${{ fromJSON(needs.a.outputs.b) }}'}}", 1),
        ("{matrix: {include: []}}", 1),
        ("{matrix: {os: []}}", 1),
        ("${{ fromJSON(needs.a.outputs.b) }}", 1),
    ],
)
def test_matrices_that_are_empty_or_may_be_empty(strategy: str, count: int) -> None:
    assert find_rules(job=f"strategy: {strategy}") == ["empty-matrix"] * count


# Conditions, and whether a job with the condition keeps running when its run is cancelled.
AFTER_A_CANCELLATION = [
    ("always()", True),
    ("${{ always() }}", True),
    ("success() || cancelled()", True),
    ("always() && needs.gate.outputs.verdict == 'run'", True),
    ("!success()", True),  # a cancelled run is not a success
    ("!failure()", True),
    ("always() && github.event_name == 'push'", True),
    ("always() && !contains(needs.*.result, 'cancelled')", True),  # all earlier jobs may have succeeded
    ("${{ always() }} && false", True),  # the whole is a text, which is true
    ("failure() || always()", True),
    ("always() && !cancelled()", False),
    ("!cancelled() && always()", False),
    ("always() && (cancelled() == false)", False),
    ("always() && !(cancelled() || failure())", False),
    ("cancelled() && false", False),
    ("always() && github.ref == 'a' && github.ref == 'b'", False),
    ("!cancelled()", False),
    ("${{ ! cancelled() }}", False),
    ("failure()", False),
    ("success() || failure()", False),
    ("github.event_name == 'push'", False),  # GitHub adds success()
    ("true", False),
]


@pytest.mark.parametrize(("condition", "is_found"), AFTER_A_CANCELLATION)
def test_conditions_that_keep_a_gpu_after_a_cancellation(condition: str, is_found: bool) -> None:
    text = FILE.format(on="push", top="name: x", job=f'if: "{condition}"', steps="")
    for runner, expected in (("h100", ["always-on-gpu"] * is_found), ("ubuntu-24.04", [])):
        files = {".github/workflows/x.yml": text.replace("ubuntu-24.04", runner).encode()}
        assert [problem.rule for problem in check_files(files, POLICY)] == expected


@pytest.mark.parametrize(
    ("value", "is_bulk"),
    [
        ("${{ toJSON(matrix) }}", False),  # the values of a single matrix job
        ("${{ toJSON(matrix.row) }}", False),
        ("${{ toJSON(strategy) }}", False),
        ("${{ matrix['row'] }}", False),
        ("${{ github.event.inputs.label }}", False),
        ("${{ needs.plan.outputs.rows != '[]' }}", False),  # true or false
        ("${{ !needs.plan.outputs.rows }}", False),
        ("${{ contains(needs.plan.outputs.rows, 'h200') }}", False),
        ("${{ hashFiles('plan.json') }}", False),
        ("${{ needs.plan.outputs.rows != '' && 'some' || 'none' }}", False),
        ("sweep-plan", False),
        ("${{ needs.plan.outputs.path }}", False),
        ("${{ toJSON(needs) }}", True),
        ("${{ needs.plan.outputs.rows }}", True),
        ("${{ needs.plan.outputs.rows || '[]' }}", True),
        ("${{ github.event_name == 'push' && needs.plan.outputs.rows }}", True),
        ("${{ fromJSON(needs.plan.outputs.json).rows }}", True),
        ("${{ format('{0}', inputs.json) }}", True),
    ],
)
def test_expressions_that_contain_a_plan_or_rows(value: str, is_bulk: bool) -> None:
    steps = f'- {{run: x, env: {{MATRIX: "{value}"}}}}'
    assert find_rules(steps) == ["bulk-handed-over"] * is_bulk


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("needs.a.outputs.b == 'x'", "needs.a.outputs.b == 'y'", False),
        ("needs.a.outputs.b == 'x'", "'X' != needs.a.outputs.b", False),
        ("needs.a.outputs.b == 'x'", "!(needs.a.outputs.b == 'x')", False),
        ("needs.a.outputs.n > 0", "needs.a.outputs.n == 0", False),
        (
            "github.event_name == 'push' || github.ref == 'r'",
            "github.event_name != 'push' && github.ref == 'q'",
            False,
        ),
        ("success()", "cancelled()", False),
        ("contains(github.ref, 'x')", "!contains(github.ref, 'x')", False),
        ("needs.a.outputs.b == 'x'", "needs.a.outputs.b != 'y'", True),
        ("needs.a.outputs.b == 'x' || always()", "needs.a.outputs.b == 'y'", True),
        ("needs.a.outputs.b == 'x'", "needs.a.outputs.c == 'y'", True),
        ("contains(github.ref, 'x')", "contains(github.ref, 'y')", True),
        ("success()", "failure()", True),  # the jobs may wait for different jobs
        ("true", "true", True),
    ],
)
def test_jobs_that_share_a_group(first: str, second: str, together: bool) -> None:
    job = '{{runs-on: ubuntu-24.04, concurrency: g, if: "{}", {}steps: [{{run: x}}]}}'
    files = [
        f"on: push\njobs:\n  one: {job.format(first, '')}\n  two: {job.format(second, more)}\n"
        for more in ("", "needs: one, ", "needs: [three], ")
    ]
    files[2] += "  three: {runs-on: ubuntu-24.04, needs: [one], steps: [{run: x}]}\n"
    rules_of_files = [
        [problem.rule for problem in check_files({".github/workflows/x.yml": text.encode()}, POLICY)]
        for text in files
    ]
    # a job that waits for the other, directly or through a third, does not share the group with it
    assert rules_of_files == [["shared-concurrency-group"] * together, [], []]


@pytest.mark.parametrize(("more", "count"), [("", 1), (", max-parallel: 1", 0), (", max-parallel: 2", 1)])
def test_matrix_jobs_that_share_a_group(more: str, count: int) -> None:
    job = f"concurrency: g\n    strategy: {{matrix: {{os: [a, b]}}{more}}}"
    assert find_rules(job=job) == ["shared-concurrency-group"] * count


CALLER = """\
on: push
permissions: {}
concurrency: ${{ github.workflow }}-${{ github.ref }}
jobs:
  call: {uses: ./.github/workflows/b.yml}
"""
CALLEE = """\
on: workflow_call
jobs:
  build: {runs-on: ubuntu-24.04, timeout-minutes: 5, steps: [{run: echo}]}
"""


def find_messages_of_caller(callee: str, caller: str = CALLER) -> list[str]:
    files = {".github/workflows/a.yml": caller.encode(), ".github/workflows/b.yml": callee.encode()}
    return [
        problem.message for problem in check_files(files, POLICY) if (problem.path or "").endswith("a.yml")
    ]


def test_a_called_workflow_must_not_use_its_callers_group() -> None:
    assert find_messages_of_caller(CALLEE) == []
    group = "concurrency: {group: '${{ github.workflow }}-${{ github.ref }}'}\n"
    [message] = find_messages_of_caller(group + CALLEE)
    assert "waits for the concurrency group of its caller" in message
    assert find_messages_of_caller(group.replace("'$", "'build-$") + CALLEE) == []


REQUIRED = replace(POLICY, workflows=WorkflowsPolicy(required_checks=("one",)))


@pytest.mark.parametrize(
    ("pull_request", "count"),
    [
        ("{}", 0),
        ("{branches: [main]}", 0),
        ("{branches: ['ma*', 'release/**']}", 0),
        ("{branches: [release]}", 1),
        ("{branches: ['**', '!main']}", 1),
        ("{branches-ignore: [main]}", 1),
        ("{types: [opened, synchronize, reopened, labeled]}", 0),
        ("{types: [labeled]}", 1),
        ("{paths: [a]}", 1),
        ("{paths-ignore: [a]}", 1),
    ],
)
def test_a_required_check_must_start_for_every_push(pull_request: str, count: int) -> None:
    on = f"{{pull_request: {pull_request}, merge_group: {{}}}}"
    assert find_rules(on=on, policy=REQUIRED) == ["required-check"] * count


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("always()", 0),
        ("${{ always() }}", 0),
        ("always() && github.event_name == 'pull_request'", 0),
        ("success() || failure() || cancelled()", 0),
        ("!success() || success()", 0),
        ("success()", 1),
        ("!cancelled()", 1),  # a check that a cancellation skips counts as passed
        ("failure()", 1),
        ("always() && needs.two.result == 'success'", 1),
        ("always() && needs.two.result != 'failure'", 1),
        ("always() && needs.two.result != 'failure' || needs.two.result == 'failure'", 0),
    ],
)
def test_a_required_check_must_run_after_every_result(condition: str, count: int) -> None:
    job = f'needs: two\n    if: "{condition}"'
    top = "name: x"
    text = FILE.format(on="{pull_request: {}, merge_group: {}}", top=top, job=job, steps="")
    text += "  two: {runs-on: ubuntu-24.04, steps: [{run: x}]}\n"
    problems = check_files({".github/workflows/x.yml": text.encode()}, REQUIRED)
    assert [problem.rule for problem in problems] == ["required-check"] * count


def test_a_required_check_that_no_job_reports_is_a_warning() -> None:
    """It stays pending forever unless a service reports it; infx reports its own statuses."""
    names = ("one", "two", POLICY.sweep.contexts.sweep, POLICY.signoff.status or "")
    policy = replace(POLICY, workflows=WorkflowsPolicy(required_checks=names))
    text = FILE.format(on="{pull_request: {}, merge_group: {}}", top="name: x", job="name: one", steps="")
    problems = check_files({".github/workflows/x.yml": text.encode()}, policy)
    assert [(problem.rule, problem.level, problem.message) for problem in problems] == [
        (
            "required-check",
            Level.WARNING,
            "The policy requires the check two, but no job here has this name.",
        )
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("name: x", "name: y"), None),
        (("branches: [main], paths", "branches: [trunk], paths"), "push excludes main"),
        (("paths: [perf", "paths: [docs/perf"), "push excludes perf-changelog.yaml"),
        (("  sweep:", "  measure:"), "There is no job sweep"),
        (("{branches: [main]}", "{branches: [master]}"), "pull_request excludes main"),
        (("{branches: [main]}", "{branches-ignore: ['m*']}"), "pull_request excludes main"),
        (
            ("{branches: [main]}", "{paths-ignore: ['**.yaml']}"),
            "pull_request excludes perf-changelog.yaml",
        ),
        (("push: {branches: [main], paths", "push: {tags: [v1], paths"), "push excludes main"),
    ],
)
def test_the_sweeps_workflow_must_agree_with_the_policy(change: tuple[str, str], message: str | None) -> None:
    on = "{pull_request: {branches: [main]}, push: {branches: [main], paths: [perf-changelog.yaml]}}"
    text = FILE.format(on=on, top="name: x", job="name: a", steps="").replace("  one:", "  sweep:")
    assert change[0] in text
    problems = check_files({POLICY.sweep.workflow: text.replace(*change).encode()}, POLICY)
    assert [problem.rule for problem in problems] == ["policy-mismatch"] * bool(message)
    assert message is None or message in problems[0].message


def test_only_workflow_files_are_read(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    (folder / "folder.yml").mkdir(parents=True)
    (folder / "gone.yml").symlink_to("nowhere")
    for name in ("a.yml", "b.yaml", "c.yxml", "d.yml.bak"):
        (folder / name).write_text("x")
    expected = {".github/workflows/a.yml", ".github/workflows/b.yaml"}
    for directory in (tmp_path, tmp_path / ".github", folder):
        assert set(read_sources(directory)) == expected
    with pytest.raises(UsageError):
        read_sources(tmp_path / "elsewhere")


@pytest.mark.parametrize("value", ["3", "true", "{a: b}", "[[]]", "null", "''"])
@pytest.mark.parametrize(
    "place", ["needs", "types", "branches", "strategy", "concurrency", "permissions", "env"]
)
def test_a_value_of_a_wrong_type_does_not_crash_the_check(place: str, value: str) -> None:
    """GitHub refuses such files and actionlint reports them; infx still checks the remaining parts."""
    on = f"{{pull_request: {{{place}: {value}}}, merge_group: {{}}}}"
    find_rules(on=on, job=f"{place}: {value}", top=f"{place}: {value}", policy=REQUIRED)
