"""Traps of the platform as people meet them in workflows of every kind, and what looks like one and is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from infx.cli.workflows import read_sources
from infx.errors import Level, UsageError
from infx.policy.load import default_policy
from infx.policy.model import Policy, Workflows
from infx.workflows.check import check_files

SHA = "9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"
CHECKOUT = f"- {{uses: actions/checkout@{SHA}, with: {{persist-credentials: false}}}}"
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


def rules(
    *steps: str, on: str = "push", top: str = "name: x", job: str = "name: one", policy: Policy = POLICY
) -> list[str]:
    text = FILE.format(on=on, top=top, job=job, steps="\n      ".join(steps))
    return [problem.rule for problem in check_files({".github/workflows/x.yml": text.encode()}, policy)]


@pytest.mark.parametrize(
    ("script", "lays_out"),
    [
        ('gh pr checkout "$PR"', True),
        ("git fetch origin pull/7/head && git checkout FETCH_HEAD", True),
        (
            "git fetch origin refs/pull/7/merge:it\n          git switch it",
            False,
        ),  # whose `it` is, is beyond this
        ('git fetch origin "pull/$PR/head"', False),  # read as data
        ("git -C x pull origin pull/7/head", True),
        ('git checkout "$HEAD"', True),
        ("git -c a.b=c merge --no-ff ${HEAD}", True),
        ("git checkout main", False),
        ("git merge-base $HEAD main", False),
        ("git log $HEAD", False),
        ("# gh pr checkout 7", False),
        ("true # then gh pr checkout 7", False),
    ],
)
@pytest.mark.parametrize("event", ["pull_request_target", "issue_comment", "workflow_run"])
def test_code_is_laid_out_by_scripts_too(event: str, script: str, lays_out: bool) -> None:
    step = f"- run: |\n          {script}\n        env: {{HEAD: '${{{{ github.event.pull_request.head.sha }}}}'}}"
    assert rules(step, on=event) == ["head-under-privilege"] * lays_out


@pytest.mark.parametrize(
    ("step", "job", "top", "found"),
    [
        ("- {run: ./x, env: {A: '${{ secrets.A }}'}}", "name: a", "name: x", 1),
        ("- {run: ./x, env: {A: \"${{ secrets['A'] }}\"}}", "name: a", "name: x", 1),
        ("- {run: ./x, env: {A: '${{ toJSON(secrets) }}'}}", "name: a", "name: x", 1),
        ("- run: ./x", "env: {A: '${{ secrets.A }}'}", "name: x", 1),
        ("- run: ./x", "name: a", "env: {A: '${{ secrets.A }}'}", 1),
        ("- {run: ./x, env: {A: '${{ secrets.GITHUB_TOKEN }}'}}", "name: a", "name: x", 0),
        ("- {run: ./x, env: {A: '${{ github.token }}'}}", "name: a", "name: x", 0),
        ("- {run: ./x, env: {A: '${{ vars.secrets }}'}}", "name: a", "name: x", 0),
    ],
)
def test_secrets_beside_a_pull_requests_code(step: str, job: str, top: str, found: int) -> None:
    given = rules(CHECKOUT, step, on="pull_request", job=job, top=top)
    assert given == ["code-after-head-checkout"] * found
    assert rules(CHECKOUT, step, on="push", job=job, top=top) == []


INPUTS = "{workflow_dispatch: {inputs: {debug: {type: boolean}, name: {type: string}}}}"


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("inputs.debug", 0),
        ("${{ !inputs.debug }}", 0),
        ("inputs.debug == true", 0),
        ("inputs.debug == 'true'", 1),
        ("'false' != Inputs.Debug", 1),
        ("github.event.inputs.debug", 1),
        ("github.event.inputs.debug == 'true'", 0),
        ("inputs.name == 'true'", 0),
        ("inputs.name", 0),  # text that is there or not
    ],
)
def test_a_dispatchs_booleans(condition: str, found: int) -> None:
    step = f'- {{run: echo, if: "{condition}"}}'
    assert rules(step, on=INPUTS) == ["string-boolean"] * found


@pytest.mark.parametrize(
    ("step", "job", "top", "found"),
    [
        ("- {run: x, continue-on-error: '${{ steps.a.outputs.b }}'}", "name: a", "name: x", 1),
        ("- run: x", "continue-on-error: '${{ vars.SOFT }}'", "name: x", 1),
        ("- run: x", "name: a", "concurrency: {group: g, cancel-in-progress: '${{ vars.C }}'}", 1),
        ("- run: x", "continue-on-error: ${{ vars.SOFT == 'true' }}", "name: x", 0),
        ("- run: x", "name: a", "concurrency: {group: g, cancel-in-progress: true}", 0),
        (f"- {{uses: a/b@{SHA}, with: {{fail-fast: '${{{{ vars.F }}}}'}}}}", "name: a", "name: x", 0),
    ],
)
def test_settings_that_must_be_booleans(step: str, job: str, top: str, found: int) -> None:
    assert rules(step, job=job, top=top) == ["string-boolean"] * found


@pytest.mark.parametrize(
    ("strategy", "found"),
    [
        ("{matrix: {os: [a], include: '${{ fromJSON(needs.a.outputs.b) }}'}}", 0),
        ("{matrix: {os: [a], exclude: '${{ fromJSON(needs.a.outputs.b) }}'}}", 0),
        ("{matrix: {os: [a], include: [], exclude: []}}", 0),
        ("{matrix: {include: '${{ fromJSON(needs.a.outputs.b) }}'}}", 1),
        ("{matrix: {include: []}}", 1),
        ("{matrix: {os: []}}", 1),
        ("${{ fromJSON(needs.a.outputs.b) }}", 1),
    ],
)
def test_what_makes_a_matrix_empty(strategy: str, found: int) -> None:
    assert rules(job=f"strategy: {strategy}") == ["empty-matrix"] * found


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("success() || cancelled()", 1),
        ("always()", 1),
        ("!cancelled()", 0),
        ("${{ ! cancelled() }}", 0),
        ("failure()", 0),
    ],
)
def test_what_keeps_a_gpu_after_a_cancellation(condition: str, found: int) -> None:
    text = FILE.format(on="push", top="name: x", job=f'if: "{condition}"', steps="")
    files = {".github/workflows/x.yml": text.replace("ubuntu-24.04", "h100").encode()}
    assert [problem.rule for problem in check_files(files, POLICY)] == ["always-on-gpu"] * found


@pytest.mark.parametrize(
    ("given", "found"), [("false", 0), ("'false'", 0), ("true", 1), ("'${{ vars.KEEP }}'", 1)]
)
def test_a_checkout_that_forgets_its_token(given: str, found: int) -> None:
    step = f"- {{uses: actions/checkout@{SHA}, with: {{persist-credentials: {given}}}}}"
    assert rules(step) == ["persisted-credentials"] * found


def test_a_variable_that_the_file_spells_is_only_a_habit() -> None:
    steps = ["- run: pip install x==${{ env.VERSION }}", "- run: echo ${{ env.REF }}"]
    top = "env: {VERSION: 1.2, REF: '${{ github.head_ref }}'}"
    text = FILE.format(on="push", top=top, job="name: a", steps="\n      ".join(steps))
    problems = check_files({".github/workflows/x.yml": text.encode()}, POLICY)
    assert [problem.level for problem in problems] == [Level.WARNING, Level.ERROR]


CALLER = """\
on: push
permissions: {}
concurrency: ${{ github.workflow }}-${{ github.ref }}
jobs:
  call: {uses: ./.github/workflows/b.yml, permissions: {contents: read, packages: read}}
