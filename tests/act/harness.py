"""Run the repository's own workflows with `act` in host mode against the hub.

act does not support concurrency, permissions, fail-fast and event types. This module adds permissions and event types.
Otherwise tests only check what act does as GitHub does: which jobs ran, and their logs, artifacts and summaries.

Each job has its own token with the job's `permissions`. act can only pass the same secret to all jobs, and the hub does
not accept it. The tests' command `infx` replaces it by the job's token, which it finds by the names of the workflow and
the job. A request beyond a job's permissions fails the test.

act reads a step's output from a terminal, and forgets what it has not read yet when the step fails. The tests' command
`bash` therefore copies the output of every step into a file, which is a part of the outcome's log.
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
SILENCE = 60.0  # seconds; a step takes only a few
_ROW = re.compile(r"[0-9a-f]{12}(?:-[0-9]+)? · .*")
_SECRET = "ghs_the_token_that_the_jobs_exchange"
_DEFAULT_TYPES = {
    "pull_request": ["opened", "synchronize", "reopened"]
}  # all other events start a workflow with every type
_STAND_INS = {
    "actions/create-github-app-token": "app-token",
    "actions/setup-python": "nothing",
    "actions/checkout": "checkout",
    "actions/upload-artifact": "upload",
    "actions/download-artifact": "download",
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a workflow run."""

    code: int
    jobs: Mapping[str, list[str]]  # last segment of a job's name → results, several for a matrix
    summaries: Sequence[str]  # in the order of steps
    commands: Sequence[Mapping[str, Any]]  # executed workflow commands, printed or in the runner's files
    log: str  # act's output, and the output of the steps
    steps: str  # the output of the steps
    artifacts: Path

    @property
    def rows(self) -> list[str]:
        """Return the names of rows' jobs, in the order in which they ended."""
        return [name for name in self.jobs if _ROW.match(name)]

    def read_artifact(self, name: str) -> dict[str, str]:
        """Return path → text of the files of an artifact."""
        folder = self.artifacts / name
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in files}

    def output(self, name: str) -> str:
        """Return the value of an output that a step of the run has set."""
        written = [record for record in self.commands if record["command"] == "set-output"]
        return next(str(record["arg"]) for record in written if record["name"] == name)

    @property
    def ledger(self) -> list[tuple[str, str]]:
        """Return id and revision of every started row, if the policy's row command records them."""
        path = self.artifacts.with_name("ledger")
        lines = path.read_text().splitlines() if path.exists() else []
        return [(line.split()[0], line.split()[1]) for line in lines]

    @property
    def uploaded(self) -> set[str]:
        """Return the names of the uploaded artifacts."""
        return {path.name for path in self.artifacts.iterdir()}


