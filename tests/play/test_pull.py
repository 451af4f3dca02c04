"""Pull requests of a repository that adopts infx are played from the changelog check to the sign-off."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infx.cli.hub_start import start
from infx.git import Git
from infx.hub import Hub
from infx.play.actions import find_permissions
from tests.adopter import HOSTILE, make_adopter
from tests.calling import Called, call

LABEL = "full-sweep-fail-fast"
SIGNOFF = (
    "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n\n- [x] Everything\n\nSigned: zoe\n"
)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """Serve the repository with all its branches."""
    folder = tmp_path_factory.mktemp("played")
    make_adopter(folder / "bench")
    served, _ = start(0, folder / "bench", (), None, folder / "hub", is_empty=False)
    with served:
        yield served
        assert served.errors == []


def play(hub: Hub, branch: str, *options: str) -> Called:
    return call("hub", "play", str(find(hub, branch)), "--url", hub.api, *options)


def find(hub: Hub, branch: str) -> int:
    return next(number for number, pull in hub.state.pulls.items() if pull.head_ref == branch)


def read_status(hub: Hub, branch: str) -> tuple[str, str | None]:
    """Return the state and the words of the newest status `infx/sweep` of a branch."""
    statuses = [each for each in hub.state.statuses if each.sha == hub.tip(branch)]
    newest = [each for each in statuses if each.context == "infx/sweep"][-1]
    return newest.state, newest.description


def test_a_pull_request_without_a_label_says_why_no_sweep_starts(hub: Hub) -> None:
    played = play(hub, "docs")
    assert (played.code, played.err) == (0, "")
    assert "No sweep: the PR has no label that starts a sweep." in played.out
    assert "started no sweep" in played.out
    assert hub.comments_of(find(hub, "docs")) == []  # it changes no benchmark
    # The gate has the permissions of the repository's own workflow, whose other steps do not run.
    assert any(token.permissions.get("models") == "read" for token in hub.tokens.values())
    assert not Path("/tmp/no-step-of-the-repository-runs").exists()


def test_a_pull_request_with_a_label_is_swept_and_its_signoff_verified(hub: Hub, tmp_path: Path) -> None:
    """Both concurrencies run by the row command, in checkouts of their own; the name of the branch is hostile."""
    number = find(hub, HOSTILE)
    hub.label(number, LABEL, by="mia")
    hub.comment(number, SIGNOFF, by="zoe")
    played = play(hub, HOSTILE, "--folder", str(tmp_path / "kept"))
    assert (played.code, played.err) == (0, ""), played.out
    assert "2 of 2 rows passed" in played.out
    assert read_status(hub, HOSTILE) == ("success", "Swept: 2 of 2 rows done.")
    run = max(run.id for run in hub.state.runs.values() if run.workflow == "run-sweep.yml")
    names = [job.name.partition(" / ")[2] for job in hub.state.jobs.values() if job.run == run]
    assert [name.split(" / ")[0] for name in names] == ["", "plan", "canary", "rows (0)", "collect"]
    uploaded = {artifact.name for artifact in hub.state.artifacts.values() if artifact.run == run}
    assert {"sweep-plan", "results_bmk"} < uploaded
    assert "infx signoff verify" in played.out
    assert any(status.context == "codeowner-signoff-verify" for status in hub.state.statuses)
    logs = [path.read_text() for path in (tmp_path / "kept").glob("run-*/*.log")]
    assert len(logs) == 2
    # A real runner of this name may be on this machine: a launch of the play must not end its processes.
    assert all(f"The launch is play-{os.getpid()}" in log for log in logs)
    assert not list(tmp_path.rglob("pwned"))


def test_a_failed_row_fails_the_run_and_says_its_last_words(hub: Hub) -> None:
    """The canary fails, so the other row does not begin."""
    hub.label(find(hub, "broken"), LABEL, by="mia")
    played = play(hub, "broken")
    assert played.code == 1
    assert "torch.OutOfMemoryError: tried to allocate 4.45 GiB" in played.out
    assert "0 of 2 rows passed" in played.out
    assert read_status(hub, "broken")[0] == "failure"


def test_an_invalid_entry_stops_the_sweep_before_its_rows(hub: Hub) -> None:
    hub.label(find(hub, "typo"), LABEL, by="mia")
    played = play(hub, "typo")
    assert played.code == 1
    assert "`TBD` is not a valid pr-link" in played.out
    assert "failed before its rows" in played.out
    assert "infx shards" not in played.out


@pytest.mark.parametrize(
    ("method", "workflow"),
    [("fanout.Fanout.play", "run-sweep.yml"), ("machines.Machines.changelog", "changelog.yml")],
)
def test_an_interrupted_play_leaves_no_running_run(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, method: str, workflow: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"infx.play.{method}", interrupt)
    hub.label(find(hub, "ready"), LABEL, by="mia")
    assert play(hub, "ready").code == 130
    newest = max(hub.state.runs.values(), key=lambda run: run.id)
    assert (newest.workflow, newest.conclusion) == (workflow, "cancelled")


def test_files_of_another_hubs_run_are_not_taken_for_this_run(hub: Hub, tmp_path: Path) -> None:
    """The number of the next run is known, because a hub counts; a restarted hub counts from the same number."""
    earlier = tmp_path / f"run-{max(hub.state.runs, default=300) + 2}"
    earlier.mkdir()
    played = play(hub, "ready", "--folder", str(tmp_path))
    assert played.code == 2
    assert played.err.startswith(f"{earlier}: The folder has files of another run ")
    assert {run.conclusion for run in hub.state.runs.values()} <= {"success", "failure", "cancelled"}


def test_an_interrupted_checkout_is_made_again(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Git.run

    def interrupt(git: Git, *words: str, **options: Any) -> bytes:
        if "--detach" in words:
            raise KeyboardInterrupt
        return run(git, *words, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Git, "run", interrupt)
        assert play(hub, "docs", "--folder", str(tmp_path)).code == 130
    assert [path.suffix for path in (tmp_path / "measured").iterdir()] == [".new"]
    assert play(hub, "docs", "--folder", str(tmp_path)).code == 0


def test_the_folder_of_another_hub_is_refused(hub: Hub, tmp_path: Path) -> None:
    """Checkouts share the objects of the hub's repository, which a hub removes at its end."""
    (tmp_path / "hub").write_text("/tmp/another/acme/bench.git\n")
    runs = len(hub.state.runs)
    played = play(hub, "docs", "--folder", str(tmp_path))
    assert (played.code, len(hub.state.runs)) == (2, runs)
    assert played.err.startswith(f"{tmp_path}: The folder has the play of another hub.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jobs: {a: {permissions: read-all, steps: [{uses: o/infx/.github/actions/gate@1}]}}", "read"),
        ("permissions: write-all\njobs: {a: {steps: [{uses: ./.infx/.github/actions/gate}]}}", "write"),
        ("permissions: {}\njobs: {a: {steps: [{uses: ./.infx/.github/actions/gate}]}}", None),
    ],
)
def test_permissions_may_be_words_or_stated_for_the_whole_file(text: str, expected: str | None) -> None:
    permissions = find_permissions({"x.yml": text.encode()}, "gate")
    assert permissions is not None
    assert permissions.get("statuses") == expected


