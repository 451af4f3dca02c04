"""A real Slurm cluster of one node, this machine, with eight GPUs that are empty files."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "munged", "srun", "salloc", "squeue", "scancel", "sinfo")
SECONDS = 60  # until the cluster answers; on an idle machine it takes five
_CONF = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=2
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=500 Gres=gpu:8 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


def find_obstacle() -> str | None:
    """Return why no cluster can run here; None if one can."""
    missing = [name for name in PROGRAMS if _find(name) is None]
    if missing:
        return f"Slurm is not installed here: {', '.join(missing)}"
    return None if os.getuid() == 0 else "slurmd needs root"


def _find(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@contextmanager
def run_cluster(folder: Path) -> Iterator[dict[str, str]]:
    """Start a cluster, and yield the variables with which clients find it. Its processes end with it."""
    for name in ("state", "spool", "munge", "gpus"):
        (folder / name).mkdir()
    host = socket.gethostname().partition(".")[0]
    conf = _CONF.format(host=host, ports=_find_ports(2), folder=folder, cpus=os.cpu_count())
    (folder / "slurm.conf").write_text(conf)
    for number in range(8):
        (folder / "gpus" / f"gpu{number}").touch()
    (folder / "gres.conf").write_text(f"Name=gpu File={folder}/gpus/gpu[0-7]\n")
    variables = {"SLURM_CONF": str(folder / "slurm.conf")}
    try:
        _start_munge(folder / "munge")
        _run([_find("slurmctld") or "", "-c"], variables)
        _run([_find("slurmd") or ""], variables)
        _wait_until_idle(variables)
        yield variables
    finally:
        _stop(folder)


def _start_munge(folder: Path) -> None:
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o600)
    for path in (folder, folder / "key"):
        shutil.chown(path, "munge", "munge")
    for parent in folder.parents:  # the user munge has to reach its folder
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    options = {
        "--key-file": "key",
        "--socket": "socket",
        "--seed-file": "seed",
        "--pid-file": "pid",
        "--log-file": "log",
    }
    command = [
        _find("munged") or "",
        "--force",
        *(f"{name}={folder / file}" for name, file in options.items()),
    ]
    subprocess.run(
        command, check=True, user="munge", group="munge", extra_groups=[], cwd="/", capture_output=True
    )


def _run(command: list[str], variables: dict[str, str]) -> None:
    subprocess.run(command, check=True, env={**os.environ, **variables}, cwd="/")


def _wait_until_idle(variables: dict[str, str]) -> None:
    ends_at = time.monotonic() + SECONDS
    while time.monotonic() < ends_at:
        asked = subprocess.run(
            ["sinfo", "--noheader", "--format=%T"],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if asked.stdout.strip() == "idle":
            return
        time.sleep(0.1)
    raise AssertionError(f"Slurm does not answer: {asked.stdout}{asked.stderr}")


def _stop(folder: Path) -> None:
    # Nothing of the cluster is needed again, and slurmctld takes seconds to save its state.
    for name, number in (
        ("slurmd.pid", signal.SIGTERM),
        ("slurmctld.pid", signal.SIGKILL),
        ("munge/pid", signal.SIGTERM),
    ):
        try:
            pid = int((folder / name).read_text())
            os.kill(pid, number)
        except (OSError, ValueError):
            continue
        _wait_for_end(pid)


def _has_ended(pid: int) -> bool:
    """Return whether a process has ended; some systems keep its entry for a while."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _wait_for_end(pid: int) -> None:
    ends_at = time.monotonic() + 10
    while not _has_ended(pid):
        if time.monotonic() > ends_at:
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.02)


def _find_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    try:
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [item.getsockname()[1] for item in sockets]
    finally:
        for item in sockets:
            item.close()
