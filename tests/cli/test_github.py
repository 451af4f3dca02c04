"""Commands that use GitHub: the repository's name, the count of requests, waiting, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from infx.cli.github import Connect, github_options, wait
from infx.cli.options import policy_option
from infx.hub import Fault, FaultKind, Hub
from infx.policy.model import Policy
from tests.calling import call


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
    """Print a title, like any command that uses GitHub."""
    if ask:
        click.echo(connect().pull(77).title)
        click.echo(connect().repository)


def test_a_command_reads_and_counts(hub: Hub) -> None:
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY))
    called = call("--verbose", command=title)
    assert called.code == 0
    assert called.out == "Add a benchmark\nacme/bench\n"
    assert called.err == "GitHub: 2 requests (reads 2, writes 0, waited 1 s).\n"


def test_without_verbose_no_count_is_printed(hub: Hub) -> None:
    called = call(command=title)
    assert called.code == 0
    assert called.err == ""


def test_the_count_is_shown_after_a_failure_too(hub: Hub) -> None:
    hub.faults.add(Fault(kind=FaultKind.FORBIDDEN))
    called = call("--verbose", command=title)
    assert called.code == 3
    counted, refused = called.err.splitlines()
    assert counted == "GitHub: 1 request (reads 1, writes 0)."
    assert "The token may not GET /repos/acme/bench/pulls/77; it needs pull-requests: read" in refused


def test_a_command_that_does_not_ask_needs_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called = call("--no-ask", "--verbose", command=title)
    assert called.code == 0
    assert called.err == "GitHub: not asked.\n"
    called = call(command=title)
    assert called.code == 2
    assert "No repository is named." in called.err


def test_repo_wins_over_the_environment(hub: Hub) -> None:
    called = call("--repo", "acme/other", command=title)
    assert called.code == 3
    assert "acme/other has no pull request 77." in called.err


def test_long_waits_are_announced(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    wait(2)
    assert capsys.readouterr().err == ""
    hub.faults.add(Fault(kind=FaultKind.SECONDARY_LIMIT, seconds=600))
    called = call(command=title)
    assert called.code == 0
    assert called.err == "Waiting 600 s before asking GitHub again.\n"


def test_a_wait_that_is_too_long_is_an_error(hub: Hub) -> None:
    hub.faults.add(Fault(kind=FaultKind.SECONDARY_LIMIT, seconds=3600))
    called = call(command=title)
    assert called.code == 3
    assert "Waiting 3600 s is more than the 900 s" in called.err
