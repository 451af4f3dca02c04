"""The repository's own workflows, run by `act` in host mode against the hub.

act knows nothing of concurrency, permissions, fail-fast or event types. Permissions and the types of events are added
here; otherwise only what act does as GitHub does is looked at: which jobs ran, what they printed, uploaded and wrote into
summaries.

Each job has a token of its own with the job's `permissions`. act has one secret for all of them, which the hub does not
know; the command `infx` of the tests takes the job's token in its place, by the names of the workflow and the job that a
step is told. A request beyond a job's permissions fails the test.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infx import yaml12
from infx.hub import Event
from infx.hub.handling import NO_PERMISSION
from infx.hub.hub import Hub
from tests.act.permissions import find_permissions
from tests.conftest import ROOT

STAND_IN = Path(__file__).with_name("stand-in")
TRIES = 3
SILENCE = 60.0  # seconds; a step of ours takes a few
_ROW = re.compile(r"[0-9a-f]{12}(?:-[0-9]+)? · .*")
_SECRET = "ghs_the_token_that_the_jobs_exchange"
_DEFAULT_TYPES = {
    "pull_request": ["opened", "synchronize", "reopened"]
}  # every other event: all of its types
_STAND_INS = {
    "actions/create-github-app-token": "app-token",
    "actions/setup-python": "nothing",
    "actions/checkout": "checkout",
    "actions/upload-artifact": "upload",
    "actions/download-artifact": "download",
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """jobs: last segment of a job's name → its results, one for each leg. summaries: in the order of steps.

    commands: every workflow command that was obeyed, printed or written into one of the runner's files.
    """

    code: int
    jobs: Mapping[str, list[str]]
    summaries: Sequence[str]
    commands: Sequence[Mapping[str, Any]]
    log: str
    artifacts: Path

    @property
    def rows(self) -> list[str]:
        """Names of the jobs of rows, the first first."""
        return [name for name in self.jobs if _ROW.match(name)]

    def artifact(self, name: str) -> dict[str, str]:
        folder = self.artifacts / name
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in files}

    def output(self, name: str) -> str:
        """Return the value of an output that a step of the run has set."""
        written = [record for record in self.commands if record["command"] == "set-output"]
        return next(str(record["arg"]) for record in written if record["name"] == name)

    @property
    def ledger(self) -> list[tuple[str, str]]:
        """(id, revision) of every row whose command was started, if the policy's command says so."""
        path = self.artifacts.with_name("ledger")
        lines = path.read_text().splitlines() if path.exists() else []
        return [(line.split()[0], line.split()[1]) for line in lines]

    @property
    def uploaded(self) -> set[str]:
        return {path.name for path in self.artifacts.iterdir()}


