"""One good workflow, and each way of spoiling it with the words that must come out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.errors import Level
from infx.escape import table_code
from infx.policy.load import default_policy
from infx.policy.model import Policy, Workflows
from infx.workflows.check import RULES, check_files
from tests.conftest import ROOT
from tests.workflows.tables import compare_table

SHA = "9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"
PATH = ".github/workflows/sweep.yml"
POLICY = replace(
    default_policy(),
    workflows=Workflows(
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


def found(text: str, path: str = PATH) -> list[tuple[str, int | None, str]]:
    problems = check_files({path: text.encode()}, POLICY)
    return [(problem.rule, problem.line, problem.message) for problem in problems]


def test_the_good_workflow_has_no_problem() -> None:
    assert found(GOOD) == []


CASES = [
    (
        "expression-in-run",
        ('- run: echo "$TITLE"', '- run: echo "${{ github.event.pull_request.title }}"'),
        20,
        "The script contains ${{ github.event.pull_request.title }}, which is expanded before the shell reads it.",
    ),
    (
        "unpinned-uses",
        (f"checkout@{SHA} # v7.0.0\n        with: {{path: m", "checkout@v7\n        with: {path: m"),
        14,
        "actions/checkout@v7 is not pinned. Expected a full commit SHA after @.",
    ),
    (
        "missing-permissions",
        ("permissions: {}\njobs", "jobs"),
        1,
        "The workflow grants its repository's default to all its jobs. Expected permissions: {} at the top.",
    ),
    (
        "missing-permissions",
        (
            "timeout-minutes: 10\n    permissions: {contents: read}",
            "timeout-minutes: 10\n    permissions: write-all",
        ),
        9,
        "The job gate asks for write-all. Expected the scopes that it needs, by name.",
    ),
    (
        "label-literal",
        (
            "verdict == 'stop'",
            "verdict == 'stop' || contains(github.event.pull_request.labels.*.name, 'sweep-enabled')",
        ),
        25,
        "The label 'sweep-enabled' is spelled in a condition. Labels are the policy's business.",
    ),
    (
        "label-literal",
        ("verdict == 'stop'", "verdict == 'stop' && github.event.label.name != 'sweep-enable'"),
        25,
        "The condition asks for the label 'sweep-enable', which the policy does not know.",
    ),
    (
        "head-under-privilege",
        (
            "  merge_group:\n",
            "  merge_group:\n  pull_request_target:\n",
        ),
        16,
        "A job of pull_request_target checks out the pull request's code beside a full token.",
    ),
    (
        "persisted-credentials",
        ("{path: measured, persist-credentials: false}", "{path: measured}"),
        14,
        "The checkout leaves its token behind for every later step.",
    ),
    (
        "code-after-head-checkout",
        ("./.infx/.github/actions/gate", "./.github/actions/gate"),
        19,
        "./.github/actions/gate is read from the workspace after the pull request's code was laid out there.",
    ),
    (
        "code-after-head-checkout",
        ("          TITLE: ${{", "          TOKEN: ${{ secrets.HF_TOKEN }}\n          TITLE: ${{"),
        20,
        "secrets.hf_token is given to a step after the pull request's code was laid out.",
    ),
    (
        "missing-timeout",
        ("    timeout-minutes: 10\n", ""),
        6,
        "The job gate has no timeout-minutes. Without one GitHub waits six hours.",
    ),
    (
        "always-on-gpu",
        ("verdict == 'run'", "verdict == 'run' && always()"),
        33,
        "The job rows would go on after a cancellation, because of always().",
    ),
    (
        "string-boolean",
        (
            "cancel-in-progress: true}\n    permissions: {contents",
            'cancel-in-progress: "${{ needs.gate.outputs.stop }}"}\n    permissions: {contents',
        ),
        34,
        "cancel-in-progress is text. Expected a boolean: true, false or a comparison.",
    ),
    (
        "string-boolean",
        (
            "    uses: ./.github/workflows/benchmark.yml",
            "    strategy:\n      fail-fast: ${{ needs.gate.outputs.fail-fast }}\n"
            "    uses: ./.github/workflows/benchmark.yml",
        ),
        37,
        "fail-fast is text. Expected a boolean: true, false or a comparison.",
    ),
    (
        "string-boolean",
        ("verdict == 'run'", "verdict == 'run' && needs.gate.outputs.has-rows"),
        33,
        "needs.gate.outputs.has-rows stands as a condition, but it is text and 'false' is true.",
    ),
    (
        "string-boolean",
        (
            "    if: needs.gate.outputs.verdict == 'run'",
            "    if: \"${{ needs.gate.outputs.verdict == 'run' }} \"",
        ),
        None,
        "",
    ),
    (
        "string-boolean",
        ("needs.gate.outputs.verdict == 'run'", "${{ needs.gate.outputs.verdict == 'run' }} && true"),
        33,
        "The condition mixes an expression with other text, which is always true.",
    ),
    (
        "bulk-handed-over",
        (
            "shard-count: ${{ steps.gate.outputs.shard-count }}",
            "search-space: ${{ steps.gate.outputs.space }}",
        ),
        12,
        "The output search-space looks like a plan or its rows and would meet GitHub's limits.",
    ),
    (
        "bulk-handed-over",
        (
            "          TITLE: ${{ github.event.pull_request.title }}",
            "          PLAN: ${{ needs.gate.outputs.json }}",
        ),
        22,
        "PLAN looks like a plan or its rows and would meet GitHub's limits.",
    ),
    (
        "empty-matrix",
        (
            "    needs: gate\n    if: needs.gate.outputs.verdict == 'run'\n    concurrency: "
            '{group: "${{ needs.gate.outputs.group }}", cancel-in-progress: true}\n',
            '    needs: gate\n    strategy:\n      matrix: {shard: "${{ fromJSON(needs.gate.outputs.numbers) }}"}\n',
        ),
        34,
        "The matrix of rows is computed and nothing keeps it from being empty.",
    ),
    (
        "shared-concurrency-group",
        ("verdict == 'stop'", "verdict != 'ignore'"),
        34,
        "The jobs stop and rows share a concurrency group and can run in one run.",
    ),
    (
        "shared-concurrency-group",
        (
            "    uses: ./.github/workflows/benchmark.yml",
            "    strategy: {matrix: {shard: [0, 1]}}\n    uses: ./.github/workflows/benchmark.yml",
        ),
        34,
        "All legs of rows join one concurrency group and cancel each other.",
    ),
    (
        "large-expression",
        ('run: echo "$TITLE"', 'name: "' + "x" * 21_000 + "${{ github.sha }}\"\n        run: 'true'"),
        20,
        "A text with an expression has 21,017 characters; GitHub takes 21,000.",
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
        "The check changelog is required, but a merge queue would wait for it for ever.",
    ),
    (
        "required-check",
        ("  changelog:\n    runs-on", "  changelog:\n    needs: gate\n    runs-on"),
        37,
        "The check changelog is required, but it is skipped, which passes, when a job before it fails.",
    ),
    (
        "required-check",
        ("  changelog:\n    runs-on", "  changelog:\n    strategy: {matrix: {os: [a]}}\n    runs-on"),
        37,
        "The check changelog is required, but its name changes with what it calls or with its matrix.",
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
        "The job approve waits for /ok-to-sweep, but the policy's command is /approve-sweep.",
    ),
]


@pytest.mark.parametrize(("rule", "change", "line", "message"), CASES)
def test_one_spoiled_place(rule: str, change: tuple[str, str], line: int | None, message: str) -> None:
    assert change[0] in GOOD
    expected = [] if line is None else [(rule, line, message)]
    assert [problem for problem in found(GOOD.replace(*change, 1)) if problem[0] == rule] == expected


def test_every_rule_has_a_case() -> None:
    elsewhere = {"runner-boundary"}
    assert {rule.id for rule in RULES} == {case[0] for case in CASES} | elsewhere


def test_without_a_stated_boundary_the_way_to_the_runners_is_a_problem() -> None:
    problems = check_files({PATH: GOOD.encode()}, default_policy())
    assert [(problem.rule, problem.line) for problem in problems] == [("runner-boundary", 31)]
    only_push = GOOD.replace("  pull_request:\n  merge_group:\n", "  push:\n")
    assert check_files({PATH: only_push.encode()}, default_policy()) == []


PERMISSIONS = [
    ("permissions: {}", "    permissions: {contents: read}\n", []),
    ("permissions: {}", "", []),  # it has none
    ("permissions: {contents: read}", "", []),
    ("permissions: {contents: write}", "", []),  # for this job alone
    ("permissions: write-all", "    permissions: {contents: read}\n", [4]),
    ("permissions: read-all", "", [4]),
    ("name: x", "    permissions: {contents: read}\n", [1]),
    ("name: x", "", [1, 6]),
]


@pytest.mark.parametrize(("top", "own", "lines"), PERMISSIONS)
def test_permissions_are_stated(top: str, own: str, lines: list[int]) -> None:
    text = GOOD.replace("permissions: {}\njobs", f"{top}\njobs")
    text = text.replace("    permissions: {contents: read}\n    outputs", f"{own}    outputs")
    assert [problem[1] for problem in found(text) if problem[0] == "missing-permissions"] == lines


def test_a_permission_to_write_is_not_handed_to_several_jobs() -> None:
    text = GOOD.replace("permissions: {}\njobs", "permissions: {issues: write}\njobs")
    text = text.replace("    permissions: {contents: read}\n    outputs", "    outputs")
    text = text.replace("    permissions: {}\n    steps: [{run: echo fine}]", "    steps: [{run: echo fine}]")
    message = "The workflow grants issues: write to all its jobs. Expected permissions: {} at the top."
    assert found(text) == [("missing-permissions", 4, message)]


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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("run: infx gate", "run: infx gate ${{ inputs.fast }}"), ("expression-in-run", 12)),
        (("inputs.fast == 'true'", "inputs.fast"), ("string-boolean", 11)),
        (("  fast:", "  search-space:"), ("bulk-handed-over", 3)),
        (("  verdict: {", "  rows: {"), ("bulk-handed-over", 5)),
        (
            ("      run: infx gate", "      run: infx gate\n      env: {PLAN: '${{ inputs.fast }}'}"),
            ("bulk-handed-over", 13),
        ),
        (("- id: gate", "- uses: actions/setup-python@v6\n    - id: gate"), ("unpinned-uses", 9)),
    ],
)
def test_actions(change: tuple[str, str], expected: tuple[str, int]) -> None:
    assert found(ACTION, ".github/actions/gate/action.yml") == []
    assert change[0] in ACTION
    spoiled = found(ACTION.replace(*change, 1), ".github/actions/gate/action.yml")
    assert [problem[:2] for problem in spoiled] == [expected]


def test_a_script_may_not_expand_an_expression_either() -> None:
    text = GOOD.replace(
        '- run: echo "$TITLE"',
        f"- uses: actions/github-script@{SHA}\n        with: {{script: 'x(${{{{ github.actor }}}})'}}",
    )
    assert [problem[:2] for problem in found(text)] == [("expression-in-run", 21)]


def test_one_matrix_of_ids_may_be_an_output() -> None:
    """The rows of one shard travel as an output when only strategy.matrix reads them."""
    text = GOOD.replace(
        "shard-count: ${{ steps.gate.outputs.shard-count }}", "rows: ${{ steps.gate.outputs.rows }}"
    )
    text = text.replace(
        "    uses: ./.github/workflows/benchmark.yml",
        "    strategy: {matrix: {row: '${{ fromJSON(needs.gate.outputs.rows) }}'}}\n    uses: ./.github/workflows/benchmark.yml",
    )
    assert "bulk-handed-over" not in {problem[0] for problem in found(text)}


def test_a_boolean_input_is_a_boolean() -> None:
    spoiled = GOOD.replace(
        "    uses: ./.github/workflows/benchmark.yml",
        "    strategy: {fail-fast: '${{ inputs.fast }}'}\n    uses: ./.github/workflows/benchmark.yml",
    )
    assert [problem[0] for problem in found(spoiled)] == ["string-boolean"]
    declared = "  workflow_call: {inputs: {fast: {type: boolean}}}\n  merge_group:\n"
    assert found(spoiled.replace("  merge_group:\n", declared)) == []


def test_a_file_that_is_no_yaml_hides_no_other_file() -> None:
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


def of_job(text: str, rule: str, policy: Policy = POLICY) -> list[tuple[int | None, Level]]:
    """What a rule says of a file with one job, of which this is changed."""
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
def test_which_jobs_may_be_a_gpu_s(runner: str, reaches: bool) -> None:
    text = JOB.replace("ubuntu-24.04", runner, 1).replace("timeout", "if: always()\n    timeout")
    assert bool(of_job(text, "always-on-gpu")) is reaches
    assert bool(of_job(text, "runner-boundary", default_policy())) is reaches


@pytest.mark.parametrize(
    ("callee", "reaches"),
    [("ubuntu-24.04", False), ("h100", True), (None, True)],
    ids=["hosted", "GPU", "not there"],
)
def test_a_call_reaches_what_is_called(callee: str | None, reaches: bool) -> None:
    """Through several files, and in a circle."""
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
    circle = {**files, ".github/workflows/c.yml": middle.replace("c.yml", "b.yml")}
    assert check_files({path: text.encode() for path, text in circle.items()}, default_policy())


@pytest.mark.parametrize(
    ("expression", "level"),
    [
        ("github.event.pull_request.title", Level.ERROR),
        ("github.head_ref", Level.ERROR),
        ("github.actor", Level.ERROR),
        ("inputs.fast", Level.ERROR),
        ("needs.a.outputs.b", Level.ERROR),
        ("secrets.TOKEN", Level.ERROR),
        ("format('{0}', github.head_ref)", Level.ERROR),
        ("matrix.row", Level.ERROR),
        ("matrix.tool", Level.WARNING),
        ("github.sha", Level.WARNING),
        ("format('{0}-{1}', runner.os, matrix.tool)", Level.WARNING),
        ("'literal'", Level.WARNING),
    ],
)
def test_an_expression_in_a_script_that_nobody_outside_can_fill_is_only_a_habit(
    expression: str, level: Level
) -> None:
    matrix = "strategy: {matrix: {tool: [ruff, mypy], row: '${{ fromJSON(needs.a.outputs.rows) }}'}}\n    if: needs.a.outputs.n > 0"
    text = JOB.replace("timeout", f"{matrix}\n    timeout").replace('"true"', f'"x ${{{{ {expression} }}}}"')
    assert of_job(text, "expression-in-run") == [(9, level)]


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("acme/bench/.github/workflows/benchmark.yml@main", []),
        ("acme/bench/.github/workflows/benchmark.yml@refs/heads/main", []),
        ("acme/bench/.github/workflows/benchmark.yml@feature", [(5, Level.ERROR)]),
        ("eve/bench/.github/workflows/benchmark.yml@main", [(5, Level.ERROR)]),
        ("acme/bench/.github/actions/x@main", [(5, Level.ERROR)]),
    ],
)
def test_a_runner_group_admits_our_own_workflow_by_its_branch(
    ref: str, expected: list[tuple[int, Level]]
) -> None:
    text = f"on: push\npermissions: {{}}\njobs:\n  one:\n    uses: {ref}\n"
    assert of_job(text, "unpinned-uses", replace(POLICY, repository="acme/bench")) == expected


@pytest.mark.parametrize(
    ("script", "is_bulk"),
    [
        ('tool \\"$(cat rows.json)\\"', True),
        ("tool $(<plan.json) --fast", True),
        ("gh workflow run x -f rows=$(cat out/rows.json)", True),
        ('echo \\"matrix=$(cat matrix.json)\\" >> out', False),  # the shell's own command has no limit
        ("count=$(cat rows.json | wc -l)", False),
        ("tool $(cat version.txt)", False),
        ("tool rows.json", False),
    ],
)
def test_plans_as_arguments(script: str, is_bulk: bool) -> None:
    assert bool(of_job(JOB.replace('"true"', f'"{script}"'), "bulk-handed-over")) is is_bulk


@pytest.mark.parametrize(
    ("condition", "guarded"),
    [
        ("needs.a.outputs.count > 0", True),
        ("needs.a.outputs.rows != '[]'", True),
        ("github.event_name == 'push'", False),
        ("needs.a.result == 'success'", False),
        ("needs.b.outputs.count > 0", False),
    ],
)
def test_what_keeps_a_computed_matrix_from_being_empty(condition: str, guarded: bool) -> None:
    matrix = "strategy: {matrix: {row: '${{ fromJSON(needs.a.outputs.rows) }}'}}"
    text = JOB.replace("timeout", f"{matrix}\n    if: {condition}\n    timeout")
    assert bool(of_job(text, "empty-matrix")) is not guarded


@pytest.mark.parametrize(
    "matrix",
    ["{os: ['${{ github.base_ref }}', x]}", "{include: [{a: '${{ github.sha }}'}]}", "{os: [a, b]}"],
)
def test_a_list_in_the_file_is_not_empty(matrix: str) -> None:
    assert (
        of_job(JOB.replace("timeout", f"strategy: {{matrix: {matrix}}}\n    timeout"), "empty-matrix") == []
    )


def test_labels_that_are_none_of_a_sweep_s_are_nobody_s_business() -> None:
    for name, expected in (
        ("dependencies", 0),
        ("run-ci", 0),
        ("Sweep-Enabled", 1),
        ("full-sweep-enable", 1),
    ):
        condition = f"if: contains(github.event.pull_request.labels.*.name, '{name}')"
        assert (
            len(of_job(JOB.replace("timeout", f"{condition}\n    timeout"), "label-literal")) == expected
        ), name


def test_the_page_shows_every_rule() -> None:
    lines = ["| rule | why | wrong | instead |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{rule.id}` | {rule.why} | {table_code(rule.example)} | {table_code(rule.instead)} |"
        for rule in RULES
    ]
    compare_table(ROOT / "docs/workflows.md", "rules", lines)


def test_every_example_is_wrong() -> None:
    """Each stands in a workflow that one of the cases above has spoiled."""
    elsewhere = {"runner-boundary", "large-expression"}
    for rule in RULES:
        spoiled = [GOOD.replace(*change, 1) for name, change, _, _ in CASES if name == rule.id]
        assert rule.id in elsewhere or any(rule.example in text for text in spoiled), rule.id
