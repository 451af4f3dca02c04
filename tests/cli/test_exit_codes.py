"""The same mistake has the same exit code in every command; the tables are compared with click's own tree."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from infx.cli.options import OutputPath
from infx.saved import dump_json
from tests.calling import call
from tests.cli.tree import LEAVES, name_of
from tests.conftest import ROOT
from tests.gate.facts import READY
from tests.launch.samples import ROW
from tests.repository import Repository

MERGE_DRIVER = ("changelog", "merge-driver")  # git defines its exit codes

# A valid value of each parameter, so that the parameter under test is the only mistake.
RIGHT = {
    "--plan": "sweep-plan",
    "--artifacts": "artifacts",
    "--result": "artifacts",
    "--out": "out",
    "--id": "unknown",
    "--runner": "h200-cw_00",
    "--base-ref": "main",
    "--head-ref": "main",
    "--pr": "77",
    "--run": "700",
    "--reason": "Words.",
    "results": "artifacts",
    "--config-key": "*",
    "--description": "Words.",
    "before": "plan.json",
    "number": "7",
    "after": "plan.json",
}
# Further arguments that a command needs before it reads a parameter.
COMPANIONS = {
    "--base-file": ["--head-file", "policy.yaml"],
    "--head-file": ["--base-file", "policy.yaml"],
    "--save-facts": ["--facts", "facts.json"],
}
ALWAYS: dict[tuple[str, ...], list[str]] = {
    ("rows",): ["--canary"],
    ("shards",): ["--plan", "plan.json"],
    ("reconcile",): ["--pr", "77"],
    ("launch", "render"): ["--row", "row.json"],
    ("launch", "run"): ["--row", "row.json"],
}

# Invalid values, and the exit code.
WRONG = {
    "--repo": ("a b/c", 2),
    "--comment-url": ("https://example.org", 2),
    "--eval-profile": ("nope", 2),
    "--id": ("nope", 2),
    "--explain": ("nope", 2),
    "--language": ("nope", 2),
    "--row": ("nope", 2),
    "--only": ("nope", 2),
    "--since": ("nope", 2),
    "--after-push": ("nope", 2),
    "--config-key": ("nope", 2),
    "--exp-name": ("nope", 2),
    "--url": ("nope", 2),
    "--branch": ("nope", 2),  # needs --from
    "--base-ref": ("nope", 3),  # an unknown revision
    "--head-ref": ("nope", 3),
    "--sum": ("nope", 2),
    "--runner": ("nope", 1),  # belongs to no cluster
    "init --runner": ("a b", 2),
    "--base-branch": ("a b", 2),
    "--changelog": ("../x", 2),
    "--master-config": ("../x", 2),
    "--runner-config": ("../x", 2),
    "--clusters": ("../x", 2),
    "--models": ("../x", 2),
    "--code-owner": ("a b", 2),
    "--app": ("a b", 2),
    "--runner-boundary": ("a\x1bb", 2),
    "--actions": ("nope", 2),
}
# Every value is valid: free text, filters that may match nothing, names of events; wrong concurrencies fail the gate of scores.
FREE = {
    "--description", "--translation", "--signed", "--event-name", "--runner-node-filter", "--model-prefix", "--precision",
    "--framework", "--metric", "--runner-type", "--without", "--workflow", "--meta-env", "--metric-prefix", "--results-glob",
    "--reason", "--by", "--expected-concs",
}  # fmt: skip


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone with every file that a command needs."""
    repository = Repository.init(tmp_path_factory.mktemp("workplace") / "clone")
    for name in ("configs", "docs", "perf-changelog.yaml", ".github"):
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, repository.path / name)
        else:
            shutil.copy(place, repository.path / name)
    repository.commit({
        "configs/policy.yaml": "repository: acme/bench\n",
        "policy.yaml": "repository: acme/bench\n",
        "plan.json": '{"single_node": {}, "multi_node": {}}',
        "facts.json": dump_json(READY),
        "event.json": json.dumps({"issue": {"number": 77}, "comment": {"id": 1}}),
        "row.json": json.dumps(ROW),
        "artifacts/x": "",
    })  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository.path)
        assert call("shards", "--plan", "plan.json", "--out", "sweep-plan").code == 0
    # Every test copies the folder: a pack is one file, and no command reads hooks.
    repository.git.run("gc", "--quiet")
    shutil.rmtree(repository.path / ".git/hooks")
    return repository.path


