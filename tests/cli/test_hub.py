"""`infx hub serve`: the command lines that it prints work."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from infx.github.api import connect
from infx.hub import Hub
from infx.hub.seed import seed
from tests.adopter import HOSTILE, make_adopter
from tests.calling import call
from tests.conftest import ROOT
from tests.repository import Repository

PAGE = (ROOT / "docs/hub.md").read_text(encoding="utf-8")


@dataclass
class Served:
    process: subprocess.Popen[str]
    shown: list[str]

    def find(self, pattern: str) -> str:
        (match,) = re.findall(pattern, "\n".join(self.shown))
        return str(match)


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    """Start the command with the options of an indirect parameter."""
    options = getattr(request, "param", ())
    process = subprocess.Popen(
        [sys.executable, "-m", "infx", "hub", "serve", "--port", "0", *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    shown = []
    for line in process.stdout:
        shown.append(line.rstrip())
        if "may do everything" in line:
            break
    yield Served(process, shown)
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_printed_command_lines_work(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = dict(re.findall(r"(GITHUB_API_URL|GH_TOKEN)=(\S+)", served.find(r"export (.+?) +#")))
    clone = served.find(r"git clone (\S+) bench")
    subprocess.run(["git", "clone", "--quiet", clone, "bench"], cwd=tmp_path, check=True)
    number = served.find(r"pull request (\d+) conflicts")

    monkeypatch.chdir(tmp_path / "bench")
    checked = call("config", "check", "--format", "json", environ=environ)
    assert (checked.code, checked.err) == (0, "")
    explained = call("explain", "--pr", number, "--verbose", environ=environ)
    assert explained.code == 0
    assert "conflict" in explained.out
    assert "requests (reads" in explained.err


@pytest.fixture
def own(tmp_path: Path) -> Repository:
    """Return the user's repository, next to which the hub is served."""
    return make_adopter(tmp_path / "own")


@pytest.mark.parametrize(
    "served", [("--from", "own", "--branch", HOSTILE)], ids=["hostile branch"], indirect=True
)
def test_the_printed_command_lines_work_for_a_served_clone(own: Repository, served: Served) -> None:
    """The printed request is parsed as a shell would, so a branch's name cannot run a command."""
    assert f"pull request 42 is branch {HOSTILE}, 1 commit ahead of main" in "\n".join(served.shown)
    api, mia = served.find(r"GITHUB_API_URL=(\S+)"), served.find(r"GH_TOKEN=(\S+) is mia")
    (line,) = (line for line in served.shown if "curl" in line)
    *_, header, url, _, body = shlex.split(line)
    name, _, value = header.partition(": ")
    address = url.replace("$GITHUB_API_URL", api)
    answer = requests.post(address, headers={name: value}, json=json.loads(body), timeout=10)
    assert [label["name"] for label in answer.json()] == ["full-sweep-fail-fast"]
    assert f"GH_ENTERPRISE_TOKEN={mia} gh api $GITHUB_API_URL/repos/your-org/your-bench/pulls" in "\n".join(
        served.shown
    )
    signers = dict(re.findall(r"(\w+) (user-token-\d+)", served.find(r"people with write access: (.+)\.")))
    assert {"cody", "amy", "noor"} <= set(signers)
    headers = {"Authorization": f"token {signers['amy']}"}
    comments = address.replace("labels", "comments")
    answer = requests.post(comments, headers=headers, json={"body": "Signed."}, timeout=10)
    assert answer.json()["user"]["login"] == "amy"
    played = [shlex.split(line)[1:] for line in served.shown if " hub play " in line]
    assert played == [["hub", "play", "42"]]