class Act:
    """hub: where the workflows look. folder: temporary, for everything that act and the steps write."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self.hub = hub
        self.folder = folder
        self.project = folder / "project"
        shutil.copytree(ROOT / ".github", self.project / ".github")
        _git(self.project, "init", "--quiet", "--initial-branch=main")
        _git(self.project, "add", "--all")
        _git(self.project, "commit", "--quiet", "--message", "workflows")
        self.toolkit = self._lay_out_toolkit(folder / "toolkit")

    def _lay_out_toolkit(self, path: Path) -> Path:
        """A checkout of the base branch, whose installation puts this test's own environment on the PATH."""
        _git(self.folder, "clone", "--quiet", str(self.hub.git.path), str(path))
        shutil.copytree(ROOT / ".github", path / ".github", dirs_exist_ok=True)
        script = path / ".github/actions/install.sh"
        bin_ = Path(sys.executable).parent
        script.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "{bin_}" "{self._lay_out_command(bin_)}" >> "$GITHUB_PATH"\n'
        )
        return path

    def _lay_out_command(self, bin_: Path) -> Path:
        """Write infx and the Python of rows as the steps start them, and return their folder.

        Both get the token of their job, if the step hands one on. infx also gets the event of the caller's run, which
        GitHub hands to a called workflow and act does not.
        """
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        lines = [
            "#!/bin/sh",
            "GITHUB_EVENT_NAME=${CALLED_BY:-$GITHUB_EVENT_NAME}",
            f'if [ "$GITHUB_TOKEN" = {_SECRET} ]; then',
            '  read -r GITHUB_TOKEN < "$TOKENS/$GITHUB_WORKFLOW/$GITHUB_JOB" || exit 99',
            "fi",
        ]
        for name, program in {"infx": "infx", "row-python": "python3"}.items():
            path = folder / name
            path.write_text("\n".join([*lines, f'exec "{bin_}/{program}" "$@"']) + "\n")
            path.chmod(0o755)
        return folder

    def run(
        self,
        workflow: str,
        event: str,
        payload: Mapping[str, Any],
        *,
        run_id: int = 700,
        attempt: int = 1,
        called_by: str | None = None,
        variables: Mapping[str, str] | None = None,
        refusals: int = 0,
    ) -> Outcome:
        """One workflow run, or a part of one. payload: of the webhook. variables: of the repository.

        called_by: the event of the run whose called workflow this is, with its inputs in the payload; so a partial
        re-run is played, which starts some of its jobs with the outputs of the first attempt.
        refusals: how many requests beyond the jobs' permissions are expected.
        """
        self._check_trigger(workflow, called_by or event, payload)
        self._hand_out_tokens(workflow, called_by or event, payload)
        asked = len(self.hub.log)
        artifacts = self.folder / f"artifacts-{run_id}"
        artifacts.mkdir(exist_ok=True)
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(payload))
        command = self._command(workflow, event, event_file, artifacts, run_id, attempt)
        command += ["--env", f"EVENT_SHA={self._event_sha(event, payload)}"]
        command += [
            part for name, value in (variables or {}).items() for part in ("--var", f"{name}={value}")
        ]
        if called_by:
            command += ["--env", f"CALLED_BY={called_by}"]
        before = shutil.copytree(artifacts, self.folder / f"before-{run_id}-{attempt}")
        ledger = artifacts.with_name("ledger")
        started = ledger.read_bytes() if ledger.exists() else b""
        for _ in range(TRIES):
            done = run_tool(command, self.project, self.folder)
            if not has_crashed(done):
                break
            shutil.rmtree(artifacts)
            shutil.copytree(before, artifacts)
            ledger.write_bytes(started)
        beyond = self._find_refused(asked)
        assert len(beyond) == refusals, "beyond the permissions of its job:\n" + "\n".join(beyond)
        return _read_outcome(done, artifacts)

    def play(self, workflow: str, event: Event, **how: Any) -> Outcome:
        """The run that an event of the hub starts."""
        return self.run(workflow, event.name, event.payload, **how)

    def _check_trigger(self, workflow: str, event: str, payload: Mapping[str, Any]) -> None:
        """act starts a workflow whatever the event's type is."""
        value = yaml12.load((self.project / ".github/workflows" / workflow).read_bytes(), workflow).value
        if event not in value["on"]:
            assert list(value["on"]) == ["workflow_call"], f"{event} does not start {workflow}"
            return
        about = value["on"][event] or {}
        types = about.get("types", _DEFAULT_TYPES.get(event)) if isinstance(about, dict) else None
        action = payload.get("action")
        assert types is None or action in types, f"{event} {action} does not start {workflow}"
        if event == "workflow_run":
            source = payload["workflow_run"]["name"]
            assert source in about["workflows"], f"{source} does not start {workflow}"

    def _hand_out_tokens(self, workflow: str, event: str, payload: Mapping[str, Any]) -> None:
        """A file for each job: its token, and what it may do, a line each."""
        pull = self.hub.state.pulls.get(payload.get("number", 0))
        of_fork = event == "pull_request" and pull is not None and pull.head_repository != self.hub.repository
        self.tokens = self.folder / "tokens"
        self.holders: dict[str, str] = {}
        shutil.rmtree(self.tokens, ignore_errors=True)
        for one in find_permissions(self.project / ".github/workflows", workflow, of_fork=of_fork):
            token = self.hub.workflow_token(one.permissions)
            self.holders[token] = f"{one.workflow}, {one.job}"
            path = self.tokens / one.workflow / one.job
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [token, *(f"{scope}: {access}" for scope, access in one.permissions.items())]
            path.write_text("\n".join(lines) + "\n")

    def _find_refused(self, start: int) -> list[str]:
        """What the hub and the stand-ins for actions refused because of a token, with the job that asked."""
        found = []
        for exchange in self.hub.log[start:]:
            if exchange.fault is None and (
                exchange.status == 401 or NO_PERMISSION in _messages(exchange.reply)
            ):
                secret = exchange.headers.get("authorization", "").split(" ")[-1]
                needs = (exchange.reply_headers or {}).get("X-Accepted-GitHub-Permissions", exchange.status)
                holder = self.holders.get(secret, "a token of no job")
                found.append(f"{holder}: {exchange.method} {exchange.path} ({needs})")
        refused = self.tokens / "refused"
        return found + (refused.read_text().splitlines() if refused.exists() else [])

    def _event_sha(self, event: str, payload: Mapping[str, Any]) -> str:
        """What `github.sha` is: of a pull request its test merge, of a push its tip, otherwise the default branch's."""
        if event == "pull_request" and (pull := self.hub.state.pulls.get(payload.get("number", 0))):
            self.hub.compute_merge(pull)
            return pull.merge_sha or pull.head_sha
        given: str | None = payload.get("after") or payload.get("merge_group", {}).get("head_sha")
        return given or self.hub.git.resolve(f"refs/heads/{self.hub.branch}") or ""

    def _command(
        self, workflow: str, event: str, event_file: Path, artifacts: Path, run_id: int, attempt: int
    ) -> list[str]:
        variables = {
            "GITHUB_API_URL": self.hub.api,
            "GITHUB_REPOSITORY": self.hub.repository,
            "GITHUB_RUN_ID": str(run_id),
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_TRIGGERING_ACTOR": "cody",
            "STAND_IN": str(STAND_IN / "stand-in"),
            "SOURCE": str(self.hub.git.path),
            "TOOLKIT": str(self.toolkit),
            "ARTIFACTS": str(artifacts),
            "LEDGER": str(self.folder / "ledger"),
            "INFX_PYTHON": str(self.folder / "bin/row-python"),
            "TOKENS": str(self.tokens),
            "APP_TOKEN": self.hub.app_token("bench-bot[bot]", contents="write"),
        }
        labels = ["ubuntu-24.04", *_runner_labels()]
        options = [event, "--json", "-e", str(event_file), "-W", f".github/workflows/{workflow}"]
        options += [part for label in labels for part in ("-P", f"{label}=-self-hosted")]
        options += [part for name, value in variables.items() for part in ("--env", f"{name}={value}")]
        options += [part for pin in _pins() for part in ("--local-repository", pin)]
        options += ["-s", f"GITHUB_TOKEN={_SECRET}", "-a", "cody", "--no-cache-server"]
        options += ["--no-skip-checkout"]  # the stand-in, and never a copy of the project's folder
        options += ["--action-cache-path", str(self.folder / "act"), "--concurrent-jobs", "3"]
        return [str(Path(sys.executable).parent / "act"), *options]


