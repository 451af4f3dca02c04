"""A machine for launches: stand-ins of Slurm, docker and enroot on PATH, which record their argv and keep state.

A fault of a stand-in is a line of shell that it runs before anything else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infx.matrix.row_file import ROW_FILE
from infx.rowfile.record import RECORD
from tests.conftest import ROOT
from tests.matrix.rows import FIXED, row
from tests.rowfile.playing import cut_plan

_CLUSTER_NAMES = {"slurm": "sl", "srun": "sr", "docker": "dk", "local": "lo"}  # by the kind of cluster
# A launch ends the processes of earlier launches of its runner, so test sessions on a machine must not share runners.
RUNNERS = {kind: f"{name}_{os.getpid()}0" for kind, name in _CLUSTER_NAMES.items()}
OTHER = {
    kind: f"{name}_{os.getpid()}1" for kind, name in _CLUSTER_NAMES.items()
}  # other runners of the clusters
RESULT = 'echo {} > "agg_$RESULT_FILENAME.json"\n'
_CLUSTERS = """\
defaults: {gpu: h200, scripts: [bench.sh]}
families:
  slurm: {time: 60, partition: main, gres: "gpu:{gpus}"}
clusters:
  sl:
    extends: slurm
    allocate: salloc
    image: {squash: "{home}/images/{key}.sqsh", lock-timeout: 1}
  sr: {extends: slurm, allocate: srun, image: {from: registry}}
  dk: {allocate: none, image: {from: docker}, container: {entrypoint: none}}
  lo: {allocate: none, image: {from: none}}