class Act:
    """A runner of workflows on a hub; act and the steps write into a temporary folder."""

    def __init__(self, hub: Hub, folder: Path, repository: Path = ROOT, pin: str | None = None) -> None:
        """Make a copy of the workflows.

        Args:
            repository: the folder with the workflows and the runners.
            pin: `owner/name@<sha>`, if the workflows use infx's actions from this repository. Then they get the whole
                measured code, and not only the SHA of its commit.
        """
        self.hub = hub
        self.folder = folder
        self.project = folder / "project"
        self.repository, self.pin = repository, pin
        shutil.copytree(repository / ".github", self.project / ".github")
        _git(self.project, "init", "--quiet", "--initial-branch=main")
        _git(self.project, "add", "--all")
        _git(self.project, "commit", "--quiet", "--message", "workflows")
        self.toolkit = folder / "toolkit"  # a checkout of the base branch
        _git(folder, "clone", "--quiet", str(hub.git.path), str(self.toolkit))
        self.actions = self._make_actions(folder / "infx" if pin else self.toolkit)

    def _make_actions(self, path: Path) -> Path:
        """Return a folder with infx's actions, whose install.sh adds the environment of this test to the PATH."""
        shutil.copytree(ROOT / ".github", path / ".github", dirs_exist_ok=True)
        script = path / ".github/actions/install.sh"
        bin_ = Path(sys.executable).parent
        script.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "{bin_}" "{self._make_command(bin_)}" >> "$GITHUB_PATH"\n'
        )
        return path

    def _make_command(self, bin_: Path) -> Path:
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

    def _make_shell(self, output: Path) -> Path:
        """Write the bash of steps, which ends only after all output is copied, and return its folder.

        act starts a step's script with options; a script that the step starts by `bash` has none and is not copied.
        """
        folder = self.folder / "shell"
        folder.mkdir(exist_ok=True)
        bash = shutil.which("bash")
        lines = [
            f"#!{bash}",
            f'case "$1" in -*) ;; *) exec {bash} "$@" ;; esac',
            f'{bash} "$@" 2>&1 | tee -a "{output}"',
            'exit "${PIPESTATUS[0]}"',
        ]
        path = folder / "bash"
        path.write_text("\n".join(lines) + "\n")
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
        """Run a workflow, or a called workflow alone.

        Args:
            payload: the webhook's payload.
            called_by: the event of the caller's run, if the workflow is a called one. Its inputs are in the payload.
                This plays a partial re-run, which starts some jobs with outputs of the first attempt.
            variables: the repository's variables.
            refusals: the expected number of requests beyond the jobs' permissions.
        """
        self._check_trigger(workflow, called_by or event, payload)
        self._hand_out_tokens(workflow, called_by or event, payload)
        if workflow == "run-sweep.yml" and run_id not in self.hub.state.runs:  # it asks for its own jobs
            pull = payload.get("number") if event == "pull_request" else None
            self.hub.add_run(workflow, pull=pull, event=event, run_id=run_id)
        request_count = len(self.hub.log)
        artifacts = self.folder / f"artifacts-{run_id}"
        artifacts.mkdir(exist_ok=True)
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(payload))
        command = self._make_act_command(workflow, event, event_file, artifacts, run_id, attempt)
        command += ["--env", f"EVENT_SHA={self._find_event_sha(event, payload)}"]
        command += [
            part for name, value in (variables or {}).items() for part in ("--var", f"{name}={value}")
        ]
        if called_by:
            command += ["--env", f"CALLED_BY={called_by}"]
        before = shutil.copytree(artifacts, self.folder / f"before-{run_id}-{attempt}")
        ledger = artifacts.with_name("ledger")
        ledger_before = ledger.read_bytes() if ledger.exists() else b""
        output = self.folder / "steps.log"
        for _ in range(TRIES):
            output.write_text("")
            done = run_tool(command, self.project, self.folder, path=self._make_shell(output))
            if not has_crashed(done):
                break
            shutil.rmtree(artifacts)
            shutil.copytree(before, artifacts)
            ledger.write_bytes(ledger_before)
        refused = self._find_refused(request_count)
        assert len(refused) == refusals, "requests beyond the permissions of the job:\n" + "\n".join(refused)
        return _read_outcome(done, output.read_text(errors="replace"), artifacts)

    def play(self, workflow: str, event: Event, **how: Any) -> Outcome:
        """Run a workflow for an event of the hub."""
        return self.run(workflow, event.name, event.payload, **how)

    def _check_trigger(self, workflow: str, event: str, payload: Mapping[str, Any]) -> None:
        """Check that the event starts the workflow, because act ignores the event's type."""
        value = yaml12.load((self.project / ".github/workflows" / workflow).read_bytes(), workflow).value
        if event not in value["on"]:
            assert list(value["on"]) == ["workflow_call"], f"{event} does not start {workflow}"
            return
        filters = value["on"][event] or {}
        types = filters.get("types", _DEFAULT_TYPES.get(event)) if isinstance(filters, dict) else None
        action = payload.get("action")
        assert types is None or action in types, f"{event} {action} does not start {workflow}"
        if event == "workflow_run":
            source = payload["workflow_run"]["name"]
            assert source in filters["workflows"], f"{source} does not start {workflow}"

    def _hand_out_tokens(self, workflow: str, event: str, payload: Mapping[str, Any]) -> None:
        """Write a file for each job, with its token and a line for each permission."""
        pull = self.hub.state.pulls.get(payload.get("number", 0))
        is_fork = event == "pull_request" and pull is not None and pull.head_repository != self.hub.repository
        self.tokens = self.folder / "tokens"
        self.holders: dict[str, str] = {}
        shutil.rmtree(self.tokens, ignore_errors=True)
        for job in find_permissions(self.project / ".github/workflows", workflow, is_fork=is_fork):
            token = self.hub.workflow_token(job.permissions)
            self.holders[token] = f"{job.workflow}, {job.job}"
            path = self.tokens / job.workflow / job.job
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [token, *(f"{scope}: {access}" for scope, access in job.permissions.items())]
            path.write_text("\n".join(lines) + "\n")

    def _find_refused(self, start: int) -> list[str]:
        """Return the requests that the hub or a stand-in refused because of a token, with the job."""
        refused_by_hub = []
        for exchange in self.hub.log[start:]:
            if exchange.fault is None and (
                exchange.status == 401 or NO_PERMISSION in _find_messages(exchange.reply)
            ):
                secret = exchange.headers.get("authorization", "").split(" ")[-1]
                needs = (exchange.reply_headers or {}).get("X-Accepted-GitHub-Permissions", exchange.status)
                holder = self.holders.get(secret, "not a token of a job")
                refused_by_hub.append(f"{holder}: {exchange.method} {exchange.path} ({needs})")
        path = self.tokens / "refused"
        return refused_by_hub + (path.read_text().splitlines() if path.exists() else [])

    def _find_event_sha(self, event: str, payload: Mapping[str, Any]) -> str:
        """Return `github.sha`: a pull request's test merge, a push's head, otherwise the default branch's head."""
        if event == "pull_request" and (pull := self.hub.state.pulls.get(payload.get("number", 0))):
            self.hub.compute_merge(pull)
            return pull.merge_sha or pull.head_sha
        head: str | None = payload.get("after") or payload.get("merge_group", {}).get("head_sha")
        return head or self.hub.git.resolve(f"refs/heads/{self.hub.branch}") or ""

    def _make_act_command(
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
        labels = ["ubuntu-24.04", *_read_runner_labels(self.repository)]
        pins = _find_pins()
        if self.pin:
            variables |= {"WHOLE": "1", "RUNNER_NAME": "h200-a_0"}
            pins.append(f"{self.pin}={self.actions}")
        options = [event, "--json", "-e", str(event_file), "-W", f".github/workflows/{workflow}"]
        options += [part for label in labels for part in ("-P", f"{label}=-self-hosted")]
        options += [part for name, value in variables.items() for part in ("--env", f"{name}={value}")]
        options += [part for pin in pins for part in ("--local-repository", pin)]
        options += ["-s", f"GITHUB_TOKEN={_SECRET}", "-a", "cody", "--no-cache-server"]
        options += ["--no-skip-checkout"]  # use the stand-in, not a copy of the project's folder
        options += ["--action-cache-path", str(self.folder / "act"), "--concurrent-jobs", "3"]
        return [str(Path(sys.executable).parent / "act"), *options]


def _find_messages(reply: Any) -> list[str]:
    """Return the error messages of an answer; GraphQL refuses single fields with status 200."""
    if not isinstance(reply, dict):
        return []
    return [str(reply.get("message")), *(str(error.get("message")) for error in reply.get("errors") or ())]


def _find_pins() -> list[str]:
    """Return every pinned action of the workflows with its stand-in."""
    used = set()
    for path in (ROOT / ".github").rglob("*.yml"):
        used.update(re.findall(r"uses: (actions/[\w-]+)@([0-9a-f]{40})", path.read_text()))
    return [f"{name}@{sha}={STAND_IN / _STAND_INS[name]}" for name, sha in sorted(used) if name in _STAND_INS]


def _read_runner_labels(repository: Path) -> list[str]:
    inventory = yaml.safe_load((repository / "configs/runners.yaml").read_text())
    return sorted(inventory["labels"])


def _read_outcome(done: subprocess.CompletedProcess[str], steps: str, artifacts: Path) -> Outcome:
    """Read act's output, which has a JSON record on each line, and sometimes a plain error at the end."""
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
        log=done.stdout + done.stderr + steps,
        steps=steps,
        artifacts=artifacts,
    )


