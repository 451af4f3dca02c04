"""Break a good workflow in many ways, and compare the problems that are reported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.errors import Level
from infx.escape import table_code
from infx.policy.load import default_policy
from infx.policy.model import Policy, WorkflowsPolicy
from infx.workflows.check import RULES, check_files
from tests.conftest import ROOT
from tests.workflows.tables import compare_table

SHA = "9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"
PATH = ".github/workflows/sweep.yml"
POLICY = replace(
    default_policy(),
    workflows=WorkflowsPolicy(
        required_checks=("changelog",), runner_boundary="a runner group with selected workflows"
    ),
)

GOOD = f"""\
on:
  pull_request:
  merge_group:
permissions: {{}}
jobs:
  gate:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions: {{contents: read}}
    outputs:
      verdict: ${{{{ steps.gate.outputs.verdict }}}}
      shard-count: ${{{{ steps.gate.outputs.shard-count }}}}
    steps:
      - uses: actions/checkout@{SHA} # v7.0.0
        with: {{path: measured, persist-credentials: false}}
      - uses: actions/checkout@{SHA} # v7.0.0
        with: {{path: .infx, ref: main, persist-credentials: false}}
      - id: gate
        uses: ./.infx/.github/actions/gate
      - run: echo "$TITLE"
        env:
          TITLE: ${{{{ github.event.pull_request.title }}}}
  stop:
    needs: gate
    if: needs.gate.outputs.verdict == 'stop'
    concurrency: {{group: "${{{{ needs.gate.outputs.group }}}}", cancel-in-progress: true}}
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions: {{}}
    steps: [{{run: echo stopped}}]
  rows:
    needs: gate
    if: needs.gate.outputs.verdict == 'run'
    concurrency: {{group: "${{{{ needs.gate.outputs.group }}}}", cancel-in-progress: true}}
    permissions: {{contents: read}}
    uses: ./.github/workflows/benchmark.yml
  changelog:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions: {{}}
    steps: [{{run: echo fine}}]
"""


# Files that the good workflow uses.
ACTION = """\
name: gate
inputs:
  fast: {description: whether}
outputs:
  verdict: {description: what, value: "${{ steps.gate.outputs.verdict }}"}
runs:
  using: composite
  steps:
    - id: gate
      shell: bash
      if: inputs.fast == 'true'
      run: infx gate
"""
ROWS = """\
on: workflow_call
jobs:
  row: {runs-on: "${{ inputs.label }}", timeout-minutes: 780, steps: [{run: ./measure}]}
