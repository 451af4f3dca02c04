"""Check that a play runs the lines of the project's own actions, so that a changed action changes the demo."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.play import actions
from infx.play.actions import DATA, ActionError, ActionStep, Shell, ShellCall, read_action, read_permissions
from tests.conftest import ROOT


def play(tmp_path: Path, step: ActionStep, **environ: str) -> Shell:
    return Shell(step=step, at=tmp_path, environ={**environ, **step.environ}, scratch=tmp_path)


def test_actions_and_workflows_link_to_the_projects_own() -> None:
    for link in DATA.glob("actions/*.yml"):
        assert link.resolve() == ROOT / ".github/actions" / link.stem / "action.yml"
    for link in DATA.glob("workflows/*.yml"):
        assert link.resolve() == ROOT / ".github/workflows" / link.name


def test_an_actions_lines_choose_the_arguments(tmp_path: Path) -> None:
    """The first of `pr`, `all` and `since` that has a value is passed on; `since` has a default."""
    inputs = {"policy": "p", "directory": "."}
    calls = [
        play(tmp_path, *read_action("reconcile", {**inputs, **more})).read_call()
        for more in ({"pr": "7", "all": "true"}, {"all": "true"}, {})
    ]
    arguments = [[*called.arguments] for called in calls if called is not None]
    start = ["reconcile", "--format", "table"]
    assert arguments == [[*start, "--pr", "7"], [*start, "--all"], [*start, "--since", "2h"]]


def test_a_step_runs_if_the_input_of_its_condition_has_a_value() -> None:
    names = ("policy", "priorities", "thresholds", "clusters", "directory", "base-ref", "head-ref")
    inputs = dict.fromkeys(names, "x")
    lines = [
        [step.lines.split()[1] for step in read_action("plan", {**inputs, **more}) if "infx" in step.lines]
        for more in ({}, {"complete": "42"})
    ]
    assert [len(steps) for steps in lines] == [2, 3]
    assert "reuse" in lines[1]


def test_the_token_is_the_jobs_unless_an_input_replaces_it() -> None:
    inputs = {"policy": "p", "directory": "clone"}
    (step,) = read_action("signoff", inputs, "secret")
    assert (step.directory, step.environ["INFX_POLICY"], step.environ["GITHUB_TOKEN"]) == (
        "clone",
        "p",
        "secret",
    )
    (step,) = read_action("signoff", {**inputs, "token": "another"}, "secret")
    assert step.environ["GITHUB_TOKEN"] == "another"


def test_the_output_goes_to_the_file_that_the_lines_name(tmp_path: Path) -> None:
    (step,) = read_action("gate", {"policy": "p", "decision-file": "kept.json"})
    shell = play(tmp_path, step)
    assert shell.read_call() == ShellCall(at=tmp_path, arguments=("gate", "--clone", "."))
    shell.answer(0, "{}\n")
    assert (tmp_path / "kept.json").read_text() == "{}\n"


@pytest.mark.parametrize(("code", "reached"), [(0, True), (1, False)])
def test_a_step_ends_at_a_failing_command(tmp_path: Path, code: int, reached: bool) -> None:
    lines = "infx gate\necho done > after"
    play(tmp_path, ActionStep(lines=lines, environ={}, directory=None)).answer(code, "")
    assert (tmp_path / "after").exists() is reached


@pytest.mark.parametrize(
    ("lines", "words"),
    [("infx gate; infx plan", "2 times"), ("exit 3", "ended with 3 instead of 0")],
)
def test_lines_that_fail_or_call_infx_twice_are_an_error(tmp_path: Path, lines: str, words: str) -> None:
    with pytest.raises(ActionError, match=words):
        play(tmp_path, ActionStep(lines=lines, environ={}, directory=None)).read_call()


def test_a_machine_without_bash_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "_SHELL", ("bash-that-is-not-there", "-c"))
    with pytest.raises(ActionError, match="need bash"):
        play(tmp_path, ActionStep(lines="infx gate", environ={}, directory=None)).read_call()


def test_expressions_and_inputs_that_a_play_does_not_know_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "actions"
    folder.mkdir()
    text = "inputs: {a: {}}\nruns: {steps: [{}, {run: infx a, env: {A: '${{ inputs.a && 1 }}'}}]}\n"
    (folder / "x.yml").write_text(text)
    monkeypatch.setattr(actions, "DATA", tmp_path)
    with pytest.raises(ActionError, match="cannot evaluate"):
        read_action("x", {})
    with pytest.raises(ActionError, match=r"no inputs \['b'\]"):
        read_action("x", {"b": "1"})


def test_a_jobs_permissions_are_those_of_its_workflow() -> None:
    assert read_permissions("sweep", "collect") == {"contents": "read", "actions": "read"}