@pytest.fixture(autouse=True)
def _here(workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter a copy of the clone with an empty plan folder; GitHub cannot be reached, and commands do not wait."""
    here = tmp_path / "here"
    shutil.copytree(workplace, here, symlinks=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("time.sleep", lambda _: None)


def key_of(parameter: click.Parameter) -> str:
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.name or ""


def command_line(path: tuple[str, ...], command: click.Command, wrong: str, value: str) -> list[str]:
    """Return a command line with one wrong value, and valid values of the other required parameters."""
    values = {wrong: value}
    always = ALWAYS.get(path, [])
    for parameter in command.params:
        key = key_of(parameter)
        if parameter.required and key != wrong and key not in always:
            values[key] = RIGHT[key]
    words = [*path, *COMPANIONS.get(wrong, [])]
    words += [] if wrong in always or wrong in {"--since", "--after-push"} else always
    for key, text in values.items():
        words += [key, text] if key.startswith("-") else [text]
    return words


PATHS = [
    (path, command, parameter)
    for path, command in LEAVES
    for parameter in command.params
    if isinstance(parameter.type, click.Path) and path != MERGE_DRIVER
]
INPUTS = [item for item in PATHS if not isinstance(item[2].type, OutputPath)]
OUTPUTS = [item for item in PATHS if isinstance(item[2].type, OutputPath)]


def names(items: Sequence[tuple[tuple[str, ...], click.Command, click.Parameter]]) -> list[str]:
    return [f"{name_of(path)} {key_of(parameter)}" for path, _, parameter in items]


@pytest.mark.parametrize(("path", "command", "parameter"), INPUTS, ids=names(INPUTS))
def test_a_missing_file_is_a_usage_error_in_every_command(
    path: tuple[str, ...],
    command: click.Command,
    parameter: click.Parameter,
) -> None:
    line = command_line(path, command, key_of(parameter), "no/such-thing")
    called = call(*line)
    assert (called.code, called.out) == (2, ""), (line, called.err)
    assert "no/such-thing" in called.err


@pytest.mark.parametrize(("path", "command", "parameter"), OUTPUTS, ids=names(OUTPUTS))
def test_an_unwritable_path_is_a_usage_error_in_every_command(
    path: tuple[str, ...],
    command: click.Command,
    parameter: click.Parameter,
) -> None:
    line = command_line(path, command, key_of(parameter), "policy.yaml/x")
    called = call(*line)
    assert (called.code, called.out) == (2, ""), (line, called.err)
    assert "policy.yaml" in called.err


VALUES = [
    (path, command, parameter)
    for path, command in LEAVES
    for parameter in command.params
    if isinstance(parameter, click.Option)
    and not parameter.is_flag
    and not isinstance(parameter.type, click.Path)
    and key_of(parameter) not in FREE
]


@pytest.mark.parametrize(("path", "command", "parameter"), VALUES, ids=names(VALUES))
def test_a_bad_value_has_the_same_exit_code_in_every_command(
    path: tuple[str, ...],
    command: click.Command,
    parameter: click.Parameter,
) -> None:
    """A new text option needs a line in WRONG or FREE; click itself refuses wrong numbers and choices."""
    key = key_of(parameter)
    is_checked_by_click = not isinstance(parameter.type, click.types.StringParamType)
    value, expected = (
        ("nope", 2) if is_checked_by_click else WRONG.get(f"{name_of(path)} {key}") or WRONG[key]
    )
    line = command_line(path, command, key, value)
    called = call(*line)
    assert (called.code, called.out) == (expected, ""), (line, called.err)
    assert value in called.err or key in called.err


def test_a_folder_that_is_not_there_is_not_without_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parent may have an action, which is read too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "action.yml").write_text("name: x\nruns: {using: composite, steps: []}\n")
    called = call("workflows", "check", "nowhere")
    assert called.code == 2
    assert "nowhere" in called.err