"""
ACTION_PATH = ".github/actions/gate/action.yml"
OTHERS = {
    ACTION_PATH: ACTION,
    ".github/workflows/benchmark.yml": ROWS,
    ".github/workflows/run-sweep.yml": "on: push\njobs: {sweep: {runs-on: ubuntu-24.04, steps: [{run: 'true'}]}}\n",
}


def find_problems(text: str, path: str = PATH, policy: Policy = POLICY) -> list[tuple[str, int | None, str]]:
    """Return rule, line and message of the problems of a file among the good files."""
    files = {**OTHERS, PATH: GOOD, path: text}
    problems = check_files({name: content.encode() for name, content in files.items()}, policy)
    return [(problem.rule, problem.line, problem.message) for problem in problems if problem.path == path]


def test_the_good_workflow_has_no_problem() -> None:
    assert find_problems(GOOD) == []


CASES = [
    (
        "label-literal",
        (
            "verdict == 'stop'",
            "verdict == 'stop' || contains(github.event.pull_request.labels.*.name, 'sweep-enabled')",
        ),
        25,
        "The condition names the label 'sweep-enabled'. Only the policy should name labels.",
    ),
    (
        "label-literal",
        ("verdict == 'stop'", "verdict == 'stop' && github.event.label.name != 'sweep-enable'"),
        25,
        "The condition names the label 'sweep-enable', which is not in the policy.",
    ),
    (
        "missing-timeout",
        ("runs-on: ubuntu-24.04\n    timeout-minutes: 10\n", "runs-on: [self-hosted, h200]\n"),
        6,
        "The job gate has no timeout-minutes. Without it, a job can hold its runner for six hours.",
    ),
    ("missing-timeout", ("    timeout-minutes: 10\n", ""), None, ""),  # runs on GitHub's own machine
    (
        "missing-action",
        ("./.infx/.github/actions/gate", "./.infx/.github/actions/gates"),
        19,
        "./.infx/.github/actions/gates does not exist in this repository.",
    ),
    (
        "missing-action",
        ("uses: ./.github/workflows/benchmark.yml", "uses: ./.github/workflows/rows.yml"),
        36,
        "The job rows calls ./.github/workflows/rows.yml, which does not exist in this repository.",
    ),
    (
        "always-on-gpu",
        ("verdict == 'run'", "verdict == 'run' && always()"),
        33,
        "The job rows can keep running after a cancellation, because its condition can still hold.",
    ),
    (
        "bulk-handed-over",
        (
            "shard-count: ${{ steps.gate.outputs.shard-count }}",
            "search-space: ${{ steps.gate.outputs.space }}",
        ),
        12,
        "The output search-space seems to contain a plan or its rows, which can exceed GitHub's size limits.",
    ),
    (
        "bulk-handed-over",
        (
            "          TITLE: ${{ github.event.pull_request.title }}",
            "          PLAN: ${{ needs.gate.outputs.json }}",
        ),
        22,
        "PLAN seems to contain a plan or its rows, which can exceed GitHub's size limits.",
    ),
    (
        "empty-matrix",
        (
            "    needs: gate\n    if: needs.gate.outputs.verdict == 'run'\n    concurrency: "
            '{group: "${{ needs.gate.outputs.group }}", cancel-in-progress: true}\n',
            '    needs: gate\n    strategy:\n      matrix: {shard: "${{ fromJSON(needs.gate.outputs.numbers) }}"}\n',
        ),
        34,
        "The matrix of rows is computed and can be empty.",
    ),
    (
        "shared-concurrency-group",
        ("verdict == 'stop'", "verdict != 'ignore'"),
        34,
        "The jobs stop and rows share a concurrency group and can run at the same time.",
    ),
    (
        "shared-concurrency-group",
        (
            "    uses: ./.github/workflows/benchmark.yml",
            "    strategy: {matrix: {shard: [0, 1]}}\n    uses: ./.github/workflows/benchmark.yml",
        ),
        34,
        "The matrix jobs of rows share a concurrency group and cancel each other.",
    ),
    (
        "required-check",
        ("  pull_request:\n", "  pull_request: {paths: [perf-changelog.yaml]}\n"),
        2,
        "The check changelog is required, but pull_request is filtered by paths.",
    ),
    (
        "required-check",
        ("  merge_group:\n", ""),
        1,
        "The check changelog is required, but a merge queue would wait for it forever.",
    ),
    (
        "required-check",
        ("  changelog:\n    runs-on", "  changelog:\n    needs: gate\n    runs-on"),
        37,
        "The check changelog is required, but it is skipped, which counts as passed, when an earlier job fails.",
    ),
    (
        "required-check",
        ("  changelog:\n    runs-on", "  changelog:\n    strategy: {matrix: {os: [a]}}\n    runs-on"),
        37,
        "The check changelog is required, but its name depends on its matrix or on the workflow that it calls.",
    ),
    (
        "policy-mismatch",
        (
            "  gate:\n    runs-on",
            "  approve:\n    if: contains(github.event.comment.body, '/ok-to-sweep')\n    runs-on: ubuntu-24.04\n"
            "    timeout-minutes: 5\n    permissions: {}\n    steps: [{uses: ./.infx/.github/actions/approve}]\n"
            "  gate:\n    runs-on",
        ),
        7,
        "The job approve does not start for a comment with /approve-sweep, which is the policy's sweep.approve-command.",
    ),
]


@pytest.mark.parametrize(("rule", "change", "line", "message"), CASES)
def test_a_mistake_is_reported_with_its_line(
    rule: str, change: tuple[str, str], line: int | None, message: str
) -> None:
    assert change[0] in GOOD
    expected = [] if line is None else [(rule, line, message)]
    assert [problem for problem in find_problems(GOOD.replace(*change, 1)) if problem[0] == rule][
        :1
    ] == expected


def test_every_rule_has_a_case() -> None:
    elsewhere = {"runner-boundary"}
    assert {rule.id for rule in RULES} == {case[0] for case in CASES} | elsewhere


@pytest.mark.parametrize(
    ("events", "level"),
    [
        ("  pull_request:\n  merge_group:\n", Level.WARNING),
        ("  pull_request_review:\n", Level.WARNING),  # also from the merge commit
        ("  pull_request_review_comment:\n", Level.WARNING),
        ("  push:\n  pull_request_review: {types: [submitted]}\n", Level.WARNING),
        ("  push:\n", None),
        ("  pull_request_target:\n", None),  # from the base branch
        ("  issue_comment:\n", None),
        ("  workflow_run: {workflows: [x]}\n", None),
    ],
)
def test_unprotected_runners_are_a_warning(events: str, level: Level | None) -> None:
    text = GOOD.replace("  pull_request:\n  merge_group:\n", events)
    assert events in text
    for policy in (POLICY, replace(POLICY, workflows=replace(POLICY.workflows, runner_boundary=None))):
        problems = check_files({**{k: v.encode() for k, v in OTHERS.items()}, PATH: text.encode()}, policy)
        levels = [problem.level for problem in problems if problem.rule == "runner-boundary"]
        assert levels == ([level] if level and policy is not POLICY else [])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("  fast:", "  search-space:"), ("bulk-handed-over", 3)),
        (("  verdict: {", "  rows: {"), ("bulk-handed-over", 5)),
        (
            ("      run: infx gate", "      run: infx gate\n      env: {PLAN: '${{ inputs.fast }}'}"),
            ("bulk-handed-over", 13),
        ),
        (("if: inputs.fast == 'true'", "if: inputs.label == 'sweep-enabled'"), ("label-literal", 11)),
        (("- id: gate", "- uses: ./.github/actions/other\n    - id: gate"), ("missing-action", 9)),
    ],
)
def test_mistakes_in_actions_are_reported(change: tuple[str, str], expected: tuple[str, int]) -> None:
    assert find_problems(ACTION, ACTION_PATH) == []
    assert change[0] in ACTION
    problems = find_problems(ACTION.replace(*change, 1), ACTION_PATH)
    assert [problem[:2] for problem in problems] == [expected]


def test_a_matrix_of_ids_may_be_an_output() -> None:
    """The rows of a shard may be an output if only strategy.matrix reads them."""
    text = GOOD.replace(
        "shard-count: ${{ steps.gate.outputs.shard-count }}", "rows: ${{ steps.gate.outputs.rows }}"
    )
    text = text.replace(
        "    uses: ./.github/workflows/benchmark.yml",
        "    strategy: {matrix: {row: '${{ fromJSON(needs.gate.outputs.rows) }}'}}\n    uses: ./.github/workflows/benchmark.yml",
    )
    assert "bulk-handed-over" not in {problem[0] for problem in find_problems(text)}


def test_invalid_yaml_does_not_hide_problems_of_other_files() -> None:
    problems = check_files({PATH: b"a: [", ".github/workflows/b.yml": b"name: b\n"}, POLICY)
    assert [(problem.path, problem.rule) for problem in problems] == [
        (".github/workflows/b.yml", "workflow-jobs"),
        (PATH, "yaml-syntax"),
    ]
    assert all(problem.level is Level.ERROR for problem in problems)


JOB = """\
on: pull_request
permissions: {}
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps: [{run: "true"}]
"""


def find_problems_of_rule(text: str, rule: str, policy: Policy = POLICY) -> list[tuple[int | None, Level]]:
    """Return line and level of a rule's problems in a file that is alone."""
    problems = check_files({PATH: text.encode()}, policy)
    return [(problem.line, problem.level) for problem in problems if problem.rule == rule]