def run_tool(
    command: Sequence[str], directory: Path, folder: Path, silence: float = SILENCE, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run act to its end, or stop it if it prints nothing for `silence` seconds. path: the first folder of the PATH.

    Sometimes act waits forever for the end of a terminal. SIGQUIT makes it crash and print the stacks of its threads;
    if it ignores the signal, it is killed.
    """
    stdout_file, stderr_file = folder / "act.stdout", folder / "act.stderr"
    with stdout_file.open("wb") as stdout, stderr_file.open("wb") as stderr:
        # act passes its whole environment on to the steps
        folders = [*([path] if path else []), Path(sys.executable).parent, os.environ["PATH"]]
        env = {"PATH": ":".join(map(str, folders)), "HOME": str(folder)}
        process = subprocess.Popen(command, cwd=directory, env=env, stdout=stdout, stderr=stderr)
        try:
            _wait_for(process, stdout_file, silence)
        finally:  # also at the test's own deadline
            process.kill()
            process.wait()
    return subprocess.CompletedProcess(
        command, process.returncode, stdout_file.read_text(), stderr_file.read_text()
    )


def _wait_for(process: subprocess.Popen[bytes], stdout_file: Path, silence: float) -> None:
    size, got_sigquit = -1, False
    while process.poll() is None:
        if size == (size := stdout_file.stat().st_size):
            process.send_signal(signal.SIGKILL if got_sigquit else signal.SIGQUIT)
            got_sigquit = True
        with suppress(subprocess.TimeoutExpired):
            process.wait(silence)


def has_crashed(done: subprocess.CompletedProcess[str]) -> bool:
    """Return whether act crashed, by itself (`fatal error: concurrent map writes`) or by a signal of `run_tool`."""
    return done.returncode == -signal.SIGKILL or (done.returncode == 2 and "\ngoroutine " in done.stderr)


def _last_segment(name: str) -> str:
    """Return a job's own name from act's `workflow/job/callee`; a row's name starts with its id and may contain `/`."""
    row = _ROW.search(name)
    return (row[0] if row else name.rsplit("/", 1)[-1]).strip()


def _git(folder: Path, *arguments: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
