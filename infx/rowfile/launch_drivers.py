"""What a launch may leave behind on a machine, a docker host or a Slurm cluster: how to find and remove it.

Everything belongs to one runner: processes by a variable of their environment, containers by a label, Slurm jobs by
name and user. Nothing of another runner is touched.
"""

from __future__ import annotations

import math
import os
import re
import signal
import time
from typing import Callable, List, Protocol

from . import launch_limits as limits
from .launch_process import Ended

MARK = "INFX_LAUNCH"  # variable of all processes of a launch; `make_mark` makes its value
_DIGITS = re.compile(r"[0-9]+\Z")
_HEX = re.compile(r"[0-9a-f]{12,64}\Z")
_CONTAINER_NOT_STARTED = 125  # exit code of `docker run`
# States that Slurm gives a job whose node or place was taken away.
_TAKEN = ("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "CANCELLED", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL")
_BROKEN_NODE = re.compile(r"(?:down|drain|fail|inval|unk)", re.IGNORECASE)
_FROM_SLURM = (
    "slurmstepd: error: pyxis:", "slurmstepd: error: spank:", "srun: error: Unable to create step",
    "srun: error: Node failure", "srun: error: Unable to allocate resources", "srun: error: Unable to confirm",
)  # fmt: skip

Ask = Callable[[List[str]], Ended]  # runs a short program with the limit that is left


class DriverError(Exception):
    """A question that was not answered, or a removal that failed. message: a sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class LaunchDriver(Protocol):
    """What can be left behind, of one kind.

    Attributes:
        kind: what it is, in the plural.
    """

    kind: str

    def find(self) -> list[str]:
        """Return the ids of what is there. Raises DriverError if that is not known."""

    def remove(self, ids: list[str], *, is_hard: bool) -> None:
        """Begin to remove.

        ids: what was found; empty if that is not known. is_hard: whether asking was tried. Raises DriverError.
        """

    def explain(self, ended: Ended, job: str) -> str:
        """Return why the infrastructure ended the benchmark, as a sentence; empty if it did not.

        job: id of the allocation; empty without one.
        """


class LocalDriver:
    """Processes on this machine."""

    kind = "processes"

    def __init__(self, runner: str) -> None:
        self._mark = (MARK + "=" + make_mark(runner)).encode(errors="surrogateescape")

    def find(self) -> list[str]:
        own = _list_ancestors()
        return [name for name in os.listdir("/proc") if name.isdigit() and self._is_marked(name, own)]

    def _is_marked(self, pid: str, own: set[str]) -> bool:
        if pid in own:
            return False
        try:
            with open("/proc/" + pid + "/environ", "rb") as file:
                items = file.read().split(b"\0")
                return any(item == self._mark or item.startswith(self._mark + b"/") for item in items)
        except OSError:  # it has ended, or it is another user's
            return False

    def remove(self, ids: list[str], *, is_hard: bool) -> None:
        number = signal.SIGKILL if is_hard else signal.SIGTERM
        for pid in ids:
            try:
                os.kill(int(pid), number)
            except (ProcessLookupError, PermissionError):
                pass

    def explain(self, ended: Ended, job: str) -> str:
        return ""


def make_mark(runner: str) -> str:
    """Return the value of MARK: the runner's name.

    If this process belongs to a launch of another runner, that launch's value comes first. So a launch in a launch ends
    with the outer one, and finds nothing that is outside of it.
    """
    outer = os.environ.get(MARK, "")
    if not outer or outer.rpartition("/")[2] == runner:
        return outer or runner
    return outer + "/" + runner


def _list_ancestors() -> set[str]:
    """Return this process and those that started it, which may have the mark if a person cleans from a launch."""
    pids, pid = set(), str(os.getpid())
    while pid not in pids and pid != "0":
        pids.add(pid)
        try:
            with open("/proc/" + pid + "/stat", "rb") as file:
                pid = file.read().rpartition(b")")[2].split()[1].decode()
        except OSError:
            break
    return pids


class DockerDriver:
    """Containers that carry the runner's label."""

    kind = "containers"

    def __init__(self, runner: str, ask: Ask) -> None:
        self._filter = "label=infx.runner=" + runner
        self._ask = ask

    def find(self) -> list[str]:
        argv = ["docker", "ps", "--all", "--quiet", "--no-trunc", "--filter", self._filter]
        return _read_ids(ask_checked(self._ask, argv), _HEX, argv[0])

    def remove(self, ids: list[str], *, is_hard: bool) -> None:
        if ids:
            ask_checked(self._ask, ["docker", "rm", "--force", "--volumes", *ids])

    def explain(self, ended: Ended, job: str) -> str:
        if ended.code == _CONTAINER_NOT_STARTED:
            return "Docker did not start the container: " + " ".join(ended.lines[-1:])
        return ""


