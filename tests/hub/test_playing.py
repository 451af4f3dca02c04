"""Requests of another process that acts as GitHub Actions."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from infx.errors import UnavailableError, UsageError
from infx.hub import Hub
from infx.hub.exchange import Answer
from infx.hub.playing import HEADER, PREFIX
from infx.play.remote import RemoteHub


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with Hub(tmp_path) as served:
        served.push("main", {"a": "1"}, by="mia")
        served.push("feat", {"a": "2"})
        served.open_pull("feat", number=7)
        yield served
        assert served.errors == []


def test_a_run_with_its_jobs_and_artifacts_arrives_on_the_hub(hub: Hub) -> None:
    remote = RemoteHub(hub.api)
    run = remote.add_run("run-sweep.yml", pull=7, by="cody")
    job = remote.add_job(run.id, "sweep / plan", conclusion=None, runner="h200_00")
    remote.finish_job(job.id, "failure")
    artifact = remote.add_artifact(run.id, "sweep-plan", {"a.bin": b"\x00\xff", "b.txt": "text"})
    remote.finish_run(run.id, "failure")
    state = hub.state
    assert (state.runs[run.id].conclusion, state.runs[run.id].pulls) == ("failure", [7])
    assert (state.jobs[job.id].name, state.jobs[job.id].conclusion) == ("sweep / plan", "failure")
    with zipfile.ZipFile(io.BytesIO(state.artifacts[artifact.id].data)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert contents == {"a.bin": b"\x00\xff", "b.txt": b"text"}


def test_a_run_cancels_the_others_of_its_pull_request(hub: Hub) -> None:
    remote = RemoteHub(hub.api)
    first, second = (remote.add_run("run-sweep.yml", pull=7, by="cody").id for _ in range(2))
    remote.cancel_others(second, 7)
    assert [hub.state.runs[number].conclusion for number in (first, second)] == ["cancelled", None]


def test_tokens_commits_and_events_come_from_the_hub(hub: Hub) -> None:
    remote = RemoteHub(hub.api)
    token = remote.workflow_token({"pull-requests": "write"})
    assert hub.tokens[token].permissions == {"pull_requests": "write"}
    assert hub.tokens[remote.app_token("bench-bot[bot]", {})].login == "bench-bot[bot]"
    assert remote.find_commits(7) == (hub.tip("feat"), hub.tip("main"))
    assert [(event.name, event.action) for event in remote.find_events(7)] == [("pull_request", "opened")]
    assert (remote.repository, remote.branch, remote.git_path) == ("acme/bench", "main", hub.git_path)
    assert (remote.reads, remote.writes) == (0, 0)  # these requests are not GitHub's
    assert remote.branch_ref("x", "eve/bench") == hub.branch_ref("x", "eve/bench")


@pytest.mark.parametrize(
    ("operation", "body", "status"),
    [
        ("launch", b"{}", 404),
        ("add-run", b"{}", 400),
        ("add-run", b"nonsense", 400),
        ("find-commits", b'{"number": 8}', 400),
        ("add-artifact", b'{"run": 1, "name": "a", "files": []}', 400),
    ],
)
def test_wrong_requests_are_refused(hub: Hub, operation: str, body: bytes, status: int) -> None:
    answer = requests.post(f"{hub.api}{PREFIX}{operation}", data=body, headers={HEADER: "1"}, timeout=10)
    assert answer.status_code == status


def test_a_request_without_the_header_is_refused_as_from_a_web_page(hub: Hub) -> None:
    answer = requests.post(f"{hub.api}{PREFIX}find-pulls", data=b"{}", timeout=10)
    assert answer.status_code == 403
    assert requests.get(f"{hub.api}{PREFIX}find-pulls", headers={HEADER: "1"}, timeout=10).status_code == 404


def test_a_web_page_whose_name_leads_to_this_machine_is_refused(hub: Hub) -> None:
    """Its name may lead to another address first and then to 127.0.0.1: then a browser lets it send every header."""
    port = hub.api.rpartition(":")[2]
    for host, status in ((f"page.example:{port}", 403), ("[", 403), (f"localhost:{port}", 200)):
        headers = {HEADER: "1", "Host": host}
        answer = requests.post(f"{hub.api}{PREFIX}find-pulls", data=b"{}", headers=headers, timeout=10)
        assert answer.status_code == status, host


@pytest.mark.parametrize("address", ["http://[::1", "http://127.0.0.1:99999", "http://localhost:x"])
def test_an_address_that_is_not_valid_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a hub"):
        RemoteHub(address)


def test_an_answer_of_another_program_is_an_error_of_the_client(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Answer(raw=b"<html>")
    monkeypatch.setattr("infx.hub.server.respond_to_play", lambda *_: page)
    with pytest.raises(UnavailableError, match="is not a hub: its answer is not JSON"):
        RemoteHub(hub.api).find_pulls()


def test_a_refused_operation_is_an_error_of_the_client(hub: Hub) -> None:
    with pytest.raises(UnavailableError, match="refused find-commits: 400"):
        RemoteHub(hub.api).find_commits(8)
