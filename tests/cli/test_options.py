from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from infx.cli.options import format_option, policy_option
from infx.cli.shell import run
from infx.policy.model import Policy
from tests.calling import call
from tests.repository import Repository

OWN = b"repository: acme/bench\n"
OTHER = b"repository: acme/other\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Make a clone with a policy, and enter it."""
    repository = Repository.init(tmp_path / "clone")
    repository.commit({"configs/policy.yaml": OWN, "deep/down/x": "1"})
    monkeypatch.chdir(repository.path)
    return repository


@click.command()
@policy_option
@format_option
def show(policy: Policy, as_json: bool) -> None:
    """Show what the options resolve to."""
    click.echo(json.dumps([policy.repository, as_json]))


@pytest.mark.parametrize(
    ("arguments", "environ", "shown"),
    [
        ([], {}, ["acme/bench", True]),
        (["--policy", "other.yaml"], {}, ["acme/other", True]),
        ([], {"INFX_POLICY": "other.yaml"}, ["acme/other", True]),
        ([], {"INFX_POLICY": ""}, ["acme/bench", True]),
        (["--policy", "configs/policy.yaml"], {"INFX_POLICY": "other.yaml"}, ["acme/bench", True]),
        (["--policy", "HEAD:configs/policy.yaml"], {"GITHUB_ACTIONS": "true"}, ["acme/bench", True]),
        ([], {"INFX_POLICY": "other.yaml", "GITHUB_ACTIONS": "true"}, ["acme/other", True]),
        (["--format", "table"], {}, ["acme/bench", False]),
        (["--format", "json"], {}, ["acme/bench", True]),
    ],
)
def test_options_and_their_variables(
    repository: Repository,
    arguments: list[str],
    environ: dict[str, str],
    shown: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repository.write({"other.yaml": OTHER})
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    called = call(*arguments, command=show)
    assert called.code == 0
    assert json.loads(called.out) == shown


def test_a_terminal_gets_a_table(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Call the shell directly, because the output of `call` is not a terminal."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(show, [], {}) == 0
    assert json.loads(capsys.readouterr().out) == ["acme/bench", False]


def test_an_unknown_format_is_a_usage_error(repository: Repository) -> None:
    called = call("--format", "xml", command=show)
    assert called.code == 2
    assert "'xml' is not one of 'json', 'table'" in called.err