@pytest.mark.parametrize(
    ("runner", "reaches"),
    [
        ("ubuntu-24.04", False),
        ("[ubuntu-24.04]", False),
        ("self-hosted", True),
        ("[self-hosted, linux]", True),
        ("{group: gpu}", True),
        ("'${{ inputs.runner }}'", True),
        ("'${{ matrix.os }}'\n    strategy: {matrix: {os: [ubuntu-24.04, windows-2025]}}", False),
        ("'${{ matrix.os }}'\n    strategy: {matrix: {include: [{os: ubuntu-24.04}]}}", False),
        ("'${{ matrix.os }}'\n    strategy: {matrix: {os: [ubuntu-24.04], include: [{os: h100}]}}", True),
        ("'${{ matrix.os }}'\n    strategy: {matrix: {os: [ubuntu-24.04, h100]}}", True),
        ("'${{ matrix.on.os }}'\n    strategy: {matrix: {on: [{os: ubuntu-24.04}, {os: macos-15}]}}", False),
        ("'${{ matrix.on.os }}'\n    strategy: {matrix: {on: [{os: ubuntu-24.04}, {os: h100}]}}", True),
        ("'${{ matrix.on.os }}'\n    strategy: {matrix: {on: [{os: ubuntu-24.04}, windows]}}", True),
        ("'${{ matrix.os }}'\n    strategy: {matrix: {os: '${{ fromJSON(vars.ALL) }}'}}", True),
        ("'${{ matrix.os }}'\n    strategy: {matrix: '${{ fromJSON(vars.ALL) }}'}", True),
    ],
)
def test_jobs_that_may_use_a_gpu(runner: str, reaches: bool) -> None:
    text = JOB.replace("ubuntu-24.04", runner, 1).replace("timeout", "if: always()\n    timeout")
    assert bool(find_problems_of_rule(text, "always-on-gpu")) is reaches
    assert bool(find_problems_of_rule(text, "runner-boundary", default_policy())) is reaches