"""
CALLEE = """\
on: workflow_call
permissions: {contents: read}
jobs:
  build: {runs-on: ubuntu-24.04, timeout-minutes: 5, steps: [{run: echo}]}
"""


def called(callee: str, caller: str = CALLER) -> list[str]:
    files = {".github/workflows/a.yml": caller.encode(), ".github/workflows/b.yml": callee.encode()}
    return [
        problem.message for problem in check_files(files, POLICY) if (problem.path or "").endswith("a.yml")
    ]


def test_a_called_workflow_has_no_more_than_its_caller() -> None:
    assert called(CALLEE) == []
    assert called(CALLEE.replace("contents: read", "contents: none, packages: read")) == []
    [message] = called(CALLEE.replace("contents: read", "contents: read, packages: write"))
    assert "b.yml, whose job build asks for packages: write" in message
    assert len(called(CALLEE, CALLER.replace("contents: read, packages: read", ""))) == 1


def test_a_called_workflow_does_not_wait_for_its_caller() -> None:
    group = "concurrency: {group: '${{ github.workflow }}-${{ github.ref }}'}\n"
    [message] = called(group + CALLEE)
    assert "waits for the group its caller holds" in message
    assert called(group.replace("'$", "'build-$") + CALLEE) == []


REQUIRED = replace(POLICY, workflows=Workflows(required_checks=("one",)))


@pytest.mark.parametrize(
    ("pull_request", "found"),
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
    ],
)
def test_a_required_check_comes_with_every_push(pull_request: str, found: int) -> None:
    on = f"{{pull_request: {pull_request}, merge_group: {{}}}}"
    assert rules(on=on, policy=REQUIRED) == ["required-check"] * found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("name: x", "name: y"), None),
        (("branches: [main], paths", "branches: [trunk], paths"), "push leaves out main"),
        (("paths: [perf", "paths: [docs/perf"), "push leaves out perf-changelog.yaml"),
        (("  sweep:", "  measure:"), "There is no job sweep"),
        (("{branches: [main]}", "{branches: [master]}"), "pull_request leaves out main"),
    ],
)
def test_the_sweeps_workflow_says_what_the_policy_says(change: tuple[str, str], message: str | None) -> None:
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
    for given in (tmp_path, tmp_path / ".github", folder):
        assert set(read_sources(given)) == expected
    with pytest.raises(UsageError):
        read_sources(tmp_path / "elsewhere")


@pytest.mark.parametrize("value", ["3", "true", "{a: b}", "[[]]", "null", "''"])
@pytest.mark.parametrize(
    "place", ["needs", "types", "branches", "strategy", "concurrency", "permissions", "env"]
)
def test_a_value_of_another_kind_is_no_crash(place: str, value: str) -> None:
    """GitHub refuses such files and actionlint says so; here the rest is still looked at."""
    on = f"{{pull_request: {{{place}: {value}}}, merge_group: {{}}}}"
    rules(on=on, job=f"{place}: {value}", top=f"{place}: {value}", policy=REQUIRED)
