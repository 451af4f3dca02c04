"""How commands reach GitHub: the repository's name, the count of requests, waiting, and the exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from infx.cli.github import Connect, github_options, wait
from infx.cli.options import policy_option
from infx.cli.shell import run
from infx.hub import Fault, FaultKind, Hub
from infx.policy.model import Policy


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("infx.cli.github.time.sleep", lambda seconds: None)
    with Hub(tmp_path / "hub") as made:
        made.push("main", {"a": "1"}, by="mia")
        made.push("feat-x", {"a": "2"})
        made.open_pull("feat-x", number=77)
        for name, value in made.environ(made.workflow_token({"pull-requests": "read"})).items():
            monkeypatch.setenv(name, value)
        yield made


@click.command()
@click.option("--ask/--no-ask", default=True)
@policy_option
@github_options
def title(policy: Policy, connect: Connect, *, ask: bool) -> None:
    """A command as others are."""
    if ask:
        click.echo(connect().pull(77).title)
        click.echo(connect().repository)


def call(*arguments: str) -> int:
    return run(title, arguments, os.environ)


def test_a_command_reads_and_counts(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY))
    assert call("--verbose") == 0
    shown = capsys.readouterr()
    assert shown.out == "Add a benchmark\nacme/bench\n"
    assert shown.err == "GitHub: 2 requests (reads 2, writes 0, waited 1 s).\n"


def test_without_verbose_nothing_is_counted_aloud(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert call() == 0
    assert capsys.readouterr().err == ""


def test_the_count_is_shown_after_a_failure_too(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.faults.add(Fault(kind=FaultKind.FORBIDDEN))
    assert call("--verbose") == 3
    counted, refused = capsys.readouterr().err.splitlines()
    assert counted == "GitHub: 1 request (reads 1, writes 0)."
    assert "The token may not GET /repos/acme/bench/pulls/77; it needs pull-requests: read" in refused


def test_who_does_not_ask_needs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("--no-ask", "--verbose") == 0
    assert capsys.readouterr().err == "GitHub: not asked.\n"
    assert call() == 2
    assert "Which repository?" in capsys.readouterr().err


def test_repo_wins_over_the_environment(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--repo", "acme/other") == 3
    assert "acme/other has no pull request 77." in capsys.readouterr().err


def test_long_waits_are_explained(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    wait(2)
    assert capsys.readouterr().err == ""
    hub.faults.add(Fault(kind=FaultKind.SECONDARY_LIMIT, seconds=600))
    assert call() == 0
    assert capsys.readouterr().err == "Waiting 600 s before asking GitHub again.\n"


def test_a_wait_that_is_too_long_is_an_error(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.faults.add(Fault(kind=FaultKind.SECONDARY_LIMIT, seconds=3600))
    assert call() == 3
    assert "Waiting 3600 s is more than the 900 s" in capsys.readouterr().err