@pytest.mark.parametrize(
    ("callee", "reaches"),
    [("ubuntu-24.04", False), ("h100", True), (None, True)],
    ids=["hosted", "GPU", "not there"],
)
def test_a_calling_job_uses_the_runners_of_the_called_workflow(callee: str | None, reaches: bool) -> None:
    """Calls are followed through several files, also if they form a circle."""
    call = "on: pull_request\npermissions: {}\njobs: {a: {uses: ./.github/workflows/b.yml}}\n"
    middle = "on: workflow_call\npermissions: {}\njobs: {b: {uses: ./.github/workflows/c.yml}}\n"
    files = {".github/workflows/a.yml": call, ".github/workflows/b.yml": middle}
    if callee:
        files[".github/workflows/c.yml"] = JOB.replace("pull_request", "workflow_call").replace(
            "ubuntu-24.04", callee
        )
    problems = check_files({path: text.encode() for path, text in files.items()}, default_policy())
    assert [problem.rule for problem in problems if (problem.path or "").endswith("a.yml")] == [
        "runner-boundary"
    ] * reaches
    assert [problem.rule for problem in problems if (problem.path or "").endswith("b.yml")] == [
        "missing-action"
    ] * (callee is None)
    circle = {**files, ".github/workflows/c.yml": middle.replace("c.yml", "b.yml")}
    assert check_files({path: text.encode() for path, text in circle.items()}, default_policy())


@pytest.mark.parametrize(
    ("script", "is_bulk"),
    [
        ('tool \\"$(cat rows.json)\\"', True),
        ("tool $(<plan.json) --fast", True),
        ("gh workflow run x -f rows=$(cat out/rows.json)", True),
        ('echo \\"matrix=$(cat matrix.json)\\" >> out', False),  # commands of the shell itself have no limit
        ("count=$(cat rows.json | wc -l)", False),
        ("tool $(cat version.txt)", False),
        ("tool rows.json", False),
    ],
)
def test_plans_and_rows_must_not_be_arguments(script: str, is_bulk: bool) -> None:
    assert bool(find_problems_of_rule(JOB.replace('"true"', f'"{script}"'), "bulk-handed-over")) is is_bulk


@pytest.mark.parametrize(
    ("condition", "guarded"),
    [
        ("needs.a.outputs.count > 0", True),
        ("needs.a.outputs.rows != '[]'", True),
        ("needs.a.outputs.rows != ''", True),
        ("!cancelled() && needs.a.outputs.has-rows == 'true'", True),
        ("fromJSON(needs.a.outputs.count) > 0", True),
        ("fromJSON(needs.a.outputs.count) >= 0", False),
        ("fromJSON(needs.a.outputs.rows)[0]", True),
        ("fromJSON(needs.a.outputs.rows)[0] != null", True),
        ("fromJSON(needs.a.outputs.rows)[0] == null", False),
        ("toJSON(fromJSON(needs.a.outputs.rows)) != '[]'", True),
        ("toJSON(fromJSON(needs.a.outputs.rows)) == '[]'", False),
        ("fromJSON(needs.a.outputs.rows)", False),  # an empty list counts as true
        ("needs.a.outputs.empty != 'true'", True),
        ("needs.a.outputs.empty == 'false'", True),
        ("always() && (needs.a.outputs.count > 0 && true)", True),
        # these conditions read the outputs, but hold for an empty list
        ("needs.a.outputs.count == 0", False),
        ("needs.a.outputs.count >= 0", False),
        ("needs.a.outputs.rows == '[]'", False),
        ("needs.a.outputs.empty == 'true'", False),
        ("needs.a.outputs.count > 0 || github.event_name == 'push'", False),
        ("always() || needs.a.outputs.count > 0", False),
        ("github.event_name == 'push'", False),
        ("needs.a.result == 'success'", False),
        ("needs.b.outputs.count > 0", False),
    ],
)
def test_conditions_that_guard_a_computed_matrix(condition: str, guarded: bool) -> None:
    matrix = "strategy: {matrix: {row: '${{ fromJSON(needs.a.outputs.rows) }}'}}"
    text = JOB.replace("timeout", f"{matrix}\n    if: {condition}\n    timeout")
    assert bool(find_problems_of_rule(text, "empty-matrix")) is not guarded