class SlurmDriver:
    """Jobs of this user that have the runner's name."""

    kind = "Slurm jobs"

    def __init__(self, user: str, job_name: str, ask: Ask) -> None:
        self._own = ["--user=" + user, "--name=" + job_name]
        self._ask = ask

    def find(self) -> list[str]:
        argv = ["squeue", *self._own, "--noheader", "--format=%A"]
        return _read_ids(ask_checked(self._ask, argv), _DIGITS, argv[0])

    def remove(self, ids: list[str], *, is_hard: bool) -> None:
        ask_checked(self._ask, ["scancel", *(ids or self._own)])

    def explain(self, ended: Ended, job: str) -> str:
        """Ask Slurm about the job and its node; if it cannot say, look at Slurm's own lines in the log."""
        lines = [line for line in ended.lines if line.startswith(_FROM_SLURM)]
        if not job:
            return lines[-1] if lines else ""
        shown = self._ask(["scontrol", "--oneliner", "show", "job", job])
        fields = dict(part.partition("=")[::2] for part in shown.text.split()) if not shown.code else {}
        state, node = fields.get("JobState", ""), fields.get("NodeList", "")
        if state in _TAKEN:
            return "Slurm ended job " + job + " on " + node + ": " + state + "."
        broken = self._describe_node(node) if node and node != "(null)" else ""
        return broken or (lines[-1] if lines else "")

    def _describe_node(self, node: str) -> str:
        argv = ["sinfo", "--noheader", "--nodes=" + node, "--format=%N|%T|%E"]
        answer = self._ask(argv)
        for line in answer.text.splitlines() if not answer.code else []:
            name, _, (rest) = line.partition("|")
            state, _, reason = rest.partition("|")
            if _BROKEN_NODE.match(state):
                return "Node " + name + " is " + state.strip() + ": " + reason.strip() + "."
        return ""


def ask_checked(ask: Ask, argv: list[str]) -> str:
    """Return what a program answers. Raises DriverError if it fails or does not answer in time."""
    ended = ask(argv)
    if ended.is_overdue:
        raise DriverError(argv[0] + " does not answer.")
    if ended.code:
        last = " ".join(ended.lines[-1:]) or "no output"
        raise DriverError(argv[0] + " ended with " + str(ended.code) + ": " + last)
    return ended.text


def _read_ids(text: str, form: re.Pattern[str], program: str) -> list[str]:
    ids = text.split()
    if not all(form.match(item) for item in ids):
        raise DriverError(program + " answers " + repr(text[:200]) + "; expected ids.")
    return ids


def sweep(driver: LaunchDriver, seconds: float, find_end: Callable[[], float] = lambda: math.inf) -> str:
    """Remove everything that a driver finds, and wait until it is gone.

    find_end: when this must have ended in any case, as time.monotonic tells it; a signal may change it.

    Returns: what is left, as a sentence; empty if nothing is left. A question that is not answered does not count as
    an empty answer.
    """
    began, looks, refusal = time.monotonic(), 0, ""
    while True:
        ids: list[str] = []
        try:
            ids = driver.find()
            if not ids:
                return ""
            problem = "still there: " + ", ".join(ids[:20])
        except DriverError as error:
            problem = error.message.rstrip(".")
        now = time.monotonic()
        passed, left = now - began, min(began + seconds, find_end()) - now
        if looks and left <= 0:
            problem += "; " + refusal if refusal else ""
            return "The " + driver.kind + " of this runner cannot be removed: " + problem + "."
        try:
            driver.remove(ids, is_hard=passed >= limits.TERM or left < passed)
        except DriverError as error:
            refusal = error.message.rstrip(".")
        pause = limits.PAUSES[min(looks, len(limits.PAUSES) - 1)]
        time.sleep(min(pause, max(left, 0.0)))
        looks += 1