"""
_START = """\
#!/bin/sh
{ printf '%s' "$0"; printf ' %s' "$@"; echo; } >> "$STAND_IN/argv"
for word; do case $word in
  --job-name=*|--name=*) name=${word#*=};; --cidfile=*) file=${word#*=};; --label=infx.runner=*|label=*) owner=${word##*=};;
esac; done
fault=$STAND_IN/fault-${0##*/}
if test -e "$fault"; then . "$fault"; fi
"""
_LIST = 'for job in "$STAND_IN"/{kind}/*; do test ! -e "$job" || test "$(cat "$job")" != "$name" || echo "${job##*/}"; done\n'
_SCANCEL = """\
for word; do case $word in [0-9]*) rm -f "$STAND_IN/jobs/$word";; esac; done
case "$*" in *--name=*) for job in "$STAND_IN"/jobs/*; do test "$(cat "$job")" != "$name" || rm "$job"; done;; esac
"""
_TAKE_JOB = """\
id=100; set -C
until { echo "$name" > "$STAND_IN/jobs/$id"; } 2> /dev/null; do id=$((id + 1)); done
set +C
"""
_SRUN = (
    'case "$*" in *--jobid=*) ;; *)\n'
    + _TAKE_JOB
    + "trap 'rm -f \"$STAND_IN/jobs/$id\"' EXIT;; esac\n"
    + """\
while case $1 in -*) true;; *) false;; esac; do shift; done
"$@" &
trap 'kill -TERM $!' TERM
wait $! || { code=$?; wait $! && code=$?; exit $code; }
"""
)
_DOCKER = (
    "case $1 in ps)\n"
    + _LIST.replace("{kind}", "containers").replace("$name", "$owner")
    + """;;
rm) for word; do rm -f "$STAND_IN/containers/$word"; done;;
run) case "$*" in *--entrypoint=chown*) exit 0;; esac
  id=$(printf 'c%.0s' 1 2 3 4 5 6 7 8 9 10 11)$(ls "$STAND_IN/containers" | wc -l)
  echo "$owner" > "$STAND_IN/containers/$id"; echo "$id" > "$file"
  while test $# -gt 1; do shift; done
  bash "$1"; code=$?
  rm -f "$STAND_IN/containers/$id"; exit $code;;
esac
"""
)
_PYXIS = """\
#!/bin/bash
words=()
for word; do case $word in --container-*|--no-container-*) ;; *) words+=("$word");; esac; done
exec {real} "${words[@]}"
"""
_PROGRAMS = {
    "salloc": _TAKE_JOB + 'echo "salloc: Granted job allocation $id" >&2\n',
    "squeue": _LIST.replace("{kind}", "jobs"),
    "scancel": _SCANCEL,
    "srun": _SRUN,
    "scontrol": 'echo "JobId=100 JobState=RUNNING NodeList=node-1"\n',
    "sinfo": 'echo "node-1|allocated|none"\n',
    "docker": _DOCKER,
    "enroot": 'echo image > "$3"\n',
    "unsquashfs": 'grep -q image "$2"\n',
}
_NODE = {"gpus-per-node": 8, "available-cpu-dram-mib": 3_000_000}
# Short where a process has to be waited for in any case, and long where a slow machine must not change the outcome.
_LIMITS = {"GRACE": 0.3, "TERM": 0.2, "PAUSES": (0.02, 0.05), "CANCEL_GRACE": 0.3, "CANCEL_RELEASE": 60.0}
HURRIED: dict[str, object] = {
    "ASK": 1.0,
    "SWEEP": 0.3,
    "CANCEL_RELEASE": 1.0,
}  # for a fault that does not end
_PROGRAM = """\
import sys
sys.path.insert(0, {root!r})
from infx.rowfile import launch_limits
vars(launch_limits).update({limits!r})
sys.argv = ["row.py", *sys.argv[1:]]
from infx.rowfile.main import main
sys.exit(main())
"""


@dataclass(frozen=True, kw_only=True)
class Launched:
    """The outcome of a launch: exit code, log, and the job's record, which is empty without one."""

    code: int
    out: str
    err: str
    record: dict[str, Any]

    @property
    def cause(self) -> str:
        return str(self.record["error"]["cause"])

    @property
    def message(self) -> str:
        return str(self.record["error"]["message"])


class LaunchMachine:
    """A machine with stand-ins, and a plan of one row that all its clusters may take."""

    def __init__(self, folder: Path, plan: Path, row_id: str) -> None:
        self.folder, self.plan, self.row_id = folder, plan, row_id
        self.variables: dict[str, str] = {}
        self.workspace, self.state = folder / "measured", folder / "state"
        for path in (
            self.workspace,
            self.state / "jobs",
            self.state / "containers",
            folder / "bin",
            folder / "tmp",
        ):
            path.mkdir(parents=True)
        for name, script in _PROGRAMS.items():
            path = folder / "bin" / name
            path.write_text(_START + script)
            path.chmod(0o755)
        self.write_benchmark(RESULT)

    def write_benchmark(self, script: str) -> None:
        (self.workspace / "bench.sh").write_text(script)

    def break_program(self, name: str, fault: str) -> None:
        """Make a stand-in run a line of shell first."""
        (self.state / f"fault-{name}").write_text(fault + "\n")

    def mend(self) -> None:
        """Take away all faults."""
        for path in self.state.glob("fault-*"):
            path.unlink()

    def use_real_slurm(self) -> None:
        """Remove the stand-ins of Slurm; one of srun takes away the options of pyxis, which is not installed."""
        for name in ("salloc", "squeue", "scancel", "srun", "scontrol", "sinfo"):
            (self.folder / "bin" / name).unlink()
        real = shutil.which("srun")
        assert real is not None
        path = self.folder / "bin" / "srun"
        path.write_text(_PYXIS.replace("{real}", real))
        path.chmod(0o755)

    def ask_slurm(self, *argv: str) -> str:
        """Return what a real program of Slurm prints."""
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout

    def use_other_controller(self) -> None:
        """Make Slurm's programs ask a controller that does not exist."""
        own = re.sub("(?m)^SlurmctldPort=.*$", "SlurmctldPort=1", Path(os.environ["SLURM_CONF"]).read_text())
        (self.folder / "slurm.conf").write_text(own + "MessageTimeout=2\n")
        self.variables["SLURM_CONF"] = str(self.folder / "slurm.conf")

    def replace_in_plan(self, old: str, new: str) -> None:
        """Change the plan, as no user can, for this machine only."""
        plan = self.folder / "plan"
        shutil.copytree(self.plan, plan)
        for path in plan.iterdir():
            path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
        self.plan = plan

    def add_job(self, number: int, runner: str) -> None:
        (self.state / "jobs" / str(number)).write_text(f"infx-{runner}\n")

    def add_container(self, number: str, runner: str) -> None:
        (self.state / "containers" / number).write_text(f"{runner}\n")

    def list_left(self, kind: str) -> list[str]:
        """Return the ids of `jobs` or `containers`."""
        return sorted(path.name for path in (self.state / kind).iterdir())

    def list_processes(self, runner: str) -> list[int]:
        """Return the processes of a runner's launches."""
        mark = f"INFX_LAUNCH={runner}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return found

    def read_argv(self) -> list[list[str]]:
        """Return what the stand-ins were called with, in order."""
        try:
            lines = (self.state / "argv").read_text().splitlines()
        except FileNotFoundError:
            return []
        calls = [line.split(" ") for line in lines if line.startswith("/")]
        return [[Path(name).name, *arguments] for name, *arguments in calls]

    def environ(self, runner: str) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "STAND_IN": str(self.state),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "RUNNER_NAME": runner,
            **self.variables,
        }

    def command(self, name: str, limits: dict[str, object]) -> list[str]:
        program = _PROGRAM.format(root=str(ROOT), limits={**_LIMITS, **limits})
        options = ["--plan", str(self.plan)]
        if name == "run":
            options += [
                "--id",
                self.row_id,
                "--directory",
                str(self.workspace),
                "--out",
                str(self.folder / "out"),
            ]
        return [sys.executable, "-S", "-c", program, name, *options]

    def run(self, kind: str, name: str = "run", *, limits: dict[str, object] | None = None) -> Launched:
        """Run the row file on the runner of a kind of cluster, or on another runner by its name."""
        done = subprocess.run(
            self.command(name, limits or {}),
            env=self.environ(RUNNERS.get(kind, kind)),
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        return self.end(done.returncode, done.stdout, done.stderr)

    def run_packed(self, kind: str, python: str = sys.executable) -> Launched:
        """Run the row file as a runner starts it: without infx, and with the limits of a launch."""
        command = [python, "-I", "-S", str(self.plan / ROW_FILE), *self.command("run", {})[4:]]
        environ = self.environ(RUNNERS[kind])
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=100)
        return self.end(done.returncode, done.stdout, done.stderr)

    def start(self, kind: str, *, limits: dict[str, object] | None = None) -> subprocess.Popen[str]:
        """Start the row file."""
        return subprocess.Popen(
            self.command("run", limits or {}),
            env=self.environ(RUNNERS.get(kind, kind)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, code: int, out: str, err: str) -> Launched:
        path = self.folder / "out" / RECORD
        record = json.loads(path.read_bytes()) if path.exists() else {}
        return Launched(code=code, out=out, err=err, record=record)

    def wait_for(self, path: Path) -> None:
        """Wait until a process has made a file."""
        for _ in range(3000):
            if path.exists():
                return
            time.sleep(0.01)
        raise AssertionError(f"{path} was not made")

    def kill_all(self, runners: Sequence[str]) -> None:
        """End what a test left."""
        for runner in runners:
            for pid in self.list_processes(runner):
                os.kill(pid, signal.SIGKILL)


def write_launch_plan(folder: Path) -> str:
    """Write a plan folder whose row every cluster of the tests may take, and return the row's id."""
    (folder / "clusters.yaml").write_text(_CLUSTERS)
    names = [*RUNNERS.values(), *OTHER.values()]
    labels = {"labels": {"cluster:h200-a": names}, "hardware": {"cluster:h200-a": _NODE}}
    (folder / "runners.yaml").write_text(json.dumps(labels))
    options = ("--clusters", "clusters.yaml", "--runner-config", "runners.yaml")
    job = cut_plan(folder, row(FIXED, 8), ["false"], *options)
    assert (folder / "sweep-plan" / ROW_FILE).exists()
    return job.id