@pytest.mark.parametrize(
    ("condition", "guarded"),
    [
        (None, True),
        ("github.event_name == 'push'", True),
        ("success() && github.event_name == 'push'", True),
        ("!cancelled()", False),
        ("${{ always() }}", False),
    ],
)
def test_a_job_that_waits_for_a_guarded_job_is_guarded(condition: str | None, guarded: bool) -> None:
    """If the other job is skipped, so is this job, unless its condition has a status function."""
    own = f'if: "{condition}"' if condition else "name: one"
    text = JOB.replace(
        "timeout",
        f"needs: two\n    {own}\n    strategy: {{matrix: {{row: '${{{{ fromJSON(needs.a.outputs.rows) }}}}'}}}}\n    timeout",
    )
    text += "  two: {runs-on: ubuntu-24.04, if: needs.a.outputs.count > 0, steps: [{run: x}]}\n"
    assert bool(find_problems_of_rule(text, "empty-matrix")) is not guarded


@pytest.mark.parametrize(
    "matrix",
    ["{os: ['${{ github.base_ref }}', x]}", "{include: [{a: '${{ github.sha }}'}]}", "{os: [a, b]}"],
)
def test_a_list_in_the_file_is_not_empty(matrix: str) -> None:
    assert (
        find_problems_of_rule(
            JOB.replace("timeout", f"strategy: {{matrix: {matrix}}}\n    timeout"), "empty-matrix"
        )
        == []
    )


def test_labels_that_have_nothing_to_do_with_sweeps_are_allowed() -> None:
    for name, expected in (
        ("dependencies", 0),
        ("run-ci", 0),
        ("Sweep-Enabled", 1),
        ("full-sweep-enable", 1),
        ("skip_queue", 1),
    ):
        condition = f"if: contains(github.event.pull_request.labels.*.name, '{name}')"
        assert (
            len(find_problems_of_rule(JOB.replace("timeout", f"{condition}\n    timeout"), "label-literal"))
            == expected
        ), name


def test_a_plain_word_is_a_label_only_where_labels_are_read() -> None:
    labels = replace(POLICY.labels, control=("fast",))
    policy = replace(POLICY, labels=labels)
    for condition, expected in (
        ("inputs.mode == 'fast'", 0),
        ("contains(github.event.pull_request.labels.*.name, 'fast')", 1),
        ("github.event.label.name == 'fast'", 1),
        ("contains(toJSON(github.event.pull_request.labels), 'FAST')", 1),
        ("needs.gate.outputs.labels == 'fast'", 1),
    ):
        text = JOB.replace("timeout", f'if: "{condition}"\n    timeout')
        assert len(find_problems_of_rule(text, "label-literal", policy)) == expected, condition


def test_the_page_shows_every_rule() -> None:
    lines = ["| rule | why | wrong | instead |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{rule.id}` | {rule.why} | {table_code(rule.example)} | {table_code(rule.instead)} |"
        for rule in RULES
    ]
    compare_table(ROOT / "docs/workflows.md", "rules", lines)


def test_the_example_of_every_rule_is_tested() -> None:
    """Every example is part of a workflow that one of the cases above breaks."""
    elsewhere = {"runner-boundary"}
    for rule in RULES:
        broken_texts = [GOOD.replace(*change, 1) for name, change, _, _ in CASES if name == rule.id]
        assert rule.id in elsewhere or any(rule.example in text for text in broken_texts), rule.id