@pytest.mark.parametrize("served", [("--empty",), ()], ids=["empty", "with samples"], indirect=True)
def test_mia_opens_a_pull_request_as_the_page_says(served: Served, tmp_path: Path) -> None:
    """Run the commands of docs/hub.md; push `main` first if the repository is empty."""
    (page,) = re.findall(r"## Your own pull request\n(.*?)\n## ", PAGE, re.DOTALL)
    (console,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    pushing, opening = re.findall(r"(?s)(.*)\$ (curl .*)", console)[0]
    clone, mia = served.find(r"git clone (\S+) bench"), served.find(r"GH_TOKEN=(\S+) is mia")
    api = served.find(r"GITHUB_API_URL=(\S+)")
    subprocess.run(["git", "clone", "--quiet", clone, "bench"], cwd=tmp_path, check=True, capture_output=True)
    is_empty = not (tmp_path / "bench/perf-changelog.yaml").exists()
    first = (
        "touch perf-changelog.yaml && git add . && git commit -q -m first && git push -q origin HEAD:main\n"
    )
    script = (first if is_empty else "") + pushing.replace("$ ", "")
    subprocess.run(["bash", "-ec", script], cwd=tmp_path / "bench", check=True, capture_output=True)
    assert f"token {mia}" in opening
    path = "/repos/acme/bench/pulls"
    assert f"$GITHUB_API_URL{path} " in opening
    body = json.loads(re.findall(r"-d '(.*)'", opening)[0])
    headers = {"Authorization": f"token {mia}"}
    answer = requests.post(f"{api}{path}", headers=headers, json=body, timeout=10)
    assert (answer.status_code, answer.json()["user"]["login"]) == (201, "mia")
    number = answer.json()["number"]
    for url, sent in (
        (f"{api}/repos/acme/bench/issues/{number}/labels", {"labels": ["full-sweep-enabled"]}),
        (f"{api}/repos/acme/bench/statuses/{answer.json()['head']['sha']}", {"state": "success"}),
    ):
        assert requests.post(url, headers=headers, json=sent, timeout=10).ok, url
    permission = requests.get(
        f"{api}/repos/acme/bench/collaborators/mia/permission", headers=headers, timeout=10
    )
    assert permission.json()["permission"] == "admin"
    delete = ["git", "push", "--quiet", "origin", "--delete", body["head"]]
    subprocess.run(delete, cwd=tmp_path / "bench", check=True, capture_output=True)
    closed = requests.get(f"{api}{path}/{number}", headers=headers, timeout=10)
    assert closed.json()["state"] == "closed"


def test_a_signal_stops_it_and_it_leaves_no_files(served: Served, tmp_path: Path) -> None:
    assert list(tmp_path.glob("infx-hub-*"))
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(60) == 0
    assert not list(tmp_path.glob("infx-hub-*"))


MISSED = """
import os, signal, sys, threading
from pathlib import Path
from infx.hub import Hub

signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
hub = Hub(Path("hub"))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # in this thread: the server's takes it
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
hub.wait()
"""


def test_a_signal_just_before_the_wait_ends_it_too(tmp_path: Path) -> None:
    """Another thread receives the signal, so that it cannot interrupt the wait."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", MISSED], cwd=tmp_path, env=environ, check=False, timeout=60)
    assert done.returncode == 7


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with Hub(tmp_path / "hub") as hub:
        port = hub.api.rsplit(":", 1)[1]
        done = subprocess.run(
            [sys.executable, "-m", "infx", "hub", "serve", "--port", port],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert f"Port {port} cannot be used" in done.stderr
    assert not list(tmp_path.glob("infx-hub-*"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--repo", "bench"], 2, "'bench' is not the name of a repository; expected owner/name."),
        (["--folder", "taken/hub"], 2, "cannot be written:"),
        (["--branch", "feat"], 2, "--branch needs --from."),
        (["--from", ".", "--empty"], 2, "--empty and --from exclude each other."),
        (["--from", "."], 3, "is not inside a git repository"),
    ],
)
def test_options_that_cannot_work_are_refused(
    arguments: list[str],
    code: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # not a thread of the hub
    called = call("hub", "serve", "--port", "0", *arguments)
    assert called.code == code
    assert words in called.err


def test_the_samples_match_their_descriptions(tmp_path: Path) -> None:
    with Hub(tmp_path / "hub") as hub:
        samples = {sample.number: sample.words for sample in seed(hub)}
        github = connect("acme/bench", environ=hub.environ(hub.user_token("mia")))
        pulls = {number: github.pull(number) for number in samples}
    assert sorted(samples) == [11, 12, 13, 14]
    assert [pulls[number].mergeable for number in sorted(pulls)] == [False, True, True, True]
    assert [len(pulls[number].labels) for number in sorted(pulls)] == [1, 0, 2, 1]