def _messages(reply: Any) -> list[str]:
    """Of a refusal; GraphQL refuses single fields of an answer with status 200."""
    if not isinstance(reply, dict):
        return []
    return [str(reply.get("message")), *(str(error.get("message")) for error in reply.get("errors") or ())]


def _pins() -> list[str]:
    """Every pinned action of the workflows with its stand-in."""
    used = set()
    for path in (ROOT / ".github").rglob("*.yml"):
        used.update(re.findall(r"uses: (actions/[\w-]+)@([0-9a-f]{40})", path.read_text()))
    return [f"{name}@{sha}={STAND_IN / _STAND_INS[name]}" for name, sha in sorted(used) if name in _STAND_INS]


def _runner_labels() -> list[str]:
    inventory = yaml.safe_load((ROOT / "configs/runners.yaml").read_text())
    return sorted(inventory["labels"])


def _read_outcome(done: subprocess.CompletedProcess[str], artifacts: Path) -> Outcome:
    """act prints a record a line; the last line may be a plain error."""
    jobs: dict[str, list[str]] = defaultdict(list)
    summaries, commands = [], []
    for line in done.stdout.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "command" in record:
            commands.append(record)
        if record.get("command") == "summary":
            summaries.append(record["content"])
        if "jobResult" in record:
            jobs[_last_segment(record["job"])].append(record["jobResult"])
    return Outcome(
        code=done.returncode,
        jobs=dict(jobs),
        summaries=summaries,
        commands=commands,
        log=done.stdout + done.stderr,
        artifacts=artifacts,
    )


def run_tool(
    command: Sequence[str], directory: Path, folder: Path, silence: float = SILENCE
) -> subprocess.CompletedProcess[str]:
    """Run act to its end, or to its crash where it has said nothing for `silence` seconds and more.

    Now and then act waits for ever for the end of a terminal that nobody writes to any more. SIGQUIT makes it end as
    in a crash, with the stacks of its threads; if it does not heed that either, it is killed.
    """
    told, blamed = folder / "act.stdout", folder / "act.stderr"
    with told.open("wb") as stdout, blamed.open("wb") as stderr:
        # act hands its whole environment on to the steps
        env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
        process = subprocess.Popen(command, cwd=directory, env=env, stdout=stdout, stderr=stderr)
        try:
            _wait_for(process, told, silence)
        finally:  # also when the test's own deadline has come
            process.kill()
            process.wait()
    return subprocess.CompletedProcess(command, process.returncode, told.read_text(), blamed.read_text())


def _wait_for(process: subprocess.Popen[bytes], told: Path, silence: float) -> None:
    size, is_asked = -1, False
    while process.poll() is None:
        if size == (size := told.stat().st_size):
            process.send_signal(signal.SIGKILL if is_asked else signal.SIGQUIT)
            is_asked = True
        with suppress(subprocess.TimeoutExpired):
            process.wait(silence)


def has_crashed(done: subprocess.CompletedProcess[str]) -> bool:
    """act itself, in one of its threads (`fatal error: concurrent map writes`) or by our signals, and not the workflow."""
    return done.returncode == -signal.SIGKILL or (done.returncode == 2 and "\ngoroutine " in done.stderr)


def _last_segment(name: str) -> str:
    """act writes `workflow/job/callee`, with spaces behind; a row's own name may hold a `/` too, and starts with its id."""
    row = _ROW.search(name)
    return (row[0] if row else name.rsplit("/", 1)[-1]).strip()


def _git(folder: Path, *arguments: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