@pytest.mark.parametrize(
    "text", ["", "jobs: [a]", "jobs: {a: {steps: [x]}}", "{", "jobs: {a: {steps: [{uses: a/gate@1}]}}"]
)
def test_workflows_without_the_action_give_no_permissions(text: str) -> None:
    assert find_permissions({"x.yml": text.encode()}, "gate") is None


def test_a_number_or_an_address_that_is_wrong_is_refused(hub: Hub, tmp_path: Path) -> None:
    unknown = call("hub", "play", "999", "--url", hub.api)
    assert unknown.code == 2
    assert "has no pull request 999. It has: 57, 58, 59, 60, 61 and 62." in unknown.err
    elsewhere = call("hub", "play", "57", "--url", "https://api.github.com")
    assert elsewhere.code == 2
    assert "is not the address of a hub on this machine" in elsewhere.err
    with Hub(tmp_path) as other:
        other.push("main", {"a": "1"})
        other.push("feat", {"a": "2"})
        other.open_pull("feat", number=7)
        closed = other.api
        without_policy = call("hub", "play", "7", "--url", other.api)
    assert without_policy.code == 2
    assert "main has no configs/policy.yaml" in without_policy.err
    silent = call("hub", "play", "7", "--url", closed)
    assert silent.code == 3
    assert "Start one in another terminal: infx hub serve" in silent.err


ENDLESS = """\
import os, runpy, signal, time
from pathlib import Path

if os.environ["CONC"] == os.environ["ENDLESS_CONC"]:
    Path(os.environ["ENDLESS_FILE"]).write_text(str(os.getpid()))
    os.kill(int(os.environ["PLAYER"]), signal.SIGINT)
    time.sleep(600)
runpy.run_path("benchmarks/good.py")
"""


@pytest.mark.parametrize("conc", ["8", "4"], ids=["row", "canary"])
def test_an_interrupted_play_ends_its_rows(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conc: str
) -> None:
    """The row interrupts the play itself, as Ctrl-C would, and then runs for ten minutes."""
    ready = find(hub, "ready")
    git = Git(hub.git_path)
    changelog, good = (
        git.read("refs/heads/ready", path) for path in ("perf-changelog.yaml", "benchmarks/run.py")
    )
    files = {"perf-changelog.yaml": changelog, "benchmarks/run.py": ENDLESS, "benchmarks/good.py": good}
    hub.push("endless-" + conc, {name: data for name, data in files.items() if data is not None})
    number = hub.open_pull("endless-" + conc, number=ready + 100 + int(conc)).number
    hub.label(number, LABEL, by="mia")
    monkeypatch.setenv("ENDLESS_CONC", conc)
    monkeypatch.setenv("ENDLESS_FILE", str(tmp_path / "pid"))
    monkeypatch.setenv("PLAYER", str(os.getpid()))
    assert call("hub", "play", str(number), "--url", hub.api).code == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    newest = max(hub.state.runs.values(), key=lambda run: run.id)
    assert newest.conclusion == "cancelled"
